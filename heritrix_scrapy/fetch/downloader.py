"""How does a URI that no callback waits for get through Scrapy's downloader at half the price?

A spider's Requests go Scrapy's way, untouched. Ours need no slot queue (politeness belongs to the frontier), no
second task, and nothing of the stock middlewares that their meta turns off anyway. Every other middleware, of
the user or of Scrapy, is called as ever, in the same order, and every signal with a listener is sent. Without
this class, with a downloader of the project's own, a crawl is as correct, and a tenth dearer.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, cast

from scrapy import signals
from scrapy.core.downloader import Downloader
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware, RedirectMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.http import Request, Response
from scrapy.utils.defer import deferred_from_coro, ensure_awaitable
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.python import global_object_name

from heritrix_scrapy.crawl import is_internal
from heritrix_scrapy.requests import lookup
from heritrix_scrapy.signals import listened

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    Method = Callable[..., Any]
    #: Whether a middleware has anything to do for this Request or Response.
    Matters = Callable[[Any], bool]


def never(message: Request | Response) -> bool:
    """What the middleware does is turned off by the meta of our Requests, or overruled by our handler."""
    return False


def has_header(name: bytes, response: Response) -> bool:
    """Whether a response has a header."""
    return name in response.headers


#: Stock middlewares that are passed by unless it matters: (class, hook) → when it does. Only these very classes:
#: what is derived from them may do more. ``DownloaderStats`` is counted for, see ``_Counts``.
SPARED: dict[tuple[type, str], Callable[..., bool]] = {
    (OffsiteMiddleware, "process_request"): never,
    (HttpCompressionMiddleware, "process_request"): never,
    (HttpCompressionMiddleware, "process_response"): partial(has_header, b"Content-Encoding"),
    (RetryMiddleware, "process_response"): never,
    (RetryMiddleware, "process_exception"): never,
    (RedirectMiddleware, "process_response"): never,
    (MetaRefreshMiddleware, "process_response"): never,
    (DownloaderStats, "process_request"): never,
    (DownloaderStats, "process_response"): never,
    (DownloaderStats, "process_exception"): never,
}


class ArchivalDownloader(Downloader):
    """Scrapy's downloader, with a short way for Requests of our own making (setting ``DOWNLOADER``)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._hooks: dict[str, list[tuple[Method, Matters | None]]] = {}
        self._counts: _Counts | None = None

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        if not is_internal(request):
            return super().fetch(request)
        # Here, not in the coroutine, which may run a turn of the loop later: the engine asks at once whether
        # CONCURRENT_REQUESTS are active.
        self.active.add(request)
        return deferred_from_coro(self._fetch(request))

    def close(self) -> None:
        if self._counts is not None:
            self._counts.give()
        super().close()

    async def _fetch(self, request: Request) -> Response | Request:
        try:
            hooks = self._hooks or self._find_hooks()
            try:
                result = await self._asked(hooks["process_request"], request)
                if result is None:
                    result = await self._download_now(request)
            except Exception as error:
                # a turn of the loop, as in Scrapy: other sockets get theirs when many requests fail at once
                await asyncio.sleep(0)
                if self._counts is not None:
                    self._counts.failed(error)
                told = [(given(method, exception=error), matters) for method, matters in hooks["process_exception"]]
                result = await self._asked(told, request)
                if result is None:
                    raise
            if isinstance(result, Response):
                result = await self._handed_on(hooks["process_response"], request, result)
            return result
        finally:
            self.active.discard(request)

    async def _download_now(self, request: Request) -> Response:
        """One exchange, at once, with the signals that Scrapy sends around it."""
        counts = self._counts
        if counts is not None:
            counts.asked(request)
        self._tell(signals.request_reached_downloader, request=request)
        try:
            response = await self.handlers.download_request_async(request)
            if counts is not None:
                counts.answered(request, response)
            self._tell(signals.response_downloaded, request=request, response=response)
            return response
        finally:
            self._tell(signals.request_left_downloader, request=request)

    def _tell(self, signal: object, **details: Any) -> None:
        if listened(self.crawler, signal):
            self.signals.send_catch_log(signal=signal, spider=self.crawler.spider, **details)

    # -- middlewares ---------------------------------------------------------------------------------------

    def _find_hooks(self) -> dict[str, list[tuple[Method, Matters | None]]]:
        """The methods of all middlewares, with what says whether one matters. Scrapy has built and opened them by the
        time the first Request comes."""
        for hook in ("process_request", "process_response", "process_exception"):
            rows = self._hooks[hook] = []
            for method in self.middleware.methods[hook]:
                assert method is not None
                owner = getattr(method, "__self__", None)
                matters = SPARED.get((type(owner), hook))
                if type(owner) is DownloaderStats:
                    self._counts = self._counts or _Counts(self.crawler)
                if matters is never:
                    continue
                if argument_is_required(method, "spider"):
                    # a method of the old form
                    method = given(method, spider=self.crawler.spider)
                rows.append((method, matters))
        return self._hooks

    async def _asked(self, rows: list[tuple[Method, Matters | None]], request: Request) -> Response | Request | None:
        """What the first says that says anything."""
        for method, matters in rows:
            if matters is not None and not matters(request):
                continue
            result = method(request=request)
            if result is None:
                continue
            if not isinstance(result, (Response, Request)):
                result = await settled(method, result, optional=True)
                if result is None:
                    continue
            return cast("Response | Request", result)
        return None

    async def _handed_on(
        self, rows: list[tuple[Method, Matters | None]], request: Request, response: Response
    ) -> Response | Request:
        for method, matters in rows:
            if matters is not None and not matters(response):
                continue
            result = method(request=request, response=response)
            if not isinstance(result, (Response, Request)):
                result = await settled(method, result)
            if isinstance(result, Request):
                return result
            response = result
        return response


