"""What is to be written next, and in which order does it reach the disk?

Rows that belong together are one batch. Until it is written nothing of it counts: the URIs it finishes are still
in their queues. A flush first hands archives and logs to the system, then writes the batch, which names how
long they are by then; so the store never claims what the files do not hold. Once a second everything is
synced. What was finished since is kept until then, in case the power fails and takes the archives' ends along.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.frontier import growth, keys
from heritrix_scrapy.frontier.growth import JOINED, Growth
from heritrix_scrapy.frontier.known import Known
from heritrix_scrapy.frontier.largest import Largest
from heritrix_scrapy.frontier.states import ACTIVE
from heritrix_scrapy.frontier.totals import Totals, Unsynced
from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heritrix_scrapy.crawl import Archive, Clock, Report, Store
    from heritrix_scrapy.frontier.journal import Journal
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

logger = logging.getLogger(__name__)

#: A batch is written when it finishes so many URIs, holds so many rows, or is so old.
FLUSH_URIS = 20
FLUSH_ROWS = 4000
FLUSH_MS = 50
#: Archives and store are synced so often.
SYNC_MS = 1000


class Ledger:
    """The batch that waits, laid over the store. ``totals``: counters, written with every batch; ``changed``:
    queues whose records are, by class key; ``finished``: (class key, key, row) of each URI that it finishes;
    ``puts``, ``deletes``: rows to be written and removed, for reading and, after a ``touch``, for new keys;
    ``get_stored``: a row as it stands; ``longest``: how many
    of the longest queues are known."""

    def __init__(
        self,
        store: Store,
        totals: Totals,
        *,
        hosts: Hosts,
        clock: Clock,
        report: Report | None = None,
        archives: Sequence[Archive] = (),
        records_wait: int = JOINED,
        longest: int = 20,
    ) -> None:
        self.store = store
        self.totals = totals
        self.changed: dict[str, Queue] = {}
        #: Queues that URIs joined since their records were written, by class key; each joining since the last batch.
        self.grown: dict[str, Queue] = {}
        self.joined: list[Queue] = []
        self._growth = Growth(self.grown, records_wait)
        #: What has been met before.
        self.known = Known()
        self.finished: list[tuple[str, bytes, bytes]] = []
        #: Counters of the reports over the whole crawl, but for what they have not handed over yet: see ``counted``.
        self.tallies: dict[str, int] = {}
        #: Heritrix's recovery journal; None: none is kept.
        self.journal: Journal | None = None
        self.largest = Largest(longest)
        #: Those of them that the next batch writes.
        self._tallied: dict[str, int] = {}
        self._hosts = hosts
        self._clock = clock
        self._report = report
        self._archives = archives
        self.get_stored = store.get
        self.puts: dict[bytes, bytes] = {}
        self.deletes: set[bytes] = set()
        self._lengths: dict[str, int] = {}
        self._unsynced: list[bytes] = []
        self._flushes = 0
        self._since_ms: int | None = None
        self._must_sync = False
        self._synced_ms = 0

    # -- rows ----------------------------------------------------------------------------------------------

    def put(self, key: bytes, value: bytes) -> None:
        """Write a row with the next flush; the last word on a key holds."""
        self.puts[key] = value
        self.deletes.discard(key)
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def delete(self, key: bytes) -> None:
        """Remove a row with the next flush."""
        self.puts.pop(key, None)
        self.deletes.add(key)
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def get(self, key: bytes) -> bytes | None:
        """A row as it will stand."""
        value = self.puts.get(key)
        if value is not None:
            return value
        if key in self.deletes:
            return None
        return self.get_stored(key)

    def waiting(self, start: bytes, stop: bytes) -> list[bytes]:
        """Keys from ``start`` to before ``stop`` that the batch writes, in their order."""
        return sorted([key for key in self.puts if start <= key < stop])

    def range(self, start: bytes, stop: bytes, waiting: list[bytes] | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Rows from ``start`` to before ``stop`` as they will stand. The batch must not change meanwhile.
        ``waiting``: what ``waiting`` said of as much or more, for who asks for several ranges of it."""
        puts, deletes = self.puts, self.deletes
        if waiting is None:
            waiting = self.waiting(start, stop)
        at, end = bisect_left(waiting, start), bisect_left(waiting, stop)
        for key, value in self.store.range(start, stop):
            while at < end and waiting[at] < key:
                yield waiting[at], puts[waiting[at]]
                at += 1
            if at < end and waiting[at] == key:
                yield key, puts[key]
                at += 1
            elif key not in deletes:
                yield key, value
        for own in waiting[at:end]:
            yield own, puts[own]

    def see(self, row: bytes, value: bytes = b"") -> None:
        """A URI joins the seen under that row."""
        self.put(row, value)
        self.known.take(row)

    def forget(self, row: bytes) -> None:
        """A URI is no longer among the seen."""
        self.delete(row)
        self.known.forget(row)

    def unseen(self, canonical: str) -> bytes | None:
        """The row that a canonical form will have among the seen; None when it is there already."""
        row = keys.seen(canonical)
        return row if self.get(row) is None else None

    def change(self, queue: Queue) -> None:
        """Have the queue's record written with the next flush."""
        self.changed[queue.class_key] = queue
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def grow(self, queue: Queue, key: bytes) -> None:
        """A URI joined the queue under that key: its record can wait."""
        self.joined.append(queue)
        self.grown[queue.class_key] = queue
        if key < queue.record.hint:
            self.change(queue)
        elif self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def write_grown(self) -> None:
        """Have the records of all queues written with the next batch."""
        self.changed.update(self.grown)
        self._hosts.count_arrivals()
        self.deletes.update(self._growth.drop())
        self.touch()

    def touch(self) -> None:
        """Have a flush, be it for counters and logs only."""
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def retried(self, curi: CrawlURI) -> None:
        """A try failed and another follows: what went wrong goes into the logs."""
        if self._report is not None and (curi.errors or curi.link_errors or curi.seed):
            try:
                self._report.retried(curi)
            except StorageFull:
                raise
            except Exception:
                logger.exception("a try of %s could not be reported", curi.uri)

    def settle(self, curi: CrawlURI) -> None:
        """A URI came to its end: into the log, and into the reports' counters."""
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()
        if self._report is None:
            return
        try:
            self._report.finished(curi)
        except StorageFull:
            raise
        except Exception:
            logger.exception("the end of %s could not be reported", curi.uri)

    def counted(self) -> dict[str, int]:
        """The reports' counters over the whole crawl, as they stand now."""
        if self._report is not None:
            tallies, tallied = self.tallies, self._tallied
            for name, count in self._report.take_tallies().items():
                tallies[name] = tallied[name] = tallies.get(name, 0) + count
        return self.tallies

    # -- writing -------------------------------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """Whether the batch should not grow further."""
        return len(self.finished) >= FLUSH_URIS or len(self.puts) > FLUSH_ROWS

    def needs_flush_at(self) -> int | None:
        """When ``flush`` should be called; None while nothing waits to be written or synced."""
        if self._since_ms is not None:
            return self._since_ms + FLUSH_MS
        if self._must_sync:
            # a clock that was set back shows an earlier time than that of the last sync
            return min(self._synced_ms, self._clock.now_ms()) + SYNC_MS
        return None

    def flush(self, now_ms: int) -> None:
        """Write what waits, and sync once a second. Raises StorageFull; what waited still waits then."""
        self.write()
        if self._must_sync and not 0 <= now_ms - self._synced_ms < SYNC_MS:
            self.sync()
            self._synced_ms = now_ms

    def write(self) -> None:
        """Archives, then logs, then the batch that vouches for both. Raises StorageFull as ``flush`` does."""
        if self._since_ms is None:
            return
        for archive in self._archives:
            self._lengths.update(archive.flush())
        if self._report is not None:
            self.put(keys.LENGTHS, msgspec.msgpack.encode(dict(self._report.flush())))
        if self.journal is not None:
            self.journal.flush()
        puts, totals = self.puts, self.totals
        batch = totals.batch + 1
        self.deletes.update(self._growth.save(self.changed, len(self.joined)))
        update = self.largest.update
        for queue in self.changed.values():
            queue.record.written = batch
            puts[queue.row] = queue.packed()
            update(queue.class_key, queue.record.count)
        if self.joined:
            puts[keys.growth(batch)] = growth.pack(self.joined)
        self.counted()
        for name, count in self._tallied.items():
            puts[keys.tally(name)] = b"%d" % count
        # rows that nobody ever deletes
        puts.update(self._hosts.drain())
        for key in self._hosts.take_dropped():
            self.delete(key)
        unsynced = None
        if self.finished and self._lengths:
            unsynced = keys.unsynced(self._flushes)
            self.put(unsynced, msgspec.msgpack.encode(Unsynced(self._lengths, self.finished)))
        totals.batch = batch
        try:
            self.put(keys.STATE, msgspec.msgpack.encode(totals))
            self.store.write(self.puts.items(), self.deletes)
        except BaseException:
            # what waits goes under the same number then
            totals.batch = batch - 1
            raise
        # another one when the store had to be opened again
        self.get_stored = self.store.get
        if unsynced is not None:
            self._flushes += 1
            self._unsynced.append(unsynced)
        self.puts = {}
        self.deletes = set()
        if self.joined:
            self._growth.written(batch, self.joined)
            least = self.largest.least
            for queue in self.joined:
                queue.beyond = False
                if queue.record.count >= least:
                    update(queue.class_key, queue.record.count)
            self.joined.clear()
        for class_key, queue in self.changed.items():
            queue.beyond = False
            self.grown.pop(class_key, None)
            if queue.record.state not in ACTIVE:
                queue.trim()
        self.changed.clear()
        self.finished.clear()
        self._tallied.clear()
        self._since_ms = None
        self._must_sync = True

    def sync(self) -> None:
        """Have archives and store on the disk, and forget what was kept in case they were not."""
        for archive in self._archives:
            archive.sync()
        if self._report is not None:
            self._report.sync()
        if self.journal is not None:
            self.journal.flush(whole=True)
        self.store.write([], self._unsynced, sync=True)
        self._unsynced.clear()
        self._lengths.clear()
        self._must_sync = False

    # -- after a crash -------------------------------------------------------------------------------------

    def recover_logs(self, lengths: dict[str, int]) -> int:
        """How many log lines stand beyond what the last batch vouched for; -1 when even those are not all there."""
        return 0 if self._report is None else self._report.recover(lengths)

    def archive_length(self, name: str, otherwise: int) -> int:
        """Bytes that an archive file holds; ``otherwise`` when no writer can tell."""
        return max((archive.length(name) for archive in self._archives), default=otherwise)
