"""In which state is this crawl, and who is told? The Scrapy extension around ``life``.

It hears from the engine's bridge and the scheduler what happens, and tells ``state.json``, the job's log, the
progress log, Scrapy's stats and everyone connected to ``state_changed``.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.engine import set_exit_status
from heritrix_scrapy.operate import life, limits, record
from heritrix_scrapy.operate.alerts import NAME as ALERTS
from heritrix_scrapy.operate.alerts import Alerts
from heritrix_scrapy.operate.elapsed import Elapsed
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.life import End, Life, State, description
from heritrix_scrapy.report.times import ts14
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.signals import alert_raised, crawl_ended, state_changed

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds between two words about what is still in flight while the crawl stops, and so many URIs are named.
STOPPING_LOOK = 5.0
NAMED = 3


class LifeExtension:
    """Keeps the state of the job, as ``Crawl.life``."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._life = Life(self._changed)
        self._elapsed = Elapsed()
        self._record = record.Record()
        self._log = JobLog(self._crawl.jobdir.root) if self._kept else None
        self._reason = self._closed_for = ""
        self._started = asyncio.Event()
        self._alerts = 0
        #: Alerts of the start, until the job is ours and its logs have their place.
        self._early: list[tuple[str, str]] | None = []
        self._handler = Alerts(self._alert, self._concerns)
        self._look: Any = None
        self._grace_until = 0.0
        if not self._crawl.looking:
            self._crawl.life = self
            self._crawl.bridge.watcher = self
            logging.getLogger().addHandler(self._handler)
            crawler.signals.connect(self.spider_opened, signals.spider_opened)
            crawler.signals.connect(self.engine_started, signals.engine_started)
            crawler.signals.connect(self.spider_closed, signals.spider_closed)
            crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def _kept(self) -> bool:
        """Whether anything is left of this crawl for another process to read."""
        return not (self._crawl.looking or self._crawl.jobdir.temporary)

    # -- what others ask -----------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        return self._life.state.value

    @property
    def end_text(self) -> str:
        return self._life.end.value

    def ran_ms(self) -> int:
        return self._elapsed.ms(self._crawl.clock.monotonic())

    def told(self) -> dict[str, Any]:
        """State, end, reason and times."""
        bridge = self._crawl.bridge
        return {
            "state": self.state,
            "end": self._life.end.name,
            "description": description(self._life.state, self._life.end, alive=True),
            "reason": bridge.pause_reason or self._reason or None,
            "jobdir": str(self._crawl.jobdir.root),
            "launch": self._record.launch,
            "launches": self._record.launches,
            "started_ms": self._record.started_ms,
            "elapsed_ms": self.ran_ms(),
            "alerts": self._alerts,
        }

    def note(self, text: str, level: str = "INFO") -> None:
        """Add a line to the job's log."""
        if self._log is not None:
            self._log.write(self._crawl.clock.now_ms(), text, level)

    # -- what the scheduler says -----------------------------------------------------------------------------

    def prepare(self) -> None:
        """The launch: the job's store is ours, nothing is fetched yet."""
        clock, old = self._crawl.clock, record.read(self._crawl.jobdir.root)
        now = clock.now_ms()
        pid = os.getpid()
        self._record = record.Record(
            launches=old.launches + 1,
            launch=ts14(now),
            pid=pid,
            born=record.born(pid),
            started_ms=old.started_ms or now,
            ran_ms=old.ran_ms,
            checkpoint=old.checkpoint,
            warcs=self._elsewhere(),
        )
        self._elapsed = Elapsed(old.ran_ms)
        self._elapsed.go(clock.monotonic())
        atexit.register(self._cut_off)
        self.note("Job launched")
        self._life.prepare()

    def launched(self, *, new: bool) -> None:
        """What the store held has been read; ``new``: it is a crawl that begins."""
        if new:
            clock = self._crawl.clock
            self._elapsed = Elapsed()
            if self._life.state is not State.PAUSED:
                self._elapsed.go(clock.monotonic())
            self._record.started_ms = clock.now_ms()

    def empty(self) -> None:
        """Nothing is queued, and the crawl stays alive."""
        self._life.empty()

    def refilled(self) -> None:
        """A URI is handed out after that."""
        if self._life.state is State.EMPTY:
            self._life.run()

    async def stop(self, end: str, reason: str) -> None:
        """End the crawl, once its engine runs: one that is closed before goes on opening. ``end``: name of an end
        status."""
        self._reason = self._reason or reason
        await self._started.wait()
        await self._crawl.bridge.close_spider(end.lower())

    # -- what the engine's bridge says -----------------------------------------------------------------------

    def paused(self) -> None:
        self._life.pause(in_flight=self._crawl.bridge.in_process())

    def resumed(self) -> None:
        self._life.run()

    def moved(self) -> None:
        self._life.settle(in_flight=self._crawl.bridge.in_process())

    def closing(self, reason: str) -> None:
        end = life.end_of(reason)
        if end is End.FINISHED:
            end = self._judged()
        self._reason, self._closed_for = self._reason or reason, reason
        self._life.stop(end)
        clock = self._crawl.clock
        seconds = float(settings_of(self._crawler).view.stop_grace_seconds)
        self._grace_until = clock.monotonic() + seconds
        self._look = create_looping_call(self._say_in_flight)
        self._look.start(STOPPING_LOOK, now=False)

    # -- what Scrapy says ------------------------------------------------------------------------------------

    def spider_opened(self) -> None:
        early, self._early = self._early or [], None
        if self._log is not None:
            jobdir = self._crawl.jobdir
            self._record.launch = jobdir.launch or self._record.launch
            self._log.copy_to(jobdir.root / jobdir.launch if jobdir.launch else None)
        for level, text in early:
            self._tell_alert(level, text)
        if not self._crawl.bridge.is_paused():
            self._life.run()

    def engine_started(self) -> None:
        self._started.set()

    def spider_closed(self, reason: str) -> None:
        self._life.stop(life.end_of(reason))
        if self._look is not None and self._look.running:
            self._look.stop()
        self._elapsed.halt(self._crawl.clock.monotonic())
        stats = self._crawler.stats
        if stats is not None:
            stats.set_value("heritrix/end", self._life.end.name)
        self._crawl.set_stats({"elapsed_ms": self.ran_ms(), "alerts": self._alerts})

    def engine_stopped(self) -> None:
        logging.getLogger().removeHandler(self._handler)
        atexit.unregister(self._cut_off)
        self._finish()

    # -- inside ----------------------------------------------------------------------------------------------

    def _judged(self) -> End:
        """What a crawl has come to that has nothing left to do."""
        frontier = self._crawl.frontier
        if frontier is None:
            return End.FINISHED
        tallies = frontier.tallies()
        failed = limits.seeds_failed(tallies, settings_of(self._crawler).view.seeds_unanswered_share)
        if failed is not None:
            self._reason = failed
            logger.error("the crawl is over: %s; see crawl.log for each", failed)
            return End.FINISHED_ABNORMAL
        if not tallies:
            self._reason = "no seed was given, or none that is a URI"
            told = "the crawl is empty: %s; HERITRIX_SEEDS names them, or the spider's start() asks for them"
            settings = settings_of(self._crawler)
            if "SEEDS" in settings.explicit and settings.view.seeds and settings.view.seeds_unanswered_share:
                # seeds were meant to be there
                logger.error(told, self._reason)
                return End.FINISHED_ABNORMAL
            logger.warning(told, self._reason)
        return End.FINISHED

    def _elsewhere(self) -> list[str]:
        """Where WARC files lie that are not in the JOBDIR, and how their names begin."""
        root, view = self._crawl.jobdir.root, settings_of(self._crawler).view
        base = Path(view.warc_dir).absolute() if view.warc_dir else root
        places = [base / path for path in view.warc_store_paths or ()] or ([base] if base != root else [])
        begin = view.warc_prefix if view.warc_template.startswith("${prefix}") else ""
        return [f"{place}/{begin}" for place in places if place not in (root / "warcs", root)]

    def _finish(self) -> None:
        if self._life.state is State.FINISHED:
            return
        if self._life.state is State.NASCENT:
            # it never came to a launch
            self._life.stop(End.MISCONFIGURED)
        self._life.finish()

    def _cut_off(self) -> None:
        """The process ends while the crawl still stops: a second Ctrl-C."""
        if self._life.state is State.PREPARING:
            self._life.stop(End.MISCONFIGURED)
        self._finish()

    def _changed(self, state: State) -> None:
        clock = self._crawl.clock
        if state is State.PAUSED or state is State.FINISHED:
            self._elapsed.halt(clock.monotonic())
        elif state is not State.NASCENT:
            self._elapsed.go(clock.monotonic())
        if state is State.STOPPING or state is State.FINISHED:
            # the worst of all crawls of this process counts; a second Ctrl-C may have it end before the crawl is over
            status = life.exit_status(self._life.end, self._closed_for)
            set_exit_status(max([*life.exit_statuses, status]))
            if state is State.FINISHED:
                life.exit_statuses.append(status)
        self.save()
        if self._record.launch:
            self.note(f"{state.value} {self._crawl.jobdir.launch or self._record.launch}")
        report = self._crawl.report
        if report is not None and state in life.NOTES and state is not State.FINISHED:
            word, message = life.NOTES[state]
            report.progress_note(word, message or self._life.end.value)
        end = self._life.end.name
        self._tell(state_changed, state=state.value, end=end)
        if state is State.FINISHED:
            self._tell(crawl_ended, end=end, reason=self._reason or None)

    def _tell(self, signal: object, **details: Any) -> None:
        self._crawler.signals.send_catch_log(signal=signal, spider=self._crawler.spider, **details)

    def save(self) -> None:
        """Write down the state for other processes."""
        if not self._kept or not self._record.launch:
            return
        if self._life.state is State.FINISHED and record.of_another(self._crawl.jobdir.root, self._record):
            # the store is closed before the end: the next launch may have begun meanwhile
            return
        row, now = self._record, self._crawl.clock.now_ms()
        row.state, row.end = self.state, self._life.end.name
        row.reason = self._crawl.bridge.pause_reason or self._reason
        row.ran_ms, row.alerts = self.ran_ms(), self._alerts
        row.ended_ms = now if self._life.state is State.FINISHED else 0
        try:
            record.write(self._crawl.jobdir.root, row)
        except OSError as error:
            logger.warning("the job's state could not be written down: %s", error)

    def _say_in_flight(self) -> None:
        flights = [each for fetching in self._crawl.fetching for each in fetching.in_flight()]
        left = max(self._grace_until - self._crawl.clock.monotonic(), 0.0)
        named = ", ".join(f"{each.curi.uri} ({each.step}, {each.received} bytes)" for each in flights[:NAMED])
        more = f" and {len(flights) - NAMED} more" if len(flights) > NAMED else ""
        logger.info("stopping: %d in flight, %.0f s left: %s%s", self._crawl.bridge.in_process(), left, named, more)

    def _concerns(self, said: logging.LogRecord) -> bool:
        spider = getattr(said, "spider", None)
        return spider is None or self._crawler.spider is None or spider is self._crawler.spider

    def _alert(self, level: str, text: str) -> None:
        self._alerts += 1
        if self._early is not None:
            self._early.append((level, text))
        else:
            self._tell_alert(level, text)

    def _tell_alert(self, level: str, text: str) -> None:
        self.note(text, level)
        if self._crawl.report is not None and self._life.state is not State.FINISHED:
            self._crawl.report.line(ALERTS, f"{level} {text}")
        self._tell(alert_raised, level=level, text=text)
