"""How does a URI become a Request, and the spider's Request a row?

For URIs of our own a Request is made when their turn has come. The spider's is stored as Scrapy serialises it; one that
cannot be stays in memory, while its URI is as durable as any.
"""

from __future__ import annotations

import logging
import pickle
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.requests import INTERNAL_META, posting

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: A Request that no callback waits for.
UNATTENDED: dict[str, Any] = {"heritrix": "internal", **INTERNAL_META}


class Building:
    """Makes Requests, and keeps the spider's. ``callback``: name of the spider's method that gets the answers of our
    own URIs, or empty. Raises ConfigurationError."""

    def __init__(self, crawler: Crawler, spider: Spider, callback: str) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._spider = spider
        self._callback = _callback(spider, callback)
        #: Requests that cannot be serialised, by the ordinal of their URI.
        self._kept: dict[int, Request] = {}
        self._warned_unserializable = False
        self._lost_callbacks: set[str] = set()

    # -- a spider's Request → its row ----------------------------------------------------------------------

    def serialise(self, request: Request) -> bytes | None:
        """The Request as it is stored; None when it cannot be, and is kept in memory."""
        if self._crawl.looking:
            # a shell gives its Request a callback only after it has been scheduled
            return None
        try:
            return pickle.dumps(request.to_dict(spider=self._spider), protocol=5)
        except Exception as error:
            self._crawl.add_stats({"frontier/unserializable": 1})
            if not self._warned_unserializable:
                self._warned_unserializable = True
                logger.warning(
                    "%s cannot be serialised (%s): it is kept in memory, and after a crash its URI is archived"
                    " without calling back. Later ones are only counted (heritrix/frontier/unserializable)",
                    request,
                    error,
                )
            return None

    def keep(self, curi: CrawlURI, request: Request) -> None:
        """The Request of a queued URI, in memory where it cannot be stored."""
        if curi.stored_request is None:
            self._kept[curi.ordinal] = request
        else:
            self.forget(curi)

    def forget(self, curi: CrawlURI) -> None:
        """Nobody will ask for the Request of that URI any more."""
        self._kept.pop(curi.ordinal, None)

    # -- CrawlURI → Request --------------------------------------------------------------------------------

    def request_of(self, curi: CrawlURI) -> Request:
        """The Request that fetches a URI. Raises ValueError where Scrapy takes its text for no address."""
        if curi.spider_request:
            request = self._kept.get(curi.ordinal)
            if request is None and curi.stored_request is not None:
                request = self._rebuild(curi)
            if request is not None:
                request.meta["download_slot"] = "heritrix"
                stats = self._crawler.stats
                if stats is not None:
                    stats.inc_value("scheduler/dequeued")
                return request
        url = curi.uri
        if url.startswith("dns:"):
            return Request("dns://" + url[4:] + "/", meta=UNATTENDED.copy(), dont_filter=True)
        if url.startswith("whois:") and not url.startswith("whois://"):
            return Request("whois://" + url[6:].strip("/") + "/", meta=UNATTENDED.copy(), dont_filter=True)
        submission = self._crawl.submission
        posted = posting(submission(curi)) if submission is not None else {}
        if self._callback is not None and curi.path[-1:] != hops.PREREQ:
            meta = INTERNAL_META.copy()
            return Request(url, callback=self._callback, errback=quiet, meta=meta, dont_filter=True, **posted)
        return Request(url, meta=UNATTENDED.copy(), dont_filter=True, **posted)

    def _rebuild(self, curi: CrawlURI) -> Request | None:
        try:
            return request_from_dict(pickle.loads(curi.stored_request), spider=self._spider)  # type: ignore[arg-type]
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            if text not in self._lost_callbacks:
                self._lost_callbacks.add(text)
                logger.error(
                    "the Request stored for %s cannot be rebuilt (%s): archived without callback", curi.uri, text
                )
            self._crawl.add_stats({"frontier/lost_callbacks": 1})
            return None


def _callback(spider: Spider, name: str) -> Any:
    if not name:
        return None
    method = getattr(spider, name, None)
    if not callable(method):
        raise ConfigurationError("HERITRIX_CALLBACK", name, f"the spider {spider.name!r} has no such method")
    return method


def quiet(failure: Any) -> None:
    """Errback of Requests that we made for the spider: their end stands in the crawl log."""
