"""Where in the frontier does a candidate belong: under which name, in which queue, how far in front?

Plain functions of the URI, its path and the settings that hold for it, in Heritrix's order: directive, canonical
form, class key, cost, precedence (Heritrix: FrontierPreparer.prepare and the policies it asks).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import HIGH, MEDIUM, NORMAL, authority_of
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.uri.canonical import Canonicaliser
from heritrix_scrapy.uri.surt import authority_part, surt

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import CrawlURI

DEFAULT_QUEUE = "default..."
WHOIS_QUEUE = "whois..."

#: Precedence of a queue, and of a URI, whose policy says no other (BaseQueuePrecedencePolicy,
#: BaseUriPrecedencePolicy).
BASE_QUEUE_PRECEDENCE = 3
BASE_URI_PRECEDENCE = 1


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


# -- class key ---------------------------------------------------------------------------------------------


_surt_keys: tuple[dict[str, str], dict[str, str]] = ({}, {})


def surt_authority(uri: str, *, strict: bool = False) -> str:
    """Core key of the SurtAuthority policy: the authority as a SURT, with ``#`` for ``:``; "" when the URI has
    none (Heritrix: SurtAuthorityQueueAssignmentPolicy). ``strict``: an IPv6 address is turned round as there."""
    start = uri.find("://") + 3
    if start < 3:
        return ""
    end = uri.find("/", start)
    authority = uri[start:end] if end > 0 else authority_of(uri)
    known = _surt_keys[strict]
    key = known.get(authority)
    if key is None:
        if len(known) > 50_000:
            known.clear()
        form = surt(f"http://{authority_of(uri)}/", strict=strict)
        key = known[authority] = authority_part(form).replace(":", "#") if "://(" in form else ""
    return key


def class_key(curi: CrawlURI, view: Any) -> str:
    """Name of the URI's queue (Heritrix: URIAuthorityBasedQueueAssignmentPolicy.getClassKey)."""
    if curi.class_key and view.defer_to_previous:
        return curi.class_key
    uri = curi.uri
    if uri.startswith("whois:"):
        return WHOIS_QUEUE
    basis = curi.via if curi.via and curi.path[-1:] == hops.PREREQ else uri
    return view.force_queue_assignment or surt_authority(basis, strict=view.strict_uri_fixup) or DEFAULT_QUEUE


# -- cost and precedence -----------------------------------------------------------------------------------

_CALENDAR = re.compile(
    r"calendar|year|month|day|date|viewcal|event|yr=|calendrier|jour|\D19\d\d\D|\D20\d\d\D", re.IGNORECASE | re.ASCII
)


def _wag(curi: CrawlURI) -> int:
    page, mark, _ = curi.uri.partition("?")
    if not mark:
        return 1
    return 3 if curi.via is not None and curi.via.startswith(page) else 2


COST_POLICIES: dict[str, Callable[[CrawlURI], int]] = {
    "Unit": lambda curi: 1,
    "Zero": lambda curi: 0,
    "Wag": _wag,
    "AntiCalendar": lambda curi: 2 if _CALENDAR.search(curi.uri) else 1,
}


def _hops_precedence(curi: CrawlURI, properties: dict[str, Any]) -> int:
    base: int = properties.get("base_precedence", BASE_URI_PRECEDENCE)
    if properties.get("navlinks_only", True):
        return base + hops.counts(curi.path).link
    return base + len(curi.path)


URI_PRECEDENCE_POLICIES: dict[str, Callable[[CrawlURI, dict[str, Any]], int]] = {
    "Cost": lambda curi, properties: curi.cost,
    "Base": lambda curi, properties: properties.get("base_precedence", BASE_URI_PRECEDENCE),
    "Hops": _hops_precedence,
}


def queue_precedence(view: Any) -> int:
    """Precedence of a queue under the settings of the URI that makes it or finished in it."""
    _, properties = policy("HERITRIX_QUEUE_PRECEDENCE_POLICY", view.queue_precedence_policy, ("Base",))
    precedence: int = properties.get("base_precedence", BASE_QUEUE_PRECEDENCE)
    return precedence


