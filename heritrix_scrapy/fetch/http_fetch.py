"""How does one Request become a Response: address, request head, connection, exchange, stamp?

`Fetch` is one Request on its way. It asks its handler for what all fetches share (pool, settings, signals), and
writes what came onto the CrawlURI before Scrapy hears of it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import ssl
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from scrapy import signals
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, ResponseDataLossError, StopDownload
from scrapy.utils.httpobj import urlparse_cached

from heritrix_scrapy.crawl import is_internal
from heritrix_scrapy.fetch import headers as lines
from heritrix_scrapy.fetch import proxies
from heritrix_scrapy.fetch.addresses import is_private
from heritrix_scrapy.fetch.answer import EXCEPTIONS, response, scrapy_headers
from heritrix_scrapy.fetch.connect import Connection, Peer
from heritrix_scrapy.fetch.exchange import Ending, Exchange, Limits
from heritrix_scrapy.fetch.stamp import (
    CUT,
    Failure,
    Why,
    heed_retry_after,
    refuses,
    repeats,
    stamp,
    stamp_failure,
    stamp_head,
)
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import path_query_of
from heritrix_scrapy.model.errors import StorageFull, TooManyFiles
from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.signals import listened

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from heritrix_scrapy.fetch.http_handler import HttpDownloadHandler
    from heritrix_scrapy.fetch.wire import Head
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Requests that may go over a used connection, since they may be sent twice (RFC 9110, 9.2.2).
REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"))
#: Silent retries of Heritrix's HTTP library after a reset or an empty answer.
SILENT_RETRIES = 3

_BREAKING = re.compile(r"[\x00-\x20\x7f]")
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Asked(NamedTuple):
    """A request: target and lines, and the head that they make in HTTP/1."""

    target: str
    fields: list[lines.Field]
    head: bytes


class Fetch:
    """One Request on its way to a Response."""

    def __init__(self, handler: HttpDownloadHandler, request: Request, curi: CrawlURI) -> None:
        self.handler = handler
        self.request = request
        self.curi = curi
        self.view = view = handler.view(curi)
        self.heritrix: bool = view.profile == "heritrix"
        self.internal = is_internal(request)
        self.exchange: Exchange | None = None
        self.opening: asyncio.Timeout | None = None
        self.cut_as: Ending | None = None
        self.keeps = False
        self.is_body_unwanted = False
        self.stop: StopDownload | None = None
        self.began = time.monotonic()
        self.loop_began = asyncio.get_running_loop().time()
        self.until = math.inf  # no further address is tried
        self.deadline_is_own = False
        self.warned = False
        self.body_bytes = 0
        meta = request.meta
        self.maxsize: int = 0 if self.internal else meta.get("download_maxsize", handler.maxsize)
        # DOWNLOAD_MAXSIZE speaks for MAX_LENGTH_BYTES, but a spider's Request knows it as a bound of the body alone
        self.size_limit: int = view.max_length_bytes
        if not self.internal and self.size_limit == handler.maxsize:
            self.size_limit = 0
        self.warnsize: int = 0 if self.internal else meta.get("download_warnsize", handler.warnsize)

    async def run(self) -> Response:
        """Raises Scrapy's exceptions after the CrawlURI was stamped."""
        curi, request = self.curi, self.request
        curi.method = request.method
        curi.began_ms = self.handler.crawl.clock.now_ms()
        if self.cut_as is not None:
            self._cut_short()
        try:
            peer = await self._peer()
            asked = self._asked(peer)
        except (UnicodeError, ValueError) as error:
            self._failed(Failure(status.UNFETCHABLE, Why.FAILED, _text(error), error))
        exchange = await self._exchange(peer, asked, self._limits())
        ending = exchange.ending
        assert ending is not None
        if ending is Ending.STOPPED or (ending is Ending.CANCELLED and not (self.keeps and exchange.head)):
            self._cut_short()
        if ending is Ending.COMPLETE and (owed := exchange.owed()):
            await asyncio.sleep(owed)  # the last bytes came in one piece
        failure = stamp(
            curi,
            exchange,
            self.view,
            now_ms=self.handler.crawl.clock.now_ms(),
            url=request.url,
            waited=exchange.limits.total or exchange.limits.idle,
            size_limit=self.size_limit,
            body_unwanted=self.is_body_unwanted,
        )
        if self.heritrix and self.view.http2 and peer.proxy is not None:
            curi.server_ip = None  # Heritrix: FetchHTTP2 does not take the proxy's address for the server's
        if failure is not None:
            self._failed(failure)
        if ending is Ending.CANCELLED:
            curi.killed = True
            raise DownloadCancelledError(f"{request.url} was cancelled")
        return self._answer(exchange, ending)

    # -- from outside ---------------------------------------------------------------------------------------

    @property
    def step(self) -> str:
        """What is waited for at the moment."""
        if self.exchange is None:
            return "connecting"
        return "waiting for the answer" if self.exchange.head is None else "receiving"

    @property
    def received(self) -> int:
        """Bytes that have come of the answer."""
        return 0 if self.exchange is None else self.exchange.fed

    def cut_off(self, ending: Ending = Ending.STOPPED, *, keep: bool = False) -> None:
        """End this fetch now: because the crawl stops and its grace is over, or because it is CANCELLED; ``keep``:
        what has come of an answer is archived."""
        self.cut_as = ending
        self.keeps = keep
        if self.exchange is not None:
            self.exchange.stop(ending)
        elif self.opening is not None and not self.opening.expired():
            self.opening.reschedule(asyncio.get_running_loop().time())

    def _cut_short(self) -> NoReturn:
        """As if nothing had been fetched: the URI goes back to its place, or, cancelled, ends as -7000."""
        self._forget()
        if self.cut_as is Ending.CANCELLED:
            self.curi.status = status.PROCESSING_KILLED
            self.curi.error_text = "cancelled by the operator"
            raise DownloadCancelledError(f"{self.request.url} was cancelled")
        self.curi.deferral = "stopped"
        raise DownloadCancelledError(f"{self.request.url} was cut off by the end of the crawl")

    def _forget(self) -> None:
        curi = self.curi
        curi.status = status.UNATTEMPTED
        if curi.recorder is not None:
            curi.recorder.close()
            curi.recorder = None

    # -- before ---------------------------------------------------------------------------------------------

    async def _peer(self) -> Peer:
        """Where this Request goes. Raises what `_failed` raises when the host has no address."""
        parts = urlparse_cached(self.request)
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if not host:
            raise ValueError(f"no host in {self.request.url}")
        view = self.view
        proxy = proxies.of_request(self.request.meta, self.request.headers.get("Proxy-Authorization"), view)
        addresses = self._addresses(host, proxied=proxy is not None)
        if not addresses and proxy is None:
            addresses = await self._resolve(host, port)
        if view.refuse_private_addresses:
            addresses = self._public(host, addresses)
        if self.heritrix:
            addresses = addresses[:1]  # Heritrix tries no other
        bound = (
            bind_address(self.request.meta.get("bindaddress"))
            or bind_address(view.http_bind_address)
            or self.handler.bind
        )
        secure = parts.scheme == "https"
        return Peer(
            secure, host, port, tuple(addresses), bound, view.ssl_trust_level, proxy, secure and bool(view.http2)
        )

    def _addresses(self, host: str, *, proxied: bool) -> list[str]:
        pinned = self.curi.server_ip
        literal = numeric_address(host) or (host if ":" in host else None)
        if literal is not None:
            return [literal]
        known = self.handler.crawl.hosts.host(host)
        if pinned is not None:
            return [pinned, *(address for address in known.addresses if address != pinned)]
        if not known.addresses and known.looked_up_ms >= 0 and not proxied:
            text = f"no address is known for {host}"
            self._failed(Failure(status.DOMAIN_PREREQUISITE_FAILURE, Why.NO_ADDRESS, text))
        return list(known.addresses)

    async def _resolve(self, host: str, port: int) -> list[str]:
        """Ask the system, where no DNS stage ran before this handler."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
        except (OSError, UnicodeError) as error:
            self._failed(Failure(status.CONNECT_FAILED, Why.NO_ADDRESS, _text(error), error))
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    def _public(self, host: str, addresses: list[str]) -> list[str]:
        """The addresses that a crawl of the public web may connect to."""
        public = [address for address in addresses if not is_private(address)]
        if addresses and not public:
            text = f"{host} has the address {addresses[0]}, and HERITRIX_REFUSE_PRIVATE_ADDRESSES is set"
            self._failed(Failure(status.BLOCKED_BY_USER, Why.BLOCKED, text))
        return public

    def _asked(self, peer: Peer) -> Asked:
        """What is sent. Raises ValueError for what cannot be said in HTTP."""
        request, curi = self.request, self.curi
        if not _METHOD.fullmatch(request.method):
            raise ValueError(f"{request.method!r} is no method of HTTP")
        url = request.url if curi.spider_request or not curi.uri.startswith("http") else curi.uri
        target = request_target(url)
        proxy = peer.proxy if peer.proxy is not None and peer.proxy.kind == proxies.HTTP and not peer.secure else None
        if proxy is not None:
            target = f"http://{lines.host_of(url)}{target}"
        own = request.headers.get("Host") if not self.internal else None
        if own is not None and own != lines.encode(lines.host_of(url)):
            self.handler.keeps_host(request)
        fields = lines.compose(
            curi,
            self.view,
            url=request.url,
            method=request.method,
            own=lines.own_fields(request.headers, self.handler.unchosen),
            body=request.body,
            proxy=proxy,
        )
        return Asked(target, fields, lines.head(request.method, target, fields, http11=self.view.use_http11))

    def _limits(self) -> Limits:
        view = self.view
        total = float(view.timeout_seconds)
        asked = self.request.meta.get("download_timeout")
        if asked:
            self.deadline_is_own = not total or asked <= total
            total = min(total, float(asked)) if total else float(asked)
        return Limits(
            total=total,
            idle=view.so_timeout_ms / 1000,
            size=self.size_limit,
            entity=self.maxsize,
            rate=view.max_fetch_kb_sec * 1024 // 1000,
            patient=self.heritrix,
        )

    # -- the exchange ---------------------------------------------------------------------------------------

    async def _exchange(self, peer: Peer, asked: Asked, limits: Limits) -> Exchange:
        """Send the request until it is answered or has failed for good."""
        keep = not self.view.send_connection_close
        tries = SILENT_RETRIES if self.heritrix else 0
        while True:
            connection = None
            if keep and self.request.method in REPEATABLE:
                connection = self.handler.pool.take(peer.key)
            if connection is not None:
                self.handler.crawl.add_stats({"fetch/connections_reused": 1})
            else:
                connection = await self._connect(peer, limits)
            exchange = await self._try(connection, asked, limits)
            ending = exchange.ending
            if keep and exchange.reusable and ending is Ending.COMPLETE:
                self.handler.pool.put(peer.key, connection)
            else:
                connection.abort()
            if exchange.wants_http11 and peer.http2:
                peer = peer._replace(http2=False)
                continue
            if ending is not Ending.NO_ANSWER and not repeats(exchange.head, self.view, self.size_limit):
                break
            if connection.uses > 1 and not exchange.fed:
                self.handler.crawl.add_stats({"fetch/requests_repeated": 1})
                continue  # the server had closed it meanwhile; `take` gives each connection once, so this ends
            if not tries:
                break
            tries -= 1
            self.handler.crawl.add_stats({"fetch/requests_repeated": 1})
        return exchange

    async def _connect(self, peer: Peer, limits: Limits) -> Connection:
        timeout = min(limits.idle or limits.total or 60.0, limits.total or limits.idle or 60.0)
        if limits.total:
            self.until = self.loop_began + limits.total
        try:
            connection = await self.handler.connector.open(peer, timeout, self._watch)
        except TimeoutError as error:
            if self.cut_as is not None:
                self._cut_short()
            text = f"connecting to {peer.host} took longer than {timeout} seconds"
            self._failed(Failure(status.CONNECT_FAILED, Why.TIMEOUT, text, error))
        except ConnectionRefusedError as error:
            self._failed(Failure(status.CONNECT_FAILED, Why.REFUSED, _text(error), error))
        except TooManyFiles as error:
            self.handler.out_of_files(error)
            self._failed(Failure(status.CONNECT_FAILED, Why.FAILED, str(error), error))
        except UnicodeError as error:
            self._failed(Failure(status.UNFETCHABLE, Why.FAILED, _text(error), error))
        except (ssl.SSLError, OSError) as error:
            self._failed(Failure(status.CONNECT_FAILED, Why.FAILED, _text(error), error))
        finally:
            self.opening = None
        if self.view.refuse_private_addresses and peer.proxy is None and is_private(connection.address):
            connection.abort()
            self._public(peer.host, [connection.address])
        return connection

    def _watch(self, opening: asyncio.Timeout) -> None:
        """One address is tried. Raises TimeoutError when none is to be tried any more."""
        self.opening = opening
        now = asyncio.get_running_loop().time()
        if self.cut_as is not None or now >= self.until:
            raise TimeoutError
        if (when := opening.when()) is not None and when > self.until:
            opening.reschedule(self.until)

    async def _try(self, connection: Connection, asked: Asked, limits: Limits) -> Exchange:
        curi, method, body = self.curi, self.request.method, self.request.body
        if curi.recorder is not None:
            curi.recorder.close()
        recorder = curi.recorder = Recorder()
        handler = self.handler
        self.stop = None
        hooks: dict[str, Any] = {"on_head": self._on_head}
        if self.warnsize or listened(handler.crawler, signals.bytes_received):
            hooks["on_data"] = self._on_data
        if connection.link is None:
            exchange = Exchange(connection, recorder, method, limits, whole_stream=self.heritrix, **hooks)
            self.exchange = exchange
            data = asked.head + body
            recorder.request.append(data)
            exchange.start(data)
        else:
            # imported where it is needed: few crawls speak it
            from heritrix_scrapy.fetch.http2 import Http2Exchange

            fields = lines.without_connection_lines(asked.fields)
            recorder.request.append(lines.head(method, asked.target, fields, http11=True) + body)
            self.exchange = exchange = talk = Http2Exchange(connection, recorder, method, limits, **hooks)
            talk.send(method, asked.target, fields, body)
        if self.cut_as is not None:
            exchange.stop(self.cut_as)
        try:
            await exchange.done
        except StorageFull as error:
            curi.deferral = "storage"
            self._forget()
            handler.crawl.bridge.pause(error)
            raise
        except TooManyFiles as error:
            handler.out_of_files(error)
            self._forget()
            self._failed(Failure(status.CONNECT_LOST, Why.FAILED, str(error), error))
        except BaseException:
            exchange.cancel()
            raise
        return exchange

    def _on_head(self, head: Head) -> bool:
        curi = self.curi
        self.request.meta["download_latency"] = time.monotonic() - self.began
        assert curi.recorder is not None
        assert self.exchange is not None
        if self.exchange.connection.link is not None:
            curi.annotate("h2")
        stamp_head(curi, curi.recorder, head, self.view)
        if not self.heritrix:
            crawl = self.handler.crawl
            heed_retry_after(curi, crawl.hosts, self.view.retry_after_max_seconds, crawl.clock.now_ms())
        elif head.bad_length is not None or refuses(head, self.view, self.size_limit):
            return True
        if self.warnsize and head.length and head.length > self.warnsize:
            self._warn(head.length, expected=True)
        if listened(self.handler.crawler, signals.headers_received):
            self.stop = self.handler.ask(
                signals.headers_received, self.request, headers=scrapy_headers(head.headers), body_length=head.length
            )
            if self.stop is not None:
                return True
        self.is_body_unwanted = not curi.is_prerequisite and not self.handler.wants_body(curi, self.view)
        return self.is_body_unwanted

    def _on_data(self, data: bytes) -> bool:
        self.body_bytes += len(data)
        if self.warnsize and self.body_bytes > self.warnsize:
            self._warn(self.body_bytes, expected=False)
        if listened(self.handler.crawler, signals.bytes_received):
            self.stop = self.handler.ask(signals.bytes_received, self.request, data=data)
        return self.stop is not None

    def _warn(self, size: int, *, expected: bool) -> None:
        if not self.warned:
            self.warned = True
            logger.warning(
                "%s %s bytes which is larger than download warn size (%s) in request %s.",
                "Expected to receive" if expected else "Received",
                size,
                self.warnsize,
                self.request,
            )

    # -- after ----------------------------------------------------------------------------------------------

    def _failed(self, failure: Failure) -> NoReturn:
        """Stamp a fetch without an answer and raise the exception that Scrapy's users know for it."""
        stamp_failure(self.curi, failure, self.view, self.handler.crawl.clock.now_ms())
        raise EXCEPTIONS[failure.why](failure.text) from failure.cause

    def _answer(self, exchange: Exchange, ending: Ending) -> Response:
        """The Response for Scrapy, or the exception that a spider expects of an answer cut short."""
        request = self.request
        flags: list[str] = []
        if self.stop is not None:
            flags.append("download_stopped")
            stopped = self._response(exchange, flags)
            if self.stop.fail:
                self.stop.response = stopped
                raise self.stop
            return stopped
        if not self.internal:
            if ending is Ending.LENGTH and self.maxsize and exchange.entity_size > self.maxsize:
                text = (
                    f"Received {exchange.entity_size} bytes which is larger than download "
                    f"max size ({self.maxsize}) in request {request}."
                )
                logger.warning(text)
                raise DownloadCancelledError(text)
            if ending is Ending.TIME and self.deadline_is_own:
                raise DownloadTimeoutError(
                    f"Getting {request.url} took longer than {request.meta['download_timeout']} seconds."
                )
            strict = request.meta.get("download_fail_on_dataloss", self.handler.fail_on_dataloss)
            if strict and (ending in CUT or ending is Ending.TIME):
                self.handler.lost(request.url)
                raise ResponseDataLossError(exchange.fault.flaw.value if exchange.fault else ending.name.lower())
        if ending in CUT or ending in (Ending.TIME, Ending.LENGTH):
            flags.append("dataloss")
        return self._response(exchange, flags)

    def _response(self, exchange: Exchange, flags: list[str]) -> Response:
        return response(
            exchange, url=self.request.url, flags=flags, internal=self.internal, protocol=self.curi.http_version
        )


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__


def request_target(url: str) -> str:
    """Path and query as they go into the request line; what would break the line is escaped."""
    _, _, rest = url.partition("://")
    rest = _BREAKING.sub(lambda found: f"%{ord(found[0]):02X}", rest.partition("#")[0])
    return path_query_of(rest)


def bind_address(value: Any) -> tuple[str, int] | None:
    """A local address to bind, from text or from (text, port)."""
    if not value:
        return None
    if isinstance(value, str):
        return (value, 0)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return (str(value[0]), int(value[1]))
    raise ValueError(f"not an address to bind: {value!r}")
