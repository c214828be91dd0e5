"""Documents made from text, for the tests of extraction."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Reads the scripts in pages, and no file by itself.
SCRIPTS = ["ExtractorJS", {"enabled": False}]

URL = "http://www.example.com/dir/page.html"


def in_time(bound: float, work: Callable[[], CrawlURI]) -> CrawlURI:
    """What the work gives. Raises AssertionError when it takes more CPU seconds than it may, three times in a row: what
    else a machine does doubles the price of the same work now and then."""
    spent: list[float] = []
    while len(spent) < 3:
        began = time.process_time()
        done = work()
        spent.append(time.process_time() - began)
        if spent[-1] < bound:
            return done
    raise AssertionError(f"took {spent} s, {bound} allowed")


def fetched(
    content: str | bytes = "",
    *,
    url: str = URL,
    status: int = 200,
    content_type: str = "text/html; charset=utf-8",
    charset: str | None = "UTF-8",
    headers: dict[str, bytes] | None = None,
    via: str | None = None,
    via_context: str | None = None,
    annotations: Iterable[str] = (),
    path: str = "L",
) -> tuple[CrawlURI, bytes]:
    """A CrawlURI as the fetch leaves it, and its body."""
    body = content.encode() if isinstance(content, str) else content
    curi = CrawlURI(url, path=path, via=via, via_context=via_context)
    curi.status = status
    curi.content_type = content_type
    curi.content_length = len(body)
    curi.charset = charset
    curi.annotations = list(annotations)
    curi.headers = [(name.encode(), value) for name, value in (headers or {}).items()]
    return curi, body


def extracted(
    content: str | bytes = "",
    *,
    profile: str = "modern",
    extractors: Any = ("ExtractorHTTP", "ExtractorHTML", "ExtractorCSS", "ExtractorJS"),
    settings: dict[str, Any] | None = None,
    **about: Any,
) -> CrawlURI:
    """The CrawlURI after extraction."""
    curi, body = fetched(content, **about)
    document = Document(curi, default_view(profile, **(settings or {})), lambda limit: body[:limit])
    Extraction(extractors).read(document)
    return curi


def links(content: str | bytes, extractor: str = "ExtractorHTML", **about: Any) -> list[tuple[str, str, str]]:
    """Hop, URI and context of what one extractor finds; URIs below the page's folder in short."""
    return [
        (link.hop, link.uri.removeprefix("http://www.example.com"), link.context)
        for link in extracted(content, extractors=[extractor, SCRIPTS], **about).outlinks
    ]
