"""Which queues are there, in which state, and which is next?

Queues that work are in memory; the others may be in the store only, as records under their class keys. Every
change of state goes through the table of ``states``.
"""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.lists import Lists
from heritrix_scrapy.frontier.queue import Queue, QueueRecord, unpack_record
from heritrix_scrapy.frontier.states import TRANSITIONS, Event, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heritrix_scrapy.frontier.ledger import Ledger

logger = logging.getLogger(__name__)

#: A clock that goes back by less is being adjusted.
CLOCK_SLACK_MS = 2000
#: Queues kept in memory beyond those that work.
QUEUES_KEPT = 10_000


# plain numbers: comparing with a member of an IntEnum costs more than all else of counting a URI, as does looking it up
_EXHAUSTED, _RETIRED, _READY, _INACTIVE = map(int, (State.EXHAUSTED, State.RETIRED, State.READY, State.INACTIVE))
_ACTIVATED, _EMITTED, _RELEASED, _YIELDED, _DELAYED = (
    Event.ACTIVATED,
    Event.EMITTED,
    Event.RELEASED,
    Event.YIELDED,
    Event.DELAYED,
)


class Queues:
    """All queues. ``floor``: gives the precedence from which on queues are not worked on; ``by_state``: how many
    are in each state; ``retired``: called with the class key of a queue that is retired; ``loaded``: those in
    memory."""

    def __init__(
        self,
        ledger: Ledger,
        floor: Callable[[], int],
        *,
        kept: int = QUEUES_KEPT,
        retired: Callable[[str], None] | None = None,
    ) -> None:
        self.lists = Lists()
        self.by_state = dict.fromkeys(State, 0)
        self._ledger = ledger
        self._floor = floor
        self._kept = kept
        self._retired = retired
        self.loaded: dict[str, Queue] = {}
        self._now_ms = 0

    # -- by name -------------------------------------------------------------------------------------------

    def get(self, class_key: str) -> Queue | None:
        """The queue of that name, if there ever was one."""
        queue = self.loaded.get(class_key)
        if queue is None:
            row = self._ledger.store.get(keys.queue(class_key))
            if row is None:
                return None
            queue = self.loaded[class_key] = Queue(class_key, unpack_record(row))
        return queue

    def look(self, class_key: str) -> Queue | None:
        """The same, for a look at it only: a queue that is not in memory is not kept there."""
        queue = self.loaded.get(class_key)
        if queue is None and (row := self._ledger.store.get(keys.queue(class_key))) is not None:
            queue = Queue(class_key, unpack_record(row))
        return queue

    @property
    def floor(self) -> int:
        """The precedence from which on queues are not worked on."""
        return self._floor()

    def make(self, class_key: str, *, session_budget: int, total_budget: int) -> Queue:
        """A new queue, which has no precedence of its own yet."""
        totals = self._ledger.totals
        totals.queues += 1
        record = QueueRecord(totals.queues, session_budget=session_budget, total_budget=total_budget)
        queue = self.loaded[class_key] = Queue(class_key, record)
        self._ledger.put(keys.queue_name(record.number), class_key.encode("utf-8", "surrogatepass"))
        self._ledger.change(queue)
        self.by_state[State.EXHAUSTED] += 1
        return queue

    def shrink(self) -> None:
        """Forget queues that do not work, when there are many. Only after everything has been written."""
        if len(self.loaded) <= self._kept:
            return
        surplus = len(self.loaded) - self._kept * 9 // 10
        idle = (key for key, queue in self.loaded.items() if queue.current is None and not queue.retiring)
        grown = self._ledger.grown
        for class_key in list(islice(idle, surplus)):
            queue = grown.get(class_key)
            if queue is None:
                del self.loaded[class_key]
            else:
                # the store's record lags behind: the next time
                self._ledger.change(queue)

    # -- counting ------------------------------------------------------------------------------------------

    def added(self, queue: Queue) -> None:
        """A URI joined the queue; a queue that was on no list is listed."""
        record = queue.record
        record.count += 1
        state = record.state
        if state != _RETIRED:
            self._ledger.totals.queued += 1
        self._ledger.change(queue)
        if state == _EXHAUSTED:
            self.list_anew(queue)

    def grew(self, queue: Queue, key: bytes) -> None:
        """The same for one that is new in the crawl: its record can wait."""
        record = queue.record
        record.count += 1
        state = record.state
        if state != _RETIRED:
            self._ledger.totals.queued += 1
        self._ledger.grow(queue, key)
        if state == _EXHAUSTED:
            self.list_anew(queue)

    def list_anew(self, queue: Queue) -> None:
        """A queue that was on no list has a URI."""
        self._move(queue, Event.STORED)
        self._deactivate(queue)

    def ranked(self, queue: Queue, key: bytes, by: int) -> None:
        """A URI with that key joined (1) or left (-1) a queue whose precedence hangs on its URIs'. Outside the heritrix
        profile a waiting queue that has improved moves to its better tier; its entry in the old one is dropped when
        it is met."""
        record = queue.record
        if record.ranks is None:
            return
        before, heritrix = record.precedence, self._ledger.totals.heritrix
        record.rank(keys.precedence_of(key, heritrix=heritrix), by)
        self._ledger.change(queue)
        if record.precedence < before and record.state == State.INACTIVE and not heritrix:
            self._list(queue)

    def removed(self, queue: Queue, count: int = 1) -> None:
        """URIs left the queue, or turned out not to be there."""
        queue.record.count -= count
        if queue.record.state != _RETIRED:
            self._ledger.totals.queued -= count
        self._ledger.change(queue)

    # -- changes of state ----------------------------------------------------------------------------------

    def _move(self, queue: Queue, event: Event) -> None:
        record = queue.record
        # a number where the record was read from the store: it finds what its State would
        before = record.state
        after = TRANSITIONS[before, event]  # type: ignore[index]
        by_state = self.by_state
        by_state[before] -= 1  # type: ignore[index]
        by_state[after] += 1
        record.state = after
        self._ledger.change(queue)

    def _deactivate(self, queue: Queue) -> None:
        """To the tail of its tier; its session is over."""
        queue.record.in_session = False
        self._list(queue)

    def _list(self, queue: Queue) -> None:
        totals, record = self._ledger.totals, queue.record
        totals.turn += 1
        record.turn = totals.turn
        self.lists.deactivate(queue.class_key, record.precedence)

    def poll(self) -> Queue | None:
        """The next ready queue, an inactive one made ready if there is none; None when every queue waits."""
        ready = self.lists.ready
        while ready or self._activate():
            queue = self.get(ready.popleft())
            if queue is not None and queue.record.state == _READY:
                return queue
        return None

    def _activate(self) -> bool:
        """Make the first inactive queue above the floor ready."""
        lists, floor = self.lists, self._floor()
        while (best := lists.best()) is not None and best < floor:
            class_key = lists.poll(best)
            queue = None if class_key is None else self.get(class_key)
            if queue is None or queue.record.state != _INACTIVE:
                continue
            if queue.record.precedence < best and not self._ledger.totals.heritrix:
                # it stands in its better tier already
                continue
            if queue.record.precedence > best:
                lists.deactivate(queue.class_key, queue.record.precedence)
                continue
            self._move(queue, _ACTIVATED)
            lists.ready.append(queue.class_key)
            return True
        return False

    def ran_dry(self, queue: Queue) -> None:
        """A ready queue has no URI."""
        queue.record.in_session = False
        self._move(queue, Event.RAN_DRY)

    def over_session(self, queue: Queue) -> None:
        """A ready queue has spent what it had for this session."""
        self._move(queue, Event.OVER_SESSION)
        self._deactivate(queue)

    def emitted(self, queue: Queue) -> None:
        """The head of a ready queue was taken."""
        self._move(queue, _EMITTED)

    def hold(self, queue: Queue, until_ms: int) -> None:
        """A ready queue has to wait, though it has a URI to give."""
        queue.record.wake_ms = until_ms
        self._move(queue, Event.HELD)
        self.lists.snooze(queue.class_key, until_ms)

    def call(self, class_key: str, at_ms: int) -> None:
        """Wake a snoozed queue at another time; its entry for the old one is dropped when it is met."""
        queue = self.get(class_key)
        if queue is not None and queue.record.state == State.SNOOZED and queue.record.wake_ms != at_ms:
            queue.record.wake_ms = at_ms
            self.lists.snooze(class_key, at_ms)
            self._ledger.change(queue)

    def release(self, queue: Queue, delay_ms: int, now_ms: int, *, retire: bool = False) -> None:
        """The URI of a queue in process came back; the queue rests for ``delay_ms``."""
        queue.current = None
        if retire or queue.retiring:
            self.retire(queue)
        elif delay_ms > 0:
            # what sleeps by the old time is told of the new one before more of it comes
            self._look_at_clock(now_ms)
            queue.record.wake_ms = now_ms + delay_ms
            queue.record.rest_ms = delay_ms
            self._move(queue, _DELAYED)
            self.lists.snooze(queue.class_key, queue.record.wake_ms)
        else:
            self._resume(queue)

    def _resume(self, queue: Queue) -> None:
        """Ready, unless a queue of better precedence waits, or this one is below the floor."""
        precedence = queue.record.precedence
        best = self.lists.best()
        if (best is not None and best < precedence) or precedence >= self._floor():
            self._move(queue, _YIELDED)
            self._deactivate(queue)
        else:
            self._move(queue, _RELEASED)
            self.lists.ready.append(queue.class_key)

    def wake(self, now_ms: int) -> None:
        """Wake the snoozed queues whose time has come. None sleeps longer than it was to, however the clock is set."""
        self._look_at_clock(now_ms)
        while (due := self.lists.due(now_ms)) is not None:
            self._wake_one(*due)

    def _look_at_clock(self, now_ms: int) -> None:
        if now_ms < self._now_ms - CLOCK_SLACK_MS:
            self._clock_set_back(self._now_ms - now_ms, now_ms)
        self._now_ms = now_ms

    def _clock_set_back(self, by_ms: int, now_ms: int) -> None:
        """The wall clock shows an earlier time than it did: what sleeps wakes by the new one."""
        logger.warning("the clock was set back by %d seconds: snoozed queues wake by the new time", by_ms // 1000)
        for wake_ms, class_key in self.lists.take_snoozed():
            queue = self.get(class_key)
            if queue is not None and queue.record.state == State.SNOOZED and queue.record.wake_ms == wake_ms:
                record = queue.record
                record.wake_ms = min(wake_ms - by_ms, now_ms + record.rest_ms)
                self._ledger.change(queue)
                self.lists.snooze(class_key, record.wake_ms)

    def wake_all(self) -> None:
        """End every snooze now."""
        for wake_ms, class_key in self.lists.take_snoozed():
            self._wake_one(wake_ms, class_key)

    def wake_now(self, queue: Queue) -> bool:
        """End the snooze of a queue; whether it slept. Its entry in the list is dropped when it is met."""
        if queue.record.state != State.SNOOZED:
            return False
        self._resume(queue)
        return True

    def _wake_one(self, wake_ms: int, class_key: str) -> None:
        queue = self.get(class_key)
        if queue is not None and queue.record.state == State.SNOOZED and queue.record.wake_ms == wake_ms:
            self._resume(queue)

    def retire(self, queue: Queue, event: Event = Event.RETIRED) -> None:
        """Take a queue out of the crawl. Its URIs stay in it, and are not counted as queued."""
        if queue.record.state == State.RETIRED:
            return
        if queue.record.state == State.INACTIVE:
            self.lists.leave(queue.class_key, queue.record.precedence)
        self._move(queue, event)
        queue.record.in_session = False
        queue.retiring = False
        self._ledger.totals.queued -= queue.record.count
        self.lists.retired.append(queue.class_key)
        if self._retired is not None:
            self._retired(queue.class_key)

    def reconsider_retired(self) -> None:
        """Let every retired queue take its turn again."""
        for class_key in self.lists.take_retired():
            queue = self.get(class_key)
            if queue is not None:
                self.reconsider(queue)

    def reconsider(self, queue: Queue) -> bool:
        """Let a retired queue take its turn again; whether it was retired."""
        if queue.record.state != State.RETIRED:
            return False
        queue.record.quota = ""
        self._move(queue, Event.RECONSIDERED)
        self._ledger.totals.queued += queue.record.count
        self._deactivate(queue)
        return True

    # -- what others ask -----------------------------------------------------------------------------------

    def any_may_work(self) -> bool:
        """Whether some queue works, waits for its time, or may be activated."""
        lists = self.lists
        if lists.ready or lists.snoozed:
            return True
        best = lists.best()
        return best is not None and best < self._floor()

    def sleepers(self, limit: int) -> Iterator[tuple[int, str, QueueRecord]]:
        """Wake time, class key and record of the snoozed queues that wake first."""
        for wake_ms, class_key in self.lists.first_snoozed(limit):
            queue = self.get(class_key)
            if queue is not None and queue.record.state == State.SNOOZED:
                yield wake_ms, class_key, queue.record
