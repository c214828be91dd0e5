"""Plays an exchange of `tests.web.exchanges`, over a socket or straight into a connection in any split."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from typing import TYPE_CHECKING, Any, Self

from heritrix_scrapy.fetch.connect import Connection

if TYPE_CHECKING:
    from tests.web.exchanges import Exchange


class Player:
    """One port on loopback for one exchange; ``sent`` is what it wrote."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.sent = bytearray()
        self.requests = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        kind = self.exchange.kind
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        if kind == "refused":
            self._server.close()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        scheme = "https" if self.exchange.kind in ("plain", "late") else "http"
        return self.exchange.url or f"{scheme}://127.0.0.1:{self.port}/"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if self.exchange.kind == "late":
                await reader.read()
            elif self.exchange.kind == "plain":
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            else:
                await reader.readuntil(b"\r\n\r\n")
                self.requests += 1
                await self._play(reader, writer)
        writer.close()

    async def _play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for step, *value in self.exchange.steps:
            if step == "send":
                self.sent += value[0]
                writer.write(value[0])
                await writer.drain()
            elif step == "sleep":
                await asyncio.sleep(value[0])
            elif step == "endless":
                while not writer.is_closing():
                    self.sent += value[0]
                    writer.write(value[0])
                    await writer.drain()
            elif step == "hold":
                await reader.read()
            elif step == "reset":
                sock: Any = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()


class Fed(asyncio.Transport):
    """A transport that answers the first thing written to it with an exchange, cut at random."""

    def __init__(self, connection: Connection, exchange: Exchange, source: random.Random) -> None:
        super().__init__()
        self._connection = connection
        self._exchange = exchange
        self._source = source
        self._closing = False
        self._asked = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._asked:
            self._asked = True
            self._task = asyncio.ensure_future(self._answer())

    async def _answer(self) -> None:
        stream = self._exchange.sent
        # few cuts in a large stream, one behind every byte in some of the small ones
        most = min(len(stream), 400 if self._source.random() < 0.3 else 6)
        cuts = sorted(self._source.randrange(len(stream) + 1) for _ in range(most))
        last = self._exchange.steps[-1]
        for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
            if stop > start and not self._closing:
                self._connection.data_received(stream[start:stop])
        while last[0] == "endless" and not self._closing:
            self._connection.data_received(last[1])
        if last[0] in ("close", "reset") and not self._closing:
            self._connection.connection_lost(ConnectionResetError("reset") if last[0] == "reset" else None)

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def abort(self) -> None:
        self._closing = True

    close = abort


class Feeder:
    """In the place of a `Connector`: connections that play an exchange."""

    def __init__(self, exchange: Exchange, seed: str) -> None:
        self._exchange = exchange
        self._source = random.Random(seed)

    async def open(self, *_: object) -> Connection:
        connection = Connection()
        connection.transport = Fed(connection, self._exchange, self._source)
        connection.address = "127.0.0.1"
        return connection
