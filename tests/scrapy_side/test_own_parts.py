"""Do parts of a project's own work in a whole crawl: rules, extractors, steps, middlewares, callbacks for captures?

They are those of ``example_project``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.crawls import ROOT
from tests.scrapy_side.sites import HOST, pages

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

pytestmark = pytest.mark.crawl

LONG = "/long/" + "x" * 250

SITE: dict[str, Any] = {
    HOST: {
        "routes": {
            "/robots.txt": {"status": 404},
            "/favicon.ico": {"status": 404},
            "/": {
                "headers": [["Server", "tiny 1"]],
                "body": f'<html><title>home</title><a href=/two>2</a><a href="/two?print=1">p</a><a href={LONG}>l</a>'
                '<a href=/calendar/2026>c</a><b data-link="/hidden"></b><img src=/pic.png></html>',
            },
            "/two": {"body": "<html><title>two</title></html>"},
            "/hidden": {"body": "<html><title>hidden</title></html>"},
            "/pic.png": {"type": "image/png", "body": "pic"},
        },
        "default": {"body": "<html><title>other</title></html>"},
    }
}

STEPS = {
    "before_fetch": ["example.steps.OnlyShort"],
    "after_fetch": ["example.steps.NoteServer"],
    "after_extract": ["example.steps.NoCalendar"],
    "disposition": ["example.steps.Provenance"],
}


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example project's package can be imported by the crawls."""
    monkeypatch.setattr("tests.crawls.ROOT", f"{ROOT}:{ROOT / 'example_project'}")


def notes(log: list[str], uri: str) -> str:
    (line,) = [line for line in log if line.split()[3] == uri]
    return line.split()[11]


def test_a_rule(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    scope = ["RejectDecideRule", "acceptSurts", "transclusion", "example.rules.NoPrintVersions"]
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_SCOPE": scope}, web=web)
    assert crawl.statuses[web.url(HOST, "/two")] == [200]
    assert web.url(HOST, "/two?print=1") not in crawl.statuses
    without = run_crawl({"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_SCOPE": scope[:3]}, web=web)
    assert web.url(HOST, "/two?print=1") in without.statuses


def test_an_extractor(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    extractors = ["ExtractorHTTP", "ExtractorHTML", "example.extractors.DataLinks"]
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_EXTRACTORS": extractors}, web=web)
    assert crawl.statuses[web.url(HOST, "/hidden")] == [200]
    assert web.url(HOST, "/hidden") in pages(crawl.warcs)
    assert web.url(HOST, "/two") in crawl.statuses


def test_a_step_at_each_point(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    settings = {"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_STEPS": STEPS, "HERITRIX_LOG_EXTRA_INFO": True}
    crawl = run_crawl(settings, web=web)
    long = web.url(HOST, LONG)
    assert crawl.statuses[long] == [-5002]
    assert notes(crawl.log, long) == "tooLong"
    assert f"GET {LONG}" not in web.asked(HOST)
    assert notes(crawl.log, web.url(HOST)) == "server:tiny%201"
    assert web.url(HOST, "/calendar/2026") not in crawl.statuses
    (line,) = [line for line in crawl.log if line.split()[3] == web.url(HOST)]
    assert '"record":"urn:uuid:' in line.split()[12]


def test_a_step_that_fails_ends_its_uri(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    broken = (
        "class Broken:\n    def process(self, curi):\n        if curi.uri.endswith('/two'): raise ValueError('mine')"
    )
    settings = {"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_STEPS": {"after_fetch": ["crawl_project.steps.Broken"]}}
    crawl = run_crawl(settings, web=web, modules={"steps": broken})
    assert crawl.statuses[web.url(HOST, "/two")] == [-5]
    assert crawl.statuses[web.url(HOST, "/pic.png")] == [200]
    assert any("ValueError: mine" in line for line in crawl.runtime_errors)


CALLED = """
from pathlib import Path
from heritrix_scrapy import ArchiveSpider, crawl_uri

class Called(ArchiveSpider):
    name = "called"

    def parse_found(self, response):
        curi = crawl_uri(response)
        yield {"url": response.url, "path": curi.path, "flags": response.flags, "record": curi.record_id}
"""

SEEN = """
class Seen:
    def process_item(self, item):
        from pathlib import Path
        with Path("seen.txt").open("a") as file:
            print(type(item).__name__, getattr(item, "uri", ""), file=file)
        return item
"""


def test_a_callback_for_what_extractors_found(serve: Serve, project: Any) -> None:
    """And a middleware that tells it which record the page is in."""
    web = serve(SITE)
    settings = {
        "HERITRIX_SEEDS": [web.url(HOST)],
        "HERITRIX_CALLBACK": "parse_found",
        "DOWNLOADER_MIDDLEWARES": {"example.middlewares.Provenance": 500},
    }
    made = project(settings, CALLED, web=web)
    crawl = made.run("-O", "items.jsonl", name="called")
    rows = [eval(line, {"null": None}) for line in (made.folder / "items.jsonl").read_text().splitlines()]
    assert {row["url"]: row["path"] for row in rows if row["path"] in ("", "L", "E")}.keys() >= {
        web.url(HOST),
        web.url(HOST, "/two"),
        web.url(HOST, "/pic.png"),
    }
    assert all(row["flags"] == [row["record"]] for row in rows)
    assert not any("/robots.txt" in row["url"] or row["url"].startswith("dns:") for row in rows)
    assert {row["url"] for row in rows} == pages(crawl.warcs) - {web.url(HOST, "/robots.txt")}


@pytest.mark.parametrize("on", [False, True])
def test_captures_through_pipelines(serve: Serve, project: Any, on: bool) -> None:
    web = serve(SITE)
    settings = {
        "HERITRIX_SEEDS": [web.url(HOST)],
        "HERITRIX_CAPTURES_TO_PIPELINES": on,
        "ITEM_PIPELINES": {"crawl_project.pipelines.Seen": 300},
    }
    made = project(settings, web=web, modules={"pipelines": SEEN})
    crawl = made.run()
    assert crawl.returncode == 0
    seen = made.folder / "seen.txt"
    rows = seen.read_text().splitlines() if seen.exists() else []
    assert (f"CrawlURI {web.url(HOST, '/two')}" in rows) is on
    assert bool(rows) is on
    assert "item_scraped_count" not in crawl.stats
