"""Is what was fetched a short time ago left out, by the history of this and earlier crawls?"""

from __future__ import annotations

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler

from heritrix_scrapy.archive.memory import History
from heritrix_scrapy.archive.recall import Recall
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.revisit import Entry
from heritrix_scrapy.scope import from_settings, scope_of
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.store import MemoryStore

NOW = 1_800_000_000_000
SCOPE = ["AcceptDecideRule", ["RecentlySeenDecideRule", {"interval_seconds": 3600, "id": "recent"}]]


class Still:
    """A clock that stands."""

    def now_ms(self) -> int:
        return NOW


def test_what_was_fetched_within_the_interval() -> None:
    crawler = Crawler(
        Spider,
        {
            "HERITRIX_OPERATOR_CONTACT_URL": "https://a.example/",
            "HERITRIX_FETCH_HISTORY": True,
            "HERITRIX_SCOPE": SCOPE,
            "HERITRIX_SHEETS": {"often": {"HERITRIX_SCOPE[recent].interval_seconds": 60}},
            "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(example,news,"], "sheets": ["often"]}],
        },
    )
    crawl = Crawl.of(crawler)
    crawl.clock = Still()  # type: ignore[assignment]
    recall = Recall(History(MemoryStore()), by_uri=True, by_digest=False)
    scope = scope_of(crawler)
    page = CrawlURI("http://a.example/x", path="L")
    # before there is a history
    assert scope.accepts(page)
    crawl.recall = recall
    assert scope.accepts(page)
    for host, minutes in (("a", 59), ("b", 61), ("news", 2), ("fresh.news", 0)):
        entry = Entry(200, NOW - minutes * 60_000, "sha1:x", None, None, 10)
        recall.memory.put_entries(f"http://{host}.example/x", [entry])

    def takes(host: str, path: str = "L") -> bool:
        return scope.accepts(CrawlURI(f"http://{host}.example/x", path=path))

    assert [takes(host) for host in ("a", "b", "news", "fresh.news")] == [False, True, True, False]
    # what another URI waits for is needed all the same
    assert takes("a", "LP")


def test_a_crawl_without_history_is_told() -> None:
    with pytest.raises(ConfigurationError, match="RecentlySeenDecideRule asks it"):
        from_settings(Settings(default_view(scope=SCOPE)))
