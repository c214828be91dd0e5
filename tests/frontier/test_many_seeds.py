"""Does a crawl with very many seeds begin soon, and can it be looked at meanwhile?"""

from __future__ import annotations

import json

import pytest

#: Looks at the loop as often as it can: the CPU time of its thread between two looks is what others took of it.
PULSE = """
import asyncio, json, time
from pathlib import Path

from scrapy import Request, signals
from scrapy.utils.asyncio import call_later

from heritrix_scrapy.crawl import Crawl


class Pulse:
    def __init__(self, crawler):
        self.crawler = crawler
        self.slices, self.seen = [], []
        crawler.signals.connect(self.begin, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def begin(self):
        # one that the last seed has the scope accept, and one that no seed does
        for page in self.crawler.settings["PAGES"]:
            self.crawler.engine.crawl(Request(page))
        self.last = time.thread_time()
        call_later(0, self.beat)

    def beat(self):
        now = time.thread_time()
        self.slices.append(now - self.last)
        crawl = Crawl.of(self.crawler)
        scheduler = self.crawler.engine._slot.scheduler
        if not scheduler._seeding.done:
            # the Requests that had to wait may come after the last seed
            handed = scheduler._seeding.holds and scheduler.next_request() is not None
            self.seen.append((crawl.frontier.totals.queued, handed))
            self.last = time.thread_time()
            call_later(0.001, self.beat)
            return
        self.slices.sort()
        Path(__file__).parents[1].joinpath("pulse.json").write_text(json.dumps({
            "longest": self.slices[-5:], "looks": len(self.slices), "cpu": sum(self.slices),
            "grew": len({queued for queued, _ in self.seen}), "held": not any(handed for _, handed in self.seen),
            "queued": crawl.frontier.totals.queued,
        }))
        asyncio.ensure_future(self.crawler.stop_async())
"""


@pytest.mark.crawl
@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_the_loop_is_free_while_seeds_are_read(project, tmp_path, count):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("".join(f"http://h{number}.site{number % 977}.test/\n" for number in range(count)))
    last = count - 1
    made = project(
        {
            "HERITRIX_SEEDS": str(seeds),
            "HERITRIX_SCOPE": "default",
            "PAGES": [f"http://h{last}.site{last % 977}.test/deep", "http://other.test/"],
            "HERITRIX_PAUSE_AT_START": True,
            "EXTENSIONS": {"crawl_project.pulse.Pulse": 900},
        },
        modules={"pulse": PULSE},
    )
    for launch in range(2):
        # the second launch goes on with the job, and tells the scope of all seeds again
        crawl = made.run(timeout=300)
        assert "Traceback" not in crawl.stderr, crawl.stderr
        found = json.loads((made.folder / "pulse.json").read_text())
        assert found["queued"] == count + 1
        assert found["held"]
        assert crawl.stats["heritrix/scope/refused_spider_requests"] == 1
        assert found["looks"] > count / 500
        # one slice may meet the store's change of its write buffer
        assert found["longest"][-2] < 0.05, found
        assert found["cpu"] < 60, found
        assert (found["grew"] > 1) == (launch == 0)
