"""Which attributes of a tag lead somewhere, and how?

One table for every element (Heritrix: ExtractorHTML.processGeneralTag), and the grammar by which attributes are
found in a tag's text. The grammar is not anchored: the tail of ``xlink:href`` or ``@action`` is a name of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from heritrix_scrapy.extract.javatext import LINE_TERMINATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# What an attribute is for.
(HREF, CITE, ACTION, SCRIPT, EMBED, CODEBASE, RESOURCE, ARCHIVE, CODE, VALUE, STYLE, METHOD, NAME, REL, FLASHVARS,
 REMOTE, IMAGES, PART, SUBMIT, SUBMIT_METHOD, PAGE) = range(21)  # fmt: skip

#: Attribute → what it is for, whatever the element. Names that begin with ``on`` are SCRIPT.
ATTRIBUTES: dict[str, int] = {
    "href": HREF,
    "cite": CITE,
    "action": ACTION,
    "src": EMBED,
    "srcset": EMBED,
    "lowsrc": EMBED,
    "background": EMBED,
    "longdesc": EMBED,
    "usemap": EMBED,
    "profile": EMBED,
    "datasrc": EMBED,
    "data-src": EMBED,
    "data-srcset": EMBED,
    "data-original": EMBED,
    "data-original-set": EMBED,
    "data-src-small": EMBED,
    "data-src-medium": EMBED,
    "data-lazy": EMBED,
    "data-lazy-srcset": EMBED,
    "data-full-src": EMBED,
    "codebase": CODEBASE,
    "classid": RESOURCE,
    "data": RESOURCE,
    "archive": ARCHIVE,
    "code": CODE,
    "value": VALUE,
    "style": STYLE,
    "method": METHOD,
    "name": NAME,
    "rel": REL,
    "flashvars": FLASHVARS,
    "data-remote": REMOTE,
    "imagesrcset": IMAGES,
    # These lead nowhere in Heritrix.
    "poster": PART,
    "data-poster": PART,
    "data-lazy-src": PART,
    "formaction": SUBMIT,
    "formmethod": SUBMIT_METHOD,
    "srcdoc": PAGE,
}

#: Contexts whose value is a list of image candidates.
SRCSETS = frozenset(
    {
        "img/@srcset",
        "img/@data-src",
        "img/@data-srcset",
        "img/@data-lazy-srcset",
        "img/@data-src-small",
        "img/@data-src-medium",
        "img/@data-original-set",
        "source/@srcset",
        "source/@data-srcset",
        "source/@data-lazy-srcset",
        "source/@data-original-set",
        "link/@imagesrcset",
    }
)

#: Keywords of a link's rel that make it part of the page.
REL_EMBEDS = frozenset({"icon", "stylesheet", "modulepreload", "prefetch", "prerender"})
#: Further ones, which Heritrix takes for links to pages.
REL_PARTS = frozenset(
    {
        "apple-touch-icon",
        "apple-touch-icon-precomposed",
        "apple-touch-startup-image",
        "manifest",
        "mask-icon",
        "preload",
    }
)
#: Elements of SVG whose ``href`` is a part of the picture; Heritrix takes it for a link.
PICTURES = frozenset({"image", "use", "feimage"})
#: Keywords that neither make nor break a link.
REL_IGNORED = frozenset({"", "dns-prefetch", "preconnect"})
#: The keyword that ends a link without a trace.
REL_NEVER = "pingback"

_CANDIDATE = re.compile(r"[\s,]*+(\S*[^,\s])(?>(?:\s(?>(?:[^,(]++|\([^)]*+(?:\)|\Z))*))?)", re.ASCII)


def srcset(value: str) -> Iterator[str]:
    """The URLs of a list of image candidates (WHATWG HTML, "parse a srcset attribute")."""
    position = 0
    while True:
        match = _CANDIDATE.match(value, position)
        if match is None:
            return
        yield match[1]
        position = match.end()


class Grammar(NamedTuple):
    """``plain``: the pattern for tags in which no length can be exceeded: name, value in double quotes, in single
    ones, without; ``exact``: the function for all others."""

    plain: re.Pattern[str]
    exact: Callable[[str], Iterator[tuple[str, str]]]
    longest: int


@lru_cache(maxsize=16)
def grammar(way: str, longest_name: int, longest_value: int) -> Grammar:
    """How attributes are cut: by ``heritrix``'s pattern, or the ``standard`` way, in which a value that is too long
    is skipped whole."""
    name = rf"([-\w]{{1,{longest_name}}}+|on\w{{{max(longest_name - 1, 0)},{longest_name}}}+)"
    plain = re.compile(
        rf"{name}\s*+=\s*+(?:\"([^\"]*+)(?:\"|\Z)|'([^']*+)(?:'|\Z)|(\S++))",
        re.ASCII,
    )
    if way == "heritrix":
        end = rf"(?:\"|(?:\r\n|[{LINE_TERMINATORS}])?\Z)"
        few = f"{{0,{longest_value}}}?"
        cut = re.compile(
            rf"{name}\s*+=\s*+(?:\"([^\"]{few}){end}"
            rf"|'([^']{few}){end.replace(chr(92) + chr(34), chr(39))}|(\S{{1,{longest_value}}}+))",
            re.ASCII,
        )
        return Grammar(plain, lambda tag: _cut(tag, cut, longest_value), longest_value)
    return Grammar(plain, lambda tag: _skip_long(tag, plain, longest_value), longest_value)


_BLANK = re.compile(r"\s", re.ASCII)


def _cut(tag: str, pattern: re.Pattern[str], longest: int) -> Iterator[tuple[str, str]]:
    """Name and value as Heritrix's pattern cuts them: a bare value of exactly the longest length that goes on is
    not taken, and the scan resumes behind it."""
    position = 0
    while True:
        match = pattern.search(tag, position)
        if match is None:
            return
        position = match.end()
        bare = match[4]
        if bare is not None and len(bare) == longest and position < len(tag):
            following = tag[position]
            if following not in "\"'" and not _BLANK.match(following):
                if bare[0] in "\"'":
                    closing = tag.find(bare[0], position)
                    position = closing + 1 if closing >= 0 else len(tag)
                else:
                    blank = _BLANK.search(tag, position)
                    position = blank.end() if blank else len(tag)
                continue
        yield match[1], match[2] or match[3] or bare or ""


def _skip_long(tag: str, pattern: re.Pattern[str], longest: int) -> Iterator[tuple[str, str]]:
    for name, double, single, bare in pattern.findall(tag):
        value = double or single or bare
        if len(value) <= longest:
            yield name, value


def attributes(tag: str, how: Grammar) -> Iterable[tuple[str, str]]:
    """Names in lower case and raw values of all attributes in a tag's text; ``unescape`` is left to the caller,
    because most values are of no interest."""
    if len(tag) > how.longest or tag[-1] in LINE_TERMINATORS:
        return [(name.lower(), value) for name, value in how.exact(tag)]
    return [(name.lower(), double or single or bare) for name, double, single, bare in how.plain.findall(tag)]
