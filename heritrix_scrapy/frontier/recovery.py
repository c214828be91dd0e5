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
from heritrix_scrapy.frontier.queue import QueueRecord, pack_record, unpack_head, unpack_record
from heritrix_scrapy.frontier.states import ACTIVE, State
from heritrix_scrapy.frontier.status import tallies_of_store
from heritrix_scrapy.frontier.totals import Totals, Unsynced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.crawl import Store
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.queues import Queues

logger = logging.getLogger(__name__)

#: A queue that seems to sleep longer than this was put to sleep by a wrong clock.
LONGEST_SNOOZE_MS = 8 * 24 * 3600 * 1000
#: Turns for each queue up to which there is a place for every turn.
SPARSE = 8
#: Records written anew at once.
REWRITTEN = 5000

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
    lost = totals is None
    if totals is None or damaged:
        totals = totals or ledger.totals
        _learn_numbers(store, totals)
        if lost and not totals.queues:
            return Recovery()
        damaged = totals.spider_asked = True
    if lost:
        logger.error("the frontier's counters are lost: they are made anew from its rows")
    ledger.totals = totals
    ledger.tallies = tallies_of_store(store)
    joined = Joined(store)
    in_flight, recounted = _restore_queues(ledger, queues, now_ms, joined, damaged=damaged)
    for key in joined.rows:
        ledger.delete(key)
    lengths = store.get(keys.LENGTHS)
    ahead = ledger.recover_logs({} if lengths is None else msgspec.msgpack.decode(lengths, type=dict[str, int]))
    requeued = _put_lost_back(ledger, queues, log_lost=ahead < 0)
    ahead = max(ahead, 0)
    return Recovery(totals.queued, in_flight, ahead + requeued, False, ahead, requeued, recounted)


def _learn_numbers(store: Store, totals: Totals) -> None:
    """Counters that are lost, or may be of an earlier time: none of the numbers that a row has is given again."""
    for key, _ in store.range(keys.QUEUED, keys.after(keys.QUEUED)):
        totals.queues = max(totals.queues, int.from_bytes(key[1:5], "big"))
        totals.ordinal = max(totals.ordinal, keys.ordinal_of(key))
    for key, _ in store.range(keys.QUEUE_NAME, keys.after(keys.QUEUE_NAME)):
        totals.queues = max(totals.queues, int.from_bytes(key[1:5], "big"))
    for _, row in store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        record = unpack_record(row)
        totals.queues = max(totals.queues, record.number)
        totals.turn, totals.batch = max(totals.turn, record.turn), max(totals.batch, record.written)
    for key, _ in store.range(keys.GROWTH, keys.after(keys.GROWTH)):
        totals.batch = max(totals.batch, int.from_bytes(key[1:], "big"))
    for key, _ in store.range(keys.FUTURE, keys.after(keys.FUTURE)):
        totals.delayed = max(totals.delayed, int.from_bytes(key[9:], "big"))


# -- queues ------------------------------------------------------------------------------------------------


class _Queues:
    """What the records of all queues say. ``claims``: by number, whether the queue says to hold a URI; ``tiers``:
    by precedence the names of those that wait for their turn, and their turns; ``first``: those that go before them,
    with their turns; ``snoozed``, ``retired``: wake time or turn, and class key. No object is made of a queue, of which
    there may be a million."""

    def __init__(self, known: int) -> None:
        self.claims = bytearray(known + 1)
        self.by_state = [0] * len(State)
        self.tiers: dict[int, tuple[list[str], list[int]]] = {}
        self.first: dict[int, list[tuple[int, str]]] = {}
        self.snoozed: list[tuple[int, str]] = []
        self.retired: list[tuple[int, str]] = []
        self.queued = self.in_flight = 0

    def claim(self, number: int) -> None:
        """The queue of that number says to hold URIs."""
        if number >= len(self.claims):
            self.claims.extend(bytes(number + 1 - len(self.claims)))
        self.claims[number] = 1

    def tier(self, precedence: int) -> tuple[list[str], list[int]]:
        """Names and turns of the queues with that precedence."""
        return self.tiers.setdefault(precedence, ([], []))

    def in_turn(self) -> Iterator[tuple[int, list[str]]]:
        """The tiers, each in the order of its queues' turns."""
        for precedence in self.tiers.keys() | self.first.keys():
            first = sorted(self.first.pop(precedence, ()))
            yield precedence, [*[class_key for _, class_key in first], *_by_turn(*self.tiers.pop(precedence, ([], [])))]


