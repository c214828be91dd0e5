"""Are the private names of Scrapy that ``engine.py`` uses still there, and do they behave as it relies on?"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

from scrapy.core import engine

SCRIPT = """
import json, sys
from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerProcess
from heritrix_scrapy.engine import Bridge

EVENTS = []

class Kept(BaseScheduler):
    @classmethod
    def from_crawler(cls, crawler):
        made = cls(); made.crawler = crawler; made.queue = []; made.late = None
        return made
    def open(self, spider):
        self.bridge = Bridge(self.crawler)
        self.bridge.install(lambda request: EVENTS.append(["done", request.url, self.bridge.in_process()]),
                            lambda: EVENTS.append(["closing", self.bridge.in_process()]))
        EVENTS.append(["open", self.bridge.is_closing()])
    def has_pending_requests(self):
        return bool(self.queue or self.late)
    def enqueue_request(self, request):
        if request.url.endswith("late"):
            # not handed out until a timer of ours wakes the engine
            from scrapy.utils.asyncio import call_later
            import time
            self.late = request; self.asked_at = time.monotonic()
            call_later(0.2, self.ready)
            return True
        self.queue.append(request)
        return True
    def ready(self):
        self.queue.append(self.late); self.late = None
        self.bridge.kick()
    def next_request(self):
        if not self.queue:
            return None
        request = self.queue.pop(0)
        if request.url.endswith("late"):
            import time
            EVENTS.append(["woken", time.monotonic() - self.asked_at])
        return request
    def close(self, reason):
        EVENTS.append(["close", self.bridge.is_closing()])

class S(Spider):
    name = "s"
    async def start(self):
        for url in ("data:,one", "data:,raises", "data:,late"):
            yield Request(url, dont_filter=True)
    def parse(self, response):
        if response.url.endswith("raises"):
            raise ValueError("callback")

process = AsyncCrawlerProcess({"SCHEDULER": Kept, "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False})
process.crawl(S)
process.start()
print(json.dumps(EVENTS))
"""


def test_the_slot_has_what_the_bridge_uses():
    assert {"add_request", "remove_request", "close"} <= set(vars(engine._Slot))

    async def made():
        return engine._Slot(False, _NextCall(), None)

    slot = asyncio.run(made())
    assert slot.inprogress == set()
    assert slot.closing is None
    # the bridge replaces methods on the instance
    assert "__slots__" not in vars(engine._Slot)


class _NextCall:
    def schedule(self) -> None: ...


def test_the_bridge_wakes_the_engine_and_hears_of_every_request_it_lets_go():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    events = json.loads(run.stdout)
    assert events[0] == ["open", False]
    done = [event for event in events if event[0] == "done"]
    assert sorted(url for _, url, _ in done) == ["data:,late", "data:,one", "data:,raises"]
    # called before the engine's own bookkeeping: the Request still counts
    assert all(count >= 1 for _, _, count in done)
    woken = next(event[1] for event in events if event[0] == "woken")
    assert 0.19 <= woken < 2.0, "the engine waited for its heartbeat"
    assert events[-2:] == [["closing", 0], ["close", True]]
