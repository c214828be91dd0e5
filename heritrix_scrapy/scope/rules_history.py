"""When was the URI fetched last, in this crawl or an earlier one?

Asks the fetch history (``HERITRIX_FETCH_HISTORY``), which is passed in with the crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import REJECT, Decision, PredicatedDecideRule

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

DAY = 86_400


class RecentlySeenDecideRule(PredicatedDecideRule):
    """Whether the URI was fetched less than ``interval_seconds`` ago, by the fetch history, which
    HERITRIX_FETCH_HISTORY keeps. What another URI needs first (robots.txt) never was."""

    default_decision = REJECT

    def __init__(self, *, interval_seconds: int = DAY, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.interval_seconds = interval_seconds
        self._crawl: Crawl | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, **properties: Any) -> Self:
        rule = cls(**properties)
        rule._crawl = Crawl.of(crawler)
        return rule

    def configure(self, view: Any) -> None:
        if not view.fetch_history:
            raise ConfigurationError("HERITRIX_FETCH_HISTORY", False, "expected True: RecentlySeenDecideRule asks it")

    def matches(self, curi: CrawlURI) -> bool:
        recall = None if self._crawl is None else self._crawl.recall
        if recall is None or curi.path[-1:] == hops.PREREQ:
            return False
        last = recall.last_fetch_ms(curi.uri)
        return last is not None and self._crawl.clock.now_ms() - last < self.interval_seconds * 1000  # type: ignore[union-attr]
