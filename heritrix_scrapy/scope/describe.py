"""How is a rule shown to a person: as it could be written in a settings file, and with what it says of a URI?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.scope.catalogue import properties
from heritrix_scrapy.scope.crawl_scopes import CrawlScope
from heritrix_scrapy.scope.rule import NONE, DecideRule, Decision
from heritrix_scrapy.scope.rules_surt import SurtPrefixedDecideRule
from heritrix_scrapy.scope.sequence import DecideRuleSequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Values of a property that are shown; more are counted.
SHOWN = 20


def described(rules: Iterable[DecideRule]) -> list[Any]:
    """Rules in the form ``[name, {property: value}]``; a 1.x scope as the list that says the same, a scope of
    one's own with its formula."""
    out: list[Any] = []
    for rule in rules:
        if isinstance(rule, CrawlScope):
            forms = rule.as_rules()
            if forms is None:
                out.append([rule.name, {"formula": rule.formula(), "max_link_hops": rule.max_link_hops}])
                continue
            out += [_form(form) for form in forms]
            continue
        out.append([rule.name, _values(rule)])
    return out


def _form(form: Any) -> list[Any]:
    if isinstance(form, DecideRule):
        return [form.name, _values(form)]
    if isinstance(form, str):
        return [form, {}]
    name, given = form
    return [name, {key: _shown(value) for key, value in given.items() if value is not None}]


def _values(rule: DecideRule) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if rule.id:
        values["id"] = rule.id
    if not rule.enabled:
        values["enabled"] = False
    for taken in properties(type(rule)):
        value = getattr(rule, taken.name, None)
        default = taken.default
        if value is None or (taken.name != "decision" and not isinstance(value, bool) and value == default):
            continue
        if isinstance(value, bool) and value is default:
            continue
        values[taken.name] = _shown(value)
    if rule.should_process is not None:
        values["should_process"] = described([rule.should_process])[0]
    return values


def _shown(value: Any) -> Any:
    if isinstance(value, Decision):
        return value.name
    if isinstance(value, DecideRule):
        return described([value])[0]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        shown = [_shown(item) for item in value[:SHOWN]]
        return [*shown, f"... {len(value) - SHOWN} more"] if len(value) > SHOWN else shown
    return value if isinstance(value, str | int | float | bool) else repr(value)


def explained(rules: list[DecideRule], curi: CrawlURI) -> list[dict[str, Any]]:
    """What each rule says of a URI, and where that can be told, because of what."""
    out = []
    for index, rule in enumerate(rules):
        said = DecideRuleSequence.asked(rule, curi)
        because = ""
        if said is not NONE:
            if isinstance(rule, SurtPrefixedDecideRule):
                because = rule.because(curi)
            elif isinstance(rule, CrawlScope):
                because = rule.settled(curi)[1]
        out.append({"index": index, "rule": rule.name, "says": said.name, "because": because})
    return out
