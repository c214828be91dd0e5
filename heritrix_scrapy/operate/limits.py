"""When has a crawl got enough?

Limits on the whole crawl, looked at now and then (Heritrix: CrawlLimitEnforcer, WARCLimitEnforcer), and on its time,
asked for each URI (RuntimeLimitEnforcer). Numbers go in, a verdict comes out (spec/frontier 23.1, 23.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heritrix_scrapy.operate.life import End

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The crawl at a moment. ``warc_*``: content that the WARC files hold and did not hold before; ``elapsed_ms``:
    without pauses."""

    bytes_processed: int = 0
    novel_bytes: int = 0
    warc_novel_bytes: int = 0
    downloaded: int = 0
    novel_urls: int = 0
    warc_novel_urls: int = 0
    elapsed_ms: int = 0


class Limit(NamedTuple):
    """``setting``: attribute on the View; ``counter``: field of a Snapshot; ``unit``: how much of it the setting counts
    as one."""

    setting: str
    counter: str
    end: End
    unit: int = 1


#: In this order; the first that is reached counts.
LIMITS: Final = (
    Limit("max_bytes_download", "bytes_processed", End.FINISHED_DATA_LIMIT),
    Limit("max_novel_bytes", "novel_bytes", End.FINISHED_DATA_LIMIT),
    Limit("max_warc_novel_bytes", "warc_novel_bytes", End.FINISHED_DATA_LIMIT),
    Limit("max_documents_download", "downloaded", End.FINISHED_DOCUMENT_LIMIT),
    Limit("max_novel_urls", "novel_urls", End.FINISHED_DOCUMENT_LIMIT),
    Limit("max_warc_novel_urls", "warc_novel_urls", End.FINISHED_DOCUMENT_LIMIT),
    Limit("max_time_seconds", "elapsed_ms", End.FINISHED_TIME_LIMIT, 1000),
)


def snapshot(tallies: Mapping[str, int], elapsed_ms: int) -> Snapshot:
    """The moment that the crawl's counters (see ``report.tally.Ends``) show."""
    return Snapshot(
        bytes_processed=sum(count for name, count in tallies.items() if name.startswith("bytes/")),
        novel_bytes=tallies.get("bytes/novel", 0),
        warc_novel_bytes=tallies.get("bytes_written/novel", 0),
        downloaded=tallies.get("uris/downloaded", 0),
        novel_urls=tallies.get("urls/novel", 0),
        warc_novel_urls=tallies.get("urls_written/novel", 0),
        elapsed_ms=elapsed_ms,
    )


def reached(wanted: Any, now: Snapshot) -> tuple[End, str] | None:
    """The limit that the crawl has reached, and words for it; None when it may go on. ``wanted``: has each
    setting as an attribute; 0 is no limit."""
    for limit in LIMITS:
        most = getattr(wanted, limit.setting)
        if most and getattr(now, limit.counter) >= most * limit.unit:
            return limit.end, f"HERITRIX_{limit.setting.upper()} = {most} is reached"
    return None


#: Counter of Heritrix's WARC writer → ours.
WARC_COUNTERS: Final = {
    "numRecords": "num_records",
    "contentBytes": "content_bytes",
    "totalBytes": "total_bytes",
    "sizeOnDisk": "size_on_disk",
}


def written(limits: Mapping[str, Mapping[str, int]], counters: Mapping[str, int]) -> str | None:
    """Words for the limit on what writers wrote that is reached. ``limits``: record type, or ``totals`` → counter →
    number; ``counters``: ``TYPE/COUNTER`` → how much so far, of all writers together. A counter that does not exist
    is 0 (Heritrix fails on it)."""
    for kind, each in limits.items():
        for name, most in each.items():
            if counters.get(f"{kind}/{WARC_COUNTERS.get(name, name)}", 0) >= most:
                return f"HERITRIX_WARC_LIMITS: {name} of {kind} has reached {most}"
    return None


PAUSE: Final = "PAUSE"
TERMINATE: Final = "TERMINATE"
BLOCK_URIS: Final = "BLOCK_URIS"


def outlived(seconds: float, elapsed_ms: int) -> bool:
    """Whether a crawl has run for longer than it may; 0 seconds is no limit."""
    return bool(seconds) and elapsed_ms > seconds * 1000


def expired(seconds: float, *, modern: bool = True) -> str:
    """Annotation of a URI that came too late. Heritrix's has blanks, which do not go into a column of a log."""
    return f"{'runtimeExceeded:' if modern else 'Runtime exceeded '}{int(seconds * 1000)}ms"


def seeds_failed(tallies: Mapping[str, int], share: float) -> str | None:
    """Words for seeds that did not answer, when there were more than may be. ``share``: of all that have ended, from
    0 to 1; all of them are too many whatever the share, unless it is 0, which asks for nothing."""
    good, bad = tallies.get("seeds/answered", 0), tallies.get("seeds/unanswered", 0)
    if not share or not bad:
        return None
    if not good:
        return f"none of {bad} seeds answered" if bad > 1 else "the seed did not answer"
    if bad / (good + bad) > share:
        return f"{bad} of {good + bad} seeds did not answer"
    return None
