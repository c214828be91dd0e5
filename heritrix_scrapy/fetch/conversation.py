"""What do fetches share that are a conversation in lines: FTP and whois?

A download handler whose fetches connect to pinned addresses, keep the limits of time, silence, size and rate, can be
seen and ended from outside, and write what came onto the CrawlURI. What is said, the schemes tell.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import tempfile
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from heritrix_scrapy.crawl import Crawl, InFlight, is_internal
from heritrix_scrapy.fetch import proxies
from heritrix_scrapy.fetch.addresses import is_private
from heritrix_scrapy.fetch.answer import BODY_IN_MEMORY, EXCEPTIONS
from heritrix_scrapy.fetch.connect import Connector, Peer, open_files_limit
from heritrix_scrapy.fetch.exchange import Ending
from heritrix_scrapy.fetch.http_fetch import bind_address
from heritrix_scrapy.fetch.stamp import Failure, Why
from heritrix_scrapy.fetch.stream import Silent, Stream
from heritrix_scrapy.model import status
from heritrix_scrapy.model.errors import StorageFull, TooManyFiles
from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.requests import travelling
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.recorder import Spool


class Failed(Exception):
    """The fetch has no answer."""

    def __init__(self, code: int, why: Why, text: str, cause: BaseException | None = None) -> None:
        super().__init__(text)
        self.failure = Failure(code, why, text, cause)


class ConversationHandler:
    """Base of the download handlers for FTP and whois. ``talk``: the class of one fetch."""

    lazy = False
    talk: ClassVar[type[Conversation]]

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        self.bind = bind_address(crawler.settings.get("DOWNLOAD_BIND_ADDRESS"))
        self.connector = Connector()
        self._in_flight: set[Conversation] = set()
        self.crawl.abort_fetches.append(self.abort)
        self.crawl.fetching.append(self)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Fetch one Request. Raises Scrapy's exceptions after the CrawlURI was stamped."""
        fetch = self.talk(self, request, travelling(request))
        self._in_flight.add(fetch)
        try:
            return await fetch.run()
        finally:
            self._in_flight.discard(fetch)

    async def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        """Cut off every fetch in flight; their URIs stay in their queues."""
        for fetch in list(self._in_flight):
            fetch.cut_off()

    def in_flight(self) -> list[InFlight]:
        """Every fetch at the moment, with what it waits for."""
        return [InFlight(fetch.curi, fetch.step, fetch.recorder.response.size) for fetch in self._in_flight]

    def cancel(self, curi: CrawlURI, *, keep: bool) -> bool:
        """End the fetch of a URI with status -7000; ``keep``: archive what has come. False when it is not here."""
        for fetch in self._in_flight:
            if fetch.curi is curi:
                fetch.cut_off(Ending.CANCELLED, keep=keep)
                return True
        return False


