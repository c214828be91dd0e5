"""What does the value of a property come to in Python?

A job file writes everything as text; here the text is read as the kind that is wanted. Nothing is looked at before
all overrides are carried out: what an override replaces may be any note.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.beans.expressions import Unknown, expressions, foreign, placeholders
from heritrix_scrapy.settings.beans.model import Bean, Beans, Items, KeyRef, Map, Null, Ref, Text, Value
from heritrix_scrapy.settings.files import FileLines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: A note that stands where an override is expected to come.
NOTE = re.compile(r"[#\s\[(]*(?:see\s+)?overrid(?:e|den)\b[^\n]*", re.IGNORECASE)

#: Classes of Heritrix that hold a path or a text.
PATHS = frozenset({"ConfigFile", "ConfigPath", "ReadSource"})
STRING = "ConfigString"

_HEX = re.compile(r"-?(?:0[xX]|#)[0-9A-Fa-f]+")

_LAUNCH = re.compile(r"^\$\{launchId\}/?")


def snake(name: str) -> str:
    """``maxHops`` → ``max_hops``; a digit never starts a word: ``useHTTP11`` → ``use_http11``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class NotUsable(Exception):
    """The value cannot be what is wanted; the text says why."""


class Foreign(NotUsable):
    """The value is another program's placeholder; the text is it."""


class Note(NotUsable):
    """The value is a note, and no override came."""


class Missing(NotUsable):
    """A reference names no bean."""


