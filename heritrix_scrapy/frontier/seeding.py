"""How do seeds come into a running crawl?

Those of the settings before its first fetch, many of them in slices between the engine's turns; more from a source of
the user's own, from the seeds file when the operator has edited it during a pause, and from seeds' redirects. Scope,
report and signals hear of each.
"""

from __future__ import annotations

import logging
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

    from scrapy.crawler import Crawler

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Seconds that reading seeds may take at a time while the crawl runs.
SEED_SLICE = 0.005


class Seeding:
    """The seeds of one crawl. ``queued``: called when there may be something to fetch sooner than was known."""

    def __init__(self, crawler: Crawler, queued: Callable[[], None]) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._queued = queued
        self._reader: SeedReader | None = None
        self._ended = False

    @property
    def done(self) -> bool:
        """Whether all seeds that are known at the start have been read."""
        return self._reader is None or self._reader.done

    def begin(self, frontier: Frontier, source: Any = None) -> None:
        """Read the seeds, or as many as may hold up the start. ``source``: the user's own, if any. Raises
        ConfigurationError."""
        reader = self._reader = SeedReader(
            frontier,
            [scope_of(self._crawler), *self.listeners],
            self._settings,
            source=source,
            file=self._file,
        )
        try:
            reader.begin()
        except StorageFull as error:
            raise ConfigurationError("JOBDIR", str(self._crawl.jobdir.root), str(error)) from error
        except OSError as error:
            raise ConfigurationError("HERITRIX_SEEDS", str(error.filename), str(error.strerror or error)) from error
        if source is not None and hasattr(source, "started"):
            source.started(self._add)
        self._crawler.signals.connect(self._resumed_by_operator, crawl_resumed)
        if not reader.done:
            call_later(0, self._read_on)

    def end(self) -> None:
        """No more of them."""
        self._ended = True

    def _read_on(self) -> None:
        """Some more of the seeds, between the crawl's own turns."""
        reader = self._reader
        if self._ended or reader is None:
            return
        end = self._crawl.clock.monotonic() + SEED_SLICE
        try:
            reader.go_on(lambda: self._crawl.clock.monotonic() >= end)
        except StorageFull as error:
            self._crawl.bridge.pause(str(error))
        except Exception:
            logger.exception("not all seeds could be read")
            self._reader = None
        self._crawl.bridge.kick()
        if not reader.done:
            call_later(SEED_SLICE, self._read_on)

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
            added = self._reader.reread()
        except (OSError, StorageFull) as error:
            logger.error("HERITRIX_SEEDS: the file has changed, and could not be read: %s", error)
            return
        if added is not None:
            logger.info("HERITRIX_SEEDS: the file has changed; %d seeds in it are new", added)
            self._queued()

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
