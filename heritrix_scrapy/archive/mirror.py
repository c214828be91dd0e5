"""Under which path does a mirror keep a URI, as Heritrix maps it?

Path and query are decoded, cut into segments and built lump by lump within the limits; what is in the way makes a
number grow behind the name (Heritrix: MirrorWriterProcessor). Different URIs may share a path, as there; what
would leave the mirror's directory is refused, unlike there.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_PORTS = {"http": 80, "https": 443}

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


class MirrorError(Exception):
    """A URI that has no place in the mirror. ``kind``: ``bad_escape``, ``io`` or ``limits``."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Tree(Protocol):
    """What is there already. Paths are relative to the mirror's directory."""

    def is_dir(self, path: str) -> bool: ...

    def is_file(self, path: str) -> bool: ...

    def names(self, path: str) -> Sequence[str]:
        """Names in a directory."""


@dataclass(slots=True)
class Rules:
    """Heritrix's properties, with its defaults. Pairs stand flat in a list, as there; an odd last item is left
    out."""

    create_host_directory: bool = True
    host_map: Sequence[str] = ()
    create_port_directory: bool = False
    directory_file: str = "index.html"
    content_type_map: Sequence[str] = ()
    character_map: Sequence[str] = ()
    dot_begin: str = "%2E"
    dot_end: str = "."
    underscore_set: Sequence[str] = ()
    case_sensitive_filesystem: bool = True
    suffix_at_end: bool = True
    max_seg_length: int = 255
    max_path_length: int = 1023
    too_long_directory: str = "LONG"
    #: Characters of the mirror's own absolute path; the limits count them.
    base_length: int = 0
    _characters: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._characters = {old: new for old, new in pairs(self.character_map) if len(old) == 1 and new}
        self.max_seg_length = max(self.max_seg_length, 2)
        self.max_path_length = max(self.max_path_length, 2)
        if "/" in self.too_long_directory or not self.too_long_directory:
            self.too_long_directory = "LONG"
        if "/" in self.dot_begin or not self.dot_begin:
            self.dot_begin = "%2E"

    def lumps(self, text: str, limit: int, *, first: bool = False) -> list[str]:
        """The text in pieces that are kept or dropped whole, as many as fit. ``first``: it begins a segment."""
        out: list[str] = []
        used = at = 0
        while at < len(text):
            char = text[at]
            if at == 0 and first and char == "." and self.dot_begin != ".":
                lump, step = self.dot_begin, 1
            elif char in self._characters:
                lump, step = self._characters[char], 1
            elif found := _ESCAPE.match(text, at):
                lump, step = found[0], 3
            else:
                lump, step = char, 1
            if used + len(lump) > limit:
                break
            out.append(lump)
            used += len(lump)
            at += step
        return out


def pairs(flat: Sequence[str]) -> list[tuple[str, str]]:
    """A flat list as pairs."""
    return list(zip(flat[::2], flat[1::2], strict=False))


def decode_path(text: str) -> str:
    """Escapes as UTF-8, ``+`` as a blank; what is no escape stays."""
    return _ESCAPES.sub(
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text.replace("+", " ")
    )


def decode_query(text: str) -> str:
    """The same, but what is no escape is refused, as in Heritrix."""
    if "%" in _ESCAPE.sub("", text):
        raise MirrorError("bad_escape", f"not an escape in the query {text!r}")
    return decode_path(text)


def mapped(pairs_of: Sequence[str], name: str) -> str:
    """The host directory that a map gives a host; the first entry that fits decides."""
    for old, new in pairs(pairs_of):
        if old.lower() == name.lower():
            return new or name
    return name


def suffix_for(content_type_map: Sequence[str], content_type: str) -> str | None:
    """The suffix that a map gives a type by its beginning, or None."""
    for prefix, suffix in pairs(content_type_map):
        if content_type.lower().startswith(prefix.lower()):
            return suffix or None
    return None


def place(uri: str, content_type: str, rules: Rules, tree: Tree) -> str:
    """The relative path for a URI, with ``/`` between segments. Raises MirrorError.

    ``tree``: what is there; each directory that the path needs is there or can be made.
    """
    parts = urlsplit(uri)
    path, query = decode_path(parts.path or "/"), decode_query(parts.query)
    segments = path.removeprefix("/").split("/")
    root = ""
    if rules.create_host_directory:
        root = mapped(rules.host_map, (parts.hostname or "").lower())
    if rules.create_port_directory and parts.port and parts.port != DEFAULT_PORTS.get(parts.scheme):
        root = f"{root}/{parts.port}"
    room = rules.max_path_length - rules.max_seg_length
    now = root
    for segment in segments[:-1]:
        now = _directory(now, segment, rules, tree)
        if _length(now, rules) > room:
            now = _directory(root, rules.too_long_directory, rules, tree)
            if _length(now, rules) > room:
                return _checked(_under(root, short_name(uri)))
            break
    try:
        path = _file(now, segments[-1], query, content_type, rules, tree)
    except MirrorError as error:
        if error.kind != "limits":
            raise
        path = _under(root, short_name(uri))
    return _checked(path)


