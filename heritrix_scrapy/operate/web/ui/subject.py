"""Which crawl are the pages about, and how is it asked?

In the crawl's own process through ``Crawl.steering``, in an engine's through the socket; of a job that does not run
through its files. Everything else of the pages is the same for both.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate import disk
from heritrix_scrapy.operate.control import ControlError, NotRunning
from heritrix_scrapy.operate.glance import glance
from heritrix_scrapy.operate.jobs.job import JobError
from heritrix_scrapy.operate.remote import Remote
from heritrix_scrapy.operate.standing import of_stopped
from heritrix_scrapy.operate.web import paths
from heritrix_scrapy.report.tailing import tail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.model.steering import Answer, Asked, Events, Steering
    from heritrix_scrapy.operate.jobs.job import EngineJob, Standing

#: What goes wrong with a request to a crawl, other than a defect.
TROUBLE: Final = (Refused, ControlError, StoreError, StorageFull, ConfigurationError, JobError)

#: What only a running crawl has to tell.
LIVE: Final = frozenset({"numbers", "detail", "course"})

#: Buttons of a running crawl by its state, in the order shown.
BUTTONS: Final = {
    "RUNNING": ("pause", "checkpoint", "terminate"),
    "EMPTY": ("pause", "checkpoint", "terminate"),
    "PAUSING": ("unpause", "terminate"),
    "PAUSED": ("unpause", "checkpoint", "terminate"),
}


def actions(standing: Standing, *, profile: bool) -> tuple[str, ...]:
    """What can be done to an engine's job whose crawl does not run. One that is built may be built anew: its files may
    have changed."""
    if profile or standing.running:
        return ()
    if standing.launched:
        return ("teardown",)
    return ("build", "launch", *(("teardown",) if standing.built else ()))


class Subject(Protocol):
    """A crawl. ``name``: of the job; ``base``: path of its page; ``home``: path of the page of all jobs, if any."""

    name: str
    base: str
    home: str

    async def do(self, request: Mapping[str, Any]) -> Answer:
        """Ask or steer. Raises one of TROUBLE."""

    async def do_all(self, *requests: Mapping[str, Any]) -> list[Answer]:
        """Ask several times; of a crawl that does not run at once. Raises one of TROUBLE."""

    async def subscribe(self, request: Mapping[str, Any]) -> Events:
        """Hear of it. Raises one of TROUBLE, NotRunning of one that does not run."""

    async def numbers(self) -> dict[str, Any]:
        """As the verb of that name, with ``running``; of a job that has no numbers ``state`` and ``running`` only."""

    def buttons(self, numbers: Mapping[str, Any]) -> tuple[str, ...]:
        """What can be done, in the order shown."""


class Inside:
    """The crawl of this process. Each answer is made in a turn of its own: what comes before it, and what is made of
    it, in others."""

    home = ""

    def __init__(self, name: str, steering: Steering) -> None:
        self.name, self.base = name, "/ui"
        self._steering: Asked = steering

    async def do(self, request: Mapping[str, Any]) -> Answer:
        await asyncio.sleep(0)
        answer = await self._steering.do(request)
        await asyncio.sleep(0)
        return answer

    async def do_all(self, *requests: Mapping[str, Any]) -> list[Answer]:
        return [await self.do(request) for request in requests]

    async def subscribe(self, request: Mapping[str, Any]) -> Events:
        return await self._steering.subscribe(request)

    async def numbers(self) -> dict[str, Any]:
        return {**await self.do({"do": "numbers"}), "running": True}

    def buttons(self, numbers: Mapping[str, Any]) -> tuple[str, ...]:
        return BUTTONS.get(str(numbers.get("state")), ())


class Job:
    """A job of an engine, whether its crawl runs or not."""

    home = "/ui"

    def __init__(self, job: EngineJob) -> None:
        self.job = job
        self.name, self.base = job.name, paths.address("ui", "job", job.name)
        self._stopped: tuple[object, dict[str, Any]] | None = None
        self._alone = asyncio.Lock()

    async def do(self, request: Mapping[str, Any]) -> Answer:
        if request.get("do") == "tail":
            # needs no store
            given = {name: value for name, value in request.items() if name != "do"}
            return await asyncio.to_thread(tail, self.job.jobdir, **given)
        return (await self.do_all(request))[0]

    async def do_all(self, *requests: Mapping[str, Any]) -> list[Answer]:
        crawled = await asyncio.to_thread((self.job.jobdir / "frontier" / "CURRENT").exists)
        stopped = self._perform if crawled and not any(each.get("do") in LIVE for each in requests) else None
        remote = Remote(self.job.jobdir, stopped=stopped, alone=self._alone)
        try:
            return [await remote.do(requests[0])] if len(requests) == 1 else await remote.do_all(requests)
        except NotRunning:
            if crawled:
                raise
            raise NotRunning("it has not crawled yet: build and launch it first") from None

    def _perform(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.job.perform(request)
        finally:
            self._stopped = None

    async def subscribe(self, request: Mapping[str, Any]) -> Events:
        return await Remote(self.job.jobdir).subscribe(request)

    async def numbers(self) -> dict[str, Any]:
        try:
            return {**await self.do({"do": "numbers"}), "running": True}
        except ControlError:
            # it does not run, or is just about to end; its store is opened by one at a time
            async with self._alone:
                return await asyncio.to_thread(self._of_stopped)

    def buttons(self, numbers: Mapping[str, Any]) -> tuple[str, ...]:
        if numbers["running"]:
            return BUTTONS.get(str(numbers.get("state")), ())
        return tuple(numbers.get("actions") or ())

    def _of_stopped(self) -> dict[str, Any]:
        standing = self.job.standing(ask_it=False)
        # of one that is not launched Heritrix's words say more than the controller's state
        state = (standing.state if standing.launched else None) or standing.status
        told: dict[str, Any] = {"running": False, "state": state, "end": standing.end}
        told["actions"] = actions(standing, profile=self.job.place.is_profile)
        told["reason"] = "; ".join(standing.reasons) or standing.record.reason or None
        mark = (standing.record.launch, standing.record.ended_ms, standing.launched)
        if self._stopped is None or self._stopped[0] != mark:
            try:
                found = of_stopped(self.job.jobdir, self.name)
            except TROUBLE:
                return told
            numbers = glance(
                found,
                found["frontier"],
                {},
                flights=(),
                slots=0,
                current=None,
                hosts=[],
                rooms=disk.rooms([Path(self.job.jobdir)]),
                memory_mib=0,
            )
            size = found["job"]["sizeTotalsReport"]
            numbers["bytes"] = {"total": size["total"], "novel": size.get("novel", 0)}
            numbers["rates"]["average_kib_per_second"] = found["job"]["rateReport"]["averageKiBPerSec"]
            self._stopped = (mark, numbers)
        return {**self._stopped[1], **told}
