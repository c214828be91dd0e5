"""How does a program with an event loop ask a job, steer it and listen to it, whether its crawl runs or not?

The same two calls as ``Crawl.steering`` has for those who are in the crawl's own process: ``do`` and ``subscribe``.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.steering import SUBSCRIBE
from heritrix_scrapy.operate.control import ControlError, NotRunning, answered, reachable
from heritrix_scrapy.operate.reach import LONGEST, SEVERAL, Job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from heritrix_scrapy.model.steering import Answer

#: Bytes that an answer may have: a whole report.
MAX_ANSWER = 1 << 28


class Remote:
    """One job in another process, or in none.

    ``project``: the Scrapy settings that a stopped job is opened with; or ``stopped``: what does in place of
    ``reach.Job.perform`` what is asked of one. Without either nothing can be asked of a stopped job. ``alone``: shared
    by all who ask the same job.
    """

    def __init__(
        self,
        directory: Path,
        project: Any = None,
        *,
        stopped: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
        alone: asyncio.Lock | None = None,
    ) -> None:
        self._directory = directory
        self._stopped = stopped or (None if project is None else partial(_opened, directory, project))
        #: A stopped job's store is opened by one at a time; who waits for it waits here, and keeps no thread.
        self._alone = alone or asyncio.Lock()

    async def do(self, request: Mapping[str, Any]) -> Answer:
        """Do what ``request["do"]`` names. Raises ControlError, Refused; of a stopped job also StoreError,
        ConfigurationError and StorageFull."""
        try:
            reader, writer = await self._connected()
        except NotRunning:
            if self._stopped is None:
                raise
            async with self._alone:
                return await asyncio.to_thread(self._stopped, request)
        try:
            line = await asyncio.wait_for(self._said(reader, writer, request), LONGEST)
        except (OSError, TimeoutError) as error:
            raise ControlError(f"the crawl on {self._directory} does not answer: {error}") from error
        finally:
            writer.close()
        answer = answered(self._directory, line)
        return {name: value for name, value in answer.items() if name != "ok"}

    async def do_all(self, requests: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """Do all of them, one after the other; a stopped job is opened once. Raises as ``do``."""
        try:
            _, writer = await self._connected()
        except NotRunning:
            return list((await self.do({"do": SEVERAL, "requests": list(requests)}))["answers"])
        writer.close()
        return [await self.do(request) for request in requests]

    async def subscribe(self, request: Mapping[str, Any]) -> RemoteEvents:
        """Hear of the running crawl from now on. Raises ControlError, of which NotRunning is one."""
        reader, writer = await self._connected()
        try:
            line = await self._said(reader, writer, {**request, "do": SUBSCRIBE})
            answered(self._directory, line)
        except OSError as error:
            writer.close()
            raise ControlError(f"the crawl on {self._directory} does not answer: {error}") from error
        except ControlError:
            writer.close()
            raise
        return RemoteEvents(reader, writer)

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            with reachable(self._directory) as path:
                return await asyncio.open_unix_connection(path, limit=MAX_ANSWER)
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
            raise NotRunning(f"no crawl runs on {self._directory}") from error
        except OSError as error:
            raise ControlError(f"the crawl on {self._directory} does not answer: {error}") from error

    async def _said(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Mapping[str, Any]
    ) -> bytes:
        writer.write(json.dumps(request).encode() + b"\n")
        await writer.drain()
        return await reader.readline()


def _opened(directory: Path, project: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    with Job(directory, project) as job:
        return job.perform(request)


class RemoteEvents:
    """What a subscriber reads; ends with the crawl."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Answer:
        try:
            line = await self._reader.readline()
        except (ConnectionError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            self.close()
            raise StopAsyncIteration
        return json.loads(line)  # type: ignore[no-any-return]

    def close(self) -> None:
        """The subscriber has had enough."""
        self._writer.close()
