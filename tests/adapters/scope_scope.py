"""Adapters: rules, sequences and the default scope; hop paths."""

from __future__ import annotations

import re
from typing import Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import DecideRule, DecideRuleSequence, PredicatedDecideRule
from heritrix_scrapy.scope.factory import RULES, Factory, default_rules
from heritrix_scrapy.scope.rules_hops import TooManyHopsDecideRule, TransclusionDecideRule, tail
from heritrix_scrapy.scope.rules_text import (
    PathologicalPathDecideRule,
    SchemeNotInSetDecideRule,
    TooManyPathSegmentsDecideRule,
)
from heritrix_scrapy.scope.scope import Scope
from heritrix_scrapy.settings import View, default_view
from heritrix_scrapy.uri.fixup import fix

Answer = tuple[bool, object]
Case = dict[str, Any]

HERITRIX = default_view("heritrix")
MODERN_VIEW = default_view("modern", seed_slash_semantics="as_written")


def candidate(
    uri: str, view: View = HERITRIX, *, path: str = "", via: str | None = None, seed: bool = False
) -> CrawlURI:
    curi = CrawlURI(fix(uri, strict=view.profile == "heritrix"), path=path, via=via, seed=seed)
    curi.settings = view
    return curi


def bare(uri: str, path: str = "") -> CrawlURI:
    curi = CrawlURI(uri, path=path)
    curi.settings = HERITRIX
    return curi


def scope_with(rules: list[DecideRule], case: Case, view: View) -> Scope:
    scope = Scope(DecideRuleSequence(rules), lambda curi: view, view)
    for seed in case["seeds"]:
        scope.seed_added(fix(seed, strict=view.profile == "heritrix"), seed)
    for line in case["directives"]:
        scope.non_seed_line(line)
    return scope


def surt_rules(case: Case, view: View = HERITRIX) -> Answer | None:
    asked, expected = case["input"], case["expected"]
    cls = RULES.get(asked["rule"])
    if cls is None:
        return None
    rule: Any = cls(decision=asked["decision"], also_check_via=asked["alsoCheckVia"])  # type: ignore[call-arg]
    scope_with([rule], asked, view)
    curi = candidate(asked["uri"], view, via=asked["via"])
    got = {"decision": rule.evaluate(curi).name, "prefixes": list(rule.prefixes)}
    return got == expected, got


def default_scope(case: Case, view: View = HERITRIX) -> Answer:
    asked = case["input"]
    scope = scope_with(list(default_rules(view).values()), asked, view)
    curi = candidate(asked["uri"], view, path=asked["pathFromSeed"], via=asked["via"])
    verdict = scope.decide(curi)
    got = {
        "decision": verdict.decision.name,
        "decisiveRule": verdict.index,
        "decisiveClass": None if verdict.rule == "-" else verdict.rule,
    }
    return got == case["expected"] and scope.accepts(curi) == verdict.accepted, got


def sequence(case: Case) -> Answer:
    asked = case["input"]
    rules = [named(text) for text in asked["rules"]]
    whole = DecideRuleSequence(rules)
    curi = candidate("http://a.com/", via="http://b.com/" if asked["hasVia"] else None, seed=asked["isSeed"])
    decision, index = whole.decide(curi)
    got = {
        "decision": decision.name,
        "decisiveRule": index,
        "decisiveClass": rules[index].name if index >= 0 else None,
    }
    return got == case["expected"] and whole.evaluate(curi) is decision, got


SHORT = {name.removesuffix("DecideRule"): name for name in RULES}


def named(text: str) -> DecideRule:
    """``HasVia(REJECT)``, ``disabled:AcceptDecideRule``, or a rule's name."""
    disabled, text = text.startswith("disabled:"), text.removeprefix("disabled:")
    found = re.fullmatch(r"(\w+)(?:\((\w+)\))?", text)
    assert found is not None
    name, decision = found.groups()
    rule = Factory().rule([SHORT.get(name, name), {"decision": decision} if decision else {}])
    assert decision is None or isinstance(rule, PredicatedDecideRule)
    rule.enabled = not disabled
    return rule


