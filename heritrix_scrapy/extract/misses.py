"""On which hosts do guesses from scripts lead nowhere?

Each answer to a guess is counted for its host. Where so many were not found, and nineteen of twenty or more, no
further guesses are made for that host, and those that wait are dropped: a script that every page loads would go on
yielding names of modules for ever. The counts live as long as the process; a crawl that goes on begins to count afresh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.extract.javascript import CONTEXT
from heritrix_scrapy.model.crawluri import host_of
from heritrix_scrapy.model.hops import SPECULATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink

#: The context by which a guess is known when it is fetched.
GUESS = CONTEXT

#: Answers that say that there is nothing.
MISSING = frozenset({404, 410})

#: Hosts that are counted at most.
MOST_HOSTS = 100_000

#: One hit is worth so many misses.
WORTH = 19


class Misses:
    """Guesses that hosts answered, by whether there was something."""

    __slots__ = ("_hits", "_misses", "_seen_closed")

    def __init__(self) -> None:
        self._misses: dict[str, int] = {}
        self._hits: dict[str, int] = {}
        self._seen_closed: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._misses)

    @property
    def closed(self) -> int:
        """Hosts that guesses were held back from so far."""
        return len(self._seen_closed)

    def note(self, curi: CrawlURI) -> None:
        """Count the answer to a guess."""
        if not curi.path.endswith(SPECULATIVE):
            return
        counts = self._misses if curi.status in MISSING else self._hits if 200 <= curi.status < 400 else None
        host = curi.host
        if counts is not None and (host in counts or len(counts) < MOST_HOSTS):
            counts[host] = counts.get(host, 0) + 1

    def is_closed(self, host: str, limit: int) -> bool:
        """Whether a host refused ``limit`` guesses, nineteen of twenty or more."""
        misses = self._misses.get(host, 0)
        return misses >= limit and misses >= WORTH * self._hits.get(host, 0)

    def without(self, links: Iterable[Outlink], limit: int) -> list[Outlink]:
        """The links but for guesses at hosts that are closed."""
        kept = []
        for link in links:
            if link.hop == SPECULATIVE and link.context == GUESS:
                host = host_of(link.uri)
                if self.is_closed(host, limit):
                    self._seen_closed.add(host)
                    continue
            kept.append(link)
        return kept
