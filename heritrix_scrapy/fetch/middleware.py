"""How do block rules and preconditions meet Scrapy's Requests?

Two downloader middlewares before Scrapy's own. A Request of the frontier whose prerequisite is missing goes back
to its place, by returning the very same object, and the frontier fetches the prerequisite first. A Request that
the frontier never saw (``engine.download_async``, a media pipeline) has no place to go back to: for it the
prerequisite is fetched here, once for all who wait for it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary, WeakValueDictionary

from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http.request import NO_CALLBACK

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.access import access_of
from heritrix_scrapy.fetch.preconditions import Decision, Prerequisite, Stop, Wait, decide, is_wanted, mark
from heritrix_scrapy.fetch.preselector import preselect
from heritrix_scrapy.fetch.proxied import ProxyChoice
from heritrix_scrapy.fetch.robots import crawl_delay
from heritrix_scrapy.model import status
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.requests import INTERNAL_META, bind, posting, travelling
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.settings.agent import user_agent

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Schemes that Scrapy answers without asking a server; a spider's Request for one is no matter of ours.
LOCAL = frozenset({"data", "file", "s3"})
#: Schemes that handlers of this package fetch.
OURS = frozenset({"dns", "ftp", "http", "https", "whois"})

WORDS: dict[int, str] = {
    status.ROBOTS_PRECLUDED: "Forbidden by robots.txt",
    status.BLOCKED_BY_USER: "blocked by HERITRIX_BLOCK_ALL, HERITRIX_ALLOW_BY_REGEX or HERITRIX_BLOCK_BY_REGEX",
    status.OUT_OF_SCOPE: "no longer in scope",
}


class NotFetched(IgnoreRequest):
    """This URI ended before a fetch; ``status`` says how. Reaches the errback of a spider's Request."""

    def __init__(self, curi: CrawlURI) -> None:
        self.status = curi.status
        told = None if curi.error_text and curi.status == status.BLOCKED_BY_USER else WORDS.get(curi.status)
        super().__init__(told or f"{curi.error_text or 'not fetched'} (status {curi.status})")


#: What a failed robots.txt says of its server, in Scrapy's words.
UNREACHABLE: dict[str, type[Exception]] = {
    "ConnectionRefusedError": DownloadConnectionRefusedError,
    "TimeoutError": DownloadTimeoutError,
    "DownloadConnectionRefusedError": DownloadConnectionRefusedError,
    "DownloadTimeoutError": DownloadTimeoutError,
}


def ending(curi: CrawlURI, robots_error: str | None = None) -> Exception:
    """The exception that ends a Request with this status. A spider whose host has no address, or whose server
    cannot be reached, is told in Scrapy's own words, so that its errback and ``RETRY_EXCEPTIONS`` know it."""
    if curi.spider_request:
        if curi.status == status.DOMAIN_PREREQUISITE_FAILURE:
            return CannotResolveHostError(f"{curi.error_text}: {curi.host}")
        if curi.status == status.ROBOTS_PREREQUISITE_FAILURE and robots_error is not None:
            return UNREACHABLE.get(robots_error, DownloadFailedError)(f"{curi.error_text}: {curi.authority}")
    return NotFetched(curi)


