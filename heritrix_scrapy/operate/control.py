"""How does another process ask a running crawl something?

A Unix socket in the JOBDIR that only its owner may open; JSON, one object a line: ``{"do": "status"}`` →
``{"ok": true, ...}`` or ``{"ok": false, "error": "..."}``. What can be asked is the table of ``model/steering.py``. A
socket's path has 107 bytes: longer ones are bound and reached through the directory's entry
below ``/proc/self/fd``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.steering import PROTOCOL, Answer, Refused

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

NAME = "control.sock"
LONGEST = 107
MAX_LINE = 1 << 20

Do = Callable[[Mapping[str, Any]], Awaitable[Answer]]


class ControlError(Exception):
    """The crawl cannot be asked, or refused: the text says why."""


class NotRunning(ControlError):
    """No crawl runs on the directory."""


@contextlib.contextmanager
def reachable(directory: Path) -> Iterator[str]:
    """A path of the socket in ``directory`` that fits into a socket's name."""
    path = str(directory / NAME)
    if len(os.fsencode(path)) <= LONGEST:
        yield path
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)


class ControlServer:
    """Answers requests. ``do(request)``: the answer; raises Refused for what cannot be done."""

    def __init__(self, directory: Path, do: Do) -> None:
        self._directory = directory
        self._do = do
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Bind the socket, in place of one that a killed process left. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            (self._directory / NAME).unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with reachable(self._directory) as path:
                listener.bind(path)
                os.chmod(path, 0o600)
            self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=MAX_LINE)
        except OSError:
            listener.close()
            raise

    async def close(self) -> None:
        """Let go of the socket and of everyone connected."""
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        self._server = None
        with contextlib.suppress(FileNotFoundError):
            (self._directory / NAME).unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                try:
                    line = await reader.readline()
                except ValueError:
                    await self._send(writer, {"ok": False, "error": f"a request has at most {MAX_LINE} bytes"})
                    break
                if not line:
                    break
                await self._send(writer, await self._answer(line))
        except ConnectionError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> Answer:
        try:
            request = json.loads(line)
        except ValueError as error:
            return {"ok": False, "error": f"not JSON: {error}"}
        if not isinstance(request, dict):
            return {"ok": False, "error": 'a request is an object: {"do": "status"}'}
        try:
            answer = await self._do(request)
        except Refused as error:
            return {"ok": False, "error": str(error)}
        except Exception as error:
            logger.exception("the request %r failed", request.get("do"))
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}
        return {"ok": True, "protocol": PROTOCOL, **answer}

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        writer.write(json.dumps(answer, default=str).encode() + b"\n")
        await writer.drain()


def ask(directory: Path, request: Mapping[str, Any], *, timeout: float = 10.0) -> dict[str, Any]:
    """Ask the crawl that runs on a JOBDIR, from another process.

    Raises ControlError when none runs there, it does not answer, or it refuses.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        try:
            with reachable(directory) as path:
                connection.connect(path)
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
            raise NotRunning(f"no crawl runs on {directory}") from error
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("rb") as lines:
            line = lines.readline()
    except OSError as error:
        raise ControlError(f"the crawl on {directory} does not answer: {error}") from error
    finally:
        connection.close()
    if not line:
        raise ControlError(f"the crawl on {directory} closed the connection")
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise ControlError(f"what answers on {directory} is no crawl: {error}") from error
    if not isinstance(answer, dict):
        raise ControlError(f"what answers on {directory} is no crawl: {line[:80]!r}")
    if not answer.get("ok"):
        raise ControlError(str(answer.get("error")))
    return answer
