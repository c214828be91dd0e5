"""When does the engine have to be woken, and when is a batch to be written?

One timer for the earliest wake-up, so that the engine's heartbeat is never waited for, and one for the flush that is
due. Neither is armed anew for a later time than it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later

from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.crawl import Crawl
    from heritrix_scrapy.frontier.core import Frontier

#: Seconds after which a flush that the disk refused is tried again.
FLUSH_AGAIN = 1.0


class Timers:
    """The timers of one frontier. ``before_flush``: called before each."""

    def __init__(self, crawl: Crawl, frontier: Frontier, before_flush: Callable[[], None]) -> None:
        self._crawl = crawl
        self._frontier = frontier
        self._before_flush = before_flush
        self._ended = False
        self._wake: Any = None
        self._wake_at = 0
        self._flush: Any = None
        self._flush_at = 0

    def arm(self) -> None:
        """Something may be due earlier than it was."""
        if self._ended:
            return
        frontier = self._frontier
        now = self._crawl.clock.now_ms()
        wake = frontier.next_wake()
        if wake is not None and (self._wake is None or wake < self._wake_at):
            if self._wake is not None:
                self._wake.cancel()
            self._wake_at = wake
            self._wake = call_later(max(wake - now, 0) / 1000, self._awake)
        due = frontier.needs_flush_at()
        if due is not None and (self._flush is None or due < self._flush_at):
            # a batch need not wait for the sync of the one before
            if self._flush is not None:
                self._flush.cancel()
            self._flush_at = due
            self._flush = call_later(max(due - now, 0) / 1000, self._flush_now)

    def end(self) -> None:
        """Nothing is due any more."""
        self._ended = True
        for timer in (self._wake, self._flush):
            if timer is not None:
                timer.cancel()

    def _awake(self) -> None:
        self._wake = None
        self._crawl.bridge.kick()

    def _flush_now(self) -> None:
        self._flush = None
        self._before_flush()
        try:
            self._frontier.flush(self._crawl.clock.now_ms())
        except StorageFull as error:
            self._crawl.bridge.pause(error)
            # not sooner: the disk has refused what is due
            self._flush_at = 0
            self._flush = call_later(FLUSH_AGAIN, self._flush_now)
        self.arm()
