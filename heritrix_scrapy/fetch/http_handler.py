"""What did the server say to this http or https Request, byte for byte?

Scrapy's download handler for both schemes. It connects to the address that the DNS stage pinned, records both
directions exactly, stamps the CrawlURI, and gives Scrapy the Response (or the exception) that its users expect
from the stock handler. The archive keeps whatever came; a spider hears of a cut answer as it would from stock
Scrapy.

How an `Ending` becomes a status (Heritrix: FetchHTTP.innerProcess; -2 and -3 are its connect-failed and
connect-lost):

| ending | modern | heritrix |
|---|---|---|
| COMPLETE | the server's | the server's |
| NO_ANSWER | -2; on a used connection one silent retry | -2 after 3 silent retries |
| UNREADABLE, SILENT | -2 | -2 |
| DISCONNECTED, BROKEN | the server's, truncated: disconnect | the server's |
| RESET | the server's, truncated: disconnect (without HERITRIX_WARC_WRITE_CUT_BODIES: -3) | -3 |
| TIME, LENGTH | the server's, timeTrunc or lenTrunc | the same |
| ABORTED | the server's, midFetchAbort or stopDownload | the same |
| STOPPED | none: the URI stays in its queue | the same |
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import ssl
import time
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy import signals
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotSupported,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached
from twisted.python.failure import Failure

from heritrix_scrapy.crawl import Crawl, is_internal
from heritrix_scrapy.fetch import headers as lines
from heritrix_scrapy.fetch.connect import Connection, Connector, Peer, Pool
from heritrix_scrapy.fetch.decoding import charset_name, header_charset, unsatisfiable_coding
from heritrix_scrapy.fetch.exchange import Ending, Exchange, Limits
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import path_query_of
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.hosts import numeric_address, server_key
from heritrix_scrapy.model.recorder import Recorder, content_codings
from heritrix_scrapy.requests import travelling
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.signals import listened

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from heritrix_scrapy.fetch.wire import Head
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Bytes of `response.body` where no callback of a spider waits for it.
BODY_IN_MEMORY = 8 << 20
#: Requests that may go over a used connection, since they may be sent twice (RFC 9110, 9.2.2).
REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"))
#: Silent retries of Heritrix's HTTP library after a reset or an empty answer.
SILENT_RETRIES = 3

CUT = frozenset((Ending.DISCONNECTED, Ending.RESET, Ending.BROKEN))

_BREAKING = re.compile(r"[\x00-\x20\x7f]")
_NUMBER = re.compile(r"\d+\Z", re.ASCII)


class HttpDownloadHandler:
    """Download handler for ``http`` and ``https``."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        settings = crawler.settings
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._warnsize = settings.getint("DOWNLOAD_WARNSIZE")
        self._fail_on_dataloss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS", True)
        self._bind = _address(settings.get("DOWNLOAD_BIND_ADDRESS"))
        # what Scrapy's middlewares put on every Request: the settings of ours that speak for them decide
        self._unchosen: dict[bytes, bytes | None] = {
            b"accept-encoding": b", ".join(ACCEPTED_ENCODINGS),
            b"user-agent": lines.encode(settings.get("USER_AGENT") or ""),
        }
        view = settings_of(crawler).view
        self._connector = Connector()
        self._pool = Pool(view.keep_alive_pool_size, view.keep_alive_seconds)
        self._in_flight: set[_Fetch] = set()
        self._warned_of_loss = False
        self.crawl.abort_fetches.append(self.abort)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Fetch one Request. Raises Scrapy's exceptions after the CrawlURI was stamped."""
        fetch = _Fetch(self, request, travelling(request))
        self._in_flight.add(fetch)
        try:
            return await fetch.run()
        finally:
            self._in_flight.discard(fetch)

    async def close(self) -> None:
        self._pool.close()

    # -- what a fetch asks of its handler -------------------------------------------------------------------

    def view(self, curi: CrawlURI) -> Any:
        """The settings that hold for this URI."""
        return settings_of(self.crawler).for_uri(curi)

    def ask(self, signal: object, request: Request, **details: Any) -> StopDownload | None:
        """Send a signal; return the StopDownload that a receiver raised."""
        answers = self.crawler.signals.send_catch_log(
            signal=signal, request=request, spider=self.crawler.spider, **details
        )
        for _, answer in answers:
            if isinstance(answer, Failure) and isinstance(answer.value, StopDownload):
                return answer.value
        return None

    def abort(self, curi: CrawlURI | None = None) -> int:
        """Cut off every fetch in flight, or that of one URI; they stay in their queues. How many there were."""
        chosen = [fetch for fetch in self._in_flight if curi is None or fetch.curi is curi]
        for fetch in chosen:
            fetch.cut_off()
        return len(chosen)

    def lost(self, url: str) -> None:
        """Tell, once, that answers come incomplete."""
        if not self._warned_of_loss:
            self._warned_of_loss = True
            logger.warning(
                "Got data loss in %s. If you want to process broken responses set the setting "
                "DOWNLOAD_FAIL_ON_DATALOSS = False -- This message won't be shown in further requests",
                url,
            )


