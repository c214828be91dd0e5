"""What is kept about one queue, and which URI of it comes next?

``QueueRecord`` is the stored part (Heritrix: WorkQueue). ``Queue`` adds what only the running process needs:
the heads, a sorted piece of the queue read ahead. Everything in the queue below ``bound`` is in the heads;
that one invariant makes an insert cheap, and gives the stored hint from where the next process may read
without walking over deleted rows.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.states import ACTIVE, State
from heritrix_scrapy.model.tally import SCHEDULED, Counts, Tally, nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.crawl import Store

#: Rows read ahead by one seek, and the most that inserts may let the heads grow to.
CHUNK = 32
MAX_HEADS = 64
#: Rows that a queue keeps in memory while it waits.
KEPT_HEADS = 8
#: New rows that it takes into memory meanwhile.
WAITING_HEADS = 16


class QueueHead(msgspec.Struct, array_like=True, omit_defaults=True, gc=False):
    """The first fields of a ``QueueRecord``: what opening asks of a million of them, at two fifths of the price."""

    number: int
    state: int = State.EXHAUSTED
    count: int = 0
    enqueued: int = 0
    precedence: int = 3
    turn: int = 0
    wake_ms: int = 0


class QueueRecord(QueueHead, array_like=True, omit_defaults=True, gc=False):
    """State of one queue. ``turn``: when it was last listed as inactive, in the order of listings; ``hint``: no
    URI of the queue has a key below it;
    ``rest_ms``: how long it was to sleep at most until ``wake_ms``; ``spent``: costs and penalties so far;
    ``last_status``: of the URI that came back last; ``base``: its precedence without that of its URIs; ``ranks``: how
    many of its URIs have each precedence, where the lowest adds to the queue's; ``last_queued``,
    ``last_peeked``, ``last_dequeued_ms``: for reports; ``written``: number of the batch that wrote it, which
    ``growth`` counts from; ``quota``: annotation of the one that retired it."""

    hint: bytes = b""
    in_session: bool = False
    session_budget: int = 0
    total_budget: int = -1
    spent: int = 0
    spent_before: int = 0
    last_cost: int = 0
    cost_count: int = 0
    errors: int = 0
    last_status: int = 0
    counts: Counts = msgspec.field(default_factory=nothing)
    base: int = 3
    ranks: dict[int, int] | None = None
    last_queued: str = ""
    last_peeked: str = ""
    last_dequeued_ms: int = 0
    rest_ms: int = 0
    written: int = 0
    quota: str = ""

    def counted(self) -> Counts:
        """Its counters, of which what joined it is kept in ``enqueued`` alone."""
        self.counts[SCHEDULED] = self.enqueued
        return self.counts

    @property
    def tally(self) -> Tally:
        """The same by name."""
        return Tally(self.counted())

    @property
    def session_balance(self) -> int:
        return self.session_budget - (self.spent - self.spent_before)

    @property
    def over_session(self) -> bool:
        """Whether more was spent in this session than it had; 0 and less mean no limit."""
        return self.session_budget > 0 and self.spent - self.spent_before > self.session_budget

    @property
    def over_total(self) -> bool:
        """Whether the queue has had all it may ever spend; -1 means no limit."""
        return 0 <= self.total_budget <= self.spent

    def set_precedence(self) -> None:
        """Bring ``precedence`` up to date with ``base`` and ``ranks``."""
        self.precedence = self.base + min(self.ranks, default=0) if self.ranks is not None else self.base

    def rank(self, precedence: int, by: int) -> None:
        """A URI of that precedence joined (1) or left (-1)."""
        ranks = self.ranks
        assert ranks is not None
        count = ranks.get(precedence, 0) + by
        if count > 0:
            ranks[precedence] = count
        else:
            ranks.pop(precedence, None)
        self.set_precedence()

    def charge(self, cost: int) -> None:
        """Spend the cost of one URI; 0 counts as a charge too."""
        self.spent += cost
        self.last_cost = cost
        self.cost_count += 1

    def penalise(self, amount: int) -> None:
        """Spend more, for a failure."""
        self.spent += amount
        self.errors += 1


class Queue:
    """A queue in memory. ``row``: key of its record; ``prefix``: of its URIs' keys; ``current``: key and row of
    the URI in process, which is in the store still, but not in the heads;
    ``beyond``: some row that is not in the heads has not been written yet; ``last_queued``, ``last_peeked``: the URIs,
    for reports."""

    __slots__ = (
        "beyond",
        "bound",
        "class_key",
        "current",
        "heads",
        "last_peeked",
        "last_queued",
        "prefix",
        "record",
        "retiring",
        "row",
    )

    def __init__(self, class_key: str, record: QueueRecord) -> None:
        self.class_key = class_key
        self.record = record
        self.row = keys.queue(class_key)
        self.prefix = keys.queued_prefix(record.number)
        self.heads: list[tuple[bytes, bytes]] = []
        self.bound: bytes | None = (record.hint or self.prefix) if record.count else None
        self.current: tuple[bytes, bytes] | None = None
        self.retiring = False
        self.beyond = False
        self.last_queued = record.last_queued
        self.last_peeked = record.last_peeked

    def insert(self, key: bytes, row: bytes) -> None:
        """Note a row of the queue, new or come back."""
        heads = self.heads
        if self.bound is None or key < self.bound:
            if not heads or key > heads[-1][0]:
                heads.append((key, row))
            else:
                insort(heads, (key, row))
            if len(heads) > MAX_HEADS:
                self.bound = heads[CHUNK][0]
                del heads[CHUNK:]
                self.beyond = True
        else:
            self.beyond = True

    def join(self, key: bytes, row: bytes) -> None:
        """Note a new row; a queue that will not be asked for a while keeps few."""
        heads = self.heads
        if (
            len(heads) >= WAITING_HEADS
            and key > heads[-1][0]
            and (self.bound is None or key < self.bound)
            and self.record.state not in ACTIVE
        ):
            self.bound = key
            self.beyond = True
        else:
            self.insert(key, row)

    def trim(self) -> None:
        """Keep few heads: the store has every row, and the queue will not be asked for a while."""
        if len(self.heads) > KEPT_HEADS:
            self.bound = self.heads[KEPT_HEADS][0]
            del self.heads[KEPT_HEADS:]

    def discard(self, key: bytes) -> None:
        """A row that is not the current one leaves the queue for good; it is to be deleted."""
        heads = self.heads
        at = bisect_left(heads, (key,))
        if at < len(heads) and heads[at][0] == key:
            del heads[at]
        elif self.bound is not None and key >= self.bound:
            # reading on would find it until the delete is written
            self.beyond = True

    @property
    def must_read(self) -> bool:
        """Whether the next head has to be read from the store."""
        return not self.heads and self.bound is not None

    def read(self, store: Store) -> None:
        """Fill the heads from the store, which has to hold every row of the queue by now."""
        start = self.bound
        if start is None:
            return
        # one for the bound, one for the URI in process
        rows = store.first(start, keys.after(self.prefix), CHUNK + 2)
        if self.current is not None:
            key = self.current[0]
            rows = [row for row in rows if row[0] != key]
        self.bound = rows[CHUNK][0] if len(rows) > CHUNK else None
        self.heads += rows[:CHUNK]

    def take(self) -> tuple[bytes, bytes]:
        """Take the head out of the heads; it becomes the current one."""
        self.current = self.heads.pop(0)
        return self.current

    def drop_current(self) -> bytes:
        """The current URI leaves the queue for good; returns its key, whose row is to be deleted."""
        assert self.current is not None
        key, _ = self.current
        self.current = None
        if self.bound is not None and key >= self.bound:
            # the heads were cut off before it meanwhile: reading on would find it until the delete is written
            self.beyond = True
        return key

    def packed(self) -> bytes:
        """The record as the store keeps it, what lags behind brought up to date."""
        least = self.heads[0][0] if self.heads else self.bound
        if self.current is not None and (least is None or self.current[0] < least):
            least = self.current[0]
        record = self.record
        record.hint = b"" if least is None else least
        record.counted()
        record.last_queued, record.last_peeked = self.last_queued, self.last_peeked
        return _encoder.encode(record)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(QueueRecord)

#: A record as the store keeps it, its hint as it says.
pack_record: Callable[[QueueRecord], bytes] = _encoder.encode
#: The inverse of it, and of ``Queue.packed``.
unpack_record: Callable[[bytes], QueueRecord] = _decoder.decode
#: The first fields only.
unpack_head: Callable[[bytes], QueueHead] = msgspec.msgpack.Decoder(QueueHead).decode
