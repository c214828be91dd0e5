"""What does a crawl cost while every queue sleeps, and how late do sleeping queues wake?

``python -m benchmarks.wake [--hosts 200] [--seconds 10] [--pages 40]``

Two crawls. In the first one all queues are snoozed for a minute, and the CPU of its process is measured for some
seconds. In the second one a few hosts have a short delay and little else happens: for each fetch, how long after
its queue's wake time it reached the downloader. The last line is one JSON object; exit status 1 when the idle
crawl took 1 % of a CPU or more, or the 99th percentile of the lateness is over 20 ms more than that of a bare timer
on the same loop.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from tests.crawls import Project
from tests.web import Web, running

LATENESS = '''
"""Notes for each fetch how long after its queue's wake time it reached the downloader, in milliseconds."""
import asyncio, json, time
from pathlib import Path
from scrapy import signals
from heritrix_scrapy import crawl_uri
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.signals import uri_finished

class Lateness:
    def __init__(self, crawler):
        self.crawl = Crawl.of(crawler)
        self.wakes, self.late, self.bare = {}, [], []
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.finished, uri_finished)
        crawler.signals.connect(self.reached, signals.request_reached_downloader)
        crawler.signals.connect(self.closed, signals.spider_closed)
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    def opened(self):
        self.loop = asyncio.get_running_loop()
        self.tick(None)
    def tick(self, due):
        now = self.loop.time()
        if due is not None:
            self.bare.append((now - due) * 1000)
        self.timer = self.loop.call_later(0.05, self.tick, now + 0.05)
    def finished(self, curi):
        queue = self.crawl.frontier.queue(curi.class_key)
        if queue is not None and queue.record.wake_ms:
            self.wakes[curi.class_key] = queue.record.wake_ms
    def reached(self, request):
        curi = crawl_uri(request)
        wake = self.wakes.pop(curi.class_key, None)
        if wake is not None:
            self.late.append(time.time() * 1000 - wake)
    def closed(self):
        self.timer.cancel()
        Path(__file__).parents[1].joinpath("late.json").write_text(json.dumps([self.late, self.bare]))
'''


def site(hosts: int, pages: int) -> dict[str, Any]:
    """Hosts with a chain of pages each; each host a little slower than the one before, so that they do not wake
    together."""
    last = {f"/{pages}": {"body": "the end"}, "/robots.txt": {"status": 404, "body": ""}}
    page = {"body": '<a href="/$+1">next</a>'}
    return {
        f"h{n}.wake.test": {"routes": last, "patterns": [[r"/(\d+)", {**page, "delay": 0.007 * (n % 10)}]]}
        for n in range(hosts)
    }


def settings(web: Web, hosts: int, delay_ms: int) -> dict[str, Any]:
    return {
        "HERITRIX_SEEDS": [web.url(f"h{n}.wake.test", "/1") for n in range(hosts)],
        "HERITRIX_DNS_SERVERS": [web.dns],
        "HERITRIX_MIN_DELAY_MS": delay_ms,
        "HERITRIX_MAX_DELAY_MS": delay_ms,
        "HERITRIX_MAX_HOPS": 10_000,
        "LOG_LEVEL": "WARNING",
    }


def cpu_of(process: subprocess.Popen[str]) -> float:
    """Seconds of CPU that the process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(hosts: int, seconds: float, folder: Path) -> float:
    """Share of a CPU that a crawl takes while all its queues are snoozed, in percent."""
    with running(site(hosts, 2)) as web:
        project = Project(folder, settings(web, hosts, 60_000))
        process = project.start(stdout=subprocess.DEVNULL)
        # after its look-up a queue rests as after any fetch
        while process.poll() is None and len(web.questions) < hosts:
            rest(process, 0.1)
        rest(process, 3)
        before, began = cpu_of(process), time.monotonic()
        rest(process, seconds)
        used, passed = cpu_of(process) - before, time.monotonic() - began
        process.send_signal(signal.SIGINT)
        project.finish(process)
    return 100 * used / passed


def rest(process: subprocess.Popen[str], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def late(hosts: int, pages: int, folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds that each wake-up came late; and each tick of a bare timer on the same loop, which is what the
    machine and its load add."""
    with running(site(hosts, pages)) as web:
        extension = {"EXTENSIONS": {"crawl_project.lateness.Lateness": 0}}
        project = Project(folder, {**settings(web, hosts, 300), **extension}, modules={"lateness": LATENESS})
        crawl = project.run(timeout=600)
    if crawl.returncode != 0:
        raise SystemExit(f"the crawl failed:\n{crawl.stderr[-4000:]}")
    wakes, bare = json.loads((folder / "late.json").read_text())
    return sorted(wakes), sorted(bare)


def measure(hosts: int, seconds: float, pages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="wake-") as folder:
        percent = idle(hosts, seconds, Path(folder) / "idle")
        lateness, bare = late(10, pages, Path(folder) / "late")
    return {
        "idle_cpu_percent": round(percent, 2),
        "snoozed_queues": hosts,
        "wake_ups": len(lateness),
        "late_ms_median": round(statistics.median(lateness), 2),
        "late_ms_p99": round(lateness[int(len(lateness) * 0.99)], 2),
        "late_ms_max": round(lateness[-1], 2),
        "bare_timer_ms_p99": round(bare[int(len(bare) * 0.99)], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wake", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hosts", type=int, default=200, help="snoozed queues of the idle crawl")
    parser.add_argument("--seconds", type=float, default=10, help="how long its CPU is measured")
    parser.add_argument("--pages", type=int, default=40, help="wake-ups of each of 10 hosts")
    args = parser.parse_args()
    result = measure(args.hosts, args.seconds, args.pages)
    print(json.dumps(result))
    raise SystemExit(
        0 if result["idle_cpu_percent"] < 1 and result["late_ms_p99"] <= 20 + result["bare_timer_ms_p99"] else 1
    )


if __name__ == "__main__":
    main()
