"""What does somebody want to see who looks closer than the few numbers? Two verbs of a running crawl.

``detail``: fetches one by one, URIs by status, the queues that hold the crawl up, hosts by bytes and by errors, what
the scope refused by rule, limits. ``course``: how fast the crawl was, over all of its time in this process. Both are
quick: what has to be looked for among all hosts is looked for once, in a thread, and kept up to date from then on.
"""

from __future__ import annotations

import asyncio
import heapq
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.frontier.largest import Largest
from heritrix_scrapy.model.hosts import HOSTS
from heritrix_scrapy.model.status import lookup
from heritrix_scrapy.operate.limits import LIMITS, snapshot
from heritrix_scrapy.report import crawled
from heritrix_scrapy.report.tally import by_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.crawl import Crawl, InFlight
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts
    from heritrix_scrapy.model.tally import Tally

#: Rows of each list.
FLIGHTS: Final = 50
STATUSES: Final = 20
HOLDING: Final = 10
SHOWN_HOSTS: Final = 10
#: Moments of a course; beyond, every other one goes, and the next are taken half as often.
MOMENTS: Final = 240
#: Milliseconds between the first ones.
EVERY_MS: Final = 1000

#: The detail of a crawl that has no frontier yet, or does not run.
NOTHING: Final[Mapping[str, Any]] = {
    "flights": [],
    "statuses": [],
    "holding": [],
    "hosts": {"bytes": [], "errors": []},
    "refusals": [],
    "limits": [],
}


class Course:
    """Documents, bytes and queued URIs at moments that lie evenly, in bounded memory. Reads no clock."""

    def __init__(self) -> None:
        self.moments: list[tuple[int, int, int, int]] = []
        self.every_ms = EVERY_MS

    def offer(self, now_ms: int, documents: int, size: int, queued: int) -> None:
        """Take down how it stands, if it is time."""
        if self.moments and now_ms - self.moments[-1][0] < self.every_ms * 0.9:
            return
        self.moments.append((now_ms, documents, size, queued))
        if len(self.moments) > MOMENTS:
            self.every_ms *= 2
            self.moments = self.moments[::2]


class HeaviestHosts:
    """Which hosts have sent most, and which have failed most often?"""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._bytes, self._errors = Largest(SHOWN_HOSTS * 2), Largest(SHOWN_HOSTS * 2)

    def count(self, curi: CrawlURI) -> None:
        """A URI is coming to its end."""
        host = curi.host
        if host and "://" in curi.uri:
            self.meet(host, self._hosts.host(host).tally)

    def meet(self, host: str, tally: Tally) -> None:
        """How a host stands."""
        self._bytes.meet(host, tally.total_bytes)
        if tally.failures:
            self._errors.meet(host, tally.failures)

    def told(self) -> dict[str, list[dict[str, Any]]]:
        """``bytes`` and ``errors``: hosts, most first."""
        by_bytes, by_errors = self._bytes.descending(), self._errors.descending()
        return {
            "bytes": [row for host, _ in by_bytes[:SHOWN_HOSTS] if (row := self._row(host))["bytes"]],
            "errors": [self._row(host) for host, _ in by_errors[:SHOWN_HOSTS]],
        }

    def _row(self, host: str) -> dict[str, Any]:
        tally = self._hosts.host(host).tally
        return {
            "host": host,
            "bytes": tally.total_bytes,
            "succeeded": tally.successes,
            "failed": tally.failures,
            "disregarded": tally.disregards,
            "remaining": max(tally.remaining, 0),
        }


