"""What of a job that does not run can be asked and done, besides what is done to its queues?

A table of verbs, as of a running crawl: the same names, parameters and answers.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import prepare
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreInUse
from heritrix_scrapy.model.steering import Refused, Verb
from heritrix_scrapy.operate import changes as thinking
from heritrix_scrapy.operate import checkpoints, record
from heritrix_scrapy.operate.changes import Wish
from heritrix_scrapy.operate.checkpoints import About, counts
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.standing import of_stopped
from heritrix_scrapy.operate.stopped import opened_job
from heritrix_scrapy.report.progress import LEGEND, Progress, line
from heritrix_scrapy.report.tailing import DEFAULT, LIMIT, asked
from heritrix_scrapy.scope import from_settings
from heritrix_scrapy.settings import changes as kept
from heritrix_scrapy.settings import read, views
from heritrix_scrapy.store import copying
from heritrix_scrapy.store.mend import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.settings import Settings

ASKED = "on request, of a stopped crawl"
READING = frozenset({"checkpoints", "changes", "settings", "status", "metrics", "tail"})


class Offline:
    """The verbs of a stopped job. ``project``: the Scrapy settings that it is opened with."""

    def __init__(self, directory: Path, project: Any) -> None:
        self._directory = directory.resolve()
        self._project = project
        table: dict[str, Callable[..., dict[str, Any]]] = {
            "checkpoint": self.checkpoint,
            "checkpoints": self.checkpoints,
            "set": self.set,
            "add": self.add,
            "remove": self.remove,
            "changes": self.changes,
            "settings": self.settings,
            "status": self.status,
            "metrics": self.metrics,
            "tail": self.tail,
        }
        self._verbs = {name: Verb(name, run, steers=name not in READING) for name, run in table.items()}

    def __contains__(self, name: object) -> bool:
        return name in self._verbs

    def perform(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a request. Raises Refused, ControlError, ConfigurationError."""
        verb = self._verbs[request["do"]]
        return dict(verb.run(**verb.arguments(request)))

    def checkpoints(self) -> dict[str, Any]:
        """The checkpoints that the job can be started from."""
        return {"checkpoints": checkpoints.rows(checkpoints.listed(self._directory))}

    def checkpoint(self, remark: str = "") -> dict[str, Any]:
        """Make a checkpoint. No ``checkpoint`` in the answer: nothing has happened since the last one."""
        directory = self._directory
        with opened_job(directory, self._project) as job:
            frontier = job.operations.frontier
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
            settings = job.crawl.settings
            if settings is not None and settings.view.reports_at_checkpoints:
                job.desk.write_all()
        JobLog(directory).write(now, f"CHECKPOINTED {path.name}" + (f" - {remark}" if remark else ""))
        return {"checkpoint": path.name, "path": str(path)}

    def set(
        self, values: dict[str, Any], reset: list[str] | None = None, check: bool = False, remark: str = ""
    ) -> dict[str, Any]:
        """Change settings, from the next start on. As of a running crawl."""
        return self._change(lambda: thinking.wish(values, reset or []), check=check, remark=remark)

    def add(self, name: str, value: Any, check: bool = False, remark: str = "") -> dict[str, Any]:
        """Add one entry to a setting that is a list."""
        return self._change(lambda: thinking.with_entry(self._read(), name, value), check=check, remark=remark)

    def remove(self, name: str, value: Any, check: bool = False, remark: str = "") -> dict[str, Any]:
        """Remove one entry from a setting that is a list."""
        return self._change(lambda: thinking.without_entry(self._read(), name, value), check=check, remark=remark)

    def changes(self) -> dict[str, Any]:
        """What was changed so, and holds."""
        return {"changes": Wish(kept.read(self._job()).settings).told()}

    def settings(self) -> dict[str, Any]:
        """Every setting as the next start has it, as of a running crawl."""
        return {"settings": thinking.held(self._read().view)}

    def status(self) -> dict[str, Any]:
        """State and end, counts and queues."""
        return of_stopped(self._directory, self._project.get("HERITRIX_JOB_NAME") or self._directory.name)

    def metrics(self) -> dict[str, Any]:
        """The status in Prometheus's text format."""
        # imported by those who ask
        from heritrix_scrapy.operate import metrics as prometheus

        return {"content_type": prometheus.CONTENT_TYPE, "text": prometheus.text(self.status())}

    def tail(
        self, log: str = DEFAULT, start: int = -1, lines: int = 10, filter: str = "", limit: int = LIMIT
    ) -> dict[str, Any]:
        """Lines of a log, as of a running crawl."""
        return asked(self._directory, log, start=start, lines=lines, filter=filter, limit=limit)

    def _job(self) -> Path:
        if not (self._directory / "frontier" / "CURRENT").exists():
            raise ControlError(f"{self._directory} is no JOBDIR of an archival crawl")
        return self._directory

    def _read(self, changes: kept.Changes | None = None) -> Settings:
        try:
            return read(self._project, contact_required=False, changes=changes or kept.read(self._job()))
        except ConfigurationError as error:
            raise Refused(error.message.removeprefix("heritrix_scrapy: ")) from None

    def _change(self, wanted: Callable[[], Wish], *, check: bool, remark: str) -> dict[str, Any]:
        # one at a time; and a crawl that begins meanwhile would not hear of it
        with locked(self._job() / "frontier") as alone:
            if not alone:
                words = "another crawl or command works on this directory; wait until it has ended"
                raise StoreInUse("JOBDIR", str(self._directory), words)
            return self._changed(wanted(), check=check, remark=remark)

    def _changed(self, wish: Wish, *, check: bool, remark: str) -> dict[str, Any]:
        thinking.refuse_fixed(wish.names, running=False)
        directory = self._directory
        merged = thinking.merged(kept.read(directory), wish)
        settings = self._read(merged)
        try:
            from_settings(settings)
            heritrix = settings.profile == "heritrix"
            prepare.Preparer(prepare.canonicaliser, heritrix=heritrix).test(views(settings))
        except ConfigurationError as error:
            raise Refused(error.message.removeprefix("heritrix_scrapy: ")) from None
        answer = {"changed": wish.told(), "reset": wish.reset, "check": check, "holds": "from the next start on"}
        if not check:
            try:
                kept.write(directory, merged)
            except OSError as error:
                raise Refused(f"the change could not be kept: {error}") from None
            JobLog(directory).write(int(time.time() * 1000), wish.line(remark))
        return answer


def _line(frontier: Frontier, now_ms: int) -> str:
    told, tallies = frontier.status(), frontier.tallies()
    moment = Progress(
        discovered=told["discovered"],
        queued=told["queued"],
        downloaded=tallies.get("uris/downloaded", 0),
        failures=tallies.get("uris/failed", 0),
    )
    return line(now_ms, moment, modern=True)
