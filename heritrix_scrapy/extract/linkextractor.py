"""How does a spider's callback get the links that the crawl's own extractors would find?

``LinkExtractor`` has the one method that Scrapy's rules ask of a link extractor, over the extractors of this room.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scrapy.http import TextResponse
from scrapy.link import Link
from scrapy.utils.response import get_base_url
from scrapy.utils.url import url_has_any_extension, url_is_from_any_domain
from w3lib.url import canonicalize_url

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.http import Response

    from heritrix_scrapy.model.crawluri import Outlink

#: Schemes that Scrapy can fetch and a rule would want.
SCHEMES = ("http://", "https://")

EXTRACTORS = ("ExtractorHTML", "ExtractorCSS", "ExtractorJS")


class LinkExtractor:
    """Links of a response, for callbacks and for the rules of a CrawlSpider.

    ``hops``: letters of the hops to take (``L`` links, ``E`` parts of the page, ``X`` guesses from scripts);
    ``extractors``: as in HERITRIX_EXTRACTORS; ``settings``: by attribute name, as ``extract_javascript=False``.

    The others are those of Scrapy's: ``allow``, ``deny``: regular expressions of which one must, none may, be found in
    the URL; ``allow_domains``, ``deny_domains``; ``deny_extensions``: of its path, without dot, none unless given;
    ``restrict_xpaths``, ``restrict_css``: the parts of the page that are read; ``tags``, ``attrs``: elements and
    attributes, any unless given, with which only links that stand in an attribute remain; ``process_value``: gets
    each URL, absolute here, and gives it or another one, or None; ``unique``: each URL once; ``canonicalize``: only
    for that comparison. There is no ``restrict_text``: the texts of links are not read (ValueError).
    """

    def __init__(
        self,
        *,
        hops: str = "L",
        allow: str | Iterable[str] = (),
        deny: str | Iterable[str] = (),
        allow_domains: str | Iterable[str] = (),
        deny_domains: str | Iterable[str] = (),
        deny_extensions: str | Iterable[str] | None = None,
        restrict_xpaths: str | Iterable[str] = (),
        restrict_css: str | Iterable[str] = (),
        tags: str | Iterable[str] = (),
        attrs: str | Iterable[str] = (),
        process_value: Callable[[str], str | None] | None = None,
        unique: bool = True,
        canonicalize: bool = False,
        restrict_text: object = None,
        strip: bool = True,
        extractors: Iterable[Any] = EXTRACTORS,
        profile: str = "modern",
        **settings: Any,
    ) -> None:
        self._hops = frozenset(hops)
        self._allow = _patterns(allow)
        self._deny = _patterns(deny)
        self._allow_domains = _texts(allow_domains)
        self._deny_domains = _texts(deny_domains)
        self._deny_extensions = frozenset("." + text.lower().lstrip(".") for text in _texts(deny_extensions or ()))
        self._xpaths = _texts(restrict_xpaths)
        self._css = _texts(restrict_css)
        self._tags = frozenset(_texts(tags))
        self._attrs = frozenset(_texts(attrs))
        self._process_value = process_value
        self._unique = unique
        self._canonicalize = canonicalize
        if restrict_text:
            raise ValueError("restrict_text: the texts of links are not read; use process_links of the Rule")
        if not strip:
            raise ValueError("strip: blanks around an address are always taken off")
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
        body = response.body if not (self._xpaths or self._css) else self._parts(response, curi)
        self._extraction.read(Document(curi, self._settings, lambda limit: body[:limit]))
        return curi.outlinks

    def _parts(self, response: Response, curi: CrawlURI) -> bytes:
        """The parts of a page that are to be read, below the page's base."""
        if not isinstance(response, TextResponse):
            return b""
        pieces = [piece for path in self._xpaths for piece in response.xpath(path).getall()]
        pieces += [piece for query in self._css for piece in response.css(query).getall()]
        curi.base = get_base_url(response)
        curi.charset = "UTF-8"
        curi.content_type = "text/html; charset=utf-8"
        body = "\n".join(pieces).encode("utf-8", "replace")
        curi.content_length = len(body)
        return body

    def extract_links(self, response: Response) -> list[Link]:
        """Links to follow, each URL once, in the order of the page."""
        urls = [link.uri for link in self.outlinks(response) if link.hop in self._hops and self._stands_right(link)]
        if self._process_value is not None:
            urls = [url for url in map(self._process_value, urls) if url]
        if self._unique:
            key = canonicalize_url if self._canonicalize else str
            first: dict[str, str] = {}
            for url in urls:
                first.setdefault(key(url), url)
            urls = list(first.values())
        return [Link(url) for url in urls if self.matches(url)]

    def _stands_right(self, link: Outlink) -> bool:
        if not self._tags and not self._attrs:
            return True
        element, mark, attribute = link.context.partition("/@")
        element = element.partition("[")[0]
        return bool(mark) and not (
            (self._tags and element not in self._tags) or (self._attrs and attribute not in self._attrs)
        )

    def matches(self, url: str) -> bool:
        """Whether the patterns, domains and extensions leave a URL in."""
        if not url.startswith(SCHEMES):
            return False
        if self._allow_domains and not url_is_from_any_domain(url, self._allow_domains):
            return False
        if self._deny_domains and url_is_from_any_domain(url, self._deny_domains):
            return False
        if self._deny_extensions and url_has_any_extension(url, self._deny_extensions):
            return False
        if self._allow and not any(pattern.search(url) for pattern in self._allow):
            return False
        return not any(pattern.search(url) for pattern in self._deny)


def _texts(texts: str | Iterable[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _patterns(texts: str | Iterable[str]) -> list[re.Pattern[str]]:
    return [re.compile(text) for text in _texts(texts)]