def _by_turn(names: list[str], turns: list[int]) -> list[str]:
    """Names in the order of their turns, each put where its turn says: sorting a million costs six times as much."""
    least = min(turns, default=0)
    if max(turns, default=0) - least < SPARSE * len(turns):
        places: list[str | None] = [None] * (max(turns) - least + 1)
        for name, turn in zip(names, turns, strict=True):
            places[turn - least] = name
        found = [name for name in places if name is not None]
        if len(found) == len(names):
            return found
    return [names[at] for at in sorted(range(len(names)), key=turns.__getitem__)]


# plain numbers: looking a State up costs as much as unpacking a field
_EXHAUSTED, _INACTIVE, _RETIRED = int(State.EXHAUSTED), int(State.INACTIVE), int(State.RETIRED)
_SNOOZED, _IN_PROCESS = int(State.SNOOZED), int(State.IN_PROCESS)


def _restore_queues(ledger: Ledger, queues: Queues, now_ms: int, joined: Joined, *, damaged: bool) -> tuple[int, int]:
    """Lists and queued count, from the queue records. How many queues had a URI in process, and how many counts were
    wrong: of all queues where files were ``damaged``, else of those that say to be empty, which are looked for in no
    other way."""
    store = ledger.store
    recounted = _recount(store, joined) if damaged else 0
    found = _read(ledger, now_ms, joined)
    unclaimed = list(_unclaimed(store, found.claims))
    if unclaimed and (more := _recount(store, joined, unclaimed)):
        recounted += more
        found = _read(ledger, now_ms, joined)
    for state, count in zip(State, found.by_state, strict=True):
        queues.by_state[state] += count
    retired = [class_key for _, class_key in sorted(found.retired)]
    queues.lists.restore(found.in_turn(), found.snoozed, retired)
    ledger.totals.queued = found.queued
    return found.in_flight, recounted


def _read(ledger: Ledger, now_ms: int, joined: Joined) -> _Queues:
    """Read the records of all queues: most wait for their turn or hold nothing, and of those the first fields say
    all. One whose state did not survive, or that grew, is written anew at once: what it says then holds, however the
    opening goes on."""
    found = _Queues(ledger.totals.queues)
    by_state, claims, known, batches = found.by_state, found.claims, len(found.claims), joined.batches
    largest = ledger.largest
    queued, least, precedence = 0, largest.least, None
    rewritten: list[tuple[bytes, bytes]] = []
    for key, row in ledger.store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        head = unpack_head(row)
        number, state, count = head.number, head.state, head.count
        class_key = key[1:].decode("utf-8", "surrogatepass")
        if state > _INACTIVE or number in batches or number >= known or (state == _INACTIVE) is not (count > 0):
            count, anew = _look_closer(found, class_key, unpack_record(row), now_ms, joined)
            if anew is not None:
                rewritten.append((key, anew))
                if len(rewritten) == REWRITTEN:
                    ledger.store.write(rewritten)
                    rewritten.clear()
        else:
            by_state[state] += 1
            if count:
                claims[number] = 1
                queued += count
                if head.precedence != precedence:
                    precedence = head.precedence
                    names, turns = found.tier(precedence)
                names.append(class_key)
                turns.append(head.turn)
        if count > least:
            largest.update(class_key, count)
            least = largest.least
    ledger.store.write(rewritten)
    found.queued += queued
    return found


