"""A crawl without a network: a clock that is set, a log and an archive that can lose their ends, a site that is a
dict, and a store that stops working at a chosen write."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from random import Random

    from heritrix_scrapy.crawl import Store
    from heritrix_scrapy.model.crawluri import CrawlURI

START_MS = 1_700_000_000_000


class UniformSettings(Settings):
    uniform = True


class Clock:
    def __init__(self, now: int = START_MS) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


class Log:
    """A crawl log: ``lines`` are flushed, ``buffer`` is what a kill takes along."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.buffer: list[str] = []
        self.ends: list[tuple[str, int, str]] = []
        self.counted: Counter[str] = Counter()

    def take_tallies(self) -> Mapping[str, int]:
        taken, self.counted = self.counted, Counter()
        return taken

    def finished(self, curi: CrawlURI) -> None:
        self.counted[f"status/{curi.status}"] += 1
        self.buffer.append(curi.uri)
        self.ends.append((curi.uri, curi.status, ",".join(curi.annotations)))

    def flush(self) -> Mapping[str, int]:
        self.lines += self.buffer
        self.buffer = []
        return {"crawl.log": len(self.lines)}

    def sync(self) -> None:
        """Nothing of it is on a disk."""

    def recover(self, lengths: Mapping[str, int]) -> int:
        return len(self.lines) - lengths.get("crawl.log", 0)

    def kill(self) -> None:
        self.buffer = []
        self.counted.clear()


class Archive:
    """One WARC file, a record a URI. ``synced``: how many of them survive a power failure."""

    def __init__(self) -> None:
        self.records: list[str] = []
        self.buffer: list[str] = []
        self.synced = 0

    def write(self, uri: str) -> None:
        self.buffer.append(uri)

    def flush(self) -> Mapping[str, int]:
        if not self.buffer:
            return {}
        self.records += self.buffer
        self.buffer = []
        return {"a.warc": len(self.records)}

    def sync(self) -> None:
        self.synced = len(self.records)

    def length(self, name: str) -> int:
        return len(self.records) if name == "a.warc" else -1

    def kill(self, *, power: bool) -> None:
        self.buffer = []
        if power:
            del self.records[self.synced :]


class Killed(Exception):
    """The process is gone."""


class MortalStore:
    """Another store, until ``lives`` writes were made; ``torn``: the fatal one is still made."""

    def __init__(self, inner: MemoryStore, lives: int = 1 << 60, *, torn: bool = False) -> None:
        self.inner, self.lives, self.torn = inner, lives, torn
        self.get, self.range, self.seeker, self.first = inner.get, inner.range, inner.seeker, inner.first

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes] = (), *, sync: bool = False) -> None:
        self.lives -= 1
        if self.lives >= 0 or (self.lives == -1 and self.torn):
            self.inner.write(puts, deletes, sync=sync)
        if self.lives < 0:
            raise Killed

    def compact(self, start: bytes | None = None, stop: bytes | None = None) -> None: ...

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        return self.inner.checkpoint(directory)

    def close(self) -> None: ...


def make(store: Store | None = None, profile: str = "modern", **parts: Any) -> tuple[Frontier, Clock, Log]:
    """A frontier, open; ``parts``: arguments of its own, and settings, or ``view``: all of them."""
    store = MemoryStore() if store is None else store
    clock, log = parts.pop("clock", None) or Clock(), parts.pop("report", None) or Log()
    own = {
        name: parts.pop(name)
        for name in ("archives", "before_finish", "seed_found", "queues_kept", "crawl_delay", "journal")
        if name in parts
    }
    hosts = parts.pop("hosts", None) or Hosts(store.get)
    decide = parts.pop("decide", None) or (lambda curi: True)
    view = parts.pop("view", None) or default_view(profile, **{"follow": "all", **parts})
    settings = UniformSettings(view)
    frontier = Frontier(store, settings, decide=decide, hosts=hosts, clock=clock, report=log, **own)
    frontier.open()
    return frontier, clock, log


def end(frontier: Frontier, curi: CrawlURI, code: int, now: int, *links: str, delay: int = 0, hop: str = "L") -> bool:
    """The URI was fetched with that status and these links."""
    curi.status, curi.delay_ms = code, delay
    curi.outlinks = [Outlink(link, hop, "a/@href") for link in links]
    return frontier.finish(curi, now)


class Crawl:
    """A whole crawl of ``site`` (URI → links), with trouble drawn from ``random``, over whatever store it is given."""

    def __init__(self, site: dict[str, list[str]], random: Random, *, workers: int = 3, **settings: Any) -> None:
        self.site, self.random, self.workers, self.settings = site, random, workers, settings
        self.rows = MemoryStore()
        self.clock, self.log, self.archive = Clock(), Log(), Archive()
        self.recoveries: list[Any] = []

    def run(self, lives: int = 1 << 60, *, torn: bool = False, power: bool = False) -> bool:
        """Crawl until nothing is left (True), or until the store's end (False)."""
        try:
            self._run(MortalStore(self.rows, lives, torn=torn))
        except Killed:
            self.log.kill()
            self.archive.kill(power=power)
            return False
        return True

    def _run(self, store: MortalStore) -> None:
        settings = UniformSettings(
            default_view("modern", **{"follow": "all", "retry_delay_seconds": 1, **self.settings})
        )
        frontier = Frontier(
            store,
            settings,
            decide=lambda curi: True,
            hosts=Hosts(store.get),
            clock=self.clock,
            report=self.log,
            archives=[self.archive],
            queues_kept=2,
        )
        self.recoveries.append(frontier.open())
        frontier.add([seed(uri) for uri in list(self.site)[:2]])
        working: list[CrawlURI] = []
        while True:
            self.clock.now += self.random.choice((0, 1, 7, 60, 600))
            due = frontier.needs_flush_at()
            if due is not None and due <= self.clock.now:
                frontier.flush(self.clock.now)
            if len(working) < self.workers and (curi := frontier.next(self.clock.now)) is not None:
                working.append(curi)
            elif working:
                self.work(frontier, working.pop(self.random.randrange(len(working))))
            elif not frontier.alive():
                break
            else:
                wake = frontier.next_wake()
                assert wake is not None, frontier.status()
                self.clock.now = max(self.clock.now, wake)
        frontier.close()

    def work(self, frontier: Frontier, curi: CrawlURI) -> None:
        trouble = self.random.random()
        curi.delay_ms = self.random.choice((0, 0, 5, 300))
        now = self.clock.now
        if curi.uri.startswith("dns:"):
            curi.status = 1
            self.archive.write(curi.uri)
        elif trouble < 0.1:
            frontier.put_back(curi, now)
            return
        elif trouble < 0.2:
            curi.status, curi.prerequisite = -50, f"dns:{curi.host}"
        elif trouble < 0.3 and curi.attempts < 3:
            curi.status = -2
        else:
            curi.status = 200
            curi.outlinks = [Outlink(link, "L", "a/@href") for link in self.site[curi.uri]]
            self.archive.write(curi.uri)
        frontier.finish(curi, now)

    def reachable(self) -> set[str]:
        found, new = set(), set(list(self.site)[:2])
        while new:
            found |= new
            new = {link for uri in new for link in self.site[uri]} - found
        return found


def random_site(random: Random, pages: int, hosts: int) -> dict[str, list[str]]:
    """Pages on some hosts; each links to a few others."""
    uris = [f"http://h{random.randrange(hosts)}.test/{number}" for number in range(pages)]
    return {uri: random.sample(uris, random.randrange(min(6, pages))) for uri in uris}
