"""What does the crawl do with what it remembers of earlier fetches?

``HistoryMiddleware`` looks a URI up before it is fetched and adds the condition; the chain then asks
``Recall.judge`` whether the answer repeats something, and tells ``Recall.keep`` what became of it.
"""

from __future__ import annotations

import logging
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from heritrix_scrapy.archive import history
from heritrix_scrapy.archive.history import Policy
from heritrix_scrapy.archive.lookup import CdxServer, preload
from heritrix_scrapy.archive.memory import SCHEMA, History
from heritrix_scrapy.archive.pool import WarcPool
from heritrix_scrapy.crawl import Crawl, is_internal
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.model.revisit import ANNOTATIONS, IDENTICAL_PAYLOAD, NOT_MODIFIED, Original
from heritrix_scrapy.requests import lookup
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from heritrix_scrapy.archive.cdx import Capture
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.revisit import Entry

logger = logging.getLogger(__name__)

#: Profile → what is counted.
REPETITIONS = {profile: f"revisits/{profile}" for profile in ANNOTATIONS}

#: In the crawl log: the links of an unchanged page are those it had when it was last read.
FROM_HISTORY = "outlinksFromHistory"

#: In the crawl log: the server said "not modified" and nobody had asked.
UNASKED = "notModifiedUnasked"


