"""How are a connection's bytes read one after the other, each within its time?

What conversations in lines need (FTP, whois). Reading waits for at most the idle time; the peer's bytes are taken
no faster than they are asked for.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.fetch.connect import Connection

#: Bytes taken at once.
PIECE = 64 * 1024


class Silent(OSError):
    """Nothing came within the idle time."""


class TooLong(OSError):
    """A line that does not end."""


class Stream:
    """Reads a Connection. ``idle``: seconds without a byte that are waited for; 0 waits for ever."""

    def __init__(self, connection: Connection, idle: float) -> None:
        self.connection = connection
        self._idle = idle or None
        self._reader = asyncio.StreamReader(limit=PIECE)
        assert connection.transport is not None
        self._reader.set_transport(connection.transport)
        if connection.is_closed:
            self._reader.feed_eof()
        else:
            connection.sink = self

    def received(self, data: bytes) -> None:
        self._reader.feed_data(data)

    def closed(self, error: Exception | None) -> None:
        if error is None:
            self._reader.feed_eof()
        else:
            self._reader.set_exception(error)

    def say(self, data: bytes) -> None:
        """Send bytes; where the connection is gone, the next reading tells."""
        transport = self.connection.transport
        if transport is not None and not transport.is_closing():
            transport.write(data)

    async def read(self) -> bytes:
        """The next bytes; empty at the end. Raises Silent, and OSError when the connection broke."""
        try:
            async with asyncio.timeout(self._idle):
                return await self._reader.read(PIECE)
        except TimeoutError as error:
            raise Silent(f"no byte within {self._idle} seconds") from error

    async def line(self, limit: int) -> bytes:
        """The next line with its end; the last one may have none, and is empty when there is nothing more. Raises
        TooLong beyond ``limit`` bytes, Silent, and OSError when the connection broke."""
        try:
            async with asyncio.timeout(self._idle):
                line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            line = error.partial
        except asyncio.LimitOverrunError as error:
            raise TooLong(f"a line of more than {PIECE} bytes") from error
        except TimeoutError as error:
            raise Silent(f"no line within {self._idle} seconds") from error
        if len(line) > limit:
            raise TooLong(f"a line of more than {limit} bytes")
        return line

    def abort(self) -> None:
        self.connection.abort()
