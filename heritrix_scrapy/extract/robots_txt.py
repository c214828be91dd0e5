"""Which sitemaps does a robots.txt name?

Lines that begin with ``Sitemap:`` in any case (Heritrix: ExtractorRobotsTxt; sitemaps.org, "Specifying the Sitemap
location in your robots.txt file"). What they lead to is born with the annotation by which ExtractorSitemap knows it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.javatext import NOT_EOL
from heritrix_scrapy.extract.sitemap import CONTEXT, IS_SITEMAP
from heritrix_scrapy.model.hops import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.extract.document import Document
    from heritrix_scrapy.model.crawluri import Outlink

_PLACE = re.compile(r"https?://[^/]+/robots.txt")
_LINE_END = re.compile(r"\r\n|\n|\r")
_AS_HERITRIX = re.compile(rf"sitemap:\s*({NOT_EOL}+)\Z", re.ASCII | re.IGNORECASE)
_STANDARD = re.compile(r"[ \t\ufeff]*+sitemap[ \t]*+:[ \t]*+([^\s#]++)", re.IGNORECASE)

#: What is read of a robots.txt, in bytes; RFC 9309 asks for 500 KiB at least.
LONGEST = 4 * 1024 * 1024


class ExtractorRobotsTxt(ContentExtractor):
    """robots.txt of a host, fetched before its first page. Takes it only when it names a sitemap."""

    claims = False
    options = ContentExtractor.options | {"robots_standard"}

    def takes(self, document: Document) -> bool:
        return document.curi.is_prerequisite and _PLACE.fullmatch(document.uri) is not None

    def extract(self, document: Document) -> Iterable[Outlink]:
        pattern = _AS_HERITRIX if self.option(document, "robots_standard") == "heritrix" else _STANDARD
        found = False
        for line in _LINE_END.split(document.body(LONGEST).decode("utf-8", "replace")):
            match = pattern.match(line)
            if match is None:
                continue
            found = True
            link = document.link_from(document.base, match[1], MANIFEST, CONTEXT)
            if link is not None:
                document.annotations[link] = (IS_SITEMAP,)
        if found:
            document.claim()
        return ()
