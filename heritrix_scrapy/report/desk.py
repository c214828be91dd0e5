"""Who makes a report when one is asked for? While the crawl runs, at its end, of a stopped job, at checkpoints.

A report is a file in the reports folder, replaced whole. What reads many rows is made in a thread, so that the crawl
goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.hosts import HOSTS
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.report import slots
from heritrix_scrapy.report.known import Known
from heritrix_scrapy.report.reports import REPORTS, json_path, name_of, write, write_json, write_json_on, write_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from heritrix_scrapy.crawl import Crawl
    from heritrix_scrapy.model.tally import Tally
    from heritrix_scrapy.report.figures import Figures

logger = logging.getLogger(__name__)

Row = tuple[bytes, bytes]

#: Seconds for which the end waits for a thread that has been told to end.
LONGEST = 10.0

#: Reports that read a row for each host, seed or source.
LONG = frozenset({"crawl", "seeds", "hosts", "source"})

#: Bytes up to which an answer holds the report itself; of a longer one it says where the file lies. The answer is put
#: together between two of the crawl's turns.
WHOLE = 1 << 18

#: Seconds for which a report is made between two of the crawl's turns, and that these have for themselves.
SLICE = 0.002
PAUSE = 0.002

ENDS = "the crawl ends: its reports are being written"


class Desk:
    """``settings``: have a ``view``, another one when they change; ``totals()``: the crawl's counters; ``says()``: the
    frontier's status."""

    def __init__(
        self,
        crawl: Crawl,
        settings: Any,
        figures: Figures,
        totals: Callable[[], Mapping[str, int]],
        says: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._crawl = crawl
        self._settings = settings
        self._figures = figures
        self._totals = totals
        self._says = says
        #: Of a stopped job: how it ended, and how long it ran.
        self.ended: tuple[str, int] | None = None
        self._ending = self._over = False
        self._threads: set[threading.Event] = set()

    @property
    def _view(self) -> Any:
        return self._settings.view

    def known(self) -> Known:
        """The crawl at this moment."""
        crawl = self._crawl
        state, ran_ms = self._state()
        frontier = crawl.frontier
        running = frontier is not None and self.ended is None and not crawl.bridge.is_closing()
        return Known(
            now_ms=crawl.clock.now_ms(),
            job=self._view.job_name,
            state=state,
            ran_ms=ran_ms,
            modern=self._view.profile != "heritrix",
            view=self._view,
            counters={**self._figures.counters(), **self._totals()},
            figures=self._figures,
            hosts=self._hosts,
            frontier=self._says(),
            frontier_lines=self._frontier_lines,
            in_process=[] if frontier is None else list(frontier.in_process()),
            in_flight=[each for fetching in crawl.fetching for each in fetching.in_flight()],
            slots=crawl.bridge.concurrency,
            running=running,
        )

    def wanted(self) -> list[str]:
        """The reports of HERITRIX_REPORTS."""
        return [name for asked in self._view.reports if (name := name_of(asked)) is not None]

    def write_all(self, names: Iterable[str] | None = None) -> list[Path]:
        """Write the reports that the settings ask for, or these. One that cannot be written is logged, and the others
        are."""
        known, written = self.known(), []
        for name in self.wanted() if names is None else names:
            try:
                written.append(write(name, known, self._crawl.jobdir.reports))
                if self._view.reports_json:
                    written.append(write_json(name, known, self._crawl.jobdir.reports))
            except OSError as error:
                logger.error("the report %s could not be written: %s", name, error)
            except Exception:
                logger.exception("the report %s could not be made", name)
        return written

    async def write_meanwhile(self) -> None:
        """The same while the crawl goes on: what reads many rows in a thread, the others between the crawl's turns."""
        for name in self.wanted():
            if self._crawl.bridge.is_closing():
                return
            known, folder = self.known(), self._crawl.jobdir.reports
            try:
                await self._write(name, known, folder, as_json=False)
                if self._view.reports_json:
                    await self._write(name, known, folder, as_json=True)
            except Refused:
                # those of the end follow
                return
            except OSError as error:
                logger.error("the report %s could not be written: %s", name, error)
            except Exception:
                logger.exception("the report %s could not be made", name)

    async def report(self, name: str = "", as_json: bool = False) -> dict[str, Any]:
        """Make a report, in Heritrix's words or as JSON. Without a name: which reports there are.

        ``text``: the report, ``path``: its file; of a long one the path only."""
        known, made = self._asked(name)
        if made is None:
            return listed()
        folder = self._crawl.jobdir.reports
        try:
            await self._write(made, known, folder, as_json=as_json)
            return told(made, json_path(made, folder) if as_json else folder / REPORTS[made].file)
        except OSError as error:
            raise Refused(f"the report {made} could not be written: {error}") from error

    async def _write(self, name: str, known: Known, folder: Path, *, as_json: bool) -> None:
        """Write a report while the crawl goes on: what reads many rows in a thread, the others in slices between the
        crawl's turns, as the frontier may not be read from elsewhere. Raises OSError, and Refused when the crawl
        ends."""
        if name in LONG:
            await self._aside(write_json if as_json else write, name, known, folder)
            return
        now = asyncio.get_running_loop().time
        end = now() + SLICE
        write_slowly = write_json_on if as_json else write_on
        with closing(write_slowly(name, known, folder)) as steps:
            for _ in steps:
                if now() < end:
                    continue
                await asyncio.sleep(PAUSE)
                if self._over:
                    raise Refused(ENDS)
                end = now() + SLICE

    async def _aside(self, work: Callable[..., Any], *args: Any) -> Any:
        """Work in a thread that reads the store. Raises Refused when the store is about to be closed."""
        over = threading.Event()

        def run() -> Any:
            try:
                self._go_on()
                return work(*args)
            finally:
                self._threads.discard(over)
                over.set()

        self._threads.add(over)
        return await asyncio.to_thread(run)

    def _go_on(self) -> None:
        if self._ending and threading.current_thread() is not threading.main_thread():
            raise Refused(ENDS)

    def end_threads(self) -> None:
        """Have no thread read the store any more, and no slice the frontier: both are about to be closed."""
        self._ending = self._over = True
        for over in list(self._threads):
            # none that was given up before it began
            over.wait(LONGEST)
        self._ending = False

    def walked(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows of the store, while a thread may read them. Raises Refused."""
        for row in rows:
            self._go_on()
            yield row

    def report_now(self, name: str = "", as_json: bool = False) -> dict[str, Any]:
        """The same of a job that does not run."""
        known, made = self._asked(name)
        return listed() if made is None else self._made(made, known, as_json=as_json)

    def _asked(self, name: str) -> tuple[Known, str | None]:
        made = name_of(name) if name else None
        if name and made is None:
            raise Refused(f"there is no report {name!r}; there are: {', '.join(REPORTS)}")
        return self.known(), made

    def _made(self, name: str, known: Known, *, as_json: bool) -> dict[str, Any]:
        try:
            return told(name, (write_json if as_json else write)(name, known, self._crawl.jobdir.reports))
        except OSError as error:
            raise Refused(f"the report {name} could not be written: {error}") from error

    def _hosts(self) -> Iterator[tuple[str, Tally]]:
        store = self._crawl.store
        if store is None:
            return
        rows = store.range(HOSTS, HOSTS[:-1] + bytes([HOSTS[-1] + 1]))
        for name, host in self._crawl.hosts.all_hosts(self.walked(rows)):
            tally = host.tally
            if tally.scheduled or tally.finishes or tally.disregards:
                yield name, tally

    def _frontier_lines(self, kind: str) -> Iterable[str | None]:
        operations = self._crawl.operations
        if operations is None:
            return ["frontier unstarted"]
        return operations.report_lines(kind)

    def _state(self) -> tuple[str, int]:
        if self.ended is not None:
            return self.ended
        life = self._crawl.life
        if life is None:
            return "Running - Active", 0
        if self._crawl.bridge.is_closing():
            return life.end_text, life.ran_ms()
        return f"{life.state.capitalize()} - Active", life.ran_ms()

    def threads(self) -> str:
        """What is being worked on, in one line."""
        return slots.short(self.known())


def told(name: str, path: Path) -> dict[str, Any]:
    """The answer about a report that is written. Raises OSError."""
    answer: dict[str, Any] = {"report": name, "path": str(path)}
    if path.stat().st_size <= WHOLE:
        answer["text"] = path.read_text(encoding="utf-8")
    return answer


def listed() -> dict[str, Any]:
    """Which reports there are, with their files."""
    return {"reports": {name: report.file for name, report in REPORTS.items()}}
