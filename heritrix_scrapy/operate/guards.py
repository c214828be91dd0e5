"""What ends or pauses a crawl without anybody asking? The Scrapy extension around limits, quotas, disk and memory.

Once a second, or a statistics interval in the heritrix profile, it looks at the crawl's counters, the room on the
disks and the process's memory; quotas and the runtime limit are asked for each URI.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.engine import DISK, LIMIT
from heritrix_scrapy.frontier.finish import QUOTA
from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.operate import disk, limits, quotas
from heritrix_scrapy.operate.life import End, State
from heritrix_scrapy.operate.memory import held_mib
from heritrix_scrapy.operate.numbers import on_disk
from heritrix_scrapy.scope.factory import gate
from heritrix_scrapy.settings import settings_of, views
from heritrix_scrapy.signals import limit_reached

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.tally import Tally
    from heritrix_scrapy.settings import Settings

logger = logging.getLogger(__name__)

#: Seconds between two looks in the modern profile.
LOOK = 1.0
#: Places in the JOBDIR that may lie on file systems of their own.
FOLDERS = ("frontier", "logs", "warcs", "mirror", "history", "latest/logs", "latest/warcs")
#: Seconds between two tries to go on after a write that failed for another reason than room.
AGAIN = 60.0


class LimitExtension:
    """Holds the crawl to its limits. Raises ConfigurationError for quotas that stand for nothing."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._timer: Any = None
        self._scale: Any = None
        self._weighing: asyncio.Future[None] | None = None
        self._ending: Any = None
        self._moved_at = self._tried_at = 0.0
        self._moved: object = None
        self._tried_for, self._tried_with = "", 0
        #: Places where quotas are asked for, and whether the runtime limit is.
        self._places_asked: set[str] = set()
        self._times = False
        #: Id of a list of quotas → the list, and what was made of it: sheets may have lists of their own.
        self._parsed: dict[int, tuple[Any, list[tuple[quotas.Quota, Callable[[CrawlURI], bool] | None]]]] = {}
        if crawl.looking:
            return
        self._test(self._settings)
        self._arm()
        crawl.settings_tests.append(self._test)
        crawl.settings_changed.append(self._settings_changed)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def _view(self) -> Any:
        return self._settings.view

    def _test(self, settings: Settings) -> None:
        """Raises ConfigurationError for quotas that stand for nothing and thresholds that no disk can meet."""
        for each in views(settings):
            self._quotas(each)
        self._check_thresholds(settings)

    def _arm(self) -> None:
        """Have each URI asked for what the settings limit; where nothing is limited, none is."""
        crawl, laid = self._crawl, views(self._settings)
        for place in {quota.at for each in laid for quota, _ in self._quotas(each)} - self._places_asked:
            self._places_asked.add(place)
            crawl.limits[place].append(self._check_of(place))
        if not self._times and any(each.runtime_seconds for each in laid):
            self._times = True
            crawl.limits["before_preselector"].append(self._check_runtime)

    def _settings_changed(self) -> None:
        self._arm()
        if self._timer is not None and self._timer.running and self._interval() != self._timer.interval:
            self._stop_timers()
            self._start_timers()

    def spider_opened(self) -> None:
        self._moved_at = self._crawl.clock.monotonic()
        self._look()
        self._start_timers()

    def spider_closed(self) -> None:
        self._stop_timers()
        if not self._crawl.jobdir.temporary:
            self._crawl.set_stats({"warc/bytes_on_disk": on_disk(self._crawl.jobdir.root)})

    def _interval(self) -> float:
        interval = max(float(self._view.interval_seconds), 0.1)
        return interval if self._view.profile == "heritrix" else min(interval, LOOK)

    def _start_timers(self) -> None:
        self._timer = create_looping_call(self._look)
        self._timer.start(self._interval(), now=False)
        if not self._crawl.jobdir.temporary:
            self._scale = create_looping_call(self._weigh)
            self._scale.start(max(float(self._view.interval_seconds), 0.1))

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._scale):
            if timer is not None and timer.running:
                timer.stop()

    # -- now and then ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        life, frontier = self._crawl.life, self._crawl.frontier
        if life is None or frontier is None or self._crawl.bridge.is_closing():
            return
        tallies = frontier.tallies()
        found = limits.reached(self._view, limits.snapshot(tallies, life.ran_ms()))
        if found is None and self._view.warc_limits:
            words = limits.written(self._view.warc_limits, self._written())
            found = None if words is None else (End.FINISHED_WRITE_LIMIT, words)
        found = found or self._check_memory() or self._check_idle(tallies)
        if found is not None:
            self._end(*found)
            return
        self._check_disks()

    def _weigh(self) -> None:
        self._weighing = asyncio.ensure_future(self._weighed())

    async def _weighed(self) -> None:
        self._crawl.set_stats({"warc/bytes_on_disk": await asyncio.to_thread(on_disk, self._crawl.jobdir.root)})

    def _end(self, end: End, words: str) -> None:
        life = self._crawl.life
        assert life is not None
        logger.log(logging.WARNING if end is End.FINISHED_ABNORMAL else logging.INFO, "the crawl ends: %s", words)
        self._crawler.signals.send_catch_log(
            signal=limit_reached, end=end.name, reason=words, spider=self._crawler.spider
        )
        self._ending = asyncio.ensure_future(life.stop(end.name, words))

    def _written(self) -> dict[str, int]:
        """What writers have written in this launch, by ``TYPE/COUNTER``."""
        for archive in self._crawl.archives:
            drain = getattr(archive, "drain_counts", None)
            if drain is not None:
                self._crawl.add_stats(drain())
        stats = self._crawler.stats
        prefix = "heritrix/warc/"
        return {
            name[len(prefix) :]: count
            for name, count in ({} if stats is None else stats.get_stats()).items()
            if name.startswith(prefix)
        }

    def _check_memory(self) -> tuple[End, str] | None:
        most = self._view.memory_limit_mib
        if not most or held_mib() <= most:
            return None
        gc.collect()
        held = held_mib()
        if held <= most:
            return None
        return End.FINISHED_ABNORMAL, f"HERITRIX_MEMORY_LIMIT_MIB = {most}: the process holds {held} MiB"

    def _check_idle(self, tallies: Any) -> tuple[End, str] | None:
        seconds, life, frontier = self._view.idle_limit_seconds, self._crawl.life, self._crawl.frontier
        assert life is not None
        assert frontier is not None
        now = self._crawl.clock.monotonic()
        state = life.state
        told = frontier.status()
        moved = tallies.get("uris/finished", 0), told.get("retried"), told.get("discovered"), state
        if moved != self._moved or state not in (State.RUNNING.value, State.EMPTY.value):
            self._moved, self._moved_at = moved, now
            return None
        if not seconds or now - self._moved_at < seconds:
            return None
        if state == State.EMPTY.value:
            return End.FINISHED, f"HERITRIX_IDLE_LIMIT_SECONDS = {seconds}: nothing came into the empty frontier"
        return End.FINISHED_ABNORMAL, f"HERITRIX_IDLE_LIMIT_SECONDS = {seconds}: no URI has moved"

    # -- disks -----------------------------------------------------------------------------------------------

    def _places(self, view: Any) -> list[Path]:
        jobdir = self._crawl.jobdir
        places = [Path(each) for each in view.monitor_paths]
        if view.monitor_config_paths:
            folders = (jobdir.root / name for name in FOLDERS)
            others = (view.warc_dir, view.history_dir)
            places += [jobdir.root, *folders, *(Path(each) for each in others if each)]
        return places

    @staticmethod
    def _least(settings: Settings, room: disk.Room) -> int:
        chosen = "PAUSE_THRESHOLD_MIB" in settings.explicit
        return disk.threshold(settings.view.pause_threshold_mib, room, chosen=chosen)

    def _check_thresholds(self, settings: Settings) -> None:
        """Raises ConfigurationError for a threshold that a file system can never meet."""
        for room in disk.rooms(self._places(settings.view)):
            if self._least(settings, room) >= room.total > 0:
                raise ConfigurationError(
                    "HERITRIX_PAUSE_THRESHOLD_MIB",
                    settings.view.pause_threshold_mib,
                    f"the file system of {room.path} has {room.total // disk.MIB} MiB: the crawl could never run",
                )

    def _check_disks(self) -> None:
        bridge = self._crawl.bridge
        found = disk.rooms(self._places(self._view))
        if self._view.pause_threshold_mib:
            for room in found:
                least = self._least(self._settings, room)
                if disk.short(room, least):
                    if DISK not in bridge.pauses:
                        bridge.pause(disk.words(room, least), cause=DISK)
                    return
        if DISK in bridge.pauses and self._room_again():
            logger.info("there is room on the disk again")
            bridge.lift(DISK)

    def _room_again(self) -> bool:
        """Whether what could not be written may be tried again."""
        lack = self._crawl.bridge.lack
        if lack is None:
            return True
        path = Path(lack.path)
        while not path.exists() and path != path.parent:
            path = path.parent
        now = self._crawl.clock.monotonic()
        found = disk.rooms([path])
        room = found[0] if found else None
        if room is not None and room.usable < max(min(disk.LEAST, room.total // disk.SMALL), 2 * lack.need):
            return False
        usable = 0 if room is None else room.usable
        if now - self._tried_at < AGAIN and self._tried_for == lack.path and usable <= self._tried_with:
            # there was as much room before, and it could not be written all the same: for a quota of the user's, or
            # a folder that is gone
            return False
        self._tried_at, self._tried_for, self._tried_with = now, lack.path, usable
        return True

    # -- for each URI ----------------------------------------------------------------------------------------

    def _quotas(self, view: Any) -> list[tuple[quotas.Quota, Callable[[CrawlURI], bool] | None]]:
        made = self._parsed.get(id(view.quotas))
        if made is None:
            parsed = [
                (quota, None if quota.should_process is None else gate(self._crawler, view, quota.should_process))
                for quota in quotas.parse(view.quotas)
            ]
            made = self._parsed[id(view.quotas)] = (view.quotas, parsed)
        return made[1]

    def _check_of(self, place: str) -> Callable[[CrawlURI], None]:
        # where what a page needs first is refused, the page waits for it until that is too often
        spared = place == "after_preconditions" and self._view.profile != "heritrix"

        def check(curi: CrawlURI) -> None:
            if spared and curi.path[-1:] == hops.PREREQ:
                return
            for quota, wanted in self._quotas(curi.settings):
                if quota.at == place and quota.concerns(curi.host, curi.source_tag):
                    if wanted is not None and not wanted(curi):
                        continue
                    used = quota.used_up(self._tallies(curi))
                    if used is not None:
                        self._refuse(curi, used, retire=quota.force_retire)
                        return

        return check

    def _refuse(self, curi: CrawlURI, annotation: str, *, retire: bool) -> None:
        curi.annotate(annotation)
        name = annotation.partition(":")[2]
        self._crawl.add_stats({f"quota/{name}": 1})
        if retire and curi.class_key:
            curi.deferral, curi.retire = QUOTA, True
        else:
            curi.status = status.BLOCKED_BY_QUOTA
            curi.error_text = f"a quota is used up: {annotation}"

    def _tallies(self, curi: CrawlURI) -> dict[str, Tally]:
        hosts, frontier = self._crawl.hosts, self._crawl.frontier
        found: dict[str, Tally] = {}
        if key := server_key(curi.uri):
            found["server"] = hosts.server(key).tally
        if name := curi.host if "://" in curi.uri else f"{curi.scheme}:":
            found["host"] = hosts.host(name).tally
        tally = None if frontier is None or not curi.class_key else frontier.queue_tally(curi.class_key)
        if tally is not None:
            found["group"] = tally
        if curi.source_tag:
            found["source"] = hosts.source(curi.source_tag)
        return found

    def _check_runtime(self, curi: CrawlURI) -> None:
        life, view = self._crawl.life, curi.settings
        if life is None or not limits.outlived(view.runtime_seconds, life.ran_ms()):
            return
        words = f"HERITRIX_RUNTIME_SECONDS = {view.runtime_seconds} are over"
        if view.runtime_expiration_operation == limits.BLOCK_URIS:
            curi.status = status.BLOCKED_BY_RUNTIME_LIMIT
            curi.error_text = words
            curi.annotate(limits.expired(view.runtime_seconds, modern=view.profile != "heritrix"))
        elif view.runtime_expiration_operation == limits.TERMINATE:
            if not self._crawl.bridge.is_closing() and self._ending is None:
                self._end(End.FINISHED_TIME_LIMIT, words)
        else:
            self._crawl.bridge.pause(words, cause=LIMIT)