class _Fetch:
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
        self.is_cut_off = False
        self.is_body_unwanted = False
        self.stop: StopDownload | None = None
        self.began = time.monotonic()
        self.deadline_is_own = False
        self.warned = False
        self.body_bytes = 0
        meta = request.meta
        self.maxsize: int = 0 if self.internal else meta.get("download_maxsize", handler._maxsize)
        # DOWNLOAD_MAXSIZE speaks for MAX_LENGTH_BYTES, but a spider's Request knows it as a bound of the body alone
        self.size_limit: int = view.max_length_bytes
        if not self.internal and self.size_limit == handler._maxsize:
            self.size_limit = 0
        self.warnsize: int = 0 if self.internal else meta.get("download_warnsize", handler._warnsize)

    async def run(self) -> Response:
        curi, request = self.curi, self.request
        curi.method = request.method
        curi.began_ms = self.handler.crawl.clock.now_ms()
        if request.meta.get("proxy"):
            self._failed(
                status.UNFETCHABLE, NotSupported("a proxy was asked for; fetching through one is not supported yet")
            )
        try:
            peer = await self._peer()
            data = self._request_head(peer) + request.body
        except (UnicodeError, ValueError) as error:
            self._failed(status.UNFETCHABLE, _told(DownloadFailedError, error))
        exchange = await self._exchange(peer, data)
        ending = exchange.ending
        assert ending is not None
        if ending is Ending.STOPPED:
            self._stopped()
        if ending is Ending.COMPLETE and (owed := exchange.owed()):
            await asyncio.sleep(owed)  # the last bytes came in one piece
        self._stamp(exchange, ending)
        return self._answer(exchange, ending)

    def cut_off(self) -> None:
        """The crawl stops and its grace is over."""
        self.is_cut_off = True
        if self.exchange is not None:
            self.exchange.stop()
        elif self.opening is not None and not self.opening.expired():
            self.opening.reschedule(asyncio.get_running_loop().time())

    def _stopped(self) -> NoReturn:
        self.curi.deferral = "stopped"
        self._forget()
        raise DownloadCancelledError(f"{self.request.url} was cut off by the end of the crawl")

    def _forget(self) -> None:
        """The URI goes back to its place: as if nothing had been fetched."""
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
        addresses = self._addresses(host)
        if not addresses:
            addresses = await self._resolve(host, port)
        if self.heritrix:
            addresses = addresses[:1]  # Heritrix tries no other
        bound = (
            _address(self.request.meta.get("bindaddress"))
            or _address(getattr(self.view, "http_bind_address", None))
            or self.handler._bind
        )
        return Peer(parts.scheme == "https", host, port, tuple(addresses), bound, self.view.ssl_trust_level)

    def _addresses(self, host: str) -> list[str]:
        pinned = self.curi.server_ip
        literal = numeric_address(host) or (host if ":" in host else None)
        if literal is not None:
            return [literal]
        known = self.handler.crawl.hosts.host(host)
        if pinned is not None:
            return [pinned, *(address for address in known.addresses if address != pinned)]
        if not known.addresses and known.looked_up_ms >= 0:
            self._failed(status.DOMAIN_PREREQUISITE_FAILURE, CannotResolveHostError(f"no address is known for {host}"))
        return list(known.addresses)

    async def _resolve(self, host: str, port: int) -> list[str]:
        """Ask the system, where no DNS stage ran before this handler."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
        except (OSError, UnicodeError) as error:
            self._failed(status.CONNECT_FAILED, _told(CannotResolveHostError, error))
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    def _request_head(self, peer: Peer) -> bytes:
        request, curi = self.request, self.curi
        target = _target(request.url if curi.spider_request or not curi.uri.startswith("http") else curi.uri)
        fields = lines.compose(
            curi,
            self.view,
            url=request.url,
            method=request.method,
            own=lines.own_fields(request.headers, self.handler._unchosen),
            body=request.body,
        )
        out = [lines.request_line(request.method, target, self.view), b"\r\n"]
        for name, value in fields:
            out += (name, b": ", value, b"\r\n")
        out.append(b"\r\n")
        return b"".join(out)

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

    async def _exchange(self, peer: Peer, data: bytes) -> Exchange:
        """Send the request until it is answered or has failed for good."""
        keep = not self.view.send_connection_close
        tries = SILENT_RETRIES if self.heritrix else 0
        while True:
            connection = None
            if keep and self.request.method in REPEATABLE:
                connection = self.handler._pool.take(peer.key)
            if connection is None:
                connection = await self._connect(peer)
            exchange = await self._try(connection, data)
            ending = exchange.ending
            if keep and exchange.reusable and ending is Ending.COMPLETE:
                self.handler._pool.put(peer.key, connection)
            else:
                connection.abort()
            if ending is not Ending.NO_ANSWER and not self._heritrix_repeats(exchange.head):
                break
            if connection.uses > 1 and not exchange.fed:
                continue  # the server had closed it meanwhile; `take` gives each connection once, so this ends
            if not tries:
                break
            tries -= 1
        return exchange

    async def _connect(self, peer: Peer) -> Connection:
        limits = self._limits()
        timeout = min(limits.idle or limits.total or 60.0, limits.total or limits.idle or 60.0)
        try:
            return await self.handler._connector.open(peer, timeout, self._watch)
        except TimeoutError as error:
            if self.is_cut_off:
                self._stopped()
            self._failed(
                status.CONNECT_FAILED,
                DownloadTimeoutError(f"connecting to {peer.host} took longer than {timeout} seconds"),
                error,
            )
        except ConnectionRefusedError as error:
            self._failed(status.CONNECT_FAILED, _told(DownloadConnectionRefusedError, error))
        except UnicodeError as error:
            self._failed(status.UNFETCHABLE, _told(DownloadFailedError, error))
        except ssl.SSLError as error:
            self._failed(status.CONNECT_FAILED, _told(DownloadFailedError, error))
        except OSError as error:
            self._failed(status.CONNECT_FAILED, _told(DownloadFailedError, error))

    def _watch(self, opening: asyncio.Timeout) -> None:
        self.opening = opening

    async def _try(self, connection: Connection, data: bytes) -> Exchange:
        curi = self.curi
        if curi.recorder is not None:
            curi.recorder.close()
        recorder = curi.recorder = Recorder()
        recorder.request.append(data)
        handler = self.handler
        self.stop = None
        exchange = Exchange(
            connection,
            recorder,
            self.request.method,
            self._limits(),
            on_head=self._on_head,
            on_data=self._on_data if self.warnsize or listened(handler.crawler, signals.bytes_received) else None,
            whole_stream=self.heritrix,
        )
        self.exchange = exchange
        exchange.start(data)
        if self.is_cut_off:
            exchange.stop()
        try:
            await exchange.done
        except StorageFull as error:
            curi.deferral = "storage"
            self._forget()
            handler.crawl.bridge.pause(str(error))
            raise
        except BaseException:
            exchange.cancel()
            raise
        return exchange

    def _on_head(self, head: Head) -> bool:
        curi = self.curi
        self.request.meta["download_latency"] = time.monotonic() - self.began
        self._stamp_head(head)
        if self.heritrix and (head.bad_length is not None or self._heritrix_refuses(head)):
            return True
        if self.warnsize and head.length and head.length > self.warnsize:
            self._warn(head.length, expected=True)
        if listened(self.handler.crawler, signals.headers_received):
            self.stop = self.handler.ask(
                signals.headers_received, self.request, headers=_headers(head.headers), body_length=head.length
            )
            if self.stop is not None:
                return True
        rule = getattr(self.view, "should_fetch_body_rule", None)
        if rule is not None and not curi.is_prerequisite:
            decision = rule.evaluate(curi)
            if getattr(decision, "name", decision) == "REJECT":
                self.is_body_unwanted = True
                return True
        return False

    def _heritrix_refuses(self, head: Head) -> bool:
        """Heads that Heritrix's HTTP library takes for no answer."""
        return (
            not head.version.startswith(b"HTTP/")
            or head.version == b"HTTP/0.9"
            or head.malformed > 0
            or self._heritrix_repeats(head)
        )

    def _heritrix_repeats(self, head: Head | None) -> bool:
        """Heads behind which it goes on looking for an answer, finds none, and asks again."""
        if head is None or not self.heritrix:
            return False
        return head.status < 200 or bool(self.size_limit and len(head.raw) > self.size_limit)

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

    def _stamp_head(self, head: Head) -> None:
        curi, recorder = self.curi, self.curi.recorder
        assert recorder is not None
        curi.status = head.status
        curi.headers = head.headers
        curi.reason = head.reason.decode("latin-1")
        curi.http_version = head.version.decode("latin-1")
        kind = curi.header(b"content-type")
        curi.content_type = "unknown" if kind is None else kind.decode("latin-1")
        named, unknown = header_charset(curi.content_type)
        curi.charset = named or charset_name(self.view.default_encoding)
        if unknown:
            curi.annotate(f"unsatisfiableCharsetInHeader:{unknown}")
        recorder.chunked = head.framing == "chunked"
        coding = curi.header(b"content-encoding")
        if coding:
            recorder.content_encoding = coding.decode("latin-1").strip()
            if unsatisfiable_coding(recorder.content_encoding, heritrix=self.heritrix):
                curi.annotate(f"unsatisfiableContentEncoding:{recorder.content_encoding}")
        if not self.heritrix:
            for interim in recorder.interim:
                curi.annotate(f"interim:{interim}")
            if head.status in (429, 503):
                self._heed_retry_after()

    def _heed_retry_after(self) -> None:
        """Keep on the server for how long it asked to be left alone (RFC 9110, 10.2.3)."""
        longest = self.view.retry_after_max_seconds
        text = self.curi.header(b"retry-after")
        if not longest or text is None:
            return
        now = self.handler.crawl.clock.now_ms()
        seconds = retry_after(text.decode("latin-1").strip(), now)
        if seconds is not None and seconds > 0:
            key = server_key(self.curi.uri)
            hosts = self.handler.crawl.hosts
            hosts.server(key).retry_at_ms = now + int(min(seconds, longest) * 1000)
            hosts.server_changed(key)

    def _stamp(self, exchange: Exchange, ending: Ending) -> None:
        """Write what the exchange came to onto the CrawlURI; raise where there is no answer."""
        curi, recorder, connection = self.curi, exchange.recorder, exchange.connection
        curi.server_ip = connection.address or curi.server_ip
        curi.tls = connection.tls
        head = exchange.head
        if ending is Ending.SILENT:
            waited = self._limits()
            self._failed(
                status.CONNECT_FAILED,
                DownloadTimeoutError(
                    f"Getting {self.request.url} took longer than {waited.total or waited.idle} seconds."
                ),
            )
        if ending is Ending.NO_ANSWER or ending is Ending.UNREADABLE or head is None:
            fault = exchange.fault
            text = str(exchange.error or (f"{fault.flaw.value}: {fault.text}" if fault else ending.name))
            self._failed(status.CONNECT_FAILED, DownloadFailedError(text), exchange.error)
        if self.heritrix:
            if self._heritrix_refuses(head):
                self._failed(status.CONNECT_FAILED, DownloadFailedError("malformed response"))
            if head.bad_length is not None:
                self._failed(
                    status.CONNECT_LOST,
                    DownloadFailedError(f"Content-Length {head.bad_length.decode('latin-1')!r} is no number"),
                )
        curi.ended_ms = self.handler.crawl.clock.now_ms()
        if ending is Ending.RESET and not self.view.warc_write_cut_bodies:
            self._failed(status.CONNECT_LOST, ResponseDataLossError(str(exchange.error)), exchange.error)
        if ending is Ending.ABORTED and self.is_body_unwanted:
            curi.annotate("midFetchAbort")
            recorder.response.truncate(recorder.body_at)
            recorder.truncated.append("unspecified")
        elif ending is Ending.ABORTED:
            curi.annotate("stopDownload")
            recorder.truncated.append("unspecified")
        elif ending is Ending.TIME:
            curi.annotate("timeTrunc")
            recorder.truncated.append("time")
        elif ending is Ending.LENGTH:
            curi.annotate("lenTrunc")
            recorder.truncated.append("length")
        elif ending in (Ending.DISCONNECTED, Ending.RESET) and not self.heritrix:
            recorder.truncated.append("disconnect")
        curi.content_size = recorder.response.size
        curi.content_length = recorder.body_size
        curi.digest = recorder.body_digest if self.view.digest_content else None

    def _failed(self, code: int, error: Exception, cause: BaseException | None = None) -> NoReturn:
        """Stamp a fetch without an answer and raise the exception that Scrapy's users know for it."""
        curi = self.curi
        curi.status = code
        curi.error_text = str(error)
        curi.errors.append(("FetchHTTP", cause or error))
        curi.digest = None
        if code != status.CONNECT_LOST:
            curi.content_type = "unknown"
            curi.headers = []
        if code in (status.CONNECT_FAILED, status.CONNECT_LOST):
            # Heritrix counts one byte for an answer that failed, and no end of the fetch unless a body was
            # being read
            curi.content_size = curi.content_length = 1 if self.heritrix else 0
            if not self.heritrix:
                curi.ended_ms = self.handler.crawl.clock.now_ms()
        raise error from cause

    def _answer(self, exchange: Exchange, ending: Ending) -> Response:
        """The Response for Scrapy, or the exception that a spider expects of an answer cut short."""
        request = self.request
        flags: list[str] = []
        if self.stop is not None:
            flags.append("download_stopped")
            response = self._response(exchange, flags)
            if self.stop.fail:
                self.stop.response = response
                raise self.stop
            return response
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
            strict = request.meta.get("download_fail_on_dataloss", self.handler._fail_on_dataloss)
            if strict and (ending in CUT or ending is Ending.TIME):
                self.handler.lost(request.url)
                raise ResponseDataLossError(exchange.fault.flaw.value if exchange.fault else ending.name.lower())
        if ending in CUT or ending in (Ending.TIME, Ending.LENGTH):
            flags.append("dataloss")
        return self._response(exchange, flags)

    def _response(self, exchange: Exchange, flags: list[str]) -> Response:
        head, connection, recorder = exchange.head, exchange.connection, exchange.recorder
        assert head is not None
        limit = BODY_IN_MEMORY if self.internal else recorder.body_size
        if exchange.ending is not Ending.LENGTH:
            limit = min(limit, exchange.entity_size)
        headers = head.headers
        # Nobody waits for the whole of it: Scrapy's compression middleware would make up to DOWNLOAD_MAXSIZE of a
        # bomb, and the extractors take the coding off anyway.
        decoded = self.internal and bool(content_codings(recorder.content_encoding))
        if decoded:
            limit = BODY_IN_MEMORY
            headers = [field for field in headers if field[0].lower() != b"content-encoding"]
        body = recorder.entity(limit, decoded=decoded) if limit else b""
        url = self.request.url.partition("#")[0]
        fields = _headers(headers)
        cls = responsetypes.from_args(headers=fields, url=url, body=body)
        return cls(
            url=url,
            status=head.status,
            headers=fields,
            body=body,
            flags=flags,
            certificate=_certificate(connection.certificate) if connection.certificate else None,
            ip_address=_ip_address(connection.address) if connection.address else None,
            protocol=self.curi.http_version,
        )


