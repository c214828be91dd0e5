"""All URIs still to be fetched: what goes in, what comes out, what came back, what is kept.

The frontier proper (Heritrix: WorkQueueFrontier), put together from its parts: ``admission``, ``selection``,
``finish``, ``futures``. Everything a finished URI changes goes into one batch: its outlinks, its own row, its
queue, the counters. Whatever kills the process before the batch is written leaves the URI where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import keys, prepare
from heritrix_scrapy.frontier.addresses import Addresses
from heritrix_scrapy.frontier.admission import Admission
from heritrix_scrapy.frontier.candidates import Candidates
from heritrix_scrapy.frontier.finish import Finishing
from heritrix_scrapy.frontier.futures import Futures
from heritrix_scrapy.frontier.growth import JOINED
from heritrix_scrapy.frontier.ledger import Ledger
from heritrix_scrapy.frontier.plain import PlainLinks
from heritrix_scrapy.frontier.policies.named import Policies
from heritrix_scrapy.frontier.politeness import Rest
from heritrix_scrapy.frontier.process import InProcess
from heritrix_scrapy.frontier.queues import QUEUES_KEPT, Queues
from heritrix_scrapy.frontier.recovery import Recovery, recover
from heritrix_scrapy.frontier.seen import Seen
from heritrix_scrapy.frontier.selection import Selection
from heritrix_scrapy.frontier.siblings import Siblings
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.status import SHOWN, status_of
from heritrix_scrapy.frontier.totals import Totals
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import ARRIVED
from heritrix_scrapy.settings import views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from heritrix_scrapy.crawl import Archive, Clock, Report, SettingsSource, Store
    from heritrix_scrapy.frontier.journal import Journal
    from heritrix_scrapy.frontier.lists import Lists
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.model.hosts import Hosts
    from heritrix_scrapy.model.tally import Tally


class Frontier:
    """All URIs still to be fetched, and all ever seen.

    ``decide``: whether the scope accepts a candidate; ``recall``: what it says of (uri, hop path), where that is known
    without a candidate, else None; ``remembered``: what it has said of whole directories, by hop path, see
    ``Scope.remembered``; ``archives``: the writers, a list that may still grow;
    ``crawl_delay``: seconds that robots.txt asks for between two fetches from the URI's server, or None;
    ``before_finish``: called with each URI whose end is settled, before it is logged; ``seed_found``: called with
    each seed that comes as a Request or by a seed's redirect; ``queue_retired``: called with the class key of each
    queue that is taken out of the crawl; ``canonicaliser``: settings → the function
    that makes the canonical form of a URI's text; ``load_part``: makes a policy of the user's own, from the setting,
    its dotted path and its properties; ``journal``: told of each event, when one is kept; ``records_wait``: see
    ``growth``.
    """

    def __init__(
        self,
        store: Store,
        settings: SettingsSource,
        *,
        decide: Callable[[CrawlURI], bool],
        recall: Callable[[str, str], bool | None] | None = None,
        remembered: Callable[[str], dict[str, str] | None] | None = None,
        hosts: Hosts,
        clock: Clock,
        report: Report | None = None,
        archives: Sequence[Archive] = (),
        crawl_delay: Callable[[CrawlURI], float | None] | None = None,
        before_finish: Iterable[Callable[[CrawlURI], None]] = (),
        seed_found: Callable[[CrawlURI], None] | None = None,
        queue_retired: Callable[[str], None] | None = None,
        canonicaliser: Callable[[Any], Callable[[str], str]] = prepare.canonicaliser,
        load_part: Callable[[str, str, dict[str, Any]], Any] | None = None,
        journal: Journal | None = None,
        queues_kept: int = QUEUES_KEPT,
        records_wait: int = JOINED,
    ) -> None:
        view = settings.view
        self._settings = settings
        self._clock = clock
        self._seed_found = seed_found
        self._hosts = hosts
        self._heritrix: bool = view.profile == "heritrix"
        totals = Totals(heritrix=self._heritrix)
        ledger = self._ledger = Ledger(
            store,
            totals,
            hosts=hosts,
            clock=clock,
            report=report,
            archives=archives,
            records_wait=records_wait,
            longest=view.largest_queues_count,
        )
        ledger.journal = journal
        preparer = self.preparer = prepare.Preparer(
            canonicaliser, Policies(lambda: settings.view, hosts, load_part), heritrix=self._heritrix
        )
        # a policy that does not exist ends the start, not the first URI
        preparer.check(views(settings))
        queues = self._queues = Queues(
            ledger, lambda: settings.view.precedence_floor, kept=queues_kept, retired=queue_retired
        )
        plain = PlainLinks(ledger, queues, recall, remembered, hosts=hosts, heritrix=self._heritrix)
        #: forget_known(): something is no longer among the seen.
        self.forget_known = plain.forget_known
        self.candidates = Candidates(decide, settings, preparer, plain.sift)
        self._in_process = InProcess()
        self._futures = Futures(ledger, queues)
        self._admission = Admission(
            ledger,
            queues,
            settings,
            self.candidates.prepare,
            preparer.plan,
            hosts=hosts,
            seed_found=seed_found,
            refused=self.finished_outside,
        )
        addresses = Addresses(hosts)
        self._siblings = Siblings(ledger, queues)
        self._selection = Selection(
            ledger, queues, self._futures, self._admission, self._in_process, settings, preparer.plan, addresses
        )
        self._finishing = Finishing(
            ledger,
            queues,
            self._futures,
            self._admission,
            self.candidates,
            self._in_process,
            settings,
            hosts=hosts,
            rest=Rest(hosts, crawl_delay, heritrix=self._heritrix),
            plan=preparer.plan,
            addresses=addresses,
            siblings=self._siblings,
            before_finish=before_finish,
        )

    # -- opening and closing -------------------------------------------------------------------------------

    def open(self) -> Recovery:
        """Read what the store holds: queue records, never all URIs."""
        now = self._clock.now_ms()
        recovery = recover(self._ledger, self._queues, now, fresh=self._settings.view.new_crawl)
        if self._seed_found is not None:
            for key, _ in self._ledger.store.range(keys.SEED, keys.after(keys.SEED)):
                self._seed_found(CrawlURI(key[len(keys.SEED) :].decode("utf-8", "surrogatepass"), seed=True))
        self._futures.find_next()
        self._hosts.load_arrivals(self._ledger.store.range(ARRIVED, keys.after(ARRIVED)))
        seen = self._ledger.store.range(keys.SEEN, keys.after(keys.SEEN))
        self._ledger.known.complete = next(iter(seen), None) is None
        self._ledger.touch()
        self._ledger.flush(now)
        return recovery

    def close(self, *, finished: bool = False) -> None:
        """Write what waits and close the store. ``finished``: the crawl came to its end, and the next one on this
        store begins afresh. URIs in process stay queued."""
        ledger = self._ledger
        ledger.totals.over = finished
        try:
            ledger.write_grown()
            ledger.write()
            ledger.sync()
            if ledger.journal is not None:
                ledger.journal.close()
        finally:
            ledger.store.close()

    # -- adding --------------------------------------------------------------------------------------------

    def add(self, candidates: Iterable[CrawlURI], *, redirect_again: bool = True) -> int:
        """Add seeds and judged candidates; those without a class key are prepared. Returns how many were queued.
        ``redirect_again``: see ``Admission.add``."""
        added = 0
        for curi in candidates:
            added += self._admission.add(curi, redirect_again=redirect_again)
            if self._ledger.is_full:
                self.flush(self._clock.now_ms())
        return added

    def add_request(
        self, curi: CrawlURI, fingerprint: bytes, *, dont_filter: bool, priority: int = 0, resumed: bool = False
    ) -> bool:
        """Add a Request of the spider's own; False when the spider has asked for it before. See
        ``Admission.add_request``."""
        return self._admission.add_request(
            curi, fingerprint, dont_filter=dont_filter, priority=priority, resumed=resumed
        )

    # -- out and back --------------------------------------------------------------------------------------

    def next(self, now_ms: int) -> CrawlURI | None:
        """The URI whose turn it is, in process from now on; None while every queue waits.

        Raises StorageFull when the batch has to be written before a queue can be read, and cannot be.
        """
        return self._selection.next(now_ms)

    def finish(self, curi: CrawlURI, now_ms: int) -> bool:
        """A URI in process has run through its chain. True when that was its end, False when it stays queued.

        May change its status (-63, -8) and annotations; all else about the try stays readable. Raises
        StorageFull when log or store refuse; the URI then is either still in process, or finished and waiting
        to be written.
        """
        final = self._finishing.finish(curi, now_ms)
        if self._ledger.is_full:
            self.flush(now_ms)
        return final

    def put_back(self, curi: CrawlURI, now_ms: int, delay_ms: int = 0) -> None:
        """A URI in process was not fetched after all: back in its place, nothing counted, nothing charged.
        ``delay_ms``: how long its queue rests."""
        self._finishing.put_back(curi, now_ms, delay_ms)

    def replace_stored(self, curi: CrawlURI, blob: bytes | None, now_ms: int) -> None:
        """A spider's Request in process is retried by Scrapy: the new one takes its place in the queue. The try
        counts and costs as any; the queue rests as after a fetch."""
        self._finishing.replace_stored(curi, blob, now_ms)

    def finished_outside(self, curi: CrawlURI) -> None:
        """Count and log a URI that was in no queue: a fetch of the spider's past the frontier, or one that no
        queue could take."""
        self._finishing.finished_outside(curi)

    def include(self, curi: CrawlURI) -> bool:
        """Take a URI for seen; see ``Admission.include``."""
        return self._admission.include(curi)

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

    def strike(self, queue: Queue, key: bytes, curi: CrawlURI, *, quiet: bool = False) -> None:
        """Take a queued URI out, its status set; see ``Finishing.strike``."""
        self._finishing.strike(queue, key, curi, quiet=quiet)

    def unpack(self, queue: Queue, key: bytes, row: bytes) -> CrawlURI:
        """The URI of a queue's row. Raises UnpackError."""
        return self._selection.unpack(queue, key, row)

    def wake_all(self) -> None:
        """End every snooze now."""
        self._queues.wake_all()

    def reconsider_retired(self) -> None:
        """Let every retired queue take its turn again; one still over its budget is retired anew."""
        self._queues.reconsider_retired()

    # -- what others ask -----------------------------------------------------------------------------------

    @property
    def hosts(self) -> Hosts:
        """What is known of hosts and servers."""
        return self._hosts

    @property
    def totals(self) -> Totals:
        """Counters over the whole crawl."""
        return self._ledger.totals

    @property
    def lists(self) -> Lists:
        """Which queues wait, for reports."""
        return self._queues.lists

    @property
    def seen(self) -> Seen:
        """Which URIs are known, and a way to forget them."""
        return Seen(self._ledger, self.forget_known)

    def queue(self, class_key: str) -> Queue | None:
        """The queue of that name, for reports."""
        return self._queues.look(class_key)

    @property
    def queues(self) -> Queues:
        """All queues, for the operator's work on them."""
        return self._queues

    @property
    def ledger(self) -> Ledger:
        """The rows, for the operator's work on them."""
        return self._ledger

    def longest(self) -> list[tuple[str, int]]:
        """Names and counts of the longest queues, the longest first."""
        largest = self._ledger.largest
        # nearly all that the batch holds are shorter than those that are known, or members' own
        for queue in self._ledger.changed.values():
            if queue.record.count >= largest.least or queue.class_key in largest:
                largest.meet(queue.class_key, queue.record.count)
        for queue in self._ledger.joined:
            if queue.record.count > largest.least:
                largest.meet(queue.class_key, queue.record.count)
        return largest.descending()

    def in_process(self) -> Sequence[CrawlURI]:
        """The URIs handed out and not yet come back."""
        return list(self._in_process.uris.values())

    def processed(self, class_key: str) -> CrawlURI | None:
        """The URI of that queue that is handed out."""
        return self._in_process.uris.get(class_key)

    def waits_for(self, class_key: str, wake_ms: int) -> str | None:
        """What a snoozed queue waits for, where that is fetched by another queue; else None."""
        return self._siblings.waits_for(class_key, wake_ms)

    def tallies(self) -> dict[str, int]:
        """The reports' counters over the whole crawl, earlier processes included."""
        return dict(self._ledger.counted())

    def queue_tally(self, class_key: str) -> Tally | None:
        """Counters of a queue; None for an unknown one."""
        queue = self._queues.look(class_key)
        return None if queue is None else queue.record.tally

    def alive(self) -> bool:
        """Whether anything is left to do, now or later. What lies in retired queues is not; nor is, in the modern
        profile, what lies in queues below the precedence floor: Heritrix never ends while there is any."""
        totals = self._ledger.totals
        if self._in_process.uris or totals.future:
            return True
        return totals.queued > 0 and (self._heritrix or self._queues.any_may_work())

    def next_wake(self) -> int | None:
        """When the next snoozed queue wakes, or the next URI is to be fetched again."""
        wake = self._queues.lists.next_wake()
        due = self._futures.next_due
        return due if due is not None and (wake is None or due < wake) else wake

    def status(self) -> dict[str, Any]:
        """Counts, queues by state, and the queues that wait, with until when and why."""
        queues = self._queues
        longest = self.longest()
        return {
            **status_of(self._ledger.totals, queues.by_state, queues.sleepers(SHOWN), self._clock.now_ms()),
            "longest": longest[0][1] if longest else -1,
        }

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

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """Everything written and synced, and the store copied into ``directory``, which must not be there. What is
        returned completes the copy. Raises StorageFull, OSError."""
        self._ledger.touch()
        self._ledger.write()
        self._ledger.sync()
        return self._ledger.store.checkpoint(directory)

    def end_journal(self, name: str) -> None:
        """End the recovery journal under the name of a checkpoint, and begin another. Raises StorageFull, OSError."""
        if self._ledger.journal is not None:
            self._ledger.journal.rotate(name)

    def touch(self) -> None:
        """Have counters and the lengths of the logs written down anew, at once. Raises StorageFull."""
        self._ledger.touch()
        self._ledger.write()
