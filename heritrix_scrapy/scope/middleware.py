"""Where does a Request that a spider's callback yields come from, and may it join the crawl?

The outermost spider middleware: it ties a CrawlURI to each new Request, and asks the scope where the project
wants that.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.requests import PAGE, bind, crawl_uri, lookup
from heritrix_scrapy.scope.scope import scope_of
from heritrix_scrapy.uri.fixup import UriError, fix

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class ScopeMiddleware:
    """Binds and judges what a spider yields (setting ``SPIDER_MIDDLEWARES``, order -1000)."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = Crawl.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """What the callback fetches by itself, and what pipelines fetch for its items, is part of this page: Scrapy
        handles each response in a task of its own."""
        PAGE.set(crawl_uri(response))

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        parent = crawl_uri(response)
        async for item in result:
            # a Request that has a CrawlURI already is left alone: it may be in process at this moment
            if isinstance(item, Request) and lookup(item) is None:
                curi = yielded(item, response, parent)
                if not judge_spider_request(self._crawl, curi):
                    continue
                bind(item, curi)
            yield item


def yielded(request: Request, response: Response, parent: CrawlURI | None) -> CrawlURI:
    """The CrawlURI of a Request that a callback yielded: one L hop behind the response's URI."""
    curi = CrawlURI(
        request_uri(request.url),
        path=hops.extend("" if parent is None else parent.path, hops.NAVLINK),
        via=request_uri(response.url) if parent is None else parent.uri,
        spider_request=True,
    )
    if parent is not None:
        curi.source_tag, curi.heritable = parent.source_tag, parent.heritable
    return curi


def request_uri(url: str) -> str:
    """A Request's URL as the crawl writes it: fixed up where that leaves what is asked of the server as it is,
    else as it stands, without fragment."""
    bare = url.partition("#")[0]
    try:
        fixed = fix(bare)
    except UriError:
        return bare
    return fixed if CrawlURI(fixed).path_query == CrawlURI(bare).path_query else bare


def judge_spider_request(crawl: Crawl, curi: CrawlURI) -> bool:
    """Whether a Request of the spider's may join the crawl.

    A seed (what ``start()`` asks for, and where that redirects to) may, and widens the scope, on a resumed crawl
    as on a new one; others are asked about only where HERITRIX_SCOPE_SPIDER_REQUESTS holds. A refused one is
    counted.
    """
    settings = crawl.settings
    if settings is None or crawl.looking:
        return True
    if curi.seed:
        scope_of(crawl.crawler).seed_found(curi)
        return True
    if not settings.view.scope_spider_requests:
        return True
    try:
        if scope_of(crawl.crawler).accepts(curi):
            return True
        crawl.add_stats({"scope/refused_spider_requests": 1})
    except Exception:
        logger.exception("the scope failed on %s", curi.uri)
        crawl.add_stats({"scope/errors": 1})
    return False
