"""Which CrawlURI belongs to this Request?

One weak table, keyed by the Request object: spiders copy ``meta``, so nothing of ours is kept there.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.crawluri import CrawlURI

if TYPE_CHECKING:
    from scrapy.http import Response

    from heritrix_scrapy.model.post import Post

#: What every Request of our own making says to the middlewares between us and the wire.
INTERNAL_META: dict[str, Any] = {
    "download_slot": "heritrix",
    "verbatim_url": True,
    "dont_redirect": True,
    "dont_retry": True,
    "allow_offsite": True,
    "dont_cache": True,
    "dont_obey_robotstxt": True,
    "handle_httpstatus_all": True,
}


def posting(post: Post | None) -> dict[str, Any]:
    """What makes a Request of ours a POST; nothing for a GET."""
    if post is None:
        return {}
    headers = {"Content-Type": post.content_type} if post.content_type else {}
    return {"method": "POST", "body": post.body, "headers": headers}


#: The page whose callback, or whose items, are being worked on in this task.
PAGE: ContextVar[CrawlURI | None] = ContextVar("page", default=None)

_table: WeakKeyDictionary[Request, CrawlURI] = WeakKeyDictionary()


def bind(request: Request, curi: CrawlURI) -> None:
    """From now on ``curi`` is what travels with ``request``."""
    _table[request] = curi


def lookup(request: Request) -> CrawlURI | None:
    """The CrawlURI bound to a Request, or None."""
    return _table.get(request)


def travelling(request: Request) -> CrawlURI:
    """The CrawlURI that travels with a Request.

    A Request that the frontier never saw (``engine.download_async``, a media pipeline, one that a middleware put in
    place of another in such a download) gets its own: hop E, via the page that its Referer names, else the one whose
    callback or item asked for it.
    """
    curi = _table.get(request)
    if curi is None:
        referer = request.headers.get("Referer")
        via = referer.decode("latin-1") if referer else None
        page = PAGE.get()
        path = hops.EMBED
        if page is not None and via in (None, page.uri):
            via, path = page.uri, hops.extend(page.path, hops.EMBED)
        curi = _table[request] = CrawlURI(archived_name(request.url), path=path, via=via, spider_request=True)
        if page is not None:
            curi.source_tag, curi.heritable = page.source_tag, page.heritable
    return curi


def archived_name(url: str) -> str:
    """The name under which a Request's URL is archived: ``dns:host`` for ``dns://host/``, ``whois:name`` for
    ``whois://name/`` (a server without a question); no fragment."""
    if url.startswith("dns://"):
        return "dns:" + url[6:].rstrip("/")
    if url.startswith("whois://") and "/" not in url[8:].rstrip("/"):
        return "whois:" + url[8:].rstrip("/")
    return url.partition("#")[0]


def crawl_uri(origin: Request | Response) -> CrawlURI | None:
    """The CrawlURI of a Request, or of the Request that a Response answers.

    For middlewares, pipelines, callbacks and extensions; None for what the crawl does not know.
    """
    request: Any = getattr(origin, "request", origin)
    return None if request is None else _table.get(request)


#: What ``ReleaseMiddleware`` answers with, and the scheduler swallows.
RELEASED = Request("data:,released", meta={"allow_offsite": True}, dont_filter=True)
