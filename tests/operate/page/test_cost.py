"""What does the page cost the crawl, while two browsers have it open? Measured inside the crawl, in CPU time."""

from __future__ import annotations

import json
import re
import subprocess
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.crawl import bulk
from heritrix_scrapy.operate.control import ask
from heritrix_scrapy.operate.record import lives, stands
from heritrix_scrapy.operate.web.ui.looking import TEXTS
from tests.crawls import Project
from tests.operate.page.crawled import PASSWORD, SETTINGS, address
from tests.operate.web.process import serving
from tests.operate.web.served import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.long, pytest.mark.browser]

PAGES = 20_000
HOSTS = 50
#: Share of the crawl's CPU time, and CPU seconds of one turn of its loop.
SHARE = 0.02
TURN = 0.005
PAGE = {name: SETTINGS[name] for name in ("HERITRIX_WEB", "HERITRIX_WEB_PASSWORD")}
#: What somebody looks at who looks closer.
CLOSER = (
    "",
    "/parts",
    "/queues",
    "/queues?state=ready",
    "/log?lines=1000",
    "/log?lines=1000&filter=h7",
    "/log?name=alerts.log",
    "/why?uri=http%3A%2F%2Fh1.bulk.test%2Fp%2F1.html",
    "/reports",
    "/settings",
    "/steer",
)


@pytest.fixture(scope="module")
def site() -> Iterator[dict[str, Any]]:
    with bulk(HOSTS, PAGES) as web:
        yield web


def measured(web: dict[str, Any], folder: Path, more: dict[str, Any] | None = None) -> dict[str, Any]:
    """Settings of a crawl of the site that is measured."""
    return {
        "HERITRIX_SEEDS": [web["seed"]],
        "HERITRIX_DNS_SERVERS": [web["dns"]],
        "HERITRIX_SURTS": ["+http://(test,bulk,"],
        "HERITRIX_STOP_GRACE_SECONDS": 0,
        "EXTENSIONS": {"tests.operate.page.meter.Meter": -1000},
        "METER": str(folder / "meter.json"),
        "LOG_FILE": "crawl.txt",
        **(more or {}),
    }


def opened(chromium: Browser, origin: str, path: str, user: str, password: str, *, launch: bool = False) -> Page:
    """A browser of its own with the page of the crawl. ``launch``: it is started there, on its page of the API."""
    context = chromium.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(f"{origin}/login")
    page.get_by_label("User").fill(user)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/(ui|engine)"))
    if launch:
        page.goto(origin + path.replace("/ui", "/engine"))
        page.get_by_role("button", name="launch").first.click(no_wait_after=True)
        page.get_by_text("Active: ").wait_for(timeout=120_000)
    page.goto(origin + path)
    page.locator("[data-n=ended]").first.wait_for()
    return page


def shown(page: Page) -> int:
    """How many URIs have come to their end, as the page has it."""
    return int(re.sub(r"\D", "", page.locator("[data-n=ended]").first.inner_text()) or 0)


def over(jobdir: Path, process: subprocess.Popen[str]) -> bool:
    """Whether the crawl has ended, and its process too: ours, or a child of the engine that is."""
    record = stands(jobdir)
    return record.state == "FINISHED" and (process.poll() is not None or not lives(record.pid, record.born))


def wait(page: Page, jobdir: Path, process: subprocess.Popen[str], seconds: float) -> None:
    """Until the crawl is over; the browsers' messages are let in meanwhile."""
    end = time.monotonic() + seconds
    while not over(jobdir, process):
        page.wait_for_timeout(200)
        assert time.monotonic() < end, "the crawl goes on"


def looked_at_until(pages: list[Page], process: subprocess.Popen[str], jobdir: Path) -> None:
    """Have the page open until the crawl is over."""
    seen = [shown(page) for page in pages]
    wait(pages[0], jobdir, process, 1200)
    for page, before in zip(pages, seen, strict=True):
        assert shown(page) > before + PAGES / 2, "the page stood still"
        page.context.close()


