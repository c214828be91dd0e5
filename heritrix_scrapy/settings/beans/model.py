"""Of what does a job file consist, once it is read?

Beans with properties; a property's value is a text, nothing, a reference, a list, a map or a bean again. Every one of
them knows its place in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator


class Place(NamedTuple):
    """Where something stands: file, line from 1, column from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, column {self.column}"


class JobError(Exception):
    """The job file cannot be read. ``place``: where; None when the file itself is missing."""

    def __init__(self, place: Place | None, message: str) -> None:
        self.place, self.message = place, message
        super().__init__(f"{place}: {message}" if place else message)


@dataclass(slots=True)
class Text:
    """A text as it stands; ``override``: whether it came from an override."""

    text: str
    place: Place
    override: bool = False


@dataclass(slots=True)
class Null:
    place: Place


@dataclass(slots=True)
class Ref:
    """The name of another bean."""

    name: str
    place: Place


@dataclass(slots=True)
class Items:
    """A list or a set."""

    values: list[Value]
    place: Place


class KeyRef(str):
    """A map's key that is the name of a bean."""

    __slots__ = ()


@dataclass(slots=True)
class Map:
    """A map or properties, in the order written."""

    entries: dict[str, Value]
    place: Place


@dataclass(slots=True)
class Bean:
    """``kind``: the class as it is written; ``id``: empty for a bean within another; ``names``: its aliases."""

    id: str
    kind: str
    place: Place
    properties: dict[str, Value] = field(default_factory=dict)
    arguments: list[Value] = field(default_factory=list)
    names: tuple[str, ...] = ()
    candidate: bool = True
    #: Text of a script, for ``lang:groovy`` and its like.
    script: str | None = None

    @property
    def short(self) -> str:
        """The class without its package."""
        return self.kind.rpartition(".")[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """What a report calls it."""
        return self.id or self.short

    @property
    def third_party(self) -> bool:
        """Whether the class belongs neither to Heritrix nor to Spring."""
        return not self.kind.startswith(("org.archive.", "org.springframework.", "java.")) and "." in self.kind


Value: TypeAlias = "Text | Null | Ref | Items | Map | Bean"


class Beans:
    """The beans of a job by name, in the order in which they were defined."""

    def __init__(self) -> None:
        self.top: dict[str, Bean] = {}
        self._aliases: dict[str, str] = {}
        self._count = 0

    def add(self, bean: Bean) -> None:
        """Define a bean; a later file's takes the place of an earlier file's.

        Raises JobError when one file defines a name twice."""
        if not bean.id:
            bean.id = bean.names[0] if bean.names else f"{bean.kind}#{self._count}"
            self._count += 1
        before = self.top.get(bean.id)
        if before is not None and before.place.file == bean.place.file and before.place != bean.place:
            raise JobError(
                bean.place, f"there are two beans named {bean.id!r}; the other one is in line {before.place.line}"
            )
        self.top[bean.id] = bean
        for name in bean.names:
            self._aliases[name] = bean.id

    def alias(self, name: str, alias: str) -> None:
        self._aliases[alias] = name

    def get(self, name: str) -> Bean | None:
        """The bean of that name or alias."""
        for _ in range(len(self._aliases) + 1):
            if name in self.top:
                return self.top[name]
            name = self._aliases.get(name, "")
        return None

    def everywhere(self) -> Iterator[Bean]:
        """All beans, each with those within it behind it."""
        for bean in self:
            yield from beans_in(bean)

    def __iter__(self) -> Iterator[Bean]:
        return iter(list(self.top.values()))


def beans_in(value: Value) -> Iterator[Bean]:
    """The beans that a value is or has in it; not those that it refers to."""
    match value:
        case Bean():
            yield value
            inner = [*value.properties.values(), *value.arguments]
        case Items():
            inner = value.values
        case Map():
            inner = list(value.entries.values())
        case _:
            return
    for held in inner:
        yield from beans_in(held)
