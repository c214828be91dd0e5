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

# What a Tag is. LINK: an ``a`` in which nothing but its href leads anywhere.
TAG, META, SCRIPT, STYLE, LINK = range(5)

#: A tag: its kind; its element's name as written; its text, at the latest from its first attribute that may lead
#: somewhere to before the closing ">", of a LINK the href; the offset of its "<"; the content of a script or style.
Tag: TypeAlias = tuple[int, str, str, int, str]


class Reader(NamedTuple):
    """Patterns of one way of reading.

    ``scan``: a comment's opening (group 1), the opening of a script or style (group 2), any other tag that may matter.
    That is, in the heritrix way, group 3, with its element in group 4; the pattern takes the text and tags before it
    that lead nowhere, too, and matches wherever it is tried, so no character is looked at twice. In the standard way
    group 3 is the href of an ``a`` with nothing else, and another tag is group 6, with its element in group 4 or 5; the
    pattern is searched for, which costs half, and what leads nowhere makes it fail within that tag. ``raw``: the
    whole opening tag of a script or style (group 1: its text).
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
#: Beginnings of the names that may matter on any element.
_BUSY = (
    "a(?:ction|rchive)|background|c(?:ite|ode|lassid)|d(?:ata(?![\\w-])|atasrc|ata-(?:src|original|lazy|full|remote|poster))|flashvars"
    "|form(?:action|method)|href|imagesrcset|lo(?:wsrc|ngdesc)|on|p(?:oster|rofile)|s(?:rc|tyle)|usemap|value"
)
#: Elements on which a name, a rel or a method matters, too.
_KEPT_WHOLE = f"{_NEVER_IDLE}|param"


@lru_cache(maxsize=16)
def reader(way: str, longest_name: int, longest_value: int, *, rel_matters: bool = False) -> Reader:
    """The patterns of ``heritrix`` or ``standard``, for element names and values up to a length. ``rel_matters``: a
    link's rel decides over it."""
    if way == "heritrix":
        # Lower case only, which is what nearly all pages have; anything else takes the general way.
        idle_tag = (
            rf"(?-i:<(?:/\w++\s*+>|(?!{_NEVER_IDLE})[a-z][a-z0-9]*+"
            rf"(?>(?:\s++(?:{_IDLE})=\"[^\">]{{0,{longest_value}}}+\")*)\s*+/?>))"
        )
        # Bounded, and then begun anew: the engine keeps some 300 bytes for each round, on a page of nothing but "<p>"
        # forty times the page.
        skip = rf"(?>(?:[^<]++|{idle_tag}){{0,{ROUNDS}}})"
        general = rf"((\w{{1,{longest_name}}}+)\s[^>]*+)>"
        return Reader(
            re.compile(rf"{skip}(?:<(?:(!--)(?!\[if|>)|(script|style)|{general}|)|\Z|)", _FLAGS),
            re.compile(r"<((?:script|style)[^>]*+)>", _FLAGS),
            re.compile(f"<{general}", _FLAGS),
            {name: re.compile(f"</{name}>", _FLAGS) for name in ("script", "style")},
            re.compile("-->"),
        )
    # Lower case and double quotes only, which is what nearly all pages have; anything else takes the general way.
    busy = f"{_BUSY}|rel" if rel_matters else _BUSY
    idle = rf"(?>(?:\s++(?:class|id|title|role|(?!{busy})[a-z][a-z0-9_-]*+)=\"[^\"<>]*+\")*)"
    never = r"(?=[a-zA-Z!])(?!(?!script\b|style\b)[a-z0-9]++(?>(?:\s++class=\"[^\"<>]*+\")?)>)"
    name = rf"[a-zA-Z][^\s/>]{{0,{longest_name - 1}}}+"
    link = rf"a{idle}\s++href=\"([^\"&]{{0,{longest_value}}}+)\"{idle}\s*+/?>"
    begun = rf"(?!(?:{_KEPT_WHOLE})[\s/>])([a-z][a-z0-9-]{{0,{longest_name - 1}}}+)(?=[\s/>]){idle}(?!\s*+/?>)"
    other = rf"(?=(?i:{_KEPT_WHOLE})[\s/>]|[a-z0-9-]*+[^a-z0-9\s/>-])({name})(?=[\s/])"
    general = rf"(({name})[\s/]{_QUOTED_REST})>"
    return Reader(
        # Without the flag for any case, with which the engine looks for "<" three times as long.
        re.compile(
            rf"<{never}(?:(!--)(?!\[if|-?>)|((?i:script|style))(?=[\s/>])|{link}|(?>{begun}|{other})({_QUOTED_REST})>)",
            re.ASCII,
        ),
        re.compile(rf"<((?:script|style)(?>(?:[\s/]{_QUOTED_REST})?))>", _FLAGS),
        re.compile(f"<{general}", _FLAGS),
        {name: re.compile(rf"</{name}(?=[\s/>])[^>]*+>", _FLAGS) for name in ("script", "style")},
        re.compile("--!?>"),
    )


def scan(text: str, patterns: Reader) -> Iterator[Tag]:
    """The tags of a page that may matter: those with attributes, scripts and styles. Comments are skipped."""
    stop = text.rfind(">") + 1
    find = patterns.scan.finditer
    in_third = LINK if patterns.scan.groups == 6 else TAG
    exhausted: set[str] = set()
    position = 0
    while position < stop:
        for match in find(text, position, stop):
            which = match.lastindex
            if which is None:
                continue
            if which >= 3:
                if which == 6:
                    element, whole = match[4] or match[5], match[6]
                    start = match.start()
                elif in_third == LINK:
                    yield LINK, "a", match[3], match.start(), ""
                    continue
                else:
                    whole, element = match.group(3, 4)
                    start = match.start(3) - 1
                yield META if len(element) == 4 and element.lower() == "meta" else TAG, element, whole, start, ""
                continue
            start = match.start(which) - 1
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
