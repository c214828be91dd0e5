"""How is a job file read as XML, safely, and with the place of everything?

No entity is expanded but the five of XML itself, nothing outside of the file is fetched. XInclude of text and of XML
is carried out for files beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from heritrix_scrapy.settings.beans.model import JobError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

XINCLUDE = "http://www.w3.org/2001/XInclude"
SPRING = "http://www.springframework.org/schema/"

#: Elements within each other, and bytes of one file; no job comes near.
DEEPEST = 200
LONGEST = 64 * 1024 * 1024

_DECLARED = re.compile(rb"""<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)""")

#: Encodings that expat knows by itself.
_OF_EXPAT = re.compile(r"utf-?8|utf-?16(?:[lb]e)?|(?:us-)?ascii|iso-8859-1", re.IGNORECASE)

_ASK = "is the encoding named in the first line right?"


@dataclass(slots=True)
class Element:
    """``space`` and ``tag``: namespace and local name; ``attributes``: local names, others as ``namespace name``."""

    space: str
    tag: str
    attributes: dict[str, str]
    place: Place
    parts: list[Element | str] = field(default_factory=list)

    @property
    def children(self) -> Iterator[Element]:
        return (part for part in self.parts if isinstance(part, Element))

    @property
    def text(self) -> str:
        """The text directly in it."""
        return "".join(part for part in self.parts if isinstance(part, str))


def parse(path: Path) -> Element:
    """The root element of a file, with what it includes. Raises JobError."""
    return _parse(path, ())


def _parse(path: Path, before: tuple[Path, ...]) -> Element:
    try:
        if path.stat().st_size > LONGEST:
            raise JobError(None, f"{path}: larger than {LONGEST} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise JobError(None, f"{path}: cannot be read: {error.strerror}") from None
    data, encoding = _in_utf8(path, data)
    return _Parser(path, (*before, path.resolve()), encoding).read(data)


def _in_utf8(path: Path, data: bytes) -> tuple[bytes, str | None]:
    """The bytes, in UTF-8 where they are in an encoding that expat cannot read (GBK, Shift_JIS), and the encoding that
    holds whatever the file declares. Raises JobError."""
    declared = _DECLARED.match(data)
    name = declared.group(1).decode() if declared else "utf-8"
    if _OF_EXPAT.fullmatch(name):
        return data, None
    try:
        return data.decode(name).encode(), "utf-8"
    except UnicodeDecodeError as error:
        place = Place(str(path), data.count(b"\n", 0, error.start) + 1, 1)
        raise JobError(place, f"not readable: bytes that are no {name} text; {_ASK}") from None
    except LookupError:
        return data, None


class _Parser:
    def __init__(self, path: Path, files: tuple[Path, ...], encoding: str | None = None) -> None:
        self._path = path
        self._files = files
        self._stack: list[Element] = []
        self._root: Element | None = None
        self._expat = parser = expat.ParserCreate(encoding, namespace_separator=" ")
        parser.ordered_attributes = False
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external
        parser.SkippedEntityHandler = self._skipped

    def _place(self) -> Place:
        return Place(str(self._path), self._expat.CurrentLineNumber, self._expat.CurrentColumnNumber + 1)

    def read(self, data: bytes) -> Element:
        try:
            self._expat.Parse(data, True)
        except expat.ExpatError as error:
            place = Place(str(self._path), error.lineno, error.offset + 1)
            raise JobError(place, f"not well-formed XML: {self._why(error, data)}") from None
        except (LookupError, ValueError) as error:
            raise JobError(self._place(), f"not readable: {error}") from None
        assert self._root is not None  # expat refuses a document without an element
        return self._root

    @staticmethod
    def _why(error: expat.ExpatError, data: bytes) -> str:
        reason = expat.ErrorString(error.code) or "unknown"
        declared = _DECLARED.match(data.removeprefix(b"\xef\xbb\xbf"))
        encoding = declared.group(1).decode() if declared else "UTF-8"
        if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            try:
                data.decode(encoding)
            except UnicodeDecodeError:
                return f"{reason}: bytes that are no {encoding} text; {_ASK}"
            except LookupError:
                return f"{reason}: the encoding {encoding!r} is not known"
        return reason

    # -- what expat tells -----------------------------------------------------------------------------------------

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._stack) >= DEEPEST:
            raise JobError(self._place(), f"more than {DEEPEST} elements within each other")
        space, _, tag = name.rpartition(" ")
        element = Element(space, tag, attributes, self._place())
        if self._stack:
            self._stack[-1].parts.append(element)
        else:
            self._root = element
        self._stack.append(element)

    def _end(self, name: str) -> None:
        element = self._stack.pop()
        if element.space == XINCLUDE and element.tag == "include":
            try:
                included = self._include(element)
            except JobError:
                fallback = next((child for child in element.children if child.tag == "fallback"), None)
                if fallback is None or not self._stack:
                    raise
                self._stack[-1].parts[-1:] = fallback.parts
                return
            if self._stack:
                self._stack[-1].parts[-1:] = [included]
            elif isinstance(included, Element):
                self._root = included

    def _text(self, text: str) -> None:
        self._stack[-1].parts.append(text)

    def _entity(self, name: str, *about: object) -> None:
        raise JobError(
            self._place(), f"the file declares the entity {name!r}: entities are not read; write the text itself"
        )

    def _external(self, *about: object) -> int:
        raise JobError(self._place(), "an external entity is not read")

    def _skipped(self, name: str, is_parameter: bool) -> None:
        raise JobError(self._place(), f"the entity {name!r} is not known; entities are not read")

    def _include(self, element: Element) -> Element | str:
        href = element.attributes.get("href", "")
        if not href or "://" in href.removeprefix("file://") or element.attributes.get("xpointer"):
            raise JobError(element.place, f"cannot include {href!r}: only whole files beside the job's")
        path = self._path.parent / href.removeprefix("file://")
        if element.attributes.get("parse") == "text":
            encoding = element.attributes.get("encoding", "utf-8-sig")
            try:
                return path.read_bytes().decode(encoding)
            except OSError as error:
                raise JobError(element.place, f"cannot include {path}: {error.strerror}") from None
            except (UnicodeDecodeError, LookupError):
                raise JobError(element.place, f"cannot include {path}: it is no {encoding} text") from None
        if path.resolve() in self._files:
            raise JobError(element.place, f"{path} includes itself")
        try:
            return _parse(path, self._files)
        except JobError as error:
            raise error if error.place else JobError(element.place, error.message) from None
