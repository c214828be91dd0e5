"""What does the frontier cost, beside Scrapy's own schedulers in the same run?

``python -m benchmarks.frontier [mix|fill|pop|open] …``

* ``mix`` (the default): a page is 20 links, half of them seen before, to random hosts; then the next URI is taken,
  and the last one finished. ``--queues``, ``--pages``, ``--known`` (so many URIs are known before), ``--alone`` (no
  peers). Prints p99.9 and the longest of pop and finish, memory and disk too.
* ``fill``: pages that bring 2,000 new URIs each, up to ``--known``: CPU microseconds per new URI, beside Scrapy's
  enqueue, and beside ``calibration``, a loop that tells how fast this machine is today.
* ``pop``: what a pop costs at 1, 1,000 and 100,000 queues.
* ``open``: a process fills a store with ``--known`` URIs in ``--queues`` queues and is killed; how long opening takes.

Ours: the frontier on LevelDB, each link through scope, canonical form, queue assignment, cost and precedence, and
every page's changes written. The peers: Scrapy's scheduler with JOBDIR, duplicate filter and ``ScrapyPriorityQueue``
(its default queue takes longer, the more hosts there are, and fails beyond 10,000), a Request for each link; and
scrapy-redis with a server of its own, where Debian's ``redis-server`` and the package are installed (the server's CPU
time counts). No network, no fetch. They alternate in blocks; CPU is that of all threads. The last line is one JSON
object; ``ratio`` and ``redis_ratio`` are medians of the blocks.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Clock
from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINKS = 20
#: New URIs of a page that brings many.
MANY = 2000


def host(number: int) -> str:
    return f"http://h{number}.site{number % 97}.test"


class Web:
    """Links to known and to new pages, the same for all."""

    def __init__(self, queues: int, random: Random) -> None:
        self._random = random
        self._hosts = [host(number) for number in range(queues)]
        self.seeds = [f"{name}/" for name in self._hosts]
        self.known = list(self.seeds)

    def new(self, count: int) -> list[str]:
        """Links to so many pages that nobody knows."""
        choice, begin = self._random.choice, len(self.known)
        made = [f"{choice(self._hosts)}/articles/{begin + at}.html" for at in range(count)]
        self.known += made
        return made

    def pages(self, count: int) -> Iterator[list[str]]:
        """The links of so many pages."""
        for _ in range(count):
            known = self._random.choices(self.known, k=LINKS - LINKS // 2)
            links = self.new(LINKS // 2) + known
            self._random.shuffle(links)
            yield links


class Ours:
    """The frontier on LevelDB. ``pops``, ``finishes``: seconds each took, when asked for."""

    name = "ours"

    def __init__(self, folder: Path, seeds: Iterable[str]) -> None:
        view = default_view(
            operator_contact_url="http://operator.test/",
            delay_factor=0.0,
            min_delay_ms=0,
            max_delay_ms=0,
            follow="all",
            max_hops=100_000,
            surts=["http://(test,"],
        )
        settings, self.clock = Settings(view), Clock()
        self.folder = folder
        store = open_store(folder)
        scope = from_settings(settings)
        self.frontier = Frontier(
            store,
            settings,
            decide=scope.accepts,
            recall=scope.recall,
            remembered=scope.remembered,
            hosts=Hosts(store.get),
            clock=self.clock,
        )
        self.frontier.open()
        self.frontier.add(seed(uri) for uri in seeds)
        self.pops: list[float] = []
        self.finishes: list[float] = []

    def page(self, links: list[str]) -> None:
        began = time.perf_counter()
        now = self.clock.now_ms()
        curi = self.frontier.next(now)
        assert curi is not None
        self.pops.append(time.perf_counter() - began)
        curi.status = 200
        curi.began_ms = curi.ended_ms = now
        curi.content_size = curi.content_length = 10_000
        curi.outlinks = [Outlink(link, "L", "a/@href") for link in links]
        began = time.perf_counter()
        self.frontier.finish(curi, now)
        self.finishes.append(time.perf_counter() - began)

    def queued(self) -> int:
        return self.frontier.totals.queued

    def cpu(self) -> float:
        return time.process_time()

    def close(self) -> None:
        self.frontier.close()


class Theirs:
    """Scrapy's scheduler with JOBDIR."""

    name = "scrapy"

    def __init__(self, folder: Path, seeds: Iterable[str]) -> None:
        self._start(
            Scheduler, {"JOBDIR": str(folder), "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}, seeds
        )

    def _start(self, scheduler: Any, settings: dict[str, Any], seeds: Iterable[str]) -> None:
        crawler = get_crawler(Spider, {"LOG_LEVEL": "ERROR", **settings})
        spider = crawler.spider = Spider.from_crawler(crawler, "peer")
        self.scheduler = scheduler.from_crawler(crawler)
        self.scheduler.open(spider)
        for uri in seeds:
            self.scheduler.enqueue_request(Request(uri))

    def page(self, links: list[str]) -> None:
        assert self.scheduler.next_request() is not None
        enqueue = self.scheduler.enqueue_request
        for link in links:
            enqueue(Request(link))

    def queued(self) -> int:
        return len(self.scheduler)

    def cpu(self) -> float:
        return time.process_time()

    def close(self) -> None:
        self.scheduler.close("finished")


class Redis(Theirs):
    """scrapy-redis with a server of its own, on a Unix socket."""

    name = "redis"

    def __init__(self, folder: Path, seeds: Iterable[str]) -> None:
        from scrapy_redis.scheduler import Scheduler as RedisScheduler

        folder.mkdir()
        socket = folder / "redis.sock"
        self._server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", ""],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(self._server.kill)
        while not socket.exists() and self._server.poll() is None:
            self._server.poll()
        self._start(
            RedisScheduler,
            {
                "REDIS_URL": f"unix://{socket}",
                "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            },
            seeds,
        )

    def cpu(self) -> float:
        fields = Path(f"/proc/{self._server.pid}/stat").read_text().rpartition(")")[2].split()
        return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.scheduler.close("finished")
        self._server.terminate()
        self._server.wait()


def peers(alone: bool) -> list[type[Theirs]]:
    """Those that can be run here."""
    if alone:
        return []
    if shutil.which("redis-server") is None:
        print("  scrapy-redis left out: there is no redis-server")
        return [Theirs]
    try:
        import scrapy_redis  # noqa: F401
    except ImportError:
        print("  scrapy-redis left out: the package is not installed")
        return [Theirs]
    return [Theirs, Redis]


def calibration() -> float:
    """CPU microseconds of a fixed piece of Python."""

    def once() -> float:
        began = time.process_time()
        found: dict[str, int] = {}
        for number in range(1000):
            found[f"k{number % 97}"] = found.get(f"k{number % 89}", 0) + number
        return (time.process_time() - began) * 1e6

    return min(once() for _ in range(200))


def resident() -> float:
    """Megabytes of memory that belong to no file."""
    text = Path("/proc/self/status").read_text()
    return int(text.partition("RssAnon:")[2].split()[0]) / 1024


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def slowest(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "p50_us": round(ordered[len(ordered) // 2] * 1e6, 1),
        "p999_ms": round(ordered[int(len(ordered) * 0.999)] * 1e3, 2),
        "max_ms": round(ordered[-1] * 1e3, 2),
    }


def fill(side: Any, web: Web, known: int) -> None:
    """Have so many URIs known, by pages that bring many."""
    while len(web.known) < known:
        side.page(web.new(min(MANY, known - len(web.known))))


def mix(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """20 links, half of them seen, a pop and a finish."""
    before = resident()
    web = Web(args.queues, Random(1))
    made = [cls(folder / cls.name, web.seeds) for cls in (Ours, *peers(args.alone))]
    ours = made[0]
    if args.known > len(web.known):
        at = len(web.known)
        fill(ours, web, args.known)
        for peer in made[1:]:
            for start in range(at, len(web.known), MANY):
                peer.page(web.known[start : start + MANY])
    assert isinstance(ours, Ours)
    ours.pops.clear()
    ours.finishes.clear()
    rows: list[dict[str, float]] = []
    for number in range(args.rounds):
        pages = list(web.pages(args.pages // args.rounds))
        spent: dict[str, float] = {}
        for side in made if number % 2 == 0 else reversed(made):
            began = side.cpu()
            for links in pages:
                side.page(links)
            spent[side.name] = (side.cpu() - began) / len(pages) * 1e6
        rows.append(spent)
        print(
            f"  {len(web.known):8} URIs  " + "  ".join(f"{name} {cost:6.0f}" for name, cost in spent.items()),
            flush=True,
        )
        counts = {side.name: side.queued() for side in made}
        if len(set(counts.values())) != 1:
            raise SystemExit(f"queued: {counts}")
    memory, descriptors = resident() - before, len(os.listdir("/proc/self/fd"))
    for side in made:
        side.close()
    return {
        **{f"{name}_cpu_us": round(statistics.median(row[name] for row in rows), 1) for name in rows[0]},
        **{
            ("ratio" if name == "scrapy" else f"{name}_ratio"): round(
                statistics.median(row[name] / row["ours"] for row in rows), 2
            )
            for name in rows[0]
            if name != "ours"
        },
        "known": len(web.known),
        "queues": args.queues,
        "pop": slowest(ours.pops),
        "finish": slowest(ours.finishes),
        **({"memory_mb": round(memory, 1), "descriptors": descriptors} if args.alone else {}),
        "disk_bytes_per_uri": round(on_disk(ours.folder) / len(web.known), 1),
    }


def many(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Pages that bring 2,000 new URIs each."""
    known = args.known or 1_000_000
    rows: dict[str, float] = {}
    speed = calibration()
    for cls in (Ours, *([] if args.alone else [Theirs])):
        web = Web(args.queues, Random(1))
        side = cls(folder / cls.name, web.seeds)
        fresh = known - len(web.known)
        spent = 0.0
        while len(web.known) < known:
            links = web.new(min(MANY, known - len(web.known)))
            began = side.cpu()
            side.page(links)
            spent += side.cpu() - began
        rows[f"{cls.name}_us_per_new_uri"] = round(spent / fresh * 1e6, 2)
        print(f"  {cls.name}: {spent / fresh * 1e6:.2f} CPU µs per new URI", flush=True)
        side.close()
    ratio = {"ratio": round(rows["scrapy_us_per_new_uri"] / rows["ours_us_per_new_uri"], 2)} if len(rows) == 2 else {}
    return {**rows, **ratio, "known": known, "queues": args.queues, "calibration_us": round(speed, 1)}


def pop(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Pops at few and at many queues, 200,000 URIs in all."""
    costs: dict[str, float] = {}
    for queues in (1, 1000, 100_000):
        web = Web(queues, Random(1))
        ours = Ours(folder / str(queues), web.seeds)
        fill(ours, web, 200_000)
        ours.frontier.flush(ours.clock.now_ms())
        spent, count = 0.0, 20_000
        for _ in range(count):
            now = ours.clock.now_ms()
            began = time.process_time()
            curi = ours.frontier.next(now)
            spent += time.process_time() - began
            assert curi is not None
            curi.status, curi.began_ms, curi.ended_ms = 200, now, now
            ours.frontier.finish(curi, now)
        costs[str(queues)] = round(spent / count * 1e6, 1)
        print(f"  {queues:7} queues: pop {costs[str(queues)]:.1f} CPU µs", flush=True)
        ours.close()
    return {"pop_cpu_us": costs, "growth": round(costs["100000"] / costs["1"], 2)}


FILLER = """
import os, signal, sys
from pathlib import Path
from random import Random
sys.path.insert(0, {root!r})
from benchmarks.frontier import Ours, Web, fill
web = Web({queues}, Random(1))
ours = Ours(Path({folder!r}), web.seeds)
fill(ours, web, {known})
ours.frontier.flush(ours.clock.now_ms())
os.kill(os.getpid(), signal.SIGKILL)
"""


def reopen(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Opening what a killed process left."""
    known = args.known or 1_000_000
    store = folder / "killed"
    values = {"root": str(Path(__file__).parents[1]), "queues": args.queues, "folder": str(store), "known": known}
    subprocess.run([sys.executable, "-c", FILLER.format(**values)], check=False)
    before = resident()
    began = time.perf_counter()
    ours = Ours(store, [])
    seconds = time.perf_counter() - began
    totals = ours.frontier.totals
    result = {
        "open_seconds": round(seconds, 2),
        "known": totals.discovered,
        "queues": totals.queues,
        "bytes_per_queue": round((resident() - before) * 1024 * 1024 / max(totals.queues, 1)),
        "descriptors": len(os.listdir("/proc/self/fd")),
    }
    assert ours.frontier.next(ours.clock.now_ms()) is not None
    ours.close()
    return result


PARTS = {"mix": mix, "fill": many, "pop": pop, "open": reopen}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("part", nargs="?", choices=PARTS, default="mix")
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--queues", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--known", type=int, default=0)
    parser.add_argument("--alone", action="store_true")
    args = parser.parse_args()
    if args.queues is None:
        args.queues = 10_000 if args.part == "open" else 1000
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        print(json.dumps(PARTS[args.part](args, Path(name))))


if __name__ == "__main__":
    main()
