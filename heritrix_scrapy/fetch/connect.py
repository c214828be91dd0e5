"""How does a connection to one pinned address come about, and which one can be used again?

`Connection` is the protocol of one socket: it hands what arrives to the exchange that uses it at the moment.
`Pool` keeps idle connections for a short while: bounded in number, taken youngest first, dropped when a byte or
the end arrives while idle.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from heritrix_scrapy.fetch import tls

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import TlsFacts


class Peer(NamedTuple):
    """Where to connect: every address is tried in turn, the first that answers is taken."""

    secure: bool
    host: str
    port: int
    addresses: tuple[str, ...]
    bind: tuple[str, int] | None = None
    trust: str = "OPEN"

    @property
    def key(self) -> tuple[object, ...]:
        """What two requests must share to share a connection."""
        return (self.secure, self.host, self.port, self.addresses[:1], self.bind, self.trust)


class Sink(Protocol):
    """Who uses a connection."""

    def received(self, data: bytes) -> None: ...

    def closed(self, error: Exception | None) -> None: ...


class Connection(asyncio.Protocol):
    """One socket."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.sink: Sink | None = None
        self.address = ""  # the peer's, kept: a closed transport does not tell it
        self.tls: TlsFacts | None = None
        self.certificate: bytes | None = None
        self.is_closed = False
        self.uses = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0].partition("%")[0] if peer else ""

    def secured(self) -> None:
        """Note the facts of the handshake, which is over."""
        assert self.transport is not None
        secure = self.transport.get_extra_info("ssl_object")
        if secure is not None:
            self.tls, self.certificate = tls.facts(secure)

    def data_received(self, data: bytes) -> None:
        if self.sink is not None:
            self.sink.received(data)
        else:
            self.abort()  # bytes nobody asked for: never take them for the next answer

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        sink, self.sink = self.sink, None
        if sink is not None:
            sink.closed(exc)

    def abort(self) -> None:
        """Close at once. On TLS a polite close would keep the descriptor until the peer answers it."""
        self.is_closed = True
        if self.transport is not None:
            self.transport.abort()


class Connector:
    """Opens connections. One TLS context a trust level, made when first needed."""

    def __init__(self) -> None:
        self._contexts: dict[str, ssl.SSLContext] = {}

    def context(self, trust: str) -> ssl.SSLContext:
        made = self._contexts.get(trust)
        if made is None:
            made = self._contexts[trust] = tls.context(trust)
        return made

    async def open(
        self, peer: Peer, timeout: float, watch: Callable[[asyncio.Timeout], None] | None = None
    ) -> Connection:
        """Connect to the first of the addresses that answers, each within `timeout` seconds.

        Raises the last address's error: TimeoutError, ConnectionRefusedError, ssl.SSLError, another OSError, or
        UnicodeError when the host name cannot be sent as SNI.
        """
        failure: Exception | None = None
        for address in peer.addresses:
            try:
                return await self._open(peer, address, timeout, tls.server_name(peer.host), watch)
            except (OSError, TimeoutError) as error:
                failure = error
                if peer.secure and tls.refused_name(error):
                    return await self._open(peer, address, timeout, "", watch)
        raise failure or OSError("no address to connect to")

    async def _open(
        self,
        peer: Peer,
        address: str,
        timeout: float,
        name: str,
        watch: Callable[[asyncio.Timeout], None] | None,
    ) -> Connection:
        extra: dict[str, Any] = {}
        if peer.secure:
            extra = {"ssl": self.context(peer.trust), "server_hostname": name}
            extra["ssl_handshake_timeout"] = timeout + 5  # the timeout below comes first
        if peer.bind is not None:
            extra["local_addr"] = peer.bind
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(timeout) as limit:
            if watch is not None:
                watch(limit)
            _, connection = await loop.create_connection(Connection, address, peer.port, **extra)
        if peer.secure:
            connection.secured()
        return connection


class Pool:
    """Idle connections by `Peer.key`: at most `limit` in all, each for at most `idle` seconds."""

    def __init__(self, limit: int, idle: float) -> None:
        self._limit = limit
        self._idle = idle
        self._kept: OrderedDict[Connection, tuple[tuple[object, ...], float]] = OrderedDict()
        self._by_key: dict[tuple[object, ...], list[Connection]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: tuple[object, ...]) -> Connection | None:
        """A connection that was still open a moment ago, or None."""
        waiting = self._by_key.get(key)
        while waiting:
            connection = waiting[-1]
            self._forget(connection)
            if not connection.is_closed and connection.transport and not connection.transport.is_closing():
                return connection
        return None

    def put(self, key: tuple[object, ...], connection: Connection) -> None:
        """Keep an open connection that nobody uses."""
        if self._limit < 1 or connection.is_closed:
            connection.abort()
            return
        if len(self._kept) >= self._limit:
            self._drop(next(iter(self._kept)))
        loop = asyncio.get_running_loop()
        self._kept[connection] = (key, loop.time() + self._idle)
        self._by_key.setdefault(key, []).append(connection)
        if self._timer is None:
            self._timer = loop.call_later(self._idle, self._sweep)

    def close(self) -> None:
        """Drop them all."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self._kept):
            self._drop(connection)

    def _forget(self, connection: Connection) -> None:
        key, _ = self._kept.pop(connection)
        waiting = self._by_key[key]
        waiting.remove(connection)
        if not waiting:
            del self._by_key[key]

    def _drop(self, connection: Connection) -> None:
        self._forget(connection)
        connection.abort()

    def _sweep(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection, (_, until) in list(self._kept.items()):
            if until <= now or connection.is_closed:
                self._drop(connection)
        if self._kept:
            oldest = next(iter(self._kept.values()))[1]
            self._timer = loop.call_later(max(oldest - now, 0.05), self._sweep)