def retry_after(text: str, now_ms: int) -> float | None:
    """Seconds to wait that a Retry-After value says, from now on; None when it says nothing."""
    if _NUMBER.match(text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
        return until.timestamp() - now_ms / 1000
    except (TypeError, ValueError, OverflowError):
        return None


def _told(kind: type[Exception], error: BaseException) -> Exception:
    """An exception of Scrapy's that says what `error` says."""
    return kind(str(error) or type(error).__name__)


def _target(url: str) -> str:
    """Path and query as they go into the request line; what would break the line is escaped."""
    _, _, rest = url.partition("://")
    rest = _BREAKING.sub(lambda found: f"%{ord(found[0]):02X}", rest.partition("#")[0])
    return path_query_of(rest)


def _headers(fields: list[tuple[bytes, bytes]]) -> Headers:
    made = Headers()
    for name, value in fields:
        made.appendlist(name, value)
    return made


def _address(value: object) -> tuple[str, int] | None:
    """A local address to bind, from text or from (text, port)."""
    if not value:
        return None
    if isinstance(value, str):
        return (value, 0)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return (str(value[0]), int(value[1]))
    raise ValueError(f"not an address to bind: {value!r}")


_ip_address = lru_cache(maxsize=4096)(ipaddress.ip_address)


@lru_cache(maxsize=256)
def _certificate(der: bytes) -> Any:
    """The certificate as the stock handler gives it; None for one that OpenSSL cannot read."""
    from OpenSSL import crypto
    from twisted.internet.ssl import Certificate

    try:
        return Certificate(crypto.load_certificate(crypto.FILETYPE_ASN1, der))  # type: ignore[no-untyped-call]
    except crypto.Error as error:
        logger.debug("a server's certificate cannot be read: %s", error)
        return None
