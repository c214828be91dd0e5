"""Which rules does a preset stand for?

``default`` is Heritrix's own scope, in its order, by the names of its beans. The others are the same with another
answer to the question where the crawl is; each is a list of rules that could be written in HERITRIX_SCOPE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.scope.rule import AcceptDecideRule, DecideRule, RejectDecideRule
from heritrix_scrapy.scope.rules_hops import (
    PrerequisiteAcceptDecideRule,
    TooManyHopsDecideRule,
    TransclusionDecideRule,
)
from heritrix_scrapy.scope.rules_surt import OnHostsDecideRule, OnRegisteredDomainsDecideRule, SurtPrefixedDecideRule
from heritrix_scrapy.scope.rules_text import (
    PathologicalPathDecideRule,
    RejectRegexes,
    SchemeNotInSetDecideRule,
    TooManyPathSegmentsDecideRule,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def default_rules(view: Any) -> dict[str, DecideRule]:
    """Heritrix's default scope, by the names of its beans.

    Numbers are left unset, so that each rule reads the setting that holds for the URI.
    """
    return _around(view, {"acceptSurts": SurtPrefixedDecideRule(surts_source=view.surts)})


def page_rules(view: Any) -> dict[str, DecideRule]:
    """The seeds and what they embed: no link is followed."""
    return {name: rule for name, rule in _around(view, {}).items() if name != "tooManyHops"}


def path_rules(view: Any) -> dict[str, DecideRule]:
    """The seeds' directories and below, with what pages there embed."""
    accept = SurtPrefixedDecideRule(surts_source=view.surts)
    accept.semantics = "fixed_up"
    return _around(view, {"acceptSurts": accept})


def host_rules(view: Any) -> dict[str, DecideRule]:
    """The seeds' hosts, with what pages there embed."""
    accept = OnHostsDecideRule()
    accept.semantics = "fixed_up"
    return _around(view, {"acceptHosts": accept, "moreSurts": _more(view)})


def domain_rules(view: Any) -> dict[str, DecideRule]:
    """The seeds' registered domains (``example.org``, ``example.co.uk``), with what pages there embed."""
    return _around(view, {"acceptDomains": OnRegisteredDomainsDecideRule(), "moreSurts": _more(view)})


def broad_rules(view: Any) -> dict[str, DecideRule]:
    """Anything, as far as HERITRIX_MAX_HOPS."""
    return _around(view, {"acceptAll": AcceptDecideRule()})


def _more(view: Any) -> DecideRule:
    return SurtPrefixedDecideRule(surts_source=view.surts, seeds_as_surt_prefixes=False)


def _around(view: Any, accepted: dict[str, DecideRule]) -> dict[str, DecideRule]:
    return {
        "rejectAll": RejectDecideRule(),
        **accepted,
        "tooManyHops": TooManyHopsDecideRule(),
        "transclusion": TransclusionDecideRule(),
        "negativeSurts": SurtPrefixedDecideRule(
            surts_source=view.negative_surts,
            seeds_as_surt_prefixes=False,
            surts_dump_file="${launchId}/negative-surts.dump" if view.profile == "heritrix" else None,
            decision="REJECT",
        ),
        "listRegexFilterOut": RejectRegexes(),
        "pathological": PathologicalPathDecideRule(),
        "tooManyPathSegments": TooManyPathSegmentsDecideRule(),
        "prerequisiteAccept": PrerequisiteAcceptDecideRule(),
        "schemeNotInSet": SchemeNotInSetDecideRule(),
    }


#: Names of presets; the rules of each, from the View.
PRESETS: dict[str, Callable[[Any], dict[str, DecideRule]]] = {
    "default": default_rules,
    "page": page_rules,
    "path": path_rules,
    "host": host_rules,
    "domain": domain_rules,
    "broad": broad_rules,
}
