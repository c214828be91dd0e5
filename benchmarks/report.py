"""What do the reports cost? ``python -m benchmarks.report [--uris N]``

Replays recorded CrawlURIs through what happens at each end of a URI: the crawl log's line, the counters, the rows of
hosts, seeds and sources, and every thousand URIs what the timer does once in an interval. Prints CPU microseconds a
URI, beside ``calibration``, a loop that tells how fast this machine is today. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))  # also when run as a file

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.totals import tally_end
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.revisit import byte_class
from heritrix_scrapy.operate.garbage import THRESHOLDS
from heritrix_scrapy.report.extension import ReportExtension
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.store.memory import MemoryStore

HOSTS, FLUSH, INTERVAL = 500, 20, 1000
TYPES = ("text/html; charset=utf-8", "image/png", "text/css", "application/javascript", "unknown")


def recorded(count: int) -> list[CrawlURI]:
    """So many URIs as they are when they have come to their end."""
    random, made = Random(7), []
    for number in range(count):
        seed = number % 50 == 0
        host = f"www.host{random.randrange(HOSTS)}.example"
        curi = CrawlURI(f"http://{host}/page/{number}?q={number % 97}", path="" if seed else "LLE", seed=seed)
        curi.via = None if seed else f"http://{host}/"
        curi.source_tag = f"http://www.host{number % 40}.example/"
        curi.status = random.choices((200, 404, 302, -2, -9998), (80, 10, 4, 3, 3))[0]
        curi.content_type = random.choice(TYPES)
        if curi.status > 0:
            curi.content_size, curi.content_length = 10_240, 10_000
            curi.began_ms, curi.ended_ms = 1_700_000_000_000, 1_700_000_000_120
            curi.digest = "sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV"
            curi.warc_novel = 10_240, 1
            curi.found = {"ExtractorHTTP": 1, "ExtractorHTML": 20}
            curi.outlinks = [Outlink(f"http://{host}/{link}", "L", "a/@href") for link in range(20)]
            if number % 10 == 0:
                curi.annotate("duplicate:digest")
        curi.attempts = 1
        made.append(curi)
    return made


def calibration() -> float:
    """CPU microseconds of a loop that is always the same."""
    began = time.process_time()
    table: dict[str, int] = {}
    for number in range(100_000):
        name = f"key {number % 1000}"
        table[name] = table.get(name, 0) + 1
    return (time.process_time() - began) * 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uris", type=int, default=20_000)
    args = parser.parse_args()
    curis = recorded(args.uris)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings({"JOBDIR": folder, "HERITRIX_OPERATOR_CONTACT_URL": "http://o.example/"})
        crawler = Crawler(Spider, settings)
        crawl = Crawl.of(crawler)
        view = settings_of(crawler).view
        store = crawl.store = MemoryStore()
        crawler.stats = MemoryStatsCollector(crawler)
        report = ReportExtension(crawler)
        for curi in curis:
            curi.settings = view
        tallies: dict[str, int] = {}
        # as GarbageExtension does in a crawl
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        speed = calibration()
        began = time.process_time()
        for number, curi in enumerate(curis, 1):
            if curi.found:
                report.count(
                    {f"extractor/{name}/links": links for name, links in curi.found.items()}
                    | {f"extractor/{name}/uris": 1 for name in curi.found}
                )
            report.finished(curi)
            for name, count in report.tally(curi).items():
                tallies[name] = tallies.get(name, 0) + count
            end = status.disposition(curi.status)
            for tally in crawl.hosts.tallies_of(curi):
                tally_end(tally, end, curi.status, max(curi.content_size, 0), 0, byte_class(curi), curi.warc_novel)
            if number % FLUSH == 0:
                report.flush()
                store.write(crawl.hosts.drain())
            if number % INTERVAL == 0:
                report.take_snapshot()
        spent = (time.process_time() - began) / len(curis) * 1e6
        store.close()
    print(f"{len(curis)} URIs: {spent:.1f} µs CPU a URI; calibration {speed:.1f} µs")
    print(json.dumps({"uris": len(curis), "us_per_uri": round(spent, 2), "calibration_us": round(speed, 2)}))


if __name__ == "__main__":
    main()
