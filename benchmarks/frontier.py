"""What does it cost to take a page's links in and the next URI out, beside Scrapy's scheduler in the same run?

``python -m benchmarks.frontier [--pages 5000] [--queues 1000] [--rounds 10]``

One page: 20 links, half of them seen before, to random ones of 1,000 hosts; then the next URI is taken, and the
last one finished. Ours: the frontier on LevelDB, each link through scope, canonical form, queue assignment, cost
and precedence, and every page's changes written. The peer: Scrapy's scheduler with JOBDIR, duplicate filter
and ``ScrapyPriorityQueue`` (its default queue takes longer, the more hosts there are), a Request for each link.
No network, no fetch. The two alternate in blocks; CPU is that of all threads. The last line is one JSON object
with ``ratio``, the median of the blocks.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Iterator

LINKS = 20


class Web:
    """Links to known and to new pages, the same for both."""

    def __init__(self, queues: int, random: Random) -> None:
        self._random = random
        self._hosts = [f"http://h{number}.site{number % 97}.test" for number in range(queues)]
        self.known = [f"{host}/" for host in self._hosts]

    def pages(self, count: int) -> Iterator[list[str]]:
        """The links of so many pages."""
        random, known = self._random, self.known
        for _ in range(count):
            new = [f"{random.choice(self._hosts)}/articles/{len(known) + at}.html" for at in range(LINKS // 2)]
            links = new + random.choices(known, k=LINKS - len(new))
            random.shuffle(links)
            known += new
            yield links


class Ours:
    """The frontier on LevelDB."""

    def __init__(self, folder: Path, seeds: list[str]) -> None:
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
        store = open_store(folder)
        scope = from_settings(settings)
        self.frontier = Frontier(
            store, settings, decide=scope.accepts, recall=scope.recall, hosts=Hosts(store.get), clock=self.clock
        )
        self.frontier.open()
        self.frontier.add(seed(uri) for uri in seeds)

    def page(self, links: list[str]) -> None:
        now = self.clock.now_ms()
        curi = self.frontier.next(now)
        assert curi is not None
        curi.status = 200
        curi.began_ms = curi.ended_ms = now
        curi.content_size = curi.content_length = 10_000
        curi.outlinks = [Outlink(link, "L", "a/@href") for link in links]
        self.frontier.finish(curi, now)

    def queued(self) -> int:
        return self.frontier.totals.queued

    def close(self) -> None:
        self.frontier.close()


class Theirs:
    """Scrapy's scheduler with JOBDIR."""

    def __init__(self, folder: Path, seeds: list[str]) -> None:
        crawler = get_crawler(
            Spider,
            {
                "JOBDIR": str(folder),
                "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
                "LOG_LEVEL": "ERROR",
            },
        )
        spider = crawler.spider = Spider.from_crawler(crawler, "peer")
        self.scheduler = Scheduler.from_crawler(crawler)
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

    def close(self) -> None:
        self.scheduler.close("finished")


def cpu_of(side: Any, pages: list[list[str]]) -> float:
    """CPU microseconds a page."""
    began = time.process_time()
    for links in pages:
        side.page(links)
    return (time.process_time() - began) / len(pages) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--queues", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        web = Web(args.queues, Random(1))
        ours, theirs = Ours(Path(name) / "ours", web.known), Theirs(Path(name) / "theirs", web.known)
        rows: list[tuple[float, float]] = []
        for number in range(args.rounds):
            pages = list(web.pages(args.pages // args.rounds))
            sides = (ours, theirs) if number % 2 == 0 else (theirs, ours)
            spent = {side: cpu_of(side, pages) for side in sides}
            rows.append((spent[ours], spent[theirs]))
            print(
                f"  {len(web.known):7} URIs  ours {rows[-1][0]:6.0f}  Scrapy {rows[-1][1]:6.0f} CPU µs/page", flush=True
            )
            if ours.queued() != theirs.queued():
                raise SystemExit(f"ours has {ours.queued()} URIs queued, the peer {theirs.queued()}")
        ours.close()
        theirs.close()
    result = {
        "ratio": round(statistics.median(peer / mine for mine, peer in rows), 2),
        "ours_cpu_us": round(statistics.median(mine for mine, _ in rows), 1),
        "scrapy_cpu_us": round(statistics.median(peer for _, peer in rows), 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
