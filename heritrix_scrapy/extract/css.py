"""Which resources does a stylesheet ask for?

Two readers. ``heritrix`` finds what one pattern of Heritrix's finds, its run-on included (Heritrix:
ExtractorCSS.processStyleCode); ``standard`` reads tokens as CSS Syntax 3 cuts them, so comments hide, strings
end where they end, and an empty ``url()`` swallows nothing. Both walk the text once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.extract import charset
from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import LINE_TERMINATORS
from heritrix_scrapy.model.hops import EMBED

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=EMBED_MISC"

#: Longest value that Heritrix's pattern takes: one character and as many as a URI may have.
LONGEST = 2084

_BLANKS = " \t\n\x0b\f\r"
# Patterns over whole sheets begin with a set of characters, which the search for their start is fast for.
_START = re.compile(r"[@uU](?i:(?<=@)import (url\()?|(?<=u)rl\()", re.ASCII)
_EOL = re.compile(f"[{LINE_TERMINATORS}]")
_END = re.compile(r"[);]")
_CLOSING = {quote: re.compile(rf"{quote}\s*+[);]", re.ASCII) for quote in "\"'"}
_BACKSLASH = re.compile(r"\\([,'\"()\s])", re.ASCII)


class _Ahead:
    """Where a pattern matches next, remembered while the scan has not passed it: each stretch of text is
    searched once, however often it is asked for."""

    __slots__ = ("_at", "_from", "_pattern", "_stop", "_text")

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern, self._text = pattern, text
        self._from = self._at = self._stop = -1

    def find(self, start: int) -> tuple[int, int]:
        """Start and end of the first match from ``start`` on; both past the text when there is none."""
        if not self._from <= start <= self._at:
            match = self._pattern.search(self._text, start)
            self._from = start
            self._at, self._stop = match.span() if match else (len(self._text) + 1, len(self._text) + 1)
        return self._at, self._stop


def heritrix(text: str) -> Iterator[str]:
    """References as Heritrix's pattern gives them, before escapes are taken out by ``clean``."""
    if "url(" not in text and "@" not in text and _START.search(text) is None:
        return
    scan = _HeritrixScan(text)
    position = 0
    while True:
        start = _START.search(text, position)
        if start is None:
            return
        found = scan.value(start.end())
        if found is None and start[1]:
            # "@import " and then no url(…) that ends well: the value begins right behind the blank
            found = scan.value(start.start(1))
        if found is None and start.group()[:1] == "@":
            position = start.start() + 1
            continue
        if found is None:
            position = start.end()
            continue
        value, position = found
        yield clean(value)


class _HeritrixScan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.eol = _Ahead(_EOL, text)
        self.end = _Ahead(_END, text)
        self.closing = {quote: _Ahead(pattern, text) for quote, pattern in _CLOSING.items()}

    def value(self, start: int) -> tuple[str, int] | None:
        """The value that begins at or after ``start``, and where the match ends."""
        text = self.text
        size = len(text)
        begin = start
        while begin < size and text[begin] in _BLANKS:
            begin += 1
        if begin >= size:
            return None
        quote = text[begin]
        if quote in "\"'":
            first = begin + 1
            if first < size and text[first] not in "\"'":
                at, stop = self.closing[quote].find(first + 1)
                if stop <= size and self._fits(first, at):
                    return text[first:at], stop
        else:
            found = self._unquoted(begin)
            if found is not None:
                return found
        # one blank may also be the value's first character
        return self._unquoted(begin - 1) if begin > start else None

    def _unquoted(self, first: int) -> tuple[str, int] | None:
        text = self.text
        at, stop = self.end.find(first + 1)
        if at >= len(text):
            return None
        while at > first + 1 and text[at - 1] in _BLANKS:
            at -= 1
        return (text[first:at], stop) if self._fits(first, at) else None

    def _fits(self, first: int, at: int) -> bool:
        return at - first <= LONGEST and self.eol.find(first + 1)[0] >= at


def clean(value: str) -> str:
    """Heritrix's clean-up: ``&amp`` without looking for its semicolon, and a few backslashes."""
    if "&amp" in value:
        value = value.replace("&amp", "&")
    return _BACKSLASH.sub(r"\1", value) if "\\" in value else value


