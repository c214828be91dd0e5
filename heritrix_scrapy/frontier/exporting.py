"""How do the URIs that still wait get into a file?

One line a URI, queue by queue in the order of their names, each queue in the order in which it will be fetched
(Heritrix: BdbFrontier.exportPendingUris). The file appears under its name when it is whole.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import os
from typing import IO, TYPE_CHECKING, Any

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.journal import ADDED, line
from heritrix_scrapy.frontier.work import UriSweep, Work, all_names
from heritrix_scrapy.model.errors import UnpackError
from heritrix_scrapy.model.steering import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.model.crawluri import CrawlURI


def _as_json(curi: CrawlURI) -> str:
    told: dict[str, Any] = {
        "uri": curi.uri,
        "path": curi.path,
        "via": curi.via,
        "context": curi.via_context,
        "seed": curi.seed or None,
        "source": curi.source_tag,
        "directive": curi.directive,
        "force": curi.forced or None,
    }
    return json.dumps({key: value for key, value in told.items() if value not in (None, "")}) + "\n"


#: ``uris``: one URI a line; ``recover``: ``F+`` lines of the journal; ``json``: what ``import`` reads without loss.
FORMATS: dict[str, Callable[[CrawlURI], str]] = {
    "uris": lambda curi: curi.uri + "\n",
    "recover": lambda curi: line(ADDED, curi.uri, curi.path, curi.via),
    "json": _as_json,
}


class PendingLog(UriSweep):
    """Gives every URI that waits a line of the crawl log, with status 0 (Heritrix: AbstractFrontier.finalTasks,
    ``dumpPendingAtClose``)."""

    name = "dump-pending"

    def __init__(self, frontier: Frontier, now_ms: Callable[[], int], tell: Callable[[CrawlURI], None]) -> None:
        super().__init__(frontier, now_ms, lambda name: True)
        self._tell = tell
        self._unreadable = 0

    def visit(self, queue: Queue, key: bytes, row: bytes) -> None:
        try:
            self._tell(self.frontier.unpack(queue, key, row))
        except UnpackError:
            self._unreadable += 1

    def answer(self) -> dict[str, Any]:
        return {"written": self.looked_at - self._unreadable, "unreadable": self._unreadable}


class Export(Work):
    """Writes queued URIs; ``wanted``: which queues, by name; ``takes``: which URIs. Packed when the file's name ends in
    ``.gz``."""

    name = "export"

    def __init__(
        self,
        frontier: Frontier,
        path: Path,
        form: str,
        *,
        now_ms: Callable[[], int],
        wanted: Callable[[str], bool],
        takes: Callable[[str], bool],
        remark: str = "",
    ) -> None:
        self.remark = remark
        self.frontier = frontier
        self._path = path
        self._text = FORMATS[form]
        self._now_ms = now_ms
        self._takes = takes
        self._names = all_names(frontier)
        self._wanted = wanted
        self._over = False
        self._file: IO[bytes] | None = None
        self._queue: Queue | None = None
        self._at = b""
        self._written = self._unreadable = 0

    @property
    def _unfinished(self) -> Path:
        return self._path.with_name(self._path.name + ".open")

    def run(self, enough: Callable[[], bool]) -> bool:
        self.frontier.flush(self._now_ms())
        try:
            if self._file is None:
                file = self._opened()
                self._file = gzip.GzipFile(fileobj=file, mode="wb") if self._path.suffix == ".gz" else file  # type: ignore[assignment]
            while not self._over:
                self._next_queue(enough)
                if self._queue is not None and not self._copy(enough):
                    return False
                if not self._over and enough():
                    return False
            assert self._file is not None
            raw = getattr(self._file, "fileobj", None) or self._file
            if raw is not self._file:
                self._file.close()
            raw.flush()
            os.fsync(raw.fileno())
            raw.close()
            self._unfinished.replace(self._path)
        except OSError as error:
            # whether the crawl's own disk is full it will find out by itself
            raise Refused(f"{self._path}: {error.strerror or error}") from error
        return True

    def _opened(self) -> IO[bytes]:
        """The unfinished file, for this export alone; one that was cut off is begun again. Raises Refused."""
        file = self._unfinished.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise Refused(f"{self._path}: another export writes to it") from None
        file.truncate(0)
        return file

    def _next_queue(self, enough: Callable[[], bool]) -> None:
        """Go on to a queue that has something to be written, unless there is one, as far as there is time."""
        number = 0
        while self._queue is None and not self._over:
            name = next(self._names, None)
            if name is None:
                self._over = True
            elif self._wanted(name):
                queue = self.frontier.queue(name)
                if queue is not None and queue.record.count:
                    self._queue, self._at = queue, queue.prefix
            number += 1
            if number % 16 == 0 and enough():
                return

    def _copy(self, enough: Callable[[], bool]) -> bool:
        """The rest of the queue; whether it is through."""
        assert self._queue is not None
        assert self._file is not None
        lines = []
        store = self.frontier.ledger.store
        for number, (key, row) in enumerate(store.range(self._at, keys.after(self._queue.prefix)), 1):
            self._at = key + b"\0"
            try:
                curi = self.frontier.unpack(self._queue, key, row)
            except UnpackError:
                self._unreadable += 1
                continue
            if self._takes(curi.uri):
                self._written += 1
                lines.append(self._text(curi))
            if number % 64 == 0 and enough():
                self._file.write("".join(lines).encode("utf-8", "replace"))
                return False
        self._file.write("".join(lines).encode("utf-8", "replace"))
        self._queue = None
        return True

    def answer(self) -> dict[str, Any]:
        return {"written": self._written, "unreadable": self._unreadable, "file": str(self._path)}
