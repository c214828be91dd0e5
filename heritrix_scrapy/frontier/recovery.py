"""Where did the last process leave off?

Everything is read from the store: the counters, the record of each queue, and what the last second finished.
Never all URIs. A queue that was ready or in process takes its turn again, before those that waited behind it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.growth import Joined
from heritrix_scrapy.frontier.queue import QueueRecord, unpack_record
from heritrix_scrapy.frontier.states import ACTIVE, State
from heritrix_scrapy.frontier.status import tallies_of_store
from heritrix_scrapy.frontier.totals import Totals, Unsynced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heritrix_scrapy.crawl import Store
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.queues import Queues

logger = logging.getLogger(__name__)

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
    keys.GROWTH,
    b"h",
)


class Recovery(NamedTuple):
    """What opening found. ``repeated``: finished URIs that will be fetched again, as their end was not recorded
    (``log_lines_ahead``) or their records or lines are lost (``warc_requeued``); ``recounted``: queues that said to
    be empty and were not, or whose record was lost."""

    queued: int = 0
    in_flight: int = 0
    repeated: int = 0
    new: bool = True
    log_lines_ahead: int = 0
    warc_requeued: int = 0
    recounted: int = 0

    def __str__(self) -> str:
        text = f"{self.queued} URIs queued, {self.in_flight} of them were in flight"
        if self.repeated:
            text += (
                f"; {self.repeated} finished ones will be fetched again ({self.log_lines_ahead} not recorded, "
                f"{self.warc_requeued} lost from WARC or log)"
            )
        if self.recounted:
            text += f"; the counters of {self.recounted} queues were wrong and have been put right"
        return text


def recover(ledger: Ledger, queues: Queues, now_ms: int, *, fresh: bool) -> Recovery:
    """Restore counters, queues and lists. A crawl that came to its end, or ``fresh``, empties the store first."""
    store = ledger.store
    row = store.get(keys.STATE)
    totals = None if row is None else msgspec.msgpack.decode(row, type=Totals)
    if fresh or (totals is not None and totals.over):
        if totals is not None and not totals.over:
            # a process that dies while it wipes must not leave half a crawl to the next
            totals.over = True
            store.write([(keys.STATE, msgspec.msgpack.encode(totals))])
        wipe(store)
        return Recovery()
    damaged = bool(getattr(store, "damage", ()))
    if totals is None:
        totals = _totals_of_rows(store, ledger.totals)
        if totals is None:
            return Recovery()
        damaged = True
        logger.error("the frontier's counters are lost: they are made anew from its rows")
    ledger.totals = totals
    ledger.tallies = tallies_of_store(store)
    joined = Joined(store)
    recounted = _recount(ledger, joined, everything=damaged)
    in_flight = _restore_queues(ledger, queues, now_ms, recounted, joined)
    for key in joined.rows:
        ledger.delete(key)
    lengths = store.get(keys.LENGTHS)
    ahead = ledger.recover_logs({} if lengths is None else msgspec.msgpack.decode(lengths, type=dict[str, int]))
    requeued = _put_lost_back(ledger, queues, log_lost=ahead < 0)
    ahead = max(ahead, 0)
    return Recovery(totals.queued, in_flight, ahead + requeued, False, ahead, requeued, len(recounted))


def _totals_of_rows(store: Store, empty: Totals) -> Totals | None:
    """Counters for a store that has lost them: the numbers that must not be given twice, read from all URIs. None
    for a store without queues."""
    numbers = [number for number, _ in _queues_with_rows(store)]
    names = [int.from_bytes(key[1:5], "big") for key, _ in store.range(keys.QUEUE_NAME, keys.after(keys.QUEUE_NAME))]
    if not numbers and not names:
        return None
    empty.queues = max([*numbers, *names])
    empty.spider_asked = True
    for key, _ in store.range(keys.QUEUED, keys.after(keys.QUEUED)):
        empty.ordinal = max(empty.ordinal, keys.ordinal_of(key))
    return empty


def _queues_with_rows(store: Store) -> Iterator[tuple[int, bytes]]:
    """Numbers of the queues that hold a URI, with the key of the first; one seek each."""
    start, stop = keys.QUEUED, keys.after(keys.QUEUED)
    while (row := next(iter(store.range(start, stop)), None)) is not None:
        number = int.from_bytes(row[0][1:5], "big")
        yield number, row[0]
        start = keys.queued_prefix(number + 1)


def _recount(ledger: Ledger, joined: Joined, *, everything: bool) -> dict[str, QueueRecord]:
    """The records of queues that hold URIs where they say to be empty, or have no record; ``everything``: of all
    whose count is wrong. No queue is read to its end but those."""
    store = ledger.store
    holding = dict(_queues_with_rows(store))
    wrong: dict[str, QueueRecord] = {}

    def count(number: int) -> int:
        prefix = keys.queued_prefix(number)
        return sum(1 for _ in store.range(prefix, keys.after(prefix)))

    for key, row in store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        record = unpack_record(row)
        stored = record.count
        joined.added(record)
        first = holding.pop(record.number, None)
        if first is not None and (not stored or everything or record.hint > first):
            found = count(record.number)
        elif first is None and record.count:
            found = 0
        else:
            continue
        if found != record.count or (first is not None and record.hint > first):
            record.count, record.hint = found, first or b""
            wrong[key[1:].decode("utf-8", "surrogatepass")] = record
    for number, first in holding.items():
        name = store.get(keys.queue_name(number))
        if name is None:
            name = b"recovered,%d" % number
            ledger.put(keys.queue_name(number), name)
        record = QueueRecord(number, State.INACTIVE, count(number), hint=first)
        wrong[name.decode("utf-8", "surrogatepass")] = record
    return wrong


def _restore_queues(
    ledger: Ledger, queues: Queues, now_ms: int, recounted: dict[str, QueueRecord], joined: Joined
) -> int:
    """Lists and queued count, from the queue records; returns how many queues had a URI in process."""
    inactive: list[tuple[int, int, str]] = []
    snoozed: list[tuple[int, str]] = []
    retired: list[tuple[int, str]] = []
    queued = in_flight = 0
    for class_key, record in _records(ledger.store, recounted):
        grew = class_key not in recounted and joined.added(record)
        # never a number again that a record has
        ledger.totals.batch = max(ledger.totals.batch, record.written)
        state = State(record.state)
        if state is State.RETIRED:
            retired.append((record.turn, class_key))
        else:
            queued += record.count
            if state is State.SNOOZED and now_ms < record.wake_ms <= now_ms + (record.rest_ms or LONGEST_SNOOZE_MS):
                snoozed.append((record.wake_ms, class_key))
            elif record.count:
                in_flight += state is State.IN_PROCESS
                turn = record.turn - (1 << 60) if state in ACTIVE else record.turn
                inactive.append((turn, record.precedence, class_key))
                state = State.INACTIVE
            else:
                state = State.EXHAUSTED
        queues.by_state[state] += 1
        ledger.largest.meet(class_key, record.count)
        if state != record.state or class_key in recounted or grew:
            if state != record.state or class_key in recounted:
                record.in_session = False
            record.state = state
            queues.adopt(class_key, record)
    queues.lists.restore(inactive, snoozed, [class_key for _, class_key in sorted(retired)])
    ledger.totals.queued = queued
    return in_flight


def _records(store: Store, recounted: dict[str, QueueRecord]) -> Iterator[tuple[str, QueueRecord]]:
    """Every queue's record, put right where it was wrong."""
    stored = set()
    for key, row in store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        class_key = key[1:].decode("utf-8", "surrogatepass")
        if class_key in recounted:
            stored.add(class_key)
        yield class_key, recounted.get(class_key) or unpack_record(row)
    for class_key, record in recounted.items():
        if class_key not in stored:
            yield class_key, record


def _put_lost_back(ledger: Ledger, queues: Queues, *, log_lost: bool) -> int:
    """Put back what was finished into a WARC file or a log that is shorter now than it was: the power failed."""
    requeued = 0
    for key, row in list(ledger.store.range(keys.UNSYNCED, keys.after(keys.UNSYNCED))):
        flush = msgspec.msgpack.decode(row, type=Unsynced)
        if log_lost or any(ledger.archive_length(name, length) < length for name, length in flush.lengths.items()):
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
    queues.ranked(queue, key, 1)
    queues.added(queue)
    return True


def wipe(store: Store) -> None:
    """Remove every row of the frontier; the schema's stays."""
    for prefix in (*_ALL, keys.TALLY, keys.SEED, keys.IMPORT, keys.STATE, keys.LENGTHS):
        doomed: list[bytes] = []
        for key, _ in store.range(prefix, keys.after(prefix)):
            doomed.append(key)
            if len(doomed) == 10_000:
                store.write([], doomed)
                doomed = []
        store.write([], doomed)
