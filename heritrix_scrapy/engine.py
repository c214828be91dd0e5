"""How does the frontier wake Scrapy's engine, and learn that it let go of a Request?

The only file that uses private names of Scrapy: ``ExecutionEngine._slot``, and of it ``nextcall.schedule``,
``remove_request``, ``inprogress``, ``closing`` and ``close``. Each has a contract test. ``close_spider_async``, which
is public, is replaced on the engine to learn the reason before the end.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.signals import crawl_paused, crawl_resumed, disk_low, disk_recovered

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


#: What a pause may be for. The crawl goes on when each cause is gone, or when the operator says so.
OPERATOR: Final = "operator"
TROUBLE: Final = "trouble"
DISK: Final = "disk"
LIMIT: Final = "limit"


class Watcher(Protocol):
    """Who is told what the engine does."""

    def paused(self) -> None:
        """Nothing more is handed out, from now on or for one more cause."""

    def resumed(self) -> None:
        """URIs are handed out again."""

    def moved(self) -> None:
        """The engine has let go of a Request."""

    def closing(self, reason: str) -> None:
        """The engine begins to close, and waits for what is in flight."""


class Bridge:
    """Our side of the engine. ``install`` works from ``scheduler.open`` on; before and after, calls do nothing."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.watcher: Watcher | None = None
        #: Cause → reason of each pause that holds.
        self.pauses: dict[str, str] = {}
        #: What could not be written, while the crawl is paused for it.
        self.lack: StorageFull | None = None
        self._reason = "cancelled"

    @property
    def pause_reason(self) -> str | None:
        """Why the crawl is paused, as first said; None while it is not."""
        return next(iter(self.pauses.values()), None)

    def _slot(self) -> Any:
        return getattr(self._engine(), "_slot", None)

    def _engine(self) -> Any:
        """The engine, or None: before the crawl starts, newer versions of Scrapy refuse to tell."""
        try:
            return self._crawler.engine
        except RuntimeError:
            return None

    def install(self, done: Callable[[Request], None], closing: Callable[[], None]) -> None:
        """Have ``done(request)`` called once for each Request the engine lets go of, just before it does; and
        ``closing()`` once, when the engine begins to close and waits for what is in flight."""
        slot, engine = self._slot(), self._engine()
        release = slot.remove_request
        close = slot.close
        close_spider = engine.close_spider_async

        def remove_request(request: Request) -> None:
            try:
                done(request)
            except Exception:
                logger.exception("bookkeeping of %s failed", request.url)
            finally:
                release(request)
            if self.watcher is not None and self.pauses:
                self.watcher.moved()

        async def close_spider_async(*, reason: str = "cancelled") -> None:
            if not self.is_closing():
                self._reason = reason
            await close_spider(reason=reason)

        async def close_slot() -> None:
            try:
                if self.watcher is not None:
                    self.watcher.closing(self._reason)
                closing()
            except Exception:
                logger.exception("preparing the stop failed")
            await close()

        slot.remove_request = remove_request
        slot.close = close_slot
        engine.close_spider_async = close_spider_async

    def kick(self) -> None:
        """Have the engine ask the scheduler at the next turn of the loop."""
        slot = self._slot()
        if slot is not None:
            slot.nextcall.schedule()

    def is_closing(self) -> bool:
        """Whether the engine has begun to close, or is closed."""
        slot = self._slot()
        return slot is None or slot.closing is not None

    def is_paused(self) -> bool:
        """Whether nothing is handed out for now."""
        engine = self._engine()
        return engine is not None and engine.paused

    def in_process(self) -> int:
        """Requests that the engine has taken and not let go of."""
        slot = self._slot()
        return 0 if slot is None else len(slot.inprogress)

    def pause(self, reason: str | StorageFull, *, wanted: bool = False, cause: str | None = None) -> None:
        """Stop handing out Requests; what is in flight goes on. The reason stands in status and log. ``wanted``: by
        the operator, not for a trouble."""
        if isinstance(reason, StorageFull):
            cause, self.lack = DISK, reason
        elif cause is None:
            cause = OPERATOR if wanted else TROUBLE
        first = not self.pauses
        if cause not in self.pauses:
            self.pauses[cause] = str(reason)
            logger.log(logging.INFO if wanted else logging.ERROR, "crawl paused: %s", reason)
            if cause == DISK:
                self._tell(disk_low, reason=str(reason))
        if first:
            self._tell(crawl_paused, reason=str(reason))
        engine = self._engine()
        if engine is not None and not engine.paused:
            engine.pause()
        if self.watcher is not None:
            self.watcher.paused()

    def lift(self, cause: str) -> None:
        """One cause of a pause is gone; the crawl goes on when it was the last."""
        if self.pauses.pop(cause, None) is not None:
            if cause == DISK:
                self.lack = None
                self._tell(disk_recovered)
            if not self.pauses:
                self._go_on()

    def resume(self) -> None:
        """Go on after ``pause``, whatever it was for."""
        was_paused = bool(self.pauses)
        self.pauses.clear()
        self.lack = None
        if was_paused or self.is_paused():
            self._go_on()

    def _go_on(self) -> None:
        engine = self._engine()
        if engine is not None and engine.paused:
            engine.unpause()
            self.kick()
        logger.info("crawl resumed")
        self._tell(crawl_resumed)
        if self.watcher is not None:
            self.watcher.resumed()

    @property
    def concurrency(self) -> int:
        """How many Requests the downloader takes at once."""
        engine = self._engine()
        downloader = None if engine is None else getattr(engine, "downloader", None)
        found = (
            self._crawler.settings.getint("CONCURRENT_REQUESTS") if downloader is None else downloader.total_concurrency
        )
        return int(found)

    def set_concurrency(self, number: int) -> None:
        """How many Requests the downloader takes at once."""
        engine = self._engine()
        if engine is not None:
            engine.downloader.total_concurrency = number

    async def close_spider(self, reason: str) -> None:
        """Have the engine end the crawl: what is in flight gets its grace time."""
        engine = self._engine()
        if engine is not None and not self.is_closing():
            await engine.close_spider_async(reason=reason)

    def _tell(self, signal: object, **details: Any) -> None:
        self._crawler.signals.send_catch_log(signal=signal, spider=self._crawler.spider, **details)


def set_exit_status(code: int) -> None:
    """Have the process that ``scrapy crawl`` runs in end with this status, where the command has no worse word itself.

    Scrapy ends the process with the ``exitcode`` of its command, 0 of its class unless the command sets one. The
    class's is set, so that a project's own commands, derived from Scrapy's, tell the same. A script that runs crawls
    by itself ends as it likes.
    """
    commands = sys.modules.get("scrapy.commands")
    if commands is not None:
        commands.ScrapyCommand.exitcode = code
