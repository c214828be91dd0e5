"""A proxy on loopback: HTTP (absolute URIs and CONNECT) and SOCKS5, with or without a password.

Names are resolved by its own table, so that a name that no DNS server knows still leads somewhere.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class Proxy:
    """``names``: host name → address; ``ports``: port asked for → port in its place; ``user``: "name:password" or
    empty. ``asked`` holds what it was asked for: a request line, or ``SOCKS host:port``; ``heads`` the request
    heads that it read."""

    def __init__(
        self, names: Mapping[str, str] | None = None, *, user: str = "", ports: Mapping[int, int] | None = None
    ) -> None:
        self.names = dict(names or {})
        self.ports = dict(ports or {})
        self.user = user
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
            first = await reader.readexactly(1)
            await (self._socks if first == b"\x05" else self._http)(reader, writer, first)
        writer.close()

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes) -> None:
        head = first + await reader.readuntil(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        self.asked.append(line)
        self.heads.append(head)
        wanted = "Proxy-Authorization: Basic " + base64.b64encode(self.user.encode()).decode()
        if self.user and wanted not in fields:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        method, target, version = line.split(" ")
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            await self._joined(host.strip("[]"), int(port), reader, writer, b"HTTP/1.1 200 Connected\r\n\r\n")
            return
        authority, _, path = target.removeprefix("http://").partition("/")
        host, _, port = authority.partition(":")
        kept = [field for field in fields if not field.startswith("Proxy-")]
        said = "\r\n".join([f"{method} /{path} {version}", *kept]).encode("latin-1")
        await self._joined(host, int(port or 80), reader, writer, b"", said)

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        method = 2 if self.user else 0
        if method not in methods:
            writer.write(b"\x05\xff")
            return
        writer.write(bytes((5, method)))
        if self.user:
            await reader.readexactly(1)
            name = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            right = name + b":" + password == self.user.encode()
            writer.write(b"\x01\x00" if right else b"\x01\x01")
            if not right:
                return
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"SOCKS {host}:{port}")
        await self._joined(host, port, reader, writer, b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")

    async def _joined(
        self,
        host: str,
        port: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answer: bytes,
        said: bytes = b"",
    ) -> None:
        there, back = await asyncio.open_connection(self.names.get(host, host), self.ports.get(port, port))
        writer.write(answer)
        back.write(said)

        async def pass_on(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65536):
                    to.write(data)
                    await to.drain()
            to.close()

        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))