class Values:
    """Reads values. ``folder``: of the job's file; ``look_up``: the text at ``bean.property``."""

    def __init__(
        self, beans: Beans, folder: Path, environment: Mapping[str, str], look_up: Callable[[str], str | None]
    ) -> None:
        self.beans = beans
        self.folder = folder
        self._environment = environment
        self._look_up = look_up
        #: Placeholders of other programs that were met and left.
        self.left: list[tuple[Text, str]] = []
        #: What the job's own property lists say for ``${NAME}``.
        self.given: dict[str, str] = {}
        #: Beans that some other one refers to.
        self.met: set[int] = set()

    def resolved(self, value: Value) -> Value:
        """The bean that a reference names, or the value. Raises Missing."""
        seen = 0
        while isinstance(value, Ref):
            bean = self.beans.get(value.name)
            if bean is None:
                raise Missing(f"there is no bean {value.name!r}")
            value = bean
            self.met.add(id(bean))
            if bean.kind.startswith("java.util.") and bean.arguments:
                value = bean.arguments[0]
            elif bean.short == "PropertyPathFactoryBean":
                value = self._property_path(bean)
            seen += 1
            if seen > 20:
                raise Missing(f"{bean.name} refers to itself")
        if isinstance(value, Bean) and value.short == "PropertyPathFactoryBean":
            return self.resolved(self._property_path(value))
        if isinstance(value, Bean) and value.kind.startswith("java.lang.") and value.arguments:
            return value.arguments[0]
        return value

    def _property_path(self, bean: Bean) -> Value:
        name = next(
            (
                held.text
                for key in ("targetBeanName", "targetObject")
                if isinstance(held := bean.properties.get(key), Text)
            ),
            "",
        )
        path = bean.properties.get("propertyPath")
        text = self._look_up(f"{name}.{path.text}") if isinstance(path, Text) else None
        if text is None:
            raise Missing(f"nothing is at {name}.{path.text if isinstance(path, Text) else ''}")
        return Text(text, bean.place)

    # -- kinds ----------------------------------------------------------------------------------------------------

    def raw(self, value: Text) -> str:
        """A text with placeholders and expressions worked out. Raises NotUsable."""
        text = placeholders(value.text, self._environment, self.given, bare=False)
        try:
            return expressions(text, self._environment, self._look_up)
        except Unknown as unknown:
            raise NotUsable(f"the expression #{{{unknown}}} is not worked out here") from None

    def text(self, value: Value, *, strip: bool = True) -> str:
        """Raises NotUsable."""
        value = self.resolved(value)
        if isinstance(value, Bean) and value.short == STRING:
            value = self._of(value, "value") or Text("", value.place)
        if isinstance(value, Bean) and value.short in PATHS:
            base, value = value.properties.get("base"), self._of(value, "path") or Text("", value.place)
            if base is not None:
                return str(Path(self.text(base)) / self.text(value))
        if isinstance(value, Null):
            return ""
        if not isinstance(value, Text):
            raise NotUsable("expected a text")
        text = self.raw(value)
        if strip:
            text = text.strip()
        if NOTE.fullmatch(text.strip()):
            raise Note("a note, and no override gives another value")
        for found in foreign(text):
            self.left.append((value, found))
        return text

    @staticmethod
    def _of(bean: Bean, prop: str) -> Value | None:
        """A property of a bean of a text or a path, which may be its last constructor argument."""
        return bean.properties.get(prop) or (bean.arguments[-1] if bean.arguments else None)

    def flag(self, value: Value) -> bool:
        text = self._typed(value).lower()
        if text in ("true", "on", "yes", "1"):
            return True
        if text in ("false", "off", "no", "0"):
            return False
        raise NotUsable(f"expected true or false, not {text!r}")

    def whole(self, value: Value) -> int:
        text = "".join(self._typed(value).split())
        if _HEX.fullmatch(text):
            return int(text.replace("#", "0x"), 16)
        try:
            return int(text.replace("_", "x"))
        except ValueError:
            raise NotUsable(f"expected a whole number, not {text!r}") from None

    def number(self, value: Value) -> float | int:
        text = "".join(self._typed(value).split())
        try:
            number = float(text.replace("_", "x").rstrip("fFdD"))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise NotUsable(f"expected a number, not {text!r}")
        return int(number) if "." not in text and "e" not in text.lower() and number == int(number) else number

    def _typed(self, value: Value) -> str:
        """A text that must be something else than a text."""
        before = len(self.left)
        text = self.text(value)
        if len(self.left) > before:
            raise Foreign(self.left.pop()[1])
        return text

    def texts(self, value: Value) -> list[str]:
        """A list of texts; a text alone is a list of one, or of its lines."""
        value = self.resolved(value)
        match value:
            case Null():
                return []
            case Items():
                return [self.text(item) for item in value.values]
            case Map():
                return [self.text(item) for item in value.entries.values()]
            case Text():
                text = self.text(value)
                return [line.strip() for line in text.splitlines() if line.strip()]
            case Bean() if value.short in ("ArrayList", "ListFactoryBean", "SetFactoryBean", "HashSet", "LinkedList"):
                inner = value.properties.get("sourceList") or value.properties.get("sourceSet")
                held = [inner] if inner is not None else value.arguments
                return self.texts(held[0]) if held else []
            case Bean() if value.short == STRING or value.short in PATHS:
                return [self.text(value)]
        raise NotUsable("expected a list")

    def mapping(self, value: Value) -> dict[str, Any]:
        """A map of texts."""
        return {key: self.text(held) for key, held in self.entries(value).items()}

    def entries(self, value: Value) -> dict[str, Value]:
        value = self.resolved(value)
        match value:
            case Null():
                return {}
            case Map():
                return {self._key(key): held for key, held in value.entries.items()}
            case Bean() if value.properties.get("sourceMap") is not None:
                return self.entries(value.properties["sourceMap"])
        raise NotUsable("expected a map")

    def _key(self, key: str) -> str:
        bean = self.beans.get(key) if isinstance(key, KeyRef) else None
        if bean is None or not (bean.short == STRING or bean.kind == "java.lang.String"):
            return str(key)
        self.met.add(id(bean))
        return self.text(bean)

    def items(self, value: Value) -> list[Value]:
        """The entries of a list, as they are."""
        value = self.resolved(value)
        match value:
            case Items():
                return list(value.values)
            case Null():
                return []
            case Bean():
                return [value]
        raise NotUsable("expected a list")

    def bean(self, value: Value) -> Bean:
        value = self.resolved(value)
        if isinstance(value, Text) and (left := foreign(value.text)):
            raise Foreign(left[0])
        if not isinstance(value, Bean):
            raise NotUsable("expected a bean")
        return value

    def source(self, value: Value) -> list[str] | Path | None:
        """What lines are read from: the lines themselves, or the path of a file, from the job's folder."""
        value = self.resolved(value)
        match value:
            case Null():
                return None
            case Bean() if value.short == STRING:
                held = self._of(value, "value")
                return [] if held is None else self._lines(held)
            case Bean() if value.short in PATHS:
                path = self.text(value)
                return self.path(path) if path else None
            case Text():
                text = self.text(value)
                if not text:
                    return None
                return self.path(text)
        raise NotUsable("expected a text or a file")

    def _lines(self, value: Value) -> list[str]:
        text = self.raw(value) if isinstance(value, Text) else self.text(value, strip=False)
        lines = dedent(text).splitlines()
        while lines and not lines[0].strip():
            del lines[0]
        while lines and not lines[-1].strip():
            del lines[-1]
        if len(lines) == 1 and NOTE.fullmatch(lines[0].strip()):
            raise Note("a note, and no override gives another value")
        if isinstance(value, Text):
            self.left += [(value, found) for found in foreign(text)]
        return lines

    def path(self, text: str) -> Path:
        """A file that is read: relative to the job's file."""
        return self.folder / _LAUNCH.sub("", text.removeprefix("file:"))

    def read(self, source: list[str] | Path | None) -> list[str]:
        """The lines of a source; those of a file know the file. Raises NotUsable."""
        if isinstance(source, Path):
            try:
                return FileLines.read(source)
            except OSError as error:
                raise NotUsable(f"{source} cannot be read: {error.strerror}") from None
        return source or []

    def output(self, value: Value) -> str:
        """A file or folder that is written: an absolute path, or one from the JOBDIR; without the launch's folder,
        which is there by itself."""
        return _LAUNCH.sub("", self.text(value)).removeprefix("./").rstrip("/")
