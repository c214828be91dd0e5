"""How do the many ordinary links of a page get into their queues at a quarter of the price?

Nearly all links differ from their neighbours in nothing but their text: same settings, a directory that the scope
has judged before, a queue that exists, a policy that gives every URI the same cost and precedence. For such a
link no CrawlURI is made; its row is written from the link itself. It is the very row that the general way
(``Candidates.judge``, ``Admission.admit``) would write, and what is not known to be ordinary goes that way, in
its order among the others.

One loop without calls of our own: a call costs as much as a look-up here, and a page has twenty links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest

from heritrix_scrapy.frontier import keys, prepare
from heritrix_scrapy.frontier.queue import MAX_HEADS
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import NORMAL, encode_text, host_of, link_frame, pack_link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heritrix_scrapy.frontier.candidates import Sifted
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.prepare import Plan
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
    from heritrix_scrapy.model.hosts import Hosts

#: Authorities, and pairs of path and hop, that are remembered.
REMEMBERED = 20_000
#: Links remembered as seen: 4 MB.
KNOWN = 32_768

_EXHAUSTED, _RETIRED = int(State.EXHAUSTED), int(State.RETIRED)


class PlainLinks:
    """The short way of links, where one View holds for all URIs: the seen ones are dropped, the ordinary new ones
    queued. ``recall``: what the scope says of (uri, hop path) where it knows without a candidate; None: there is no
    short way for new ones."""

    def __init__(
        self,
        ledger: Ledger,
        queues: Queues,
        recall: Callable[[str, str], bool | None] | None,
        *,
        hosts: Hosts,
        heritrix: bool,
    ) -> None:
        self._ledger = ledger
        self._hosts = hosts
        self._queues = queues
        self._recall = recall
        self._heritrix = heritrix
        self._plan: Plan | None = None
        #: Parent's path and hop → the child's path, and the two bytes of its rank.
        self._shapes: dict[tuple[str, str], tuple[str, bytes]] = {}
        #: Authority, with the scheme before it → class key, "" for none of the ordinary kind; what the rows of its
        #: pages among the seen begin with.
        self._sites: dict[str, tuple[str, bytes]] = {}
        #: Links met lately that are among the seen: the pages of a site share most of theirs, and the key and the
        #: store's answer cost ten times as much as looking here.
        self._known: set[str] = set()

    def sift(self, parent: CrawlURI, links: Iterable[Outlink], plan: Plan) -> Sifted:
        """The links that have to go the general way, in their order, each with its canonical form and the row that this
        will have among the seen, where they are known. To be closed in any case: only then all is counted.
        """
        if plan is not self._plan:
            self._plan = plan
            self._shapes.clear()
            self._sites.clear()
        ledger, queues = self._ledger, self._queues
        known, sites, canonicalise = self._known, self._sites, plan.canonicalise
        loaded, find_queue, changed, seen_in_store = queues.loaded, queues.get, ledger.changed, ledger.get_stored
        recall = self._recall if plan.fixed is not None else None
        path, annotated = parent.path, parent.outlink_annotations is not None
        shapes: dict[str, tuple[str, bytes]] = {}
        frames: dict[tuple[str, str], tuple[bytes, bytes]] = {}
        totals = ledger.totals
        newest_first = plan.newest_first
        repeated = rejected = queued = 0
        arrived: dict[str, int] = {}
        ordinal = first = totals.ordinal
        puts = ledger.puts
        write = None if ledger.journal is None else ledger.journal.append
        try:
            for link in links:
                uri, hop, context = link
                if hop == hops.REFER:
                    row = canonical = None
                else:
                    if uri in known:
                        repeated += 1
                        continue
                    canonical = canonicalise(uri)
                    slash = uri.find("/", 8)
                    authority = uri[:slash] if slash > 0 else ""
                    site = sites.get(authority) or self._site(uri, authority)
                    if canonical is uri:
                        row = site[1] + xxh3_64_digest(uri.encode("utf-8", "surrogatepass"))
                    else:
                        row = keys.seen(canonical)
                    if row in puts or (seen_in_store(row) is not None and row not in ledger.deletes):
                        if len(known) >= KNOWN:
                            known.clear()
                        known.add(uri)
                        repeated += 1
                        continue
                    if recall is not None and (class_key := site[0]):
                        shape = shapes.get(hop)
                        if shape is None:
                            shape = shapes[hop] = self._shapes.get((path, hop)) or self._shape(path, hop, plan)
                        accepted = recall(uri, shape[0])
                        if accepted:
                            queue = loaded.get(class_key) or find_queue(class_key)
                            packed = None
                            if queue is not None:
                                try:
                                    if canonical is uri and not annotated:
                                        frame = frames.get((hop, context))
                                        if frame is None:
                                            assert plan.fixed is not None
                                            frame = link_frame(shape[0], context, parent, plan.fixed[0])
                                            frames[hop, context] = frame
                                        packed = frame[0] + encode_text(uri) + frame[1]
                                    else:
                                        assert plan.fixed is not None
                                        packed = pack_link(link, shape[0], parent, canonical, plan.fixed[0])
                                except (TypeError, ValueError, OverflowError):
                                    # the general way says what is wrong with it
                                    packed = None
                            if queue is not None and packed is not None:
                                ordinal += 1
                                place = keys.MAX_ORDINAL - ordinal if newest_first else ordinal
                                key = queue.prefix + shape[1] + place.to_bytes(6, "big")
                                puts[key] = packed
                                puts[row] = b""
                                heads, bound = queue.heads, queue.bound
                                if (
                                    (bound is None or key < bound)
                                    and (not heads or key > heads[-1][0])
                                    and len(heads) < MAX_HEADS
                                ):
                                    heads.append((key, packed))
                                else:
                                    queue.insert(key, packed)
                                record = queue.record
                                record.enqueued += 1
                                record.tally.scheduled += 1
                                record.count += 1
                                record.last_queued = uri
                                arrived[authority] = arrived.get(authority, 0) + 1
                                if write is not None:
                                    write(f"F+ {uri} {shape[0]} {parent.uri}\n")
                                changed[class_key] = queue
                                state = record.state
                                if state != _RETIRED:
                                    queued += 1
                                    if state == _EXHAUSTED:
                                        queues.list_anew(queue)
                                continue
                        elif accepted is not None:
                            rejected += 1
                            continue
                if ordinal != first:
                    self._count(ordinal, ordinal - first)
                    first = ordinal
                yield link, canonical, row
                puts = ledger.puts
                ordinal = first = totals.ordinal
        finally:
            if ordinal != first:
                self._count(ordinal, ordinal - first)
            for authority, count in arrived.items():
                self._hosts.scheduled(host_of(authority)).scheduled += count
            totals.queued += queued
            totals.candidates += repeated
            totals.rejected += rejected

    def forget_known(self) -> None:
        """Something is no longer among the seen."""
        self._known.clear()

    def _count(self, ordinal: int, new: int) -> None:
        self._ledger.touch()
        totals = self._ledger.totals
        totals.ordinal = ordinal
        totals.discovered += new
        totals.candidates += new

    def _shape(self, path: str, hop: str, plan: Plan) -> tuple[str, bytes]:
        if len(self._shapes) >= REMEMBERED:
            self._shapes.clear()
        assert plan.fixed is not None
        longer = hops.extend(path, hop)
        directive = prepare.directive(longer, NORMAL, plan.depth_hops, plan.embed_hops, heritrix=self._heritrix)
        rank = bytes(keys.rank(directive, plan.fixed[1], False, self._ledger.totals.heritrix))
        shape = self._shapes[path, hop] = (longer, rank)
        return shape

    def _site(self, uri: str, authority: str) -> tuple[str, bytes]:
        """What holds for all pages of an authority. Kept where the text before the first slash is one."""
        row = keys.seen(uri)[:4]
        if not authority.startswith(("http://", "https://")):
            return "", row
        assert self._plan is not None
        if len(self._sites) >= REMEMBERED:
            self._sites.clear()
        key = self._plan.class_key_of(uri) if self._plan.by_authority else ""
        site = self._sites[authority] = (key, row)
        return site
