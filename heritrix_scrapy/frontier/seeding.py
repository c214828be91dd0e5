"""How do seeds come into a running crawl?

Those of the settings before its first fetch, many of them in slices between the loop's turns: whoever looks at the job
or stops it meanwhile need not wait. More from a source of
the user's own, from the seeds file when the operator has edited it during a pause, and from seeds' redirects. Scope,
report and signals hear of each.
"""

from __future__ import annotations

import logging
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.seeds import SeedReader, appended
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.scope import scope_of
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.settings.validate import in_project
from heritrix_scrapy.signals import SeedSignal, crawl_resumed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Lines that the start itself reads.
AT_ONCE = 200
#: Seconds that reading seeds may take at a time while the crawl runs, and while it waits for them.
SEED_SLICE = 0.005
LONG_SLICE = 0.010
#: Seconds until it is tried again when the disk is full.
STORE_AGAIN = 1.0


class Seeding:
    """The seeds of one crawl. ``queued``: called when there may be something to fetch sooner than was known;
    ``enqueue``: takes a Request of the spider's that had to wait."""

    def __init__(self, crawler: Crawler, queued: Callable[[], None], enqueue: Callable[[Request], object]) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._queued = queued
        self._enqueue = enqueue
        self._reader: SeedReader | None = None
        self._reading = False
        self._ended = False
        #: The spider's Requests that the scope is to be asked about when it has heard of the seeds.
        self._early: deque[Request] = deque()
        self._judging = False
        #: What is to be logged at the end.
        self._told = ""

    @property
    def done(self) -> bool:
        """Whether all seeds that are known have been read."""
        return (self._reader is None or self._reader.done) and not self._early

    @property
    def holds(self) -> bool:
        """Whether the crawl is not to begin yet."""
        return self._reader is not None and self._reader.holds

    def wait(self, request: Request) -> bool:
        """Have a Request of the spider's come again when the scope has heard of the seeds; False when it has."""
        if self._judging or not (self.holds or self._early):
            return False
        self._early.append(request)
        return True

    def begin(self, frontier: Frontier, source: Any = None) -> None:
        """Read the seeds, or as many as may hold up the start. ``source``: the user's own, if any. Raises
        ConfigurationError."""
        self._frontier = frontier
        reader = self._reader = SeedReader(
            frontier,
            [scope_of(self._crawler), *self.listeners],
            self._settings,
            source=source,
            file=self._file,
        )
        try:
            reader.begin(AT_ONCE)
        except StorageFull as error:
            raise ConfigurationError("JOBDIR", str(self._crawl.jobdir.root), str(error)) from error
        except OSError as error:
            raise ConfigurationError("HERITRIX_SEEDS", str(error.filename), str(error.strerror or error)) from error
        if source is not None and hasattr(source, "started"):
            source.started(self._add)
        self._crawler.signals.connect(self._resumed_by_operator, crawl_resumed)
        self._crawl.settled = lambda: not self.holds
        self._go_on()

    def _go_on(self) -> None:
        if not self._reading and not self.done:
            self._reading = True
            call_later(0, self._read_on)

    def end(self) -> None:
        """No more of them."""
        self._ended = True

    def _read_on(self) -> None:
        """Some more of the seeds, between the crawl's own turns; each time they are written, so that no batch of them
        takes long."""
        self._reading = False
        reader = self._reader
        if self._ended or reader is None:
            return
        held, crawl, pause = reader.holds, self._crawl, 0.0 if reader.holds else SEED_SLICE
        end = crawl.clock.monotonic() + (LONG_SLICE if held else SEED_SLICE)

        def enough() -> bool:
            return crawl.clock.monotonic() >= end or reader.holds != held

        try:
            reader.go_on(enough)
            self._frontier.flush(crawl.clock.now_ms())
            if reader.done and self._told:
                logger.info("HERITRIX_SEEDS: %s; %d seeds in it are new", self._told, reader.queued)
                self._told = ""
        except StorageFull as error:
            crawl.bridge.pause(str(error))
            pause = STORE_AGAIN
        except Exception:
            logger.exception("not all seeds could be read")
            self._reader = None
        if not self.holds:
            self._take_early(end)
        crawl.bridge.kick()
        self._queued()
        if not self.done:
            self._reading = True
            call_later(pause, self._read_on)

    def _take_early(self, end: float) -> None:
        self._judging = True
        while self._early:
            self._enqueue(self._early.popleft())
            if self._crawl.clock.monotonic() >= end:
                break
        self._judging = False

    def _add(self, lines: Iterable[str]) -> int:
        """What a source of seeds may call while the crawl runs: how many of the lines were new seeds."""
        if self._ended or self._reader is None:
            return 0
        added = self._reader.more(lines)
        self._queued()
        self._crawl.bridge.kick()
        return added

    def _resumed_by_operator(self) -> None:
        """The seeds file may have been edited during the pause."""
        if self._ended or self._reader is None:
            return
        try:
            if self._reader.reread():
                self._told = "the file has changed"
                self._go_on()
        except OSError as error:
            logger.error("HERITRIX_SEEDS: the file has changed, and could not be read: %s", error)

    @property
    def _file(self) -> Path | None:
        """The seeds file, where HERITRIX_SEEDS names one."""
        named = self._crawler.settings.get("HERITRIX_SEEDS")
        if not named or not isinstance(named, str | Path) or "\n" in str(named) or "://" in str(named):
            return None
        path = in_project(Path(named))
        return path if path.is_file() else None

    @property
    def listeners(self) -> list[Any]:
        """Who hears of seeds besides the scope."""
        told = SeedSignal(self._crawler)
        return [told] if self._crawl.report is None else [self._crawl.report, told]

    def found(self, curi: CrawlURI) -> None:
        """A URI became a seed while the crawl runs."""
        scope_of(self._crawler).seed_found(curi)
        if self._crawl.report is not None:
            self._crawl.report.seed_added(curi.uri)
        SeedSignal(self._crawler).seed_added(curi.uri)
        if curi.via and self._settings.view.seed_file_append and (path := self._file) is not None:
            try:
                with path.open("a", encoding="utf-8") as file:
                    file.write(appended(curi.uri, curi.via))
            except OSError as error:
                logger.error("%s: the seed %s could not be added: %s", path, curi.uri, error)
