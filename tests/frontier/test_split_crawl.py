"""A whole crawl that is split over two crawlers, its queues named and priced by policies of the project's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

pytestmark = pytest.mark.crawl

MINE, OTHER = "www.ash.test", "www.oak.test"


def site(*pages: str) -> dict[str, Any]:
    links = "".join(f'<a href="{page}">x</a>' for page in pages)
    return {
        "routes": {
            "/robots.txt": {"status": 404},
            "/favicon.ico": {"status": 404},
            "/": {"body": f"<html><title>home</title>{links}</html>"},
        },
        "default": {"body": "<html><title>page</title></html>"},
    }


POLICIES = """
from heritrix_scrapy.frontier.policies import CostAssignmentPolicy, QueueAssignmentPolicy

class ByHost(QueueAssignmentPolicy):
    def __init__(self, word):
        self.word = word

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings["BOT_NAME"])

    def class_key(self, curi):
        host = curi.policy_basis.split("/")[2].partition(":")[0] if "//" in curi.policy_basis else "none"
        return ("2" if "oak" in host else "1") + self.word

class Dear(CostAssignmentPolicy):
    price = 0

    def cost_of(self, curi):
        return self.price if "/dear" in curi.uri else 0
"""


def test_what_belongs_to_another_crawler_goes_to_its_file(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve({MINE: site("/dear/1", "/dear/2", "/dear/3", "http://www.oak.test/far"), OTHER: site()})
    settings = {
        "BOT_NAME": "bot",
        "HERITRIX_SEEDS": [web.url(MINE), web.url(OTHER)],
        "HERITRIX_CRAWL_MAPPER": "Lexical",
        "HERITRIX_MAP_PATH": ["1~ one", "~ two"],
        "HERITRIX_LOCAL_NAME": "one",
        "HERITRIX_QUEUE_ASSIGNMENT_POLICY": "crawl_project.policies.ByHost",
        "HERITRIX_COST_ASSIGNMENT_POLICY": ["crawl_project.policies.Dear", {"price": 5}],
        "HERITRIX_QUEUE_TOTAL_BUDGET": 10,
        "HERITRIX_SCOPE": "broad",
    }
    crawl = run_crawl(settings, web=web, modules={"policies": POLICIES})
    assert crawl.statuses[web.url(MINE)] == [200]
    assert crawl.statuses[web.url(OTHER)] == [-5002]
    (line,) = [line for line in crawl.log if line.split()[3] == web.url(OTHER)]
    assert line.split()[11] == "to:two"
    # two dear pages spend the budget of 10
    assert sum("/dear/" in uri for uri in crawl.statuses) == 2
    assert web.asked(OTHER) == []
    [done] = (crawl.jobdir / "diversions").iterdir()
    assert done.name.endswith("-one-to-two.divert")
    assert sorted(done.read_text().splitlines()) == sorted(
        [f"F+ {web.url(OTHER)}  ", f"F+ http://www.oak.test/far L {web.url(MINE)}"]
    )
    assert crawl.stats["heritrix/frontier/diverted"] == 2


def test_a_mapper_without_a_name_for_this_crawler_does_not_start(run_crawl: RunCrawl) -> None:
    crawl = run_crawl({"HERITRIX_CRAWL_MAPPER": "Hash", "HERITRIX_CRAWLER_COUNT": 2})
    assert crawl.returncode == 1
    assert "HERITRIX_LOCAL_NAME" in crawl.stderr
