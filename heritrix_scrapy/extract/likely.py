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


#: First segments of what is a media type, and of what is a time zone.
_MEDIA_KINDS = "application|audio|chemical|font|haptics|image|message|model|multipart|text|video"
_ZONES = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Etc|Europe|Indian|Mexico|Pacific|US"
#: Extensions by which a name without a slash is a file of a site.
_FILES = (
    "html?|xhtml|shtml|php[3-7]?|aspx?|jspx?|cfm|cgi|do|pl|css|m?js|json|xml|rss|atom|txt|csv|pdf|docx?|xlsx?|pptx?|odt|rtf"
    "|epub|zip|gz|tgz|jpe?g|png|gif|svg|webp|avif|bmp|ico|tiff?|mp[34]|m4[av]|webm|og[gv]|wav|flv|swf|mov|avi|m3u8|mpd|ts"
    "|woff2?|ttf|otf|eot|wasm|map|vtt|srt|kml|geojson"
)
#: Names that end like a script and are those of a library or an event.
_NAMED_JS = "angular|backbone|d3|ember|gtm|jquery|moment|next|node|nuxt|react|require|socket.io|three|underscore|vue"
_SOMETHING_ELSE = re.compile(
    # Words with slashes and no dot: units, alternatives, locales, modules ("n/a", "core-js/es").
    r"[\s\w-]++(?>(?:/[\s\w-]++)*)\Z"
    # A file of a module as require() names it: "./Button", "../lib/x".
    r"|\.{1,2}/(?>(?:[\s\w-]++/|\.\./)*)[\s\w-]++\Z"
    rf"|(?:{_MEDIA_KINDS})/[\w.+-]++\Z"
    rf"|(?:{_ZONES})/\w"
    # Dates and the forms of dates.
    r"|[\ddmy]{1,4}([./-])[\ddm]{1,4}\1[\ddy]{1,4}\Z"
    # Properties of objects and names of events: "window.location", "gtm.start", "e.target.value".
    rf"|\w++\.(?!(?:{_FILES})\Z)[\w-]++(?>(?:\.[\w-]++)*)\Z"
    rf"|(?:{_NAMED_JS})\.js\Z",
    _A | re.IGNORECASE,
)


def is_something_else(text: str) -> bool:
    """Whether a string of a script that passes for an address is shaped like what nearly never is one: a module's
    name, a media type, a locale, a time zone, a date, an object's property."""
    return _SOMETHING_ELSE.match(text) is not None


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


_SCRIPT_START = re.compile(r"\w|\.{0,2}/", _A)
_PAGE_PATH = re.compile(r"\.{0,2}[^.\s\"']*+(?>(?:\.[^.\s\"']++)+)\Z", _A)
_NEVER_INSIDE = re.compile(r"[\s<>]", _A)


def is_likely_in_script_of_old(text: str) -> bool:
    """The test of the first Heritrix for strings in scripts: no blanks or angle brackets, a dot or a slash inside,
    a word character or a slash at both ends. Kept for comparison."""
    start = _SCRIPT_START.match(text)
    if start is None or _NEVER_INSIDE.search(text) or not (text[-1] == "/" or _WORD_END.search(text)):
        return False
    inside = text[start.end() : -1]
    return "." in inside or "/" in inside


def is_likely_in_page_of_old(text: str) -> bool:
    """The test of the first Heritrix for values in pages: words with dots between them. Kept for comparison."""
    return _PAGE_PATH.match(text) is not None


_WORD_END = re.compile(r"\w\Z", _A)
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
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


def _decoded(text: str) -> str:
    """Decoded as a form's value is, or left alone when an escape in it is none (Heritrix: LaxURLCodec.decode)."""
    if _BAD_ESCAPE.search(text):
        return text
    return unquote(text.replace("+", " ").encode("ascii", "replace").decode(), errors="replace")


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
        text = unquote(text, errors="replace") if cautious else _decoded(text)
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
