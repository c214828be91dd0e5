"""How do the many ordinary links of a page get into their queues at a third of the price?

Nearly all links differ from their neighbours in nothing but their text: same settings, a directory that the scope
has judged before, a queue that exists, a policy that gives every URI the same cost and precedence. For such a
link no CrawlURI is made; its row is written from the link itself. It is the very row that the general way
(``Candidates.judge``, ``Frontier._admit``) would write, and what is not known to be ordinary goes that way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier import keys, prepare
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import NORMAL, pack_link

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.prepare import Plan
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI, Outlink

#: Authorities, and pairs of path and hop, that are remembered.
REMEMBERED = 20_000


class PlainLinks:
    """The short way for links that have not been seen, where one View holds for all URIs."""

    def __init__(
        self, ledger: Ledger, queues: Queues, recall: Callable[[str, str], bool | None], *, heritrix: bool
    ) -> None:
        self._ledger = ledger
        self._queues = queues
        self._recall = recall
        self._heritrix = heritrix
        self._plan: Plan | None = None
        #: Parent's path and hop → the child's path, and the two bytes of its rank.
        self._shapes: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._class_keys: dict[str, str] = {}

    def add(self, parent: CrawlURI, link: Outlink, canonical: str, row: bytes, plan: Plan) -> bool | None:
        """Queue a link, ``row`` being where it will stand among the seen. False when it is out of scope, None when it
        has to go the general way."""
        if plan is not self._plan:
            self._plan = plan
            self._shapes.clear()
            self._class_keys.clear()
        if plan.fixed is None:
            return None
        shape = self._shapes.get((parent.path, link.hop)) or self._shape(parent.path, link.hop, plan)
        uri = link.uri
        accepted = self._recall(uri, shape[0])
        if not accepted:
            return accepted
        authority = uri[: uri.find("/", 8)]
        class_key = self._class_keys.get(authority) or self._class_key(uri, authority)
        queue = self._queues.get(class_key) if class_key else None
        if queue is None:
            return None
        try:
            packed = pack_link(link, shape[0], parent, canonical, plan.fixed[0])
        except (TypeError, ValueError, OverflowError):
            return None
        ledger = self._ledger
        totals = ledger.totals
        totals.candidates += 1
        totals.discovered += 1
        totals.ordinal += 1
        ordinal = keys.MAX_ORDINAL - totals.ordinal if totals.newest_first else totals.ordinal
        key = queue.prefix + shape[1] + ordinal.to_bytes(6, "big")
        ledger.put_discovered(key, packed, row)
        queue.insert(key, packed)
        record = queue.record
        record.enqueued += 1
        record.tally.scheduled += 1
        record.last_queued = uri
        self._queues.added(queue)
        if ledger.journal is not None:
            ledger.journal.append(f"F+ {uri} {shape[0]} {parent.uri}\n")
        return True

    def _shape(self, path: str, hop: str, plan: Plan) -> tuple[str, bytes]:
        if len(self._shapes) >= REMEMBERED:
            self._shapes.clear()
        assert plan.fixed is not None
        longer = hops.extend(path, hop)
        directive = prepare.directive(longer, NORMAL, plan.depth_hops, plan.embed_hops, heritrix=self._heritrix)
        rank = bytes(keys.rank(directive, plan.fixed[1], False, self._ledger.totals.heritrix))
        shape = self._shapes[path, hop] = (longer, rank)
        return shape

    def _class_key(self, uri: str, authority: str) -> str:
        if not uri.startswith("http") or not authority.startswith(("http://", "https://")):
            return ""
        if len(self._class_keys) >= REMEMBERED:
            self._class_keys.clear()
        assert self._plan is not None
        view = self._plan.view
        own: str = view.force_queue_assignment or prepare.surt_authority(uri, strict=view.strict_uri_fixup)
        key = own or prepare.DEFAULT_QUEUE
        self._class_keys[authority] = key
        return key
