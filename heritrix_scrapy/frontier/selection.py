"""Which URI is next?

A queue comes off the ready list, an inactive one is made ready where there is none; its head goes out unless a
budget, the spider's own Request for the page or another queue assignment says otherwise (Heritrix:
WorkQueueFrontier.findEligibleURI, section 8.4).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.states import Event
from heritrix_scrapy.frontier.traps import looks_endless
from heritrix_scrapy.model.crawluri import unpack
from heritrix_scrapy.model.errors import UnpackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.frontier.addresses import Addresses
    from heritrix_scrapy.frontier.admission import Admission
    from heritrix_scrapy.frontier.futures import Futures
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.prepare import Plan
    from heritrix_scrapy.frontier.process import InProcess
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)


class Selection:
    """Takes URIs out of their queues, one of a queue at a time. ``plan``: settings → what they say of queues."""

    def __init__(
        self,
        ledger: Ledger,
        queues: Queues,
        futures: Futures,
        admission: Admission,
        in_process: InProcess,
        settings: SettingsSource,
        plan: Callable[[Any], Plan],
        addresses: Addresses,
    ) -> None:
        self._ledger = ledger
        self._queues = queues
        self._futures = futures
        self._admission = admission
        self._in_process = in_process.uris
        self._stale = in_process.stale
        self._for_uri = settings.for_uri
        self._plan = plan
        self._addresses = addresses
        #: URIs that moved to another queue since the last one was taken.
        self._moved: set[int] = set()
        self._heritrix: bool = settings.view.profile == "heritrix"

    def next(self, now_ms: int) -> CrawlURI | None:
        """The URI whose turn it is, in process from now on; None while every queue waits.

        Raises StorageFull when the batch has to be written before a queue can be read, and cannot be.
        """
        self._queues.wake(now_ms)
        futures = self._futures
        if futures.next_due is not None and futures.next_due <= now_ms:
            futures.return_due(now_ms)
        self._moved.clear()
        while (queue := self._queues.poll()) is not None:
            try:
                curi = self._take(queue, now_ms)
            except BaseException:
                # it stays ready: the batch could not be written, or a part failed on its head
                self._queues.lists.ready.append(queue.class_key)
                raise
            if curi is not None:
                return curi
        return None

    def _take(self, queue: Queue, now_ms: int) -> CrawlURI | None:
        """The head of a ready queue, or None when the queue has none or may not go on."""
        queues, record = self._queues, queue.record
        while queue.heads or self._read(queue):
            if not record.in_session:
                record.in_session = True
                record.spent_before = record.spent
            record.wake_ms = 0
            try:
                curi = self.unpack(queue, *queue.heads[0])
            except UnpackError as error:
                logger.error("queue %s: a URI was dropped, its row cannot be read: %s", queue.class_key, error)
                self._drop_head(queue)
                self._ledger.totals.unqueuable += 1
                continue
            if self._superseded(curi):
                self._drop_head(queue)
                self._ledger.totals.superseded += 1
                self._addresses.hosts.scheduled(curi.host).scheduled -= 1
                continue
            view = curi.settings = self._for_uri(curi)
            record.session_budget = view.balance_replenish_amount
            record.total_budget = view.queue_total_budget
            if record.over_session:
                queues.over_session(queue)
                return None
            if record.over_total:
                queues.retire(queue, Event.OVER_TOTAL)
                if looks_endless(curi.uri, curi.via):
                    self._ledger.totals.suspected_traps += 1
                    logger.warning(
                        "queue %s has spent its budget with %d URIs left; perhaps a trap: %s differs from %s, which"
                        " names it, in its numbers only",
                        queue.class_key,
                        record.count,
                        curi.uri,
                        curi.via,
                    )
                return None
            plan = self._plan(view)
            if plan.moves and self._relocate(queue, curi, plan):
                continue
            if view.politeness_per_address and (until := self._addresses.claim(curi, queue.class_key, now_ms)):
                queues.hold(queue, until)
                return None
            queue.take()
            queues.emitted(queue)
            queue.last_peeked = curi.uri
            if self._ledger.journal is not None:
                self._ledger.journal.emitted(curi)
            self._in_process[queue.class_key] = curi
            return curi
        queues.ran_dry(queue)
        return None

    def unpack(self, queue: Queue, key: bytes, row: bytes) -> CrawlURI:
        """The URI of a row, with what its key says. Raises UnpackError."""
        curi = unpack(row)
        totals = self._ledger.totals
        curi.directive, curi.precedence, curi.ordinal = keys.unrank(key, heritrix=totals.heritrix)
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
            # what was taken out, and is not written yet, would be found again
            self._ledger.write()
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
        self._queues.ranked(queue, key, -1)

    def _relocate(self, queue: Queue, curi: CrawlURI, plan: Plan) -> bool:
        """Move the head to the queue it belongs to by now; whether it had to move. A URI moves once before something
        is taken: a policy that sends it to and fro must not keep the crawl from going on."""
        try:
            class_key = plan.class_key(curi)
        except Exception:
            logger.exception("%s stays in queue %s: its policy failed", curi.uri, queue.class_key)
            return False
        if class_key == queue.class_key:
            return False
        if curi.ordinal in self._moved:
            logger.error("%s stays in queue %s: its policy sends it to and fro", curi.uri, queue.class_key)
            return False
        self._moved.add(curi.ordinal)
        if self._ledger.is_full:
            self._ledger.write()
        self._drop_head(queue)
        curi.class_key = class_key
        self._admission.place(curi)
        return True