class Recall:
    """Judges fetches by what is remembered. ``by_uri``, ``by_digest``: which memories are used; ``length``: entries
    kept for each URI, the latest included."""

    def __init__(self, memory: History, *, by_uri: bool, by_digest: bool, length: int = 2) -> None:
        self.memory = memory
        self.by_uri, self.by_digest, self.length = by_uri, by_digest, max(length, 2)
        self.counts: dict[str, int] = {}

    def load(self, curi: CrawlURI) -> list[Entry]:
        """Have the URI carry what is remembered of it."""
        if curi.history is None:
            remembered = self.by_uri and curi.scheme in history.REMEMBERED
            curi.history = self.memory.entries(curi.uri) if remembered else []
            if remembered:
                self._count("history/loaded" if curi.history else "history/missed")
        return curi.history

    def last_fetch_ms(self, uri: str) -> int | None:
        """When the URI was fetched last, as far as is remembered."""
        entries = self.memory.entries(uri) if self.by_uri else ()
        return entries[0].began_ms if entries else None

    def learn(self, capture: Capture) -> None:
        """Take in a capture that others made; of two of one URI the later stays in front."""
        if capture.revisit or capture.digest is None:
            return
        entry = capture.entry()
        if self.by_uri and capture.uri.partition(":")[0] in history.REMEMBERED:
            before = self.memory.entries(capture.uri)
            place = history.inserted(entry, before, self.length)
            if place is not None and all(known.began_ms != entry.began_ms for known in before):
                after = [*before[:place], entry, *before[place:]][: self.length]
                self.memory.put_entries(capture.uri, after)
        if self.by_digest and self.memory.original(capture.digest) is None:
            original = Original(capture.uri, capture.ms, None, capture.file, capture.offset, status=entry.status or 200)
            self.memory.put_original(capture.digest, original)

    def preload(self, path: Path) -> None:
        """Take in a file, once. Raises ConfigurationError when it cannot be read."""
        try:
            about = path.stat()
            mark = f"{path.resolve()} {about.st_size} {about.st_mtime_ns}"
            if self.memory.has_read(mark):
                return
            number = 0
            for number, capture in enumerate(preload(path), 1):
                self.learn(capture)
                if number % 10_000 == 0:
                    self.memory.sync()
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigurationError("HERITRIX_HISTORY_PRELOAD", str(path), f"cannot be read: {error}") from error
        self.memory.note_read(mark)
        self.memory.sync()
        logger.info("%d captures of %s are remembered", number, path)

    def condition(self, curi: CrawlURI) -> list[tuple[str, str]]:
        """The header lines that ask the server whether the URI has changed."""
        view = curi.settings
        if curi.is_prerequisite or curi.method not in ("GET", "HEAD"):
            return []
        etag, modified = history.condition(self.load(curi), Policy.of(view))
        lines = []
        if modified and view.send_if_modified_since:
            lines.append(("If-Modified-Since", modified))
        if etag and view.send_if_none_match:
            lines.append(("If-None-Match", etag))
        return lines

    def judge(self, curi: CrawlURI) -> None:
        """Set ``revisit`` and the annotation of a fetch that repeats an earlier one."""
        for note in (*ANNOTATIONS.values(), UNASKED):
            if note in curi.annotations:
                curi.annotations.remove(note)
        curi.revisit = None
        if curi.status <= 0:
            return
        policy = Policy.of(curi.settings)
        # no revisit record is written of an answer of another scheme
        kept_once = not policy.modern or curi.scheme in history.REMEMBERED
        if self.by_digest and kept_once and history.weighable(curi):
            known = history.known_by(curi, policy)
            assert known is not None
            curi.revisit = history.same_content(curi, self.memory.original(known), policy)
        if self.by_uri and curi.scheme in history.REMEMBERED:
            before = self.load(curi)
            entry = history.entry_of(curi, before, policy)
            found = history.compare(curi, entry, before, policy)
            curi.revisit = found or curi.revisit
            curi.entry = entry
        if curi.revisit is not None:
            curi.annotate(ANNOTATIONS[curi.revisit.profile])
        elif policy.modern and curi.status == 304 and curi.scheme.startswith("http"):
            curi.annotate(UNASKED)

    def restore_links(self, curi: CrawlURI) -> None:
        """Give a page that has not changed the links it had: its answer has no body to read them from."""
        if curi.revisit is None or curi.revisit.profile != NOT_MODIFIED or curi.settings.profile == "heritrix":
            return
        known = {link.uri for link in curi.outlinks}
        links = [link for link in self.memory.links(curi.uri) if link.uri not in known]
        if links:
            curi.outlinks.extend(links)
            curi.annotate(FROM_HISTORY)

    def keep(self, curi: CrawlURI) -> None:
        """Remember a fetch whose records are written, or that repeats one whose are."""
        if curi.status <= 0 or curi.credential_pending:
            return
        revisit, written = curi.revisit, curi.warc_file is not None
        if revisit is not None:
            self._count(REPETITIONS[revisit.profile])
        modern = curi.settings.profile != "heritrix"
        if self.by_digest and written and history.weighable(curi):
            self._keep_content(curi)
        entry = curi.entry
        if entry is None or not self.by_uri or curi.scheme not in history.REMEMBERED:
            return
        if modern and curi.status == 304 and revisit is None:
            return
        before = curi.history or []
        if written:
            entry.file, entry.offset = curi.warc_file, curi.warc_offset
        elif revisit is not None and before:
            entry.file, entry.offset = before[0].file, before[0].offset
        if entry.file is None:
            return
        if revisit is None:
            entry.original_ms, entry.original_id = entry.began_ms, curi.record_id
        elif entry.original_ms < 0 and isinstance(revisit.refers_to_date, int):
            entry.original_uri = None if revisit.refers_to_target_uri == curi.uri else revisit.refers_to_target_uri
            entry.original_ms, entry.original_id = revisit.refers_to_date, revisit.refers_to
        self.memory.put_entries(curi.uri, history.pushed(entry, before, self.length))
        if modern and revisit is None and curi.outlinks and (entry.etag or entry.last_modified):
            self.memory.put_links(curi.uri, curi.outlinks)

    def _keep_content(self, curi: CrawlURI) -> None:
        digest, revisit = history.known_by(curi, Policy.of(curi.settings)), curi.revisit
        assert digest is not None
        named = curi.digest if curi.digest != digest else None
        known = self.memory.original(digest)
        if revisit is None:
            began = curi.began_ms if curi.began_ms is not None else 1
            self.memory.put_original(
                digest,
                Original(curi.uri, began, curi.record_id, curi.warc_file, curi.warc_offset, 1, curi.status, named),
            )
        elif revisit.profile != IDENTICAL_PAYLOAD:
            return
        elif known is not None:
            known.count += 1
            self.memory.put_original(digest, known)
        elif isinstance(revisit.refers_to_date, int):
            uri = revisit.refers_to_target_uri or curi.uri
            self.memory.put_original(
                digest, Original(uri, revisit.refers_to_date, revisit.refers_to, count=2, status=curi.status)
            )

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def drain_counts(self) -> dict[str, int]:
        """What was counted since the last call."""
        counts, self.counts = self.counts, {}
        return counts


