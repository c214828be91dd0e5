"""Whole crawls: through a proxy, with a handler of the project's own, cancelled by an operator, out of memory."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from fastwarc.warc import ArchiveIterator

from tests.web.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conftest import RunCrawl, Serve
    from tests.crawls import Crawl

pytestmark = pytest.mark.crawl

PARTS = '''
from scrapy.http import TextResponse

from heritrix_scrapy import crawl_uri
from heritrix_scrapy.crawl import Crawl


class Notes:
    """A handler of the project's own, for ``note:`` addresses."""

    lazy = False

    @classmethod
    def from_crawler(cls, crawler):
        return cls()

    async def download_request(self, request):
        return TextResponse(request.url, body=b"a note", headers={"Content-Type": "text/note"})

    async def close(self):
        pass


class NoMemory:
    """A step that runs out of memory, once."""

    def process(self, curi):
        if curi.uri.endswith("/heavy"):
            raise MemoryError


class Cancels:
    """Ends the fetch of a URI that has begun to answer; lets the crawl go on when something paused it."""

    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.crawler = crawler
        from scrapy import signals
        crawler.signals.connect(made.data, signals.bytes_received)
        from heritrix_scrapy.signals import crawl_paused
        crawler.signals.connect(made.paused, crawl_paused)
        return made

    def paused(self, reason):
        self.crawler.stats.set_value("test/paused", reason)
        import asyncio
        asyncio.get_running_loop().call_later(0.05, Crawl.of(self.crawler).bridge.resume)

    def data(self, data, request):
        if request.url.endswith("/endless"):
            import asyncio
            asyncio.get_running_loop().call_soon(self.end, crawl_uri(request))

    def end(self, curi):
        for handler in Crawl.of(self.crawler).fetching:
            handler.cancel(curi, keep=True)
'''

SPIDER = """
from scrapy import Request, Spider

class Asks(Spider):
    name = "asks"
    async def start(self):
        yield Request("note://desk/1", self.parse, dont_filter=True)
    def parse(self, response):
        yield {"said": response.text}
"""


@contextmanager
def proxied(names: Mapping[str, str]) -> Iterator[Proxy]:
    """A proxy in a thread of its own."""
    started: Future[tuple[Proxy, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with Proxy(names, user="me:pw") as proxy:
            started.set_result((proxy, asyncio.get_running_loop(), stop))
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    proxy, loop, stop = started.result(timeout=20)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=20)


def records(crawl: Crawl) -> dict[tuple[str, str], bytes]:
    """(type, target) -> block."""
    found = {}
    for path in crawl.warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, parse_http=False):
                target = record.headers.get("WARC-Target-URI", "")
                found[record.headers["WARC-Type"], target] = record.reader.read()
    return found


def test_a_name_that_only_the_proxy_knows(serve: Serve, run_crawl: RunCrawl) -> None:
    site: dict[str, Any] = {"routes": {"/": {"body": "<html>hidden</html>"}}}
    web = serve({"known.test": site, "nameless.test": {**site, "dns": "nxdomain"}})
    ip = web.hosts["nameless.test"]["ips"][0]
    with proxied({"nameless.test": ip}) as proxy:
        settings = {
            "HERITRIX_SEEDS": [web.url("nameless.test"), web.url("known.test")],
            "HERITRIX_SOCKS_PROXY_HOST": "127.0.0.1",
            "HERITRIX_SOCKS_PROXY_PORT": proxy.port,
            "HERITRIX_SOCKS_PROXY_USERNAME": "me",
            "HERITRIX_SOCKS_PROXY_PASSWORD": "pw",
        }
        crawl = run_crawl(settings, web=web)
        asked = set(proxy.asked)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[web.url("nameless.test")] == [200]
    assert crawl.statuses[web.url("known.test")] == [200]
    assert f"SOCKS nameless.test:{web.port}" in asked
    assert f"SOCKS {web.hosts['known.test']['ips'][0]}:{web.port}" in asked
    (line,) = [line for line in crawl.log if "dns:nameless.test" in line]
    assert line.split()[1] == "1"
    assert "resolvedByProxy" in line
    assert ("response", web.url("nameless.test")) in records(crawl)


def test_own_handler_cancelled_fetch_and_no_memory(serve: Serve, run_crawl: RunCrawl) -> None:
    routes = {
        "/": {"body": "<a href=/endless>1</a><a href=/heavy>2</a><a href=/after>3</a>"},
        "/endless": {"body": "<html>on and on", "endless": "<p>more", "length": False},
        "/heavy": {"body": "<html>heavy</html>"},
        "/after": {"body": "<html>after</html>"},
    }
    web = serve({"c.test": {"routes": routes}})
    settings = {
        "HERITRIX_SEEDS": [web.url("c.test")],
        "HERITRIX_FOLLOW": "all",
        "DOWNLOAD_HANDLERS": {"note": "crawl_project.parts.Notes"},
        "HERITRIX_STEPS": {"after_fetch": ["crawl_project.parts.NoMemory"]},
        "EXTENSIONS": {"crawl_project.parts.Cancels": 0},
    }
    crawl = run_crawl(settings, SPIDER, name="asks", web=web, modules={"parts": PARTS})
    assert crawl.returncode == 0, crawl.stderr
    kept = records(crawl)
    assert crawl.statuses["note://desk/1"] == [200]
    assert kept["resource", "note://desk/1"] == b"a note"
    assert crawl.stats["item_scraped_count"] == 1
    assert crawl.statuses[web.url("c.test", "/endless")] == [-7000]
    assert b"<html>on and on" in kept["response", web.url("c.test", "/endless")]
    assert crawl.statuses[web.url("c.test", "/heavy")] == [-3000]
    assert ("response", web.url("c.test", "/heavy")) not in kept
    assert "out of memory" in crawl.stats["test/paused"]
    assert any("MemoryError" in line for line in crawl.runtime_errors)
    (line,) = [line for line in crawl.log if line.split()[3].endswith("/heavy")]
    assert "err=builtins.MemoryError" in line
    assert "os200" in line
    assert crawl.statuses[web.url("c.test", "/after")] == [200]
