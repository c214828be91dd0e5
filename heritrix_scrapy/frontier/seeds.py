"""Where does the crawl begin?

Seed lines come as a list or from a file (the setting's own reading). Each seed is announced to whoever listens,
and scheduled without being asked for its scope; another line is offered to the listeners (Heritrix:
TextSeedModule, SeedModule).
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from heritrix_scrapy.model.crawluri import MEDIUM, CrawlURI
from heritrix_scrapy.model.logins import without_login
from heritrix_scrapy.settings.files import open_text
from heritrix_scrapy.uri.seed_lines import seed_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.frontier.core import Frontier

logger = logging.getLogger(__name__)


class SeedListener(Protocol):
    """Who wants to hear of seeds: scope rules, statistics."""

    def seed_added(self, uri: str, written: str = "") -> None:
        """A seed; ``written``: its text before it was fixed up, or empty."""

    def non_seed_line(self, line: str) -> bool:
        """A line that is no seed; whether it was understood."""

    def seeds_read(self) -> None:
        """All seeds known at the start were announced."""


class SeedSource(ABC):
    """A source of seeds of the user's own, named by ``HERITRIX_SEED_SOURCE``. Where it has a method
    ``started(add)``, that is called with a function that takes more seed lines at any time while the crawl runs."""

    @abstractmethod
    def seeds(self) -> Iterable[str]:
        """Seed lines, read one by one."""


class SeedReader:
    """Reads the seeds of a crawl. ``lines``: made anew at each call; ``file``: whose lines they are, if any."""

    def __init__(
        self,
        frontier: Frontier,
        listeners: Sequence[SeedListener],
        settings: SettingsSource,
        *,
        source: SeedSource | None = None,
        file: Path | None = None,
    ) -> None:
        self._frontier = frontier
        self._listeners = listeners
        self._settings = settings
        self._source = source
        self._file = file
        self._stamp = self._looks()
        self._rest: Iterator[CrawlURI | None] | None = None
        self._begins = True
        #: So far: lines read, seeds among them, seeds that were new.
        self.lines = self.seeds = self.queued = 0

    @property
    def done(self) -> bool:
        """Whether all lines have been read."""
        return self._rest is None

    @property
    def holds(self) -> bool:
        """Whether lines that the crawl is not to begin without are still to be read."""
        awaited: int = self._settings.view.block_awaiting_seed_lines
        return self._rest is not None and self._begins and (awaited < 0 or self.lines < awaited)

    def begin(self, most: int = 1 << 62) -> None:
        """Announce and schedule the seeds: those that the crawl is not to begin without (all, or as many lines as
        ``HERITRIX_BLOCK_AWAITING_SEED_LINES`` says), but not more than ``most`` lines; ``go_on`` reads the others. On a
        resumed crawl too: the listeners have to hear of them again, and the seen filter drops the known."""
        lines: Iterable[str] = self._settings.view.seeds
        if self._source is not None:
            lines = chain(lines, self._source.seeds())
        self._rest = self._announced(lines)
        self.go_on(lambda: self.lines >= most or not self.holds)

    def _announced(self, lines: Iterable[str]) -> Iterator[CrawlURI | None]:
        return announced(self._counted(lines), self._listeners, self._settings.view)

    def _counted(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.lines += 1
            yield line

    def go_on(self, enough: Callable[[], bool]) -> int:
        """Read on until ``enough()`` says so; how many seeds there were."""
        found = 0
        while self._rest is not None and not enough():
            try:
                curi = next(self._rest)
            except StopIteration:
                self._end()
                break
            if curi is not None:
                found += 1
                self.seeds += 1
                self.queued += self._frontier.add([curi])
        return found

    def _end(self) -> None:
        self._rest, self._begins = None, False
        if not self.seeds and "SEEDS" in getattr(self._settings, "explicit", ()):
            logger.warning("HERITRIX_SEEDS: there is no seed in %d lines", self.lines)

    def more(self, lines: Iterable[str]) -> int:
        """Lines that came while the crawl runs; how many seeds among them were new."""
        return self._frontier.add(announce(lines, self._listeners, self._settings.view))

    def _looks(self) -> tuple[int, int] | None:
        if self._file is None:
            return None
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def reread(self) -> bool:
        """Have the seeds file read again by ``go_on`` if it has changed; whether it has. Raises OSError."""
        stamp = self._looks()
        if stamp is None or stamp == self._stamp or self._rest is not None:
            return False
        assert self._file is not None
        lines = open_text(self._file)
        self._stamp = stamp
        self.lines = self.seeds = self.queued = 0
        self._rest = self._announced(line.rstrip("\n") for line in lines)
        return True


def appended(uri: str, via: str | None) -> str:
    """What Heritrix adds to the seeds file for a new seed (Heritrix: TextSeedModule.addSeed)."""
    why = f"Heritrix added seed redirect from {via}." if via else "Heritrix added seed (JMX)."
    return f"\n# {why}\n{uri}"


def announce(lines: Iterable[str], listeners: Sequence[SeedListener], view: Any) -> Iterator[CrawlURI]:
    """Tell the listeners of every line; gives the seeds as URIs to be scheduled."""
    return (curi for curi in announced(lines, listeners, view) if curi is not None)


def announced(lines: Iterable[str], listeners: Sequence[SeedListener], view: Any) -> Iterator[CrawlURI | None]:
    """The same, line by line: None for each that is no seed."""
    for text in lines:
        for line in seed_lines(text, strict=view.strict_uri_fixup):
            if line.words:
                _not_understood(line.text, "more than one word; a blank within an address is written %20")
                continue
            if line.uri is None:
                _offer(line.text, listeners)
                continue
            uri, written = line.uri, line.text
            if "@" in uri and view.profile != "heritrix" and (bare := without_login(uri)) != uri:
                # nobody is told user and password
                written = bare
            else:
                bare = uri
            for listener in listeners:
                listener.seed_added(bare, written)
            yield seed(uri, source_tag=written if view.source_tag_seeds else None)
        yield None
    for listener in listeners:
        listener.seeds_read()


def _offer(text: str, listeners: Sequence[SeedListener]) -> None:
    understood = [listener.non_seed_line(text) for listener in listeners]
    if not any(understood):
        _not_understood(text)


def _not_understood(text: str, why: str = "") -> None:
    shown = text[:300]
    logger.warning(
        "seed line not understood: %s%s", shown if shown.isprintable() else repr(shown), f" ({why})" if why else ""
    )


def seed(uri: str, *, source_tag: str | None = None) -> CrawlURI:
    """A URI to begin with."""
    return CrawlURI(uri, seed=True, directive=MEDIUM, source_tag=source_tag)
