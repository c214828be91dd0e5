"""Which cookies and which credential does a request show, and what is kept of those an answer sets?

One downloader middleware in the place of Scrapy's cookie middleware (order 700). It serves ``Request.cookies``, the
meta keys ``cookiejar`` and ``dont_merge_cookies``, and ``COOKIES_DEBUG``, from one store that outlives the process.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.python import to_unicode

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch import cookie_file, cookies
from heritrix_scrapy.fetch.access import access_of
from heritrix_scrapy.model.logins import LOGIN
from heritrix_scrapy.requests import travelling
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: Deferral of a spider's Request that is made again with a credential (``frontier.scheduler.AUTHORIZE``).
AUTHORIZE = "authorize"
#: Authorizations remembered as ours.
TOLD_KEPT = 10_000


class AccessMiddleware:
    """Downloader middleware for cookies and credentials."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._access = access_of(crawler)
        view = self._settings.view
        self._strict = view.profile == "heritrix"
        self._debug = crawler.settings.getbool("COOKIES_DEBUG")
        self._store = cookies.CookieStore(self._stored, strict=self._strict)
        #: Authorizations that were ours.
        self._told: OrderedDict[bytes, None] = OrderedDict()
        crawl.hosts.others.append(self._store.drain)
        crawler.signals.connect(self._load, signals.spider_opened)
        if view.cookies_save_file is not None:
            crawl.before_close.append(self._save)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _stored(self, key: bytes) -> bytes | None:
        store = self._crawl.store
        return None if store is None else store.get(key)

    # -- requests ------------------------------------------------------------------------------------------

    def process_request(self, request: Request) -> None:
        curi = travelling(request)
        url = urlparse_cached(request)
        if url.scheme not in ("http", "https"):
            return
        view = self._settings.for_uri(curi)
        if view.credentials or (curi.heritable is not None and LOGIN in curi.heritable):
            self._authorize(request)
        if view.ignore_cookies or request.meta.get("dont_merge_cookies"):
            return
        now = self._crawl.clock.now_ms()
        jar = jar_of(request)
        host = (url.hostname or "").lower()
        secure = url.scheme == "https"
        for cookie in self._of_request(request, host, url.path or "/", secure=secure, now_ms=now):
            self._store.add(cookie, now, jar=jar)
        shown = self._store.shown(host, url.path or "/", now, secure=secure, jar=jar)
        if b"Cookie" in request.headers:
            del request.headers["Cookie"]
        if shown:
            value = cookies.header(shown, strict=self._strict)
            request.headers["Cookie"] = value.encode("utf-8", "surrogateescape")
            if self._debug:
                logger.debug("Sending cookies to: %s\nCookie: %s\n", request, value)

    def _authorize(self, request: Request) -> None:
        """The operator's credential; a Request that brings its own Authorization keeps it."""
        given = request.headers.get("Authorization")
        if given is not None:
            if given not in self._told:
                return
            # ours, of an earlier try, or copied by a redirect that may lead to another server
            del request.headers["Authorization"]
        value = self._access.authorization(travelling(request), request.method)
        if value is None:
            return
        told = value.encode("utf-8")
        request.headers["Authorization"] = told
        self._told[told] = None
        if len(self._told) > TOLD_KEPT:
            self._told.popitem(last=False)

    def _of_request(
        self, request: Request, host: str, path: str, *, secure: bool, now_ms: int
    ) -> Iterable[cookies.Cookie]:
        """What ``Request.cookies`` says, as if the server had set it."""
        given = request.cookies
        if not given:
            return
        listed: list[Any] = (
            [{"name": name, "value": value} for name, value in given.items()]
            if isinstance(given, dict)
            else list(given)
        )
        for one in listed:
            name, value = one.get("name"), one.get("value")
            if name is None or value is None:
                logger.warning("Invalid cookie found in request %s: %s ('%s' is missing)", request, one, "name")
                continue
            line = f"{_text(name)}={_text(value)}"
            for key in ("domain", "path"):
                if one.get(key):
                    line += f"; {key}={_text(one[key])}"
            if one.get("secure", secure):
                line += "; secure"
            cookie = cookies.parse(line, host, path, now_ms)
            if cookie is not None:
                yield cookie

    # -- answers -------------------------------------------------------------------------------------------

    def process_response(self, request: Request, response: Response) -> Response | Request:
        curi = travelling(request)
        if b"Set-Cookie" in response.headers:
            self._keep(request, response)
        if curi.credential_pending and curi.spider_request:
            view = self._settings.for_uri(curi)
            if curi.class_key and curi.attempts + 1 < view.max_retries:
                curi.deferral = AUTHORIZE
                return request
            curi.credential_pending = False
        return response

    def _keep(self, request: Request, response: Response) -> None:
        view = self._settings.for_uri(travelling(request))
        if view.ignore_cookies or request.meta.get("dont_merge_cookies"):
            return
        url = urlparse_cached(request)
        now = self._crawl.clock.now_ms()
        jar = jar_of(request)
        host, path = (url.hostname or "").lower(), url.path or "/"
        kept = refused = 0
        for value in response.headers.getlist("Set-Cookie"):
            line = value.decode("utf-8", "surrogateescape")
            cookie = cookies.parse(line, host, path, now, strict=self._strict)
            if cookie is None:
                refused += 1
            else:
                kept += self._store.add(cookie, now, jar=jar)
            if self._debug:
                logger.debug("Received cookies from: %s\nSet-Cookie: %s\n", response, line)
        self._crawl.add_stats({"cookies/received": kept, **({"cookies/refused": refused} if refused else {})})

    # -- files ---------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Cookies of the file, but for those that are known better by now."""
        now = self._crawl.clock.now_ms()
        count = 0
        for number, cookie in cookie_file.read(self._settings.view.cookies_load_file, strict=self._strict):
            if isinstance(cookie, cookie_file.BadLine):
                logger.warning("HERITRIX_COOKIES_LOAD_FILE, line %d: %s", number, cookie)
            elif not self._store.has(cookie):
                count += self._store.add(cookie, now)
        if count:
            self._crawl.add_stats({"cookies/loaded": count})

    def _save(self) -> None:
        path = self.save_path()
        store = self._crawl.store
        try:
            rows = list(store.range(cookies.ROW, cookies.ROW[:-1] + b"d")) if store is not None else []
            listed = self._store.of_rows(rows, self._crawl.clock.now_ms())
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(cookie_file.write(listed, strict=self._strict), encoding="utf-8", errors="surrogateescape")
        except Exception as error:
            logger.error("the cookies could not be written to %s: %s", path, error)

    def save_path(self) -> Path:
        """Where the cookies are written: a relative path begins in the JOBDIR."""
        path = Path(self._settings.view.cookies_save_file)
        return path if path.is_absolute() else self._crawl.jobdir.root / path


def jar_of(request: Request) -> str:
    """Name of the jar that a Request's ``cookiejar`` meta says; the common one is empty."""
    key = request.meta.get("cookiejar")
    return "" if key is None else repr(key)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return to_unicode(value)
        except UnicodeDecodeError:
            return to_unicode(value, encoding="latin1", errors="replace")
    return str(value)