class Conversation(ABC):
    """One fetch. A scheme says in ``converse`` what is said, and in ``port`` to which port."""

    port: ClassVar[int]
    processor: ClassVar[str]  # as Heritrix calls it; stands in the logs of what went wrong

    def __init__(self, handler: ConversationHandler, request: Request, curi: CrawlURI) -> None:
        self.handler = handler
        self.request = request
        self.curi = curi
        self.view: Any = settings_of(handler.crawler).for_uri(curi)
        self.heritrix: bool = self.view.profile == "heritrix"
        self.recorder = Recorder()
        self.step = "connecting"
        self.began = time.monotonic()
        self._streams: list[Stream] = []
        self._task: asyncio.Task[None] | None = None
        self._cut_as: Ending | None = None
        self._keeps = False
        self._deadline: float | None = None
        self._limit: asyncio.Timeout

    @abstractmethod
    async def converse(self) -> None:
        """Hold the conversation: fill the recorder, set status and content type. Raises Failed, and OSError for
        what the connection did."""

    # -- the course of it -----------------------------------------------------------------------------------

    async def run(self) -> Response:
        """Raises Scrapy's exceptions after the CrawlURI was stamped."""
        curi = self.curi
        curi.method = self.request.method
        curi.began_ms = self.handler.crawl.clock.now_ms()
        self._task = asyncio.ensure_future(self._within())
        if self._cut_as is not None:
            self._task.cancel()
        try:
            await self._task
        except asyncio.CancelledError:
            if self._cut_as is None:
                raise
            self._cut_short()
        except Failed as failed:
            self._fail(failed.failure)
        except StorageFull as error:
            curi.deferral = "storage"
            self.recorder.close()
            self.handler.crawl.bridge.pause(str(error))
            raise
        except TooManyFiles as error:
            self._fail(Failure(status.CONNECT_FAILED, Why.FAILED, str(error), error))
        except ValueError as error:
            self._fail(Failure(status.UNFETCHABLE, Why.FAILED, _text(error), error))
        except OSError as error:
            why = Why.TIMEOUT if isinstance(error, Silent) else Why.FAILED
            self._fail(Failure(status.CONNECT_FAILED, why, _text(error), error))
        finally:
            self._hang_up()
        self._stamp()
        self.request.meta["download_latency"] = time.monotonic() - self.began
        return self._response()

    async def _within(self) -> None:
        """The conversation within the time that a fetch may take."""
        total = self._total
        self._deadline = asyncio.get_running_loop().time() + total if total else None
        try:
            async with asyncio.timeout_at(self._deadline) as self._limit:
                await self.converse()
        except TimeoutError as error:
            text = f"{self.request.url} took longer than {total} seconds"
            raise Failed(status.CONNECT_FAILED, Why.TIMEOUT, text, error) from error

    @property
    def _total(self) -> float:
        total = float(self.view.timeout_seconds)
        asked = float(self.request.meta.get("download_timeout") or 0)
        return min(total, asked) if total and asked else total or asked

    def cut_off(self, ending: Ending = Ending.STOPPED, *, keep: bool = False) -> None:
        """End this fetch now: because the crawl stops and its grace is over, or because it is CANCELLED."""
        self._cut_as = ending
        self._keeps = keep
        if self._task is not None:
            self._task.cancel()

    def _cut_short(self) -> NoReturn:
        curi = self.curi
        url = self.request.url
        if self._cut_as is not Ending.CANCELLED:
            curi.deferral = "stopped"
            raise DownloadCancelledError(f"{url} was cut off by the end of the crawl")
        curi.error_text = "cancelled by the operator"
        if self._keeps and self.recorder.response.size:
            self.cut("cancelled", "unspecified")
            self._stamp()
            curi.killed = True
        else:
            curi.status = status.PROCESSING_KILLED
        raise DownloadCancelledError(f"{url} was cancelled")

    def cut(self, note: str, reason: str) -> None:
        """Mark what came as not being all."""
        if note:
            self.curi.annotate(note)
        self.recorder.truncated.append(reason)

    def _hang_up(self) -> None:
        for stream in self._streams:
            stream.abort()

    def _stamp(self) -> None:
        curi, recorder = self.curi, self.recorder
        curi.recorder = recorder
        curi.ended_ms = self.handler.crawl.clock.now_ms()
        curi.content_size = curi.content_length = recorder.response.size
        self.stamp()

    def stamp(self) -> None:  # noqa: B027
        """What else there is to say of an answer."""

    def _fail(self, failure: Failure) -> NoReturn:
        curi = self.curi
        curi.status = failure.code
        curi.error_text = failure.text
        curi.errors.append((self.processor, failure.cause or failure.text))
        self.recorder.close()
        curi.content_size = curi.content_length = 0
        if not self.heritrix:
            curi.ended_ms = self.handler.crawl.clock.now_ms()
        raise EXCEPTIONS[failure.why](failure.text) from failure.cause

    # -- connections ----------------------------------------------------------------------------------------

    async def connect(self, host: str, port: int, addresses: list[str]) -> Stream:
        """Connect to the first of the addresses that answers. Raises Failed."""
        view = self.view
        timeout = view.so_timeout_ms / 1000 or self._total or 60.0
        bound = (
            bind_address(self.request.meta.get("bindaddress"))
            or bind_address(view.http_bind_address)
            or self.handler.bind
        )
        peer = Peer(False, host, port, tuple(addresses), bound, proxy=self._proxy())
        try:
            connection = await self.handler.connector.open(peer, timeout)
        except TimeoutError as error:
            text = f"connecting to {host} took longer than {timeout} seconds"
            raise Failed(status.CONNECT_FAILED, Why.TIMEOUT, text, error) from error
        except ConnectionRefusedError as error:
            raise Failed(status.CONNECT_FAILED, Why.REFUSED, _text(error), error) from error
        stream = Stream(connection, view.so_timeout_ms / 1000)
        self._streams.append(stream)
        if view.refuse_private_addresses and peer.proxy is None and is_private(connection.address):
            raise self._private(host, connection.address)
        return stream

    def _proxy(self) -> proxies.Proxy | None:
        """A SOCKS proxy; an HTTP proxy carries neither FTP nor whois, and going around it is no choice of ours."""
        proxy = proxies.of_request(self.request.meta, None, self.view)
        if proxy is not None and proxy.kind == proxies.HTTP:
            raise Failed(
                status.UNFETCHABLE,
                Why.UNSUPPORTED,
                f"{self.curi.scheme} does not go through the HTTP proxy {proxy.url}",
            )
        return proxy

    def known_addresses(self, host: str) -> list[str]:
        """Those of a host that may be connected to; empty when none is known. Raises Failed."""
        literal = numeric_address(host) or (host if ":" in host else None)
        addresses = [literal] if literal is not None else list(self.handler.crawl.hosts.host(host).addresses)
        if self.view.refuse_private_addresses and addresses and self._proxy() is None:
            public = [address for address in addresses if not is_private(address)]
            if not public:
                raise self._private(host, addresses[0])
            addresses = public
        return addresses[:1] if self.heritrix else addresses

    def _private(self, host: str, address: str) -> Failed:
        text = f"{host} has the address {address}, and HERITRIX_REFUSE_PRIVATE_ADDRESSES is set"
        return Failed(status.BLOCKED_BY_USER, Why.BLOCKED, text)

    async def record(self, stream: Stream) -> bool:
        """Everything up to the end of the stream, into the recorder, within the limits of time, size and rate; False
        when not all came. What came is kept then, but for the heritrix profile: there it is as if nothing had."""
        self.step = "receiving"
        self._limit.reschedule(None)  # from here on the time ends the recording, not the fetch
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._record(stream)
        except TimeoutError as error:
            text = f"{self.request.url} took longer than {self._total} seconds"
            return self._over("timeTrunc", "time", Silent(text), error)
        except Silent as error:
            return self._over("timeTrunc", "time", error)
        except OSError as error:
            if self.heritrix or self.view.warc_write_cut_bodies:
                return self._over("", "disconnect", error)
            raise Failed(status.CONNECT_LOST, Why.LOST, _text(error), error) from error
        finally:
            self._limit.reschedule(self._deadline)

    async def _record(self, stream: Stream) -> bool:
        spool, limit = self.recorder.response, int(self.view.max_length_bytes)
        rate = self.view.max_fetch_kb_sec * 1024  # bytes a second
        began = asyncio.get_running_loop().time()
        while data := await stream.read():
            if limit and spool.size + len(data) > limit:
                _keep(spool, data[: limit - spool.size])
                return self._over("lenTrunc", "length", OSError(f"more than {limit} bytes"))
            _keep(spool, data)
            if rate:
                ahead = spool.size / rate - (asyncio.get_running_loop().time() - began)
                if ahead > 0:
                    await asyncio.sleep(ahead)
        return True

    def _over(self, note: str, reason: str, error: OSError, cause: BaseException | None = None) -> bool:
        if self.heritrix or not self.recorder.response.size:
            raise error from cause
        self.cut(note, reason)
        return False

    # -- for Scrapy -----------------------------------------------------------------------------------------

    def _response(self) -> Response:
        curi, recorder = self.curi, self.recorder
        size = recorder.response.size
        body = recorder.response.read(0, min(size, BODY_IN_MEMORY) if is_internal(self.request) else size)
        url = self.request.url
        headers = Headers({"Content-Type": curi.content_type})
        return responsetypes.from_args(headers=headers, url=url, body=body)(
            url=url,
            status=200,
            headers=headers,
            body=body,
            flags=["dataloss"] if recorder.truncated else [],
            ip_address=ipaddress.ip_address(curi.server_ip) if curi.server_ip else None,
        )


def _keep(spool: Spool, data: bytes) -> None:
    """Keep bytes. Raises StorageFull or TooManyFiles when the system refuses."""
    try:
        spool.append(data)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise TooManyFiles(open_files_limit(), error) from error
        raise StorageFull(tempfile.gettempdir(), len(data), error, of="the response spool") from error


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__
