"""How does the frontier wake Scrapy's engine, and learn that it let go of a Request?

The only file that uses private names of Scrapy: ``ExecutionEngine._slot``, and of it ``nextcall.schedule``,
``remove_request``, ``inprogress``, ``closing`` and ``close``. Each has a contract test.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.signals import crawl_paused, crawl_resumed

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Bridge:
    """Our side of the engine. ``install`` works from ``scheduler.open`` on; before and after, calls do nothing."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.pause_reason: str | None = None

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
        slot = self._slot()
        release = slot.remove_request
        close = slot.close

        def remove_request(request: Request) -> None:
            try:
                done(request)
            except Exception:
                logger.exception("bookkeeping of %s failed", request.url)
            finally:
                release(request)

        async def close_slot() -> None:
            try:
                closing()
            except Exception:
                logger.exception("preparing the stop failed")
            await close()

        slot.remove_request = remove_request
        slot.close = close_slot

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

    def pause(self, reason: str, *, wanted: bool = False) -> None:
        """Stop handing out Requests; what is in flight goes on. The reason stands in status and log. ``wanted``: by
        the operator, not for a trouble."""
        if self.pause_reason is None:
            self.pause_reason = reason
            logger.log(logging.INFO if wanted else logging.ERROR, "crawl paused: %s", reason)
            self._tell(crawl_paused, reason=reason)
        engine = self._engine()
        if engine is not None and not engine.paused:
            engine.pause()

    def resume(self) -> None:
        """Go on after ``pause``."""
        was_paused = self.pause_reason is not None
        self.pause_reason = None
        engine = self._engine()
        if engine is not None and engine.paused:
            engine.unpause()
            self.kick()
        if was_paused:
            logger.info("crawl resumed")
            self._tell(crawl_resumed)

    def _tell(self, signal: object, **details: Any) -> None:
        self._crawler.signals.send_catch_log(signal=signal, spider=self._crawler.spider, **details)
