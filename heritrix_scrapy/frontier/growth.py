"""Which queues grew since their records were written?

A page has links into many queues, and the record of each costs as much as a URI of it. So a URI that joins a queue
writes no record: one row of a batch holds the numbers of all queues that URIs joined in it, and the records follow
when some ten thousand have, a few with each batch. A record knows the number of the batch that wrote it, so that
opening adds what joined later. The rows are dropped once all records that they speak of have been written.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from heritrix_scrapy.frontier import keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heritrix_scrapy.crawl import Store
    from heritrix_scrapy.frontier.queue import Queue, QueueRecord

#: URIs that join queues before the records follow.
JOINED = 30_000
#: Records written with one batch at least.
SAVED = 200


def pack(joined: Sequence[Queue]) -> bytes:
    """The row of one batch: the number of each joined queue, four bytes, as often as it was joined."""
    return struct.pack(f">{len(joined)}I", *[queue.record.number for queue in joined])


class Growth:
    """When are records written, and rows dropped? ``grown``: queues that are larger than their records say;
    ``wait``: so many URIs join before the records follow."""

    def __init__(self, grown: dict[str, Queue], wait: int = JOINED) -> None:
        self._grown = grown
        self._wait = wait
        #: Rows since the last time that records were asked for, and how many URIs joined in them.
        self._rows: list[bytes] = []
        self._joined = 0
        #: Queues whose records are still to be written, and rows to be dropped then.
        self._saving: list[Queue] = []
        self._dropped: list[bytes] = []

    def written(self, batch: int, joined: Sequence[Queue]) -> None:
        """A row was written."""
        self._rows.append(keys.growth(batch))
        self._joined += len(joined)

    def save(self, changed: dict[str, Queue], joined: int) -> list[bytes]:
        """Add some queues to those whose records the next batch writes, as many as URIs joined in it at least; the rows
        that it can drop."""
        if not self._saving:
            if self._joined < self._wait:
                return []
            self._saving = list(self._grown.values())
            self._dropped, self._rows, self._joined = self._rows, [], 0
        count = max(SAVED, joined)
        for queue in self._saving[-count:]:
            if self._grown.get(queue.class_key) is queue:
                changed[queue.class_key] = queue
        del self._saving[-count:]
        if self._saving:
            return []
        dropped, self._dropped = self._dropped, []
        return dropped

    def drop(self) -> list[bytes]:
        """The rows that can go with the next batch, when that writes the records of all grown queues."""
        dropped = self._dropped + self._rows
        self._rows, self._dropped, self._saving, self._joined = [], [], [], 0
        return dropped


class Joined:
    """What the rows of a store say. ``rows``: their keys; ``last``: number of the last batch that has one; ``batches``:
    number of a queue → numbers of the batches in which a URI joined it."""

    def __init__(self, store: Store) -> None:
        self.rows: list[bytes] = []
        self.last = 0
        self.batches: dict[int, list[int]] = {}
        for key, row in store.range(keys.GROWTH, keys.after(keys.GROWTH)):
            self.rows.append(key)
            batch = self.last = int.from_bytes(key[1:], "big")
            for number in struct.unpack(f">{len(row) // 4}I", row):
                self.batches.setdefault(number, []).append(batch)

    def added(self, record: QueueRecord) -> int:
        """Add what joined the queue after its record was written; how many."""
        batches: Iterable[int] = self.batches.get(record.number, ())
        count = sum(batch > record.written for batch in batches)
        if count:
            record.count += count
            record.enqueued += count
        return count
