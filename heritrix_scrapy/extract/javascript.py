"""Which strings in a script are addresses?

A script is not run and not parsed: every quoted string with a dot or a slash in it is looked at (Heritrix:
ExtractorJS.considerStrings). The text between two strings is looked at too, because a scan that resumes behind
each opening quote cannot tell which quotes open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import join_surrogates
from heritrix_scrapy.extract.likely import is_very_likely, speculative_fixup
from heritrix_scrapy.model.hops import SPECULATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=JS_MISC"

#: Longest string looked at, in characters: what a URI may have.
LONGEST = 2083

#: Backslashes before a quote that are held to belong to it.
MOST_BACKSLASHES = 8

SCRIPT_TYPES = ("javascript", "jscript", "ecmascript")

_QUOTE = re.compile(r"([\"'])")
# Quotes may also be written as \u0022 and \u0027, as in JSON inside a script.
_DELIMITER = rf"(\\{{0,{MOST_BACKSLASHES}}}+(?:[\"']|u002[27]))"
_TO_THE_LAST = re.compile(rf"{_DELIMITER}([^\"']{{0,{LONGEST}}})\1")
_TO_THE_NEXT = re.compile(rf"{_DELIMITER}([^\"']{{0,{LONGEST}}}?)\1")
_ESCAPE = re.compile(r"\\(?:u++\+?([0-9a-fA-F]{4})|([0-3][0-7]{2}|[0-7]{1,2})|(.)|\Z)", re.DOTALL)
_CONTROLS = {"b": "\b", "n": "\n", "t": "\t", "f": "\f", "r": "\r"}


def unescape(text: str) -> str:
    """Take the escapes out of a string literal. ``\\xHH`` is not one of them here: only its backslash goes
    (Heritrix: StringEscapeUtils.unescapeEcmaScript). A broken ``\\u`` leaves the whole text as it is."""
    try:
        return join_surrogates(_ESCAPE.sub(_escaped, text))
    except ValueError:
        return text


def _escaped(match: re.Match[str]) -> str:
    digits, octal, character = match.groups()
    if digits:
        return chr(int(digits, 16))
    if octal:
        return chr(int(octal, 8))
    if character == "u":
        raise ValueError("fewer than four digits")
    return _CONTROLS.get(character, character) if character else ""


def strings(script: str) -> Iterator[str]:
    """Bodies of strings that may be addresses, escapes still in, in order."""
    if "u0022" in script or "u0027" in script:
        yield from _strings_by_any_delimiter(script)
        return
    pieces = _QUOTE.split(script)
    # pieces: text, quote, text, quote, … text
    for i in range(2, len(pieces) - 1, 2):
        body = pieces[i]
        if ("." in body or "/" in body) and pieces[i - 1] == pieces[i + 1] and "<" not in body and ">" not in body:
            if body[-1] == "\\":
                # The opening quote owns the backslashes before it, and the closing one must have as many; where
                # it has fewer, so many of the opening one's are taken.
                before = pieces[i - 2]
                opening = len(before) - len(before.rstrip("\\"))
                closing = len(body) - len(body.rstrip("\\"))
                body = body[: len(body) - min(opening, closing, MOST_BACKSLASHES)]
            if len(body) <= LONGEST:
                yield body


def _strings_by_any_delimiter(script: str) -> Iterator[str]:
    """Strings between equal delimiters. One written as an escape runs to the last of its kind that it can reach,
    as in Heritrix; in a script that is made of them, when that has cost enough, to the next."""
    position = 0
    patience = 2 * len(script) + 50_000
    while True:
        match = (_TO_THE_LAST if patience > 0 else _TO_THE_NEXT).search(script, position)
        if match is None:
            return
        body = match[2]
        patience -= len(body)
        if ("." in body or "/" in body) and "<" not in body and ">" not in body:
            yield body
        position = match.end(1)


def candidates(script: str, own: str, *, cautious: bool) -> Iterator[str]:
    """The addresses in a script, unresolved. ``own``: URI of the document that holds it."""
    for body in strings(script):
        text = unescape(body) if "\\" in body else body
        text = speculative_fixup(text, own, cautious=cautious)
        if is_very_likely(text):
            yield text


class ExtractorJS(ContentExtractor):
    """Script files, and what a page's script element led to whatever its type. Hop X, resolved against the page
    that led here."""

    options = ContentExtractor.options | {"speculative_hosts"}

    def takes(self, document: Document) -> bool:
        content_type = document.content_type
        return (
            any(kind in content_type for kind in SCRIPT_TYPES)
            or content_type.startswith("application/json")
            or document.uri.lower().endswith(".js")
            or (document.curi.via_context or "").lower().startswith("script")
        )

    def extract(self, document: Document) -> Iterable[Outlink]:
        cautious = self.option(document, "speculative_hosts") == "cautious"
        for candidate in candidates(document.text, document.uri, cautious=cautious):
            document.link_via(candidate, SPECULATIVE, CONTEXT)
        return ()