def cheap(path: Path) -> dict[str, Any]:
    """What was measured, where it is within bounds."""
    told: dict[str, Any] = json.loads(path.read_text())
    assert told["turns"] > 50
    assert told["longest"][0][0] <= TURN, told
    assert not told["moved"], "who looks has the crawl look for something to do"
    assert told["ours"] <= SHARE * told["whole"], told
    print(f"page: {told['ours'] / told['whole']:.2%} of {told['whole']:.1f} s, {1000 * told['longest'][0][0]:.1f} ms")
    return told


def test_two_browsers_with_the_page_of_a_crawl(chromium: Browser, site: dict[str, Any], tmp_path: Path) -> None:
    made = Project(tmp_path, measured(site, tmp_path, PAGE))
    process = made.start(stdout=subprocess.DEVNULL)
    try:
        scheme, place = address(made, process)
        assert scheme == "https"
        pages = [opened(chromium, f"https://{place}", "/ui", "admin", PASSWORD) for _ in range(2)]
        looked_at_until(pages, process, made.jobdir)
        assert made.finish(process).stats["heritrix/uris/downloaded"] > PAGES
    finally:
        made.kill()
    cheap(tmp_path / "meter.json")


def test_two_browsers_with_the_page_of_an_engines_job(chromium: Browser, site: dict[str, Any], tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    made = Project(jobs / "a", measured(site, tmp_path))
    with serving(jobs, tmp_path / "engine.txt") as engine:
        origin = f"https://{engine.place}"
        pages = [opened(chromium, origin, "/ui/job/a", OPERATOR.user, OPERATOR.password, launch=True)]
        pages += [opened(chromium, origin, "/ui/job/a", OPERATOR.user, OPERATOR.password)]
        looked_at_until(pages, engine.process, jobs / "a")
    assert len(made.result(0).stats) > 0
    cheap(tmp_path / "meter.json")


@pytest.mark.parametrize("through", ["crawl", "engine"])
def test_whatever_is_looked_at_takes_short_turns(
    chromium: Browser, site: dict[str, Any], tmp_path: Path, through: str
) -> None:
    jobs = tmp_path / "jobs"
    # it ends by itself, so that nothing of its end is in the turns of those who look
    settings = {**(PAGE if through == "crawl" else {}), "HERITRIX_MAX_DOCUMENTS_DOWNLOAD": PAGES // 2}
    made = Project(jobs / "a", measured(site, tmp_path, settings))
    with ExitStack() as stack:
        if through == "crawl":
            process = made.start(stdout=subprocess.DEVNULL, jobdir=jobs / "a")
            stack.callback(made.kill)
            origin, path = f"https://{address(made, process)[1]}", "/ui"
            page = opened(chromium, origin, path, "admin", PASSWORD)
        else:
            engine = stack.enter_context(serving(jobs, tmp_path / "engine.txt"))
            process, origin, path = engine.process, f"https://{engine.place}", "/ui/job/a"
            page = opened(chromium, origin, path, OPERATOR.user, OPERATOR.password, launch=True)
        rounds = 0
        while (uris := ask(jobs / "a", {"do": "numbers"})["uris"])["succeeded"] < PAGES / 3:
            queue = re.search(r"/queue\?name=[^\"]+", page.context.request.get(f"{origin}{path}/queues").text())
            assert queue
            for each in (*CLOSER, queue[0], *(f"/report?name={name}" for name in TEXTS)):
                answer = page.context.request.get(origin + path + each)
                assert answer.status == 200, (each, answer.text()[:1000])
            rounds += 1
        assert rounds > 1, uris
        wait(page, jobs / "a", process, 600)
    told = json.loads((tmp_path / "meter.json").read_text())
    print(f"closer, {through}: {rounds} rounds, {1000 * told['longest'][0][0]:.1f} ms at most")
    assert not told["moved"], "who looks has the crawl look for something to do"
    assert told["longest"][0][0] <= TURN, told