class HistoryMiddleware:
    """The downloader middleware that looks URIs up before they are fetched; offers itself as ``Crawl.recall``.

    A condition is added where no callback waits for the answer, or where ``meta["conditional"]`` is true: a spider
    that asked for a page wants the page.
    """

    def __init__(self, crawler: Crawler) -> None:
        crawl = Crawl.of(crawler)
        view = settings_of(crawler).view
        if crawl.looking or not (view.fetch_history or view.content_digest_history):
            raise NotConfigured
        place = Path(view.history_dir) if view.history_dir else crawl.jobdir.history
        setting = "HERITRIX_HISTORY_DIR" if view.history_dir else "JOBDIR"
        self._crawl = crawl
        self.recall = Recall(
            History(
                open_store(place, schema=SCHEMA, setting=setting),
                lambda: [
                    folder
                    for archive in crawl.archives
                    if isinstance(archive, WarcPool)
                    for folder in archive.folders()
                ],
            ),
            by_uri=view.fetch_history,
            by_digest=view.content_digest_history,
            length=view.fetch_history_length,
        )
        crawl.recall = self.recall
        crawl.archives.append(self.recall.memory)
        if not view.history_dir:
            crawl.durables["history"] = self.recall.memory
        self._recover()
        for path in view.history_preload:
            self.recall.preload(Path(path))
        self._server: CdxServer | None = None
        if view.history_cdx_url:
            self._server = CdxServer(
                view.history_cdx_url,
                timeout=view.history_cdx_timeout_seconds,
                range_seconds=view.history_cdx_range_seconds,
                attempts=view.history_cdx_attempts,
                headers={str(name): str(value) for name, value in view.history_cdx_headers.items()},
                now_ms=crawl.clock.now_ms,
            )

    def _recover(self) -> None:
        kept, lost = self.recall.memory.recover()
        if kept or lost:
            logger.info(
                "%d memories of the last moments before a crash are kept, %d that name no whole record are dropped",
                kept,
                lost,
            )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_closed, signals.spider_closed)
        return middleware

    async def process_request(self, request: Request) -> None:
        curi = lookup(request)
        if curi is None or not curi.scheme.startswith("http"):
            return
        curi.method = request.method
        if not self.recall.load(curi) and self._server is not None and self.recall.by_uri and not curi.is_prerequisite:
            capture = await self._server.latest(curi.uri)
            if capture is not None:
                self.recall.learn(capture._replace(uri=curi.uri))
                curi.history = None
                self.recall.load(curi)
        asked = request.meta.get("conditional")
        if asked is False or not (asked or is_internal(request)):
            return
        for name, value in self.recall.condition(curi):
            request.headers.setdefault(name, value)

    def spider_closed(self) -> None:
        self._crawl.add_stats(self.recall.drain_counts())
        if self._server is not None:
            self._crawl.add_stats({"history/asked": self._server.asked, "history/failed": self._server.failed})
        try:
            self.recall.memory.close()
        except StorageFull as error:
            logger.error("what was fetched last is not remembered: %s", error)