def given(method: Method, **details: Any) -> Method:
    """A method with some of its arguments, under its own name."""
    made: Any = partial(method, **details)
    made.__qualname__, made.__module__ = method.__qualname__, method.__module__
    return cast("Method", made)


async def settled(method: Method, result: Any, *, optional: bool = False) -> Any:
    """What a middleware's method came to, once awaited. Raises TypeError for what it may not return."""
    # our own are coroutines: asking what else they could be costs more than they do
    result = await (result if type(result) is CoroutineType else ensure_awaitable(result, global_object_name(method)))
    if isinstance(result, (Response, Request)) or (optional and result is None):
        return result
    allowed = "None, Response or Request" if optional else "Response or Request"
    raise TypeError(f"Middleware {method.__qualname__} must return {allowed}, got {type(result)}")


class _Counts:
    """The stats of ``DownloaderStats`` for our own URIs: the bytes are those of the wire, and they are given once a
    second (given one by one they were 4 % of a crawl's CPU)."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._pending: Counter[str] = Counter()
        self._given = time.monotonic()

    def asked(self, request: Request) -> None:
        """A Request goes to its handler."""
        pending = self._pending
        pending["request_count"] += 1
        pending[f"request_method_count/{request.method}"] += 1

    def answered(self, request: Request, response: Response) -> None:
        """It was answered."""
        pending = self._pending
        pending["response_count"] += 1
        pending[f"response_status_count/{response.status}"] += 1
        curi = lookup(request)
        if curi is not None and curi.recorder is not None:
            pending["request_bytes"] += curi.recorder.request.size
            pending["response_bytes"] += curi.recorder.response.size
        if time.monotonic() - self._given >= 1:
            self.give()

    def failed(self, error: Exception) -> None:
        """A handler or a middleware raised."""
        self._pending["exception_count"] += 1
        self._pending[f"exception_type_count/{global_object_name(type(error))}"] += 1

    def give(self) -> None:
        """Add what was counted to Scrapy's stats."""
        self._given = time.monotonic()
        pending, self._pending = self._pending, Counter()
        stats = self._crawler.stats
        if stats is not None:
            for name, count in pending.items():
                stats.inc_value(f"downloader/{name}", count)
