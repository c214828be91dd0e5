"""How much of a crawl's time goes into looking for garbage? A Scrapy extension that keeps it small.

Python looks through its objects for cycles whenever 700 more were made than freed; a page makes and frees some
thousands, nearly all without the collector's help. Scrapy, Twisted and their modules never become garbage, so
they are set aside when the crawl begins, and the collector is called less often: 7 % of a crawl's CPU. Memory
stays level; what sits in a cycle waits a few pages longer.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

#: Objects made beyond those freed before a look at the youngest, and looks before one at the next older.
THRESHOLDS = (10_000, 20, 50)


class GarbageExtension:
    """Sets the collector for the time of a crawl. ``EXTENSIONS = {GarbageExtension: None}`` leaves it as it is."""

    def __init__(self, crawler: Crawler) -> None:
        self._before = gc.get_threshold()
        crawler.signals.connect(self.engine_started, signals.engine_started)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def engine_started(self) -> None:
        self._before = gc.get_threshold()
        # 0 means that somebody turned the collector off
        if self._before[0] and self._before < THRESHOLDS:
            gc.freeze()
            gc.set_threshold(*THRESHOLDS)

    def engine_stopped(self) -> None:
        if gc.get_threshold() == THRESHOLDS != self._before:
            gc.unfreeze()
            gc.set_threshold(*self._before)
