"""Where do a response's headers lead, and what does any site have without saying so?

Location and Refresh are redirects whatever the status, Content-Location and ``/favicon.ico`` are inferred
(Heritrix: ExtractorHTTP).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.extract import refresh
from heritrix_scrapy.extract.extractor import Extractor
from heritrix_scrapy.model.hops import INFERRED, REFER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=INFERRED_MISC"
SCHEMES = frozenset({"http", "https"})


def header_text(value: bytes, *, as_heritrix: bool) -> str:
    """A header's value as text: UTF-8 where it is that, as browsers read a Location, else byte by byte."""
    if not as_heritrix:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return value.decode("latin-1")


class ExtractorHTTP(Extractor):
    """The headers of every answered HTTP exchange."""

    options = frozenset({"infer_root_page", "infer_paths", "html_reader"})

    def wants(self, document: Document) -> bool:
        return document.curi.status > 0 and document.curi.scheme in SCHEMES

    def extract(self, document: Document) -> Iterable[Outlink]:
        as_heritrix = self.option(document, "html_reader") == "heritrix"
        header = document.curi.header
        value = header(b"location")
        if value is not None:
            document.link_own(header_text(value, as_heritrix=as_heritrix), REFER, "Location:")
        value = header(b"content-location")
        if value is not None:
            document.link_own(header_text(value, as_heritrix=as_heritrix), INFERRED, CONTEXT)
        value = header(b"refresh")
        if value is not None:
            text = header_text(value, as_heritrix=as_heritrix)
            target = text.partition("=")[2] if as_heritrix else refresh.target(text)
            if target is not None and (b"=" in value or not as_heritrix):
                document.link_own(target, REFER, "Refresh:")
        found = document.taken
        document.link_own("/favicon.ico", INFERRED, CONTEXT)
        if self.option(document, "infer_root_page"):
            document.link_own("/", INFERRED, CONTEXT)
        for path in self.option(document, "infer_paths"):
            document.link_own(path, INFERRED, CONTEXT)
        # what is only guessed is not counted among what was found
        document.taken = found
        return ()