# What follows the first character of a string, a url(…) and so on.
_DOUBLE_REST = r"((?>(?:[^\"\\\n\r\f]++|\\(?s:.))*))(?:\"|(?=[\n\r\f])|\Z)"
_SINGLE_REST = r"((?>(?:[^'\\\n\r\f]++|\\(?s:.))*))(?:'|(?=[\n\r\f])|\Z)"
_STRING = rf"(?:\"{_DOUBLE_REST}|'{_SINGLE_REST})"
_BARE = r"((?:[^\s\"'()\\]++|\\[^\n])(?>(?:[^\"'()\\\n]++|\\[^\n])*))"
_URL_REST = rf"rl\(\s*+(?>(?:{_STRING}|{_BARE})?)\s*+\)?"
_TOKEN = re.compile(
    rf"[/@uUiI\"'](?i:(?<=/)\*|(?<=u){_URL_REST}|(?<=@)import\s*+{_STRING}|(?<=i)(mage-set\()"
    rf"|(?<=\"){_DOUBLE_REST}|(?<='){_SINGLE_REST})",
    re.ASCII,
)
_IN_IMAGE_SET = re.compile(rf"\s++|u{_URL_REST}|{_STRING}|(,)|(\()|(\))|[^\s,()\"'u]++|u", re.ASCII | re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\r\f])?|(\r\n|[\n\r\f])|(.)|\Z)", re.DOTALL)


def standard(text: str) -> Generator[str, None, None]:
    """References as a reader of CSS finds them: ``url()``, ``@import``, strings in ``image-set()``."""
    position = 0
    while True:
        match = _TOKEN.search(text, position)
        if match is None:
            return
        position = match.end()
        if match.group() == "/*":
            position = text.find("*/", position) + 2
            if position < 2:
                return
            continue
        if match.lastindex is None:
            continue
        if match.lastindex < 6:
            value = match[match.lastindex].strip(_BLANKS)
            if value:
                yield _unescape(value)
        elif match.lastindex == 6:
            position = yield from _image_set(text, position)


def _image_set(text: str, position: int) -> Generator[str, None, int]:
    """The images of an ``image-set()``: each ``url()``, and a string that stands first in its option. Returns where
    it ends."""
    first, depth = True, 1
    while depth:
        match = _IN_IMAGE_SET.match(text, position)
        if match is None:
            break
        position = match.end()
        which = match.lastindex or 0
        if which in (1, 2, 3) or (which in (4, 5) and first and depth == 1):
            yield _unescape(match[which].strip(_BLANKS))
        if which == 6:
            first = depth == 1
        elif which == 7:
            depth += 1
        elif which == 8:
            depth -= 1
        if which != 6 and not match.group().isspace():
            first = False
    return position


def _escaped(match: re.Match[str]) -> str:
    digits, newline, character = match.groups()
    if digits:
        code = int(digits, 16)
        return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    return "" if newline else character or ""


def _unescape(value: str) -> str:
    return _ESCAPE.sub(_escaped, value) if "\\" in value else value


def references(text: str, *, as_heritrix: bool) -> Iterator[str]:
    """What a stylesheet, a style element or a style attribute refers to, unresolved, in order."""
    if "(" not in text and "@" not in text:
        return iter(())
    return heritrix(text) if as_heritrix else standard(text)


class ExtractorCSS(ContentExtractor):
    """Stylesheets: content type with ``css`` in it, or a URI that ends in ``.css``. Hop E."""

    options = ContentExtractor.options | {"css_reader", "html_reader"}

    def takes(self, document: Document) -> bool:
        return "css" in document.content_type.lower() or document.uri.lower().endswith(".css")

    def extract(self, document: Document) -> Iterable[Outlink]:
        if self.option(document, "html_reader") != "heritrix":
            charset.settle_sheet(document)
        found = references(document.text, as_heritrix=self.option(document, "css_reader") == "heritrix")
        for reference in document.in_time(found):
            document.link(reference, EMBED, CONTEXT)
        return ()
