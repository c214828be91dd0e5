"""What becomes of a page when a part of the user's fails on one of its links? It ends, and the crawl goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

RULES = """
from heritrix_scrapy.scope.rule import ACCEPT, DecideRule

class Faulty(DecideRule):
    def evaluate(self, curi):
        if "/fault" in curi.uri:
            raise ValueError("cannot judge this")
        return ACCEPT
"""


@pytest.mark.crawl
def test_a_rule_that_raises(serve: Serve, run_crawl: RunCrawl) -> None:
    host = "www.rule.test"
    pages = {"/": {"body": '<a href="/bad">b</a><a href="/good">g</a>'}, "/bad": {"body": '<a href="/fault">f</a>'}}
    web = serve({host: {"routes": {"/robots.txt": {"status": 404}, "/good": {"body": "good"}, **pages}}})
    scope = ["crawl_project.rules.Faulty"]
    crawl = run_crawl(
        {"HERITRIX_SEEDS": [web.url(host)], "HERITRIX_SCOPE": scope}, web=web, modules={"rules": RULES}, timeout=60
    )
    assert crawl.returncode == 0, crawl.stderr
    assert "cannot judge this" in crawl.stderr
    assert crawl.statuses[web.url(host, "/bad")] == [200]
    assert crawl.statuses[web.url(host, "/good")] == [200]
    assert web.url(host, "/fault") not in crawl.statuses


STEPS = """
class Later:
    def process(self, curi):
        if curi.uri.endswith("/soon"):
            curi.reschedule_at = "soon"

class Odd:
    def process(self, curi):
        if curi.uri.endswith("/odd"):
            curi.status = "odd"
"""


@pytest.mark.crawl
def test_a_step_that_sets_nonsense(serve: Serve, run_crawl: RunCrawl) -> None:
    host = "www.step.test"
    pages = {"/": {"body": '<a href="/soon">s</a><a href="/odd">o</a><a href="/last">l</a>'}}
    web = serve({host: {"routes": {"/robots.txt": {"status": 404}, **pages}, "default": {"body": "page"}}})
    steps = {"disposition": ["crawl_project.steps.Later", "crawl_project.steps.Odd"]}
    crawl = run_crawl(
        {"HERITRIX_SEEDS": [web.url(host)], "HERITRIX_STEPS": steps}, web=web, modules={"steps": STEPS}, timeout=60
    )
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[web.url(host, "/soon")] == [200]
    assert crawl.statuses[web.url(host, "/odd")] == [-5]
    assert crawl.statuses[web.url(host, "/last")] == [200]
    assert "cannot be fetched again at 'soon'" in crawl.stderr
