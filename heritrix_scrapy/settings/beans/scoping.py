"""How does the scope of a job become HERITRIX_SCOPE?

The stock profile's ten rules in their order are the preset ``default``, whose properties are settings. Anything else
is a list of rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.beans.model import Bean, Ref, Value
from heritrix_scrapy.settings.beans.standins import stand_in
from heritrix_scrapy.settings.beans.taken import Origin, Taken
from heritrix_scrapy.settings.beans.values import NotUsable, snake

if TYPE_CHECKING:
    from pathlib import Path

SCOPE = "HERITRIX_SCOPE"

#: The stock profile's scope: class, name here, property → setting, and properties that it has by itself.
STOCK: tuple[tuple[str, str, dict[str, str], dict[str, tuple[str, ...]]], ...] = (
    ("RejectDecideRule", "rejectAll", {}, {}),
    (
        "SurtPrefixedDecideRule",
        "acceptSurts",
        {"surtsSource": "SURTS", "surtsSourceFile": "SURTS"},
        {
            "decision": ("ACCEPT",),
            "seedsAsSurtPrefixes": ("true",),
            "alsoCheckVia": ("false",),
            "surtsDumpFile": ("surts.dump", "${launchId}/surts.dump"),
        },
    ),
    ("TooManyHopsDecideRule", "tooManyHops", {"maxHops": "MAX_HOPS"}, {"decision": ("REJECT",)}),
    (
        "TransclusionDecideRule",
        "transclusion",
        {"maxTransHops": "MAX_TRANS_HOPS", "maxSpeculativeHops": "MAX_SPECULATIVE_HOPS"},
        {"decision": ("ACCEPT",)},
    ),
    (
        "SurtPrefixedDecideRule",
        "negativeSurts",
        {"surtsSource": "NEGATIVE_SURTS", "surtsSourceFile": "NEGATIVE_SURTS"},
        {
            "decision": ("REJECT",),
            "seedsAsSurtPrefixes": ("false",),
            "alsoCheckVia": ("false",),
            "surtsDumpFile": ("negative-surts.dump", "${launchId}/negative-surts.dump"),
        },
    ),
    (
        "MatchesListRegexDecideRule",
        "listRegexFilterOut",
        {"regexList": "REJECT_REGEXES"},
        {"decision": ("REJECT",), "listLogicalOr": ("true",), "timeoutPerRegexSeconds": ("0",)},
    ),
    ("PathologicalPathDecideRule", "pathological", {"maxRepetitions": "MAX_REPETITIONS"}, {}),
    (
        "TooManyPathSegmentsDecideRule",
        "tooManyPathSegments",
        {"maxPathDepth": "MAX_PATH_DEPTH"},
        {"decision": ("REJECT",)},
    ),
    ("PrerequisiteAcceptDecideRule", "prerequisiteAccept", {}, {}),
    ("SchemeNotInSetDecideRule", "schemeNotInSet", {}, {"decision": ("REJECT",)}),
)

#: Properties that the stock profile writes, without which the rule would be another one.
_NEEDED = {4: ("decision", "seedsAsSurtPrefixes")}


class Scoping:
    """``places``: name of a rule's bean → its address in HERITRIX_SCOPE, for sheets."""

    def __init__(self, taken: Taken) -> None:
        self._taken = taken
        self.places: dict[str, str] = {}
        #: Whether the scope is the preset.
        self.preset = False
        self.rules: list[Bean | None] = []
        #: Place in the file → place in HERITRIX_SCOPE.
        self.moved: dict[int, int] = {}

    def take(self, scope: Bean) -> None:
        """Put the scope into the settings."""
        taken = self._taken
        if scope.third_party:
            taken.report.lost(scope.place, scope.name, "", stand_in(scope))
        listed = self._listed(scope)
        if listed is None:
            return
        self.rules = [self._bean(value) for value in listed]
        for place, rule in enumerate(self.rules):
            if rule is not None and rule.id:
                self.places.setdefault(rule.id, str(place))
        self.moved = {place: place for place in range(len(self.rules))}
        self.preset = self._is_stock()
        if self.preset:
            self._take_stock()
            taken.report.default(scope.place, scope.name, "rules", "the stock profile's ten rules, in their order")
        else:
            forms = [self._form(value, bean) for value, bean in zip(listed, self.rules, strict=True)]
            kept = [form for form in forms if form is not None]
            if len(kept) != len(forms):
                # what was left out moves the places of those behind it
                self._move(forms)
            taken.put("SCOPE", kept, Origin(scope.name, "rules", scope.place))
        for prop, value in scope.properties.items():
            if prop != "rules":
                taken.property(scope.name, "scope", prop, value)

    def _listed(self, scope: Bean) -> list[Value] | None:
        if "rules" not in scope.properties:
            if scope.short.endswith("DecideRuleSequence"):
                self._taken.report.lost(scope.place, scope.name, "rules", "the scope has no rules")
                return None
            return [scope]
        try:
            return self._taken.values.items(scope.properties["rules"])
        except NotUsable as error:
            self._taken.report.lost(scope.place, scope.name, "rules", str(error))
            return None

    def _bean(self, value: Value) -> Bean | None:
        try:
            return self._taken.values.bean(value)
        except NotUsable:
            return None

    def _move(self, forms: list[Any]) -> None:
        kept = [at for at, form in enumerate(forms) if form is not None]
        self.moved = {at: place for place, at in enumerate(kept)}
        self.places = {name: str(self.moved[int(at)]) for name, at in self.places.items() if int(at) in self.moved}

    # -- the stock profile's --------------------------------------------------------------------------------------

    def _is_stock(self) -> bool:
        if len(self.rules) != len(STOCK):
            return False
        for at, (rule, (kind, _, settings, fixed)) in enumerate(zip(self.rules, STOCK, strict=True)):
            if rule is None or rule.short != kind or rule.third_party:
                return False
            if not all(needed in rule.properties for needed in _NEEDED.get(at, ())):
                return False
            for prop, value in rule.properties.items():
                if prop in ("comment", "beanName") or prop in settings:
                    continue
                if prop == "enabled":
                    if self._text(value).lower() != "true":
                        return False
                elif self._text(value) not in fixed.get(prop, ()):
                    return False
            if at == 5 and "decision" not in rule.properties and self._holds(rule.properties.get("regexList")):
                return False
            if at == 1 and len(settings.keys() & rule.properties.keys()) > 1:
                return False
        return True

    def _text(self, value: Value) -> str:
        try:
            return self._taken.values.text(value)
        except NotUsable:
            return ""

    def _holds(self, value: Value | None) -> bool:
        try:
            return value is not None and bool(self._taken.values.texts(value))
        except NotUsable:
            return True

    def _take_stock(self) -> None:
        for rule, (kind, _, settings, _fixed) in zip(self.rules, STOCK, strict=True):
            assert rule is not None
            for prop, value in rule.properties.items():
                name = rule.id or kind
                if prop in settings:
                    self._setting(settings[prop], name, prop, value)
                elif prop not in ("comment", "beanName"):
                    self._taken.report.default(value.place, name, prop)

    def _setting(self, setting: str, bean: str, prop: str, value: Value) -> None:
        values = self._taken.values
        try:
            made: Any
            if setting in ("SURTS", "NEGATIVE_SURTS"):
                source = values.source(value)
                made = source if isinstance(source, list) else self._file(source)
            elif setting == "REJECT_REGEXES":
                made = values.texts(value)
            else:
                made = values.whole(value)
        except NotUsable as error:
            self._taken.unusable(bean, prop, value, error)
            return
        self._taken.put(setting, made, Origin(bean, prop, value.place))

    def _file(self, path: Path | None) -> str | list[str]:
        return [] if path is None else str(path)

    # -- any other ------------------------------------------------------------------------------------------------

    def _form(self, value: Value, bean: Bean | None) -> Any:
        rules = self._taken.rules
        if (
            isinstance(value, Ref)
            and bean is not None
            and value.name == "acceptSurts"
            and bean.short == "SurtPrefixedDecideRule"
        ):
            form = rules.form(value, SCOPE)
            stock = {snake(prop): texts for prop, texts in STOCK[1][3].items()}
            shown = {
                key: held
                for key, held in form[1].items()
                if (str(held).lower() if isinstance(held, bool) else held) not in stock.get(key, ())
            }
            return ["acceptSurts", shown]
        return rules.form(value, SCOPE)
