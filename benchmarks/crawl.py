"""How much CPU does a page cost, beside stock Scrapy in the same run?

``python benchmarks/crawl.py [--pages 5000] [--hosts 100] [--pairs 3] [--memory-pages 20000]``

A server in a process of its own gives pages of 10 KB with 20 links. Ours: archival crawl with response, request
and metadata records, LevelDB frontier, extraction, DNS and robots. The peer: stock Scrapy with JOBDIR and
LinkExtractor, without robots and without a WARC. Delays are 0 and connections are kept as each does by default;
the two alternate, and CPU is user + system time of the crawler's whole process, its start included. The last
line is one JSON object with ``ratio``, the median of the pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from tests.crawls import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]

COUNTER = '''
"""Notes memory and CPU at given page counts, and ends nothing."""
import json, resource
from pathlib import Path
from scrapy import signals

def anonymous_kib():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1])

class Pages:
    def __init__(self, crawler):
        self.pages = 0
        self.at = set(crawler.settings.getlist("NOTE_AT"))
        self.notes = {}
        crawler.signals.connect(self.received, signals.response_received)
        crawler.signals.connect(self.closed, signals.spider_closed)
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    def note(self, name):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self.notes[name] = {"rss_anon_kib": anonymous_kib(), "cpu_s": usage.ru_utime + usage.ru_stime}
    def received(self, response):
        if "/p/" in response.url:
            self.pages += 1
            if self.pages in self.at:
                self.note(str(self.pages))
    def closed(self, spider):
        self.note("end")
        self.notes["pages"] = self.pages
        Path(__file__).parents[1].joinpath("notes.json").write_text(json.dumps(self.notes))
'''

RESOLVER = """
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import succeed

class Loopback(CachingThreadedResolver):
    def getHostByName(self, name, timeout=None):
        return succeed("127.0.0.1")
"""

STOCK_SPIDER = """
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor

class Stock(Spider):
    name = "stock"
    links = LinkExtractor()
    async def start(self):
        yield Request(self.settings["SEED"])
    def parse(self, response):
        for link in self.links.extract_links(response):
            yield Request(link.url)
"""

QUIET: dict[str, Any] = {
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "EXTENSIONS": {"crawl_project.counter.Pages": 0},
}
OURS: dict[str, Any] = {
    **QUIET,
    "HERITRIX_MAX_HOPS": 1000,
    "HERITRIX_SURTS": ["http://(test,bulk,"],
}
STOCK: dict[str, Any] = {
    **QUIET,
    "ROBOTSTXT_OBEY": False,
    "TWISTED_DNS_RESOLVER": "crawl_project.resolver.Loopback",
}


@contextmanager
def bulk(hosts: int, pages: int) -> Iterator[dict[str, Any]]:
    """The server, in a process of its own; what it printed when it was ready."""
    command = [sys.executable, "-m", "tests.web.bulk", "--hosts", str(hosts), "--pages", str(pages)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def measure(kind: str, site: dict[str, Any], note_at: list[int], settings: dict[str, Any]) -> dict[str, Any]:
    """One crawl from start to end."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        stock = kind == "stock"
        values = {**(STOCK if stock else OURS), "NOTE_AT": note_at, **settings}
        if stock:
            values["SEED"] = site["seed"]
        else:
            values |= {"HERITRIX_SEEDS": [site["seed"]], "HERITRIX_DNS_SERVERS": [site["dns"]]}
        project = Project(
            Path(folder),
            values,
            STOCK_SPIDER if stock else "",
            addon=not stock,
            defaults=not stock,
            modules={"counter": COUNTER, "resolver": RESOLVER},
        )
        began = time.monotonic()
        process = project.start(name="stock" if stock else "archive", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
        if process.returncode != 0:
            raise SystemExit(f"the {kind} crawl failed:\n{errors[-4000:]}")
        notes = json.loads((Path(folder) / "notes.json").read_text())
        cpu = usage.ru_utime + usage.ru_stime
        notes |= {"cpu": cpu, "wall": wall, "cpu_ms_per_page": 1000 * cpu / notes["pages"]}
        return dict(notes)


def pair(hosts: int, pages: int, note_at: list[int], settings: dict[str, Any]) -> dict[str, Any]:
    """Ours and the peer on the same site, one after the other."""
    with bulk(hosts, pages) as site:
        ours = measure("ours", site, note_at, settings)
        stock = measure("stock", site, [], {})
    for name, result in (("ours", ours), ("stock", stock)):
        print(
            f"  {name:6} {result['pages']:6} pages  {result['cpu_ms_per_page']:7.2f} CPU ms/page"
            f"  {result['pages'] / result['wall']:7.0f} pages/s",
            flush=True,
        )
        if result["pages"] != pages:
            raise SystemExit(f"{name} fetched {result['pages']} of {pages} pages")
    ratio = stock["cpu_ms_per_page"] / ours["cpu_ms_per_page"]
    print(f"  ratio  {ratio:.2f}", flush=True)
    return {"ours": ours, "stock": stock, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/crawl.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--memory-pages", type=int, default=20_000, help="one more pair of this size; 0: none")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of ours")
    args = parser.parse_args()
    settings = dict(item.split("=", 1) for item in args.set)
    # as on a user's machine: both sides compile their modules once, not at every start
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    pairs = []
    for number in range(args.pairs):
        print(f"pair {number + 1}: {args.pages} pages on {args.hosts} hosts", flush=True)
        pairs.append(pair(args.hosts, args.pages, [], settings))
    result: dict[str, Any] = {}
    if pairs:
        result["ratio"] = round(statistics.median(each["ratio"] for each in pairs), 2)
        for name in ("ours", "stock"):
            result[f"{name}_cpu_ms"] = round(statistics.median(each[name]["cpu_ms_per_page"] for each in pairs), 3)
    if args.memory_pages:
        print(f"one pair of {args.memory_pages} pages", flush=True)
        large = pair(args.hosts, args.memory_pages, [5000, args.memory_pages], settings)
        at_5000 = large["ours"]["5000"]["rss_anon_kib"]
        at_end = large["ours"][str(args.memory_pages)]["rss_anon_kib"]
        result |= {
            "large_ratio": round(large["ratio"], 2),
            "rss_anon_mib_at_5000": round(at_5000 / 1024, 1),
            "rss_anon_mib_at_end": round(at_end / 1024, 1),
            "memory_growth_percent": round(100 * (at_end - at_5000) / at_5000, 1),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
