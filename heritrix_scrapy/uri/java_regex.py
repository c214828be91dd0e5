"""How does a regular expression written for Java read in Python?

Operators bring their lists of expressions with them, so what Java means is kept: ASCII classes and case
folding, a dot that stops at any line end, whole-text matching, ``$1`` in replacements.  The differences in
syntax that matter in practice are a table here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

JavaPattern = re.Pattern[str]

_DOT = "[^\\n\\r\\x85\\u2028\\u2029]"
_LINEAR_DOT = "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]"
# Outside and inside of a character class alike: what follows ``\p{`` in Java, as the body of a Python class.
_PROPERTIES = {
    "Lower": "a-z",
    "Lowercase": "a-z",
    "Uppercase": "A-Z",
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
#: Letters of Java's that change nothing that is kept here: line ends, and Unicode's case folding.
_IDLE_LETTERS = frozenset("duU")
_CATEGORY = re.compile(r"(?:Is)?(?:general_category=|gc=)?([LMNPSZC][a-z]?)")
_NAMED_GROUP = re.compile(r"\(\?<([A-Za-z]\w*)>", re.ASCII)
_REFERENCE = re.compile(r"\\(.)|\$\{(\w+)\}|\$(\d+)|(\$)", re.DOTALL | re.ASCII)


@lru_cache(maxsize=4096)
def java_compile(pattern: str) -> JavaPattern:
    """Compile a Java expression; use ``fullmatch`` for Java's ``matches``.  Raises ``re.error``."""
    return re.compile(translate(pattern), re.ASCII)


def translate(pattern: str, *, linear: bool = False) -> str:
    """The same expression in Python's language, or, ``linear``, in RE2's.  Raises ``re.error``."""
    dot_class = _LINEAR_DOT if linear else _DOT
    out: list[str] = []
    # For each open group: the flag groups opened in mid-pattern, and whether a dot takes line ends.
    levels: list[tuple[list[str], bool]] = [([], False)]
    place = 0
    while place < len(pattern):
        char = pattern[place]
        opened, dot_all = levels[-1]
        if char == "\\":
            piece, place = _escaped(pattern, place, inside=False, linear=linear)
            out.append(piece)
            continue
        if char == "[":
            piece, place = _class(pattern, place, linear=linear)
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
            out.append(_closed(opened))
        elif char == "|":
            # Flags hold across alternatives, to the end of the group they stand in.
            out.append(f"{_closed(opened)}|{''.join(opened)}")
            place += 1
            continue
        out.append(dot_class if char == "." and not dot_all else char)
        place += 1
    return "".join(out) + _closed(levels[0][0])


def _closed(opened: list[str]) -> str:
    """Ends the flag groups; a line end first where a comment may be open."""
    return "".join(["\n)" if "x" in prefix.partition("-")[0] else ")" for prefix in reversed(opened)])


def _switched(flags: re.Match[str], dot_all: bool) -> tuple[str, bool]:
    unknown = set(flags.group(1) + (flags.group(2) or "")) - _FLAG_LETTERS - _IDLE_LETTERS
    if unknown:
        raise re.error(f"unknown flag {min(unknown)!r}", flags.string, flags.start())
    on = "".join(sorted(set(flags.group(1)) & _FLAG_LETTERS))
    off = "".join(sorted(set(flags.group(2) or "") & _FLAG_LETTERS))
    dot_all = (dot_all or "s" in on) and "s" not in off
    return f"(?{on}{'-' + off if off else ''}:", dot_all


def _class(pattern: str, place: int, *, linear: bool) -> tuple[str, int]:
    """Translate a character class.  One with a class, an intersection or a negation inside it is worked out here, as
    neither Python nor RE2 has those."""
    start = place
    out = ["["]
    place += 1
    if pattern.startswith("^", place):
        out.append("^")
        place += 1
    first = place
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            piece, place = _escaped(pattern, place, inside=True, linear=linear)
            out.append(piece)
            continue
        if char == "[" or pattern.startswith("&&", place):
            found, place = _set(pattern, start + 1)
            return _written(found, linear=linear), place
        place += 1
        if char == "]" and place - 1 > first:
            out.append("]")
            return "".join(out), place
        out.append("\\]" if char == "]" else char)
    raise re.error("a character class without end", pattern, start)


# -- classes as sets of characters ----------------------------------------------------------------------------

_LAST = 0x10FFFF
_Ranges = list[tuple[int, int]]
_CLASSES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": " \\t\\n\\x0b\\f\\r", "h": " \\t\\xa0"}
_CONTROLS = {"t": 9, "n": 10, "f": 12, "r": 13, "a": 7, "e": 27}


def _set(pattern: str, place: int) -> tuple[_Ranges, int]:
    """The characters of a class whose ``[`` stands before ``place``, and the place behind its ``]``.

    ``&&`` binds loosest: ``[a-z&&[^b]x]`` is what both sides have.
    """
    start = place - 1
    negated = pattern.startswith("^", place)
    place += negated
    sides: list[_Ranges] = [[]]
    begun = False
    while place < len(pattern):
        char = pattern[place]
        if char == "]" and (begun or len(sides) > 1):
            whole = sides[0]
            for side in sides[1:]:
                whole = _both(whole, side)
            return (_without(whole) if negated else _tidy(whole)), place + 1
        begun = True
        if pattern.startswith("&&", place):
            place += 2
            sides.append([])
        elif char == "[":
            inner, place = _set(pattern, place + 1)
            sides[-1] += inner
        else:
            low, place = _member(pattern, place)
            if isinstance(low, list):
                sides[-1] += low
            elif pattern.startswith("-", place) and pattern[place + 1 : place + 2] not in ("]", "[", ""):
                high, place = _member(pattern, place + 1)
                if isinstance(high, list) or high < low:
                    raise re.error("a range that ends before it begins", pattern, place)
                sides[-1].append((low, high))
            else:
                sides[-1].append((low, low))
    raise re.error("a character class without end", pattern, start)


