"""Which values in an XML document are addresses?

Feeds, SVG and any other XML are not parsed: whatever stands between quotes or tags as one word and looks like an
address is one (Heritrix: ExtractorXML). The standard way also takes words with blanks around them inside CDATA,
lets neighbours share a delimiter, and leaves the names of namespaces out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import unescape as unescape_named

from heritrix_scrapy.extract import charset
from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import join_surrogates
from heritrix_scrapy.extract.likely import is_very_likely
from heritrix_scrapy.model.hops import SPECULATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=SPECULATIVE_MISC"

#: Characters at the start in which a test of content looks, and in which an XML declaration must stand.
PREFIX, DECLARATION = 400, 50

#: Type of word processor files; they are archives, whatever the type says.
OFFICE = "application/vnd.openxmlformats"

_PROLOGUE = re.compile(r"\ufeff?<\?xml\s", re.ASCII | re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html|<html", re.ASCII | re.IGNORECASE)

_AS_HERITRIX = re.compile(r"[\"'>]\s*(?:<!\[CDATA\[)?([^<>\s\"'@]+)\s*(?:\]\]>)?[\"'<]", re.ASCII | re.IGNORECASE)
# One alternative a kind: CDATA (1), a value in quotes (2, 3), text (4).
_STANDARD = re.compile(
    r"<!\[CDATA\[\s*+([^<>\s\"'@]+)\s*+\]\]>"
    r"|=\s*+(?:\"\s*+([^<>\s\"'@]++)\s*+\"|'\s*+([^<>\s\"'@]++)\s*+')"
    r"|>\s*+([^<>\s\"'@]++)\s*+(?=<)",
    re.ASCII,
)
_NAMESPACES = re.compile(
    r"\b(?:xmlns(?::[\w.-]++)?|schemaLocation|noNamespaceSchemaLocation)\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+')"
    r"|<!DOCTYPE[^<>\[]*+>"
)

_NUMBER = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_NAMES = {"&quot;": '"', "&apos;": "'"}


def _numbered(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if 0 < code <= 0x10FFFF else match[0]


def unescape(text: str) -> str:
    """The text with XML's five entities and numbers replaced."""
    if "&" not in text:
        return text
    return join_surrogates(unescape_named(_NUMBER.sub(_numbered, text), _NAMES))


def values(text: str, *, as_heritrix: bool) -> Iterator[str]:
    """Words of a document that may be addresses, references in them replaced."""
    if as_heritrix:
        for match in _AS_HERITRIX.finditer(text):
            yield unescape(match[1])
        return
    for match in _STANDARD.finditer(_NAMESPACES.sub(" ", text)):
        which = match.lastindex or 0
        yield match[1] if which == 1 else unescape(match[which])


class ExtractorXML(ContentExtractor):
    """XML by type, by its address or by its first characters; not XHTML pages, nor word processor files. Hop X."""

    options = ContentExtractor.options | {"html_reader"}

    def takes(self, document: Document) -> bool:
        content_type = document.content_type.lower()
        if "xml" in content_type and not content_type.startswith(OFFICE):
            return True
        if document.uri.lower().endswith((".rss", ".xml")):
            return True
        head = document.prefix()[:PREFIX]
        return _PROLOGUE.match(head) is not None and _HTML.search(head) is None

    def extract(self, document: Document) -> Iterable[Outlink]:
        as_heritrix = self.option(document, "html_reader") == "heritrix"
        charset.settle(document, charset.declared_in_xml, "XML", DECLARATION, standard=not as_heritrix)
        for value in document.in_time(values(document.text, as_heritrix=as_heritrix)):
            if ("." in value or "/" in value) and is_very_likely(value):
                document.link(value, SPECULATIVE, CONTEXT)
        return ()
