"""An extractor of the project's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.extract import Document
    from heritrix_scrapy.model.crawluri import CrawlURI

DATA_LINK = re.compile(r'\sdata-link="([^"<>]+)"')


class DataLinks:
    """Finds the addresses that this site's scripts read from ``data-link`` attributes."""

    def applies(self, curi: CrawlURI) -> bool:
        return curi.content_type.startswith("text/html")

    def extract(self, document: Document) -> None:
        for address in DATA_LINK.findall(document.text):
            document.link(address, "L", "data-link")
