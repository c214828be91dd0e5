"""How do captures reach the WARC files of a Scrapy project?

``WarcWriterPipeline`` is an item pipeline whose items are CrawlURIs; it is opened and closed by Scrapy and called
by the capture chain, before any code of the user sees the answer.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive.capture import CapturePipeline
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.records import Crawler as Who
from heritrix_scrapy.archive.records import Form, Record, group, wanted, warcinfo
from heritrix_scrapy.archive.warcfile import WarcFiles
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.version import VERSION
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.settings.agent import user_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

__all__ = ["CapturePipeline", "WarcWriterPipeline"]

SOFTWARE = f"heritrix_scrapy/{VERSION}"


class WarcWriterPipeline(CapturePipeline):
    """Writes each capture as a group of WARC records (Heritrix: WARCWriterChainProcessor).

    After it ``curi.record_id``, ``warc_file`` and ``warc_offset`` say where the group stands, and the extra
    information has ``warcFilename`` and ``warcFileOffset``. Offers itself as one of ``Crawl.archives``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl = Crawl.of(crawler)
        self._view = settings_of(crawler).view
        self._form = Form.of(self._view)
        self._machine = Machine.here()
        names = FileNames(
            self._view.warc_template,
            self._view.warc_prefix,
            compress=self._view.warc_compress,
            machine=self._machine,
            now_ms=self._crawl.clock.now_ms,
        )
        self.files = WarcFiles(
            self._directory,
            names,
            self._warcinfo,
            compress=self._view.warc_compress,
            limit=self._view.warc_max_file_size_bytes,
            elsewhere=self._earlier,
            follow=names.follow,
            claim=self._claim,
        )
        self._crawl.archives.append(self.files)

    def open_spider(self) -> None:
        """Repair what a crash left, also when this crawl writes nothing."""
        self.files.repair()

    def close_spider(self) -> None:
        """Finish the open file; its length can still be asked for."""
        self.files.close()
        self._crawl.add_stats(self.files.drain_counts())

    def process_capture(self, curi: CrawlURI) -> None:
        """Write the records of one URI. Raises StorageFull; then nothing of it is in the file."""
        if not wanted(curi, modern=self._form.modern):
            return
        view = curi.settings
        form = self._form if view is None or view is self._view else Form.of(view)
        records = group(curi, form, record_id, warcinfo_id=self.files.prepare())
        name, offset = self.files.append(records)
        curi.record_id = records[0].id
        curi.warc_file, curi.warc_offset = name, offset
        curi.extra_info["warcFilename"] = name
        curi.extra_info["warcFileOffset"] = offset
        if self.files.counted >= 500:
            self._crawl.add_stats(self.files.drain_counts())

    def _directory(self) -> Path:
        """Where new files go: the setting, the JOBDIR's ``warcs``, without JOBDIR the working directory."""
        if self._crawl.looking:
            return self._crawl.jobdir.warcs
        if self._view.warc_dir:
            return Path(self._view.warc_dir)
        jobdir = self._crawl.jobdir
        return Path.cwd() if jobdir.temporary else jobdir.warcs

    def _earlier(self) -> Sequence[Path]:
        """Folders of earlier launches that may hold files the frontier still asks about."""
        if self._crawl.jobdir.temporary or self._view.warc_dir:
            return ()
        root = self._crawl.jobdir.root
        current = self._directory()
        found = [root / "warcs", *root.glob("[0-9]" * 14 + "/warcs")]
        return [path for path in found if path != current and path.is_dir()]

    def _claim(self) -> bytes | None:
        """In a folder that is not the job's own, only files that tell of this package are ours to repair."""
        own = not self._view.warc_dir and not self._crawl.jobdir.temporary
        return None if own else b"software: heritrix_scrapy/"

    def _warcinfo(self, filename: str) -> Record:
        view: Any = self._view
        who = Who(
            software=SOFTWARE,
            user_agent=user_agent(view),
            robots=view.robots_policy,
            operator=view.operator,
            publisher=view.organization,
            audience=view.audience,
            job=view.job_name,
            description=view.description,
            mail=view.operator_from,
            machine=self._machine,
        )
        return warcinfo(who, self._form, filename, self._crawl.clock.now_ms(), record_id())


IDS_AT_ONCE = 256
_random: list[str] = []


def record_id() -> str:
    """A fresh record id (Heritrix: BaseWARCRecordBuilder.generateRecordID)."""
    # a random UUID (RFC 9562, 5.4), without uuid.uuid4's object and its system call: three are made for each page
    if not _random:
        digits = os.urandom(16 * IDS_AT_ONCE).hex()
        _random.extend(digits[at : at + 32] for at in range(0, len(digits), 32))
    digits = _random.pop()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
