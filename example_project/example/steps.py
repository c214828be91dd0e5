"""Steps of the project's own, one for each point in the life of a URI."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI


class OnlyShort:
    """``before_fetch``: addresses of more than 200 characters are not fetched."""

    def process(self, curi: CrawlURI) -> None:
        if len(curi.uri) > 200:
            curi.status = -5002
            curi.annotate("tooLong")


class NoteServer:
    """``after_fetch``: what answered stands in crawl.log, as an annotation."""

    def process(self, curi: CrawlURI) -> None:
        server = curi.header(b"server")
        if server:
            curi.annotate("server:" + server.decode("latin-1"))


class NoCalendar:
    """``after_extract``: links into the calendar, which has no end, are dropped."""

    def process(self, curi: CrawlURI) -> None:
        curi.outlinks = [link for link in curi.outlinks if "/calendar/" not in link.uri]


class Provenance:
    """``disposition``: where the records are goes into the extra information of the log line."""

    async def process(self, curi: CrawlURI) -> None:
        if curi.record_id:
            curi.extra_info["record"] = curi.record_id
