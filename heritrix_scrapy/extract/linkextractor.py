"""How does a spider's callback get the links that the crawl's own extractors would find?

``LinkExtractor`` has the one method that Scrapy's rules ask of a link extractor, over the extractors of this room.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scrapy.http import TextResponse
from scrapy.link import Link

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Response

    from heritrix_scrapy.model.crawluri import Outlink

#: Schemes that Scrapy can fetch and a rule would want.
SCHEMES = ("http://", "https://")

EXTRACTORS = ("ExtractorHTML", "ExtractorCSS", "ExtractorJS")


class LinkExtractor:
    """Links of a response, for callbacks and for the rules of a CrawlSpider.

    ``hops``: letters of the hops to take (``L`` links, ``E`` parts of the page, ``X`` guesses from scripts);
    ``allow``, ``deny``: regular expressions of which one must, none may, be found in the URL; ``extractors``: as in
    HERITRIX_EXTRACTORS; ``settings``: by attribute name, as ``extract_javascript=False``.
    """

    def __init__(
        self,
        *,
        hops: str = "L",
        allow: str | Iterable[str] = (),
        deny: str | Iterable[str] = (),
        extractors: Iterable[Any] = EXTRACTORS,
        profile: str = "modern",
        **settings: Any,
    ) -> None:
        self._hops = frozenset(hops)
        self._allow = _patterns(allow)
        self._deny = _patterns(deny)
        self._extraction = Extraction(extractors)
        self._settings = default_view(profile, **settings)

    def outlinks(self, response: Response) -> list[Outlink]:
        """All links of a response, with hop and context, whatever ``hops``, ``allow`` and ``deny`` say."""
        curi = CrawlURI(response.url)
        curi.status = response.status
        curi.content_length = len(response.body)
        curi.content_type = (response.headers.get(b"Content-Type") or b"unknown").decode("latin-1")
        if isinstance(response, TextResponse):
            curi.charset = response.encoding
        self._extraction.read(Document(curi, self._settings, lambda limit: response.body[:limit]))
        return curi.outlinks

    def extract_links(self, response: Response) -> list[Link]:
        """Links to follow, each URL once, in the order of the page."""
        urls = dict.fromkeys(link.uri for link in self.outlinks(response) if link.hop in self._hops)
        return [Link(url) for url in urls if self._wanted(url)]

    def _wanted(self, url: str) -> bool:
        if not url.startswith(SCHEMES):
            return False
        if self._allow and not any(pattern.search(url) for pattern in self._allow):
            return False
        return not any(pattern.search(url) for pattern in self._deny)


def _patterns(texts: str | Iterable[str]) -> list[re.Pattern[str]]:
    return [re.compile(text) for text in ([texts] if isinstance(texts, str) else texts)]
