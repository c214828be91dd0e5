"""Where do the pages of a PDF lead?

Link annotations whose action is an address (Heritrix: ExtractorPDF), and addresses in the text of the pages
(Heritrix: ExtractorPDFContent). The tree of pages is walked here, so that a hostile one costs no more than its
time; between pages the clock is looked at.
"""

from __future__ import annotations

import io
import logging
import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.model.hops import NAVLINK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypdf import PdfReader

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

CONTEXT = "=NAVLINK_MISC"

#: Pages and nodes above them that are visited.
MOST_NODES = 200_000

_SAFE = r"(?:[a-z0-9$_.+!*'(),;:@&=-]|%[0-9a-f]{2})"
_USER = r"(?:[a-z0-9$_.+!*'(),;?&=-]|%[0-9a-f]{2})"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d{2}|[1-9]?\d)"
#: Group 1: what a newline and the run behind it add.
_ADDRESS = re.compile(
    rf"\(?https?://(?:(?>{_USER}+)(?::(?>{_USER}+))?@)?"
    rf"(?:(?>(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*)[a-z][a-z0-9-]*[a-z0-9]|(?:{_OCTET}\.){{3}}{_OCTET})(?::\d+)?"
    rf"(?>(?:/+{_SAFE}*)*)(?>(?:\?{_SAFE}*)?)"
    rf"(\n(?!http://)(?=[/?]|{_SAFE})(?>{_SAFE}*)(?>(?:/+{_SAFE}*)*)(?>(?:\?{_SAFE}*)?))?",
    re.ASCII | re.IGNORECASE,
)


def addresses(text: str) -> Iterator[str]:
    """Addresses in the text of a page, as written: each whole, without a dot at its end, and without what may only
    be the next line."""
    for match in _ADDRESS.finditer(text):
        whole = match[0]
        first_line = whole[: match.start(1) - match.start()] if match[1] is not None else None
        if whole[0] == "(":
            whole = whole[1:].removesuffix(")")
            first_line = first_line[1:].removesuffix(")") if first_line is not None else None
        yield whole
        if whole.endswith("."):
            yield whole[:-1]
        if first_line is not None:
            yield first_line.removesuffix(".")


def open_pdf(data: bytes) -> PdfReader:
    """A reader that forgives what it can. Raises whatever pypdf does."""
    from pypdf import PdfReader

    # what it has to say about a file is of no use in the log of a crawl
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return PdfReader(io.BytesIO(data), strict=False)


def resolved(thing: Any) -> Any:
    """What an indirect object stands for."""
    return thing.get_object() if hasattr(thing, "get_object") else thing


def pages(reader: PdfReader) -> Iterator[Any]:
    """The dictionaries of all pages, in order; each node of the tree once."""
    root = resolved(reader.trailer["/Root"])
    stack = [root.raw_get("/Pages")] if "/Pages" in root else []
    seen: set[Any] = set()
    for _ in range(MOST_NODES):
        if not stack:
            return
        node = stack.pop()
        key = getattr(node, "idnum", None)
        if key is not None:
            if key in seen:
                continue
            seen.add(key)
        page = resolved(node)
        if not isinstance(page, dict):
            continue
        kids = resolved(page.get("/Kids"))
        if isinstance(kids, list):
            stack.extend(list.__getitem__(kids, slice(None))[::-1])
        else:
            yield page


def link_actions(page: Any) -> Iterator[str]:
    """Addresses that the links on a page go to."""
    annotations = resolved(page.get("/Annots"))
    if not isinstance(annotations, list):
        return
    for item in list.__iter__(annotations):
        annotation = resolved(item)
        if not isinstance(annotation, dict) or annotation.get("/Subtype") != "/Link":
            continue
        action = resolved(annotation.get("/A"))
        if isinstance(action, dict) and action.get("/S") == "/URI":
            target = resolved(action.get("/URI"))
            if isinstance(target, bytes):
                target = target.decode("latin-1")
            if isinstance(target, str):
                yield target


class ExtractorPDF(ContentExtractor):
    """Links on the pages of a PDF. Hop L; it takes what it can read.

    ``max_size_to_parse``: largest response, in bytes.
    """

    claims = False
    own = {"max_size_to_parse": 10 * 1024 * 1024}

    def takes(self, document: Document) -> bool:
        return document.content_type.startswith("application/pdf") and max(
            document.curi.content_size, document.curi.content_length
        ) <= self.property("max_size_to_parse")

    def extract(self, document: Document) -> Iterable[Outlink]:
        try:
            for text in self.found(open_pdf(document.body(self.property("max_size_to_parse")))):
                if text is not None:
                    self.put(document, text)
                if document.overdue:
                    break
        except Exception as error:
            # pypdf raises whatever a broken file makes it stumble over
            document.curi.errors.append((self.name, error))
            return ()
        document.claim()
        return ()

    def found(self, reader: PdfReader) -> Iterator[str | None]:
        """Addresses, and None after each page."""
        for page in pages(reader):
            yield from link_actions(page)
            yield None

    def put(self, document: Document, text: str) -> None:
        """Add an address."""
        document.link_absolute(text, NAVLINK, CONTEXT)


class ExtractorPDFContent(ExtractorPDF):
    """Addresses in the text of the pages of a PDF. Hop L; it takes what it can read."""

    def found(self, reader: PdfReader) -> Iterator[str | None]:
        for _ in pages(reader):
            # a tree that can be walked; pypdf walks it again, for what pages inherit
            yield None
        for page in reader.pages:
            yield from addresses(page.extract_text())
            yield None

    def put(self, document: Document, text: str) -> None:
        document.link_own(text, NAVLINK, CONTEXT)
