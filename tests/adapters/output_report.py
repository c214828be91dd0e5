"""What the log lines, times and progress lines of ``heritrix_scrapy.report`` do with the cases of output.json."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.report import progress, times
from heritrix_scrapy.report.log_line import line, truncate_mime

NUMBERS = {"NaN": float("nan"), "Infinity": float("inf")}


def logged(asked: dict[str, Any]) -> CrawlURI:
    curi = CrawlURI(
        asked["uri"], path=asked.get("hops") or "", via=asked.get("via"), source_tag=asked.get("source_tag")
    )
    curi.status = asked["status"]
    curi.attempts = asked.get("attempts", 1)
    curi.content_type = asked.get("content_type", "unknown")
    curi.content_size = asked.get("content_size", -1)
    curi.content_length = asked.get("content_length", -1) if asked.get("http") else -1
    curi.began_ms, curi.ended_ms = asked.get("begin_ms"), asked.get("completed_ms")
    curi.digest = asked.get("digest")
    curi.annotations = list(asked.get("annotations", ()))
    curi.extra_info = dict(asked.get("extra_info", {}))
    return curi


def crawl_log_line(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    got = line(
        logged(asked),
        0,
        thread=asked.get("thread", 0),
        extra_info=bool(asked.get("log_extra_info")),
        modern=False,
    )
    got = "<TS>" + got[len(times.log17(0)) :]
    return got == case["expected"], got


def mimetype_truncate(case: dict[str, Any]) -> tuple[bool, object]:
    got = truncate_mime(case["input"])
    return got == case["expected"], got


def double_to_string(case: dict[str, Any]) -> tuple[bool, object]:
    value = NUMBERS.get(case["input"], case["input"])
    got = {}
    for name in case["expected"]:
        least, _, most = name.rpartition("max")
        got[name] = progress.decimal(float(value), int(most), int(least.removeprefix("min") or 0))
    return got == case["expected"], got


def format_bytes(case: dict[str, Any]) -> tuple[bool, object]:
    got = progress.human(case["input"])
    return got == case["expected"], got


FIELDS = {
    "discovered": "discovered",
    "queued": "queued",
    "downloaded": "downloaded",
    "cur_docs": "current_docs",
    "avg_docs": "average_docs",
    "cur_kib": "current_kib",
    "avg_kib": "average_kib",
    "failures": "failures",
    "busy": "busy",
    "mem_kib": "memory_kib",
    "heap_kib": "heap_kib",
    "congestion": "congestion",
    "deepest": "deepest",
    "avg_depth": "average_depth",
}


def progress_line(case: dict[str, Any], *, modern: bool = False) -> tuple[bool, object]:
    asked = case["input"]
    if asked.get("legend"):
        return case["expected"] == progress.LEGEND, progress.LEGEND
    said = {ours: NUMBERS.get(asked[theirs], asked[theirs]) for theirs, ours in FIELDS.items()}
    got = progress.line(asked["ts_ms"], progress.Progress(**said), modern=modern)
    return got == case["expected"], got


def modern_progress_line(case: dict[str, Any]) -> tuple[bool, object]:
    return progress_line(case, modern=True)


ADAPTERS = {
    "output/crawl_log_line": crawl_log_line,
    "output/mimetype_truncate": mimetype_truncate,
    "output/double_to_string": double_to_string,
    "output/format_bytes": format_bytes,
    "output/progress_line": progress_line,
}
MODERN = {"output/progress_line": modern_progress_line}
MODERN_ROWS = {"output/progress_line": "report-progress-columns"}
