"""How is a decide rule of a job written in our settings?

``[class, {property: value}]`` with what the file says, typed; sequences within each other likewise.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.beans.classes import NEEDLESS_ANYWHERE, OLD_RULES, REFUSED_RULES, RULES
from heritrix_scrapy.settings.beans.model import Bean, Text
from heritrix_scrapy.settings.beans.standins import stand_in
from heritrix_scrapy.settings.beans.values import Foreign, Note, NotUsable, Values, snake
from heritrix_scrapy.uri.java_regex import java_compile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heritrix_scrapy.settings.beans.model import Value
    from heritrix_scrapy.settings.beans.report import Report

import re

#: Properties of any rule.
ANY = {"enabled": "bool", "comment": "skip", "beanName": "skip"}

SETTING = "HERITRIX_SCOPE"


class Rules:
    """Makes forms of rules. ``class_map``: Java class → name or dotted path that stands for it."""

    def __init__(self, values: Values, report: Report, class_map: Mapping[str, str]) -> None:
        self._values = values
        self._report = report
        self._map = class_map
        #: Rules that are being made, each within the one before.
        self._open: list[int] = []
        #: Names of beans that sheets address: such rules get an id.
        self.addressed: set[str] = set()
        self.kinds: dict[str, Callable[[Value], Any]] = {
            "int": values.whole,
            "bool": values.flag,
            "flag": values.flag,
            "text": values.text,
            "list": values.texts,
            "map": values.mapping,
            "ints": lambda value: [int(item) for item in values.texts(value)],
            "decision": self._decision,
            "lines": lambda value: values.read(values.source(value)),
            "path": values.text,
            "output": values.output,
            "outputs": lambda value: [item.strip() for item in values.texts(value)],
            "object": self._object,
            "rules": lambda value: self.forms(value, SETTING),
        }

    def forms(self, value: Value, setting: str) -> list[Any]:
        """The rules of a list; those that cannot be made are reported and left out. Raises NotUsable."""
        made = (self.form(item, setting) for item in self._values.items(value))
        return [form for form in made if form is not None]

    def form(self, value: Value, setting: str) -> Any:
        """One rule, or None."""
        try:
            bean = self._values.bean(value)
        except Foreign as left:
            self._report.left(value.place, "rule", "", str(left))
            return None
        except NotUsable as error:
            self._report.lost(value.place, "rule", "", str(error))
            return None
        if id(bean) in self._open:
            self._report.lost(value.place, bean.name, "", "the rule has itself among its rules")
            return None
        self._open.append(id(bean))
        try:
            return self._made(bean, setting)
        finally:
            self._open.pop()

    def _made(self, bean: Bean, setting: str) -> Any:
        name = OLD_RULES.get(bean.short, bean.short)
        own = self._map.get(bean.kind, self._map.get(bean.short)) if bean.kind else None
        if own is None and bean.short in REFUSED_RULES:
            held = next(
                (
                    f"; it holds: {held.text.strip()[:300]!r}"
                    for held in bean.properties.values()
                    if isinstance(held, Text)
                ),
                "",
            )
            self._report.lost(bean.place, bean.name, "", f"{bean.short}: {REFUSED_RULES[bean.short]}{held}")
            return None
        if own is None and (bean.third_party or name not in RULES):
            self._report.lost(bean.place, bean.name, "", stand_in(bean))
            if bean.short.endswith("DecideRuleSequence") and "rules" in bean.properties:
                return ["DecideRuleSequence", {"rules": self.forms(bean.properties["rules"], setting)}]
            return None
        kinds = RULES.get(own or name, {}) if own is None or own in RULES else None
        properties = self.properties(bean, kinds, setting)
        if bean.id and bean.id in self.addressed:
            properties["id"] = bean.id
        return [own or name, properties]

    def properties(self, bean: Bean, kinds: Mapping[str, str] | None, setting: str) -> dict[str, Any]:
        """The properties that a bean's file gives, typed. ``kinds``: None for a class of the user's own, whose
        properties are taken as they look."""
        made: dict[str, Any] = {}
        for prop, value in bean.properties.items():
            kind = "guess" if kinds is None else kinds.get(prop, ANY.get(prop, ""))
            if kind == "skip" or prop in NEEDLESS_ANYWHERE:
                continue
            if not kind:
                near = difflib.get_close_matches(prop, kinds or (), n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self._report.lost(value.place, bean.name, prop, f"{bean.short} has no such property{hint}")
                continue
            try:
                made[snake(prop)] = self.guessed(value) if kind == "guess" else self.kinds[kind](value)
                if kind == "text" and prop == "regex":
                    java_compile(made["regex"])
                elif prop == "regexList":
                    for regex in made["regex_list"]:
                        java_compile(regex)
            except (Foreign, Note) as left:
                self._report.left(value.place, bean.name, prop, str(left))
            except NotUsable as error:
                self._report.lost(value.place, bean.name, prop, str(error))
            except re.error as error:
                made.pop(snake(prop), None)
                self._report.lost(value.place, bean.name, prop, f"not a regular expression: {error}")
            except ValueError as error:
                self._report.lost(value.place, bean.name, prop, f"not usable: {error}")
            else:
                self._report.taken(value.place, bean.name, prop, f"{setting}: {bean.short}.{snake(prop)}")
        return made

    def guessed(self, value: Value) -> Any:
        """A value of a property whose kind nobody knows."""
        value = self._values.resolved(value)
        if isinstance(value, Text):
            text = self._values.text(value)
            if text in ("true", "false"):
                return text == "true"
            return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
        if isinstance(value, Bean) and (value.short in RULES or value.short.endswith("DecideRule")):
            return self.form(value, SETTING)
        for reader in (self._values.texts, self._values.mapping):
            try:
                return reader(value)
            except NotUsable:
                continue
        raise NotUsable("a value of this kind is not handed to a class of your own")

    def _decision(self, value: Value) -> str:
        text = self._values.text(value).upper()
        if text not in ("ACCEPT", "REJECT", "NONE"):
            raise NotUsable(f"expected ACCEPT, REJECT or NONE, not {text!r}")
        return text

    def _object(self, value: Value) -> str:
        bean = self._values.bean(value)
        own = self._map.get(bean.kind, self._map.get(bean.short))
        if own is None:
            raise NotUsable(stand_in(bean))
        return own

    def gate(self, value: Value, setting: str) -> Any:
        """The rule before a part; None when it accepts everything."""
        form = self.form(value, setting)
        return None if form == ["AcceptDecideRule", {}] else form