class Closer:
    """Offers ``detail`` and ``course``."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._course = Course()
        self._heaviest: HeaviestHosts | None = None
        self._taking: asyncio.Task[None] | None = None
        crawl.steering.add("detail", self.detail, steers=False)
        crawl.steering.add("course", self.course, steers=False)

    def start(self) -> None:
        """Take down the course from now on."""
        self._taking = asyncio.ensure_future(self._take_down())

    def stop(self) -> None:
        """Take down no more."""
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def course(self) -> dict[str, Any]:
        """How the crawl went in this process: ``moments``, each [milliseconds since 1970, documents, bytes, queued
        URIs]."""
        self._offer()
        return {"moments": [list(moment) for moment in self._course.moments]}

    async def detail(self) -> dict[str, Any]:
        """Fetches in flight, URIs by status, queues that hold the crawl up, hosts by bytes and errors, refusals by
        rule, limits."""
        crawl = self._crawl
        frontier, life = crawl.frontier, crawl.life
        if frontier is None:
            return dict(NOTHING)
        if self._heaviest is None:
            await self._meet_hosts()
        assert self._heaviest is not None
        tallies = frontier.tallies()
        answer = {
            "flights": self._flights(),
            "statuses": [
                {"status": code, "label": lookup(code).label, "uris": count}
                for code, count in by_status(tallies)[:STATUSES]
            ],
            "refusals": self._refusals(),
            "limits": limits_of(getattr(crawl.settings, "view", None), tallies, 0 if life is None else life.ran_ms()),
        }
        # another's turn between the two halves: each is short, both together need not be
        await asyncio.sleep(0)
        return {**answer, "holding": self._holding(), "hosts": self._heaviest.told()}

    def _flights(self) -> list[dict[str, Any]]:
        flights = [flight for handler in self._crawl.fetching for flight in handler.in_flight()]
        now_ms = self._crawl.clock.now_ms()
        oldest = heapq.nsmallest(FLIGHTS, flights, key=lambda flight: flight.curi.began_ms or now_ms)
        return [flown(flight, now_ms) for flight in oldest]

    def _holding(self) -> list[dict[str, Any]]:
        """The longest queues, and what each waits for."""
        operations, frontier = self._crawl.operations, self._crawl.frontier
        longest = [] if operations is None else frontier.longest()  # type: ignore[union-attr]
        found: list[dict[str, Any]] = []
        for name, count in longest[:HOLDING]:
            if count:
                found += operations.perform({"do": "queues", "queue_name": name})["queues"]  # type: ignore[union-attr]
        return found

    def _refusals(self) -> list[dict[str, Any]]:
        stats, prefix = self._crawl.crawler.stats, "heritrix/scope/rejected/"
        counted = {} if stats is None else stats.get_stats()
        rows = [(name[len(prefix) :], count) for name, count in counted.items() if name.startswith(prefix)]
        return [{"rule": name, "uris": count} for name, count in sorted(rows, key=lambda row: (-row[1], row[0]))]

    async def _meet_hosts(self) -> None:
        crawl = self._crawl
        heaviest = HeaviestHosts(crawl.hosts)
        crawl.before_finish.append(heaviest.count)
        self._heaviest = heaviest
        store = crawl.store
        if store is None:
            return

        def walk() -> list[tuple[str, Tally]]:
            rows = store.range(HOSTS, HOSTS[:-1] + bytes([HOSTS[-1] + 1]))
            by_bytes, by_errors = Largest(SHOWN_HOSTS * 2), Largest(SHOWN_HOSTS * 2)
            known: dict[str, Tally] = {}
            for name, host in crawl.hosts.all_hosts(rows):
                tally = host.tally
                by_bytes.meet(name, tally.total_bytes)
                by_errors.meet(name, tally.failures)
                if tally.total_bytes >= by_bytes.least or tally.failures >= max(by_errors.least, 1):
                    known[name] = tally
                    if len(known) > 1000:
                        named = {each for each, _ in (*by_bytes.descending(), *by_errors.descending())}
                        known = {each: known[each] for each in known if each in named}
            return list(known.items())

        for name, tally in await asyncio.to_thread(walk):
            heaviest.meet(name, tally)

    async def _take_down(self) -> None:
        while True:
            self._offer()
            await asyncio.sleep(self._course.every_ms / 1000)

    def _offer(self) -> None:
        frontier = self._crawl.frontier
        if frontier is not None:
            status, size = frontier.status(), crawled.total_bytes(crawled.of_counters(frontier.tallies()))
            self._course.offer(self._crawl.clock.now_ms(), status["succeeded"], size, status["queued"])


def flown(flight: InFlight, now_ms: int) -> dict[str, Any]:
    """A fetch: ``seconds`` since it was handed out, ``received`` bytes."""
    curi = flight.curi
    return {
        "uri": curi.uri,
        "queue": curi.class_key,
        "step": flight.step,
        "seconds": round(max(now_ms - (curi.began_ms or now_ms), 0) / 1000, 1),
        "received": flight.received,
    }


def limits_of(view: Any, tallies: Mapping[str, int], elapsed_ms: int) -> list[dict[str, Any]]:
    """The limits that are set: ``setting``, ``limit``, ``used`` in the setting's unit."""
    now = snapshot(tallies, elapsed_ms)
    return [
        {
            "setting": f"HERITRIX_{limit.setting.upper()}",
            "limit": most,
            "used": getattr(now, limit.counter) // limit.unit,
        }
        for limit in LIMITS
        if (most := getattr(view, limit.setting, 0))
    ]
