"""Where in the frontier does a candidate belong: under which name, in which queue, how far in front?

Plain functions of the URI, its path and the settings that hold for it, in Heritrix's order: directive, canonical
form, class key, cost, precedence (Heritrix: FrontierPreparer.prepare). The last three are what the policies say.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_hexdigest

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.policies import named
from heritrix_scrapy.frontier.policies.assignment import DEFAULT_QUEUE
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import HIGH, MEDIUM, NORMAL, CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.logins import take_login
from heritrix_scrapy.uri.canonical import Canonicaliser

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.frontier.policies.contract import (
        CostAssignmentPolicy,
        QueueAssignmentPolicy,
        QueuePrecedencePolicy,
        UriPrecedencePolicy,
    )
    from heritrix_scrapy.frontier.queue import QueueRecord

logger = logging.getLogger(__name__)

#: A queue's name may have so many characters; a longer one ends in a hash (a host name has up to 253).
MAX_CLASS_KEY = 200


# -- directive ---------------------------------------------------------------------------------------------


def directive(path: str, given: int, depth_hops: int, embed_hops: int, *, heritrix: bool) -> int:
    """Scheduling directive of a URI reached by ``path`` (Heritrix: FrontierPreparer.getSchedulingDirective).

    Heritrix lifts a prerequisite to the directive of the URI that waits for it, and the two block each other;
    only the heritrix profile does. Its ``depth_hops`` n means the hops 0 to n - 1, the modern one 1 to n.
    """
    last = path[-1:]
    if last == hops.REFER:
        return HIGH if depth_hops >= 0 else MEDIUM
    if depth_hops >= 0:
        if heritrix:
            if depth_hops == 0 or len(path) + 1 <= depth_hops:
                return HIGH
        elif last == hops.PREREQ:
            return given
        elif path and (depth_hops == 0 or hops.length(path) <= depth_hops):
            return HIGH
    elif last == hops.PREREQ and not heritrix:
        return given
    if embed_hops > 0 and given == NORMAL and last not in _NO_EMBED and 0 < hops.trans(path) <= embed_hops:
        return MEDIUM
    return given


#: Paths that end so have no hop since the last L or M.
_NO_EMBED = ("", hops.NAVLINK, hops.MANIFEST)


# -- canonical form ----------------------------------------------------------------------------------------


def canonicaliser(view: Any) -> Callable[[str], str]:
    """The function that makes canonical forms under these settings. Raises ConfigurationError."""
    try:
        return Canonicaliser.of(view.canonicalization_rules, late=view.profile == "heritrix")
    except (ValueError, re.error) as error:
        raise ConfigurationError(
            "HERITRIX_CANONICALIZATION_RULES", view.canonicalization_rules, f"cannot be used: {error}"
        ) from None


# -- what the policies say ---------------------------------------------------------------------------------


def bounded(class_key: str, *, heritrix: bool) -> str:
    """A queue's name that is not too long: the rest of a longer one is a hash. Heritrix bounds none."""
    if len(class_key) <= MAX_CLASS_KEY or heritrix:
        return class_key or DEFAULT_QUEUE
    digest = xxh3_64_hexdigest(class_key.encode("utf-8", "surrogatepass"))
    return f"{class_key[: MAX_CLASS_KEY - 17]}~{digest}"


class Plan:
    """What preparation needs of one View, looked up once. ``fixed``: cost and precedence, where all URIs have the
    same and the queue's does not hang on them; ``by_authority``: whether the queue follows from the authority alone;
    ``moves``: whether a URI may have another queue by the time its turn comes. Raises ConfigurationError for policies
    that do not exist."""

    __slots__ = (
        "_asks_again",
        "_assignment",
        "_clips",
        "_cost",
        "_heritrix",
        "_queue_precedence",
        "_text",
        "_uri_precedence",
        "by_authority",
        "by_highest_uri",
        "canonicalise",
        "depth_hops",
        "directives",
        "embed_hops",
        "fixed",
        "moves",
        "newest_first",
        "view",
    )

    def __init__(
        self, view: Any, canonicalise: Callable[[str], str], policies: named.Policies, *, heritrix: bool
    ) -> None:
        self.view = view
        self.canonicalise = canonicalise
        self.directives: dict[tuple[str, int], int] = {}
        self.depth_hops: int = view.preference_depth_hops
        self.embed_hops: int = view.preference_embed_hops
        self.newest_first = self.depth_hops == 0 and not heritrix
        self._heritrix = heritrix
        #: Stands for each URI of which no more than the text is known: making one costs as much as its queue's name.
        self._text = CrawlURI("")
        self._clips = False
        self._assignment: QueueAssignmentPolicy = policies.make(named.ASSIGNMENT, view)
        self._cost: CostAssignmentPolicy = policies.make(named.COST, view)
        self._uri_precedence: UriPrecedencePolicy = policies.make(named.URI_PRECEDENCE, view)
        self._queue_precedence: QueuePrecedencePolicy = policies.make(named.QUEUE_PRECEDENCE, view)
        self.by_authority: bool = getattr(self._assignment, "by_authority", False)
        self._asks_again: bool = getattr(self._assignment, "moves", False) or not view.defer_to_previous
        self.moves = self._asks_again
        self.by_highest_uri: bool = getattr(self._queue_precedence, "by_highest_uri", False)
        cost = getattr(self._cost, "fixed", None)
        precedence = cost if getattr(self._uri_precedence, "of_cost", False) else None
        if precedence is None:
            precedence = getattr(self._uri_precedence, "fixed", None)
        self.fixed: tuple[int, int] | None = None
        if cost is not None and precedence is not None and not self.by_highest_uri:
            self.fixed = (cost, self._told_if_clipped(precedence))

    def class_key(self, curi: CrawlURI) -> str:
        """Name of the URI's queue."""
        if curi.class_key and not self._asks_again:
            return curi.class_key
        return bounded(self._assignment.class_key(curi), heritrix=self._heritrix)

    def class_key_of(self, uri: str) -> str:
        """Name of the queue of a URI that nothing but its text is known of; where ``by_authority`` holds."""
        curi = self._text
        curi.uri, curi.settings = uri, self.view
        return self.class_key(curi)

    def cost(self, curi: CrawlURI) -> int:
        """What the URI costs its queue."""
        return self._cost.cost_of(curi)

    def precedence(self, curi: CrawlURI) -> int:
        """How far in front of its queue the URI belongs; its cost is known."""
        return self._told_if_clipped(self._uri_precedence.precedence(curi))

    def _told_if_clipped(self, precedence: int) -> int:
        least, most = (-128, 127) if self._heritrix else (-keys.PRECEDENCE_ZERO, 255 - keys.PRECEDENCE_ZERO)
        if not least <= precedence <= most and not self._clips:
            self._clips = True
            logger.warning(
                "the precedence %d of a URI lies outside %d to %d: such are clipped, and come in the order in which"
                " they were found",
                precedence,
                least,
                most,
            )
        return precedence

    def set_precedence(self, record: QueueRecord, curi: CrawlURI) -> None:
        """Give a queue its precedence, under the settings of a URI that makes it or has left it."""
        base = self._queue_precedence.precedence(record, curi)
        if base == record.precedence and base == record.base and record.ranks is None and not self.by_highest_uri:
            return
        record.base = base
        if not self.by_highest_uri:
            record.ranks = None
        elif record.ranks is None:
            record.ranks = {}
        record.set_precedence()


