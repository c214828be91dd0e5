"""Scenarios of fetching: real exchanges with a server on loopback, and look-ups."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.test import get_crawler

from heritrix_scrapy.chain import ChainMiddleware
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.access_middleware import AccessMiddleware
from heritrix_scrapy.fetch.dns_handler import DnsDownloadHandler
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.requests import bind
from heritrix_scrapy.scope.factory import gate
from tests.fetch.loopback import TLS, Server, Talk, fetch, handler_of, run
from tests.settings.scenarios import Outcome, Scenario, at
from tests.web.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from heritrix_scrapy.settings import Settings

HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"
LONG = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n" + 1000 * b"x"
BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"


def crawler_of(settings: Settings) -> Crawler:
    """A crawler that never runs, under these settings."""
    crawler = get_crawler(settings_dict={"LOG_LEVEL": "ERROR"})
    crawl = Crawl.of(crawler)
    crawl.settings = settings
    crawl.gate = partial(gate, crawler, settings.view)
    return crawler


def context(*protocols: str) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    if protocols:
        made.set_alpn_protocols(list(protocols))
    return made


# -- one exchange --------------------------------------------------------------------------------------------------


class Told(SimpleNamespace):
    """``curi``, ``server``, ``response`` and ``crawl`` of a fetch."""


def fetched(
    script: Any, see: Callable[[Any], Any], *, scheme: str = "http", tls: Callable[[], ssl.SSLContext] = context
) -> Outcome:
    """What ``see`` sees of a fetch from a server that says ``script``."""

    def outcome(settings: Settings, host: str) -> Any:
        async def work() -> Any:
            crawler = crawler_of(settings)
            served = Server(script, tls=tls() if scheme == "https" else None)
            async with served as server, handler_of(crawler) as handler:
                curi = CrawlURI(server.url("/x", scheme, host), path="L")
                curi.server_ip = "127.0.0.1"
                response, curi = await fetch(handler, curi.uri, internal=True, curi=curi)
                return see(Told(curi=curi, server=server, response=response, crawl=Crawl.of(crawler)))

        return run(work())

    return outcome


async def slow(talk: Talk) -> None:
    """A server that takes its time between head and body."""
    await talk.say(HELLO[:-5])
    await asyncio.sleep(0.25)
    await talk.say(HELLO[-5:])


async def who(talk: Talk) -> None:
    """A server that says who asked."""
    peer = talk.writer.get_extra_info("peername")[0].encode()
    await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(peer), peer))


def ending(told: Any) -> Any:
    return told.curi.status, told.curi.annotations, told.curi.recorder and told.curi.recorder.truncated


def size(told: Any) -> int:
    return int(told.curi.content_length)


def pause(told: Any) -> bool:
    """Whether the server is left alone for a while."""
    return bool(told.crawl.hosts.server(server_key(told.curi.uri)).retry_at_ms > time.time() * 1000)


def took_long(told: Any) -> bool:
    return bool(told.curi.ended_ms - told.curi.began_ms >= 900)


# -- through a proxy -----------------------------------------------------------------------------------------------


class Gate(Proxy):
    """A proxy at a port that is known before it stands. ``user``: what it asks for."""

    def __init__(self, place: socket.socket, user: str) -> None:
        super().__init__({"with.example": "127.0.0.1", "without.example": "127.0.0.1"}, user=user)
        self._place = place

    async def __aenter__(self) -> Gate:
        self._server = await asyncio.start_server(self._serve, sock=self._place.dup())
        return self


PLACES = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
FIRST, SECOND = (place.getsockname()[1] for place in PLACES)


def through(user: str = "") -> Outcome:
    """How often each of two proxies was asked, and what came of the fetch."""

    def outcome(settings: Settings, host: str) -> Any:
        async def work() -> Any:
            async with Gate(PLACES[0], user) as first, Gate(PLACES[1], user) as second:
                status = await asyncio.to_thread(fetched(HELLO, lambda told: told.curi.status), settings, host)
                return len(first.asked), len(second.asked), status

        return run(work())

    return outcome


HTTP_PROXY = {"HTTP_PROXY_HOST": "127.0.0.1", "HTTP_PROXY_PORT": FIRST}
SOCKS_PROXY = {"SOCKS_PROXY_HOST": "127.0.0.1", "SOCKS_PROXY_PORT": FIRST}


# -- cookies, the chain, look-ups ----------------------------------------------------------------------------------


def cookie(settings: Settings, host: str) -> bytes | None:
    """The cookie that a request of the spider's shows."""
    curi = at(settings, host)
    request = Request(curi.uri, cookies={"a": "b"})
    bind(request, curi)
    AccessMiddleware.from_crawler(crawler_of(settings)).process_request(request)
    return request.headers.get("Cookie")


