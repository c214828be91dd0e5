"""Is the short way through the downloader the same way? Each case goes through Scrapy's own chain of middlewares and
through ours, and both must call the same methods in the same order and come to the same end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from scrapy import Request, Spider, signals
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.test import get_crawler

from heritrix_scrapy.addon import DEFAULTS
from heritrix_scrapy.crawl import is_internal
from heritrix_scrapy.fetch.downloader import SPARED, ArchivalDownloader
from heritrix_scrapy.frontier.building import UNATTENDED
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.requests import bind

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore:.*requires a spider argument")

URL = "http://site.example/page"
OTHER = Request("http://site.example/other")

CALLS: list[str] = []


class Recording:
    """A middleware that notes its calls; ``acts``: hook → what it does instead of passing on."""

    name = "?"
    acts: ClassVar[dict[str, Callable[..., Any]]] = {}

    def _do(self, hook: str, passed: Any, **details: Any) -> Any:
        CALLS.append(f"{self.name}.{hook}")
        act = self.acts.get(f"{self.name}.{hook}")
        return passed if act is None else act(**details)

    def process_request(self, request: Request) -> Any:
        return self._do("request", None, request=request)

    def process_response(self, request: Request, response: Response) -> Any:
        return self._do("response", response, request=request, response=response)

    def process_exception(self, request: Request, exception: Exception) -> Any:
        return self._do("exception", None, request=request, exception=exception)


class Outer(Recording):
    name = "outer"


class Inner(Recording):
    name = "inner"


class OldForm:
    """A middleware that still wants the spider."""

    def process_request(self, request: Request, spider: Spider) -> None:
        CALLS.append(f"old.request of {spider.name}")


class OwnRetry(RetryMiddleware):
    """Derived from a stock class: it may do more, so it is asked."""

    def process_response(self, request: Request, response: Response, *args: Any, **named: Any) -> Any:
        CALLS.append("own retry")
        return super().process_response(request, response, *args, **named)


class Handler:
    """Answers, or fails where the host is ``down.example``."""

    lazy = False

    async def download_request(self, request: Request) -> Response:
        CALLS.append("handler")
        if "down." in request.url:
            raise OSError("refused")
        headers = {"Set-Cookie": "seen=1; path=/"} if "cookie" in request.url else {}
        return Response(request.url, status=200, headers=headers, body=b"text")

    async def close(self) -> None: ...


def downloader_of(**settings: Any) -> ArchivalDownloader:
    crawler = get_crawler(
        Spider,
        {
            "DOWNLOADER_MIDDLEWARES": {Outer: 10, OldForm: 560, OwnRetry: 555, Inner: 900},
            "DOWNLOAD_HANDLERS": {"http": Handler},
            "TELNETCONSOLE_ENABLED": False,
            **settings,
        },
    )
    crawler.spider = Spider("test")
    return ArchivalDownloader(crawler)


def request_of(url: str = URL) -> Request:
    return Request(url, meta=UNATTENDED.copy(), dont_filter=True)


async def outcome(work: Any) -> tuple[Any, list[str]]:
    CALLS.clear()
    try:
        result = await work
    except Exception as error:
        # Scrapy's class for what a middleware may not return is a private TypeError
        kind = TypeError if isinstance(error, TypeError) else type(error)
        return (kind, str(error).partition(", got ")[0]), CALLS.copy()
    return (type(result), result.url), CALLS.copy()


def fail(**details: Any) -> Any:
    raise IgnoreRequest("no")


async def later(**details: Any) -> Any:
    await asyncio.sleep(0)
    return details.get("response")


CASES: dict[str, tuple[str, dict[str, Callable[..., Any]]]] = {
    "answered": (URL, {}),
    "failed": ("http://down.example/", {}),
    "failed, mended by a response": (
        "http://down.example/",
        {"inner.exception": lambda request, exception: Response(request.url, body=b"instead")},
    ),
    "failed, mended by a request": ("http://down.example/", {"outer.exception": lambda **_: OTHER}),
    "failed, awaited": ("http://down.example/", {"inner.exception": later}),
    "answered before the wire": (URL, {"outer.request": lambda request: Response(request.url)}),
    "replaced before the wire": (URL, {"inner.request": lambda **_: OTHER}),
    "given back": (URL, {"outer.request": lambda request: request}),
    "refused before the wire": (URL, {"inner.request": fail}),
    "refused by the outermost": (URL, {"outer.request": fail}),
    "awaited before the wire": (URL, {"outer.request": later}),
    "awaited after": (URL, {"inner.response": later, "outer.response": later}),
    "replaced after": (URL, {"inner.response": lambda **_: OTHER}),
    "refused after": (URL, {"inner.response": fail}),
    "nonsense before": (URL, {"inner.request": lambda **_: 1}),
    "nonsense after": (URL, {"inner.response": lambda **_: None}),
    "nonsense for an exception": ("http://down.example/", {"outer.exception": lambda **_: "no"}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_middleware_is_called_as_by_scrapy(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url, acts = CASES[case]
    monkeypatch.setattr(Recording, "acts", acts)

    async def both() -> None:
        downloader = downloader_of()
        theirs = await outcome(downloader.middleware.download_async(downloader._download_now, request_of(url)))
        ours = await outcome(downloader._fetch(request_of(url)))
        assert ours == theirs
        assert not downloader.active

    asyncio.run(both())


def test_cookies_are_kept_and_sent() -> None:
    async def run() -> None:
        downloader = downloader_of()
        plain, first, second = request_of(), request_of(URL + "?cookie"), request_of()
        for request in (plain, first, second):
            await downloader._fetch(request)
        assert (plain.headers.get("Cookie"), second.headers.get("Cookie")) == (None, b"seen=1")

    asyncio.run(run())


def test_the_stats_of_scrapy_are_counted() -> None:
    async def run() -> None:
        downloader = downloader_of()
        request = request_of()
        curi = CrawlURI(URL)
        curi.recorder = Recorder()
        curi.recorder.request.append(b"GET")
        curi.recorder.response.append(b"HTTP/1.1 200 OK")
        bind(request, curi)
        await downloader._fetch(request)
        with pytest.raises(OSError, match="refused"):
            await downloader._fetch(request_of("http://down.example/"))
        downloader.close()
        stats = downloader.crawler.stats.get_stats()
        assert {name: count for name, count in stats.items() if name.startswith("downloader/")} == {
            "downloader/request_count": 2,
            "downloader/request_method_count/GET": 2,
            "downloader/request_bytes": 3,
            "downloader/response_count": 1,
            "downloader/response_status_count/200": 1,
            "downloader/response_bytes": 15,
            "downloader/exception_count": 1,
            "downloader/exception_type_count/builtins.OSError": 1,
        }

    asyncio.run(run())


def test_no_stats_are_counted_where_the_project_wants_none() -> None:
    async def run() -> None:
        downloader = downloader_of(DOWNLOADER_STATS=False)
        await downloader._fetch(request_of())
        downloader.close()
        assert not [name for name in downloader.crawler.stats.get_stats() if name.startswith("downloader/")]

    asyncio.run(run())


def test_whoever_listens_hears_the_signals() -> None:
    async def run() -> None:
        downloader = downloader_of()
        heard: list[str] = []

        def reached(request: Request) -> None:
            heard.append("reached")

        def downloaded(response: Response) -> None:
            heard.append(f"downloaded {response.status}")

        def left(request: Request) -> None:
            heard.append("left")

        connect = downloader.crawler.signals.connect
        connect(reached, signals.request_reached_downloader)
        connect(downloaded, signals.response_downloaded)
        connect(left, signals.request_left_downloader)
        await downloader._fetch(request_of())
        assert heard == ["reached", "downloaded 200", "left"]

    asyncio.run(run())


def test_only_what_nobody_waits_for_takes_the_short_way() -> None:
    assert is_internal(request_of())
    assert not is_internal(Request(URL))
    assert DEFAULTS["DOWNLOADER"] is ArchivalDownloader


def test_the_engine_takes_it_for_one_of_today() -> None:
    assert not argument_is_required(ArchivalDownloader.fetch, "spider")


def test_what_is_spared_is_there() -> None:
    for cls, hook in SPARED:
        assert callable(getattr(cls, hook, None)), f"{cls.__name__} has no {hook}"
