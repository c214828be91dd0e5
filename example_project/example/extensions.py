"""An extension that steers the crawl it is in."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from heritrix_scrapy import signals
from heritrix_scrapy.crawl import Crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI


class TooManyErrors:
    """Retires the queue of a host that has failed ERRORS_PER_HOST times, and tells of how many it knows."""

    def __init__(self, crawler: Crawler) -> None:
        self.most = crawler.settings.getint("ERRORS_PER_HOST", 100)
        self.failures: Counter[str] = Counter()
        self.tasks: set[asyncio.Future[Any]] = set()
        self.steering = Crawl.of(crawler).steering
        self.steering.add("failures", self.told, steers=False)
        crawler.signals.connect(self.finished, signals.uri_finished)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def finished(self, curi: CrawlURI) -> None:
        if curi.status == 404:
            self.failures[curi.class_key] += 1
            if self.failures[curi.class_key] == self.most:
                self.ask({"do": "retire", "queue": curi.class_key.replace("+", "[+]"), "remark": "too many errors"})

    def ask(self, request: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self.steering.do(request))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def told(self, least: int = 1) -> dict[str, Any]:
        """Failures by queue, where there are at least so many."""
        return {"failures": {key: count for key, count in self.failures.items() if count >= least}}
