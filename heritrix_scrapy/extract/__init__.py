"""Where does a fetched document lead?

``Extraction`` runs the configured extractors over a URI; ``Document`` is what each of them gets; ``LinkExtractor``
gives callbacks the same links.
"""

from __future__ import annotations

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.extractor import ContentExtractor, Extractor
from heritrix_scrapy.extract.linkextractor import LinkExtractor
from heritrix_scrapy.extract.order import Extraction

__all__ = ["ContentExtractor", "Document", "Extraction", "Extractor", "LinkExtractor"]
