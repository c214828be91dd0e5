"""How does another process ask a running crawl something?

A Unix socket in the JOBDIR that only its owner may open; JSON, one object a line: ``{"do": "status"}`` →
``{"ok": true, ...}`` or ``{"ok": false, "error": "..."}``. What can be asked is the table of ``model/steering.py``.
``subscribe`` is answered too, and then with an object a line for each event, until either side closes the connection,
which takes nothing else any more. A reader that does not read is not waited for: its events gather in a buffer with
bounds. A socket's path has 107 bytes: longer ones are bound and reached through the directory's entry below
``/proc/self/fd``.
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

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.steering import PROTOCOL, SUBSCRIBE, Answer, Refused
from heritrix_scrapy.operate.slices import encoded

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.model.steering import Events

logger = logging.getLogger(__name__)

NAME = "control.sock"
LONGEST = 107
MAX_LINE = 1 << 20
#: Seconds that subscribers have to read what waits for them when the crawl is over.
LAST_WORDS = 2.0

Do = Callable[[Mapping[str, Any]], Awaitable[Answer]]
Subscribe = Callable[[Mapping[str, Any]], Awaitable["Events"]]


class ControlError(Exception):
    """The crawl cannot be asked, or refused: the text says why."""


class NotRunning(ControlError):
    """No crawl runs on the directory."""


class Declined(ControlError, Refused):
    """The crawl answered, and refused."""


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
    """Answers requests. ``do(request)``: the answer; ``subscribe(request)``: events. Both raise Refused for what cannot
    be done."""

    def __init__(self, directory: Path, do: Do, subscribe: Subscribe | None = None) -> None:
        self._directory = directory
        self._do = do
        self._subscribe = subscribe
        self._server: asyncio.Server | None = None
        #: Device and inode of the socket: the next crawl on the directory may have bound its own meanwhile.
        self._bound: tuple[int, int] | None = None
        #: Connections that ask, and those that listen with what serves them.
        self._writers: set[asyncio.StreamWriter] = set()
        self._listening: dict[asyncio.StreamWriter, asyncio.Task[Any] | None] = {}

    async def start(self) -> None:
        """Bind the socket, in place of one that a killed process left. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            (self._directory / NAME).unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with reachable(self._directory) as path:
                listener.bind(path)
                os.chmod(path, 0o600)
                self._bound = _identity(path)
            self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=MAX_LINE)
        except OSError:
            listener.close()
            raise

    def refuse(self) -> None:
        """Answer nothing any more: let go of the socket and of everyone who asks. Who listens is told on."""
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        self._server = None
        path = self._directory / NAME
        with contextlib.suppress(FileNotFoundError):
            if _identity(path) == self._bound:
                path.unlink()

    async def close(self) -> None:
        """Let go of the socket and of everyone connected; those who listen may hear the end before."""
        self.refuse()
        tasks = [task for task in self._listening.values() if task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_WORDS)
        for writer in list(self._listening):
            writer.transport.abort()

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
                request = _request(line)
                if isinstance(request, str):
                    await self._send(writer, {"ok": False, "error": request})
                elif request.get("do") == SUBSCRIBE and self._subscribe is not None:
                    if await self._stream(request, reader, writer):
                        break
                else:
                    await self._send(writer, await self._answered(request))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            self._listening.pop(writer, None)
            writer.close()

    async def _answered(self, request: Mapping[str, Any]) -> Answer:
        try:
            # in a turn of its own: the request was read in this one
            await asyncio.sleep(0)
            answer = await self._do(request)
            await asyncio.sleep(0)
        except (Refused, StorageFull) as error:
            return {"ok": False, "error": str(error)}
        except Exception as error:
            logger.exception("the request %r failed", request.get("do"))
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}
        return {"ok": True, "protocol": PROTOCOL, **answer}

    async def _stream(
        self, request: Mapping[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Send events until either side has had enough; False when the subscription was refused."""
        assert self._subscribe is not None
        try:
            events = await self._subscribe(request)
        except Refused as error:
            await self._send(writer, {"ok": False, "error": str(error)})
            return False
        self._writers.discard(writer)
        self._listening[writer] = asyncio.current_task()
        gone = asyncio.ensure_future(self._until_gone(reader, events))
        try:
            await self._send(writer, {"ok": True, "protocol": PROTOCOL})
            async for event in events:
                await asyncio.sleep(0)
                await self._send(writer, event)
        except ConnectionError:
            pass
        except Exception:
            logger.exception("a subscription failed")
        finally:
            events.close()
            gone.cancel()
        return True

    @staticmethod
    async def _until_gone(reader: asyncio.StreamReader, events: Events) -> None:
        """What a listener says is not heard; that it is gone is."""
        with contextlib.suppress(ConnectionError):
            while await reader.read(MAX_LINE):
                """Nothing to answer."""
        events.close()

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        writer.write(await encoded(answer) + b"\n")
        await writer.drain()


def _identity(path: Path | str) -> tuple[int, int]:
    """What tells a file from another of its name. Raises FileNotFoundError."""
    told = os.lstat(path)
    return told.st_dev, told.st_ino


def _request(line: bytes) -> dict[str, Any] | str:
    """The request of a line, or what is wrong with it."""
    try:
        request = json.loads(line)
    except ValueError as error:
        return f"not JSON: {error}"
    if not isinstance(request, dict):
        return 'a request is an object: {"do": "status"}'
    return request


def ask(directory: Path, request: Mapping[str, Any], *, timeout: float = 10.0) -> dict[str, Any]:
    """Ask the crawl that runs on a JOBDIR, from another process.

    Raises ControlError when none runs there, it does not answer, or it refuses.
    """
    connection = _connected(directory, timeout)
    try:
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("rb") as lines:
            line = lines.readline()
    except OSError as error:
        raise ControlError(f"the crawl on {directory} does not answer: {error}") from error
    finally:
        connection.close()
    return answered(directory, line)


def listen(directory: Path, request: Mapping[str, Any], *, timeout: float = 10.0) -> Iterator[dict[str, Any]]:
    """The events of a subscription to the crawl on a JOBDIR; ``request``: as for ``subscribe``. Ends with the crawl.

    Raises ControlError as ``ask`` does; ``timeout``: seconds until the subscription is answered.
    """
    connection = _connected(directory, timeout)
    try:
        connection.sendall(json.dumps({**request, "do": SUBSCRIBE}).encode() + b"\n")
        with connection.makefile("rb") as lines:
            answered(directory, lines.readline())
            connection.settimeout(None)
            for line in lines:
                if not line.endswith(b"\n"):
                    # cut off in the middle
                    break
                yield json.loads(line)
    except OSError as error:
        raise ControlError(f"the crawl on {directory} does not answer: {error}") from error
    finally:
        connection.close()


def _connected(directory: Path, timeout: float) -> socket.socket:
    """Raises NotRunning, ControlError."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        with reachable(directory) as path:
            connection.connect(path)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
        connection.close()
        raise NotRunning(f"no crawl runs on {directory}") from error
    except OSError as error:
        connection.close()
        raise ControlError(f"the crawl on {directory} does not answer: {error}") from error
    return connection


def answered(directory: Path, line: bytes) -> dict[str, Any]:
    """The answer that a line holds. Raises ControlError for none, and for what was refused."""
    if not line:
        raise ControlError(f"the crawl on {directory} closed the connection")
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise ControlError(f"what answers on {directory} is no crawl: {error}") from error
    if not isinstance(answer, dict):
        raise ControlError(f"what answers on {directory} is no crawl: {line[:80]!r}")
    if not answer.get("ok"):
        raise Declined(str(answer.get("error")))
    if answer.get("protocol", PROTOCOL) != PROTOCOL:
        spoken = answer["protocol"]
        raise ControlError(f"the crawl on {directory} speaks version {spoken} of the protocol, this command {PROTOCOL}")
    return answer
