"""Where did the last process leave off?

Everything is read from the store: the counters, the record of each queue, and what the last second finished.
Never all URIs. A queue that was ready or in process takes its turn again, before those that waited behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.queue import unpack_record
from heritrix_scrapy.frontier.states import ACTIVE, State
from heritrix_scrapy.frontier.totals import Totals, Unsynced

if TYPE_CHECKING:
    from heritrix_scrapy.crawl import Store
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.queues import Queues

#: A queue that seems to sleep longer than this was put to sleep by a wrong clock.
LONGEST_SNOOZE_MS = 8 * 24 * 3600 * 1000

_ALL = (
    keys.SEEN,
    keys.REQUEST,
    keys.QUEUED,
    keys.QUEUE,
    keys.QUEUE_NAME,
    keys.FUTURE,
    keys.UNSYNCED,
    b"h",
)


class Recovery(NamedTuple):
    """What opening found. ``repeated``: finished URIs that will be fetched again, as their end was not recorded
    (``log_lines_ahead``) or their records are lost (``warc_requeued``)."""

    queued: int = 0
    in_flight: int = 0
    repeated: int = 0
    new: bool = True
    log_lines_ahead: int = 0
    warc_requeued: int = 0

    def __str__(self) -> str:
        text = f"{self.queued} URIs queued, {self.in_flight} of them were in flight"
        if self.repeated:
            text += (
                f"; {self.repeated} finished ones will be fetched again ({self.log_lines_ahead} not recorded, "
                f"{self.warc_requeued} lost from the WARC)"
            )
        return text


def recover(ledger: Ledger, queues: Queues, now_ms: int, *, fresh: bool) -> Recovery:
    """Restore counters, queues and lists. A crawl that came to its end, or ``fresh``, empties the store first."""
    store = ledger.store
    row = store.get(keys.STATE)
    totals = None if row is None else msgspec.msgpack.decode(row, type=Totals)
    if totals is not None and (fresh or totals.over):
        wipe(store)
        totals = None
    if totals is None:
        return Recovery()
    ledger.totals = totals
    ledger.tallies = _tallies(store)
    in_flight = _restore_queues(ledger, queues, now_ms)
    requeued = _put_lost_back(ledger, queues)
    lengths = store.get(keys.LENGTHS)
    ahead = ledger.recover_logs({} if lengths is None else msgspec.msgpack.decode(lengths, type=dict[str, int]))
    return Recovery(totals.queued, in_flight, ahead + requeued, False, ahead, requeued)


def _tallies(store: Store) -> dict[str, int]:
    start = len(keys.TALLY)
    return {
        key[start:].decode("utf-8", "surrogatepass"): int(value)
        for key, value in store.range(keys.TALLY, keys.after(keys.TALLY))
    }


def _restore_queues(ledger: Ledger, queues: Queues, now_ms: int) -> int:
    """Lists and queued count, from the queue records; returns how many queues had a URI in process."""
    inactive: list[tuple[int, int, str]] = []
    snoozed: list[tuple[int, str]] = []
    retired: list[tuple[int, str]] = []
    queued = in_flight = 0
    for key, row in ledger.store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        class_key = key[1:].decode("utf-8", "surrogatepass")
        record = unpack_record(row)
        state = State(record.state)
        if state is State.RETIRED:
            retired.append((record.turn, class_key))
        else:
            queued += record.count
            if state is State.SNOOZED and now_ms < record.wake_ms <= now_ms + LONGEST_SNOOZE_MS:
                snoozed.append((record.wake_ms, class_key))
            elif record.count:
                in_flight += state is State.IN_PROCESS
                turn = record.turn - (1 << 60) if state in ACTIVE else record.turn
                inactive.append((turn, record.precedence, class_key))
                state = State.INACTIVE
            else:
                state = State.EXHAUSTED
        queues.by_state[state] += 1
        if state != record.state:
            record.state = state
            record.in_session = False
            queues.adopt(class_key, record)
    queues.lists.restore(inactive, snoozed, [class_key for _, class_key in sorted(retired)])
    ledger.totals.queued = queued
    return in_flight


def _put_lost_back(ledger: Ledger, queues: Queues) -> int:
    """Put back what was finished into a WARC file that is shorter now than it was: the power failed."""
    requeued = 0
    for key, row in list(ledger.store.range(keys.UNSYNCED, keys.after(keys.UNSYNCED))):
        flush = msgspec.msgpack.decode(row, type=Unsynced)
        if any(ledger.archive_length(name, length) < length for name, length in flush.lengths.items()):
            requeued += sum([put_again(ledger, queues, *finished) for finished in flush.finished])
        ledger.delete(key)
    return requeued


def put_again(ledger: Ledger, queues: Queues, class_key: str, key: bytes, row: bytes) -> bool:
    """Put a finished URI back under its old key, past the seen filter; False when it is there already."""
    queue = queues.get(class_key)
    if queue is None or ledger.get(key) is not None:
        return False
    ledger.put(key, row)
    queue.insert(key, row)
    queues.added(queue)
    return True


def wipe(store: Store) -> None:
    """Remove every row of the frontier; the schema's stays."""
    for prefix in (*_ALL, keys.TALLY, keys.SEED, keys.STATE, keys.LENGTHS):
        doomed: list[bytes] = []
        for key, _ in store.range(prefix, keys.after(prefix)):
            doomed.append(key)
            if len(doomed) == 10_000:
                store.write([], doomed)
                doomed = []
        store.write([], doomed)
