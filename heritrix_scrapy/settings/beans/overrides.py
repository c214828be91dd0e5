"""Which values replace others before anything is made of them?

``PropertyOverrideConfigurer`` beans (``simpleOverrides``, ``longerOverrides``): ``bean.property=value``, with nested
properties, places in lists and keys of maps. Their values win over those at the bean, which are often mere notes.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from heritrix_scrapy.settings.beans.model import Bean, Beans, Items, Map, Null, Place, Ref, Text, Value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from heritrix_scrapy.settings.beans.report import Report

#: One step of a path: a property, a place in a list, or a key of a map.
_STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[['\"]?([^\]'\"]*)['\"]?\]")

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def property_list(text: str, place: Place) -> Iterator[tuple[str, Text]]:
    """The pairs of a text in Java's property list format, with their places."""
    line = ""
    start = 0
    for number, raw in enumerate(text.split("\n")):
        stripped = raw.rstrip("\r").lstrip(" \t\f")
        if not line:
            if not stripped or stripped[0] in "#!":
                continue
            start = number
        line += stripped
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            line = line[:-1]
            continue
        key, value = _pair(line)
        column = place.column if not start else 1
        yield key, Text(value, Place(place.file, place.line + start, column), override=True)
        line = ""
    if line:
        key, value = _pair(line)
        yield key, Text(value, Place(place.file, place.line + start, 1), override=True)


def _pair(line: str) -> tuple[str, str]:
    at = 0
    while at < len(line) and line[at] not in "=: \t\f":
        at += 2 if line[at] == "\\" else 1
    rest = line[at:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _unescaped(line[:at]), _unescaped(rest)


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code, char = match.groups()
        return chr(int(code, 16)) if code else _ESCAPES.get(char, char)

    return re.sub(r"\\(?:u([0-9A-Fa-f]{4})|(.))", one, text)


class Overrides:
    """Applies overrides to beans."""

    def __init__(self, beans: Beans, report: Report, folder: Path) -> None:
        self._beans = beans
        self._report = report
        self._folder = folder
        #: What ``PropertyPlaceholderConfigurer`` beans say for ``${NAME}``.
        self.given: dict[str, str] = {}
        #: Overrides of beans that are not in the file: ``bean.property`` → value.
        self.absent: dict[str, Text] = {}

    def apply(self) -> None:
        """Carry out those of all configurers, in the order in which they were defined."""
        for bean in self._beans:
            if bean.short == "PropertyOverrideConfigurer":
                for key, value in self._pairs(bean):
                    self.set(key, value)
            elif bean.short in ("PropertyPlaceholderConfigurer", "PropertySourcesPlaceholderConfigurer"):
                self.given |= {key: value.text for key, value in self._pairs(bean) if isinstance(value, Text)}

    def _pairs(self, bean: Bean) -> Iterator[tuple[str, Value]]:
        for name, value in bean.properties.items():
            if name in ("properties", "propertiesArray"):
                yield from self._of(value)
            elif name in ("location", "locations"):
                for place in [value] if isinstance(value, Text) else getattr(value, "values", []):
                    yield from self._in_file(bean, place)

    def _of(self, value: Value) -> Iterator[tuple[str, Value]]:
        match value:
            case Text():
                yield from property_list(value.text, value.place)
            case Map():
                for key, entry in value.entries.items():
                    if isinstance(entry, Text):
                        entry.override = True
                    yield key.strip(), entry
            case Items():
                for each in value.values:
                    yield from self._of(each)
            case Ref():
                bean = self._beans.get(value.name)
                for each in bean.arguments if bean else ():
                    yield from self._of(each)

    def _in_file(self, bean: Bean, place: Value) -> Iterator[tuple[str, Value]]:
        if not isinstance(place, Text):
            return
        path = self._folder / place.text.strip().removeprefix("file:")
        try:
            text = path.read_text(encoding="iso-8859-1")
        except OSError as error:
            self._report.lost(place.place, bean.name, "location", f"{path} cannot be read: {error.strerror}")
            return
        yield from property_list(text, Place(str(path), 1, 1))

    def set(self, path: str, value: Value) -> None:
        """Put a value where a path leads; what leads nowhere is told."""
        name, _, rest = path.partition(".")
        bean = self._beans.get(name)
        if bean is None:
            if isinstance(value, Text):
                self.absent[path] = value
            else:
                self._report.lost(value.place, path, "", "there is no such bean")
            return
        steps = self._steps(rest)
        if not steps:
            self._report.lost(value.place, path, "", "an override is written bean.property=value")
            return
        if not self._put(bean, steps, value):
            self._report.lost(value.place, path, "", "the override leads nowhere: there is nothing at that path")

    @staticmethod
    def _steps(path: str) -> list[str | int]:
        steps: list[str | int] = []
        at = 0
        while at < len(path):
            found = _STEP.match(path, at)
            if found is None:
                return []
            name, key = found.groups()
            steps.append(name if name is not None else int(key) if key.isdigit() else key)
            at = found.end()
        return steps

    def _put(self, holder: Value | None, steps: list[str | int], value: Value) -> bool:
        for step, following in pairwise(steps):
            inner = self.within(holder, step)
            if inner is None and following == 0 and isinstance(holder, Bean):
                # a list that is not in the file begins with this entry
                inner = holder.properties[str(step)] = Items([], value.place)
            holder = inner
        if isinstance(holder, Ref):
            holder = self._beans.get(holder.name)
        last = steps[-1]
        match holder:
            case Bean():
                if isinstance(last, str):
                    holder.properties[last] = value
                    return True
            case Items():
                if isinstance(last, int) and last <= len(holder.values):
                    holder.values[last : last + 1] = [value]
                    return True
            case Map():
                holder.entries[str(last)] = value
                return True
        return False

    def within(self, holder: Value | None, step: str | int) -> Value | None:
        """What a step leads to, or None."""
        if isinstance(holder, Ref):
            holder = self._beans.get(holder.name)
        match holder:
            case Bean():
                return holder.properties.get(str(step))
            case Items():
                return holder.values[step] if isinstance(step, int) and step < len(holder.values) else None
            case Map():
                return holder.entries.get(str(step))
        return None

    def look_up(self, path: str) -> str | None:
        """The text at ``bean.property``, for expressions."""
        name, _, rest = path.partition(".")
        value: Value | None = self._beans.get(name)
        for step in self._steps(rest):
            value = self.within(value, step)
        return value.text if isinstance(value, Text) else None


def each_text(value: Value) -> Iterator[Text]:
    """Every text in a value."""
    match value:
        case Text():
            yield value
        case Items():
            for item in value.values:
                yield from each_text(item)
        case Map():
            for item in value.entries.values():
                yield from each_text(item)
        case Bean():
            for item in (*value.properties.values(), *value.arguments):
                yield from each_text(item)
        case Null() | Ref():
            return
