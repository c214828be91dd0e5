"""Does this text look like a URI that somebody meant?

Attribute values, scripts and meta tags hold strings that may be addresses. The tests are whole-text matches with
ASCII classes (Heritrix: UriUtils); each is a pure function of its text. Every pattern is written so that it
cannot backtrack over its text more than once.
"""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import unquote

from heritrix_scrapy.extract.javatext import NOT_EOL
from heritrix_scrapy.extract.tables import GOOD_EXTENSIONS, HTML_ELEMENTS, MEDIA_TYPES, TLDS_2010
from heritrix_scrapy.model.crawluri import host_of

_A = re.ASCII

_DATA = re.compile(rf"\s*+data:{NOT_EOL}*\Z", _A | re.IGNORECASE)


def is_data(text: str) -> bool:
    """Whether this is a ``data:`` URI; one with a line terminator slips through (Heritrix: UriUtils.isDataUri)."""
    return _DATA.match(text) is not None


def is_possible(text: str) -> bool:
    """A dot or a slash, and no angle brackets (Heritrix: UriUtils.isPossibleUri)."""
    return ("." in text or "/" in text) and "<" not in text and ">" not in text


# Authority: no blanks, angle brackets or slashes, and a dot that is neither its first nor its last character.
_AUTHORITY = r"(?=[^\s<>/]+?\.[^\s<>/])[^\s<>/]++(?:/[^\s<>]*+)?"
_ABSOLUTE = re.compile(rf"(?:https?:)?//{_AUTHORITY}\Z", _A | re.IGNORECASE)

_RELATIVE = re.compile(
    r"(?:\./|/)?"
    r"(?>(?:(?:[\s\w-]++|\.\.)/)*)"
    r"(?:[\s\w-]++(?:(?P<ext>\.[a-zA-Z0-9]{2,5})|\.(?P<mid>[\w-]++)(?P<last>\.[a-zA-Z0-9]{2,5})?)?(?=[?#]|\Z))?"
    r"(?:\?[A-Za-z_]++=(?>(?:[\w/.-]|%[0-9a-fA-F]{2})*)(?>(?:&[A-Za-z_]++=(?>(?:[\w/.-]|%[0-9a-fA-F]{2})*))*))?"
    r"(?:\#[\w-]++)?\Z",
    _A,
)
_BLANK_INSIDE = re.compile(rf"(?={NOT_EOL}*+\Z)\S*+\s", _A)
_TEXT_TYPE = re.compile(r"(?:text|application)/[^/]++\Z", _A)
_NUMBERS = re.compile(r"\d++(?>(?:\.\d++)*)\Z", _A)
_SELECTOR = re.compile(r"(\w++)\.\w++\Z", _A)


def is_very_likely(text: str) -> bool:
    """The test that decides over strings in scripts, ``value``, ``flashvars`` and meta content
    (Heritrix: UriUtils.isVeryLikelyUri)."""
    if not is_possible(text):
        return False
    if _ABSOLUTE.match(text):
        return True
    match = _RELATIVE.match(text)
    if match is None:
        return False
    extension = match["ext"] or match["last"]
    if extension not in GOOD_EXTENSIONS:
        if match["mid"] is not None and match["last"] is not None:
            return False
        if _BLANK_INSIDE.match(text):
            return False
    if _TEXT_TYPE.match(text) or text in MEDIA_TYPES or _NUMBERS.match(text):
        return False
    selector = _SELECTOR.match(text)
    return selector is None or selector[1].lower() not in HTML_ELEMENTS


_NEVER_IN_LIKELY = re.compile(r"[$()'\"\[\]{}|]")
_TWO_SLASHES = re.compile(r"(?<=[^:])//")
_NUMBER = re.compile(r"[+-]?\d++(?:\.\d++)?\Z", _A)


def is_likely(text: str) -> bool:
    """The older, laxer test; no extractor uses it any more (Heritrix: UriUtils.isLikelyUri)."""
    if not is_possible(text) or _TEXT_TYPE.match(text) or text in MEDIA_TYPES or _NUMBER.match(text):
        return False
    if _NEVER_IN_LIKELY.search(text) or text[0] in ",;+:" or text[-1] in ".,;+:":
        return False
    if text[0] == "." and not text.startswith(("./", "../")):
        return False
    return _TWO_SLASHES.search(text) is None


_ENCODED_SCHEME = re.compile(rf"https?%3A{NOT_EOL}*\Z", re.IGNORECASE)
_DOTTED = re.compile(rf"[^./]++\.(?>(?:[^./]++\.)*)([^./]++)(?:/{NOT_EOL}*+)?\Z")
_HOST_SHAPE = re.compile(r"(?:www\.|[^./]+\.[^./]+\.)[\w.-]+(?:/|\Z)", _A | re.IGNORECASE)


def is_tld(text: str) -> bool:
    """Whether this is one of the top-level domains of 2010, in any case (Heritrix: ArchiveUtils.isTld)."""
    return text.lower() in TLDS_2010


@cache
def current_tlds() -> frozenset[str]:
    """Top-level domains of the suffix list that tldextract brings, with those of 2010; nothing is fetched."""
    import tldextract

    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    return TLDS_2010 | {name for name in extract.tlds if "." not in name}


def speculative_fixup(text: str, own: str, *, cautious: bool = False) -> str:
    """A guessed string with what its author left out: ``&amp;`` undone, ``http%3A`` decoded, and a scheme before
    what looks like a host (Heritrix: UriUtils.speculativeFixup).

    ``own``: the document's URI, whose scheme is taken for its own host. ``cautious``: a host has at least two
    dots or begins with ``www.``, so that ``readme.md`` stays a file; then the list of top-level domains is the
    current one.
    """
    if "&amp;" in text:
        text = text.replace("&amp;", "&")
    if "%" in text[4:6] and _ENCODED_SCHEME.match(text):
        text = unquote(text, errors="replace")
    if "." not in text or text[0] in "./" or text.startswith(("http://", "https://")):
        return text
    match = _DOTTED.match(text)
    if match is None:
        return text
    if cautious:
        if _HOST_SHAPE.match(text) is None or match[1].lower() not in current_tlds():
            return text
    elif not is_tld(match[1]):
        return text
    host = host_of(own)
    if host and text.startswith(host):
        return f"{own.partition(':')[0]}://{text}"
    return "http://" + text