def _member(pattern: str, place: int) -> tuple[int | _Ranges, int]:
    """One character of a class, or the characters that an escape stands for."""
    char = pattern[place]
    if char != "\\":
        return ord(char), place + 1
    following = pattern[place + 1 : place + 2]
    if following == "Q":
        end = pattern.find("\\E", place)
        text = pattern[place + 2 : len(pattern) if end < 0 else end]
        return [(ord(char), ord(char)) for char in text], len(pattern) if end < 0 else end + 2
    if following in _CONTROLS:
        return _CONTROLS[following], place + 2
    if following.lower() in _CLASSES:
        ranges, _ = _set(f"[{_CLASSES[following.lower()]}]", 1)
        return (ranges if following.islower() else _without(ranges)), place + 2
    if following in ("p", "P"):
        ranges, place = _property(pattern, place)
        return (ranges if following == "p" else _without(ranges)), place
    if number := _CODE.match(pattern, place):
        return int(number.group(1) or number.group(2) or number.group(3), 16), number.end()
    if following.isalnum() or not following:
        raise re.error(f"an escape {pattern[place : place + 2]!r} in a combined class", pattern, place)
    return ord(following), place + 2


_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4}))")


def _tidy(ranges: _Ranges) -> _Ranges:
    out: _Ranges = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def _without(ranges: _Ranges) -> _Ranges:
    out, free = [], 0
    for low, high in _tidy(ranges):
        if low > free:
            out.append((free, low - 1))
        free = high + 1
    return [*out, (free, _LAST)] if free <= _LAST else out


def _both(one: _Ranges, other: _Ranges) -> _Ranges:
    return _without(_without(one) + _without(other))


def _written(ranges: _Ranges, *, linear: bool) -> str:
    if not ranges:
        return "[^\\x{0}-\\x{10FFFF}]" if linear else "(?!)"
    form = "\\x{{{:x}}}" if linear else "\\U{:08x}"
    parts = [form.format(low) + ("-" + form.format(high) if high > low else "") for low, high in ranges]
    return f"[{''.join(parts)}]"


# -- escapes ---------------------------------------------------------------------------------------------------


def _property(pattern: str, place: int) -> tuple[_Ranges, int]:
    """The characters that ``\\p{Name}`` stands for, and the place behind it."""
    end = pattern.find("}", place)
    if pattern[place + 2 : place + 3] != "{" or end < 0:
        name, end = pattern[place + 2 : place + 3], place + 2
    else:
        name = pattern[place + 3 : end]
    ranges = _named(name)
    if ranges is None:
        raise re.error(f"the property {name!r} cannot be translated", pattern, place)
    return ranges, end + 1


@lru_cache(maxsize=64)
def _named(name: str) -> _Ranges | None:
    if body := _PROPERTIES.get(name):
        return _set(f"[{body}]", 1)[0]
    category = "L" if name in ("IsAlphabetic", "IsLetter") else None
    if category is None:
        found = _CATEGORY.fullmatch(name)
        if found is None:
            return None
        category = found.group(1)
    # Unicode's own: half a second, once
    return _tidy([(code, code) for code in range(_LAST + 1) if unicodedata.category(chr(code)).startswith(category)])


def _escaped(pattern: str, place: int, *, inside: bool, linear: bool) -> tuple[str, int]:
    following = pattern[place + 1 : place + 2]
    if following == "Q":
        end = pattern.find("\\E", place)
        stop = len(pattern) if end < 0 else end
        return re.escape(pattern[place + 2 : stop]), len(pattern) if end < 0 else end + 2
    if following in ("p", "P"):
        ranges, after = _property(pattern, place)
        written = _written(ranges if following == "p" else _without(ranges), linear=linear)
        return (written[1:-1] if inside else written), after
    if number := _CODE.match(pattern, place):
        code = int(number.group(1) or number.group(2) or number.group(3), 16)
        return (f"\\x{{{code:x}}}" if linear else f"\\U{code:08x}"), number.end()
    if following == "z":
        return ("\\z" if linear else "\\Z"), place + 2
    if following == "Z":
        return "(?=\\n?\\Z)", place + 2
    if following == "G":
        raise re.error("\\G cannot be translated", pattern, place)
    if following == "h":
        return ("" if inside else "[") + " \\t\\xa0" + ("" if inside else "]"), place + 2
    if following == "e":
        return "\\x1b", place + 2
    if following == "k" and (named := re.compile(r"\\k<(\w+)>").match(pattern, place)):
        return f"(?P={named.group(1)})", named.end()
    if following.isalpha() or following.isdigit():
        return pattern[place : place + 2], place + 2
    if linear and not following.isalnum():
        return "\\" + following if following.isascii() and following else following, place + 2
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
