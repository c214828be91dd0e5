"""What becomes of a URI that came back?

Everything it changes goes into one batch: its outlinks, its own row, its queue, the counters. It stays in its
place for another try, or leaves its queue for good or until it is to be fetched again (Heritrix:
WorkQueueFrontier.processFinish, section 9).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import politeness
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import pack, unpack
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.revisit import byte_class, counted_size
from heritrix_scrapy.model.status import Disposition
from heritrix_scrapy.model.tally import NONRESPONSES, SCHEDULED, tally_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.frontier.addresses import Addresses
    from heritrix_scrapy.frontier.admission import Admission
    from heritrix_scrapy.frontier.candidates import Candidates
    from heritrix_scrapy.frontier.futures import Futures
    from heritrix_scrapy.frontier.journal import Journal
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.politeness import Rest
    from heritrix_scrapy.frontier.prepare import Plan
    from heritrix_scrapy.frontier.process import InProcess
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.frontier.siblings import Siblings
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

logger = logging.getLogger(__name__)

#: Deferral of a URI that a quota leaves in its queue, which is retired.
QUOTA = "quota"

#: A URI may wait so often in a row for what it needs first, however few attempts it has.
LEAST_WAITS = 30
# looking a member up in its enumeration costs more than counting
_FAILURE, _DISREGARDED = Disposition.FAILURE, Disposition.DISREGARDED

#: Answers that may name a time to ask again.
ASKED_BACK = frozenset({429, 503})


class Finishing:
    """Takes URIs in process back. ``before_finish``: called with each whose end is settled, before it is logged;
    ``rest``: how long its queue rests after it; ``plan``: settings → what they say of queues."""

    def __init__(
        self,
        ledger: Ledger,
        queues: Queues,
        futures: Futures,
        admission: Admission,
        candidates: Candidates,
        in_process: InProcess,
        settings: SettingsSource,
        *,
        hosts: Hosts,
        rest: Rest,
        plan: Callable[[Any], Plan],
        addresses: Addresses,
        siblings: Siblings,
        before_finish: Iterable[Callable[[CrawlURI], None]],
    ) -> None:
        self._ledger = ledger
        self._queues = queues
        self._futures = futures
        self._admission = admission
        self._candidates = candidates
        self._in_process = in_process.uris
        self._stale = in_process.stale
        self._hosts = hosts
        self._rest = rest
        self._plan = plan
        self._addresses = addresses
        self._siblings = siblings
        self._before_finish = before_finish
        self._heritrix: bool = settings.view.profile == "heritrix"

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
        if modern and curi.status == status.DEFERRED and self._siblings.fetched_elsewhere(curi):
            self._again(queue, curi, self._siblings.wait(curi, now_ms), now_ms)
            return False
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
        if code in ASKED_BACK and self._is_asked_back(queue, curi, now_ms):
            self._come_back(queue, curi, now_ms)
            return False
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
        return True

    def _is_asked_back(self, queue: Queue, curi: CrawlURI, now_ms: int) -> bool:
        """Whether the server said when to ask again, and has not done so too often in a row."""
        if curi.spider_request or self._rest.asked(curi, now_ms) <= 0:
            return False
        if queue.record.last_status not in ASKED_BACK:
            # so far it has waited for other URIs only
            curi.deferrals = 0
        return bool(curi.deferrals < curi.settings.max_retries)

    def _come_back(self, queue: Queue, curi: CrawlURI, now_ms: int) -> None:
        """The answer is logged as any other; its URI waits for as long as the server asked. No attempt is counted,
        nothing charged."""
        assert queue.current is not None
        self._settle(curi)
        self._count_outside(curi, Disposition.SUCCESS, now_ms)
        # what is said of this answer is not said of the next
        curi.annotations = unpack(queue.current[1]).annotations
        curi.reschedule_at = -1
        curi.deferrals += 1
        curi.errors, curi.link_errors = [], []
        self._again(queue, curi, self._rest.after(curi, now_ms), now_ms)

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
        self._again(queue, curi, self._rest.after(curi, now_ms), now_ms)

    def finished_outside(self, curi: CrawlURI) -> None:
        """Count and log a URI that was in no queue: a fetch of the spider's past the frontier, or one that no
        queue could take."""
        self._settle(curi)
        disposition = status.disposition(curi.status)
        self._ledger.totals.count(disposition, curi.content_size)
        self._count_outside(curi, disposition, curi.ended_ms or 0)

    def _count_outside(self, curi: CrawlURI, disposition: Disposition, now_ms: int) -> None:
        """Count an end that no queue's entry comes to: it was never scheduled, and leaves nothing remaining."""
        size = max(counted_size(curi, heritrix=self._heritrix), 0)
        tallies = self._hosts.tallies_of(curi)
        for counts in tallies:
            counts[SCHEDULED] += 1
        tally_end(tallies, disposition, curi.status, size, now_ms, byte_class(curi), curi.warc_novel)

    def _queue_of(self, curi: CrawlURI) -> Queue | None:
        """The queue in which this very URI is in process."""
        if self._in_process.get(curi.class_key) is not curi:
            return None
        return self._queues.get(curi.class_key)

    def _release(self, queue: Queue, delay_ms: int, now_ms: int, *, retire: bool = False) -> None:
        class_key = queue.class_key
        del self._in_process[class_key]
        self._queues.release(queue, delay_ms, now_ms, retire=retire)
        called = self._addresses.release(class_key, delay_ms, now_ms)
        if called is not None:
            self._queues.call(*called)

    def _add_children(self, curi: CrawlURI) -> None:
        """Prerequisite, or outlinks, into the batch."""
        candidates = self._candidates
        if curi.status == status.DEFERRED:
            if curi.prerequisite is None:
                curi.deferrals += 1
            elif (child := candidates.prerequisite(curi)) is not None and self._admission.admit(child):
                self._siblings.queued(child)
            return
        judged = candidates.judge(curi)
        try:
            for child, unseen in judged:
                if child.seed:
                    self._admission.tell_seed(child)
                self._admission.admit(child, unseen)
        finally:
            judged.close()
        self._ledger.totals.rejected += candidates.take_rejected()

    def _again(self, queue: Queue, curi: CrawlURI, delay_ms: int, now_ms: int) -> None:
        """The URI stays in its place."""
        assert queue.current is not None
        key = queue.current[0]
        if curi.retire and curi.deferral == QUOTA and curi.annotations:
            # no word on the fetch that may follow one day; Heritrix keeps it
            queue.record.quota = curi.annotations[-1] if self._heritrix else curi.annotations.pop()
        self._ledger.retried(curi)
        if self._heritrix:
            # what CrawlURI.processingCleanup leaves standing; the modern profile begins a try with nothing
            self._stale[key] = (curi.content_type, curi.digest, curi.delay_ms, curi.user_agent)
            curi.is_prerequisite = False
        row = pack(curi)
        self._ledger.put(key, row)
        queue.insert(key, row)
        record = queue.record
        record.counted()[NONRESPONSES] += 1
        record.last_status = curi.status
        if delay_ms <= 0:
            self._plan(curi.settings).set_precedence(record, curi)
        self._ledger.totals.retried += 1
        if self._ledger.journal is not None:
            self._ledger.journal.reenqueued(curi)
        self._release(queue, delay_ms, now_ms, retire=curi.retire)

    def _end(self, queue: Queue, curi: CrawlURI, disposition: Disposition, now_ms: int) -> None:
        """The URI leaves its queue for good, or until it is to be fetched again."""
        assert queue.current is not None
        key, row = queue.current
        if curi.attempts > 1:
            curi.annotate(f"{curi.attempts}t")
        self._settle(curi)
        ledger, record, code = self._ledger, queue.record, curi.status
        size = counted_size(curi, heritrix=self._heritrix)
        ledger.delete(queue.drop_current())
        ledger.finished.append((queue.class_key, key, row))
        ledger.totals.count(disposition, size)
        self._stale.pop(key, None)
        self._siblings.ended(curi.uri)
        self._queues.removed(queue)
        self._queues.ranked(queue, key, -1)
        # in Heritrix what was never measured counts as -1, and the time is that of the fetch
        counted, at = (size, curi.ended_ms or 0) if self._heritrix else (max(size, 0), now_ms)
        tallies = (record.counted(), *self._hosts.tallies_of(curi))
        tally_end(tallies, disposition, code, counted, at, byte_class(curi), curi.warc_novel)
        record.last_dequeued_ms = now_ms
        if ledger.journal is not None:
            self._note_end(ledger.journal, curi, disposition)
        record.charge(0 if disposition is _DISREGARDED else curi.cost)
        if disposition is _FAILURE:
            record.penalise(curi.settings.error_penalty_amount)
        record.last_status = code
        try:
            if curi.reschedule_at > 0:
                self._futures.postpone(queue, curi, key)
        except Exception:
            # a step's doing: the URI has ended, and its queue must not stay in process for ever
            logger.exception("%s cannot be fetched again at %r", curi.uri, curi.reschedule_at)
        delay = self._rest.after(curi, now_ms)
        if delay <= 0 or not self._heritrix:
            self._plan(curi.settings).set_precedence(record, curi)
        self._release(queue, delay, now_ms, retire=curi.retire)

    @staticmethod
    def _note_end(journal: Journal, curi: CrawlURI, disposition: Disposition) -> None:
        if disposition is Disposition.SUCCESS:
            journal.succeeded(curi)
        elif disposition is Disposition.DISREGARDED:
            journal.disregarded(curi)
        else:
            journal.failed(curi)

    def strike(self, queue: Queue, key: bytes, curi: CrawlURI, *, quiet: bool = False) -> None:
        """A queued URI that nobody works on leaves its queue, its status set: an operator wants it so. ``quiet``:
        neither logged nor counted (Heritrix's way)."""
        ledger = self._ledger
        ledger.delete(key)
        queue.discard(key)
        self._stale.pop(key, None)
        self._siblings.ended(curi.uri)
        self._queues.ranked(queue, key, -1)
        self._queues.removed(queue)
        if quiet:
            return
        self._settle(curi)
        disposition = status.disposition(curi.status)
        ledger.totals.count(disposition, curi.content_size)
        tally_end((queue.record.counted(), *self._hosts.tallies_of(curi)), disposition, curi.status, 0, 0)
        if ledger.journal is not None:
            self._note_end(ledger.journal, curi, disposition)

    def _settle(self, curi: CrawlURI) -> None:
        """Tell everyone whom the end of a URI concerns."""
        for listener in self._before_finish:
            try:
                listener(curi)
            except Exception as error:
                logger.exception("%r failed on %s", listener, curi.uri)
                curi.errors.append((repr(listener), error))
        self._ledger.settle(curi)
