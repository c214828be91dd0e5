"""A whois server on loopback: answers by query, with the faults that servers have.

``answers``: query line → bytes; other queries get "no match". ``fault``: "stall", "reset" or "close" before the
answer; ``endless``: bytes repeated until the client goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class WhoisServer:
    """Listens while the block lasts. ``queries`` holds what was asked, as it came."""

    def __init__(
        self,
        answers: Mapping[str, bytes] | None = None,
        host: str = "127.0.0.1",
        *,
        port: int = 0,
        fault: str = "",
        endless: bytes = b"",
    ) -> None:
        self.answers = dict(answers or {})
        self.host, self.port = host, port
        self.fault, self.endless = fault, endless
        self.queries: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            query = await reader.readline()
            self.queries.append(query)
            if self.fault == "stall":
                await reader.read()
            transport: Any = writer.transport
            if self.fault == "reset":
                transport.get_extra_info("socket").setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")
                transport.abort()
            if not self.fault:
                writer.write(self.answers.get(query.decode().strip(), b"% no match\r\n"))
                while self.endless:
                    writer.write(self.endless)
                    await writer.drain()
        writer.close()
