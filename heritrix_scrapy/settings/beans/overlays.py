"""How do the sheets of a job, and what they are tied to, become HERITRIX_SHEETS and HERITRIX_SHEET_ASSOCIATIONS?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.beans.classes import CANONICAL_RULES, EXTRACTORS, ROLES, RULES
from heritrix_scrapy.settings.beans.taken import Origin, Taken, row_of
from heritrix_scrapy.settings.beans.values import NotUsable, snake
from heritrix_scrapy.settings.defaults import PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heritrix_scrapy.settings.beans.chains import Chains
    from heritrix_scrapy.settings.beans.model import Bean, Value
    from heritrix_scrapy.settings.beans.scoping import Scoping

#: Sheets that the stock profile carries as examples.
EXAMPLES = frozenset({"forceRetire", "smallBudget", "veryPolite", "highPrecedence"})

_INDEXED = re.compile(r"(\w+)\.rules\[(\d+)\]\.(\w+)")

SURTS, RULED = "SurtPrefixesSheetAssociation", "DecideRuledSheetAssociation"


def addressed(sheets: Sequence[Bean], taken: Taken) -> set[str]:
    """The names of beans that sheets have keys for, but for what is a setting of its own."""
    found = set()
    for sheet in sheets:
        try:
            keys = taken.values.entries(sheet.properties["map"]) if "map" in sheet.properties else {}
        except NotUsable:
            continue
        for key in keys:
            name, _, prop = key.partition(".")
            bean = taken.values.beans.get(name)
            role = EXTRACTORS.get(bean.short) if bean else None
            if role is None or row_of(role, prop) is None:
                found.add(name)
    return found


class Overlays:
    def __init__(self, taken: Taken, scoping: Scoping, chains: Chains) -> None:
        self._taken = taken
        self._scoping = scoping
        self._chains = chains

    def take(self, sheets: Sequence[Bean], associations: Sequence[Bean]) -> None:
        """Put both into the settings."""
        tied = [self._association(bean) for bean in associations]
        wanted = {name for entry in tied if entry for name in entry["sheets"]}
        made = {}
        for sheet in sheets:
            name = self._name(sheet)
            if name in EXAMPLES and name not in wanted:
                self._taken.report.default(
                    sheet.place, sheet.name, "", "an example of the stock profile, tied to nothing"
                )
                continue
            made[name] = self._sheet(sheet)
        kept = []
        for bean, entry in zip(associations, tied, strict=True):
            if entry is None:
                continue
            for name in [name for name in entry["sheets"] if name not in made]:
                self._taken.report.lost(bean.place, bean.name, "targetSheetNames", f"there is no sheet {name!r}")
                entry["sheets"].remove(name)
            if entry["sheets"]:
                kept.append(entry)
        if made:
            first = next(sheet for sheet in sheets if self._name(sheet) in made)
            self._taken.put("SHEETS", made, Origin(first.name, "", first.place), quiet=True)
        if kept:
            self._taken.put(
                "SHEET_ASSOCIATIONS", kept, Origin(associations[0].name, "", associations[0].place), quiet=True
            )

    def _name(self, sheet: Bean) -> str:
        try:
            return self._taken.values.text(sheet.properties["name"]) if "name" in sheet.properties else sheet.id
        except NotUsable:
            return sheet.id

    def _association(self, bean: Bean) -> dict[str, Any] | None:
        taken = self._taken
        properties = bean.properties
        try:
            sheets = taken.values.texts(properties["targetSheetNames"]) if "targetSheetNames" in properties else []
            if bean.short == SURTS:
                prefixes = taken.values.texts(properties["surtPrefixes"]) if "surtPrefixes" in properties else []
                entry: dict[str, Any] = {"surt_prefixes": prefixes, "sheets": sheets}
            else:
                entry = {"rules": self._rules(bean), "order": 0, "sheets": sheets}
                if "order" in properties:
                    entry["order"] = taken.values.whole(properties["order"])
        except NotUsable as error:
            taken.report.lost(bean.place, bean.name, "", str(error))
            return None
        taken.report.taken(bean.place, bean.name, "", PREFIX + "SHEET_ASSOCIATIONS")
        return entry

    def _rules(self, bean: Bean) -> list[Any]:
        value = bean.properties.get("rules")
        if value is None:
            raise NotUsable("the association has no rules")
        form = self._taken.rules.gate(value, PREFIX + "SHEET_ASSOCIATIONS")
        if form is None:
            return [["AcceptDecideRule", {}]]
        if form[0] == "DecideRuleSequence" and set(form[1]) <= {"rules"}:
            return list(form[1].get("rules", []))
        return [form]

    # -- one sheet ------------------------------------------------------------------------------------------------

    def _sheet(self, sheet: Bean) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if "map" not in sheet.properties:
            return made
        try:
            entries = self._taken.values.entries(sheet.properties["map"])
        except NotUsable as error:
            self._taken.unusable(sheet.name, "map", sheet.properties["map"], error)
            return made
        for path, value in entries.items():
            try:
                found = self._entry(path, value)
            except NotUsable as error:
                self._taken.unusable(sheet.name, path, value, error)
                continue
            if found is None:
                self._taken.report.lost(value.place, sheet.name, path, "a sheet cannot change this here")
            else:
                made[found[0]] = found[1]
                self._taken.report.taken(value.place, sheet.name, path, found[0])
        return made

    def _entry(self, path: str, value: Value) -> tuple[str, Any] | None:
        """The key and value for one path of a sheet; None when there is no such thing here. Raises NotUsable."""
        if indexed := _INDEXED.fullmatch(path):
            name, place, prop = indexed.groups()
            bean = self._taken.values.beans.get(name)
            if bean is not None and bean.short == "RulesCanonicalizationPolicy":
                kinds = self._canonical(bean, int(place))
                return f"{PREFIX}CANONICALIZATION_RULES[{place}].{snake(prop)}", self._kind(kinds, prop, value)
            rule = self._scoping.rules[int(place)] if int(place) < len(self._scoping.rules) else None
            moved = self._scoping.moved.get(int(place))
            if rule is None or moved is None:
                raise NotUsable(f"there is no rule {place} in the scope")
            return f"{PREFIX}SCOPE[{moved}].{snake(prop)}", self._kind(self._rule_kinds(rule), prop, value)
        name, _, prop = path.partition(".")
        bean = self._taken.values.beans.get(name)
        if bean is None:
            raise NotUsable(f"there is no bean {name!r}")
        if bean.short in RULES or name in self._scoping.places:
            return self._rule(name, bean, prop, value)
        if bean.short in EXTRACTORS and (prop == "enabled" or row_of(EXTRACTORS[bean.short], prop) is None):
            place = self._chains.extractors.get(name, bean.short)
            made = self._taken.values.flag(value) if prop == "enabled" else self._taken.values.text(value)
            return f"{PREFIX}EXTRACTORS[{place}].{snake(prop)}", made
        role = ROLES.get(bean.short) or EXTRACTORS.get(bean.short)
        row = row_of(role, prop) if role else None
        if row is None or not row.overridable:
            return self._policy(role, prop, value)
        if row.kind == "policy":
            return self._policy(role, prop, value)
        return row.key, self._taken.made(row, value)

    def _policy(self, role: str | None, prop: str, value: Value) -> tuple[str, Any] | None:
        row = row_of(role, prop) if role else None
        if row is None or row.kind != "policy" or not row.overridable:
            return None
        bean = self._taken.values.bean(value)
        return row.key, bean.short

    def _rule(self, name: str, bean: Bean, prop: str, value: Value) -> tuple[str, Any] | None:
        place = self._scoping.places.get(name)
        if self._scoping.preset:
            if place is None:
                return None
        elif name in self._taken.rules.addressed:
            place = name
        return f"{PREFIX}SCOPE[{place}].{snake(prop)}", self._kind(self._rule_kinds(bean), prop, value)

    @staticmethod
    def _rule_kinds(bean: Bean) -> dict[str, str]:
        return {**RULES.get(bean.short, {}), "enabled": "bool"}

    def _canonical(self, bean: Bean, place: int) -> dict[str, str]:
        rules = self._taken.values.items(bean.properties["rules"]) if "rules" in bean.properties else []
        if place >= len(rules):
            raise NotUsable(f"there is no rule {place} in {bean.name}")
        return CANONICAL_RULES.get(self._taken.values.bean(rules[place]).short, {"enabled": "bool"})

    def _kind(self, kinds: dict[str, str], prop: str, value: Value) -> Any:
        kind = kinds.get(prop)
        if kind is None:
            raise NotUsable(f"there is no property {prop}")
        return self._taken.rules.kinds[kind](value)
