"""A whole life of a job in an engine, by mouse and keyboard: made, edited, built, launched, steered, ended, copied."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from tests.operate.page.browsed import DESK, PHONE, Watched
from tests.operate.page.crawled import PASSWORD, site
from tests.operate.web.served import served
from tests.web import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.long, pytest.mark.browser]

#: Of every crawl that the engine launches.
QUICK = {
    "HERITRIX_MIN_DELAY_MS": "60",
    "HERITRIX_MAX_DELAY_MS": "60",
    "HERITRIX_STOP_GRACE_SECONDS": "0",
    "HERITRIX_RUN_WHILE_EMPTY": "True",
    "HERITRIX_PAUSE_AT_START": "True",
    "TELNETCONSOLE_ENABLED": "False",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Any]]:
    """Origin of an engine with an empty folder, that folder, and the web that its crawls see."""
    folder = tmp_path_factory.mktemp("life") / "jobs"
    with running(site(400)) as web, served(folder, settings={**QUICK, "HERITRIX_DNS_SERVERS": web.dns}) as (port, _):
        try:
            yield f"http://127.0.0.1:{port}", folder, web
        finally:
            for jobdir in folder.iterdir():
                # what is launched outlives the engine
                with contextlib.suppress(ControlError):
                    ask(jobdir, {"do": "terminate"})


def state(page: Page, words: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".state").first).to_have_text(re.compile(words), timeout=60_000)


def put_away(page: Page) -> None:
    """Tear it down, once its process has ended."""
    page.get_by_role("link", name="Job", exact=True).click()
    while not page.get_by_role("button", name="tear down").count():
        page.reload()
    page.get_by_role("button", name="tear down").click()
    page.get_by_text("It is put away").wait_for()


def create(watched: Watched, name: str, source: str) -> None:
    page = watched.page
    page.goto(watched.origin + "/ui")
    page.get_by_label("Name", exact=True).fill(name)
    page.keyboard.press("Tab")
    page.get_by_label("Made of").select_option(label=source)
    page.get_by_role("button", name="Create").press("Enter")
    page.get_by_text(f"{name} is made.").wait_for()


def put_caret(page: Page, before: str) -> None:
    """On a line of its own, before the first place where a text stands."""
    page.locator("#text").evaluate(
        "(area, text) => { const at = area.value.indexOf(text);"
        " area.setRangeText('\\n', at, at, 'start'); area.focus(); }",
        before,
    )


def test_a_projects_whole_life(chromium: Browser, engine: tuple[str, Path, Any]) -> None:
    from playwright.sync_api import expect

    origin, folder, web = engine
    context = chromium.new_context(viewport=DESK)  # type: ignore[arg-type]
    # each look at a project is a process of its own
    context.set_default_timeout(120_000)
    watched = Watched(context, origin)
    watched.page.goto(origin + "/login")
    watched.log_in()
    page = watched.page
    page.goto(origin + "/ui")
    watched.check("no jobs")
    create(watched, "harvest", "A Scrapy project: settings.py with every setting as a comment")
    assert (folder / "harvest" / "harvest" / "settings.py").is_file()

    # what is wrong is said with its line, and a click leads there
    page.get_by_role("button", name="Check").click()
    page.get_by_text("A start would not take it").wait_for()
    page.get_by_role("link", name=re.compile(r"line \d+")).first.click()
    chosen = page.locator("#text").evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert chosen == "HERITRIX_OPERATOR_CONTACT_URL = ''"
    watched.check("edit with a mistake")
    page.keyboard.type("HERITRIX_OPERATOR_CONTACT_URL = 'http://operator.test/'")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")

    # a name by its middle, and its value: both chosen with the keyboard
    page.keyboard.type("URI_PRECED")
    page.get_by_role("option").first.wait_for()
    watched.check("completion")
    watched.shoot("edit")
    page.keyboard.press("Escape")
    for _ in "URI_PRECED":
        page.keyboard.press("Backspace")
    page.keyboard.type("PROFILE")
    page.get_by_role("option", name=re.compile("HERITRIX_PROFILE")).wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("option", name="'heritrix'").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    text = page.locator("#text").input_value()
    assert "\nHERITRIX_PROFILE = 'heritrix'\n" in text
    # in a sheet: only what a sheet may change
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("HERITRIX_SHEETS = {'slow': {'MAX_DELAY")
    page.get_by_role("option").first.wait_for()
    assert all("HERITRIX_" in each for each in page.get_by_role("option").all_inner_texts())
    page.keyboard.press("Enter")
    page.keyboard.type("'soon'}}")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("is not saved").wait_for()
    page.get_by_text("HERITRIX_SHEETS['slow']['HERITRIX_MAX_DELAY_MS'] = 'soon'").wait_for()
    assert "slow" not in (folder / "harvest" / "harvest" / "settings.py").read_text()
    page.locator("#text").fill(page.locator("#text").input_value().replace("'soon'", "60"))
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("is saved").wait_for()

    page.get_by_role("link", name="seeds.txt").click()
    page.locator("#text").fill(web.url("www.page.test") + "\n")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("seeds.txt is saved").wait_for()
    page.get_by_role("link", name="Back to the job").click()
    watched.check("job")
    page.get_by_role("button", name="build").click()
    page.get_by_text("It is built, and can be launched.").wait_for()
    state(page, "Ready")
    page.get_by_role("button", name="Launch", exact=True).last.click()
    page.get_by_text("It begins paused").wait_for(timeout=60_000)
    state(page, "PAUSED")
    page.evaluate("window.same = true")
    page.get_by_role("button", name="unpause").click()
    page.get_by_text("The crawl goes on.").wait_for()
    page.evaluate("window.same = true")
    expect(page.locator("[data-n=uris-succeeded]").first).to_have_text(re.compile("[1-9][0-9]"), timeout=60_000)
    assert page.evaluate("window.same")
    page.get_by_role("button", name="checkpoint").click()
    page.get_by_text("Checkpoint cp00001").wait_for()
    page.get_by_role("button", name="pause", exact=True).click()
    state(page, "PAUSED")
    page.get_by_role("link", name="Job", exact=True).click()
    watched.check("job that runs")
    page.get_by_role("link", name="Crawl", exact=True).click()
    page.get_by_role("button", name="terminate").click()
    page.get_by_role("button", name="Yes, do it").click()
    state(page, "FINISHED")
    put_away(page)

    page.get_by_label("Begin with the checkpoint").select_option(index=1)
    page.get_by_role("button", name="Launch", exact=True).last.click()
    page.get_by_text("The crawl is launched.").wait_for(timeout=60_000)
    page.get_by_role("link", name="Job", exact=True).click()
    page.get_by_role("link", name="Crawl", exact=True).click()
    page.get_by_role("button", name="unpause").click()
    page.get_by_text("The crawl goes on.").wait_for()
    page.get_by_role("button", name="terminate").click()
    page.get_by_role("button", name="Yes, do it").click()
    state(page, "FINISHED")
    put_away(page)
    watched.check("job after its crawl")
    watched.shoot("job")
    page.get_by_label("Name of the copy").fill("harvest-2")
    page.keyboard.press("Enter")
    page.get_by_text("It is a copy of harvest.").wait_for()
    assert (folder / "harvest-2" / "harvest" / "settings.py").is_file()
    assert not (folder / "harvest-2" / "frontier").exists()
    page.goto(origin + "/ui")
    watched.check("jobs")
    watched.shoot("jobs")
    context.close()


def test_a_job_file_is_completed(chromium: Browser, engine: tuple[str, Path, Any]) -> None:
    from playwright.sync_api import expect

    origin, _, _ = engine
    context = chromium.new_context(viewport=PHONE, color_scheme="dark")  # type: ignore[arg-type]
    watched = Watched(context, origin)
    watched.page.goto(origin + "/login")
    watched.log_in()
    page = watched.page
    create(watched, "beans", "A Heritrix job: crawler-beans.cxml with the usual settings")
    text, offers = page.locator("#text"), page.get_by_role("option")
    # a line of the overrides, by the property's name alone
    put_caret(page, "metadata.jobName=basic")
    page.keyboard.type("mintoe")
    expect(offers).to_have_count(0)
    for _ in "mintoe":
        page.keyboard.press("Backspace")
    page.keyboard.type("pauseatst")
    expect(offers).to_have_count(1)
    page.keyboard.press("Enter")
    page.get_by_role("option", name="false").click()
    expect(text).to_have_value(re.compile("\ncrawlController.pauseAtStart=false\n"))
    # a property of the bean that the caret is in, by its class
    put_caret(page, "</beans>")
    page.keyboard.type('<bean id="x" class="org.archive.crawler.frontier.BdbFr')
    page.get_by_role("option", name="BdbFrontier").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.type('><property name="maxRet')
    page.get_by_role("option", name=re.compile("maxRetries")).wait_for()
    watched.check("completion on a phone")
    page.keyboard.press("Enter")
    page.keyboard.type('3"/></bean>')
    expect(text).to_have_value(re.compile('BdbFrontier"><property name="maxRetries" value="3"/></bean>'))
    # of a rule of the scope, what it takes
    page.keyboard.type('<bean class="org.archive.modules.deciderules.surt.SurtPrefixedDecideRule"><property name="dec')
    page.get_by_role("option", name=re.compile("decision")).wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Space")
    page.get_by_role("option", name="REJECT").click()
    expect(text).to_have_value(re.compile('<property name="decision" value="REJECT'))
    page.keyboard.press("Escape")
    # a mistake is shown with its line, and can be kept by who says so
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("is not saved").wait_for()
    assert page.get_by_role("link", name=re.compile(r"line \d+")).count()
    watched.check("job file with a mistake")
    page.get_by_role("button", name="Save it nevertheless").click()
    page.get_by_text("crawler-beans.cxml is saved.").wait_for()
    context.close()


def test_a_job_files_whole_life_without_javascript(chromium: Browser, engine: tuple[str, Path, Any]) -> None:
    origin, folder, web = engine
    context = chromium.new_context(viewport=PHONE, java_script_enabled=False)  # type: ignore[arg-type]
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(origin + "/login")
    page.get_by_label("User").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button").click()
    page.get_by_label("Name", exact=True).fill("plain")
    page.get_by_role("button", name="Create").click()
    text = page.locator("#text").input_value()
    text = re.sub("ENTER_AN_URL_WITH_YOUR_CONTACT_INFO\\w*", "http://operator.test/", text)
    page.locator("#text").fill(text.replace("# One address a line.", web.url("www.page.test")))
    page.get_by_role("button", name="Check").click()
    page.get_by_text("A start would take it.").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("is saved").wait_for()
    page.get_by_role("link", name="Back to the job").click()
    page.get_by_role("button", name="build").click()
    page.get_by_text("It is built, and can be launched.").wait_for()
    page.get_by_role("button", name="launch", exact=True).click()
    page.get_by_text("It begins paused").wait_for()
    page.get_by_role("button", name="unpause").click()
    page.get_by_text("The crawl goes on.").wait_for()
    page.get_by_role("button", name="checkpoint").click()
    page.get_by_text("Checkpoint cp00001").wait_for()
    page.get_by_role("link", name="Job", exact=True).click()
    page.get_by_role("link", name="Crawl", exact=True).click()
    page.get_by_role("button", name="terminate").click()
    page.get_by_role("button", name="Yes, do it").click()
    page.get_by_text("The crawl ends.").wait_for()
    put_away(page)
    page.get_by_label("Begin with the checkpoint").select_option(index=1)
    page.get_by_role("button", name="Launch", exact=True).last.click()
    page.get_by_text("The crawl is launched.").wait_for()
    page.get_by_role("button", name="terminate").click()
    page.get_by_role("button", name="Yes, do it").click()
    page.get_by_role("link", name="Job", exact=True).click()
    page.get_by_label("Name of the copy").fill("plain-2")
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("It is a copy of plain.").wait_for()
    assert "operator.test" in (folder / "plain-2" / "crawler-beans.cxml").read_text()
    page.goto(origin + "/ui/names?find=delay")
    page.get_by_text("HERITRIX_MIN_DELAY_MS", exact=True).wait_for()
    context.close()
