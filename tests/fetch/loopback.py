"""A real server on loopback that says exactly the bytes it is told to, and handlers without an engine."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.http_handler import HttpDownloadHandler
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.requests import bind
from heritrix_scrapy.scope.factory import gate
from heritrix_scrapy.settings import Settings, default_view

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    Script = bytes | Callable[["Talk"], Awaitable[None]]

TLS = Path(__file__).parents[1] / "web" / "tls"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 30))


class Talk:
    """One request as a script sees it."""

    def __init__(self, server: Server, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.server, self.head, self.reader, self.writer = server, head, reader, writer
        self.gone = asyncio.Event()

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(0)

    def reset(self) -> None:
        """Close with RST: what lies in the peer's buffer unread is lost too."""
        transport: Any = self.writer.transport
        sock = transport.get_extra_info("socket")
        sock.setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")  # SOL_SOCKET, SO_LINGER: on, 0 seconds
        transport.abort()

    async def hang(self) -> None:
        """Say nothing more until the client goes away."""
        await self.reader.read()


class Server:
    """Says ``script`` to each request; ``keep`` says it again on the same connection."""

    def __init__(self, script: Script | list[Script], *, keep: bool = False, tls: ssl.SSLContext | None = None) -> None:
        self.scripts: list[Script] = script if isinstance(script, list) else [script]
        self.keep = keep
        self.tls = tls
        self.connections = 0
        self.requests: list[bytes] = []
        self.port = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                for line in head.split(b"\r\n"):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        head += await reader.readexactly(int(value))
                self.requests.append(head)
                script = self.scripts[min(len(self.requests), len(self.scripts)) - 1]
                if isinstance(script, bytes):
                    writer.write(script)
                    await writer.drain()
                else:
                    await script(Talk(self, head, reader, writer))
                if not self.keep:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def url(self, path: str = "/", scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


def make_crawler(profile: str = "modern", settings: dict[str, Any] | None = None, **values: Any) -> Crawler:
    """A crawler that never runs, with the View that ``values`` ask for."""
    crawler = get_crawler(settings_dict={"LOG_LEVEL": "ERROR", **(settings or {})})
    values.setdefault("operator_contact_url", "http://operator.example/contact")
    crawl = Crawl.of(crawler)
    view = default_view(profile, **values)
    crawl.settings = Settings(view)
    crawl.gate = partial(gate, crawler, view)
    return crawler


@asynccontextmanager
async def handler_of(crawler: Crawler) -> AsyncIterator[HttpDownloadHandler]:
    handler = HttpDownloadHandler.from_crawler(crawler)
    try:
        yield handler
    finally:
        await handler.close()


async def fetch(
    handler: HttpDownloadHandler, url: str, *, internal: bool = False, curi: CrawlURI | None = None, **request: Any
) -> tuple[Response | Exception, CrawlURI]:
    """Ask the handler; the Response or the exception, and the CrawlURI."""
    made = Request(url, **request)
    if internal:
        made.meta["heritrix"] = "internal"
    curi = curi or CrawlURI(url)
    bind(made, curi)
    try:
        return await handler.download_request(made), curi
    except Exception as error:
        return error, curi
