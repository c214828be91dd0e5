"""Whole crawls: over HTTP/2, with LOOSE trust, with a POST of the spider's, and where no name server can be reached."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from fastwarc.warc import ArchiveIterator

from tests.fetch.test_crawls import proxied, records
from tests.fetch.test_http2 import hello
from tests.web.http2 import Http2Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import RunCrawl, Serve

pytestmark = pytest.mark.crawl


@contextmanager
def http2_server() -> Iterator[Http2Server]:
    """One in a thread of its own; its certificate is signed by itself."""
    started: Future[tuple[Http2Server, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def work() -> None:
        stop = asyncio.Event()
        async with Http2Server(hello) as server:
            started.set_result((server, asyncio.get_running_loop(), stop))
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(work(),), daemon=True)
    thread.start()
    server, loop, stop = started.result(timeout=20)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)


def test_http2_and_loose_trust(run_crawl: RunCrawl) -> None:
    """A certificate alone in its chain is taken, and what was said over HTTP/2 is archived as HTTP/1.1."""
    with http2_server() as server:
        settings = {
            "HERITRIX_SEEDS": [server.url("/")],
            "HERITRIX_HTTP2": True,
            "HERITRIX_SSL_TRUST_LEVEL": "LOOSE",
            "HERITRIX_ROBOTS_POLICY": "ignore",
            "HERITRIX_FETCH_ROBOTS": "unless_ignored",
        }
        crawl = run_crawl(settings)
        url = server.url("/")
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[url] == [200]
    (line,) = [line for line in crawl.log if line.split()[3] == url]
    assert "h2" in line.split()[11].split(",")
    kept = records(crawl)
    assert kept["response", url].startswith(b"HTTP/1.1 200")
    assert kept["response", url].endswith(b"\r\n\r\nhello")
    assert kept["request", url].startswith(b"GET / HTTP/1.1\r\nHost: ")
    protocols = set()
    for path in crawl.warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, parse_http=False):
                if record.headers["WARC-Type"] in ("response", "request"):
                    protocols.add(record.headers.get("WARC-Protocol"))
    assert protocols == {"h2"}


@pytest.mark.long
def test_no_name_server_but_a_proxy(serve: Serve, run_crawl: RunCrawl) -> None:
    """PC-164"""
    routes: dict[str, Any] = {"/": {"body": "<a href=/next>next</a>"}, "/next": {"body": "<html>there</html>"}}
    web = serve({"closed.test": {"routes": routes, "dns": "nxdomain"}})
    ip = web.hosts["closed.test"]["ips"][0]
    with proxied({"closed.test": ip}) as proxy:
        settings = {
            "HERITRIX_SEEDS": [web.url("closed.test")],
            "HERITRIX_DNS_SERVERS": ["127.0.0.1:9"],  # nobody listens there
            "HERITRIX_SOCKS_PROXY_HOST": "127.0.0.1",
            "HERITRIX_SOCKS_PROXY_PORT": proxy.port,
            "HERITRIX_SOCKS_PROXY_USERNAME": "me",
            "HERITRIX_SOCKS_PROXY_PASSWORD": "pw",
        }
        crawl = run_crawl(settings)
        asked = set(proxy.asked)
    assert crawl.returncode == 0, crawl.stderr
    for path in ("/robots.txt", "/", "/next"):
        assert f"GET {path}" in web.asked("closed.test")
    assert crawl.statuses[web.url("closed.test", "/next")] == [200]
    assert asked == {f"SOCKS closed.test:{web.port}"}


SPIDER = """
from scrapy import Request, Spider


class Posts(Spider):
    name = "posts"

    async def start(self):
        yield Request(self.settings["BASE"] + "/form", method="POST", body=b"q=1&r=2",
                      headers={"Content-Type": "application/x-www-form-urlencoded"})
"""


def test_a_post_is_archived_with_what_was_sent(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve({"post.test": {"routes": {"/form": {"body": "<html>taken</html>"}}}})
    base = web.url("post.test", "").rstrip("/")
    crawl = run_crawl({"BASE": base}, SPIDER, name="posts", web=web)
    assert crawl.returncode == 0, crawl.stderr
    kept = records(crawl)
    sent = kept["request", base + "/form"]
    assert sent.startswith(b"POST /form HTTP/1.1\r\n")
    assert b"\r\nContent-Type: application/x-www-form-urlencoded\r\n" in sent
    assert b"\r\nContent-Length: 7\r\n" in sent
    assert sent.endswith(b"\r\n\r\nq=1&r=2")
    assert kept["response", base + "/form"].endswith(b"<html>taken</html>")
