"""Which addresses do the addresses found so far hold or imply?

Two extractors that read no document but its links: addresses in query strings (Heritrix: ExtractorURI), and those
that an operator's expression makes of others (Heritrix: ExtractorImpliedURI). Both go over the links as they stood
when they began.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from heritrix_scrapy.extract.extractor import Extractor
from heritrix_scrapy.extract.javatext import split
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hops import INFERRED, SPECULATIVE
from heritrix_scrapy.uri.fixup import UriError, fix
from heritrix_scrapy.uri.java_regex import expand, java_compile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

SPECULATIVE_CONTEXT = "=SPECULATIVE_MISC"
INFERRED_CONTEXT = "=INFERRED_MISC"

_ADDRESS = re.compile(r"https?://[^\s<>]*\Z", re.ASCII)
_AMPERSAND = re.compile("&")
_EQUALS = re.compile("=")


def inside(uri: str) -> Iterator[str]:
    """Addresses in the query of a URI: the whole of it, and values of its parameters."""
    query = uri.partition("?")[2]
    if not query:
        return
    whole = unquote(query, errors="replace")
    if _ADDRESS.match(whole):
        yield whole
    for pair in split(_AMPERSAND, query):
        pieces = split(_EQUALS, pair)
        if len(pieces) == 2:
            value = unquote(pieces[1], errors="replace")
            if _ADDRESS.match(value):
                yield value


class ExtractorURI(Extractor):
    """Addresses in the queries of the links found so far, whatever the answer was. Hop X."""

    def wants(self, document: Document) -> bool:
        return bool(document.links)

    def extract(self, document: Document) -> Iterable[Outlink]:
        for link in list(document.links):
            if "?" in link.uri:
                for text in inside(link.uri):
                    document.link_absolute(text, SPECULATIVE, SPECULATIVE_CONTEXT)
        return ()


class ExtractorImpliedURI(Extractor):
    """What ``format`` makes of links that ``regex`` matches as a whole; groups as ``$1``. Hop I.

    ``remove_trigger_uris``: drop the link that implied another.
    """

    own = {"regex": "^(.*)$", "format": "", "remove_trigger_uris": False}

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(properties)
        try:
            self._pattern = java_compile(self.property("regex"))
            self._implied = expand(self.property("format"), self._pattern)
        except (re.error, ValueError) as error:
            raise ConfigurationError("HERITRIX_EXTRACTORS", [self.name, self.properties], str(error)) from None

    def wants(self, document: Document) -> bool:
        return bool(document.links) and bool(self.property("format"))

    def extract(self, document: Document) -> Iterable[Outlink]:
        for link in list(document.links):
            if self._pattern.fullmatch(link.uri) is None:
                continue
            try:
                fix(text := self._pattern.sub(self._implied, link.uri, count=1), strict=True)
            except UriError:
                continue
            document.link_absolute(text, INFERRED, INFERRED_CONTEXT)
            if self.property("remove_trigger_uris"):
                document.links.pop(link, None)
        return ()
