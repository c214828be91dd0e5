"""What does the frontier count, and which numbers must never be given twice?

One row, written with every batch, so that counters and rows always agree.
"""

from __future__ import annotations

import msgspec

from heritrix_scrapy.model.status import Disposition

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
