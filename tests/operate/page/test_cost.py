"""What does the page cost the crawl, while two look at it? Measured inside, in CPU time."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any

import pytest

from benchmarks.crawl import bulk
from tests.operate.page.crawled import SETTINGS, Browser, address

pytestmark = pytest.mark.long

PAGES = 20_000

#: An extension that times each callback of the loop, in the crawl's own thread, and tells those of page and socket.
METER = """
import asyncio
import gc
import json
import socket
import time
from pathlib import Path
from scrapy import signals

NAMES = ("control", "page", "closer", "telling", "feed")
OURS = ("/operate/web/", "/aiohttp/", *(f"/operate/{name}.py" for name in NAMES))

def owner(callback):
    own = getattr(callback, "__self__", None)
    if isinstance(own, asyncio.Task):
        code = getattr(own.get_coro(), "cr_code", None)
        return code.co_filename if code else ""
    protocol = getattr(own, "_protocol", None)
    protocol = getattr(protocol, "_app_protocol", None) or protocol
    if protocol is not None:
        handle = getattr(own, "_sock", None)
        if handle is not None and handle.family == socket.AF_UNIX:
            return "/operate/control.py"
        return "/" + type(protocol).__module__.replace(".", "/") + "/"
    return ""

class Meter:
    def __init__(self, crawler):
        self.ours, self.longest, self.calls, self.pause, self.since = 0.0, [], 0, 0.0, 0.0
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def collected(self, phase, info):
        # what the collector takes is for the garbage of all, whoever happens to call it
        if phase == "start":
            self.since = time.thread_time()
        else:
            self.pause += time.thread_time() - self.since

    def opened(self):
        self.began = time.process_time()
        gc.callbacks.append(self.collected)
        run = asyncio.Handle._run
        def timed(handle):
            found = owner(handle._callback)
            if not any(each in found for each in OURS):
                return run(handle)
            self.pause = 0.0
            start = time.thread_time()
            try:
                return run(handle)
            finally:
                took = time.thread_time() - start - self.pause
                self.ours += took
                self.calls += 1
                self.longest = sorted([*self.longest, (took, found)], reverse=True)[:5]
        self.run, asyncio.Handle._run = run, timed

    def stopped(self):
        asyncio.Handle._run = self.run
        whole = time.process_time() - self.began
        told = {"ours": self.ours, "whole": whole, "calls": self.calls, "longest": self.longest}
        Path(__file__).parents[1].joinpath("meter.json").write_text(json.dumps(told))
"""


def look(browser: Browser, stop: threading.Event) -> None:
    """A browser with the page open: events as they come, the tables every five seconds."""
    connection = http.client.HTTPConnection(browser.place, timeout=60)
    connection.request("GET", "/ui/events", headers={"Cookie": browser.cookie})
    response = connection.getresponse()

    def tables() -> None:
        while not stop.wait(5):
            try:
                browser.get("/ui/parts", Accept="application/json")
            except OSError:
                return

    other = threading.Thread(target=tables, daemon=True)
    other.start()
    while response.readline():
        """As long as the crawl goes on."""
    stop.set()
    other.join(10)


def test_the_page_in_two_browsers_costs_the_crawl_little(project: Any) -> None:
    with bulk(50, PAGES) as web:
        made = project(
            {
                **{name: value for name, value in SETTINGS.items() if name != "HERITRIX_RUN_WHILE_EMPTY"},
                "HERITRIX_SEEDS": [web["seed"]],
                "HERITRIX_DNS_SERVERS": [web["dns"]],
                "HERITRIX_SURTS": ["+http://(test,bulk,"],
                "EXTENSIONS": {"crawl_project.meter.Meter": 900},
            },
            modules={"meter": METER},
        )
        process = made.start()
        _, place = address(made, process)
        stop = threading.Event()
        readers = [threading.Thread(target=look, args=(Browser(place), stop), daemon=True) for _ in range(2)]
        for reader in readers:
            reader.start()
        crawl = made.finish(process, timeout=500)
    stop.set()
    assert crawl.returncode == 0
    assert crawl.stats["heritrix/uris/downloaded"] > PAGES
    told = json.loads((made.folder / "meter.json").read_text())
    assert told["calls"] > 50
    assert told["ours"] <= 0.02 * told["whole"], told
    assert told["longest"][0][0] <= 0.005, told