class _Judge:
    """What both middlewares hold."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _limited(self, place: str, curi: CrawlURI) -> bool:
        """Whether a limit sends the URI back to its queue, which is to be retired. Raises NotFetched when it ends the
        URI."""
        if not self._crawl.limits[place]:
            return False
        self._settings.for_uri(curi)
        if self._crawl.check_limits(place, curi):
            return False
        if curi.deferral is None:
            raise NotFetched(curi)
        return True


def fetchable(settings: BaseSettings) -> frozenset[str]:
    """Schemes that a URI may have which no spider asked for: ours, and those of the project's DOWNLOAD_HANDLERS.
    Scrapy's own for ``file:`` and ``s3:`` are for those who write a spider: a page must not have the crawler's
    files read, nor its credentials used."""
    named = settings.getdict("DOWNLOAD_HANDLERS").items()
    return OURS.union(scheme for scheme, handler in named if handler)


class PreselectorMiddleware(_Judge):
    """Ends what the operator blocks (downloader middleware, order -900)."""

    def process_request(self, request: Request) -> Request | None:
        curi = travelling(request)
        if curi.spider_request and curi.scheme in LOCAL:
            return None
        if self._limited("before_preselector", curi):
            return request
        divert = self._crawl.divert
        if divert is not None:
            self._settings.for_uri(curi)
            target = divert(curi)
            if target is not None:
                curi.status = status.BLOCKED_BY_CUSTOM
                curi.annotate(f"to:{target}")
                curi.error_text = f"it belongs to crawler {target}"
                raise NotFetched(curi)
        code = preselect(curi, self._settings.for_uri(curi), self._in_scope)
        if not code and curi.seed and self._crawl.judges_seeds and not self._in_scope(curi):
            code = status.OUT_OF_SCOPE
        if code:
            curi.status = code
            raise NotFetched(curi)
        return None

    def _in_scope(self, curi: CrawlURI) -> bool:
        """A spider's Request that no scope judged when it was made is not judged by one later."""
        decide = self._crawl.decide
        if decide is None or (curi.spider_request and not self._settings.for_uri(curi).scope_spider_requests):
            return True
        return decide(curi)


