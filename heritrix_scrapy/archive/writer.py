"""What does one entry of ``HERITRIX_WRITERS`` write, and where to?

``["warc", {properties}]``: each property speaks in the place of the setting of its name, so that several writers
can differ in prefix, folder, rule and what they write (Heritrix: one WARCWriterChainProcessor bean each).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.alone import Crawler as Who
from heritrix_scrapy.archive.alone import failure, item, named, warcinfo
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.pool import WarcPool
from heritrix_scrapy.archive.records import NO_FACTS, Facts, Form, Record, group, target, wanted
from heritrix_scrapy.archive.roll import Roll
from heritrix_scrapy.archive.warcfile import WarcFiles
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD
from heritrix_scrapy.model.version import VERSION
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.settings.agent import user_agent
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX
from heritrix_scrapy.settings.validate import check

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from heritrix_scrapy.crawl import Crawl
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

SOFTWARE = f"heritrix_scrapy/{VERSION}"

#: Response bytes from which a group is written by a thread, so that the crawl goes on meanwhile.
LARGE = 4 * 1024 * 1024

#: Property of a writer → the setting that it speaks in place of.
PROPERTIES: dict[str, str] = {
    "dir": "WARC_DIR",
    "directory": "WARC_DIR",
    "store_paths": "WARC_STORE_PATHS",
    "prefix": "WARC_PREFIX",
    "template": "WARC_TEMPLATE",
    "compress": "WARC_COMPRESS",
    "version": "WARC_VERSION",
    "max_file_size_bytes": "WARC_MAX_FILE_SIZE_BYTES",
    "max_file_age_seconds": "WARC_MAX_FILE_AGE_SECONDS",
    "max_file_captures": "WARC_MAX_FILE_CAPTURES",
    "min_free_bytes": "WARC_MIN_FREE_BYTES",
    "pool_max_active": "WARC_POOL_MAX_ACTIVE",
    "skip_identical_digests": "WARC_SKIP_IDENTICAL_DIGESTS",
    "write_responses": "WARC_WRITE_RESPONSES",
    "write_revisits": "WARC_WRITE_REVISITS",
    "write_requests": "WARC_WRITE_REQUESTS",
    "write_metadata": "WARC_WRITE_METADATA",
    "response_headers": "WARC_RESPONSE_HEADERS",
}

#: Kinds of records that hold content which no record held before.
NOVEL = frozenset({"response", "resource"})

#: Properties that every writer has.
COMMON = frozenset({"id", "enabled", "should_process"})


def chosen(name: str, properties: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a writer that are not common ones, by the names in ``known``. Raises ConfigurationError."""
    unknown = properties.keys() - known.keys() - COMMON
    if unknown:
        raise ConfigurationError(
            "HERITRIX_WRITERS", [name, dict(properties)], f"no such property: {', '.join(sorted(unknown))}"
        )
    return {key: value for key, value in properties.items() if key in known}