_SUFFIX = re.compile(r"(CostAssignment|UriPrecedence|QueuePrecedence|QueueAssignment)Policy\Z")
_policies: dict[tuple[str, str], str] = {}


def policy(setting: str, value: Any, known: Any) -> tuple[str, dict[str, Any]]:
    """Short name and properties of a policy, however it was written: ``Unit``, ``UnitCostAssignmentPolicy``, its
    dotted name, or ``[name, {property: value}]``.

    Raises ConfigurationError for one that does not exist.
    """
    properties: dict[str, Any] = {}
    if not isinstance(value, str):
        value, properties = value[0], (value[1] if len(value) > 1 else {})
    name = _policies.get((setting, value))
    if name is None:
        name = _SUFFIX.sub("", value.rpartition(".")[2])
        if name not in known:
            raise ConfigurationError(setting, value, f"one of {', '.join(known)}")
        _policies[setting, value] = name
    return name, properties


# -- all of it ---------------------------------------------------------------------------------------------


#: How a URI finds its queue; this version has Heritrix's default.
QUEUE_ASSIGNMENT_POLICIES = ("SurtAuthority",)


class Plan:
    """What preparation needs of one View, looked up once."""

    __slots__ = (
        "canonicalise",
        "cost",
        "depth_hops",
        "directives",
        "embed_hops",
        "fixed",
        "precedence",
        "properties",
        "view",
    )

    def __init__(self, view: Any, canonicalise: Callable[[str], str]) -> None:
        self.view = view
        self.canonicalise = canonicalise
        self.directives: dict[tuple[str, int], int] = {}
        self.depth_hops: int = view.preference_depth_hops
        self.embed_hops: int = view.preference_embed_hops
        name, _ = policy("HERITRIX_COST_ASSIGNMENT_POLICY", view.cost_assignment_policy, COST_POLICIES)
        self.cost = COST_POLICIES[name]
        name, self.properties = policy(
            "HERITRIX_URI_PRECEDENCE_POLICY", view.uri_precedence_policy, URI_PRECEDENCE_POLICIES
        )
        self.precedence = URI_PRECEDENCE_POLICIES[name]
        #: Cost and precedence, where all URIs have the same.
        self.fixed: tuple[int, int] | None = None
        if self.cost in (COST_POLICIES["Unit"], COST_POLICIES["Zero"]) and name in ("Cost", "Base"):
            cost = 1 if self.cost is COST_POLICIES["Unit"] else 0
            base: int = self.properties.get("base_precedence", BASE_URI_PRECEDENCE)
            self.fixed = (cost, cost if name == "Cost" else base)
        policy("HERITRIX_QUEUE_ASSIGNMENT_POLICY", view.queue_assignment_policy, QUEUE_ASSIGNMENT_POLICIES)
        if view.parallel_queues != 1:
            raise ConfigurationError("HERITRIX_PARALLEL_QUEUES", view.parallel_queues, "this version has 1")


class Preparer:
    """Prepares candidates. ``canonicaliser``: the settings of a URI → the function that makes its canonical
    form."""

    def __init__(self, canonicaliser: Callable[[Any], Callable[[str], str]], *, heritrix: bool) -> None:
        self._canonicaliser = canonicaliser
        self.heritrix = heritrix
        self._plans: dict[int, Plan] = {}

    def plan(self, view: Any) -> Plan:
        """The plan of a View; there are as many as there are combinations of sheets."""
        # a plan keeps its View, so that the View's id cannot become another's
        plan = self._plans.get(id(view))
        if plan is None:
            if len(self._plans) > 1000:
                self._plans.clear()
            plan = self._plans[id(view)] = Plan(view, self._canonicaliser(view))
        return plan

    def prepare(self, curi: CrawlURI, canonical: str | None = None) -> None:
        """Fill ``directive``, ``canonical``, ``class_key``, ``cost`` and ``precedence``; may set ``forced``.

        ``canonical``: the canonical form, when it is known. A redirect whose target has the canonical form of its
        source would be taken for seen: it is forced.
        """
        view = curi.settings
        plan = self.plan(view)
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
        curi.class_key = class_key(curi, view)
        if curi.cost < 0:
            curi.cost = plan.cost(curi)
        curi.precedence = plan.precedence(curi, plan.properties)
