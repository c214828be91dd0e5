"""How does a Scrapy project get Heritrix's logs, counters and progress? The extension that writes them.

It offers itself as ``Crawl.report``; the frontier calls ``finished`` for each final disposition, ``flush`` before each
batch, and ``take_tallies`` for what the batch adds to the counters. Settings are those that hold at the moment.
"""

from __future__ import annotations

import logging
import os
import resource
from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model import status
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.model.revisit import counted_size
from heritrix_scrapy.report import crawled, json_line, launch, progress
from heritrix_scrapy.report.desk import Desk
from heritrix_scrapy.report.figures import Figures, Moment, add
from heritrix_scrapy.report.log_line import error_line, failure_entry, line
from heritrix_scrapy.report.logs import CRAWL, JSON_CRAWL, NONFATAL_ERRORS, PROGRESS, RUNTIME_ERRORS, URI_ERRORS, Logs
from heritrix_scrapy.report.reports import REPORTS, name_of
from heritrix_scrapy.report.tally import Ends, by_status
from heritrix_scrapy.report.times import log17
from heritrix_scrapy.report.traces import told
from heritrix_scrapy.settings import job_file, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Seconds between two looks at the clock, and for how long each of them prints a line.
LOOK = 5.0
EAGER = 60.0
#: Hosts that are remembered as visited, so that not each answer looks them up.
MOST_VISITED = 20_000


