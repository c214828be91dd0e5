"""Where are the tags, scripts and comments of a page?

One scan from left to right, in the shape of Heritrix's pattern (Heritrix: ExtractorHTML.extract). ``heritrix``
keeps its consequences: the first ``>`` ends a tag wherever it stands, names with a dash are no elements,
``</script >`` ends no script. ``standard`` cuts tags as HTML does: quoted values may hold ``>``.

Linear on any input: nothing is looked for beyond the last ``>``, and what was not found once (an end tag, the
end of a comment) is not looked for again.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a Tag is.
TAG, META, SCRIPT, STYLE = range(4)


class Tag(NamedTuple):
    """``kind``: TAG, META, SCRIPT or STYLE; ``element``: the name as written; ``text``: from the name to before
    the closing ``>``; ``start``: offset of the ``<``; ``body``: a script's or style's content."""

    kind: int
    element: str
    text: str
    start: int
    body: str


class Reader(NamedTuple):
    """Patterns of one way of reading.

    ``scan``: a comment's opening (group 1), the opening of a script or style (group 2), any other tag (group 3,
    with its element in group 4), the first that fits at each ``<``. ``raw``: the whole opening tag of a script
    or style: its text (group 1).
    """

    scan: re.Pattern[str]
    raw: re.Pattern[str]
    general: re.Pattern[str]
    ends: dict[str, re.Pattern[str]]
    comment_end: re.Pattern[str]


_FLAGS = re.ASCII | re.IGNORECASE
#: The rest of a tag in which a quoted value after "=" may hold anything but its quote.
_QUOTED_REST = r"(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+"


@lru_cache(maxsize=16)
def reader(way: str, longest_name: int) -> Reader:
    """The patterns of ``heritrix`` or ``standard``, for element names up to a length."""
    if way == "heritrix":
        general = rf"((\w{{1,{longest_name}}}+)\s[^>]*+)>"
        return Reader(
            re.compile(rf"<(?:(!--)(?!\[if|>)|(script|style)|{general})", _FLAGS),
            re.compile(r"<((?:script|style)[^>]*+)>", _FLAGS),
            re.compile(f"<{general}", _FLAGS),
            {name: re.compile(f"</{name}>", _FLAGS) for name in ("script", "style")},
            re.compile("-->"),
        )
    general = rf"(([a-z][^\s/>]{{0,{longest_name - 1}}}+)[\s/]{_QUOTED_REST})>"
    return Reader(
        re.compile(rf"<(?:(!--)(?!\[if|-?>)|(script|style)(?=[\s/>])|{general})", _FLAGS),
        re.compile(rf"<((?:script|style)(?:[\s/]{_QUOTED_REST})?+)>", _FLAGS),
        re.compile(f"<{general}", _FLAGS),
        {name: re.compile(rf"</{name}(?=[\s/>])[^>]*+>", _FLAGS) for name in ("script", "style")},
        re.compile("--!?>"),
    )


def scan(text: str, patterns: Reader) -> Iterator[Tag]:
    """The tags of a page that may matter: those with attributes, scripts and styles. Comments are skipped."""
    stop = text.rfind(">") + 1
    find = patterns.scan.finditer
    exhausted: set[str] = set()
    position = 0
    while position < stop:
        for match in find(text, position, stop):
            which = match.lastindex
            if which == 4 or which == 3:
                whole, element = match.group(3, 4)
                kind = META if len(element) == 4 and element.lower() == "meta" else TAG
                yield Tag(kind, element, whole, match.start(), "")
                continue
            if which == 1:
                if "!--" in exhausted:
                    continue
                end = patterns.comment_end.search(text, match.end(), stop)
                if end is None:
                    exhausted.add("!--")
                    continue
                position = end.end()
                break
            start = match.start()
            name = match[2].lower()
            if name not in exhausted:
                opening = patterns.raw.match(text, start, stop)
                if opening is not None:
                    end = patterns.ends[name].search(text, opening.end(), stop)
                    if end is not None:
                        kind = SCRIPT if name == "script" else STYLE
                        body = text[opening.end() : end.start()]
                        yield Tag(kind, match[2], opening[1], start, body)
                        position = end.end()
                        break
                    exhausted.add(name)
            # Not closed: its attributes count, and what follows is read as page.
            general = patterns.general.match(text, start, stop)
            if general is not None:
                yield Tag(TAG, general[2], general[1], start, "")
                position = general.end()
                break
        else:
            return
