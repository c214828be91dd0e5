"""Does this page say the same as the page that led to it?

Then it is likely a trap that makes a new address for the same page with every step, and no links are taken from it
(Heritrix: TrapSuppressExtractor). Each page leaves its digest to its children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.extract.extractor import ContentExtractor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

#: Under this name a page's digest is handed down.
VIA_DIGEST = "via-digest"

ANNOTATION = "trapSuppressExtractor"


class TrapSuppressExtractor(ContentExtractor):
    """Put before the others; takes what equals its parent."""

    claims = False

    def takes(self, document: Document) -> bool:
        return document.curi.digest is not None

    def extract(self, document: Document) -> Iterable[Outlink]:
        curi = document.curi
        inherited = (curi.heritable or {}).get(VIA_DIGEST)
        if inherited == curi.digest:
            curi.annotate(ANNOTATION)
            document.claim()
        else:
            curi.heritable = {**(curi.heritable or {}), VIA_DIGEST: curi.digest}
        return ()