class WarcWriter:
    """Writes captures into WARC files of its own. ``place``: among the crawl's writers."""

    def __init__(
        self, crawl: Crawl, properties: Mapping[str, Any], gate: Callable[[CrawlURI], bool] | None, place: int = 0
    ) -> None:
        self._crawl = crawl
        self._base = base = settings_of(crawl.crawler).view
        self._own = {}
        for key, value in chosen("warc", properties, PROPERTIES).items():
            row = BY_NAME[PROPERTIES[key]]
            self._own[row.name] = check(row, value)
        self.view: Any = base.replace(self._own) if self._own else base
        self._gate = gate
        self._form = Form.of(self.view)
        self._machine = Machine.here()
        self._names = FileNames(
            self.view.warc_template,
            self.view.warc_prefix,
            compress=self.view.warc_compress,
            machine=self._machine,
            now_ms=crawl.clock.now_ms,
            serial=self.view.warc_first_serial,
            parts=self.view.warc_name_parts,
        )
        self._roll = Roll(lambda: crawl.store, str(properties.get("id", place)))
        for key in ("WARC_DIR", "WARC_STORE_PATHS"):
            if key in self._own:
                check_stores(key, self.stores())
        self._index = cdxj.Growing() if self.view.cdxj else None
        self.files = WarcPool(self._files, self.view.warc_pool_max_active)
        self._free = asyncio.Condition()
        #: Records that stand alone, of items and of URIs without an answer, until a file is free.
        self._owed: deque[Callable[[str], Record]] = deque()
        self._views: dict[int, tuple[Any, Any]] = {}

    def _files(self) -> WarcFiles:
        view = self.view
        return WarcFiles(
            lambda: self.stores()[0],
            self._name,
            self._warcinfo,
            compress=view.warc_compress,
            limit=view.warc_max_file_size_bytes,
            age=view.warc_max_file_age_seconds,
            groups=view.warc_max_file_captures,
            reserve=view.warc_min_free_bytes,
            stores=self.stores,
            elsewhere=self._earlier,
            follow=self._names.follow,
            claim=self._claim,
            monotonic=self._crawl.clock.monotonic,
            unused=self._names.unused,
            opened=lambda name, place: self._roll.add(name, place, self._names.serial),
            closed=None if self._index is None else self._index.closed,
        )

    # -- writing -------------------------------------------------------------------------------------------

    def write(self, curi: CrawlURI) -> Coroutine[Any, Any, None] | None:
        """Write the records of one URI, at once, or by what is returned when they are large or all files are being
        written to. Raises StorageFull; then nothing of it is in the file."""
        if not wanted(curi, modern=self._form.modern):
            return None
        if self._gate is not None and not self._gate(curi):
            return None
        view = self._view_of(curi)
        revisit = curi.revisit
        if revisit is not None and revisit.profile == IDENTICAL_PAYLOAD and view.warc_skip_identical_digests:
            curi.annotate("unwritten:identicalDigest")
            return None
        form = self._form if view is self.view else Form.of(view)
        recorder = curi.recorder
        files = self.files.idle()
        if files is None or (
            recorder is not None and recorder.response.size >= LARGE and not recorder.response.in_memory
        ):
            return self._write_later(curi, form)
        self._write(files, curi, form, self._prepared(files, curi))
        if self._owed:
            self._pay()
        return None

    def _prepared(self, files: WarcFiles, curi: CrawlURI) -> str:
        recorder = curi.recorder
        return files.prepare(self._need(curi), recorder.response.size if recorder is not None else 0)

    def _need(self, curi: CrawlURI) -> int:
        """Bytes that a capture may add to a file; Heritrix looks at the file as it is, and so exceeds the limit."""
        recorder = curi.recorder
        return recorder.response.size if self._form.modern and recorder is not None and curi.revisit is None else 0

    def _view_of(self, curi: CrawlURI) -> Any:
        view = curi.settings
        if view is None or view is self._base:
            return self.view
        if not self._own:
            return view
        kept = self._views.get(id(view))
        if kept is None or kept[0] is not view:
            kept = self._views[id(view)] = (view, view.replace(self._own))
        return kept[1]

    def _write(self, files: WarcFiles, curi: CrawlURI, form: Form, warcinfo_id: str) -> None:
        facts = NO_FACTS
        recorder = curi.recorder
        said = recorder.conversation if recorder is not None else None
        headers = (*form.response_headers, *(curi.warc_headers or ()))
        if curi.revisit is not None or headers or said is not None:
            reply = recorder.reply if recorder is not None else None
            facts = Facts(curi.revisit, headers, said, reply)
        records = group(curi, form, record_id, warcinfo_id=warcinfo_id, facts=facts)
        if not records:
            return
        name, offset = files.append(records)
        for record in records:
            if record.kind in NOVEL:
                curi.warc_novel = curi.warc_novel[0] + record.length, curi.warc_novel[1] + 1
        curi.record_id = records[0].id
        curi.warc_file, curi.warc_offset = name, offset
        curi.extra_info["warcFilename"] = name
        curi.extra_info["warcFileOffset"] = offset
        if self._index is not None and records[0].kind in cdxj.KINDS and not curi.uri.startswith("dns:"):
            self._index.add(name, index_line(curi, records[0].kind, files.first_size))

    async def _write_later(self, curi: CrawlURI, form: Form) -> None:
        async with self._free:
            while (files := self.files.idle()) is None:
                await self._free.wait()
            files.busy = True
        try:
            # names and files are made here: a thread only writes
            work = asyncio.ensure_future(asyncio.to_thread(self._write, files, curi, form, self._prepared(files, curi)))
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                # a thread cannot be stopped; the file is another's only when it has ended
                await asyncio.wait([work])
                raise
        finally:
            files.busy = False
            async with self._free:
                self._free.notify_all()
        if self._owed:
            self._pay()

    def write_failure(self, curi: CrawlURI) -> None:
        """Say in a metadata record that a URI was tried, and how it ended. Raises StorageFull; it is written then when
        there is room again."""
        now_ms = self._crawl.clock.now_ms()
        known = failure(curi, self._form, record_id(), now_ms)
        self._owed.append(lambda warcinfo_id: named(known, warcinfo_id, self._form))
        self._pay()

    def write_item(self, told: Mapping[str, Any], kind: str) -> None:
        """Write down what the user's spider made of a page. Raises StorageFull; it is written then when there is room
        again."""
        known = item(told, kind, self._form, record_id(), self._crawl.clock.now_ms())
        self._owed.append(lambda warcinfo_id: named(known, warcinfo_id, self._form))
        self._pay()

    def _pay(self) -> None:
        """Write the records that stand alone, as soon as a file is free. Raises StorageFull; they wait then."""
        while self._owed and (files := self.files.idle()) is not None:
            files.append([self._owed[0](files.prepare())])
            self._owed.popleft()

    def close(self) -> None:
        """Finish the files, after what still waits. Raises StorageFull."""
        try:
            self._pay()
        finally:
            if self._owed:
                logger.error("%d records of items or failures found no room and are lost", len(self._owed))
            self.files.close()

    # -- where ---------------------------------------------------------------------------------------------

    def stores(self) -> Sequence[Path]:
        """Where new files go: the settings, the JOBDIR's ``warcs``, without JOBDIR the working directory. A relative
        store path lies below the folder; without one, below the JOBDIR."""
        jobdir, view = self._crawl.jobdir, self.view
        if self._crawl.looking:
            return (jobdir.warcs,)
        if view.warc_store_paths:
            base = Path(view.warc_dir) if view.warc_dir else Path.cwd() if jobdir.temporary else jobdir.root
            return [base / path for path in view.warc_store_paths]
        if view.warc_dir:
            return (Path(view.warc_dir),)
        return (Path.cwd() if jobdir.temporary else jobdir.warcs,)

    def _earlier(self) -> Sequence[Path]:
        """Folders of earlier launches that may hold files the frontier still asks about."""
        if self._crawl.jobdir.temporary or self._elsewhere():
            return ()
        root = self._crawl.jobdir.root
        current = self.stores()[0]
        found = [root / "warcs", *root.glob("[0-9]" * 14 + "/warcs")]
        return [path for path in found if path != current and path.is_dir()]

    def _elsewhere(self) -> bool:
        return bool(self.view.warc_dir or self.view.warc_store_paths)

    def _claim(self) -> bytes | None:
        """In a folder that is not the job's own, only files that tell of this package are ours to repair."""
        own = not self._elsewhere() and not self._crawl.jobdir.temporary
        return None if own else b"software: heritrix_scrapy/"

    def _name(self) -> str:
        # what the store says also when the files themselves are elsewhere by now
        self._names.serial = max(self._names.serial, self._roll.serial())
        return self._names()

    def _warcinfo(self, filename: str) -> Record:
        # what a change of settings has made of who crawls, for each new file
        view, now = self.view, settings_of(self._crawl.crawler).view
        who = Who(
            software=SOFTWARE,
            user_agent=user_agent(view),
            robots=view.robots_policy,
            operator=now.operator,
            publisher=now.organization,
            audience=now.audience,
            job=view.job_name,
            description=now.description,
            mail=now.operator_from,
            machine=self._machine,
            more=tuple((str(name), str(value)) for name, value in view.warc_info_fields.items()),
        )
        return warcinfo(who, self._form, filename, self._crawl.clock.now_ms(), record_id())


