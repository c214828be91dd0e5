"""What does an item pipeline look like whose items are captures?

Listed in ``ITEM_PIPELINES``, built, opened and closed by Scrapy; the capture chain calls ``process_item`` with a
CrawlURI. Any other item passes unchanged, so a project's own items never meet it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.crawluri import CrawlURI

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Self

    from scrapy.crawler import Crawler


class CapturePipeline(ABC):
    """To be derived from: override ``process_capture``, and ``open_spider`` and ``close_spider`` where needed."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """A CrawlURI is kept, anything is handed on; what takes its time is handed on as a coroutine."""
        if type(item) is CrawlURI:
            later = self.process_capture(item)
            # a pipeline of the user's own may return the capture itself, as item pipelines do
            if later is not None and isawaitable(later):
                return kept(item, later)
        return item

    @abstractmethod
    def process_capture(self, curi: CrawlURI) -> Awaitable[None] | None:
        """Keep one fetched URI; what is returned is awaited. Raises StorageFull when it could not be kept."""


async def kept(curi: CrawlURI, later: Awaitable[None]) -> CrawlURI:
    """The capture, when it is kept."""
    await later
    return curi
