"""How much of a crawl's CPU time goes to those who look at it? A Scrapy extension that measures it from inside.

What the page's server, the control socket and the course of the numbers start runs in a context that is marked: each
turn of the loop in such a context is timed by the CPU clock of its own thread. Where the crawl itself is moved on, it
goes on in a context without the mark. ``METER`` names the file that is
written at the end: ``ours`` and ``whole`` in seconds of CPU, ``turns``, the ``longest`` with what they were, and how
often those who look have ``moved`` the crawl.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import time
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals

from heritrix_scrapy.engine import Bridge
from heritrix_scrapy.operate.closer import Closer
from heritrix_scrapy.operate.control import ControlServer
from heritrix_scrapy.operate.web.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy.crawler import Crawler

OURS: Final[ContextVar[bool]] = ContextVar("ours", default=False)
#: Where everything of page and socket begins, and where it ends: what is called later from there is the crawl's.
BEGINNINGS: Final = ((Server, "start"), (ControlServer, "start"), (Closer, "start"))
ENDS: Final = ((Bridge, "kick"),)
#: Each time that the crawl was moved on from there.
MOVED: Final[list[str]] = []
KEPT: Final = 16


def marked(run: Callable[..., Any], *, ours: bool = True) -> Callable[..., Any]:
    """The same, in a context that is marked, or not any more."""
    if asyncio.iscoroutinefunction(run):

        @functools.wraps(run)
        async def waited(*given: Any, **named: Any) -> Any:
            token = OURS.set(ours)
            try:
                return await run(*given, **named)
            finally:
                OURS.reset(token)

        return waited

    @functools.wraps(run)
    def at_once(*given: Any, **named: Any) -> Any:
        if not ours and OURS.get():
            MOVED.append(run.__qualname__)
        token = OURS.set(ours)
        try:
            return run(*given, **named)
        finally:
            OURS.reset(token)

    return at_once


class Meter:
    """Measures from the spider's start to the engine's end."""

    def __init__(self, crawler: Crawler) -> None:
        self._path = Path(crawler.settings["METER"])
        self._ours, self._turns, self._paused, self._since, self._began = 0.0, 0, 0.0, 0.0, 0.0
        self._longest: list[tuple[float, str]] = []
        #: What the turn that goes on is of.
        self.asked = ""
        self._run = asyncio.Handle._run
        for owner, name in BEGINNINGS:
            setattr(owner, name, marked(getattr(owner, name)))
        for owner, name in ENDS:
            setattr(owner, name, marked(getattr(owner, name), ours=False))
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def collected(self, phase: str, info: dict[str, int]) -> None:
        """What the collector takes is for the garbage of all, whoever happens to call it."""
        if phase == "start":
            self._since = time.thread_time()
        else:
            self._paused += time.thread_time() - self._since

    def opened(self) -> None:
        gc.callbacks.append(self.collected)
        run, meter, clock = self._run, self, time.thread_time

        def timed(handle: asyncio.Handle) -> None:
            if not handle._context.get(OURS):  # type: ignore[attr-defined]
                run(handle)
                return
            meter.asked = what(handle)
            meter._paused = 0.0
            start = clock()
            try:
                run(handle)
            finally:
                meter.took(clock() - start - meter._paused, handle)

        asyncio.Handle._run = timed  # type: ignore[method-assign]
        self._began = time.process_time()

    def took(self, seconds: float, handle: asyncio.Handle) -> None:
        """A turn is over."""
        self._ours += seconds
        self._turns += 1
        if len(self._longest) < KEPT or seconds > self._longest[-1][0]:
            self._longest = sorted([*self._longest, (seconds, f"{self.asked} >>> {what(handle)}")], reverse=True)[:KEPT]

    def stopped(self) -> None:
        whole = time.process_time() - self._began
        asyncio.Handle._run = self._run  # type: ignore[method-assign]
        gc.callbacks.remove(self.collected)
        told = {"ours": self._ours, "whole": whole, "turns": self._turns, "longest": self._longest, "moved": len(MOVED)}
        self._path.write_text(json.dumps(told, indent=1))


def what(handle: asyncio.Handle) -> str:
    """What a turn was of: a task with the coroutines it goes on in, or the method that was called."""
    callback = handle._callback  # type: ignore[attr-defined]
    owner = getattr(callback, "__self__", None)
    if not isinstance(owner, asyncio.Task):
        return f"{callback!r:.200}"
    coroutine: Any = owner.get_coro()
    if owner.done():
        return "over"
    names = [getattr(coroutine, "__qualname__", repr(coroutine))]
    while (coroutine := getattr(coroutine, "cr_await", None)) is not None and hasattr(coroutine, "cr_frame"):
        if coroutine.cr_frame is not None:
            request = coroutine.cr_frame.f_locals.get("request")
            asked = request.get("do") if isinstance(request, dict) else getattr(request, "path_qs", "")
            names.append(f"{coroutine.__qualname__}:{coroutine.cr_frame.f_lineno} {asked}")
    return " > ".join(names)
