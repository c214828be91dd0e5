"""Which URI next, and what becomes of the one that came back?

The frontier proper (Heritrix: WorkQueueFrontier). Everything a finished URI changes goes into one batch: its
outlinks, its own row, its queue, the counters. ``flush`` writes up to twenty such URIs at once, after archive
and log have been handed to the system, so that a batch never claims what the files do not hold. Whatever kills
the process before that leaves the URIs where they were.
"""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.frontier import keys, politeness, prepare
from heritrix_scrapy.frontier.batch import Batch
from heritrix_scrapy.frontier.candidates import Candidates
from heritrix_scrapy.frontier.lists import Lists
from heritrix_scrapy.frontier.queue import Queue, QueueRecord, unpack_record
from heritrix_scrapy.frontier.recovery import Recovery, recover
from heritrix_scrapy.frontier.states import TRANSITIONS, Event, State
from heritrix_scrapy.frontier.status import status_of
from heritrix_scrapy.frontier.totals import Finished, Totals, Unsynced, tally_end
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import pack, unpack
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.model.status import Disposition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heritrix_scrapy.crawl import Archive, Clock, Report, SettingsSource, Store
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

logger = logging.getLogger(__name__)

#: A batch is flushed when it finishes so many URIs, holds so many rows, or is so old.
FLUSH_URIS = 20
FLUSH_ROWS = 4000
FLUSH_MS = 50
#: Archive and store are synced so often.
SYNC_MS = 1000
#: A URI may wait so often in a row, whatever the limit of its attempts.
LEAST_WAITS = 30
#: Queues kept in memory beyond those in process.
QUEUES_KEPT = 20_000
#: Largest row of a URI, in bytes.
MAX_ROW = 64 << 20


