"""Which URI next, and what becomes of the one that came back?

The frontier proper (Heritrix: WorkQueueFrontier). Everything a finished URI changes goes into one batch: its
outlinks, its own row, its queue, the counters. Whatever kills the process before the batch is written leaves
the URI where it was.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.frontier import keys, politeness, prepare
from heritrix_scrapy.frontier.candidates import Candidates
from heritrix_scrapy.frontier.ledger import Ledger
from heritrix_scrapy.frontier.plain import PlainLinks
from heritrix_scrapy.frontier.queues import QUEUES_KEPT, Queues
from heritrix_scrapy.frontier.recovery import Recovery, put_again, recover
from heritrix_scrapy.frontier.states import Event, State
from heritrix_scrapy.frontier.status import SHOWN, status_of
from heritrix_scrapy.frontier.totals import Totals, tally_end
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI, pack, unpack
from heritrix_scrapy.model.errors import StorageFull, UnpackError
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.model.status import Disposition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heritrix_scrapy.crawl import Archive, Clock, Report, SettingsSource, Store
    from heritrix_scrapy.frontier.lists import Lists
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.model.hosts import Hosts

logger = logging.getLogger(__name__)

#: A URI may wait so often in a row for what it needs first, however few attempts it has.
LEAST_WAITS = 30
#: Largest row of a URI, in bytes.
MAX_ROW = 64 << 20


class Frontier:
    """All URIs still to be fetched, and all ever seen.

    ``decide``: whether the scope accepts a candidate; ``recall``: what it says of (uri, hop path), where that is known
    without a candidate, else None; ``archives``: the writers, a list that may still grow;
    ``crawl_delay``: seconds that robots.txt asks for between two fetches from the URI's server, or None;
    ``before_finish``: called with each URI whose end is settled, before it is logged; ``seed_found``: called with
    each seed that comes as a Request or by a seed's redirect; ``queue_retired``: called with the class key of each
    queue that is taken out of the crawl; ``canonicaliser``: settings → the function
    that makes the canonical form of a URI's text.
    """

    def __init__(
        self,
        store: Store,
        settings: SettingsSource,
        *,
        decide: Callable[[CrawlURI], bool],
        recall: Callable[[str, str], bool | None] | None = None,
        hosts: Hosts,
        clock: Clock,
        report: Report | None = None,
        archives: Sequence[Archive] = (),
        crawl_delay: Callable[[CrawlURI], float | None] | None = None,
        before_finish: Iterable[Callable[[CrawlURI], None]] = (),
        seed_found: Callable[[CrawlURI], None] | None = None,
        queue_retired: Callable[[str], None] | None = None,
        canonicaliser: Callable[[Any], Callable[[str], str]] = prepare.canonicaliser,
        queues_kept: int = QUEUES_KEPT,
    ) -> None:
        self._settings = settings
        self._for_uri = settings.for_uri
        self._hosts = hosts
        self._clock = clock
        self._crawl_delay = crawl_delay
        self._before_finish = before_finish
        self._seed_found = seed_found
        view = settings.view
        self._heritrix: bool = view.profile == "heritrix"
        totals = Totals(heritrix=self._heritrix, newest_first=not self._heritrix and view.preference_depth_hops == 0)
        self._ledger = Ledger(store, totals, hosts=hosts, clock=clock, report=report, archives=archives)
        preparer = prepare.Preparer(canonicaliser, heritrix=self._heritrix)
        preparer.plan(view)  # a policy that does not exist ends the start, not the first URI
        self.candidates = Candidates(decide, settings, preparer, self._ledger.unseen)
        self._queues = Queues(
            self._ledger, lambda: settings.view.precedence_floor, kept=queues_kept, retired=queue_retired
        )
        if recall is not None:
            self.candidates.plain = PlainLinks(self._ledger, self._queues, recall, heritrix=self._heritrix).add
        self._in_process: dict[str, CrawlURI] = {}
        #: What the next try of a URI knows of the last one, by its key: heritrix profile only.
        self._stale: dict[bytes, tuple[str, str | None, int, str | None]] = {}
        self._next_future: int | None = None

    # -- opening and closing -------------------------------------------------------------------------------

    def open(self) -> Recovery:
        """Read what the store holds: queue records, never all URIs."""
        now = self._clock.now_ms()
        recovery = recover(self._ledger, self._queues, now, fresh=self._settings.view.new_crawl)
        if self._seed_found is not None:
            for key, _ in self._ledger.store.range(keys.SEED, keys.after(keys.SEED)):
                self._seed_found(CrawlURI(key[len(keys.SEED) :].decode("utf-8", "surrogatepass"), seed=True))
        self._find_next_future(0)
        self._ledger.touch()
        self._ledger.flush(now)
        return recovery

    def close(self, *, finished: bool = False) -> None:
        """Write what waits and close the store. ``finished``: the crawl came to its end, and the next one on this
        store begins afresh. URIs in process stay queued."""
        ledger = self._ledger
        ledger.totals.over = finished
        try:
            ledger.touch()
            ledger.write()
            ledger.sync()
        finally:
            ledger.store.close()

    # -- adding --------------------------------------------------------------------------------------------

    def add(self, candidates: Iterable[CrawlURI]) -> int:
        """Add seeds and judged candidates; those without a class key are prepared. Returns how many were queued."""
        added = 0
        for curi in candidates:
            if not curi.class_key:
                self.candidates.prepare(curi)
            added += self._admit(curi)
            if self._ledger.is_full:
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
        if curi.seed:
            self._tell_seed(curi)
        ledger = self._ledger
        row = keys.request(fingerprint)
        started = keys.request(b"start" + fingerprint)
        if not dont_filter and ledger.get(row) is not None:
            return False
        if resumed and curi.seed and ledger.get(started) is not None:
            return False
        curi.spider_request = True
        self.candidates.prepare(curi)
        if priority:
            curi.precedence -= priority
            if ledger.totals.heritrix:
                curi.precedence = max(curi.precedence, 0)
        if not self._place(curi):
            return False
        if curi.seed:
            ledger.put(started, b"")
        if not dont_filter:
            ledger.put(row, b"")
        seen = keys.seen(curi.canonical)
        ledger.totals.candidates += 1
        if ledger.get(seen) is None:
            ledger.totals.discovered += 1
        ledger.put(seen, keys.BY_SPIDER)
        ledger.totals.spider_asked = True
        return True

    def _tell_seed(self, curi: CrawlURI) -> None:
        """Announce a seed that stands on no list, and remember it: the next process has to announce it again before
        it judges a link."""
        if self._seed_found is not None:
            self._ledger.put(keys.seed(curi.uri), b"")
            self._seed_found(curi)

    def _admit(self, curi: CrawlURI, unseen: bytes | None = None) -> bool:
        """Past the seen filter, unless it is known. A forced URI always passes, and is not counted. ``unseen``:
        its row among the seen, when that is known not to be there."""
        ledger = self._ledger
        if not curi.forced:
            ledger.totals.candidates += 1
        if unseen is None:
            unseen = ledger.unseen(curi.canonical)
            if unseen is None:
                return curi.forced and self._place(curi)
        if not self._place(curi):
            return False
        ledger.put(unseen, b"")
        ledger.totals.discovered += 1
        return True

    def _place(self, curi: CrawlURI) -> bool:
        """Into its queue; False when it cannot be stored, which ends it as -60."""
        ledger = self._ledger
        totals = ledger.totals
        try:
            row = pack(curi)
        except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
            return self._refuse(curi, error)
        if len(row) > MAX_ROW:
            return self._refuse(curi, f"{len(row)} bytes are more than the {MAX_ROW} a queue takes")
        queue = self._queues.get(curi.class_key) or self._new_queue(curi)
        if not curi.ordinal:
            totals.ordinal += 1
            curi.ordinal = totals.ordinal
        first, second = keys.rank(curi.directive, curi.precedence, curi.is_prerequisite, totals.heritrix)
        ordinal = keys.MAX_ORDINAL - curi.ordinal if totals.newest_first else curi.ordinal
        key = curi.queue_key = keys.queued(queue.prefix, first, second, ordinal)
        ledger.put(key, row)
        queue.insert(key, row)
        record = queue.record
        record.enqueued += 1
        record.tally.scheduled += 1
        self._queues.added(queue)
        return True

    def _new_queue(self, curi: CrawlURI) -> Queue:
        view = curi.settings if curi.settings is not None else self._for_uri(curi)
        return self._queues.make(
            curi.class_key,
            precedence=prepare.queue_precedence(view),
            session_budget=view.balance_replenish_amount,
            total_budget=view.queue_total_budget,
        )

    def _refuse(self, curi: CrawlURI, reason: object) -> bool:
        curi.status = status.UNQUEUABLE
        curi.annotate("unqueuable")
        curi.errors.append(("", str(reason)))
        self._ledger.totals.unqueuable += 1
        self.finished_outside(curi)
        return False

    # -- selection -----------------------------------------------------------------------------------------

    def next(self, now_ms: int) -> CrawlURI | None:
        """The URI whose turn it is, in process from now on; None while every queue waits.

        Raises StorageFull when the batch has to be written before a queue can be read, and cannot be.
        """
        self._queues.wake(now_ms)
        if self._next_future is not None and self._next_future <= now_ms:
            self._return_due(now_ms)
        while (queue := self._queues.poll()) is not None:
            try:
                curi = self._take(queue)
            except BaseException:
                # it stays ready: the batch could not be written, or a part failed on its head
                self._queues.lists.ready.append(queue.class_key)
                raise
            if curi is not None:
                return curi
        return None

    def _take(self, queue: Queue) -> CrawlURI | None:
        """The head of a ready queue, or None when the queue has none or may not go on."""
        queues, record = self._queues, queue.record
        while queue.heads or self._read(queue):
            if not record.in_session:
                record.in_session = True
                record.spent_before = record.spent
            record.wake_ms = 0
            try:
                curi = self._unpack(queue, *queue.heads[0])
            except UnpackError as error:
                logger.error("queue %s: a URI was dropped, its row cannot be read: %s", queue.class_key, error)
                self._drop_head(queue)
                self._ledger.totals.unqueuable += 1
                continue
            if self._superseded(curi):
                self._drop_head(queue)
                self._ledger.totals.superseded += 1
                continue
            view = curi.settings = self._for_uri(curi)
            record.session_budget = view.balance_replenish_amount
            record.total_budget = view.queue_total_budget
            if record.over_session:
                queues.over_session(queue)
                return None
            if record.over_total:
                queues.retire(queue, Event.OVER_TOTAL)
                return None
            if not view.defer_to_previous and self._relocate(queue, curi):
                continue
            queue.take()
            queues.emitted(queue)
            self._in_process[queue.class_key] = curi
            return curi
        queues.ran_dry(queue)
        return None

    def _unpack(self, queue: Queue, key: bytes, row: bytes) -> CrawlURI:
        curi = unpack(row)
        totals = self._ledger.totals
        curi.directive, curi.precedence, ordinal = keys.unrank(key, heritrix=totals.heritrix)
        curi.ordinal = keys.MAX_ORDINAL - ordinal if totals.newest_first else ordinal
        curi.class_key = queue.class_key
        curi.queue_key = key
        if self._heritrix and key in self._stale:
            curi.content_type, curi.digest, curi.delay_ms, curi.user_agent = self._stale[key]
        return curi

    def _read(self, queue: Queue) -> bool:
        """Fill the heads; whether there are any. A count that the rows do not bear out is put right."""
        store = self._ledger.store
        if queue.must_read:
            if queue.beyond:
                self._ledger.write()
            queue.read(store)
        count = queue.record.count
        if not queue.heads and count:
            queue.bound = queue.prefix
            queue.read(store)
            if not queue.heads:
                logger.error("queue %s: %d URIs were counted, none is there", queue.class_key, count)
                self._queues.removed(queue, count)
        return bool(queue.heads)

    def _superseded(self, curi: CrawlURI) -> bool:
        """Whether the spider has asked for the page of this entry of ours meanwhile."""
        if not self._ledger.totals.spider_asked or curi.spider_request or curi.forced:
            return False
        return self._ledger.get(keys.seen(curi.canonical)) == keys.BY_SPIDER

    def _drop_head(self, queue: Queue) -> None:
        key, _ = queue.heads.pop(0)
        self._ledger.delete(key)
        self._queues.removed(queue)

    def _relocate(self, queue: Queue, curi: CrawlURI) -> bool:
        """Move the head to the queue it belongs to by now; whether it had to move."""
        class_key = prepare.class_key(curi, curi.settings)
        if class_key == queue.class_key:
            return False
        self._drop_head(queue)
        curi.class_key = class_key
        self._place(curi)
        return True

    def _return_due(self, now_ms: int) -> None:
        """URIs that were to be fetched again by now go back to their queues, past the seen filter."""
        ledger = self._ledger
        ledger.write()
        for key, row in list(ledger.store.range(keys.FUTURE, keys.future(now_ms + 1, 0))):
            ledger.delete(key)
            ledger.totals.future -= 1
            put_again(ledger, self._queues, *msgspec.msgpack.decode(row, type=tuple[str, bytes, bytes]))
        self._find_next_future(now_ms + 1)

    def _find_next_future(self, from_ms: int) -> None:
        rows = self._ledger.store.range(keys.future(from_ms, 0), keys.after(keys.FUTURE))
        first = next(iter(rows), None)
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
        modern = not self._heritrix
        if modern and curi.status == status.DEFERRED and curi.deferrals + 1 >= max(view.max_retries, LEAST_WAITS):
            curi.status = status.TOO_MANY_RETRIES
        try:
            self._add_children(curi)
        except StorageFull:
            raise
        except Exception as error:
            # its own end must not be lost with a link of it
            logger.exception("not all links of %s could be added", curi.uri)
            curi.errors.append(("adding links", error))
            if self._heritrix:
                curi.status = status.RUNTIME_EXCEPTION
                curi.annotate(f"err={type(error).__module__}.{type(error).__qualname__}")
        code = curi.status
        waits = modern and code == status.DEFERRED
        if not waits:
            curi.attempts += 1
            if modern:
                curi.deferrals = 0
        retiring = curi.retire = bool(curi.retire or view.force_retire)
        record = queue.record
        record.session_budget = view.balance_replenish_amount
        record.total_budget = view.queue_total_budget
        pending = curi.credential_pending
        wanted = status.wants_retry(code, credential_pending=pending, retiring=retiring)
        # what the spider asked for is retried by Scrapy's middleware, which has given up by now
        ours = code == status.DEFERRED or pending or not (curi.spider_request or self._settled(curi))
        if wanted and ours and (waits or curi.attempts < view.max_retries):
            if status.lookup(code).charged:
                record.charge(curi.cost)
            self._again(queue, curi, politeness.retry_delay(view, code), now_ms)
            return False
        self._end(queue, curi, status.disposition(code, credential_pending=pending), now_ms)
        if self._ledger.is_full:
            self.flush(now_ms)
        return True

    def _settled(self, curi: CrawlURI) -> bool:
        """Whether another try cannot end otherwise: a name that does not exist, in the modern profile."""
        return (
            not self._heritrix
            and curi.status == status.DOMAIN_UNRESOLVABLE
            and curi.uri.startswith("dns:")
            and self._hosts.host(curi.uri[4:]).final
        )

    def put_back(self, curi: CrawlURI, now_ms: int, delay_ms: int = 0) -> None:
        """A URI in process was not fetched after all: back in its place, nothing counted, nothing charged.
        ``delay_ms``: how long its queue rests."""
        queue = self._queue_of(curi)
        if queue is not None and queue.current is not None:
            queue.insert(*queue.current)
            self._release(queue, delay_ms, now_ms)

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
        self._settle(curi)
        self._ledger.totals.count(status.disposition(curi.status), curi.content_size)

    def _queue_of(self, curi: CrawlURI) -> Queue | None:
        """The queue in which this very URI is in process."""
        if self._in_process.get(curi.class_key) is not curi:
            return None
        return self._queues.get(curi.class_key)

    def _release(self, queue: Queue, delay_ms: int, now_ms: int, *, retire: bool = False) -> None:
        del self._in_process[queue.class_key]
        self._queues.release(queue, delay_ms, now_ms, retire=retire)

    def _add_children(self, curi: CrawlURI) -> None:
        """Prerequisite, or outlinks, into the batch."""
        candidates = self.candidates
        if curi.status == status.DEFERRED:
            if curi.prerequisite is None:
                curi.deferrals += 1
            elif (child := candidates.prerequisite(curi)) is not None:
                self._admit(child)
            return
        for child, unseen in candidates.judge(curi):
            if child.seed:
                self._tell_seed(child)
            self._admit(child, unseen)
        rejected, repeated = candidates.take_counts()
        self._ledger.totals.rejected += rejected
        self._ledger.totals.candidates += repeated

    def _again(self, queue: Queue, curi: CrawlURI, delay_ms: int, now_ms: int) -> None:
        """The URI stays in its place."""
        assert queue.current is not None
        key = queue.current[0]
        self._ledger.retried(curi)
        if self._heritrix:
            # what CrawlURI.processingCleanup leaves standing; the modern profile begins a try with nothing
            self._stale[key] = (curi.content_type, curi.digest, curi.delay_ms, curi.user_agent)
            curi.is_prerequisite = False
        row = pack(curi)
        self._ledger.put(key, row)
        queue.insert(key, row)
        record = queue.record
        record.tally.nonresponses += 1
        record.last_status = curi.status
        if delay_ms <= 0:
            record.precedence = prepare.queue_precedence(curi.settings)
        self._ledger.totals.retried += 1
        self._release(queue, delay_ms, now_ms, retire=curi.retire)

    def _end(self, queue: Queue, curi: CrawlURI, disposition: Disposition, now_ms: int) -> None:
        """The URI leaves its queue for good, or until it is to be fetched again."""
        assert queue.current is not None
        key, row = queue.current
        if curi.attempts > 1:
            curi.annotate(f"{curi.attempts}t")
        self._settle(curi)
        ledger, record, code, size = self._ledger, queue.record, curi.status, curi.content_size
        ledger.delete(queue.drop_current())
        ledger.finished.append((queue.class_key, key, row))
        ledger.totals.count(disposition, size)
        self._stale.pop(key, None)
        self._queues.removed(queue)
        for tally in (record.tally, *self._hosts.tallies_of(curi.uri)):
            tally_end(tally, disposition, code, size, now_ms)
        record.charge(0 if disposition is Disposition.DISREGARDED else curi.cost)
        if disposition is Disposition.FAILURE:
            record.penalise(curi.settings.error_penalty_amount)
        record.last_status = code
        try:
            if curi.reschedule_at > 0:
                self._postpone(queue, curi, key)
        except Exception:
            # a step's doing: the URI has ended, and its queue must not stay in process for ever
            logger.exception("%s cannot be fetched again at %r", curi.uri, curi.reschedule_at)
        delay = self._politeness(curi, now_ms)
        if delay <= 0 or not self._heritrix:
            record.precedence = prepare.queue_precedence(curi.settings)
        self._release(queue, delay, now_ms, retire=curi.retire)

    def _settle(self, curi: CrawlURI) -> None:
        """Tell everyone whom the end of a URI concerns."""
        for listener in self._before_finish:
            try:
                listener(curi)
            except Exception as error:
                logger.exception("%r failed on %s", listener, curi.uri)
                curi.errors.append((repr(listener), error))
        self._ledger.settle(curi)

    def _postpone(self, queue: Queue, curi: CrawlURI, key: bytes) -> None:
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
                    crawl_delay=self._asked_delay(curi),
                    wait_ms=politeness.bandwidth_wait(curi.content_size, view.max_per_host_bandwidth_usage_kb_sec),
                )
        if not self._heritrix and curi.uri.startswith("http"):
            asked = self._hosts.server(server_key(curi.uri)).retry_at_ms
            if asked > now_ms:
                delay = max(delay, asked - now_ms)
        return delay

    def _asked_delay(self, curi: CrawlURI) -> float | None:
        if self._crawl_delay is None or curi.began_ms is None:
            return None
        try:
            return self._crawl_delay(curi)
        except Exception:
            logger.exception("the crawl delay for %s could not be found", curi.uri)
            return None

    # -- the operator --------------------------------------------------------------------------------------

    def retire(self, class_key: str) -> bool:
        """Take a queue out of the crawl; one in process when its URI comes back. False for an unknown queue."""
        queue = self._queues.get(class_key)
        if queue is None:
            return False
        if queue.record.state == State.IN_PROCESS:
            queue.retiring = True
        else:
            self._queues.retire(queue)
        return True

    def wake_all(self) -> None:
        """End every snooze now."""
        self._queues.wake_all()

    def reconsider_retired(self) -> None:
        """Let every retired queue take its turn again; one still over its budget is retired anew."""
        self._queues.reconsider_retired()

    # -- what others ask -----------------------------------------------------------------------------------

    @property
    def totals(self) -> Totals:
        """Counters over the whole crawl."""
        return self._ledger.totals

    @property
    def lists(self) -> Lists:
        """Which queues wait, for reports."""
        return self._queues.lists

    def queue(self, class_key: str) -> Queue | None:
        """The queue of that name, for reports."""
        return self._queues.get(class_key)

    def in_process(self) -> Sequence[CrawlURI]:
        """The URIs handed out and not yet come back."""
        return list(self._in_process.values())

    def tallies(self) -> dict[str, int]:
        """The reports' counters over the whole crawl, earlier processes included."""
        return dict(self._ledger.tallies)

    def alive(self) -> bool:
        """Whether anything is left to do, now or later. What lies in retired queues is not; nor is, in the modern
        profile, what lies in queues below the precedence floor: Heritrix never ends while there is any."""
        totals = self._ledger.totals
        if self._in_process or totals.future:
            return True
        return totals.queued > 0 and (self._heritrix or self._queues.any_may_work())

    def next_wake(self) -> int | None:
        """When the next snoozed queue wakes, or the next URI is to be fetched again."""
        wake = self._queues.lists.next_wake()
        if self._next_future is not None and (wake is None or self._next_future < wake):
            return self._next_future
        return wake

    def status(self) -> dict[str, Any]:
        """Counts, queues by state, and the queues that wait, with until when and why."""
        queues = self._queues
        return status_of(self._ledger.totals, queues.by_state, queues.sleepers(SHOWN), self._clock.now_ms())

    # -- writing -------------------------------------------------------------------------------------------

    def needs_flush_at(self) -> int | None:
        """When ``flush`` should be called; None while nothing waits to be written or synced."""
        return self._ledger.needs_flush_at()

    def flush(self, now_ms: int) -> None:
        """Write what waits, and sync once a second. Raises StorageFull; what waited still waits then."""
        self._ledger.flush(now_ms)
        self._queues.shrink()

    def sync(self) -> None:
        """Have everything that was flushed on the disk."""
        self._ledger.sync()
