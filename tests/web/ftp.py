"""An FTP server on loopback, honest or not.

``tree``: path → bytes of a file; directories are those that lie above files, and those declared with None. ``faults``
say where it goes wrong, by name:

==================  =================================================================================
greeting            raw bytes in place of the greeting
login               reply to USER or PASS in place of a welcome
pasv, epsv          reply in place of the true one; "refuse" answers 502
port                port that the passive reply names in place of the true one
retr                reply in place of a transfer
listing             raw bytes of every listing
stall               "greeting", "data" (after ``after`` bytes) or "end" (no final reply): silence
reset               "data" (after ``after`` bytes): the data connection is reset
close               "control" after the data; "greeting": at once
after               bytes of a file that are sent before a fault
final               reply after a transfer
endless             bytes that a listing or file repeats until the client goes away
chatter             a line of the greeting repeated for ever
==================  =================================================================================
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class FtpServer:
    """Listens while the block lasts. ``commands`` holds what clients said."""

    def __init__(self, tree: Mapping[str, bytes | None], host: str = "127.0.0.1", **faults: Any) -> None:
        self.tree = tree
        self.host = host
        self.faults = faults
        self.commands: list[str] = []
        self.connections = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()

    def url(self, path: str = "/", login: str = "") -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ftp://{login}{host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await _Session(self, reader, writer).run()
        writer.close()

    def is_directory(self, path: str) -> bool:
        path = path.rstrip("/")
        return path == "" or self.tree.get(path, b"") is None or any(each.startswith(path + "/") for each in self.tree)

    def names(self, path: str) -> bytes:
        """The listing of a directory as NLST gives it."""
        if "listing" in self.faults:
            listing: bytes = self.faults["listing"]
            return listing
        base = path.rstrip("/") + "/"
        found = dict.fromkeys(each[len(base) :].partition("/")[0] for each in self.tree if each.startswith(base))
        return b"".join(name.encode("utf-8", "surrogateescape") + b"\r\n" for name in found)


class _Session:
    def __init__(self, server: FtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.faults = server.faults
        self.directory = "/"
        self.data: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    def say(self, text: str | bytes) -> None:
        self.writer.write(text if isinstance(text, bytes) else text.encode() + b"\r\n")

    async def run(self) -> None:
        if self.faults.get("stall") == "greeting":
            await self.reader.read()
            return
        if self.faults.get("close") == "greeting":
            return
        while "chatter" in self.faults:
            self.say(self.faults["chatter"])
            await self.writer.drain()
        self.say(self.faults.get("greeting", "220-Welcome\r\n of many words\r\n220 ready"))
        while line := await self.reader.readline():
            said = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
            self.server.commands.append(said)
            command, _, argument = said.partition(" ")
            if not await getattr(self, "on_" + command.lower(), self.unknown)(argument):
                return
            await self.writer.drain()

    async def unknown(self, argument: str) -> bool:
        self.say("500 unknown command")
        return True

    async def on_user(self, argument: str) -> bool:
        self.say(self.faults.get("login", "331 password, please"))
        return True

    async def on_pass(self, argument: str) -> bool:
        self.say("230 logged in")
        return True

    async def on_type(self, argument: str) -> bool:
        self.say("200 as you like")
        return True

    async def on_cwd(self, argument: str) -> bool:
        there = self.server.is_directory(argument)
        if there:
            self.directory = argument
        self.say("250 there" if there else "550 no such directory")
        return True

    async def on_quit(self, argument: str) -> bool:
        self.say("221 bye")
        return False

    async def on_pasv(self, argument: str) -> bool:
        return await self._passive("pasv", lambda port: f"227 Passive (10,0,0,1,{port >> 8},{port & 255}).")

    async def on_epsv(self, argument: str) -> bool:
        return await self._passive("epsv", lambda port: f"229 Extended (|||{port}|)")

    async def _passive(self, name: str, reply: Any) -> bool:
        if name in self.faults:
            self.say("502 not here" if self.faults[name] == "refuse" else self.faults[name])
            return True

        def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.data.put_nowait((reader, writer))
            listener.close()

        listener = await asyncio.start_server(taken, self.server.host, 0)
        self.say(reply(self.faults.get("port") or listener.sockets[0].getsockname()[1]))
        return True

    async def on_nlst(self, argument: str) -> bool:
        return await self._send(self.server.names(self.directory))

    async def on_retr(self, argument: str) -> bool:
        body = self.server.tree.get(argument)
        if body is None:
            self.say("550 no such file")
            return True
        return await self._send(body)

    async def _send(self, body: bytes) -> bool:
        if "retr" in self.faults:
            self.say(self.faults["retr"])
            return True
        _, writer = await self.data.get()
        self.say("150 here it comes")
        await self.writer.drain()
        fault = self.faults
        breaks = "data" in (fault.get("stall"), fault.get("reset"))
        writer.write(body[: fault.get("after", 0)] if breaks else body)
        with contextlib.suppress(OSError):
            await writer.drain()
            while "endless" in fault:
                writer.write(fault["endless"])
                await writer.drain()
        if fault.get("stall") == "data":
            await self.reader.read()
        if fault.get("reset") == "data":
            sock = writer.transport.get_extra_info("socket")
            sock.setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")  # SOL_SOCKET, SO_LINGER: on, 0 seconds
            await asyncio.sleep(0.01)
            writer.transport.abort()
        writer.close()
        if fault.get("close") == "control":
            return False
        if fault.get("stall") == "end":
            await self.reader.read()
        self.say(fault.get("final", "226 done"))
        return True
