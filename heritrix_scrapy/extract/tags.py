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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a Tag is.
TAG, META, SCRIPT, STYLE = range(4)

#: A tag: its kind; its element's name as written; its text, from the name to before the closing ">"; the offset
#: of its "<"; the content of a script or style.
Tag: TypeAlias = tuple[int, str, str, int, str]


class Reader(NamedTuple):
    """Patterns of one way of reading.

    ``scan``: text and tags that lead nowhere, then a comment's opening (group 1), the opening of a script or style
    (group 2), any other tag (group 3, with its element in group 4), some other ``<``, the end, or nothing after very
    many of the former. It matches wherever it is tried, so no character is looked at twice. ``raw``: the whole
    opening tag of a script or style (group 1: its text).
    """

    scan: re.Pattern[str]
    raw: re.Pattern[str]
    general: re.Pattern[str]
    ends: dict[str, re.Pattern[str]]
    comment_end: re.Pattern[str]


#: Pieces of text and tags without interest that one match takes.
ROUNDS = 5000

_FLAGS = re.ASCII | re.IGNORECASE
#: The rest of a tag in which a quoted value after "=" may hold anything but its quote.
_QUOTED_REST = r"(?>(?:[^>=]++|=\s*+(?>(?:\"[^\"]*+\"|'[^']*+')?))*)"
#: Attributes that never lead anywhere and are on most tags; in double quotes as they nearly always are.
_IDLE = "class|id|title|alt|width|height|lang|dir|target|type|role|align|valign|border|colspan|rowspan|tabindex"
#: Elements that matter even without attributes that lead somewhere.
_NEVER_IDLE = "form|script|style|meta|link|base"


@lru_cache(maxsize=16)
def reader(way: str, longest_name: int, longest_value: int) -> Reader:
    """The patterns of ``heritrix`` or ``standard``, for element names and values up to a length."""
    # Lower case only, which is what nearly all pages have; anything else takes the general way.
    idle_tag = (
        rf"(?-i:<(?:/\w++\s*+>|(?!{_NEVER_IDLE})[a-z][a-z0-9]*+"
        rf"(?>(?:\s++(?:{_IDLE})=\"[^\">]{{0,{longest_value}}}+\")*)\s*+/?>))"
    )
    # Bounded, and then begun anew: the engine keeps some 300 bytes for each round, on a page of nothing but "<p>"
    # forty times the page.
    skip = rf"(?>(?:[^<]++|{idle_tag}){{0,{ROUNDS}}})"
    if way == "heritrix":
        general = rf"((\w{{1,{longest_name}}}+)\s[^>]*+)>"
        return Reader(
            re.compile(rf"{skip}(?:<(?:(!--)(?!\[if|>)|(script|style)|{general}|)|\Z|)", _FLAGS),
            re.compile(r"<((?:script|style)[^>]*+)>", _FLAGS),
            re.compile(f"<{general}", _FLAGS),
            {name: re.compile(f"</{name}>", _FLAGS) for name in ("script", "style")},
            re.compile("-->"),
        )
    general = rf"(([a-z][^\s/>]{{0,{longest_name - 1}}}+)[\s/]{_QUOTED_REST})>"
    return Reader(
        re.compile(rf"{skip}(?:<(?:(!--)(?!\[if|-?>)|(script|style)(?=[\s/>])|{general}|)|\Z|)", _FLAGS),
        re.compile(rf"<((?:script|style)(?>(?:[\s/]{_QUOTED_REST})?))>", _FLAGS),
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
            if which is None:
                continue
            start = match.start(which) - 1
            if which == 3:
                whole, element = match.group(3, 4)
                yield META if len(element) == 4 and element.lower() == "meta" else TAG, element, whole, start, ""
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
            name = match[2].lower()
            if name not in exhausted:
                opening = patterns.raw.match(text, start, stop)
                if opening is not None:
                    end = patterns.ends[name].search(text, opening.end(), stop)
                    if end is not None:
                        body = text[opening.end() : end.start()]
                        yield SCRIPT if name == "script" else STYLE, match[2], opening[1], start, body
                        position = end.end()
                        break
                    exhausted.add(name)
            # Not closed: its attributes count, and what follows is read as page.
            general = patterns.general.match(text, start, stop)
            if general is not None:
                yield TAG, general[2], general[1], start, ""
                position = general.end()
                break
        else:
            return
