"""How is a property of a job put into a setting?

``Taken`` gathers the settings; the table says which one a ``bean.property`` is and what its values may be. Whoever
knows of a special case puts the value in itself.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.beans.classes import ALWAYS, NEEDLESS, NEEDLESS_ANYWHERE, NEEDLESS_CLASSES, ROLES, SHARES
from heritrix_scrapy.settings.beans.model import Bean, Null, Place, Text, Value
from heritrix_scrapy.settings.beans.values import Foreign, Note, NotUsable, Values
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX, SETTINGS, Setting
from heritrix_scrapy.settings.validate import check

if TYPE_CHECKING:
    from heritrix_scrapy.settings.beans.report import Report
    from heritrix_scrapy.settings.beans.rules import Rules

#: ``bean.property`` of Heritrix → row.
BY_BEAN: dict[str, Setting] = {row.bean: row for row in SETTINGS if row.bean}

#: Texts that the stock profile has for the operator to replace.
STOCK = {
    "metadata.operatorContactUrl": re.compile(r"ENTER.*"),
    "metadata.description": re.compile(r"Basic crawl starting with useful defaults\.?"),
}


class Origin(NamedTuple):
    """Where the value of a setting came from."""

    bean: str
    property: str
    place: Place


def row_of(role: str, prop: str) -> Setting | None:
    """The row of a property, also when another role shares it or its part comes later."""
    row = BY_BEAN.get(f"{role}.{prop}")
    if row is None and role in SHARES:
        row = BY_BEAN.get(f"{SHARES[role]}.{prop}")
    return row


class Taken:
    """The settings of a job. ``profile``: whose defaults are left out."""

    def __init__(self, values: Values, rules: Rules, report: Report, profile: str) -> None:
        self.settings: dict[str, Any] = {}
        self.origins: dict[str, Origin] = {}
        #: Names of rows that some bean of the job has, said or not.
        self.spoken: set[str] = set()
        self.values = values
        self.rules = rules
        self.report = report
        self.profile = profile

    def put(self, name: str, value: Any, origin: Origin, *, quiet: bool = False) -> None:
        """Give a setting a value, checked by its row, unless it has it already by default. ``name``: without prefix."""
        row = BY_NAME.get(name)
        key = PREFIX + name
        if row is not None:
            try:
                checked = check(row, value)
                default = row.default_in(self.profile)
                same = checked == (check(row, default) if default is not None else None)
            except ConfigurationError as error:
                self.report.lost(origin.place, origin.bean, origin.property, f"{key}: {error.expected}")
                return
            if same:
                if key in self.settings:
                    del self.settings[key], self.origins[key]
                if not quiet:
                    self.report.default(origin.place, origin.bean, origin.property)
                return
        self.settings[key] = value
        self.origins[key] = origin
        if not quiet:
            self._tell(origin, key)

    def _tell(self, origin: Origin, key: str) -> None:
        plain = "".join(char for char in origin.property if char.isalnum()).lower()
        ours = key.removeprefix(PREFIX).replace("_", "").lower()
        told = self.report.taken if ours.endswith(plain) and plain else self.report.renamed
        told(origin.place, origin.bean, origin.property, key)

    # -- properties -----------------------------------------------------------------------------------------------

    def properties(self, bean: Bean, role: str, *, skip: frozenset[str] = frozenset()) -> None:
        """Take all properties of a bean that the table knows; report the others."""
        if not bean.properties:
            self.report.default(bean.place, bean.name, "")
        self.spoken |= {row.name for row in SETTINGS if row.bean.startswith(f"{role}.")}
        for prop, value in bean.properties.items():
            if prop not in skip:
                self.property(bean.name, role, prop, value)

    def property(self, bean: str, role: str, prop: str, value: Value) -> None:
        """Take one property."""
        path = f"{role}.{prop}"
        if prop in NEEDLESS_ANYWHERE:
            return
        if prop == "enabled":
            self._enabled(bean, role, value)
            return
        row = row_of(role, prop)
        if row is None:
            self._without_row(bean, role, prop, value)
            return
        try:
            made = self.made(row, value)
        except NotUsable as error:
            self.unusable(bean, prop, value, error)
            return
        if path in STOCK and isinstance(made, str) and STOCK[path].fullmatch(made):
            if prop == "operatorContactUrl":
                text = f"still the stock profile's placeholder; {row.key} has to be set"
                self.report.left(value.place, bean, prop, text)
            else:
                self.report.default(value.place, bean, prop, "the stock profile's own text")
            return
        self.put(row.name, made, Origin(bean, prop, value.place))

    def unusable(self, bean: str, prop: str, value: Value, error: NotUsable) -> None:
        """Report a value that cannot be read."""
        if isinstance(error, Foreign | Note):
            self.report.left(value.place, bean, prop, str(error))
        else:
            self.report.lost(value.place, bean, prop, str(error))

    def _enabled(self, bean: str, role: str, value: Value) -> None:
        try:
            on = self.values.flag(value)
        except NotUsable as error:
            self.unusable(bean, "enabled", value, error)
            return
        if on:
            self.report.default(value.place, bean, "enabled")
        else:
            self.report.lost(value.place, bean, "enabled", "this part cannot be switched off")

    def _without_row(self, bean: str, role: str, prop: str, value: Value) -> None:
        path = f"{role}.{prop}"
        if path in ALWAYS:
            said, otherwise = ALWAYS[path]
            try:
                is_so = self.values.text(value).lower() in said
            except NotUsable as error:
                self.unusable(bean, prop, value, error)
                return
            if is_so:
                self.report.default(value.place, bean, prop)
            else:
                self.report.lost(value.place, bean, prop, otherwise)
        elif path in NEEDLESS:
            self.report.not_needed(value.place, bean, prop, NEEDLESS[path])
        elif prop == "shouldProcessRule":
            try:
                form = self.rules.gate(value, "")
            except NotUsable as error:
                self.unusable(bean, prop, value, error)
                return
            if form is None:
                self.report.default(value.place, bean, prop)
            else:
                self.report.lost(value.place, bean, prop, "there is no rule before this part; write a step of your own")
        elif self._wired(value):
            self.report.not_needed(value.place, bean, prop, "the part is found by its class")
        else:
            known = [key.partition(".")[2] for key in BY_BEAN if key.startswith(role + ".")]
            near = difflib.get_close_matches(prop, known, n=1, cutoff=0.8)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.report.lost(value.place, bean, prop, f"there is no such setting here{hint}")

    def _wired(self, value: Value) -> bool:
        """Whether it is a part of Heritrix's that is taken over wherever it stands."""
        try:
            part = self.values.resolved(value)
        except NotUsable:
            return False
        return (
            isinstance(part, Bean)
            and not part.third_party
            and (part.short in ROLES or part.short in NEEDLESS_CLASSES or part.short.endswith("Chain"))
        )

    # -- a value as a row wants it --------------------------------------------------------------------------------

    def made(self, row: Setting, value: Value) -> Any:
        """The value for a row's kind. Raises NotUsable."""
        values = self.values
        if isinstance(values.resolved(value), Null):
            return row.default
        match row.kind:
            case "bool":
                return values.flag(value)
            case "int":
                return values.whole(value)
            case "number":
                return values.number(value)
            case "port":
                return values.whole(value) or None
            case "list" | "headers" | "type_patterns":
                return values.texts(value)
            case "lines":
                resolved = values.resolved(value)
                if isinstance(resolved, Bean):
                    source = values.source(resolved)
                    if source is None:
                        return []
                    return source if isinstance(source, list) else str(source)
                if isinstance(resolved, Text) and row.name in FILES:
                    return str(values.path(values.text(resolved))) if values.text(resolved) else []
                return values.texts(resolved)
            case "path":
                return values.output(value) or None
            case "mapping":
                return values.mapping(value)
            case "rule":
                return self.rules.gate(value, row.key)
            case "components" | "mappings" | "associations" | "scope" | "policy":
                raise NotUsable("expected another value")
        text = values.text(value, strip=row.kind != "str" or "\n" in getattr(value, "text", ""))
        return row.default if not text and row.default is None else text


#: Rows of kind ``lines`` whose text is the path of a file.
FILES = frozenset({"SEEDS", "SURTS", "NEGATIVE_SURTS", "COOKIES_LOAD_FILE", "MAP_PATH", "PRELOAD_SOURCE"})
