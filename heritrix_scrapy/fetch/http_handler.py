"""What did the server say to this http or https Request, byte for byte?

Scrapy's download handler for both schemes. It connects to the address that the DNS stage pinned, records both
directions exactly, stamps the CrawlURI, and gives Scrapy the Response (or the exception) that its users expect
from the stock handler. What all fetches share is here; one fetch is `http_fetch`, what came of it `stamp`.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import StopDownload
from twisted.python.failure import Failure

from heritrix_scrapy.crawl import Crawl, InFlight
from heritrix_scrapy.fetch import headers as lines
from heritrix_scrapy.fetch.connect import Connector, Pool, raise_open_files_limit
from heritrix_scrapy.fetch.exchange import Ending
from heritrix_scrapy.fetch.http_fetch import Fetch, bind_address
from heritrix_scrapy.requests import travelling
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.errors import TooManyFiles

logger = logging.getLogger(__name__)

#: Open files a fetch may need at once: its connection, and a spool for a large body.
FILES_A_FETCH = 2
#: Open files of everything else: store, logs, WARC files, resolver, sockets of Scrapy's own.
FILES_BESIDE = 200
#: Seconds between two words about the limit of open files.
QUIET = 60


class HttpDownloadHandler:
    """Download handler for ``http`` and ``https``."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        settings = crawler.settings
        self.maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self.warnsize = settings.getint("DOWNLOAD_WARNSIZE")
        self.fail_on_dataloss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS", True)
        self.bind = bind_address(settings.get("DOWNLOAD_BIND_ADDRESS"))
        # what Scrapy's middlewares put on every Request: the settings of ours that speak for them decide
        self.unchosen: dict[bytes, bytes | None] = {
            b"accept-encoding": b", ".join(ACCEPTED_ENCODINGS),
            b"user-agent": lines.encode(settings.get("USER_AGENT") or ""),
        }
        view = settings_of(crawler).view
        self.connector = Connector()
        self.pool = Pool(view.keep_alive_pool_size, view.keep_alive_seconds)
        self._in_flight: set[Fetch] = set()
        self._warned_of_loss = self._warned_of_host = False
        self._warned_of_files = -QUIET * 1.0
        self._body_rules: dict[int, tuple[Any, Callable[[CrawlURI], bool]]] = {}
        self._check_open_files(settings.getint("CONCURRENT_REQUESTS"))
        self.crawl.abort_fetches.append(self.abort)
        self.crawl.fetching.append(self)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Fetch one Request. Raises Scrapy's exceptions after the CrawlURI was stamped."""
        fetch = Fetch(self, request, travelling(request))
        self._in_flight.add(fetch)
        try:
            return await fetch.run()
        finally:
            self._in_flight.discard(fetch)

    async def close(self) -> None:
        self.pool.close()

    # -- what a fetch asks of its handler -------------------------------------------------------------------

    def view(self, curi: CrawlURI) -> Any:
        """The settings that hold for this URI."""
        return settings_of(self.crawler).for_uri(curi)

    def ask(self, signal: object, request: Request, **details: Any) -> StopDownload | None:
        """Send a signal; return the StopDownload that a receiver raised."""
        answers = self.crawler.signals.send_catch_log(
            signal=signal, request=request, spider=self.crawler.spider, **details
        )
        for _, answer in answers:
            if isinstance(answer, Failure) and isinstance(answer.value, StopDownload):
                return answer.value
        return None

    def wants_body(self, curi: CrawlURI, view: Any) -> bool:
        """Whether the body rule takes an answer whose head is there (Heritrix: FetchHTTP.shouldFetchBodyRule)."""
        rule = view.should_fetch_body_rule
        if rule is None:
            return True
        known = self._body_rules.get(id(rule))
        if known is None or known[0] is not rule:
            made = self.crawl.gate(rule) if self.crawl.gate is not None else rule
            known = self._body_rules[id(rule)] = (rule, made)
        return known[1](curi)

    def lost(self, url: str) -> None:
        """Tell, once, that answers come incomplete."""
        if not self._warned_of_loss:
            self._warned_of_loss = True
            logger.warning(
                "Got data loss in %s. If you want to process broken responses set the setting "
                "DOWNLOAD_FAIL_ON_DATALOSS = False -- This message won't be shown in further requests",
                url,
            )

    def keeps_host(self, request: Request) -> None:
        """Tell, once, that a Request's own Host is not sent."""
        if not self._warned_of_host:
            self._warned_of_host = True
            logger.warning(
                "%s brings a Host header of its own, which is not sent: what another host says would be archived "
                "under this URL. Name the host in the URL -- This message won't be shown in further requests",
                request,
            )

    def out_of_files(self, error: TooManyFiles) -> None:
        """Tell, at most once a minute, that the system gives no further descriptor."""
        self.crawl.add_stats({"fetch/too_many_open_files": 1})
        now = time.monotonic()
        if now - self._warned_of_files >= QUIET:
            self._warned_of_files = now
            logger.error("%s", error)

    def _check_open_files(self, concurrent: int) -> None:
        need = concurrent * FILES_A_FETCH + FILES_BESIDE
        limit = raise_open_files_limit(need)
        if limit < need:
            logger.warning(
                "CONCURRENT_REQUESTS = %d may need %d open files, and the system allows %d: raise the limit "
                "(ulimit -n) or lower CONCURRENT_REQUESTS",
                concurrent,
                need,
                limit,
            )

    # -- what others ask ------------------------------------------------------------------------------------

    def abort(self) -> None:
        """Cut off every fetch in flight; their URIs stay in their queues."""
        for fetch in list(self._in_flight):
            fetch.cut_off()

    def in_flight(self) -> list[InFlight]:
        """Every fetch at the moment, with what it waits for."""
        return [InFlight(fetch.curi, fetch.step, fetch.received) for fetch in self._in_flight]

    def cancel(self, curi: CrawlURI, *, keep: bool) -> bool:
        """End the fetch of a URI with status -7000; ``keep``: archive what has come of the answer. False when it is
        not being fetched here."""
        for fetch in self._in_flight:
            if fetch.curi is curi:
                fetch.cut_off(Ending.CANCELLED, keep=keep)
                return True
        return False