class Preparer:
    """Prepares candidates. ``canonicaliser``: the settings of a URI → the function that makes its canonical
    form; ``policies``: makes the policies that settings name."""

    def __init__(
        self,
        canonicaliser: Callable[[Any], Callable[[str], str]],
        policies: named.Policies | None = None,
        *,
        heritrix: bool,
    ) -> None:
        self._canonicaliser = canonicaliser
        self._policies = policies or named.Policies()
        self.heritrix = heritrix
        self._plans: dict[int, Plan] = {}
        self._base: Plan | None = None
        #: Views without a plan of their own, kept for their ids.
        self._kept: list[Any] = []

    def check(self, views: list[Any]) -> None:
        """Whether the policies that these Views name exist; the first is the one where no sheet applies. Raises
        ConfigurationError."""
        for view in views:
            self._plans[id(view)] = self._make(view)
            self._policies.check(view)
        self._base = self.plan(views[0])

    def test(self, views: list[Any]) -> None:
        """The same question, about Views that do not hold yet. Raises ConfigurationError."""
        for view in views:
            self._make(view)
            self._policies.check(view)

    def _make(self, view: Any) -> Plan:
        return Plan(view, self._canonicaliser(view), self._policies, heritrix=self.heritrix)

    def plan(self, view: Any) -> Plan:
        """The plan of a View; there are as many as there are combinations of sheets. Sheets that are right each by
        itself and wrong together count for nothing here, with a line in the log."""
        # a plan keeps its View, so that the View's id cannot become another's
        plan = self._plans.get(id(view))
        if plan is None:
            if len(self._plans) > 1000:
                self._plans.clear()
            try:
                plan = self._make(view)
            except ConfigurationError as error:
                if self._base is None:
                    raise
                logger.error("sheets %s give no policies together: %s", ", ".join(view.sheets_applied), error)
                plan = self._base
                self._kept.append(view)
            self._plans[id(view)] = plan
        return plan

    def prepare(self, curi: CrawlURI, canonical: str | None = None) -> None:
        """Fill ``directive``, ``canonical``, ``class_key``, ``cost`` and ``precedence``; may set ``forced``.

        ``canonical``: the canonical form, when it is known. A redirect whose target has the canonical form of its
        source would be taken for seen: it is forced.
        """
        view = curi.settings
        plan = self.plan(view)
        if "@" in curi.uri and not self.heritrix:
            take_login(curi)
            canonical = None
        path = curi.path
        # few paths among many URIs: looked up at a third of the price
        given = curi.directive
        known = plan.directives.get((path, given))
        if known is None:
            if len(plan.directives) > 1000:
                plan.directives.clear()
            known = directive(path, given, plan.depth_hops, plan.embed_hops, heritrix=self.heritrix)
            plan.directives[path, given] = known
        curi.directive = known
        curi.canonical = canonical = canonical or plan.canonicalise(curi.uri)
        if path[-1:] == hops.REFER:
            via = curi.via
            if via and via != curi.uri and plan.canonicalise(via) == canonical:
                curi.forced = True
        curi.class_key = plan.class_key(curi)
        if curi.cost < 0:
            if plan.fixed is not None:
                curi.cost, curi.precedence = plan.fixed
                return
            curi.cost = plan.cost(curi)
        curi.precedence = plan.precedence(curi)
