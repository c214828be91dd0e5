"""What does a browser make of the pages? In headless Chromium, with mouse and keyboard.

Each page is looked at in its forms: no request elsewhere, nothing in the console, no overflow, no finding of axe that
is serious (contrast below AA is one). The pictures of the manual are made here, where `HERITRIX_SCREENSHOTS` names a
folder.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ask
from tests.crawls import Project
from tests.durability.watch import until
from tests.operate.page.browsed import DESK, PHONE, Watched
from tests.operate.page.crawled import SETTINGS, address, site
from tests.web import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = [pytest.mark.long, pytest.mark.browser]

PAGES = {
    "crawl": "/ui",
    "queues": "/ui/queues",
    "log": "/ui/log",
    "why": "/ui/why?uri=http%3A%2F%2Fwww.page.test%2Fpage%2F1",
    "report": "/ui/report?name=hosts",
    "settings": "/ui/settings?find=delay",
    "steer": "/ui/steer",
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any, str, Any]]:
    with running(site(1500)) as web:
        made = Project(
            tmp_path_factory.mktemp("browsed"),
            {
                **SETTINGS,
                "HERITRIX_JOB_NAME": "page-tour",
                "HERITRIX_SEEDS": [web.url("www.page.test"), web.url("slow.page.test"), "http://gone.page.test/"],
                "HERITRIX_DNS_SERVERS": [web.dns],
                "HERITRIX_MAX_DOCUMENTS_DOWNLOAD": 100_000,
                "HERITRIX_MIN_DELAY_MS": 60,
                "HERITRIX_MAX_DELAY_MS": 60,
                "HERITRIX_DELAY_FACTOR": 1.0,
            },
        )
        process = made.start()
        try:
            _, place = address(made, process)
            until(process, lambda: ask(made.jobdir, {"do": "numbers"})["uris"]["succeeded"] > 60, "pages were fetched")
            yield made, process, f"http://{place}", web
        finally:
            made.kill()


def test_every_page_in_every_form(chromium: Browser, crawl: tuple[Any, Any, str, Any]) -> None:
    _, _, origin, _ = crawl
    forms = (("light", DESK, ""), ("dark", DESK, "-dark"), ("light", PHONE, "-phone"), ("dark", PHONE, "-phone-dark"))
    for scheme, size, suffix in forms:
        context = chromium.new_context(color_scheme=scheme, viewport=size, device_scale_factor=1)  # type: ignore[arg-type]
        watched = Watched(context, origin)
        watched.page.goto(origin + "/login")
        watched.check(f"login{suffix}")
        watched.log_in()
        for name, path in PAGES.items():
            watched.page.goto(origin + path)
            watched.check(name + suffix)
            if name == "crawl" or not suffix:
                watched.shoot(name + suffix)
        watched.page.goto(origin + "/ui/queues")
        watched.page.get_by_role("link", name="www").first.click()
        watched.page.wait_for_url("**/ui/queue?**")
        watched.check("queue" + suffix)
        if not suffix:
            watched.shoot("queue")
        context.close()


def test_numbers_change_without_a_reload(chromium: Browser, crawl: tuple[Any, Any, str, Any]) -> None:
    from playwright.sync_api import expect

    made, _, origin, web = crawl
    context = chromium.new_context(viewport=DESK)  # type: ignore[arg-type]
    watched = Watched(context, origin)
    watched.log_in()
    page = watched.page
    page.evaluate("window.same = true")
    ended, state = page.locator("[data-n=ended]").first, page.locator("#state")
    before, lines = ended.inner_text(), page.locator("#log div").count()
    # whatever is left of the site's own pages
    ask(made.jobdir, {"do": "seeds", "lines": [web.url("www.page.test", f"/new/{number}") for number in range(200)]})
    expect(ended).not_to_have_text(before, timeout=30_000)
    expect(page.locator("#log div").nth(lines)).to_be_attached(timeout=30_000)
    ask(made.jobdir, {"do": "pause"})
    expect(state).to_have_text(re.compile("PAUS"), timeout=30_000)
    ask(made.jobdir, {"do": "unpause"})
    expect(state).to_have_text(re.compile("RUNNING|EMPTY"), timeout=30_000)
    assert page.evaluate("window.same")
    assert not watched.wrong
    context.close()


def test_a_whole_life_by_mouse_and_keyboard(chromium: Browser, crawl: tuple[Any, Any, str, Any]) -> None:
    """Last: it ends the crawl."""
    made, process, origin, _ = crawl
    context = chromium.new_context(viewport=DESK)  # type: ignore[arg-type]
    watched = Watched(context, origin)
    watched.log_in()
    page = watched.page
    page.get_by_role("button", name="pause", exact=True).click()
    page.get_by_text("The crawl pauses.").wait_for()
    page.get_by_role("button", name="unpause").focus()
    page.keyboard.press("Enter")
    page.get_by_text("The crawl goes on.").wait_for()
    page.get_by_role("button", name="checkpoint").click()
    page.get_by_text("Checkpoint cp00001").wait_for()
    page.get_by_role("link", name="Steer").click()
    card = page.locator("section", has=page.get_by_role("heading", name="Delete URIs"))
    card.get_by_label("URIs (expression)").fill(".*/page/39.")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Delete these URIs?").wait_for()
    watched.check("sure")
    watched.shoot("sure")
    page.get_by_role("button", name="Yes, do it").click()
    page.get_by_text("URIs were taken out of the crawl.").wait_for()
    page.get_by_role("link", name="Crawl", exact=True).click()
    page.get_by_role("button", name="terminate").click()
    page.get_by_role("heading", name="Terminate the crawl?").wait_for()
    assert not watched.wrong
    page.get_by_role("button", name="Yes, do it").click()
    # ended by an operator
    assert made.finish(process).returncode == 3
    context.close()
