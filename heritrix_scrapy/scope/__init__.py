"""Is it in the crawl?

``scope_of(crawler)`` gives the Scope of a crawler; ``Scope.accepts(curi)`` the answer, ``Scope.decide(curi)`` the
answer and its reason. A rule of one's own is a subclass of ``DecideRule``.
"""

from __future__ import annotations

from heritrix_scrapy.scope.rule import DecideRule, Decision, PredicatedDecideRule
from heritrix_scrapy.scope.scope import Scope, Verdict, from_settings, scope_of
from heritrix_scrapy.scope.sequence import DecideRuleSequence

__all__ = [
    "DecideRule",
    "DecideRuleSequence",
    "Decision",
    "PredicatedDecideRule",
    "Scope",
    "Verdict",
    "from_settings",
    "scope_of",
]
