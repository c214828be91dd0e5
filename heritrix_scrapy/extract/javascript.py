"""Which strings in a script are addresses?

A script is not run and not parsed: every quoted string with a dot or a slash in it is looked at (Heritrix:
ExtractorJS.considerStrings). The text between two strings is looked at too, because a scan that resumes behind
each opening quote cannot tell which quotes open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import join_surrogates
from heritrix_scrapy.extract.likely import is_something_else, is_very_likely, speculative_fixup
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hops import INFERRED, SPECULATIVE
from heritrix_scrapy.uri.java_regex import java_compile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=JS_MISC"
INFERRED_CONTEXT = "=INFERRED_MISC"

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


def candidates(script: str, own: str, *, cautious: bool, shapes: bool = False) -> Iterator[str]:
    """The addresses in a script, unresolved. ``own``: URI of the document that holds it; ``cautious``: with guesses
    at hosts; ``shapes``: leave out what is shaped like something else."""
    for body in strings(script):
        text = unescape(body) if "\\" in body else body
        fixed = speculative_fixup(text, own, cautious=cautious)
        if is_very_likely(fixed) and not (shapes and is_something_else(fixed)):
            yield fixed


class ExtractorJS(ContentExtractor):
    """Script files, and what a page's script element led to whatever its type. Hop X, resolved against the page
    that led here. ExtractorHTML has the scripts in its pages read by the one in the list."""

    options = ContentExtractor.options | {"speculative_hosts", "speculative_paths"}

    def takes(self, document: Document) -> bool:
        content_type = document.content_type
        return (
            any(kind in content_type for kind in SCRIPT_TYPES)
            or content_type.startswith("application/json")
            or document.uri.lower().endswith(".js")
            or (document.curi.via_context or "").lower().startswith("script")
        )

    def extract(self, document: Document) -> Iterable[Outlink]:
        for candidate in document.in_time(self.candidates(document, document.text)):
            document.link_via(candidate, SPECULATIVE, CONTEXT)
        return ()

    def inline(self, document: Document, script: str, attributes: str = "") -> None:
        """A script in a page; ``attributes``: text of its tag, where it is a whole element."""
        for candidate in document.in_time(self.candidates(document, script)):
            document.link(candidate, SPECULATIVE, CONTEXT)

    def candidates(self, document: Document, script: str) -> Iterator[str]:
        """The addresses in a script of this document."""
        return candidates(
            script,
            document.uri,
            cautious=self.option(document, "speculative_hosts") == "cautious",
            shapes=self.option(document, "speculative_paths") == "cautious",
        )


class ConfigurableExtractorJS(ExtractorJS):
    """As ExtractorJS, with the operator's say over the candidates.

    ``strict``: only with a scheme; ``force_strict_if_url_matching_regex_list``: documents that are read so;
    ``maximum_candidate_length``: of characters, below 1 any; ``reject_relative_ignore_list``,
    ``reject_relative_matching_regex_list``: what is dropped when it has no scheme, as texts or expressions;
    ``reject_script_attribute_regex_list``: scripts that are not read, by the text of their tag. Expressions match
    as a whole, in any case.
    """

    own = {
        "strict": False,
        "force_strict_if_url_matching_regex_list": (),
        "maximum_candidate_length": -1,
        "reject_relative_ignore_list": (),
        "reject_relative_matching_regex_list": (),
        "reject_script_attribute_regex_list": (),
    }

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        self._strict = bool(self.property("strict"))
        self._longest = int(self.property("maximum_candidate_length"))
        self._ignored = frozenset(self.property("reject_relative_ignore_list"))
        self._strict_documents = self._patterns("force_strict_if_url_matching_regex_list")
        self._rejected = self._patterns("reject_relative_matching_regex_list")
        self._attributes = self._patterns("reject_script_attribute_regex_list")

    def _patterns(self, name: str) -> list[re.Pattern[str]]:
        listed = self.property(name)
        try:
            return [java_compile(f"(?i){text}") for text in ([listed] if isinstance(listed, str) else listed)]
        except re.error as error:
            raise ConfigurationError("HERITRIX_EXTRACTORS", [self.name, {name: listed}], str(error)) from None

    def inline(self, document: Document, script: str, attributes: str = "") -> None:
        if attributes and any(pattern.fullmatch(attributes) for pattern in self._attributes):
            return
        super().inline(document, script, attributes)

    def candidates(self, document: Document, script: str) -> Iterator[str]:
        strict = self._strict or any(pattern.fullmatch(document.uri) for pattern in self._strict_documents)
        for candidate in super().candidates(document, script):
            if 0 < self._longest < len(candidate):
                continue
            if not candidate.startswith(("http://", "https://")) and (
                strict or candidate in self._ignored or any(pattern.fullmatch(candidate) for pattern in self._rejected)
            ):
                continue
            yield candidate


_DRUPAL_BASE = re.compile(
    r"jQuery\.extend\(Drupal\.settings,[^'\"]*+['\"]basePath['\"]:[^'\"]*+['\"]([^'\"]++)['\"]", re.ASCII
)
_YOUTUBE = re.compile(
    r"new\s++YT\.Player\(\s*+['\"][^'\"]*+['\"],\s++\{[\s\w:'\",]*?videoId:\s++['\"]([\w-]++)['\"],", re.ASCII
)


class KnowledgableExtractorJS(ConfigurableExtractorJS):
    """As ConfigurableExtractorJS, and it knows where Drupal's settings say their paths begin, and what YouTube's
    player plays (hop I)."""

    def inline(self, document: Document, script: str, attributes: str = "") -> None:
        base = self._base(document, script)
        if base is None:
            super().inline(document, script, attributes)
        elif not (attributes and any(pattern.fullmatch(attributes) for pattern in self._attributes)):
            for candidate in document.in_time(self.candidates(document, script)):
                document.link_from(base, candidate, SPECULATIVE, CONTEXT)
        self._video(document, script)

    def extract(self, document: Document) -> Iterable[Outlink]:
        script = document.text
        base = self._base(document, script)
        if base is None:
            super().extract(document)
        else:
            for candidate in document.in_time(self.candidates(document, script)):
                document.link_from(base, candidate, SPECULATIVE, CONTEXT)
        self._video(document, script)
        return ()

    @staticmethod
    def _base(document: Document, script: str) -> str | None:
        match = _DRUPAL_BASE.search(script) if "Drupal.settings" in script else None
        return document.resolve(unescape(match[1]), document.uri) if match else None

    @staticmethod
    def _video(document: Document, script: str) -> None:
        match = _YOUTUBE.search(script) if "YT.Player" in script else None
        if match is not None:
            document.link(f"https://www.youtube.com/watch?v={match[1]}", INFERRED, INFERRED_CONTEXT)
