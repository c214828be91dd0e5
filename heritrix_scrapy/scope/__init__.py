"""Is it in the crawl?

``scope_of(crawler)`` gives the Scope of a crawler; ``Scope.accepts(curi)`` the answer, ``Scope.decide(curi)`` the
answer and its reason. A rule of one's own is a subclass of ``DecideRule``, a
scope of one's own a subclass of ``CrawlScope`` or of one of the shipped scopes.
"""

from __future__ import annotations

from heritrix_scrapy.scope.crawl_scopes import (
    BroadScope,
    CrawlScope,
    DomainScope,
    HostScope,
    PathScope,
    SurtPrefixScope,
)
from heritrix_scrapy.scope.rule import DecideRule, Decision, PredicatedDecideRule
from heritrix_scrapy.scope.scope import Scope, Verdict, from_settings, scope_of
from heritrix_scrapy.scope.sequence import AllOf, AnyOf, DecideRuleSequence, Not

__all__ = [
    "AllOf",
    "AnyOf",
    "BroadScope",
    "CrawlScope",
    "DecideRule",
    "DecideRuleSequence",
    "Decision",
    "DomainScope",
    "HostScope",
    "Not",
    "PathScope",
    "PredicatedDecideRule",
    "Scope",
    "SurtPrefixScope",
    "Verdict",
    "from_settings",
    "scope_of",
]