class ReportExtension:
    """Writes the logs in JOBDIR/logs, keeps the counters, tells the progress."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._modern = self._view.profile != "heritrix"
        self._logs = Logs(self._directory, largest=lambda: self._view.log_max_bytes, now_ms=crawl.clock.now_ms)
        self._figures = Figures(self._stored, self._walk)
        crawl.hosts.others.append(self._figures.drain)
        #: Adds to the counters of parts, ``warc/...``, ``step/...``.
        self.count = self._figures.count
        #: Extractors read a URI: their names, and how many links each found.
        self.extracted = self._figures.extracted
        #: Makes the reports.
        self.desk = Desk(crawl, self._settings, self._figures, self._totals, self._frontier_says)
        self._begun = False
        self._counters: Counter[str] = Counter()
        self._pending: Counter[str] = Counter()
        self._ends = Ends(modern=self._modern)
        #: Counters that the frontier has not asked for yet.
        self._untaken: Counter[str] = Counter()
        #: Hosts that are known to have answered.
        self._visited: set[str] = set()
        self._pending_since = 0.0
        self._timer: Any = None
        self._began = self._told = self._noted = 0.0
        self._notes: list[str] | None = []
        self._windows: dict[str, progress.Window] = {}
        self._first = progress.Progress()
        self._last_said: Mapping[str, Any] | None = None
        check_reports(self._settings)
        crawl.settings_tests.append(check_reports)
        crawl.report = self
        crawl.steering.add("report", self.desk.report, steers=False)
        if not crawl.looking:
            crawl.before_close.append(self._last_reports)
        if self._launch_dirs:
            launch.enter(crawl.jobdir, launch.latest(crawl.jobdir.root))
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # -- what the frontier calls ---------------------------------------------------------------------------

    def finished(self, curi: CrawlURI) -> None:
        """Write the URI's line, and what went wrong with it into the log for that."""
        view, code = self._settings.view, curi.status
        now = self._crawl.clock.now_ms()
        text = self._line(curi, now)
        self._logs.append(CRAWL, text)
        if view.json_crawl_log:
            extra, sizes = view.json_crawl_log_extra_fields, view.annotate_content_size
            self._logs.append(JSON_CRAWL, json_line.line(curi, now, extra, content_size=sizes, modern=self._modern))
        blamed = None
        if code < 0 and status.lookup(code).runtime_error:
            blamed = culprit(curi)
            trace = [curi.error_text or "no further information"] if blamed is None else told(*blamed)
            self._logs.append(RUNTIME_ERRORS, failure_entry(text, trace))
        if curi.errors or curi.link_errors:
            self._errors(curi, now, text, blamed)
        host = self._crawl.hosts.name_of(curi.uri)
        if code > 0 and host not in self._visited:
            self._visit(host)
        self._figures.finished(curi, host, seeds=view.track_seeds, sources=view.track_sources)
        self._ends.add(curi)

    def take_tallies(self) -> Mapping[str, int]:
        """Counters, with what is added to each by the URIs that finished since this was asked last."""
        self._count_ends()
        taken, self._untaken = self._untaken, Counter()
        return taken

    def pending(self, curi: CrawlURI) -> None:
        """Write the line of a URI that still waits."""
        self._logs.append(CRAWL, self._line(curi, self._crawl.clock.now_ms()))

    def retried(self, curi: CrawlURI) -> None:
        """A try failed and another follows: its errors are logged, the URI is not (Heritrix:
        AbstractFrontier.logNonfatalErrors)."""
        if curi.errors or curi.link_errors:
            now = self._crawl.clock.now_ms()
            self._errors(curi, now, self._line(curi, now))
        if self._view.track_seeds:
            self._figures.retried(curi)

    def seed_added(self, uri: str, written: str = "") -> None:
        """A seed was announced."""
        if self._view.track_seeds:
            self._figures.seed_added(uri)

    def non_seed_line(self, line: str) -> bool:
        """A line that is no seed is nothing for the reports."""
        return False

    def seeds_read(self) -> None:
        """Seeds may be announced later, too."""

    def line(self, name: str, text: str) -> None:
        """Add a line of another room's, with the time in front."""
        self._logs.append(name, f"{log17(self._crawl.clock.now_ms())} {text}\n")

    def progress_note(self, word: str, message: str) -> None:
        """Tell a change of state; before the legend is written the line waits for it."""
        now = self._crawl.clock.now_ms()
        text = progress.note(now, word, message) + "\n"
        if self._notes is not None:
            self._notes.append(text)
            return
        if word == "PAUSED":
            text = progress.line(now, self._moment("log"), modern=self._modern) + "\n" + text
        self._logs.append(PROGRESS, text)

    def flush(self) -> Mapping[str, int]:
        """Write the logs out; name → length. Raises StorageFull."""
        if self._crawl.frontier is not None and self._crawl.bridge.is_closing():
            # the last flushes: afterwards the store is closed and cannot be asked
            self._last_said = self._crawl.frontier.status()
        now = self._crawl.clock.monotonic()
        if now - self._pending_since >= 1:
            self._pending_since = now
            self._give_stats()
        self._begin(new=True)
        lengths = self._logs.flush()
        return launch.labelled(self._crawl.jobdir.launch, lengths)

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """The logs end as ``LOG.NAME`` at a checkpoint of that name, and begin anew. Raises StorageFull, OSError."""
        ended = self._logs.rotate(directory.name)

        def complete() -> None:
            for path in ended:
                sync_file(path)

        return complete

    async def write_reports(self) -> None:
        """Write the reports of the settings while the crawl goes on."""
        await self.desk.write_meanwhile()

    def progress_line(self) -> str:
        """A line of progress-statistics.log, as of now."""
        return progress.line(self._crawl.clock.now_ms(), self._moment("checkpoint"), modern=self._modern)

    def sync(self) -> None:
        """Have the crawl log on the disk."""
        self._logs.sync()

    def recover(self, lengths: Mapping[str, int]) -> int:
        """On opening a crawl that goes on: torn lines are cut, and lines will be appended; where launches have folders,
        those of this one go into its own. A crawl that was not recovered is a new one; the logs of the one before are
        moved aside.

        How many whole lines of the crawl log stand beyond its stored length; -1 when it is shorter.
        """
        before, known = launch.split(lengths)
        own = self._launch_dirs and self._crawler.crawling
        if own or before != self._crawl.jobdir.launch:
            beyond = launch.settle(self._crawl.jobdir.root, lengths)
            self._begin(new=own)
            return beyond
        self._begin(new=False)
        return self._logs.recover(known)

    # -- what Scrapy calls ---------------------------------------------------------------------------------

    def spider_opened(self) -> None:
        self._begin(new=True)
        self._began = self._told = self._noted = self._crawl.clock.monotonic()
        self._first = self._moment("start")
        self._ends.types.update(name[5:] for name in self._totals() if name.startswith("mime/"))
        if self._crawl.looking:
            return
        self._logs.append(PROGRESS, progress.LEGEND + "\n" + "".join(self._notes or ()))
        self._notes = None
        self._timer = create_looping_call(self._look)
        self._timer.start(LOOK, now=False)

    def spider_closed(self, reason: str) -> None:
        if self._timer is not None and self._timer.running:
            self._timer.stop()
        if not self._crawl.looking:
            now, moment = self._crawl.clock.now_ms(), self._moment("log")
            self._logs.append(PROGRESS, progress.line(now, moment, modern=self._modern) + "\n")
            life = self._crawl.life
            self._logs.append(PROGRESS, progress.note(now, "ENDED", reason if life is None else life.end_text) + "\n")
            self._say_end(reason)
        try:
            self._logs.flush()
        except StorageFull as error:
            logger.error("the logs are not complete: %s", error)
        self._logs.close()
        self._give_stats()
        self._give_frontier()

    # -- inside --------------------------------------------------------------------------------------------

    @property
    def _view(self) -> Any:
        return self._settings.view

    @property
    def _launch_dirs(self) -> bool:
        return bool(self._view.launch_dirs) and not self._crawl.jobdir.temporary

    def _begin(self, *, new: bool) -> None:
        """Settle where the logs lie before anything is written: where they were, or clear of what was before. Raises
        StorageFull."""
        if self._begun:
            return
        jobdir = self._crawl.jobdir
        if self._launch_dirs and (new or launch.latest(jobdir.root) is None):
            name = launch.begin(jobdir.root, self._crawl.clock.now_ms())
            job = job_file.in_force(self._view.job, jobdir.root)
            if job is not None:
                launch.copy_job(jobdir.root / name, job)
            launch.enter(jobdir, name)
            self._begun = True
            return
        self._begun = True
        if new:
            self._logs.move_aside()

    def _stored(self, key: bytes) -> bytes | None:
        return None if self._crawl.store is None else self._crawl.store.get(key)

    def _walk(self, start: bytes, stop: bytes) -> Iterable[tuple[bytes, bytes]]:
        return () if self._crawl.store is None else self.desk.walked(self._crawl.store.range(start, stop))

    def _count_ends(self) -> None:
        counters = self._ends.take()
        add(self._pending, counters)
        if self._untaken:
            add(self._untaken, counters)
        else:
            self._untaken = counters

    def _visit(self, host: str) -> None:
        """A host answered, perhaps for the first time."""
        if not host or host.endswith(":"):
            return
        if not self._crawl.hosts.scheduled(host).responses:
            self._figures.count({"hosts/visited": 1})
        if len(self._visited) >= MOST_VISITED:
            self._visited.clear()
        self._visited.add(host)

    def _last_reports(self) -> None:
        """The crawl is over, and its store is still open."""
        self._take_down(self._moment("plot"))
        self.desk.end_threads()
        self.desk.write_all()

    def take_snapshot(self) -> None:
        """What is done once in an interval: a moment for rates, plot and stats."""
        self._take_down(self._moment("log"))
        self._give_stats()
        self._give_frontier()

    def _take_down(self, moment: progress.Progress) -> None:
        life = self._crawl.life
        self._figures.take_down(
            Moment(
                0 if life is None else life.ran_ms(),
                moment.discovered,
                moment.queued,
                moment.downloaded,
                moment.failures,
                moment.bytes_total,
            )
        )

    def _directory(self) -> Path:
        self._begin(new=True)
        return self._crawl.jobdir.logs

    def _line(self, curi: CrawlURI, now_ms: int) -> str:
        view, modern = self._settings.view, self._modern
        extra = view.log_extra_info
        if extra and curi.uri.startswith("http") and curi.content_size > 0:
            curi.extra_info["contentSize"] = curi.content_size if modern else counted_size(curi, heritrix=True)
        return line(curi, now_ms, extra_info=extra, content_size=view.annotate_content_size, modern=modern)

    def _errors(
        self, curi: CrawlURI, now_ms: int, text: str, blamed: tuple[str, BaseException | str] | None = None
    ) -> None:
        """``blamed``: what ended it, which stands in runtime-errors.log."""
        for problem, message in curi.link_errors:
            self._logs.append(URI_ERRORS, error_line(now_ms, curi.uri, message, problem))
        # Heritrix has no word for a name that does not exist
        silent = not self._modern and curi.uri.startswith("dns:")
        errors = [] if silent else [each for each in curi.errors if each is not blamed]
        for where, error in errors:
            self._logs.append(NONFATAL_ERRORS, failure_entry(text, told(where, error)))
        self._pending["errors/uri"] += len(curi.link_errors)
        self._pending["errors/nonfatal"] += len(errors)

    def _give_stats(self) -> None:
        """What gathered goes into Scrapy's stats; done about once a second."""
        self._count_ends()
        pending, self._pending = self._pending, Counter()
        self._counters.update(pending)
        pending.update(self._figures.take_news())
        self._crawl.add_stats({name: count for name, count in pending.items() if count})

    def _give_frontier(self) -> None:
        """The frontier's own counters, over the whole crawl, as they stand now."""
        self._crawl.set_stats(
            {
                f"frontier/{name.replace(' ', '_')}": count
                for name, count in self._frontier_says().items()
                if isinstance(count, int)
            }
        )

    def _frontier_says(self) -> Mapping[str, Any]:
        if self._last_said is not None:
            return self._last_said
        frontier = self._crawl.frontier
        return {} if frontier is None else frontier.status()

    def _look(self) -> None:
        """Five seconds have passed: say how far the crawl is, when it is time to."""
        now = self._crawl.clock.monotonic()
        interval = max(float(self._view.interval_seconds), LOOK)
        if now - self._began <= EAGER or now - self._told >= interval:
            self._told = now
            logger.info("progress: %s", progress.sentence(self._moment("terminal")))
        if now - self._noted >= interval:
            self._noted = now
            moment = self._moment("log")
            text = progress.line(self._crawl.clock.now_ms(), moment, modern=self._modern)
            self._logs.append(PROGRESS, text + "\n")
            self._take_down(moment)
        self._give_stats()
        self._give_frontier()

    def _totals(self) -> Counter[str]:
        """Counters over the whole crawl, as the frontier keeps them; without one, of this run."""
        frontier = self._crawl.frontier
        if frontier is None:
            self._count_ends()
            return self._counters + self._pending
        return Counter(frontier.tallies())

    def _moment(self, of: str) -> progress.Progress:
        """The crawl now; rates since the last moment of the same kind."""
        now = self._crawl.clock.monotonic()
        counted = self._totals()
        said = self._frontier_says()
        queues: Mapping[str, int] = said.get("queues", {})
        busy, snoozed = queues.get("in process", 0), queues.get("snoozed", 0)
        active = busy + queues.get("ready", 0) + snoozed
        listed = active + queues.get("inactive", 0)
        queued = int(said.get("queued", 0))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        moment = progress.Progress(
            discovered=said.get("discovered", counted["uris/finished"]),
            queued=queued,
            downloaded=counted["uris/downloaded"],
            failures=counted["uris/failed"],
            busy=self._crawl.bridge.in_process(),
            bytes_total=crawled.total_bytes(crawled.of_counters(counted)),
            memory_kib=memory,
            heap_kib=memory,
            congestion=progress.ratio(listed, busy + snoozed),
            deepest=int(said.get("longest", -1)),
            average_depth=queued // listed if listed else 0,
        )
        life, began_ms = self._crawl.life, int(self._began * 1000)
        window = self._windows.get(of)
        if window is None:
            window = self._windows[of] = progress.Window(start=(began_ms, self._first))
        age_ms, before = window.before(int(now * 1000), moment) or (0, self._first)
        if life is None:
            progress.rates(moment, int(now * 1000) - began_ms, before, age_ms, self._first)
        else:
            progress.rates(moment, life.ran_ms(), before, age_ms)
        return moment

    def _say_end(self, reason: str) -> None:
        """Counts by status, on the terminal."""
        totals = self._totals()
        rows = [f"  {count:8d}  {code:5d}  {status.label(code)}" for code, count in by_status(totals)]
        now = (self._counters + self._pending)["uris/finished"]
        head = f"{totals['uris/finished']} URIs ended ({now} in this run, {reason}):"
        logger.info("\n".join([head, *rows]))
        places = {"logs": self._crawl.jobdir.logs, "job": self._crawl.jobdir.root}
        logger.info("%s", ", ".join(f"{name}: {path}" for name, path in places.items()))


def check_reports(settings: Any) -> None:
    """Raises ConfigurationError for a name in HERITRIX_REPORTS that is no report's."""
    for name in settings.view.reports:
        if name_of(name) is None:
            known = ", ".join(REPORTS)
            raise ConfigurationError("HERITRIX_REPORTS", name, f"no such report; there are: {known}")


def sync_file(path: Path) -> None:
    """Have the disk hold a file. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def culprit(curi: CrawlURI) -> tuple[str, BaseException | str] | None:
    """What ended a URI as -5: its last exception."""
    return next((each for each in reversed(curi.errors) if isinstance(each[1], BaseException)), None)
