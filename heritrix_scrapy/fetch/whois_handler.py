"""What does whois say of a name or an address?

Scrapy's download handler for ``whois``. ``whois://server/query`` is one question: a line there, everything that comes
back is the capture (RFC 3912). ``whois:name`` gets here when all servers that know of it have been asked; it is the
question itself, without an answer of its own (Heritrix: FetchWhois).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from heritrix_scrapy.fetch.conversation import Conversation, ConversationHandler, Failed
from heritrix_scrapy.fetch.stamp import Why
from heritrix_scrapy.fetch.whois import LOOKED_THROUGH, PORT, asked_name, is_generic, query_line, referral
from heritrix_scrapy.model import status
from heritrix_scrapy.uri.fixup import split

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI


class WhoisFetch(Conversation):
    """One question, or the end of the questions about one name."""

    port = PORT
    processor = "FetchWhois"

    async def converse(self) -> None:
        curi = self.curi
        if is_generic(curi.uri):
            curi.status = status.WHOIS_DONE
            return
        host, port = curi.host, _port(split(curi.uri, strict=False).authority)
        line = query_line(curi.uri, heritrix=self.heritrix)
        if not host:
            raise Failed(status.UNFETCHABLE, Why.FAILED, "no whois server in the URI")
        stream = await self.connect(host, port, await self._resolved(host, port))
        curi.server_ip = stream.connection.address or None
        curi.content_type = "text/plain"
        self.recorder.request.append(line)
        stream.say(line)
        await self.record(stream)
        curi.status = status.WHOIS_OK

    def stamp(self) -> None:
        curi = self.curi
        if curi.status != status.WHOIS_OK:
            return
        if self.heritrix:
            curi.ended_ms = None  # it sets no end; the log then shows no duration
        hosts = self.handler.crawl.hosts
        name = asked_name(curi.uri)
        server = referral(self.recorder.response.read(0, LOOKED_THROUGH))
        if server and name:
            hosts.inquiry(name).referral = server
            hosts.inquiry_changed(name)

    async def _resolved(self, host: str, port: int) -> list[str]:
        """Heritrix has the system look the server up; in the modern profile that was done before, and archived."""
        addresses = self.known_addresses(host)
        if addresses or self._proxy() is not None:
            return addresses
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
        except (OSError, UnicodeError) as error:
            raise Failed(status.CONNECT_FAILED, Why.NO_ADDRESS, f"no address for {host}: {error}", error) from error
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _port(authority: str | None) -> int:
    _, colon, digits = (authority or "").rpartition("]")[2].rpartition(":")
    return int(digits) if colon and digits else PORT


class WhoisDownloadHandler(ConversationHandler):
    """Download handler for ``whois``."""

    talk = WhoisFetch

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.crawl.before_finish.append(self._settled)

    def _settled(self, curi: CrawlURI) -> None:
        """A question has come to its end: names that wait for it go on."""
        if curi.uri.startswith("whois:") and not is_generic(curi.uri):
            inquiry = self.crawl.hosts.inquiry(curi.uri)
            inquiry.ended_ms = self.crawl.clock.now_ms()
            inquiry.failed = curi.status != status.WHOIS_OK
            self.crawl.hosts.inquiry_changed(curi.uri)
