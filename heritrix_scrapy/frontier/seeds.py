"""Where does the crawl begin?

Seed lines come as a list or from a file (the setting's own reading). Each seed is announced to whoever listens,
and scheduled without being asked for its scope; another line is offered to the listeners (Heritrix:
TextSeedModule, SeedModule).
"""

from __future__ import annotations

import logging
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from heritrix_scrapy.model.crawluri import MEDIUM, CrawlURI
from heritrix_scrapy.scope.scope import scope_of
from heritrix_scrapy.uri.seed_lines import seed_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heritrix_scrapy.crawl import Crawl, SettingsSource
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


def read_seeds(frontier: Frontier, crawl: Crawl, settings: SettingsSource) -> int:
    """Announce and schedule the seeds of ``HERITRIX_SEEDS``; returns how many were new.

    On a resumed crawl too: the listeners have to hear of them again, and the seen filter drops the known.
    """
    view = settings.view
    listeners: list[SeedListener] = [scope_of(crawl.crawler)]
    seeds = announce(view.seeds, listeners, view)
    first = next(seeds, None)
    if first is None:
        if "SEEDS" in getattr(settings, "explicit", ()):
            logger.warning("HERITRIX_SEEDS: there is no seed in %d lines", len(view.seeds))
        return 0
    return frontier.add(chain([first], seeds))


def announce(lines: Iterable[str], listeners: Sequence[SeedListener], view: Any) -> Iterator[CrawlURI]:
    """Tell the listeners of every line; gives the seeds as URIs to be scheduled."""
    for line in seed_lines("\n".join(lines), strict=view.strict_uri_fixup):
        if line.uri is None:
            understood = [listener.non_seed_line(line.text) for listener in listeners]
            if not any(understood):
                shown = line.text[:300]
                logger.warning("seed line not understood: %s", shown if shown.isprintable() else repr(shown))
            continue
        for listener in listeners:
            listener.seed_added(line.uri, line.text)
        yield seed(line.uri, source_tag=line.text if view.source_tag_seeds else None)
    for listener in listeners:
        listener.seeds_read()


def seed(uri: str, *, source_tag: str | None = None) -> CrawlURI:
    """A URI to begin with."""
    return CrawlURI(uri, seed=True, directive=MEDIUM, source_tag=source_tag)
