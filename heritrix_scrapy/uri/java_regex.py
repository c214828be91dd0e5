"""How does a regular expression written for Java read in Python?

Operators bring their lists of expressions with them, so what Java means is kept: ASCII classes and case
folding, a dot that stops at any line end, whole-text matching, ``$1`` in replacements.  The differences in
syntax that matter in practice are a table here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

JavaPattern = re.Pattern[str]

_DOT = "[^\\n\\r\\x85\\u2028\\u2029]"
# Outside and inside of a character class alike: what follows ``\p{`` in Java, as the body of a Python class.
_PROPERTIES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_FLAG_LETTERS = frozenset("imsx")
_NAMED_GROUP = re.compile(r"\(\?<([A-Za-z]\w*)>", re.ASCII)
_REFERENCE = re.compile(r"\\(.)|\$\{([A-Za-z]\w*)\}|\$(\d+)|(\$)", re.DOTALL | re.ASCII)


@lru_cache(maxsize=4096)
def java_compile(pattern: str) -> JavaPattern:
    """Compile a Java expression; use ``fullmatch`` for Java's ``matches``.  Raises ``re.error``."""
    return re.compile(_translate(pattern), re.ASCII)


def _translate(pattern: str) -> str:
    out: list[str] = []
    # For each open group: the flag groups opened in mid-pattern, and whether a dot takes line ends.
    levels: list[tuple[list[str], bool]] = [([], False)]
    place = 0
    while place < len(pattern):
        char = pattern[place]
        opened, dot_all = levels[-1]
        if char == "\\":
            piece, place = _escaped(pattern, place, inside=False)
            out.append(piece)
            continue
        if char == "[":
            piece, place = _class(pattern, place)
            out.append(piece)
            continue
        if char == "(":
            flags = _FLAGS.match(pattern, place)
            if flags and (flags.group(1) or flags.group(2)):
                place = flags.end()
                prefix, dot_all = _switched(flags, dot_all)
                out.append(prefix)
                if flags.group(3) == ":":
                    levels.append(([], dot_all))
                else:
                    opened.append(prefix)
                    levels[-1] = (opened, dot_all)
                continue
            levels.append(([], dot_all))
            if named := _NAMED_GROUP.match(pattern, place):
                out.append(f"(?P<{named.group(1)}>")
                place = named.end()
                continue
        elif char == ")" and len(levels) > 1:
            levels.pop()
            out.append(")" * len(opened))
        elif char == "|":
            # Flags hold across alternatives, to the end of the group they stand in.
            out.append(f"{')' * len(opened)}|{''.join(opened)}")
            place += 1
            continue
        out.append(_DOT if char == "." and not dot_all else char)
        place += 1
    return "".join(out) + ")" * len(levels[0][0])


def _switched(flags: re.Match[str], dot_all: bool) -> tuple[str, bool]:
    on = "".join(sorted(set(flags.group(1)) & _FLAG_LETTERS))
    off = "".join(sorted(set(flags.group(2) or "") & _FLAG_LETTERS))
    dot_all = (dot_all or "s" in on) and "s" not in off
    return f"(?{on}{'-' + off if off else ''}:", dot_all


def _class(pattern: str, place: int) -> tuple[str, int]:
    """Translate a character class; a class inside it is a union, which Python writes flat."""
    start = place
    out = ["["]
    place += 1
    depth = 1
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            piece, place = _escaped(pattern, place, inside=True)
            out.append(piece)
            continue
        if pattern.startswith("&&", place) or pattern.startswith("[^", place):
            raise re.error("an intersection or negation within a character class", pattern, place)
        place += 1
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                out.append("]")
                return "".join(out), place
        else:
            out.append(char)
    raise re.error("a character class without end", pattern, start)


def _escaped(pattern: str, place: int, *, inside: bool) -> tuple[str, int]:
    following = pattern[place + 1 : place + 2]
    if following == "Q":
        end = pattern.find("\\E", place)
        stop = len(pattern) if end < 0 else end
        return re.escape(pattern[place + 2 : stop]), len(pattern) if end < 0 else end + 2
    if following in ("p", "P"):
        end = pattern.find("}", place)
        name = pattern[place + 3 : end]
        body = _PROPERTIES.get(name)
        if body is None or (inside and following == "P"):
            raise re.error(f"unknown property {name!r}", pattern, place)
        return (body if inside else f"[{'^' if following == 'P' else ''}{body}]"), end + 1
    if following == "z":
        return "\\Z", place + 2
    if following == "Z":
        return "(?=\\n?\\Z)", place + 2
    if following == "h":
        return ("" if inside else "[") + " \\t\\xa0" + ("" if inside else "]"), place + 2
    if following == "e":
        return "\\x1b", place + 2
    if following.isalpha() or following.isdigit():
        return pattern[place : place + 2], place + 2
    return re.escape(following), place + 2


def expand(format: str, pattern: JavaPattern) -> Callable[[re.Match[str]], str]:
    """Read a Java replacement once, for matches of this pattern.

    ``$n`` takes as many digits as still name a group; a group that took no part is empty.  Raises ValueError
    for a group that the pattern does not have.
    """
    parts: list[str | int] = []
    place = 0
    for found in _REFERENCE.finditer(format):
        parts.append(format[place : found.start()])
        place = found.end()
        literal, name, digits, bare = found.groups()
        if literal is not None:
            parts.append(literal)
        elif bare:
            raise ValueError(f"a dollar sign without a group in {format!r}")
        elif name is not None:
            if name not in pattern.groupindex:
                raise ValueError(f"no group {name!r} in {pattern.pattern!r}")
            parts.append(pattern.groupindex[name])
        else:
            group, used = int(digits[0]), 1
            while used < len(digits) and group * 10 + int(digits[used]) <= pattern.groups:
                group = group * 10 + int(digits[used])
                used += 1
            if group > pattern.groups:
                raise ValueError(f"no group {group} in {pattern.pattern!r}")
            parts.extend((group, digits[used:]))
    parts.append(format[place:])

    def put_in(found: re.Match[str]) -> str:
        return "".join([part if isinstance(part, str) else found.group(part) or "" for part in parts])

    return put_in
