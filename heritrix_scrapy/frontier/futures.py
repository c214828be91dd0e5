"""Which URIs are to be fetched again, and when?

They lie in the store by their time, with the place they had in their queue (Heritrix: futureUris, section 14).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.recovery import put_again
from heritrix_scrapy.model.crawluri import pack, unpack

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI


class Futures:
    """URIs that wait for their time outside the queues. ``next_due``: the earliest time, None while there is none."""

    def __init__(self, ledger: Ledger, queues: Queues) -> None:
        self._ledger = ledger
        self._queues = queues
        self.next_due: int | None = None

    def postpone(self, queue: Queue, curi: CrawlURI, key: bytes) -> None:
        """To be fetched again: a URI with no past but its place."""
        due = curi.reschedule_at
        later = unpack(pack(curi))
        later.attempts = later.deferrals = 0
        later.reschedule_at = -1
        later.annotations = []
        totals = self._ledger.totals
        totals.delayed += 1
        totals.future += 1
        row = msgspec.msgpack.encode((queue.class_key, key, pack(later)))
        self._ledger.put(keys.future(due, totals.delayed), row)
        if self.next_due is None or due < self.next_due:
            self.next_due = due

    def return_due(self, now_ms: int) -> None:
        """URIs that were to be fetched again by now go back to their queues, past the seen filter."""
        ledger = self._ledger
        ledger.write()
        for key, row in list(ledger.store.range(keys.FUTURE, keys.future(now_ms + 1, 0))):
            ledger.delete(key)
            ledger.totals.future -= 1
            place = msgspec.msgpack.decode(row, type=tuple[str, bytes, bytes])
            if put_again(ledger, self._queues, *place) and ledger.journal is not None:
                ledger.journal.added(unpack(place[2]))
        self.find_next(now_ms + 1)

    def find_next(self, from_ms: int) -> None:
        rows = self._ledger.store.range(keys.future(from_ms, 0), keys.after(keys.FUTURE))
        first = next(iter(rows), None)
        self.next_due = None if first is None else int.from_bytes(first[0][1:9], "big")
