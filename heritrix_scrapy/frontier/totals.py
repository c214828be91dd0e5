"""What does the frontier count, and which numbers must never be given twice?

One row, written with every batch, so that counters and rows always agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.model.status import ROBOTS_PRECLUDED, Disposition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.model.hosts import Tally

# looking a member up in its enumeration costs more than counting
_SUCCESS, _DISREGARDED = Disposition.SUCCESS, Disposition.DISREGARDED


class Totals(msgspec.Struct, omit_defaults=True):
    """``heritrix``: layout of the queues' keys, settled when the crawl began; ``ordinal``,
    ``queues``, ``turn``, ``delayed``, ``batch``: last numbers given; ``spider_asked``: some page was asked for
    by the spider; ``over``: the crawl came to its end.

    ``discovered``: URIs that passed the seen filter; ``candidates``: those that came to it, forced ones aside;
    ``superseded``: entries dropped because the spider had asked for their page; ``unqueuable``: could not be
    stored.
    """

    heritrix: bool = False
    ordinal: int = 0
    queues: int = 0
    turn: int = 0
    delayed: int = 0
    spider_asked: bool = False
    over: bool = False
    queued: int = 0
    future: int = 0
    discovered: int = 0
    candidates: int = 0
    succeeded: int = 0
    failed: int = 0
    disregarded: int = 0
    retried: int = 0
    superseded: int = 0
    unqueuable: int = 0
    rejected: int = 0
    processed_bytes: int = 0
    suspected_traps: int = 0
    batch: int = 0

    @property
    def finished(self) -> int:
        return self.succeeded + self.failed + self.disregarded

    def count(self, disposition: Disposition, size: int) -> None:
        """A URI has come to its end with so many bytes recorded."""
        if disposition is _SUCCESS:
            self.succeeded += 1
            if size > 0:
                self.processed_bytes += size
        elif disposition is _DISREGARDED:
            self.disregarded += 1
        else:
            self.failed += 1


class Unsynced(msgspec.Struct, array_like=True):
    """What one flush finished. ``lengths``: what each archive file must at least hold for it; ``finished``: class
    key, key and row of each URI, as it takes to put it back."""

    lengths: dict[str, int]
    finished: list[tuple[str, bytes, bytes]]


def tally_end(
    tallies: Iterable[Tally],
    disposition: Disposition,
    code: int,
    size: int,
    now_ms: int,
    kind: str = "novel",
    warc_novel: tuple[int, int] = (0, 0),
) -> None:
    """Count a final disposition of what all of these stand for (Heritrix: FetchStats.tally). ``kind``: what its bytes
    count as; ``warc_novel``: bytes and records that the WARC has of it and had not before."""
    bytes_ = max(size, 0)
    written, records = warc_novel
    for tally in tallies:
        if code > 0:
            if kind == "novel":
                tally.novel_bytes += bytes_
                tally.novel_urls += 1
            else:
                setattr(tally, f"{kind}_bytes", getattr(tally, f"{kind}_bytes") + bytes_)
                setattr(tally, f"{kind}_urls", getattr(tally, f"{kind}_urls") + 1)
            if records:
                tally.warc_novel_bytes += written
                tally.warc_novel_urls += records
        if disposition is _SUCCESS:
            tally.successes += 1
            tally.responses += 1
            tally.success_bytes += size
            tally.total_bytes += size
            tally.last_success_ms = now_ms
        elif disposition is _DISREGARDED:
            tally.disregards += 1
            tally.robots_denials += code == ROBOTS_PRECLUDED
        else:
            tally.failures += 1
            if code <= 0:
                tally.nonresponses += 1
            else:
                tally.responses += 1
                tally.total_bytes += size
