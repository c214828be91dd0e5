"""How does a URI get into its queue?

Past the seen filter, which knows each page by two names: its canonical form for what extractors find, Scrapy's
fingerprint for what the spider asks for. What no queue can take ends here (Heritrix:
WorkQueueFrontier.processScheduleIfUnique, sendToQueue).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import pack
from heritrix_scrapy.model.hosts import counted_under

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.prepare import Plan
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

#: Largest row of a URI, in bytes.
MAX_ROW = 64 << 20


class Admission:
    """Lets URIs in. ``prepare``: fills what preparation fills; ``plan``: settings → what they say of it;
    ``seed_found``: called with each seed that comes as a Request or by a seed's redirect; ``refused``: called with
    each URI that could not be stored, its status set."""

    def __init__(
        self,
        ledger: Ledger,
        queues: Queues,
        settings: SettingsSource,
        prepare: Callable[[CrawlURI], None],
        plan: Callable[[Any], Plan],
        *,
        hosts: Hosts,
        seed_found: Callable[[CrawlURI], None] | None,
        refused: Callable[[CrawlURI], None],
    ) -> None:
        self._ledger = ledger
        self._queues = queues
        self._for_uri = settings.for_uri
        self._prepare = prepare
        self._plan = plan
        self._hosts = hosts
        self._seed_found = seed_found
        self._refused = refused

    def add(self, curi: CrawlURI, *, redirect_again: bool = True) -> bool:
        """Add a seed or a judged candidate; one without a class key is prepared. Whether it was queued.
        ``redirect_again``: whether a redirect to another name of its page passes though that page is known."""
        if not curi.class_key:
            forced = curi.forced
            self._prepare(curi)
            if not redirect_again:
                curi.forced = forced
        return self.admit(curi)

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
            self.tell_seed(curi)
        ledger = self._ledger
        row = keys.request(fingerprint)
        started = keys.request(b"start" + fingerprint)
        if not dont_filter and ledger.get(row) is not None:
            return False
        if resumed and curi.seed and ledger.get(started) is not None:
            return False
        curi.spider_request = True
        self._prepare(curi)
        if priority:
            curi.precedence -= priority
            if ledger.totals.heritrix:
                curi.precedence = max(curi.precedence, 0)
        if not self.place(curi):
            return False
        if curi.seed:
            ledger.put(started, b"")
        if not dont_filter:
            ledger.put(row, b"")
        seen = keys.seen(curi.canonical)
        ledger.totals.candidates += 1
        if ledger.get(seen) is None:
            ledger.totals.discovered += 1
        ledger.see(seen, keys.BY_SPIDER)
        ledger.totals.spider_asked = True
        return True

    def tell_seed(self, curi: CrawlURI) -> None:
        """Announce a seed that stands on no list, and remember it: the next process has to announce it again before
        it judges a link."""
        if self._seed_found is not None:
            self._ledger.put(keys.seed(curi.uri), b"")
            self._seed_found(curi)

    def admit(self, curi: CrawlURI, unseen: bytes | None = None) -> bool:
        """Past the seen filter, unless it is known. A forced URI always passes, and is not counted. ``unseen``:
        its row among the seen, when that is known not to be there."""
        ledger = self._ledger
        if not curi.forced:
            ledger.totals.candidates += 1
        if unseen is None:
            unseen = ledger.unseen(curi.canonical)
            if unseen is None:
                return curi.forced and self.place(curi)
        if not self.place(curi):
            return False
        ledger.see(unseen)
        ledger.totals.discovered += 1
        return True

    def include(self, curi: CrawlURI) -> bool:
        """Take a URI for seen, without queueing it (Heritrix: WorkQueueFrontier.considerIncluded). Its queue is charged
        as if it had been fetched. False when it was known."""
        if not curi.class_key:
            self._prepare(curi)
        ledger = self._ledger
        unseen = ledger.unseen(curi.canonical)
        if unseen is not None:
            ledger.see(unseen)
            ledger.totals.discovered += 1
        queue = self._queues.get(curi.class_key)
        if queue is None:
            # its budget comes with the first URI that is handed out
            queue = self._new_queue(curi)
            queue.record.session_budget = 0
        queue.record.charge(curi.cost)
        ledger.change(queue)
        if ledger.journal is not None:
            ledger.journal.included(curi)
        return unseen is not None

    def place(self, curi: CrawlURI) -> bool:
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
        view = curi.settings
        newest_first = not totals.heritrix and view is not None and view.preference_depth_hops == 0
        place = keys.place_of(curi.ordinal, newest_first=newest_first)
        key = curi.queue_key = keys.queued(queue.prefix, first, second, place)
        ledger.put(key, row)
        queue.join(key, row)
        record = queue.record
        record.enqueued += 1
        if name := counted_under(curi.uri):
            self._hosts.arrive(name)
        queue.last_queued = curi.uri
        queues = self._queues
        if record.ranks is None:
            queues.grew(queue, key)
        elif totals.heritrix:
            # a queue is listed before its first URI has a say
            queues.added(queue)
            queues.ranked(queue, key, 1)
        else:
            queues.ranked(queue, key, 1)
            queues.added(queue)
        if ledger.journal is not None:
            ledger.journal.added(curi)
        return True

    def _new_queue(self, curi: CrawlURI) -> Queue:
        view = curi.settings if curi.settings is not None else self._for_uri(curi)
        plan = self._plan(view)
        queue = self._queues.make(
            curi.class_key, session_budget=view.balance_replenish_amount, total_budget=view.queue_total_budget
        )
        plan.set_precedence(queue.record, curi)
        return queue

    def _refuse(self, curi: CrawlURI, reason: object) -> bool:
        curi.status = status.UNQUEUABLE
        curi.annotate("unqueuable")
        curi.errors.append(("", str(reason)))
        self._ledger.totals.unqueuable += 1
        self._refused(curi)
        return False