class Frontier:
    """All URIs still to be fetched, and all ever seen.

    ``decide``: whether the scope accepts a candidate; ``archives``: the writers, a list that may still grow;
    ``crawl_delay``: seconds that robots.txt asks for between two fetches from the URI's server, or None;
    ``before_finish``: called with each URI whose end is settled, before it is logged; ``seed_found``: called with
    each seed that comes as a Request or by a seed's redirect; ``canonicaliser``: settings → the function
    that makes the canonical form of a URI's text.
    """

    def __init__(
        self,
        store: Store,
        settings: SettingsSource,
        *,
        decide: Callable[[CrawlURI], bool],
        hosts: Hosts,
        clock: Clock,
        report: Report | None = None,
        archives: Sequence[Archive] = (),
        crawl_delay: Callable[[CrawlURI], float | None] | None = None,
        before_finish: Iterable[Callable[[CrawlURI], None]] = (),
        seed_found: Callable[[CrawlURI], None] | None = None,
        canonicaliser: Callable[[Any], Callable[[str], str]] = prepare.canonicaliser,
        queues_kept: int = QUEUES_KEPT,
    ) -> None:
        self._store = store
        self._settings = settings
        self._for_uri = settings.for_uri
        view = settings.view
        self._hosts = hosts
        self._clock = clock
        self._report = report
        self._archives = archives
        self._crawl_delay = crawl_delay
        self._before_finish = before_finish
        self._seed_found = seed_found
        self._queues_kept = queues_kept
        self._heritrix: bool = view.profile == "heritrix"
        self.candidates = Candidates(decide, settings.for_uri, prepare.Preparer(canonicaliser, heritrix=self._heritrix))
        self.totals = Totals(
            heritrix=self._heritrix, newest_first=not self._heritrix and view.preference_depth_hops == 0
        )
        self.lists = Lists()
        #: Queues by state; the exhausted ones are the rest.
        self.by_state = dict.fromkeys(State, 0)
        self._batch = Batch(store)
        self._queues: dict[str, Queue] = {}
        self._changed: dict[str, Queue] = {}
        self._in_process: dict[str, CrawlURI] = {}
        self._stale: dict[bytes, tuple[str, str | None, int, str | None]] = {}
        self._tallies: dict[str, int] = {}
        self._finished: list[Finished] = []
        self._lengths: dict[str, int] = {}
        self._unsynced: list[bytes] = []
        self._flushes = 0
        self._must_sync = False
        self._since_ms: int | None = None
        self._synced_ms = 0
        self._next_future: int | None = None

    # -- opening and closing -------------------------------------------------------------------------------

    def open(self) -> Recovery:
        """Read what the store holds: queue records, never all URIs."""
        recovery = recover(self, self._store, self._batch, self._clock.now_ms(), fresh=self._settings.view.new_crawl)
        first = next(iter(self._store.range(keys.FUTURE, keys.after(keys.FUTURE))), None)
        self._next_future = None if first is None else int.from_bytes(first[0][1:9], "big")
        self._touch()
        self.flush(self._clock.now_ms())
        return recovery

    def adopt(self, totals: Totals, tallies: dict[str, int]) -> None:
        """Go on with the counters of an earlier process."""
        self.totals = totals
        self._tallies = tallies

    def restore_queue(self, class_key: str, record: QueueRecord) -> None:
        """Take note of a queue whose stored state does not survive its process."""
        self._queues[class_key] = self._changed[class_key] = Queue(class_key, record)

    def put_again(self, class_key: str, key: bytes, row: bytes) -> bool:
        """Put a finished URI back under its old key; False when it is there already."""
        queue = self._queue(class_key)
        if queue is None or self._batch.get(key) is not None:
            return False
        self._batch.put(key, row)
        queue.insert(key, row)
        self._added(queue)
        return True

    def recover_logs(self, lengths: dict[str, int]) -> int:
        """Log lines beyond what the last batch vouched for."""
        return 0 if self._report is None else self._report.recover(lengths)

    def archive_length(self, name: str, otherwise: int) -> int:
        """Bytes that an archive file holds; ``otherwise`` when no writer can tell."""
        return max((archive.length(name) for archive in self._archives), default=otherwise)

    def close(self, *, finished: bool = False) -> None:
        """Write what waits and close the store. ``finished``: the crawl came to its end, and the next one on this
        store begins afresh. URIs in process stay queued."""
        if finished:
            self.totals.over = True
        try:
            self._touch()
            self._write()
            self.sync()
        finally:
            self._store.close()

    # -- adding --------------------------------------------------------------------------------------------

    def add(self, candidates: Iterable[CrawlURI]) -> int:
        """Add seeds and judged candidates; those without a class key are prepared. Returns how many were new."""
        added = 0
        for curi in candidates:
            if not curi.class_key:
                self.candidates.prepare(curi)
            added += self._admit(curi)
            if len(self._batch.puts) > FLUSH_ROWS:
                self.flush(self._clock.now_ms())
        return added

    def add_request(
        self, curi: CrawlURI, fingerprint: bytes, *, dont_filter: bool, priority: int = 0, resumed: bool = False
    ) -> bool:
        """Add a Request of the spider's own; False when the spider has asked for it before.

        ``priority``: Scrapy's; the higher, the earlier in its queue. The page counts as seen for extractors, and
        an entry of theirs that is queued already gives way when its turn comes. What ``start()`` asks for is
        remembered by a name of its own, also when it is not to be filtered: ``resumed`` drops it if an earlier
        process had it.
        """
        if curi.seed and self._seed_found is not None:
            self._seed_found(curi)
        row = keys.request(fingerprint)
        started = keys.request(b"start" + fingerprint)
        if not dont_filter and self._batch.get(row) is not None:
            return False
        if resumed and curi.seed and self._batch.get(started) is not None:
            return False
        curi.spider_request = True
        self.candidates.prepare(curi)
        if priority:
            curi.precedence -= priority
            if self.totals.heritrix:
                curi.precedence = max(curi.precedence, 0)
        if not self._place(curi):
            return False
        if curi.seed:
            self._batch.put(started, b"")
        if not dont_filter:
            self._batch.put(row, b"")
        seen = keys.seen(curi.canonical)
        self.totals.candidates += 1
        if self._batch.get(seen) is None:
            self.totals.discovered += 1
        self._batch.put(seen, keys.BY_SPIDER)
        self.totals.spider_asked = True
        return True

    def _admit(self, curi: CrawlURI) -> bool:
        """Past the seen filter, unless it is known. A forced URI always passes, and is not counted."""
        batch = self._batch
        seen = keys.seen(curi.canonical)
        forced = curi.forced
        if not forced:
            self.totals.candidates += 1
        if batch.get(seen) is not None:
            return forced and self._place(curi)
        if not self._place(curi):
            return False
        batch.put(seen, b"")
        self.totals.discovered += 1
        return True

    def _place(self, curi: CrawlURI) -> bool:
        """Into its queue; False when it cannot be stored, which ends it as -60."""
        totals = self.totals
        try:
            row = pack(curi)
        except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
            return self._refuse(curi, error)
        if len(row) > MAX_ROW:
            return self._refuse(curi, f"{len(row)} bytes are more than the {MAX_ROW} a queue takes")
        if self._since_ms is None:
            self._touch()
        queue = self._queue(curi.class_key)
        if queue is None:
            queue = self._new_queue(curi)
        if not curi.ordinal:
            totals.ordinal += 1
            curi.ordinal = totals.ordinal
        key = curi.queue_key = keys.queued(
            queue.prefix,
            *keys.rank(curi.directive, curi.precedence, prerequisite=curi.is_prerequisite, heritrix=totals.heritrix),
            keys.MAX_ORDINAL - curi.ordinal if totals.newest_first else curi.ordinal,
        )
        self._batch.put(key, row)
        queue.insert(key, row)
        queue.record.enqueued += 1
        queue.record.tally.scheduled += 1
        self._added(queue)
        return True

    def _added(self, queue: Queue) -> None:
        """Count a URI into its queue, and list the queue if it is on no list."""
        record = queue.record
        record.count += 1
        if record.state != State.RETIRED:
            self.totals.queued += 1
        self._changed[queue.class_key] = queue
        if record.state == State.EXHAUSTED:
            self._move(queue, Event.STORED)
            self._deactivate(queue)

    def _refuse(self, curi: CrawlURI, reason: object) -> bool:
        curi.status = status.UNQUEUABLE
        curi.annotate("unqueuable")
        curi.errors.append(("", str(reason)))
        self.totals.unqueuable += 1
        self.finished_outside(curi)
        return False

    # -- queues --------------------------------------------------------------------------------------------

    def _queue(self, class_key: str) -> Queue | None:
        queue = self._queues.get(class_key)
        if queue is None:
            row = self._store.get(keys.queue(class_key))
            if row is None:
                return None
            queue = self._queues[class_key] = Queue(class_key, unpack_record(row))
        return queue

    def _new_queue(self, curi: CrawlURI) -> Queue:
        view = curi.settings if curi.settings is not None else self._for_uri(curi)
        self.totals.queues += 1
        record = QueueRecord(
            self.totals.queues,
            precedence=prepare.queue_precedence(view),
            session_budget=view.balance_replenish_amount,
            total_budget=view.queue_total_budget,
        )
        class_key = curi.class_key
        queue = self._queues[class_key] = Queue(class_key, record, new=True)
        self._batch.put(keys.queue_name(record.number), class_key.encode("utf-8", "surrogatepass"))
        self.by_state[State.EXHAUSTED] += 1
        return queue

    def queue(self, class_key: str) -> Queue | None:
        """The queue of that name, for reports."""
        return self._queue(class_key)

    def _move(self, queue: Queue, event: Event) -> None:
        record = queue.record
        before = State(record.state)
        after = TRANSITIONS[before, event]
        self.by_state[before] -= 1
        self.by_state[after] += 1
        record.state = after
        self._changed[queue.class_key] = queue
        if self._since_ms is None:
            self._touch()

    def _deactivate(self, queue: Queue) -> None:
        """List an inactive queue at the tail of its tier; its session is over."""
        record = queue.record
        self.totals.turn += 1
        record.turn = self.totals.turn
        record.in_session = False
        self.lists.deactivate(queue.class_key, record.precedence)

    def _retire(self, queue: Queue, event: Event = Event.RETIRED) -> None:
        if queue.record.state == State.RETIRED:
            return
        self._move(queue, event)
        queue.record.in_session = False
        queue.retiring = False
        self.totals.queued -= queue.record.count
        self.lists.retired.append(queue.class_key)

    def _resume(self, queue: Queue) -> None:
        """A queue may go on: ready, unless one of better precedence waits, or it is below the floor."""
        precedence = queue.record.precedence
        best = self.lists.best()
        if (best is not None and best < precedence) or precedence >= self._settings.view.precedence_floor:
            self._move(queue, Event.YIELDED)
            self._deactivate(queue)
        else:
            self._move(queue, Event.RELEASED)
            self.lists.ready.append(queue.class_key)

    def _release(self, queue: Queue, delay_ms: int, now_ms: int, *, retire: bool = False) -> None:
        """The queue's URI came back."""
        del self._in_process[queue.class_key]
        queue.current = None
        if retire or queue.retiring:
            self._retire(queue)
        elif delay_ms > 0:
            queue.record.wake_ms = now_ms + delay_ms
            self._move(queue, Event.DELAYED)
            self.lists.snooze(queue.class_key, queue.record.wake_ms)
        else:
            self._resume(queue)

    # -- selection -----------------------------------------------------------------------------------------

    def next(self, now_ms: int) -> CrawlURI | None:
        """The URI whose turn it is, in process from now on; None while every queue waits.

        Raises StorageFull when the batch has to be written before its queue can be read, and cannot be.
        """
        self._wake(now_ms)
        if self._next_future is not None and self._next_future <= now_ms:
            self._return_due(now_ms)
        ready = self.lists.ready
        while True:
            if not ready and not self._activate():
                return None
            queue = self._queue(ready.popleft())
            if queue is None or queue.record.state != State.READY:
                continue
            curi = self._take(queue)
            if curi is not None:
                return curi

    def _take(self, queue: Queue) -> CrawlURI | None:
        """The head of a ready queue, or None when the queue has none or may not go on."""
        record = queue.record
        while True:
            if not queue.heads and not self._read(queue):
                record.in_session = False
                self._move(queue, Event.RAN_DRY)
                return None
            if not record.in_session:
                record.in_session = True
                record.spent_before = record.spent
            record.wake_ms = 0
            key, row = queue.heads[0]
            curi = self._unpack(queue, key, row)
            if self._superseded(curi):
                queue.take()
                queue.current = None
                self._remove(queue, key)
                self.totals.superseded += 1
                continue
            view = curi.settings = self._for_uri(curi)
            record.session_budget = view.balance_replenish_amount
            record.total_budget = view.queue_total_budget
            if record.over_session:
                self._move(queue, Event.OVER_SESSION)
                self._deactivate(queue)
                return None
            if record.over_total:
                self._retire(queue, Event.OVER_TOTAL)
                return None
            if not view.defer_to_previous and self._relocate(queue, key, curi):
                continue
            queue.take()
            self._move(queue, Event.EMITTED)
            self._in_process[queue.class_key] = curi
            return curi

    def _unpack(self, queue: Queue, key: bytes, row: bytes) -> CrawlURI:
        curi = unpack(row)
        totals = self.totals
        curi.directive, curi.precedence, ordinal = keys.unrank(key, heritrix=totals.heritrix)
        curi.ordinal = keys.MAX_ORDINAL - ordinal if totals.newest_first else ordinal
        curi.class_key = queue.class_key
        curi.queue_key = key
        if self._heritrix and key in self._stale:
            curi.content_type, curi.digest, curi.delay_ms, curi.user_agent = self._stale[key]
        return curi

    def _read(self, queue: Queue) -> bool:
        """Fill the heads; whether there are any. A count that the rows do not bear out is put right."""
        if queue.must_read:
            if self._batch or self._changed:
                self._write()
            queue.read(self._store)
        record = queue.record
        if not queue.heads and record.count:
            queue.bound = queue.prefix
            queue.read(self._store)
            if not queue.heads:
                logger.error("queue %s: %d URIs were counted, none is there", queue.class_key, record.count)
                self.totals.queued -= record.count
                record.count = 0
        return bool(queue.heads)

    def _superseded(self, curi: CrawlURI) -> bool:
        """Whether the spider has asked for the page of this entry of ours meanwhile."""
        if not self.totals.spider_asked or curi.spider_request or curi.forced:
            return False
        return self._batch.get(keys.seen(curi.canonical)) == keys.BY_SPIDER

    def _relocate(self, queue: Queue, key: bytes, curi: CrawlURI) -> bool:
        """Move the head to the queue it belongs to by now."""
        class_key = prepare.class_key(curi, curi.settings)
        if class_key == queue.class_key:
            return False
        queue.take()
        queue.current = None
        self._remove(queue, key)
        curi.class_key = class_key
        self._place(curi)
        return True

    def _remove(self, queue: Queue, key: bytes) -> None:
        """Remove a URI's row from its queue."""
        self._batch.delete(key)
        self._stale.pop(key, None)
        queue.record.count -= 1
        if queue.record.state != State.RETIRED:
            self.totals.queued -= 1
        self._changed[queue.class_key] = queue

    def _activate(self) -> bool:
        """Make the first inactive queue above the floor ready."""
        lists = self.lists
        floor = self._settings.view.precedence_floor
        while (best := lists.best()) is not None and best < floor:
            queue = self._queue(lists.poll(best))
            if queue is None or queue.record.state != State.INACTIVE:
                continue
            if queue.record.precedence > best:
                lists.deactivate(queue.class_key, queue.record.precedence)
                continue
            self._move(queue, Event.ACTIVATED)
            lists.ready.append(queue.class_key)
            return True
        return False

    def _wake(self, now_ms: int) -> None:
        while (due := self.lists.due(now_ms)) is not None:
            self._wake_one(*due)

    def _wake_one(self, wake_ms: int, class_key: str) -> None:
        queue = self._queue(class_key)
        if queue is not None and queue.record.state == State.SNOOZED and queue.record.wake_ms == wake_ms:
            self._resume(queue)

    def _return_due(self, now_ms: int) -> None:
        """URIs that were to be fetched again by now go back to their queues, past the seen filter."""
        if self._batch:
            self._write()
        due = list(self._store.range(keys.FUTURE, keys.future(now_ms + 1, 0)))
        for key, row in due:
            class_key, old_key, packed = msgspec.msgpack.decode(row, type=Finished)
            self._batch.delete(key)
            self.totals.future -= 1
            self.put_again(class_key, old_key, packed)
        first = next(iter(self._store.range(keys.future(now_ms + 1, 0), keys.after(keys.FUTURE))), None)
        self._next_future = None if first is None else int.from_bytes(first[0][1:9], "big")

    # -- what came back ------------------------------------------------------------------------------------

    def finish(self, curi: CrawlURI, now_ms: int) -> bool:
        """A URI in process has run through its chain. True when that was its end, False when it stays queued.

        May change its status (-63, -8) and annotations; all else about the try stays readable. Raises
        StorageFull when log or store refuse; the URI then is either still in process, or finished and waiting
        to be written.
        """
        queue = self._queue_of(curi)
        if queue is None:
            return False
        view = curi.settings
        waits = curi.status == status.DEFERRED and not self._heritrix
        if waits and curi.deferrals + 1 >= max(view.max_retries, LEAST_WAITS):
            curi.status = status.TOO_MANY_RETRIES
        self._add_children(curi)
        code = curi.status
        waited = code == status.DEFERRED and not self._heritrix
        if not waited:
            curi.attempts += 1
            if not self._heritrix:
                curi.deferrals = 0
        retiring = curi.retire = bool(curi.retire or view.force_retire)
        record = queue.record
        record.session_budget = view.balance_replenish_amount
        record.total_budget = view.queue_total_budget
        pending = curi.credential_pending
        # what the spider asked for is retried by Scrapy's middleware, which has given up by now
        own = waited or not curi.spider_request
        if (
            own
            and status.wants_retry(code, credential_pending=pending, retiring=retiring)
            and (waited or curi.attempts < view.max_retries)
        ):
            if status.lookup(code).charged:
                record.charge(curi.cost)
            self._again(queue, curi, politeness.retry_delay(view, code), now_ms)
            return False
        self._end(queue, curi, status.disposition(code, credential_pending=pending), now_ms)
        if len(self._finished) >= FLUSH_URIS or len(self._batch.puts) > FLUSH_ROWS:
            self.flush(now_ms)
        return True

    def put_back(self, curi: CrawlURI, now_ms: int) -> None:
        """A URI in process was not fetched after all: back in its place, nothing counted, nothing charged."""
        queue = self._queue_of(curi)
        if queue is not None and queue.current is not None:
            queue.insert(*queue.current)
            self._release(queue, 0, now_ms)

    def replace_stored(self, curi: CrawlURI, blob: bytes | None, now_ms: int) -> None:
        """A spider's Request in process is retried by Scrapy: the new one takes its place in the queue. The try
        counts and costs as any; the queue rests as after a fetch."""
        queue = self._queue_of(curi)
        if queue is None:
            return
        curi.attempts += 1
        curi.stored_request = blob
        queue.record.charge(curi.cost)
        self._again(queue, curi, self._politeness(curi, now_ms), now_ms)

    def finished_outside(self, curi: CrawlURI) -> None:
        """Count and log a URI that was in no queue: a fetch of the spider's past the frontier, or one that no
        queue could take."""
        disposition = status.disposition(curi.status)
        self._settle(curi)
        self.totals.count(disposition, curi.content_size)
        self._touch()

    def _queue_of(self, curi: CrawlURI) -> Queue | None:
        """The queue in which this very URI is in process."""
        if self._in_process.get(curi.class_key) is not curi:
            return None
        return self._queues[curi.class_key]

    def _add_children(self, curi: CrawlURI) -> None:
        """Prerequisite, or outlinks, into the batch."""
        candidates = self.candidates
        if curi.status == status.DEFERRED:
            if curi.prerequisite is None:
                curi.deferrals += 1
            elif (child := candidates.prerequisite(curi)) is not None:
                self._admit(child)
            return
        for child in candidates.judge(curi):
            if child.seed and self._seed_found is not None:
                self._seed_found(child)
            self._admit(child)
        self.totals.rejected += candidates.take_rejected()

    def _again(self, queue: Queue, curi: CrawlURI, delay_ms: int, now_ms: int) -> None:
        """The URI stays in its place."""
        assert queue.current is not None
        key = queue.current[0]
        if self._heritrix:
            # what CrawlURI.processingCleanup leaves standing; the modern profile begins a try with nothing
            self._stale[key] = (curi.content_type, curi.digest, curi.delay_ms, curi.user_agent)
            curi.is_prerequisite = False
        row = pack(curi)
        self._batch.put(key, row)
        queue.insert(key, row)
        queue.record.tally.nonresponses += 1
        queue.record.last_status = curi.status
        self.totals.retried += 1
        if delay_ms <= 0:
            queue.record.precedence = prepare.queue_precedence(curi.settings)
        self._release(queue, delay_ms, now_ms, retire=curi.retire)

    def _end(self, queue: Queue, curi: CrawlURI, disposition: Disposition, now_ms: int) -> None:
        """The URI leaves its queue for good, or until it is to be fetched again."""
        assert queue.current is not None
        key, row = queue.current
        if curi.attempts > 1:
            curi.annotate(f"{curi.attempts}t")
        self._settle(curi)
        code, size = curi.status, curi.content_size
        record = queue.record
        self._remove(queue, key)
        self.totals.count(disposition, size)
        tally_end(record.tally, disposition, code, size, now_ms)
        record.charge(0 if disposition is Disposition.DISREGARDED else curi.cost)
        if disposition is Disposition.FAILURE:
            record.penalise(curi.settings.error_penalty_amount)
        record.last_status = code
        self._finished.append(Finished(queue.class_key, key, row))
        if curi.reschedule_at > 0:
            self._postpone(queue, curi, key)
        delay = self._politeness(curi, now_ms)
        if delay <= 0 or not self._heritrix:
            record.precedence = prepare.queue_precedence(curi.settings)
        self._release(queue, delay, now_ms, retire=curi.retire)

    def _settle(self, curi: CrawlURI) -> None:
        """Tell everyone whom the end of a URI concerns."""
        for listener in self._before_finish:
            try:
                listener(curi)
            except Exception:
                logger.exception("%r failed on %s", listener, curi.uri)
        if self._report is None:
            return
        self._report.finished(curi)
        tallies, put = self._tallies, self._batch.put
        for name, count in self._report.tally(curi).items():
            total = tallies[name] = tallies.get(name, 0) + count
            put(keys.tally(name), str(total).encode())

    def _postpone(self, queue: Queue, curi: CrawlURI, key: bytes) -> None:
        """To be fetched again: a URI with no past but its place."""
        due = curi.reschedule_at
        later = unpack(pack(curi))
        later.attempts = later.deferrals = 0
        later.reschedule_at = -1
        later.annotations = []
        self.totals.delayed += 1
        self.totals.future += 1
        row = msgspec.msgpack.encode(Finished(queue.class_key, key, pack(later)))
        self._batch.put(keys.future(due, self.totals.delayed), row)
        if self._next_future is None or due < self._next_future:
            self._next_future = due

    def _politeness(self, curi: CrawlURI, now_ms: int) -> int:
        """Rest of the queue after this URI; what the server asked for binds too."""
        view = curi.settings
        delay = curi.delay_ms
        if delay < 0:
            if curi.status == status.RUNTIME_EXCEPTION:
                delay = politeness.UNKNOWN_DELAY_MS
            else:
                delay = politeness.politeness_delay(
                    view,
                    curi.began_ms,
                    curi.ended_ms,
                    crawl_delay=None if self._crawl_delay is None else self._crawl_delay(curi),
                    wait_ms=politeness.bandwidth_wait(curi.content_size, view.max_per_host_bandwidth_usage_kb_sec),
                )
        if not self._heritrix and curi.uri.startswith("http"):
            asked = self._hosts.server(server_key(curi.uri)).retry_at_ms
            if asked > now_ms:
                delay = max(delay, asked - now_ms)
        return delay

    # -- the operator --------------------------------------------------------------------------------------

    def retire(self, class_key: str) -> bool:
        """Take a queue out of the crawl; one in process when its URI comes back. False for an unknown queue."""
        queue = self._queue(class_key)
        if queue is None:
            return False
        if queue.record.state == State.IN_PROCESS:
            queue.retiring = True
        else:
            self._retire(queue)
        return True

    def wake_all(self) -> None:
        """End every snooze now."""
        for wake_ms, class_key in self.lists.take_snoozed():
            self._wake_one(wake_ms, class_key)

    def reconsider_retired(self) -> None:
        """Let every retired queue take its turn again; one still over its budget is retired anew."""
        retired, self.lists.retired = self.lists.retired, type(self.lists.retired)()
        for class_key in retired:
            queue = self._queue(class_key)
            if queue is not None and queue.record.state == State.RETIRED:
                self._move(queue, Event.RECONSIDERED)
                self.totals.queued += queue.record.count
                self._deactivate(queue)

    # -- what others ask -----------------------------------------------------------------------------------

    def alive(self) -> bool:
        """Whether anything is left to do, now or later: what lies in retired queues, or below the floor, is not.

        Heritrix never ends while anything lies below the floor.
        """
        totals = self.totals
        if self._in_process or totals.future:
            return True
        if totals.queued <= 0:
            return False
        if self._heritrix or self.lists.ready or self.lists.snoozed:
            return True
        best = self.lists.best()
        return best is not None and best < self._settings.view.precedence_floor

    def next_wake(self) -> int | None:
        """When the next snoozed queue wakes, or the next URI is to be fetched again."""
        wake = self.lists.next_wake()
        if self._next_future is not None and (wake is None or self._next_future < wake):
            return self._next_future
        return wake

    def in_process(self) -> Sequence[CrawlURI]:
        """The URIs handed out and not yet come back."""
        return list(self._in_process.values())

    def tallies(self) -> dict[str, int]:
        """The reports' counters over the whole crawl, earlier processes included."""
        return dict(self._tallies)

    def status(self) -> dict[str, Any]:
        """Counts, queues by state, and the queues that wait, with until when and why."""
        return status_of(
            self.totals,
            {state: self.by_state[state] for state in State},
            [
                (wake_ms, queue.class_key, queue.record)
                for wake_ms, class_key in sorted(self.lists.snoozed)[:20]
                if (queue := self._queue(class_key)) is not None and queue.record.state == State.SNOOZED
            ],
            self._clock.now_ms(),
        )

    # -- writing -------------------------------------------------------------------------------------------

    def _touch(self) -> None:
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def needs_flush_at(self) -> int | None:
        """When ``flush`` should be called; None while nothing waits to be written or synced."""
        if self._since_ms is not None:
            return self._since_ms + FLUSH_MS
        if self._must_sync:
            return self._synced_ms + SYNC_MS
        return None

    def flush(self, now_ms: int) -> None:
        """Write what waits, and sync once a second. Raises StorageFull; what waited still waits then."""
        if self._since_ms is not None:
            self._write()
        if self._must_sync and now_ms - self._synced_ms >= SYNC_MS:
            self.sync()
            self._synced_ms = now_ms

    def _write(self) -> None:
        """Archives, then logs, then the batch that vouches for both."""
        batch = self._batch
        for archive in self._archives:
            self._lengths.update(archive.flush())
        if self._report is not None:
            batch.put(keys.LENGTHS, msgspec.msgpack.encode(dict(self._report.flush())))
        for queue in self._changed.values():
            batch.put(keys.queue(queue.class_key), queue.packed())
        for key, row in self._hosts.drain():
            batch.put(key, row)
        unsynced = None
        if self._finished and self._lengths:
            unsynced = keys.unsynced(self._flushes)
            batch.put(
                unsynced,
                msgspec.msgpack.encode(
                    Unsynced(self._lengths, [(row.class_key, row.key, row.row) for row in self._finished])
                ),
            )
        batch.put(keys.STATE, msgspec.msgpack.encode(self.totals))
        batch.write()
        if unsynced is not None:
            self._flushes += 1
            self._unsynced.append(unsynced)
        self._changed.clear()
        self._finished.clear()
        self._since_ms = None
        self._must_sync = True
        if len(self._queues) > self._queues_kept:
            self._shrink()

    def sync(self) -> None:
        """Have archives and store on the disk, and forget what was kept in case they were not."""
        for archive in self._archives:
            archive.sync()
        self._store.write([], self._unsynced, sync=True)
        self._unsynced.clear()
        self._lengths.clear()
        self._must_sync = False

    def _shrink(self) -> None:
        """Forget queues that are not in process; the store has them."""
        surplus = len(self._queues) - self._queues_kept * 9 // 10
        idle = (key for key, queue in self._queues.items() if queue.current is None and not queue.retiring)
        for class_key in list(islice(idle, surplus)):
            del self._queues[class_key]
