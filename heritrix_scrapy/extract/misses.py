"""On which hosts do guesses from scripts lead nowhere?

Each answer to a guess is counted for its host. Where so many were not found, and nineteen of twenty or more, no
further guesses are made for that host, and those that wait are dropped: a script that every page loads would go on
yielding names of modules for ever. The counts stand with what else is known of the host, and outlast the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.extract.javascript import CONTEXT
from heritrix_scrapy.model.crawluri import host_of
from heritrix_scrapy.model.hops import SPECULATIVE
from heritrix_scrapy.model.hosts import Hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink

#: The context by which a guess is known when it is fetched.
GUESS = CONTEXT

#: Answers that say that there is nothing.
MISSING = frozenset({404, 410})

#: One hit is worth so many misses.
WORTH = 19


class Misses:
    """Guesses that hosts answered, by whether there was something. ``hosts``: gives what is known of hosts; without
    it the counts are this object's own."""

    __slots__ = ("_hosts", "_seen_closed")

    def __init__(self, hosts: Callable[[], Hosts] | None = None) -> None:
        own = Hosts(lambda key: None)
        self._hosts: Callable[[], Hosts] = hosts or (lambda: own)
        self._seen_closed: set[str] = set()

    @property
    def closed(self) -> int:
        """Hosts that guesses were held back from so far."""
        return len(self._seen_closed)

    def note(self, curi: CrawlURI) -> None:
        """Count the answer to a guess."""
        missing = curi.status in MISSING
        if not curi.path.endswith(SPECULATIVE) or not (missing or 200 <= curi.status < 400):
            return
        hosts, name = self._hosts(), curi.host
        host = hosts.host(name)
        host.guess_misses += missing
        host.guess_hits += not missing
        hosts.host_changed(name)

    def is_closed(self, name: str, limit: int) -> bool:
        """Whether a host refused ``limit`` guesses, nineteen of twenty or more."""
        host = self._hosts().host(name)
        return host.guess_misses >= limit and host.guess_misses >= WORTH * host.guess_hits

    def without(self, links: Iterable[Outlink], limit: int) -> list[Outlink]:
        """The links but for guesses at hosts that are closed."""
        kept = []
        for link in links:
            if link.hop == SPECULATIVE and link.context == GUESS:
                host = host_of(link.uri)
                if host and self.is_closed(host, limit):
                    self._seen_closed.add(host)
                    continue
            kept.append(link)
        return kept
