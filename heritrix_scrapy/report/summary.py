"""How did the crawl go, in twenty lines? (Heritrix: CrawlSummaryReport)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.report import crawled, progress
from heritrix_scrapy.report.durations import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heritrix_scrapy.report.known import Known


def facts(known: Known) -> dict[str, Any]:
    """The numbers by name."""
    counters = known.counters
    seeds = done = 0
    for _, seed in known.figures.seeds():
        seeds += 1
        done += seed.code > 0
    table = crawled.of_counters(counters)
    size, downloaded = crawled.total_bytes(table), counters.get("uris/downloaded", 0)
    return {
        "crawl name": known.job,
        "crawl status": known.state,
        "duration ms": known.ran_ms,
        "seeds crawled": done,
        "seeds uncrawled": seeds - done,
        "hosts visited": counters.get("hosts/visited", 0) if known.modern else sum(1 for _ in known.hosts()) - 1,
        "URIs processed": counters.get("uris/finished", 0),
        "URI successes": downloaded,
        "URI failures": counters.get("uris/failed", 0),
        "URI disregards": counters.get("uris/disregarded", 0),
        "bytes": table,
        "total crawled bytes": size,
        "URIs/sec": progress.ratio(downloaded, known.ran_ms / 1000),
        "KB/sec": int((size / 1024) / ((known.ran_ms + 1) / 1000)),
    }


def lines(known: Known) -> Iterator[str]:
    """The report."""
    said = facts(known)
    table = said["bytes"]
    yield f"crawl name: {said['crawl name']}"
    yield f"crawl status: {said['crawl status']}"
    yield f"duration: {duration(said['duration ms'])}"
    yield ""
    yield from (f"{name}: {said[name]}" for name in ("seeds crawled", "seeds uncrawled"))
    yield ""
    yield f"hosts visited: {said['hosts visited']}"
    yield ""
    yield from (
        f"{name}: {said[name]}" for name in ("URIs processed", "URI successes", "URI failures", "URI disregards")
    )
    yield ""
    yield f"novel URIs: {table.get('novelCount', 0)}"
    repeated = (("duplicate-by-hash", "dupByHash"), ("not-modified", "notModified"))
    for words, name in repeated:
        if f"{name}Count" in table:
            yield f"{words} URIs: {table[f'{name}Count']}"
    yield ""
    yield f"total crawled bytes: {_size(said['total crawled bytes'])} "
    yield f"novel crawled bytes: {_size(table.get('novel', 0))}"
    for words, name in repeated:
        if name in table:
            yield f"{words} crawled bytes: {_size(table[name])} "
    yield ""
    yield f"URIs/sec: {progress.decimal(said['URIs/sec'])}"
    yield f"KB/sec: {said['KB/sec']}"


def _size(size: int) -> str:
    return f"{size} ({progress.human(size)})"