def short_name(uri: str) -> str:
    """A name for a URI that no limit leaves room for, where Heritrix fails."""
    return hashlib.sha1(uri.encode(), usedforsecurity=False).hexdigest()[:16]


def _length(path: str, rules: Rules) -> int:
    return rules.base_length + 1 + len(path) if path else rules.base_length


def _under(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name


def _taken(parent: str, name: str, rules: Rules, tree: Tree, *, directory: bool) -> bool:
    """Whether something else is in the way of a name."""
    path = _under(parent, name)
    other = tree.is_file(path) if directory else tree.is_dir(path)
    if other or rules.case_sensitive_filesystem or not (tree.is_file(path) or tree.is_dir(path)):
        return other
    return name not in tree.names(parent)


def _directory(parent: str, segment: str, rules: Rules, tree: Tree) -> str:
    limit = rules.max_seg_length
    lumps = rules.lumps(segment, limit, first=True)
    if rules.dot_end != ".":
        while lumps and lumps[-1] == ".":
            lumps.pop()
            if sum(map(len, lumps)) + len(rules.dot_end) <= limit:
                lumps.append(rules.dot_end)
    if "".join(lumps).lower() in {name.lower() for name in rules.underscore_set}:
        lumps = trimmed(["_", *lumps], limit)
    number = 0
    while True:
        unique = f"{number:,}" if number else ""
        name = "".join(trimmed(lumps, limit - len(unique))) + unique
        if not _taken(parent, name, rules, tree, directory=True):
            return _under(parent, name) if parent or name else name
        number += 1


def trimmed(lumps: list[str], limit: int) -> list[str]:
    """As many lumps as fit."""
    size = sum(map(len, lumps))
    lumps = list(lumps)
    while size > limit and lumps:
        size -= len(lumps.pop())
    return lumps


def _file(parent: str, segment: str, query_text: str, content_type: str, rules: Rules, tree: Tree) -> str:
    limit = rules.max_seg_length - 1  # one character is for the name while it is written
    first = segment != ""
    segment = segment or rules.directory_file
    main_text, suffix_text = segment, ""
    dot = segment.rfind(".")
    if 0 < dot < len(segment) - 1:
        main_text, suffix_text = segment[:dot], segment[dot + 1 :]
    suffix_text = suffix_for(rules.content_type_map, content_type) or suffix_text
    main = rules.lumps(main_text, limit, first=first)
    suffix = rules.lumps(suffix_text, limit)
    query = rules.lumps(query_text, limit)
    number = 0
    while True:
        unique = f"{number:,}" if number else ""
        _trim(main, query, suffix, len(unique), limit, rules.max_path_length - _length(parent, rules) - 1)
        tail = "." + "".join(suffix) if suffix else ""
        asked = "".join(query)
        name = "".join(main) + unique + (asked + tail if rules.suffix_at_end else tail + asked)
        if not _taken(parent, name, rules, tree, directory=False):
            break
        number += 1
    directory, slash, _ = name.rpartition("/")
    if slash and not tree.is_dir(_under(parent, directory)):
        raise MirrorError("io", f"no directory {directory!r} in {parent!r}")
    return _under(parent, name)


def _trim(main: list[str], query: list[str], suffix: list[str], unique: int, limit: int, room: int) -> None:
    """Take lumps off until both limits hold. The number counts twice, as in Heritrix."""

    def over() -> int:
        dot = 1 if suffix else 0
        size = sum(map(len, main)) + sum(map(len, query)) + sum(map(len, suffix)) + dot + 2 * unique
        return max(size - limit, size - room)

    while over() > 0 and query:
        query.pop()
    while over() > 0 and len(main) > 1:
        main.pop()
    while over() > 0 and len(suffix) > 1:
        suffix.pop()
    if over() > 0:
        raise MirrorError("limits", f"no name of {min(limit, room)} characters")


def _checked(path: str) -> str:
    if "\0" in path:
        raise MirrorError("io", "a name with a NUL character")
    if ".." in path.split("/") or "." in path.split("/"):
        raise MirrorError("io", f"{path!r} would leave its directory")
    return path
