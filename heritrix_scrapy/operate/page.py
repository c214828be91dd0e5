"""How is a crawl looked at and steered in a browser, without an engine? The Scrapy extension that serves its page.

It shares the crawl's asyncio loop: what the page needs is made in short turns, files are read and the certificate is
made in threads, templates are read before the crawl begins. It asks and steers through ``Crawl.steering`` alone.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.scraped import place
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    import ssl
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.operate.web.auth import Account
    from heritrix_scrapy.operate.web.server import Server

logger = logging.getLogger(__name__)

PASSWORD: Final = "HERITRIX_WEB_PASSWORD"
READER: Final = "HERITRIX_WEB_READER"
#: Seconds that answers under way get when the crawl is over.
LAST_WORDS: Final = 2.0


class WebExtension:
    """Serves the page where ``HERITRIX_WEB`` says, while the crawl runs. Raises ConfigurationError."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = Crawl.of(crawler)
        self._view = view = settings_of(crawler).view
        if not view.web or self._crawl.looking:
            raise NotConfigured
        self._host, self._port = place(view.web, "HERITRIX_WEB")
        self._accounts = accounts(view)
        self._server: Server | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self) -> None:
        # imported by those who want the page
        from heritrix_scrapy.operate.web.auth import Gate
        from heritrix_scrapy.operate.web.context import Context
        from heritrix_scrapy.operate.web.server import Server, application, prepare
        from heritrix_scrapy.operate.web.ui.subject import Inside

        clock = self._crawl.clock
        context = Context(
            engine=None,
            gate=Gate(self._accounts, clock.monotonic, schemes=("digest", "basic")),
            now=clock.monotonic,
            proxies=frozenset(self._view.web_proxies),
            subject=Inside(self._view.job_name, self._crawl.steering),
        )
        try:
            secure = await asyncio.to_thread(self._secure) if self._view.web_tls else None
            await asyncio.to_thread(prepare)
            server = Server(application(context))
            await server.start([self._host], self._port, secure)
        except (OSError, ValueError) as error:
            logger.error("HERITRIX_WEB = %r: the page cannot be served: %s", self._view.web, error)
            return
        self._server = server
        host, port = server.addresses[0]
        shown = f"[{host}]" if ":" in host else host
        logger.info("the crawl's page: %s://%s:%d/ui", "http" if secure is None else "https", shown, port)

    async def engine_stopped(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            try:
                await asyncio.wait_for(server.close(), LAST_WORDS)
            except TimeoutError:
                logger.info("the crawl's page was closed while somebody still read")

    def _secure(self) -> ssl.SSLContext:
        """Raises OSError, and ssl.SSLError, which is one."""
        from heritrix_scrapy.operate.web import tls

        certificate, key = self._view.web_cert, self._view.web_key
        path = Path(certificate) if certificate else tls.folder() / tls.NAME
        if not certificate and tls.own(path, [self._host], datetime.datetime.now(datetime.UTC)):
            logger.info("made a certificate for the crawl's page: %s", path)
        return tls.context(path, Path(key) if key else None)


def accounts(view: Any) -> list[Account]:
    """Who may log in: from the settings, or from the environment. There is no default. Raises ConfigurationError."""
    from heritrix_scrapy.operate.web import auth

    said = view.web_password or os.environ.get(PASSWORD)
    if not said:
        raise ConfigurationError(
            "HERITRIX_WEB", view.web, f"a page needs a password: {PASSWORD} in the settings or the environment"
        )
    reader = view.web_reader or os.environ.get(READER)
    try:
        found = [auth.account(said)]
        if reader:
            found.append(auth.account(reader, auth.READER))
    except auth.PasswordError as error:
        raise ConfigurationError(PASSWORD, "(not shown)", str(error)) from None
    if len(found) > 1 and found[0].user == found[1].user:
        raise ConfigurationError(READER, "(not shown)", "the reader needs another name than the operator")
    if auth.weak(found[0].password):
        logger.warning("%s is weak: longer than 10, or letters and digits", PASSWORD)
    return found
