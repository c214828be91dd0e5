"""What do the reports cost? ``python -m benchmarks.report [--uris N]``

Replays recorded CrawlURIs through what a crawl does when one has come to its end, its queue and its links aside: what
the chain counts of extractors and writers, the listeners of the handlers, the line of the crawl log, entries of the
logs for what went wrong, the counters, the rows of queues, hosts, servers, seeds and sources, the frontier's batch
every twenty URIs, and every thousand URIs what the timer does once in an interval. Settings are the defaults. Prints
CPU microseconds a URI, with and without the making of the crawl log's line (counters and listeners alone), in turns
and the median of five, beside ``calibration``, a loop that tells how fast this machine is today. The last line is one
JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
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

from heritrix_scrapy.chain import WRITTEN
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.dns_handler import DnsDownloadHandler
from heritrix_scrapy.fetch.whois_handler import WhoisDownloadHandler
from heritrix_scrapy.frontier.ledger import Ledger
from heritrix_scrapy.frontier.totals import Totals
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.revisit import byte_class, counted_size
from heritrix_scrapy.model.tally import nothing, tally_end
from heritrix_scrapy.operate.garbage import THRESHOLDS
from heritrix_scrapy.report.extension import ReportExtension
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.signals import listened, uri_finished
from heritrix_scrapy.store.memory import MemoryStore

HOSTS, INTERVAL = 500, 1000
TYPES = ("text/html; charset=utf-8", "image/png", "text/css", "application/javascript", "unknown")


def recorded(count: int) -> list[CrawlURI]:
    """So many URIs as they are when they have come to their end."""
    random, made = Random(7), []
    refused = refusal()
    for number in range(count):
        seed = number % 50 == 0
        host = f"www.host{random.randrange(HOSTS)}.example"
        curi = CrawlURI(f"http://{host}/page/{number}?q={number % 97}", path="" if seed else "LLE", seed=seed)
        curi.via = None if seed else f"http://{host}/"
        curi.source_tag = f"http://www.host{number % 40}.example/"
        curi.status = random.choices((200, 404, 302, -2, -9998), (80, 10, 4, 3, 3))[0]
        curi.content_type = random.choice(TYPES)
        curi.class_key = host
        if curi.status == status.CONNECT_FAILED:
            curi.errors = [("FetchHTTP", refused)]
        if curi.status > 0:
            curi.content_size, curi.content_length = 10_240, 10_000
            curi.began_ms, curi.ended_ms = 1_700_000_000_000, 1_700_000_000_120
            curi.digest = "sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV"
            curi.warc_novel = 10_240, 1
            curi.found = {"ExtractorHTTP": 1, "ExtractorHTML": 20}
            curi.outlinks = [Outlink(f"http://{host}/{link}", "L", "a/@href") for link in range(20)]
            if number % 10 == 0:
                curi.annotate("duplicate:digest")
            if number % 100 == 0:
                curi.link_errors = [("http://:80/", "no host")]
        curi.attempts = 1
        made.append(curi)
    return made


def refusal() -> OSError:
    """An error as a socket raises it."""
    try:
        raise ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 80)")
    except OSError as error:
        return error


def calibration() -> float:
    """CPU microseconds of a loop that is always the same."""
    began = time.process_time()
    table: dict[str, int] = {}
    for number in range(100_000):
        name = f"key {number % 1000}"
        table[name] = table.get(name, 0) + 1
    return (time.process_time() - began) * 10


class Unlogged(ReportExtension):
    """Counts everything, and leaves the lines of the crawl log out."""

    def _line(self, curi: CrawlURI, now_ms: int) -> str:
        return ""


def replay(curis: list[CrawlURI], folder: str, kind: type[ReportExtension] = ReportExtension) -> float:
    """CPU seconds that the ends of these URIs take; the logs lie in the folder."""
    crawler = Crawler(Spider, Settings({"JOBDIR": folder, "HERITRIX_OPERATOR_CONTACT_URL": "http://o.example/"}))
    crawl = Crawl.of(crawler)
    crawler.stats = MemoryStatsCollector(crawler)
    report, view, hosts = kind(crawler), settings_of(crawler).view, crawl.hosts
    DnsDownloadHandler(crawler), WhoisDownloadHandler(crawler)
    crawl.store = store = MemoryStore()
    ledger = Ledger(store, Totals(), hosts=hosts, clock=crawl.clock, report=report)
    queues = {curi.class_key: nothing() for curi in curis}
    for curi in curis:
        curi.settings = view
    # as GarbageExtension does in a crawl
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    began = time.process_time()
    for number, curi in enumerate(curis, 1):
        # the chain
        if curi.found:
            report.extracted(curi.found)
            report.count(WRITTEN)
        # the frontier, see Finishing
        for listener in crawl.before_finish:
            listener(curi)
        ledger.settle(curi)
        end, size = status.disposition(curi.status), max(counted_size(curi), 0)
        ledger.totals.count(end, size)
        ledger.finished.append((curi.class_key, b"", b""))
        tallies = (queues[curi.class_key], *hosts.tallies_of(curi))
        tally_end(tallies, end, curi.status, size, 0, byte_class(curi), curi.warc_novel)
        # the scheduler
        if listened(crawler, uri_finished):
            raise SystemExit("nobody listens")
        if ledger.is_full:
            ledger.write()
        if number % INTERVAL == 0:
            report.take_snapshot()
    spent = time.process_time() - began
    store.close()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uris", type=int, default=20_000)
    args = parser.parse_args()
    speed = calibration()
    spent: dict[type[ReportExtension], list[float]] = {ReportExtension: [], Unlogged: []}
    for _ in range(5):
        for kind, rows in spent.items():
            # each time as they came: what is counted is noted on them
            curis = recorded(args.uris)
            with tempfile.TemporaryDirectory() as folder:
                rows.append(replay(curis, folder, kind) / len(curis) * 1e6)
    whole, counters = (statistics.median(rows) for rows in spent.values())
    print(
        f"{args.uris} URIs: {whole:.1f} µs CPU a URI, {counters:.1f} without the log's lines;"
        f" calibration {speed:.1f} µs"
    )
    told = {"us_per_uri": round(whole, 2), "counters_us_per_uri": round(counters, 2)}
    print(json.dumps({"uris": args.uris, **told, "calibration_us": round(speed, 2)}))


if __name__ == "__main__":
    main()
