"""Steps of the project's own: one for each point in the life of a URI, and some that steer where a crawl goes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.crawl import Crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

ARTICLE = re.compile(rb"<meta\s[^>]{0,200}og:type[^>]{0,200}article")


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


class StopAtArticles:
    """``after_extract``, for a vertical crawl: an article is what the crawl is about. What it embeds is fetched,
    where it leads to is not."""

    def process(self, curi: CrawlURI) -> None:
        if curi.recorder is None or not curi.content_type.startswith("text/html"):
            return
        if ARTICLE.search(curi.recorder.entity(64 * 1024)):
            curi.outlinks = [link for link in curi.outlinks if link.hop in "ER"]
            curi.annotate("article")


class TopicSooner:
    """``disposition``: pages in which a word of TOPIC stands are fetched again after TOPIC_SECONDS (an hour)."""

    def __init__(self, crawler: Crawler) -> None:
        self.clock = Crawl.of(crawler).clock
        self.words = [word.encode() for word in crawler.settings.getlist("TOPIC")]
        self.seconds = crawler.settings.getfloat("TOPIC_SECONDS", 3600)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process(self, curi: CrawlURI) -> None:
        if curi.status == 200 and curi.recorder is not None and curi.content_type.startswith("text/"):
            text = curi.recorder.entity(1024 * 1024)
            if any(word in text for word in self.words):
                curi.reschedule_at = self.clock.now_ms() + int(self.seconds * 1000)
                curi.annotate("topic")
