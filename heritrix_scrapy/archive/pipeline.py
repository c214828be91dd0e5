"""How do captures reach the WARC files of a Scrapy project?

``WarcWriterPipeline`` is an item pipeline whose items are CrawlURIs; it is opened and closed by Scrapy and called
by the capture chain, before any code of the user sees the answer.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter, is_item

from heritrix_scrapy.archive.capture import CapturePipeline
from heritrix_scrapy.archive.roll import missing
from heritrix_scrapy.archive.writer import WarcWriter
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from scrapy.crawler import Crawler

__all__ = ["CapturePipeline", "WarcWriterPipeline"]

logger = logging.getLogger(__name__)

#: Groups of records after which their counts are handed on.
DRAINED = 50


class WarcWriterPipeline(CapturePipeline):
    """Writes each capture as a group of WARC records (Heritrix: WARCWriterChainProcessor).

    After it ``curi.record_id``, ``warc_file`` and ``warc_offset`` say where the group stands, and the extra
    information has ``warcFilename`` and ``warcFileOffset``. One writer for each ``warc`` of ``HERITRIX_WRITERS``, all
    of them offered as ``Crawl.archives``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl = crawl = Crawl.of(crawler)
        self._view = view = settings_of(crawler).view
        self.writers = [
            WarcWriter(crawl, properties, gate_of(crawl, properties, view.warc_writer_should_process_rule), place)
            for place, (name, properties) in enumerate(view.writers)
            if name == "warc" and properties.get("enabled", True)
        ]
        # before the history, which may only name what these files hold
        crawl.archives[:0] = [writer.files for writer in self.writers]
        self._items = view.warc_item_records
        self._failures = view.warc_failure_records
        if self._failures != "none" and self.writers:
            crawl.before_finish.append(self._finished)

    def process_item(self, item: Any) -> Any:
        """A CrawlURI is written; an item of the project's is handed on, and written where the settings say so."""
        if type(item) is not CrawlURI and self._items != "none" and self.writers and is_item(item):
            try:
                self.writers[0].write_item(ItemAdapter(item), self._items)
            except StorageFull as error:
                # the item goes its way all the same; the crawl waits
                self._crawl.bridge.pause(error)
        return super().process_item(item)

    @property
    def files(self) -> Any:
        """The files of the first writer."""
        return self.writers[0].files

    def open_spider(self) -> None:
        """Repair what a crash left, also when this crawl writes nothing; tell which files of the job are gone that it
        had when its checkpoint was made."""
        crawl = self._crawl
        if crawl.began_with and crawl.store is not None and (gone := missing(crawl.store, crawl.moved)) is not None:
            logger.warning(
                "%d of the %d WARC files that the crawl had written by its checkpoint %s are not where they were"
                " written, %s the first of them: were they deleted or moved? What they hold is not fetched again",
                gone.number,
                gone.of,
                crawl.began_with,
                gone.first,
            )
        if self._view.launch_dirs and not self._crawl.jobdir.temporary and self._crawl.jobdir.launch is None:
            # the first launch's folder is not there yet; asking for it would make one outside
            return
        for writer in self.writers:
            writer.files.repair()

    def close_spider(self) -> None:
        """Finish the open files; their lengths can still be asked for."""
        for writer in self.writers:
            try:
                writer.close()
            except StorageFull as error:
                logger.error("a file stays open, and is closed when the crawl starts again: %s", error)
            self._count(writer.files.drain_counts())

    def _count(self, counts: Mapping[str, int]) -> None:
        if self._crawl.report is not None:
            self._crawl.report.count(counts)
        else:
            self._crawl.add_stats(counts)

    def process_capture(self, curi: CrawlURI) -> Awaitable[None] | None:
        """Write the records of one URI; what is returned is to be awaited. Raises StorageFull; then nothing of it is
        in the file."""
        waiting: list[Coroutine[Any, Any, None]] = []
        for writer in self.writers:
            later = writer.write(curi)
            if later is not None:
                waiting.append(later)
            if writer.files.counted >= DRAINED:
                self._count(writer.files.drain_counts())
        return all_of(waiting) if waiting else None

    def _finished(self, curi: CrawlURI) -> None:
        """Write down a URI that ended without an answer."""
        if curi.status > 0 or not (curi.seed or self._failures == "all"):
            return
        try:
            self.writers[0].write_failure(curi)
        except StorageFull as error:
            self._crawl.bridge.pause(error)


async def all_of(waiting: list[Coroutine[Any, Any, None]]) -> None:
    """Await one after the other; when one fails the rest is not begun."""
    while waiting:
        try:
            await waiting.pop(0)
        except BaseException:
            for rest in waiting:
                rest.close()
            raise


def gate_of(crawl: Crawl, properties: Any, general: Any) -> Callable[[CrawlURI], bool] | None:
    """The test that a writer's rule, or the one for all writers of its kind, comes to; None when there is none."""
    rule = properties.get("should_process")
    rule = general if rule is None else rule
    return None if rule is None or crawl.gate is None else crawl.gate(rule)