def _look_closer(
    found: _Queues, class_key: str, record: QueueRecord, now_ms: int, joined: Joined
) -> tuple[int, bytes | None]:
    """A queue that the first fields of its record do not say all of: how many URIs it holds, and its record where that
    is to be written anew."""
    if record.count:
        found.claim(record.number)
    grew = joined.added(record)
    stored = record.state
    if stored == _RETIRED:
        state = _RETIRED
        found.retired.append((record.turn, class_key))
    else:
        found.queued += record.count
        if stored == _SNOOZED and now_ms < record.wake_ms <= now_ms + (record.rest_ms or LONGEST_SNOOZE_MS):
            state = _SNOOZED
            found.snoozed.append((record.wake_ms, class_key))
        elif record.count:
            state = _INACTIVE
            found.in_flight += stored == _IN_PROCESS
            if stored in ACTIVE:
                found.first.setdefault(record.precedence, []).append((record.turn, class_key))
            else:
                names, turns = found.tier(record.precedence)
                names.append(class_key)
                turns.append(record.turn)
        else:
            state = _EXHAUSTED
    found.by_state[state] += 1
    if state == stored and not grew:
        return record.count, None
    if state != stored:
        record.state, record.in_session = state, False
    record.written = max(record.written, joined.last)
    return record.count, pack_record(record)


def _unclaimed(store: Store, claims: bytearray) -> Iterator[int]:
    """Numbers of the queues that hold a URI, and say that they do not or have no record. Seeks from queue to queue,
    but past those of which it is not the question."""
    seek, stop = store.seeker(), keys.after(keys.QUEUED)
    at = claims.find(0, 1)
    while (key := seek(keys.queued_prefix(at if at > 0 else len(claims)))) is not None and key < stop:
        number = int.from_bytes(key[1:5], "big")
        if number >= len(claims):
            yield number
            claims.extend(bytes(number + 1 - len(claims)))
            claims[number] = 1
        elif not claims[number]:
            yield number
        at = claims.find(0, number + 1)


def _recount(store: Store, joined: Joined, numbers: Iterable[int] | None = None) -> int:
    """Count the URIs of queues, of all or of those ``numbers``, and write the records anew that say otherwise, or are
    lost; how many."""
    counted: dict[int, tuple[int, bytes]] = {}
    rows: Iterable[tuple[bytes, bytes]]
    if numbers is None:
        _count(store.range(keys.QUEUED, keys.after(keys.QUEUED)), counted)
        rows = store.range(keys.QUEUE, keys.after(keys.QUEUE))
    else:
        rows = []
        for number in numbers:
            prefix = keys.queued_prefix(number)
            _count(store.range(prefix, keys.after(prefix)), counted)
            key = keys.QUEUE + (store.get(keys.queue_name(number)) or b"")
            if (row := store.get(key)) is not None:
                rows.append((key, row))
    recounted = 0
    for key, row in rows:
        record = unpack_record(row)
        joined.added(record)
        count, first = counted.pop(record.number, (0, b""))
        if count != record.count or (first and record.hint > first):
            record.count, record.hint, record.in_session = count, first, False
            record.written = max(record.written, joined.last)
            store.write([(key, pack_record(record))])
            recounted += 1
    for number, (count, first) in counted.items():
        name = store.get(keys.queue_name(number)) or b"recovered,%d" % number
        record = QueueRecord(number, State.INACTIVE, count, hint=first, written=joined.last)
        store.write([(keys.queue_name(number), name), (keys.QUEUE + name, pack_record(record))])
    return recounted + len(counted)


def _count(rows: Iterable[tuple[bytes, bytes]], counted: dict[int, tuple[int, bytes]]) -> None:
    """Number of each queue → how many URIs it has, and the key of the first."""
    for key, _ in rows:
        number = int.from_bytes(key[1:5], "big")
        count, first = counted.get(number, (0, key))
        counted[number] = count + 1, first


# -- what was finished ---------------------------------------------------------------------------------------


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
    if queue is None:
        logger.error("a URI cannot be put back into queue %s, whose record is lost: %r", class_key, row)
        return False
    if ledger.get(key) is not None:
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
