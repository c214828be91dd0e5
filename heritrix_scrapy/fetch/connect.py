"""How does a connection to one pinned address come about, and which one can be used again?

`Connection` is the protocol of one socket: it hands what arrives to the exchange that uses it at the moment.
`Pool` keeps idle connections for a short while: bounded in number, taken youngest first, dropped when a byte or
the end arrives while idle.
"""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import socket
import ssl
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from heritrix_scrapy.fetch import proxies, tls
from heritrix_scrapy.model.errors import TooManyFiles
from heritrix_scrapy.model.hosts import numeric_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.fetch.http2 import Link
    from heritrix_scrapy.model.crawluri import TlsFacts


class Peer(NamedTuple):
    """Where to connect: every address is tried in turn, the first that answers is taken."""

    secure: bool
    host: str
    port: int
    addresses: tuple[str, ...]
    bind: tuple[str, int] | None = None
    trust: str = "OPEN"
    proxy: proxies.Proxy | None = None
    http2: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What two requests must share to share a connection."""
        return (self.secure, self.host, self.port, self.addresses[:1], *self[4:])


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
        self.link: Link | None = None  # where the server chose HTTP/2

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
            if secure.selected_alpn_protocol() == "h2":
                from heritrix_scrapy.fetch.http2 import Link

                self.link = Link(self)
                self.link.flush()

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


class _Talk:
    """Has a proxy lead a fresh connection on; await ``done``."""

    def __init__(self, connection: Connection, talk: proxies.Talk) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._connection = connection
        self._talk = talk
        connection.sink = self
        assert connection.transport is not None
        connection.transport.write(next(talk))

    def received(self, data: bytes) -> None:
        transport = self._connection.transport
        assert transport is not None
        try:
            out = self._talk.send(data)
        except StopIteration:
            transport.pause_reading()  # what comes now is for the TLS layer
            self._end(None)
        except OSError as error:
            self._end(error)
        else:
            if out:
                transport.write(out)

    def closed(self, error: Exception | None) -> None:
        self._end(error or proxies.ProxyRefused("the proxy closed the connection"))

    def _end(self, error: Exception | None) -> None:
        self._connection.sink = None
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)


class Connector:
    """Opens connections. One TLS context for each way to use them, made when first needed."""

    def __init__(self) -> None:
        self._contexts: dict[tuple[str, bool], ssl.SSLContext] = {}

    def context(self, trust: str, http2: bool = False) -> ssl.SSLContext:
        made = self._contexts.get((trust, http2))
        if made is None:
            made = self._contexts[trust, http2] = tls.context(trust, http2=http2)
        return made

    async def open(
        self, peer: Peer, timeout: float, watch: Callable[[asyncio.Timeout], None] | None = None
    ) -> Connection:
        """Connect to the first of the addresses that answers, each within `timeout` seconds; through a proxy to that.

        Raises the last address's error: TimeoutError, ConnectionRefusedError, ProxyRefused, ssl.SSLError, another
        OSError, TooManyFiles, or UnicodeError when the host name cannot be sent as SNI.
        """
        failure: Exception | None = None
        addresses: tuple[str, ...] = peer.addresses if peer.proxy is None else (peer.proxy.host,)
        for address in addresses:
            try:
                return await self._open(peer, address, timeout, tls.server_name(peer.host), watch)
            except ssl.SSLError as error:
                failure = error
                if tls.refused_name(error):
                    return await self._open(peer, address, timeout, "", watch)
                if peer.trust == "LOOSE" and isinstance(error, ssl.SSLCertVerificationError):
                    return await self._open_loosely(peer, address, timeout, watch, error)
            except OSError as error:
                failure = error
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    raise TooManyFiles(open_files_limit(), error) from error
        raise failure or OSError("no address to connect to")

    async def _open_loosely(
        self,
        peer: Peer,
        address: str,
        timeout: float,
        watch: Callable[[asyncio.Timeout], None] | None,
        refusal: ssl.SSLCertVerificationError,
    ) -> Connection:
        """A lone certificate only has to be within its dates (Heritrix: ConfigurableX509TrustManager)."""
        anyhow = peer._replace(trust="OPEN")
        connection = await self._open(anyhow, address, timeout, tls.server_name(peer.host), watch)
        assert connection.transport is not None
        secure = connection.transport.get_extra_info("ssl_object")
        if secure is not None and tls.is_lone_and_current(secure, connection.certificate or b""):
            return connection
        connection.abort()
        raise refusal

    async def _open(
        self,
        peer: Peer,
        address: str,
        timeout: float,
        name: str,
        watch: Callable[[asyncio.Timeout], None] | None,
    ) -> Connection:
        loop = asyncio.get_running_loop()
        extra: dict[str, Any] = {}
        port = peer.port if peer.proxy is None else peer.proxy.port
        family = family_of(address)
        if family is not None and not peer.secure and peer.proxy is None:
            # nothing but the dialling waits for anybody
            extra["sock"] = await dial(family, address, port, peer.bind, timeout, watch)
            _, connection = await loop.create_connection(Connection, **extra)
            return connection
        if peer.secure and peer.proxy is None:
            extra = {"ssl": self.context(peer.trust, peer.http2), "server_hostname": name}
            extra["ssl_handshake_timeout"] = timeout + 5  # the timeout below comes first
        async with asyncio.timeout(timeout) as limit:
            if watch is not None:
                watch(limit)
            if family is not None:
                extra["sock"] = await dial(family, address, port, peer.bind)
                _, connection = await loop.create_connection(Connection, **extra)
            else:
                _, connection = await loop.create_connection(Connection, address, port, local_addr=peer.bind, **extra)
            if peer.proxy is not None:
                try:
                    await self._lead_on(peer, peer.proxy, connection, name, timeout)
                except BaseException:
                    connection.abort()
                    raise
        if peer.secure:
            connection.secured()
        return connection

    async def _lead_on(
        self, peer: Peer, proxy: proxies.Proxy, connection: Connection, name: str, timeout: float
    ) -> None:
        """Have the proxy connect to the server, and speak TLS to that."""
        talk = proxies.talk(proxy, peer.secure, peer.host, peer.port, next(iter(peer.addresses), None))
        if talk is None:
            return
        await _Talk(connection, talk).done
        assert connection.transport is not None
        connection.transport.resume_reading()
        if peer.secure:
            connection.transport = await asyncio.get_running_loop().start_tls(
                connection.transport,
                connection,
                self.context(peer.trust, peer.http2),
                server_hostname=name,
                ssl_handshake_timeout=timeout + 5,
            )


#: What a socket that is connecting says when it is told to connect.
UNDER_WAY = (errno.EALREADY, errno.EINPROGRESS)


@lru_cache(maxsize=4096)
def family_of(address: str) -> socket.AddressFamily | None:
    """The family of an address in text; None for a name, and for an address that names its interface."""
    if numeric_address(address) is not None:
        return socket.AF_INET
    return socket.AF_INET6 if ":" in address and "%" not in address else None


async def dial(
    family: socket.AddressFamily,
    address: str,
    port: int,
    bind: tuple[str, int] | None = None,
    timeout: float | None = None,
    watch: Callable[[asyncio.Timeout], None] | None = None,
) -> socket.socket:
    """A connected socket that does not block. Raises OSError, TimeoutError after `timeout` seconds.

    What ``loop.create_connection`` does besides, for names and for several addresses, costs as much again.
    """
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        if bind is not None:
            made.bind(bind)
        error = made.connect_ex((address, port))
        if error == errno.EINPROGRESS:
            # to be asked again costs little; what is close by has answered by now, and the loop is spared
            error = made.connect_ex((address, port))
            if error in UNDER_WAY:
                async with asyncio.timeout(timeout) as limit:
                    if watch is not None:
                        watch(limit)
                    await _writable(made)
                error = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            elif error == errno.EISCONN:
                error = 0
        if error:
            raise OSError(error, f"Connect call failed {(address, port)}: {os.strerror(error)}")
    except BaseException:
        made.close()
        raise
    return made


async def _writable(made: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    number = made.fileno()  # asked about a socket it does not know, the selector describes it in full
    loop.add_writer(number, _wake, ready)
    try:
        await ready
    finally:
        loop.remove_writer(number)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def open_files_limit() -> int:
    """How many files and connections this process may have open at once."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_open_files_limit(wanted: int) -> int:
    """Ask the system for room for ``wanted`` open files, as far as it lets an ordinary user; returns the limit that
    holds then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        aim = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (aim, hard))
        except (OSError, ValueError):
            return soft
        return aim
    return wanted if soft == resource.RLIM_INFINITY else soft


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
