"""Which addresses can be made of several pieces of a page?

An operator names expressions that find the pieces and a template that puts them together, once for every
combination (Heritrix: ExtractorMultipleRegex). The template is not a program: in ``${...}`` stand texts in quotes,
pieces as ``name[group]``, ``urlencode(...)`` of these, and ``+`` between them.
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote_plus

from heritrix_scrapy.extract.extractor import NOT_FOUND, Extractor
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hops import INFERRED
from heritrix_scrapy.uri.java_regex import java_compile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

    #: A template read once: the pieces by name → text.
    Made: TypeAlias = Callable[[Mapping[str, re.Match[str]]], str]

CONTEXT = "=INFERRED_MISC"

#: Name of the piece that the document's own address gives.
URI_NAME = "uriRegex"

#: Combinations of pieces that are tried on one page.
MOST = 10_000

_TOKEN = re.compile(
    r"\s*+(?:(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<piece>\w+)\[(?P<group>\d+)\]"
    r"|(?P<call>(?:java\.net\.)?(?:urlencode|URLEncoder\.encode))\(|(?P<mark>[+),]))\s*+",
    re.ASCII,
)


def urlencode(text: str) -> str:
    """As Java encodes the value of a form field."""
    return quote_plus(text, safe="*").replace("~", "%7E")


class _Expression:
    """Reads what stands between ``${`` and ``}``. Raises ValueError."""

    def __init__(self, text: str, start: int, names: frozenset[str]) -> None:
        self.text, self.position, self.names = text, start, names

    def sum(self) -> Made:
        """Pieces with ``+`` between them."""
        parts = [self._term()]
        while self._mark() == "+":
            self._next()
            parts.append(self._term())
        return lambda found: "".join([part(found) for part in parts])

    def _mark(self) -> str | None:
        match = _TOKEN.match(self.text, self.position)
        return match["mark"] if match else None

    def _next(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            raise ValueError(f"cannot be read from {self.text[self.position :][:40]!r} on")
        self.position = match.end()
        return match

    def _term(self) -> Made:
        token = self._next()
        if token["text"] is not None:
            literal = re.sub(r"\\(.)", r"\1", token["text"][1:-1])
            return lambda found: literal
        if token["piece"] is not None:
            name, group = token["piece"], int(token["group"])
            if name not in self.names:
                raise ValueError(f"no expression is called {name!r}")
            return lambda found: found[name][group] or ""
        if token["call"] is not None:
            inner = self.sum()
            end = self._next()
            if end["mark"] == ",":
                self._next()  # the name of a character set; it is always UTF-8
                end = self._next()
            if end["mark"] != ")":
                raise ValueError("a bracket is not closed")
            return lambda found: urlencode(inner(found))
        raise ValueError(f"{token['mark']!r} without anything before it")


def template(text: str, names: frozenset[str]) -> Made:
    """Read a template. Raises ValueError for one that is more than pieces and texts."""
    parts: list[Made] = []
    position = 0
    while True:
        start = text.find("${", position)
        if start < 0:
            parts.append(_constant(text[position:]))
            break
        parts.append(_constant(text[position:start]))
        expression = _Expression(text, start + 2, names)
        parts.append(expression.sum())
        position = expression.position
        if text[position : position + 1] != "}":
            raise ValueError(f"cannot be read from {text[position:][:40]!r} on")
        position += 1
    return lambda found: "".join([part(found) for part in parts])


def _constant(text: str) -> Made:
    if "<%" in text:
        raise ValueError("a template runs no code")
    return lambda found: text


class ExtractorMultipleRegex(Extractor):
    """Addresses put together from what expressions find. Hop I.

    ``uri_regex``: the documents, matched as a whole; ``content_regexes``: name → expression, each of which must be
    found; ``template``: the address.
    """

    options = frozenset({"extract404s"})
    own = {"uri_regex": "", "content_regexes": {}, "template": ""}

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        listed = dict(self.property("content_regexes"))
        listed = dict(listed.get("map", listed)) if len(listed) == 1 else listed
        try:
            self._uri = java_compile(self.property("uri_regex"))
            self._content = {str(name): java_compile(pattern) for name, pattern in listed.items()}
            self._template = template(self.property("template"), frozenset({URI_NAME, *self._content}))
        except (re.error, ValueError) as error:
            raise ConfigurationError("HERITRIX_EXTRACTORS", [self.name, self.properties], str(error)) from None

    def wants(self, document: Document) -> bool:
        curi = document.curi
        return curi.content_length > 0 and (curi.status != NOT_FOUND or bool(self.option(document, "extract404s")))

    def extract(self, document: Document) -> Iterable[Outlink]:
        own = self._uri.fullmatch(document.uri)
        if own is None:
            return ()
        text = document.text
        found = [list(islice(pattern.finditer(text), MOST)) for pattern in self._content.values()]
        names = [URI_NAME, *self._content][::-1]
        # the first of the list changes fastest
        for combination in islice(product(*found[::-1], [own]), MOST):
            try:
                address = self._template(dict(zip(names, combination, strict=True)))
            except IndexError as error:
                document.curi.errors.append((self.name, error))
                return ()
            document.link(address, INFERRED, CONTEXT)
        return ()
