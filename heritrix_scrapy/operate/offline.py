"""What of a job that does not run can be asked and done, besides what is done to its queues?

A table of verbs, as of a running crawl: the same names, parameters and answers.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.steering import Refused, Verb
from heritrix_scrapy.operate import checkpoints, record
from heritrix_scrapy.operate.checkpoints import About, counts
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.stopped import opened
from heritrix_scrapy.report.progress import LEGEND, Progress, line
from heritrix_scrapy.store import copying

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier

ASKED = "on request, of a stopped crawl"


class Offline:
    """The verbs of a stopped job. ``project``: the Scrapy settings that it is opened with."""

    def __init__(self, directory: Path, project: Any) -> None:
        self._directory = directory.resolve()
        self._project = project
        table: dict[str, Callable[..., dict[str, Any]]] = {
            "checkpoint": self.checkpoint,
            "checkpoints": self.checkpoints,
        }
        self._verbs = {name: Verb(name, run, steers=name != "checkpoints") for name, run in table.items()}

    def __contains__(self, name: object) -> bool:
        return name in self._verbs

    def perform(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a request. Raises Refused, ControlError, ConfigurationError."""
        verb = self._verbs[request["do"]]
        return dict(verb.run(**verb.arguments(request)))  # type: ignore[arg-type]

    def checkpoints(self) -> dict[str, Any]:
        """The checkpoints that the job can be started from."""
        return {"checkpoints": checkpoints.rows(checkpoints.listed(self._directory))}

    def checkpoint(self, remark: str = "") -> dict[str, Any]:
        """Make a checkpoint. No ``checkpoint`` in the answer: nothing has happened since the last one."""
        directory = self._directory
        with opened(directory, self._project) as operations:
            frontier = operations.frontier
            if not frontier.alive():
                raise Refused("nothing is queued: a crawl that begins with this checkpoint would be over at once")
            there = checkpoints.listed(directory)
            told = counts(frontier.status(), directory)
            if there and there[-1].about.counts == told:
                return {"checkpoint": None, "reason": f"no progress since {there[-1].name}"}
            checkpoints.sweep(directory)
            now, state = int(time.time() * 1000), record.read(directory)
            names = [*(path.name for path in checkpoints.found(directory)), state.checkpoint]
            path = checkpoints.folder(directory) / checkpoints.name_of(checkpoints.next_number(names), now)
            about = About(
                name=path.name,
                made_ms=now,
                reason=ASKED,
                remark=remark,
                counts=told,
                tallies=frontier.tallies(),
                jobdir=str(directory),
                launch=state.launch,
                started_ms=state.started_ms,
                ran_ms=state.ran_ms,
            )
            try:
                path.mkdir(parents=True)
                frontier.checkpoint(path / "frontier")()
                if (directory / "history" / "CURRENT").exists():
                    copying.copy(directory / "history", path / "history")()
                checkpoints.seal(path, about, f"{LEGEND}\n{_line(frontier, now)}\n", directory)
            except (OSError, StorageFull) as error:
                checkpoints.remove(path)
                raise Refused(f"the checkpoint could not be made: {error}") from error
        JobLog(directory).write(now, f"CHECKPOINTED {path.name}" + (f" - {remark}" if remark else ""))
        return {"checkpoint": path.name, "path": str(path)}


def _line(frontier: Frontier, now_ms: int) -> str:
    told, tallies = frontier.status(), frontier.tallies()
    moment = Progress(
        discovered=told["discovered"],
        queued=told["queued"],
        downloaded=tallies.get("uris/downloaded", 0),
        failures=tallies.get("uris/failed", 0),
    )
    return line(now_ms, moment, modern=True)
