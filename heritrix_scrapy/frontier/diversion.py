"""How do URIs that belong to other crawlers reach them?

One file for each crawler and period: ``<time>-<local>-to-<target>.open`` while it is written, ``.divert`` when it is
complete (Heritrix: CrawlMapper.divertLog). A line is one of the recovery journal's, so that the other crawler imports
the file as it is; the heritrix profile writes Heritrix's own. The files are among what a batch of the frontier vouches
for: a page whose links are on no disk is fetched again.
"""

from __future__ import annotations

import os
import time
from typing import IO, TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heritrix_scrapy.crawl import Clock
    from heritrix_scrapy.model.crawluri import CrawlURI

OPEN, DONE = ".open", ".divert"

#: URIs of which it is remembered that they were diverted: twice so many at most.
REMEMBERED = 1 << 18


class Diversions:
    """The diversion files of a crawler (one of ``Crawl.archives``). ``digits``: of the time's 14 that name a period,
    10 being an hour; ``local``: this crawler's name; ``lines``: written since somebody took the count."""

    def __init__(self, directory: Path, local: str, clock: Clock, *, digits: int = 10, heritrix: bool = False) -> None:
        self.local = local
        self.lines = 0
        self._directory = directory
        self._clock = clock
        self._digits = digits
        self._heritrix = heritrix
        self._period = ""
        self._files: dict[str, IO[bytes]] = {}
        self._written: set[str] = set()
        self._lately: set[int] = set()
        self._before: set[int] = set()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            now = self._now()
            for path in directory.glob(f"*-{local}-to-*{OPEN}"):
                if path.name.partition("-")[0] != now:
                    self._complete(path)
        except OSError as error:
            raise StorageFull(f"{directory}: {error.strerror}") from error

    def _now(self) -> str:
        return time.strftime("%Y%m%d%H%M%S", time.gmtime(self._clock.now_ms() // 1000))[: self._digits]

    def write(self, target: str, class_key: str, curi: CrawlURI) -> None:
        """Add the URI to the file for its crawler, unless it stood in one lately. Raises StorageFull."""
        period = self._now()
        if period != self._period:
            self.close()
            self._period = period
        known = xxh3_64_intdigest(curi.uri.encode("utf-8", "surrogatepass"))
        if known in self._lately or known in self._before:
            return
        via = curi.via or ""
        head = f"{class_key} CrawlURI" if self._heritrix else "F+"
        line = f"{head} {curi.uri} {curi.path} {via}\n".encode("utf-8", "surrogatepass")
        try:
            self._file(target).write(line)
        except OSError as error:
            raise StorageFull(f"{self._directory}: {error.strerror}") from error
        self._written.add(target)
        self.lines += 1
        if len(self._lately) >= REMEMBERED:
            self._before, self._lately = self._lately, set()
        self._lately.add(known)

    def _file(self, target: str) -> IO[bytes]:
        file = self._files.get(target)
        if file is None:
            path = self._path(target)
            _cut_torn_line(path)
            file = self._files[target] = path.open("ab")
        return file

    def _path(self, target: str) -> Path:
        return self._directory / f"{self._period}-{self.local}-to-{target}{OPEN}"

    def _complete(self, path: Path) -> None:
        """Give a file the name of a complete one; a process before may have left another for this period."""
        _cut_torn_line(path)
        done, number = path.with_suffix(DONE), 1
        while done.exists():
            number += 1
            done = path.with_name(f"{path.stem}.{number}{DONE}")
        path.rename(done)

    def close(self) -> None:
        """All files are complete. Raises StorageFull."""
        files, self._files = self._files, {}
        try:
            for target, file in files.items():
                file.close()
                self._complete(self._path(target))
        except OSError as error:
            raise StorageFull(f"{self._directory}: {error.strerror}") from error

    # -- one of the archives -------------------------------------------------------------------------------

    def flush(self) -> Mapping[str, int]:
        """Hand what was written to the system; name → length of each file written to."""
        lengths = {}
        try:
            for target in self._written:
                file = self._files.get(target)
                if file is not None:
                    file.flush()
                    lengths[self._path(target).name] = file.tell()
        except OSError as error:
            raise StorageFull(f"{self._directory}: {error.strerror}") from error
        self._written.clear()
        return lengths

    def sync(self) -> None:
        """Have it on the disk."""
        for file in self._files.values():
            os.fsync(file.fileno())

    def length(self, name: str) -> int:
        """Bytes of the file of that name, complete by now or not; -1 when there is none."""
        if not name.endswith(OPEN):
            return -1
        stem = name.removesuffix(OPEN)
        paths = [self._directory / name, self._directory / (stem + DONE), *self._directory.glob(f"{stem}.*{DONE}")]
        return max((path.stat().st_size for path in paths if path.exists()), default=-1)


def _cut_torn_line(path: Path) -> None:
    """What a killed process left of a line goes: its URI's page is fetched again, and writes it anew."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data_end = file.seek(0, os.SEEK_END)
        at = max(data_end - 65_536, 0)
        file.seek(at)
        tail = file.read()
        if tail and not tail.endswith(b"\n"):
            file.truncate(at + tail.rfind(b"\n") + 1)
