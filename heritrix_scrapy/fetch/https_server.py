"""How is a name server asked over HTTPS (RFC 8484)?

A name server for dnspython's resolver. It asks by POST over connections that stay open, its certificate and its name
are verified whatever the crawl's trust level is, and no proxy of the crawl lies between.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import dns.exception
import dns.message
import dns.nameserver

from heritrix_scrapy.fetch.connect import Connection, Pool
from heritrix_scrapy.fetch.exchange import Ending, Exchange, Limits
from heritrix_scrapy.fetch.headers import encode, head, host_of
from heritrix_scrapy.model.recorder import Recorder

if TYPE_CHECKING:
    from heritrix_scrapy.fetch.wire import Head

MESSAGE = b"application/dns-message"
#: Bytes of the longest DNS message.
LONGEST = 65535
#: Connections that are kept open, and for how many seconds.
KEPT = 20
KEPT_SECONDS = 30.0


class Refused(OSError):
    """The server's answer is no DNS message; the text says what it is."""


class HttpsNameserver(dns.nameserver.Nameserver):
    """The server at a URL. Raises ValueError for what is none: ``https:``, or ``http:`` for a server close by; the
    ``{?dns}`` of a template is left out."""

    def __init__(self, url: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.url = url.strip().removesuffix("{?dns}")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError("expected the address of a DNS server: https://host/path")
        self._host, self._port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._secure: ssl.SSLContext | None = ssl.create_default_context() if parts.scheme == "https" else None
        target = encode((parts.path or "/") + (f"?{parts.query}" if parts.query else "")).decode("latin-1")
        if not target.isascii() or not target.isprintable() or " " in target:
            raise ValueError("expected an address that is percent-encoded")
        self._target = target
        self._fields = [(b"Host", encode(host_of(self.url))), (b"Accept", MESSAGE), (b"Content-Type", MESSAGE)]
        self._pool = Pool(KEPT, KEPT_SECONDS)
        self._address = ""

    def __str__(self) -> str:
        return self.url

    def kind(self) -> str:
        return "DoH"

    def is_always_max_size(self) -> bool:
        return True

    def answer_nameserver(self) -> str:
        """The address that answered last."""
        return self._address

    def answer_port(self) -> int:
        return self._port

    def close(self) -> None:
        """Drop the open connections."""
        self._pool.close()

    async def async_query(
        self,
        request: dns.message.QueryMessage,
        timeout: float,
        *_: Any,
        one_rr_per_rrset: bool = False,
        ignore_trailing: bool = False,
        **__: Any,
    ) -> dns.message.Message:
        """Ask it. Raises `Refused`, another OSError, dns.exception.Timeout, or what makes a message none."""
        try:
            async with asyncio.timeout(timeout):
                # the number is 0, so that what lies between may answer from a cache (RFC 8484, 4.1)
                wire = await self._asked(b"\0\0" + request.to_wire()[2:], timeout)
        except TimeoutError:
            raise dns.exception.Timeout(timeout=timeout) from None  # type: ignore[no-untyped-call]
        reply = dns.message.from_wire(
            request.id.to_bytes(2, "big") + wire[2:],
            one_rr_per_rrset=one_rr_per_rrset,
            ignore_trailing=ignore_trailing,
        )
        if not request.is_response(reply):
            raise Refused(f"{self.url} answered another question")
        return reply

    async def _asked(self, wire: bytes, timeout: float) -> bytes:
        fields = [*self._fields, (b"Content-Length", b"%d" % len(wire))]
        data = head("POST", self._target, fields, http11=True) + wire
        while True:
            connection = self._pool.take(()) or await self._connect()
            used, answer = connection.uses > 0, bytearray()
            exchange = _exchange(connection, answer, timeout)
            try:
                exchange.start(data)
                await exchange.done
            except BaseException:
                exchange.cancel()
                raise
            if exchange.reusable and exchange.ending is Ending.COMPLETE:
                self._pool.put((), connection)
            else:
                connection.abort()
            if used and exchange.ending is Ending.NO_ANSWER and not exchange.fed:
                continue  # it had been closed meanwhile
            self._address = connection.address
            return self._message(exchange, answer)

    async def _connect(self) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            Connection,
            self._host,
            self._port,
            ssl=self._secure,
            server_hostname=self._host if self._secure is not None else None,
        )
        return connection

    def _message(self, exchange: Exchange, answer: bytearray) -> bytes:
        found = exchange.head
        if found is None or exchange.ending is not Ending.COMPLETE:
            said = exchange.ending.name.lower().replace("_", " ") if exchange.ending is not None else ""
            raise Refused(f"{self.url} gave no whole answer: {exchange.error or said}")
        if found.status != 200:
            raise Refused(f"{self.url} answered {found.status} {found.reason.decode('latin-1')}".rstrip())
        kinds = [value for name, value in found.headers if name.lower() == b"content-type"]
        if not kinds or kinds[-1].partition(b";")[0].strip().lower() != MESSAGE:
            raise Refused(f"{self.url} answered with no DNS message")
        return bytes(answer)


def _exchange(connection: Connection, answer: bytearray, timeout: float) -> Exchange:
    def goes_on(_: Head) -> bool:
        return False

    def taken(data: bytes) -> bool:
        answer.extend(data)
        return len(answer) > LONGEST

    return Exchange(connection, Recorder(), "POST", Limits(timeout, 0), on_head=goes_on, on_data=taken)