def said(rule: DecideRule, curi: CrawlURI, case: Case) -> Answer:
    rule.configure(curi.settings)
    got = rule.evaluate(curi).name
    return got == case["expected"], got


def transclusion(case: Case) -> Answer:
    asked = case["input"]
    rule = TransclusionDecideRule(
        max_trans_hops=asked["maxTransHops"], max_speculative_hops=asked["maxSpeculativeHops"]
    )
    return said(rule, bare("http://a.com/", asked["path"]), case)


def too_many_hops(case: Case) -> Answer:
    asked = case["input"]
    return said(TooManyHopsDecideRule(max_hops=asked["maxHops"]), bare("http://a.com/", asked["path"]), case)


def pathological(case: Case) -> Answer:
    asked = case["input"]
    return said(PathologicalPathDecideRule(max_repetitions=asked["maxRepetitions"]), candidate(asked["uri"]), case)


def path_segments(case: Case) -> Answer:
    asked = case["input"]
    return said(TooManyPathSegmentsDecideRule(max_path_depth=asked["maxPathDepth"]), candidate(asked["uri"]), case)


def scheme_not_in_set(case: Case) -> Answer:
    return said(SchemeNotInSetDecideRule(), candidate(case["input"]), case)


def hop_counts(case: Case) -> Answer:
    path = case["input"]
    counts = hops.counts(path)
    got = {
        "hopCount": counts.all,
        "linkHopCount": counts.link,
        "embedHopCount": len(tail(path, "L", counter=True)),
        "transHops": len(tail(path, "LM", counter=True)),
        "lastHop": path[-1:],
        "isLocation": path.endswith(hops.REFER),
    }
    return got == case["expected"], got


def max_link_hops(case: Case) -> Answer:
    """A chain of pages, each linking to the next, under a limit of hops; robots.txt and the icon come along."""
    view = default_view("heritrix", max_hops=case["input"]["maxHops"])
    base = "http://127.0.0.1/"
    scope = scope_with(list(default_rules(view).values()), {"seeds": [base + "index.html"], "directives": []}, view)
    pages = case["input"]["chain"]
    fetched = [pages[0]]
    for name, path in (("robots.txt", "P"), ("favicon.ico", "I")):
        if scope.accepts(candidate(base + name, view, path=path)):
            fetched.append(name)
    path = ""
    for name in pages[1:]:
        path = hops.extend(path, hops.NAVLINK)
        if not scope.accepts(candidate(base + name, view, path=path)):
            break
        fetched.append(name)
    return sorted(fetched) == sorted(case["expected"]), sorted(fetched)


ADAPTERS = {
    "scope/probe_surt_rules": surt_rules,
    "scope/probe_default_scope": default_scope,
    "scope/probe_sequence": sequence,
    "scope/probe_transclusion": transclusion,
    "scope/probe_too_many_hops": too_many_hops,
    "scope/probe_hop_counts": hop_counts,
    "scope/probe_pathological": pathological,
    "scope/probe_path_segments": path_segments,
    "scope/probe_scheme_not_in_set": scheme_not_in_set,
    "scope/max_link_hops_selftest": max_link_hops,
}

#: Under the modern profile.
MODERN = {
    "scope/probe_surt_rules": lambda case: surt_rules(case, MODERN_VIEW),
    "scope/probe_default_scope": lambda case: default_scope(case, MODERN_VIEW),
}

MODERN_ROWS = {"scope/probe_surt_rules": "scope-seed-slash"}


def never_an_error(case: Case, got: object) -> tuple[str, str] | None:
    """Zero and fewer repetitions switch the rule off."""
    if case["input"]["maxRepetitions"] <= 0 and got == "NONE":
        return "bug: an error in Heritrix; here it switches the rule off", "scope-repetitions-off"
    return None


DEVIATES = {"scope/probe_pathological": never_an_error}