def noted(settings: Settings, host: str) -> list[str]:
    """What the log says beside a URI that was fetched."""

    async def work() -> list[str]:
        crawler = crawler_of(settings)
        async with Server(HELLO) as server, handler_of(crawler) as handler:
            curi = CrawlURI(server.url("/x", host=host), path="L")
            curi.server_ip = "127.0.0.1"
            request = Request(curi.uri, meta={"heritrix": "internal"})
            bind(request, curi)
            chain = ChainMiddleware.from_crawler(crawler)
            response = await handler.download_request(request)
            await chain.process_response(request, response)
            return curi.annotations

    notes: list[str] = run(work())
    return notes


class NoName(asyncio.DatagramProtocol):
    """A name server that knows no name."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        self.transport.sendto(data[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + data[12:], address)


DNS = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
DNS.bind(("127.0.0.1", 0))
DNS.setblocking(False)


def looked_up(settings: Settings, host: str) -> int:
    """The status of the look-up of a name that the system knows and DNS does not, for a page of the host."""

    async def work() -> int:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(NoName, sock=DNS.dup())
        crawler = crawler_of(settings)
        handler = DnsDownloadHandler.from_crawler(crawler)
        curi = CrawlURI(f"dns:{socket.gethostname()}", path="LP", via=f"http://{host}/x")
        request = Request(f"dns://{curi.uri[4:]}/")
        bind(request, curi)
        try:
            await handler.download_request(request)
        except Exception:
            pass
        transport.close()
        await handler.close()
        return curi.status

    status: int = run(work())
    return status


SCENARIOS = {
    "TIMEOUT_SECONDS": Scenario(0.05, fetched(slow, ending), slow=True),
    "SO_TIMEOUT_MS": Scenario(50, fetched(slow, ending), slow=True),
    "MAX_LENGTH_BYTES": Scenario(100, fetched(LONG, ending)),
    "MAX_FETCH_KB_SEC": Scenario(1, fetched(LONG, took_long), slow=True),
    "HTTP_BIND_ADDRESS": Scenario("127.0.0.2", fetched(who, lambda told: told.curi.recorder.entity(100))),
    "DIGEST_CONTENT": Scenario(False, fetched(HELLO, lambda told: told.curi.digest)),
    "DEFAULT_ENCODING": Scenario("UTF-8", fetched(HELLO, lambda told: told.curi.charset)),
    "SHOULD_FETCH_BODY_RULE": Scenario("RejectDecideRule", fetched(LONG, ending)),
    "RETRY_AFTER_MAX_SECONDS": Scenario(0, fetched(BUSY, pause)),
    "REFUSE_PRIVATE_ADDRESSES": Scenario(True, fetched(HELLO, ending)),
    "SSL_TRUST_LEVEL": Scenario("NORMAL", fetched(HELLO, ending, scheme="https")),
    "HTTP2": Scenario(
        True,
        fetched(
            HELLO,
            lambda told: told.server.requests[0][:4],
            scheme="https",
            tls=lambda: context("h2", "http/1.1"),
        ),
    ),
    "HTTP_PROXY_HOST": Scenario("127.0.0.1", through(), HTTP_PROXY_PORT=FIRST),
    "HTTP_PROXY_PORT": Scenario(SECOND, through(), **HTTP_PROXY),
    "HTTP_PROXY_USER": Scenario("me", through("me:pw"), **HTTP_PROXY, HTTP_PROXY_PASSWORD="pw"),
    "HTTP_PROXY_PASSWORD": Scenario("pw", through("me:pw"), **HTTP_PROXY, HTTP_PROXY_USER="me"),
    "SOCKS_PROXY_HOST": Scenario("127.0.0.1", through(), SOCKS_PROXY_PORT=FIRST),
    "SOCKS_PROXY_PORT": Scenario(SECOND, through(), **SOCKS_PROXY),
    "SOCKS_PROXY_USERNAME": Scenario("me", through("me:pw"), **SOCKS_PROXY, SOCKS_PROXY_PASSWORD="pw"),
    "SOCKS_PROXY_PASSWORD": Scenario("pw", through("me:pw"), **SOCKS_PROXY, SOCKS_PROXY_USERNAME="me"),
    "IGNORE_COOKIES": Scenario(True, cookie),
    "ANNOTATE_IP": Scenario(True, noted),
    "ACCEPT_NON_DNS_RESOLVES": Scenario(True, looked_up, DNS_SERVERS=[f"127.0.0.1:{DNS.getsockname()[1]}"]),
}