def check_stores(name: str, stores: Sequence[Path]) -> None:
    """Whether one of a writer's own folders can be written to at least. Raises ConfigurationError."""
    refused: OSError | None = None
    for place in stores:
        try:
            place.mkdir(parents=True, exist_ok=True)
            probe = place / ".writable"
            probe.touch()
            probe.unlink()
            return
        except OSError as error:
            refused = error
    told = refused.strerror if refused is not None else "no folder"
    raise ConfigurationError(
        "HERITRIX_WRITERS", {PREFIX + name: [str(place) for place in stores]}, f"cannot be written to: {told}"
    )


def index_line(curi: CrawlURI, kind: str, size: int) -> str:
    """The line of an index for a capture that was just written."""
    mime = cdxj.REVISIT if kind == "revisit" else cdxj.type_of(curi.content_type)
    digest = curi.digest if curi.revisit is None else curi.revisit.payload_digest
    headed = curi.scheme.startswith("http") and (curi.revisit is None or curi.revisit.profile == IDENTICAL_PAYLOAD)
    assert curi.warc_file is not None
    return cdxj.line(
        target(curi.uri),
        cdxj.stamp14(curi.began_ms or 1),
        "unk" if mime == "unknown" else mime,
        str(curi.status) if headed else "",
        digest,
        size,
        curi.warc_offset,
        curi.warc_file,
    )


IDS_AT_ONCE = 256
_random: list[str] = []


def record_id() -> str:
    """A fresh record id (Heritrix: BaseWARCRecordBuilder.generateRecordID)."""
    # a random UUID (RFC 9562, 5.4), without uuid.uuid4's object and its system call: three are made for each page
    try:
        digits = _random.pop()
    except IndexError:
        more = os.urandom(16 * IDS_AT_ONCE).hex()
        digits = more[:32]
        _random.extend(more[at : at + 32] for at in range(32, len(more), 32))
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
