"""When is a checkpoint made of a running crawl, and how is one started from? The Scrapy extension.

On a timer, on request and at the end. The crawl stands still while its last rows are written and its files are linked:
some milliseconds. What takes longer, copies and fsyncs, is done in a thread while it goes on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.utils.asyncio import call_later

from heritrix_scrapy.archive.pool import WarcPool
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.journal import NAME as JOURNAL
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate import checkpoints, record
from heritrix_scrapy.operate.checkpoints import About
from heritrix_scrapy.report.logs import NAMES
from heritrix_scrapy.report.progress import LEGEND
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.signals import checkpointed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

logger = logging.getLogger(__name__)

#: Seconds for which the end of a crawl waits for a checkpoint that is being completed.
LONGEST = 60.0
#: Why a checkpoint was made.
ASKED, TIMER, SHUTDOWN = "on request", "on the timer", "at the end"


class Held(NamedTuple):
    """A checkpoint whose files are linked and not yet complete."""

    path: Path
    about: About
    rest: list[Callable[[], None]]
    words: str


class CheckpointExtension:
    """Makes checkpoints of the crawl, and has it begin with the one that ``HERITRIX_CHECKPOINT`` names."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        begin(crawl)
        self._settings = settings_of(crawler)
        self._number = 0
        #: Minutes between two checkpoints when the timer was set.
        self._minutes = 0.0
        self._closed = False
        self._making: asyncio.Task[Any] | None = None
        #: Set while no thread completes a checkpoint.
        self._whole = threading.Event()
        self._whole.set()
        self._reporting: asyncio.Future[None] | None = None
        self._timer: CallLaterResult | None = None
        self._ticked: asyncio.Task[None] | None = None
        crawl.steering.add("checkpoint", self.checkpoint)
        crawl.steering.add("checkpoints", self.checkpoints, steers=False)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def _root(self) -> Path:
        return self._crawl.jobdir.root

    # -- what can be asked -----------------------------------------------------------------------------------

    async def checkpoint(self, remark: str = "") -> dict[str, Any]:
        """Make a checkpoint. No ``checkpoint`` in the answer: nothing has happened since the last one."""
        return await self.make(ASKED, remark)

    def checkpoints(self) -> dict[str, Any]:
        """The checkpoints that the job can be started from."""
        return {"checkpoints": checkpoints.rows(checkpoints.listed(self._root))}

    # -- what Scrapy says ------------------------------------------------------------------------------------

    def spider_opened(self) -> None:
        crawl = self._crawl
        if crawl.jobdir.temporary or crawl.looking:
            return
        if left := checkpoints.sweep(self._root):
            logger.warning("checkpoints that were not completed are removed: %s", ", ".join(left))
        crawl.before_close.append(self._at_the_end)
        crawl.settings_changed.append(self._settings_changed)
        self._arm()

    def _settings_changed(self) -> None:
        """Another pause between two checkpoints begins now."""
        if self._closed or self._minutes == self._settings.view.checkpoint_interval_minutes:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._arm()

    async def spider_closed(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for task in (self._making, self._reporting):
            if task is not None and not _over(task):
                await asyncio.wait([task])

    # -- making ----------------------------------------------------------------------------------------------

    async def make(self, reason: str, remark: str = "") -> dict[str, Any]:
        """Make a checkpoint and tell of it. Raises Refused, and when it fails."""
        if not _over(self._making):
            raise Refused("a checkpoint is being made")
        if (waits := self._unwanted()) is not None:
            self._crawl.add_stats({"checkpoints/skipped": 1})
            return {"checkpoint": None, "reason": waits}
        held = self._hold(reason, remark, rotate=True)
        self._whole.clear()
        self._making = asyncio.ensure_future(self._completed(held))
        return await asyncio.shield(self._making)

    async def _completed(self, held: Held) -> dict[str, Any]:
        clock = self._crawl.clock
        began = clock.monotonic()
        try:
            await asyncio.to_thread(self._complete, held)
        except OSError as error:
            self._failed(held.path, error)
            raise Refused(f"the checkpoint could not be made: {error}") from error
        except BaseException as error:
            self._failed(held.path, error)
            raise
        seconds = clock.monotonic() - began + held.about.paused_ms / 1000
        try:
            await asyncio.to_thread(self._forget_others, held)
        except OSError as error:
            logger.error("the logs of earlier checkpoints could not be put together: %s", error)
        told = self._told(held, seconds)
        report = self._crawl.report
        if report is not None and self._settings.view.reports_at_checkpoints and _over(self._reporting):
            self._reporting = asyncio.ensure_future(report.write_reports())
        return told

    def _unwanted(self) -> str | None:
        """Why no checkpoint is made now, None when one is. Raises Refused where there cannot be one."""
        crawl = self._crawl
        if crawl.jobdir.temporary:
            raise Refused("a crawl without JOBDIR has no checkpoints")
        if crawl.frontier is None or crawl.report is None or self._closed:
            raise Refused("the crawl has not begun, or is over")
        if not crawl.frontier.alive() and not self._settings.view.run_while_empty:
            raise Refused("nothing is queued: a crawl that begins with this checkpoint would be over at once")
        there = checkpoints.listed(self._root)
        if there and there[-1].about.counts == self._counts():
            return f"no progress since {there[-1].name}"
        return None

    def _counts(self) -> dict[str, int]:
        assert self._crawl.frontier is not None
        return checkpoints.counts(self._crawl.frontier.status(), self._root)

    def _hold(self, reason: str, remark: str, *, rotate: bool) -> Held:
        """Link what is to be kept, as it is now. Raises Refused; then nothing is left of it."""
        crawl = self._crawl
        frontier, report = crawl.frontier, crawl.report
        assert frontier is not None
        assert report is not None
        now, began = crawl.clock.now_ms(), crawl.clock.monotonic()
        path = checkpoints.folder(self._root) / self._next_name(now)
        words = f"{LEGEND}\n{report.progress_line()}\n"
        try:
            path.mkdir(parents=True)
            rest = [frontier.checkpoint(path / "frontier")]
            about = About(
                name=path.name,
                made_ms=now,
                reason=reason,
                remark=remark,
                rotated=rotate,
                logs=dict(report.flush()),
                warcs={name: size for warcs in self._warcs() for name, size in warcs.growing().items()},
                counts=self._counts(),
                tallies=dict(frontier.tallies()),
                jobdir=str(self._root),
                launch=crawl.jobdir.launch or "",
                started_ms=record.read(self._root).started_ms,
                ran_ms=0 if crawl.life is None else crawl.life.ran_ms(),
            )
            rest += [durable.checkpoint(path / name) for name, durable in crawl.durables.items()]
            if rotate:
                if self._settings.view.warc_start_new_files_on_checkpoint:
                    for warcs in self._warcs():
                        warcs.close_idle()
                rest.append(report.checkpoint(path))
                frontier.end_journal(path.name)
                frontier.touch()
        except (OSError, StorageFull) as error:
            self._failed(path, error)
            raise Refused(f"the checkpoint could not be made: {error}") from error
        except BaseException as error:
            self._failed(path, error)
            raise
        about.paused_ms = round((crawl.clock.monotonic() - began) * 1000, 1)
        return Held(path, about, rest, words)

    def _warcs(self) -> list[WarcPool]:
        return [archive for archive in self._crawl.archives if isinstance(archive, WarcPool)]

    def _next_name(self, now_ms: int) -> str:
        names = [path.name for path in checkpoints.found(self._root)]
        names.append(record.read(self._root).checkpoint)
        # a failed attempt has used its number
        self._number = max(checkpoints.next_number(names), self._number + 1)
        return checkpoints.name_of(self._number, now_ms)

    def _complete(self, held: Held) -> None:
        try:
            for complete in held.rest:
                complete()
            checkpoints.seal(held.path, held.about, held.words, self._root)
        finally:
            self._whole.set()

    def _forget_others(self, held: Held) -> None:
        if self._settings.view.forget_all_but_latest:
            checkpoints.forget(self._root, held.path.name)
            if held.about.rotated:
                checkpoints.merge(self._crawl.jobdir.logs, (*NAMES, JOURNAL), held.path.name)

    def _failed(self, path: Path, error: BaseException) -> None:
        checkpoints.remove(path)
        self._crawl.add_stats({"checkpoints/failed": 1})
        logger.error("the checkpoint %s could not be made: %s", path.name, error)
        if isinstance(error, StorageFull) and not self._crawl.bridge.is_closing():
            self._crawl.bridge.pause(error)

    def _told(self, held: Held, seconds: float) -> dict[str, Any]:
        crawl, about = self._crawl, held.about
        crawl.add_stats({"checkpoints/made": 1})
        crawl.set_stats({"checkpoints/last_paused_ms": round(about.paused_ms)})
        remark = f" - {about.remark}" if about.remark else ""
        logger.info(
            "checkpoint %s, %s: the crawl waited %.0f ms, complete after %.1f s",
            held.path.name,
            about.reason,
            about.paused_ms,
            seconds,
        )
        if crawl.life is not None:
            crawl.life.note(f"CHECKPOINTED {held.path.name}{remark}")
        self._crawler.signals.send_catch_log(
            signal=checkpointed, name=held.path.name, directory=held.path, spider=self._crawler.spider
        )
        return {
            "checkpoint": held.path.name,
            "path": str(held.path),
            "paused_ms": about.paused_ms,
            "seconds": round(seconds, 3),
        }

    # -- on the timer and at the end -------------------------------------------------------------------------

    def _arm(self) -> None:
        minutes = self._minutes = self._settings.view.checkpoint_interval_minutes
        if minutes > 0:
            self._timer = call_later(minutes * 60, self._tick)

    def _tick(self) -> None:
        self._ticked = asyncio.ensure_future(self._timed())
        self._arm()

    async def _timed(self) -> None:
        if self._crawl.bridge.is_closing():
            return
        try:
            await self.make(TIMER)
        except Refused as refused:
            logger.info("no checkpoint on the timer: %s", refused)
        except Exception:
            """It has been told."""

    def _at_the_end(self) -> None:
        """The crawl stops with URIs left. The logs keep their names: the next launch appends to them."""
        frontier = self._crawl.frontier
        try:
            if self._settings.view.checkpoint_on_shutdown and frontier is not None and frontier.alive():
                self._last()
        finally:
            # the store is closed next
            self._closed = True

    def _last(self) -> None:
        began = self._crawl.clock.monotonic()
        if not self._whole.wait(LONGEST):
            logger.error("no checkpoint at the end: another is being made still")
            return
        try:
            if self._unwanted() is not None:
                return
            held = self._hold(SHUTDOWN, "", rotate=False)
            try:
                self._complete(held)
            except (OSError, StorageFull) as error:
                self._failed(held.path, error)
                return
            except BaseException as error:
                self._failed(held.path, error)
                raise
            try:
                self._forget_others(held)
            except OSError as error:
                logger.error("the logs of earlier checkpoints could not be put together: %s", error)
            self._told(held, self._crawl.clock.monotonic() - began)
        except Refused as refused:
            logger.error("no checkpoint at the end: %s", refused)
        except Exception:
            # what is left to do at the end is done all the same
            logger.exception("no checkpoint at the end")


def _over(task: asyncio.Future[Any] | None) -> bool:
    return task is None or task.done()


def begin(crawl: Crawl) -> None:
    """Put the checkpoint that ``HERITRIX_CHECKPOINT`` names into the JOBDIR, once, before anything is read from it.
    Raises ConfigurationError."""
    wanted = crawl.crawler.settings.get(checkpoints.SETTING)
    if crawl.looking or crawl.began_with:
        return
    if not wanted:
        if not crawl.jobdir.temporary and checkpoints.end_return(crawl.jobdir.root):
            logger.warning("%s: going back to a checkpoint was cut off, and is completed", crawl.jobdir.root)
        return
    if crawl.jobdir.temporary:
        raise ConfigurationError(checkpoints.SETTING, wanted, "a JOBDIR is needed")
    found = checkpoints.begin(str(wanted), crawl.jobdir.root, crawl.clock.now_ms())
    crawl.began_with = found.name
    crawl.moved = Path(found.about.jobdir), found.path.resolve().parents[1]
    logger.info("beginning with the checkpoint %s", found.path)
