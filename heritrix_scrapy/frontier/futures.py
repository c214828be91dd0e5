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


#: URIs that go back to their queues at once: when a crawl goes on, a million may be due.
RETURNED = 200
#: The last moment of the year 9999: no later time can be written down.
LATEST_MS = 253_402_300_799_999


class Futures:
    """URIs that wait for their time outside the queues. ``next_due``: the earliest time, None while there is none."""

    def __init__(self, ledger: Ledger, queues: Queues) -> None:
        self._ledger = ledger
        self._queues = queues
        self.next_due: int | None = None
        #: No URI waits under a lesser key: looking for the next must not walk over those that are gone.
        self._from = keys.FUTURE

    def postpone(self, queue: Queue, curi: CrawlURI, key: bytes) -> None:
        """To be fetched again: a URI with no past but its place. Raises TypeError, ValueError or OverflowError where
        its time is none."""
        due = min(int(curi.reschedule_at), LATEST_MS)
        curi.reschedule_at = -1
        later = unpack(pack(curi))
        curi.reschedule_at = due
        later.attempts = later.deferrals = 0
        later.annotations = []
        totals = self._ledger.totals
        row = msgspec.msgpack.encode((queue.class_key, key, pack(later)))
        totals.delayed += 1
        totals.future += 1
        at = keys.future(due, totals.delayed)
        self._ledger.put(at, row)
        self._from = min(self._from, at)
        if self.next_due is None or due < self.next_due:
            self.next_due = due

    def return_due(self, now_ms: int) -> None:
        """URIs that were to be fetched again by now go back to their queues, past the seen filter: the first of them,
        and the others when this is asked for again, which ``next_due`` tells."""
        ledger = self._ledger
        ledger.write()
        for key, row in ledger.store.first(self._from, keys.future(now_ms + 1, 0), RETURNED):
            ledger.delete(key)
            ledger.totals.future -= 1
            place = msgspec.msgpack.decode(row, type=tuple[str, bytes, bytes])
            if put_again(ledger, self._queues, *place) and ledger.journal is not None:
                ledger.journal.added(unpack(place[2]))
            self._from = key + b"\0"
        self.find_next()

    def find_next(self) -> None:
        """Learn ``next_due`` from the store."""
        first = self._ledger.store.first(self._from, keys.after(keys.FUTURE), 1)
        self.next_due = int.from_bytes(first[0][0][1:9], "big") if first else None
