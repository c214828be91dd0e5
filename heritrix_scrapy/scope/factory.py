"""How do the words of a settings file become rules?

A rule is written as its name, as ``[name, {property: value}]``, or is an object already; a name with dots in it
is the path of a class of one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import AcceptDecideRule, DecideRule, RejectDecideRule
from heritrix_scrapy.scope.rules_hops import (
    HasViaDecideRule,
    PrerequisiteAcceptDecideRule,
    SeedAcceptDecideRule,
    TooManyHopsDecideRule,
    TransclusionDecideRule,
)
from heritrix_scrapy.scope.rules_surt import NotSurtPrefixedDecideRule, SurtPrefixedDecideRule
from heritrix_scrapy.scope.rules_text import (
    MatchesListRegexDecideRule,
    PathologicalPathDecideRule,
    RejectRegexes,
    SchemeNotInSetDecideRule,
    TooManyPathSegmentsDecideRule,
)
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.settings.validate import load_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTING = "HERITRIX_SCOPE"

RULES: dict[str, type[DecideRule]] = {
    rule.__name__: rule
    for rule in (
        AcceptDecideRule,
        DecideRuleSequence,
        HasViaDecideRule,
        MatchesListRegexDecideRule,
        NotSurtPrefixedDecideRule,
        PathologicalPathDecideRule,
        PrerequisiteAcceptDecideRule,
        RejectDecideRule,
        SchemeNotInSetDecideRule,
        SeedAcceptDecideRule,
        SurtPrefixedDecideRule,
        TooManyHopsDecideRule,
        TooManyPathSegmentsDecideRule,
        TransclusionDecideRule,
    )
}

#: Properties that every rule has, whatever its class takes.
COMMON = frozenset({"enabled", "id", "comment", "should_process"})


class Factory:
    """Builds rules. ``named``: rules that a list may refer to by the name of a bean (``acceptSurts``)."""

    def __init__(self, named: Mapping[str, DecideRule] | None = None, crawler: Any = None) -> None:
        self._named = dict(named or {})
        self._crawler = crawler

    def rule(self, form: Any) -> DecideRule:
        """The rule that a form stands for. Raises ConfigurationError."""
        if callable(getattr(form, "evaluate", None)) and not isinstance(form, type):
            return form  # type: ignore[no-any-return]
        match form:
            case str(name):
                return self._make(name, {})
            case [str(name)]:
                return self._make(name, {})
            case [str(name), dict(properties)]:
                return self._make(name, properties)
            case type():
                return self._construct(form, {}, form)
        raise ConfigurationError(SETTING, form, "expected the name of a rule, [name, {property: value}] or a rule")

    def rules(self, forms: Sequence[Any]) -> list[DecideRule]:
        """The rules of a list."""
        return [self.rule(form) for form in forms]

    def _make(self, name: str, properties: dict[str, Any]) -> DecideRule:
        if name in self._named:
            rule = self._named[name]
            for key, value in properties.items():
                if key not in COMMON and not hasattr(rule, key):
                    raise ConfigurationError(SETTING, [name, properties], f"{rule.name} has no property {key}")
                setattr(rule, key, self._value(rule, key, value))
            return rule
        cls = RULES.get(name)
        if cls is None:
            if "." not in name:
                raise ConfigurationError(SETTING, name, "no such rule; available: " + ", ".join(RULES))
            cls = load_object(SETTING, name)
        return self._construct(cls, properties, [name, properties])

    def _construct(self, cls: Any, properties: dict[str, Any], form: Any) -> DecideRule:
        if not callable(getattr(cls, "evaluate", None)):
            raise ConfigurationError(SETTING, form, "expected a class with a method evaluate(curi)")
        own = {key: self._value(cls, key, value) for key, value in properties.items() if key not in COMMON}
        make = getattr(cls, "from_crawler", None)
        try:
            rule: DecideRule = cls(**own) if make is None or self._crawler is None else make(self._crawler, **own)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(SETTING, form, f"cannot be built: {error}") from None
        for key in COMMON & properties.keys():
            setattr(rule, key, self._value(cls, key, properties[key]))
        if not isinstance(rule, DecideRule):
            return _Adopted(rule)
        return rule

    def _value(self, rule: Any, key: str, value: Any) -> Any:
        if key == "should_process":
            return self.rule(value)
        if key in getattr(rule, "rule_properties", ()):
            return self.rules(value)
        return value


class _Adopted(DecideRule):
    """A rule of the user's own that is no subclass of DecideRule but has its method."""

    def __init__(self, rule: Any) -> None:
        self._rule = rule
        self.enabled = getattr(rule, "enabled", True)
        self.id = getattr(rule, "id", "")
        self.should_process = getattr(rule, "should_process", None)
        self.evaluate = rule.evaluate  # type: ignore[method-assign]

    @property
    def name(self) -> str:
        return type(self._rule).__name__


def default_rules(view: Any) -> dict[str, DecideRule]:
    """Heritrix's default scope, in its order, by the names of its beans.

    Numbers are left unset, so that each rule reads the setting that holds for the URI.
    """
    return {
        "rejectAll": RejectDecideRule(),
        "acceptSurts": SurtPrefixedDecideRule(surts_source=view.surts),
        "tooManyHops": TooManyHopsDecideRule(),
        "transclusion": TransclusionDecideRule(),
        "negativeSurts": SurtPrefixedDecideRule(
            surts_source=view.negative_surts, seeds_as_surt_prefixes=False, decision="REJECT"
        ),
        "listRegexFilterOut": RejectRegexes(),
        "pathological": PathologicalPathDecideRule(),
        "tooManyPathSegments": TooManyPathSegmentsDecideRule(),
        "prerequisiteAccept": PrerequisiteAcceptDecideRule(),
        "schemeNotInSet": SchemeNotInSetDecideRule(),
    }


#: Names of presets; the rules of each, from the View.
PRESETS = {"default": default_rules}