class PreconditionMiddleware(_Judge):
    """Sees to addresses and robots.txt before a fetch (downloader middleware, order -800)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._access = access_of(crawler)
        self._crawl.crawl_delay = self._crawl_delay
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._robots_agent: str = crawler.settings.get("ROBOTSTXT_USER_AGENT") or ""
        #: What a spider's Request calls itself, where that is not our name.
        self._own_agents: WeakKeyDictionary[CrawlURI, str] = WeakKeyDictionary()
        self._fetchable = fetchable(crawler.settings)
        environment = getproxies() if crawler.settings.getbool("HTTPPROXY_ENABLED") else {}
        schemes = ("http", "https", "all")
        self._proxies = ProxyChoice(
            {scheme: environment[scheme] for scheme in schemes if environment.get(scheme)},
            lambda host: bool(proxy_bypass(host)),
        )
        self._refused: set[str] = set()
        self._crawl.resolved_by_proxy = lambda curi: self._proxies.resolves(curi, self._settings.for_uri(curi))

    def process_request(self, request: Request) -> Request | Awaitable[None] | None:
        curi = travelling(request)
        if curi.spider_request and curi.scheme in LOCAL:
            return None
        if not curi.spider_request and not self._is_fetched(curi):
            curi.status = status.UNFETCHABLE
            curi.error_text = f"nothing here fetches {curi.scheme}: addresses that pages name"
            raise NotFetched(curi)
        try:
            self._proxies.settle(request.meta, curi, self._settings.for_uri(curi))
        except ValueError as error:
            self._refuse_proxy(request, curi, error)
        decision = self._decide(request, curi)
        if isinstance(decision, Prerequisite):
            if curi.class_key:
                mark(curi, decision)
                return request
            return self._satisfied(request, curi, decision)
        if isinstance(decision, Wait) and curi.class_key:
            mark(curi, decision)
            self._crawl.add_stats({"robots/waits": 1})
            return request
        self._settle(curi, decision)
        return request if self._limited("after_preconditions", curi) else None

    def _is_fetched(self, curi: CrawlURI) -> bool:
        return curi.scheme in self._fetchable and is_wanted(curi, self._settings.for_uri(curi))

    async def _satisfied(self, request: Request, curi: CrawlURI, missing: Prerequisite) -> None:
        self._settle(curi, await self._satisfy(request, curi, missing))
        self._limited("after_preconditions", curi)

    def _settle(self, curi: CrawlURI, decision: Decision) -> None:
        """Write the decision down. Raises what the Request ends as when it is not to be fetched."""
        if isinstance(decision, Wait):
            # nobody keeps its place
            decision = Stop(status.ROBOTS_PREREQUISITE_FAILURE, decision.error_text)
        mark(curi, decision)
        if isinstance(decision, Stop):
            if curi.status == status.ROBOTS_PRECLUDED and curi.spider_request and self._crawler.stats is not None:
                self._crawler.stats.inc_value("robotstxt/forbidden")
            raise ending(curi, self._crawl.hosts.server(server_key(curi.uri)).robots_error)

    def _decide(self, request: Request, curi: CrawlURI) -> Decision:
        view = self._settings.for_uri(curi)
        obey = True
        if curi.spider_request and view.profile != "heritrix":
            own = self._robots_agent or (request.headers.get("User-Agent") or b"").decode("latin-1")
            if own:
                self._own_agents[curi] = own
            obey = not request.meta.get("dont_obey_robotstxt")
        return decide(
            curi,
            self._crawl.hosts,
            view,
            self._crawl.clock.now_ms(),
            agent=self._agent(curi, view),
            obey=obey,
            credentials=self._access.forms(view) if view.credentials else (),
            logged_in=self._access.has_logged_in,
            failed=self._access.has_failed,
            policies=self._access.policies,
            proxied=bool(request.meta.get("proxy")),
        )

    def _crawl_delay(self, curi: CrawlURI) -> float | None:
        """Seconds that the robots.txt of the URI's server asks for between two fetches, or None."""
        key = server_key(curi.uri)
        if not key:
            return None
        view = self._settings.for_uri(curi)
        # who was let in under another name waits as that one is asked to
        agent = self._agent(curi, view, curi.user_agent)
        return crawl_delay(self._crawl.hosts.server(key), agent, view.robots_standard)

    def _agent(self, curi: CrawlURI, view: Any, told: str | None = None) -> str:
        """Whose group of a robots.txt holds: the one that the operator names, else ``told``, the name that the server
        is told, else what the spider's Request says of itself, else ours."""
        named: str = view.robots_user_agent or told or self._own_agents.get(curi) or user_agent(view)
        return named

    async def _satisfy(self, request: Request, curi: CrawlURI, missing: Prerequisite) -> Decision:
        """Fetch what is missing, each thing at most once, until the decision is another."""
        decision: Decision = missing
        fetched: set[str] = set()
        while isinstance(decision, Prerequisite):
            uri = decision.uri
            if uri in fetched:
                is_dns = uri.startswith("dns:")
                code = status.DOMAIN_PREREQUISITE_FAILURE if is_dns else status.ROBOTS_PREREQUISITE_FAILURE
                return Stop(code, f"{uri} could not be fetched")
            fetched.add(uri)
            async with self._lock(uri):
                # another Request may have fetched it while this one waited
                decision = self._decide(request, curi)
                if decision == Prerequisite(uri):
                    await self._fetch(uri, curi)
                    decision = self._decide(request, curi)
        return decision

    def _lock(self, uri: str) -> asyncio.Lock:
        lock = self._locks.get(uri)
        if lock is None:
            lock = self._locks[uri] = asyncio.Lock()
        return lock

    async def _fetch(self, uri: str, parent: CrawlURI) -> None:
        """Fetch and archive a prerequisite outside the frontier. What came of it stands in ``Crawl.hosts``."""
        url = f"dns://{uri[4:]}/" if uri.startswith("dns:") else uri
        child = parent.prerequisite_child(uri)
        post = self._access.submission(child)
        request = Request(url, callback=NO_CALLBACK, meta=dict(INTERNAL_META), dont_filter=True, **posting(post))
        bind(request, child)
        try:
            await self._crawler.engine.download_async(request)
        except Exception as error:
            logger.debug("prerequisite %s of %s failed: %s", uri, parent.uri, error)

    def _refuse_proxy(self, request: Request, curi: CrawlURI, error: ValueError) -> None:
        """A Request is never made directly that was to go through a proxy."""
        curi.status = status.UNFETCHABLE
        curi.error_text = str(error)
        if curi.error_text not in self._refused:
            self._refused.add(curi.error_text)
            logger.error("%s is not fetched: %s", request.url, error)
        raise NotFetched(curi)
