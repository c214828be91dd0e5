"""How are operations carried out while the crawl runs?

Short ones at once, long ones in slices between the crawl's own turns. Who asked may wait for the end, or look in.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import TYPE_CHECKING, Any, get_type_hints

from heritrix_scrapy.frontier.looking import OperationError
from heritrix_scrapy.frontier.operations import VERBS, Operations
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.steering import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from heritrix_scrapy.crawl import Crawl
    from heritrix_scrapy.model.steering import Steering

logger = logging.getLogger(__name__)

#: Seconds that a slice may take, and that the crawl has for itself after it.
SLICE = 0.002
PAUSE = 0.003
#: Operations that are remembered after their end.
REMEMBERED = 100


class Running:
    """A long operation. ``error``: why it ended early."""

    def __init__(self, number: int, work: Work) -> None:
        self.number = number
        self.work = work
        self.done = False
        self.error: str | None = None
        self.task: asyncio.Task[None] | None = None

    def told(self) -> dict[str, Any]:
        told = {"operation": self.number, "name": self.work.name, "done": self.done, **self.work.answer()}
        if self.error is not None:
            told["error"] = self.error
        return told


class LiveOperations:
    """Operations on the frontier of a running crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._running: dict[int, Running] = {}
        self._number = 0

    def offer(self, steering: Steering) -> None:
        """Offer every operation as a verb; each takes ``wait`` besides its own parameters."""
        for name, (method, steers) in VERBS.items():
            steering.add(name, self._verb(name, getattr(Operations, method)), steers=steers)
        steering.add("operation", self.look, steers=False)

    def _verb(self, name: str, method: Callable[..., Any]) -> Callable[..., Awaitable[dict[str, Any]]]:
        async def run(**given: Any) -> dict[str, Any]:
            return await self.answer(name, **given)

        signature = inspect.signature(method)
        wait = inspect.Parameter("wait", inspect.Parameter.KEYWORD_ONLY, default=True)
        own = [each for each in signature.parameters.values() if each.name != "self"]
        run.__signature__ = signature.replace(parameters=[*own, wait])  # type: ignore[attr-defined]
        run.__annotations__ = {**get_type_hints(method), "wait": bool}
        run.__doc__ = method.__doc__
        return run

    async def answer(self, name: str, *, wait: bool = True, **given: Any) -> dict[str, Any]:
        """Carry out a request. Without ``wait``: answer while a long one still goes on, with its number."""
        operations = self._crawl.operations
        if operations is None:
            raise OperationError("the crawl has no frontier yet, or none any more")
        try:
            result = operations.perform({**given, "do": name})
        except StorageFull as error:
            self._crawl.bridge.pause(error)
            raise
        if not isinstance(result, Work):
            if VERBS[name][1]:
                self._crawl.bridge.kick()
            return dict(result)
        self._number += 1
        running = self._running[self._number] = Running(self._number, result)
        for number in list(self._running)[:-REMEMBERED]:
            if self._running[number].done:
                del self._running[number]
        running.task = asyncio.create_task(self._run(running))
        # who asked may go away: it goes on
        await asyncio.wait([running.task], timeout=None if wait else 0.1)
        return self._ended(running)

    def look(self, operation: int = 0) -> dict[str, Any]:
        """How far a long operation is, by its number; without one, all of them."""
        if not operation:
            return {"operations": [running.told() for running in self._running.values()]}
        running = self._running.get(operation)
        if running is None:
            raise OperationError(f"no operation {operation}")
        return self._ended(running)

    def unfinished(self) -> list[dict[str, Any]]:
        """Long operations that go on."""
        return [running.told() for running in self._running.values() if not running.done]

    async def close(self) -> None:
        """The crawl ends: what still goes on ends too."""
        for running in self._running.values():
            if running.task is not None and not running.task.done():
                running.task.cancel()
                running.error = "cut off by the end of the crawl"
                running.done = True
                logger.warning("%s was cut off by the end of the crawl: %s", running.work.name, running.work.answer())

    def _ended(self, running: Running) -> dict[str, Any]:
        if running.error is not None:
            raise OperationError(f"{running.work.name}: {running.error} ({running.work.answer()})")
        return running.told()

    async def _run(self, running: Running) -> None:
        loop, work = asyncio.get_running_loop(), running.work
        try:
            while work.steers and not self._crawl.settled():
                # the scope may be asked
                await asyncio.sleep(PAUSE)
            while not work.run(deadline(loop.time, SLICE)):
                await asyncio.sleep(PAUSE)
            operations = self._crawl.operations
            if operations is not None and work.steers:
                operations.noted(work, work.answer())
                operations.settle()
        except Refused as error:
            running.error = str(error)
        except StorageFull as error:
            running.error = str(error)
            self._crawl.bridge.pause(error)
        except Exception as error:
            running.error = f"{type(error).__name__}: {error}"
            logger.exception("%s failed", work.name)
        running.done = True
        if work.steers:
            self._crawl.bridge.kick()


def deadline(now: Callable[[], float], seconds: float) -> Callable[[], bool]:
    """Whether that many seconds have passed since."""
    end = now() + seconds
    return lambda: now() >= end
