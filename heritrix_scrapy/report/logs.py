"""How do lines get into log files so that none is torn and a batch can vouch for them?

Lines gather in memory and are appended by ``flush``; a line that a crash tore is cut when the file is opened
again. A new crawl moves the old files aside under the time they were last written (Heritrix:
FileUtils.moveAsideIfExists).
"""

from __future__ import annotations

import contextlib
import logging
import os
from errno import ENOENT
from typing import TYPE_CHECKING

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.report.times import ts14

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

logger = logging.getLogger(__name__)

CRAWL = "crawl.log"
URI_ERRORS = "uri-errors.log"
RUNTIME_ERRORS = "runtime-errors.log"
NONFATAL_ERRORS = "nonfatal-errors.log"
PROGRESS = "progress-statistics.log"

SCOPE = "scope.log"
CANDIDATES = "candidateScoper.log"

#: What went wrong, for the operator.
ALERTS = "alerts.log"

#: The crawl log once more, as JSON, for those who read it with programs.
JSON_CRAWL = "crawl.jsonl"

NAMES = (CRAWL, JSON_CRAWL, URI_ERRORS, RUNTIME_ERRORS, NONFATAL_ERRORS, PROGRESS, SCOPE, CANDIDATES, ALERTS)
CHUNK = 64 * 1024

DELETED = "it was deleted while the crawl wrote to it"


class LogFile:
    """One growing file of lines. Opened when first written to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Whole lines that were added; they reach the system with ``flush``.
        self.lines: list[str] = []
        self._fd = -1
        self._synced = 0
        self._torn = False
        self.length = 0

    def flush(self) -> None:
        """Write what was added, whole or not at all. Raises StorageFull; the lines are kept then."""
        if self._fd < 0:
            self.open()
        if not self.lines:
            return
        # other threads, too, add lines
        lines, self.lines = self.lines, []
        data = memoryview("".join(lines).encode("utf-8", "replace"))
        done = 0
        try:
            if not os.fstat(self._fd).st_nlink:
                # said once, so that somebody looks; what is written next begins a new file
                self.close()
                self.length = self._synced = 0
                raise FileNotFoundError(ENOENT, DELETED)
            if self._torn:
                self._cut()
            while done < len(data):
                done += os.write(self._fd, data[done:])
        except OSError as error:
            self.lines[:0] = lines
            self._torn = self._torn or done > 0
            if self._torn and self._fd >= 0:
                with contextlib.suppress(OSError):
                    self._cut()
            raise StorageFull(str(self.path), len(data), error) from error
        self.length += len(data)

    def _cut(self) -> None:
        """Take off the part of a line that a refusing disk left. Raises OSError."""
        os.ftruncate(self._fd, self.length)
        self._torn = False

    def sync(self) -> None:
        """Have the disk hold what was flushed. Raises StorageFull."""
        if self._fd >= 0 and self._synced < self.length:
            try:
                os.fdatasync(self._fd)
            except OSError as error:
                raise StorageFull(str(self.path), cause=error) from error
            self._synced = self.length

    def open(self) -> None:
        """Open for appending; a torn last line is cut. Raises StorageFull."""
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except FileNotFoundError as error:
            # a file is made where there is none: what is missing is its folder
            raise StorageFull(str(self.path), -1, FileNotFoundError(ENOENT, DELETED)) from error
        except OSError as error:
            raise StorageFull(str(self.path), -1, error) from error
        size = os.fstat(self._fd).st_size
        whole = end_of_last_line(self._fd, size)
        if whole < size:
            logger.warning("%s: a torn line of %d bytes was cut", self.path, size - whole)
            os.ftruncate(self._fd, whole)
        self.length = whole

    def lines_beyond(self, offset: int) -> int:
        """Whole lines that stand behind ``offset``."""
        count = 0
        for at in range(offset, self.length, CHUNK):
            count += os.pread(self._fd, min(CHUNK, self.length - at), at).count(b"\n")
        return count

    def move_to(self, path: Path) -> None:
        """Have what was written under another name; what is added next begins a new file. Raises StorageFull."""
        self.flush()
        if not self.length:
            return
        try:
            self.path.rename(path)
        except OSError as error:
            raise StorageFull(str(path), -1, error) from error
        self.close()
        self.length = self._synced = 0

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def end_of_last_line(fd: int, size: int) -> int:
    """Where the last line that has its line end stops."""
    while size > 0:
        start = max(size - CHUNK, 0)
        found = os.pread(fd, size - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        size = start
    return 0


def rotated(name: str, suffix: str) -> str:
    """Name of a log that is over: ``crawl.log.cp00001-20130201120000``. Readers look for ``crawl.log*``."""
    return f"{name}.{suffix}"


def unused(directory: Path, name: str) -> Path:
    """A path of that name where there is none yet, else of that name with ``~2``, ``~3`` ..."""
    path, number = directory / name, 1
    while path.exists():
        number += 1
        path = directory / f"{name}~{number}"
    return path


class Logs:
    """The log files of one crawl. ``directory``: asked when the first file is opened; ``largest()``: bytes after which
    a log goes on in a new file, 0 never; ``now_ms``: the time, for the names of those before it."""

    def __init__(
        self,
        directory: Callable[[], Path],
        *,
        largest: Callable[[], int] = lambda: 0,
        now_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        self._directory = directory
        self._largest = largest
        self._now_ms = now_ms
        self._files: dict[str, LogFile] = {}

    def append(self, name: str, text: str) -> None:
        """Add whole lines to one of the logs (see ``NAMES``)."""
        file = self._files.get(name) or self._file(name)
        file.lines.append(text)

    def flush(self) -> Mapping[str, int]:
        """Write all that was added; name → length of each file in use. Raises StorageFull."""
        largest = self._largest()
        for name, file in self._files.items():
            file.flush()
            if largest and file.length >= largest:
                file.sync()
                file.move_to(unused(file.path.parent, f"{name}.{ts14(self._now_ms())}"))
        return {name: file.length for name, file in self._files.items()}

    def sync(self) -> None:
        """Have the disk hold the crawl log as far as it was flushed."""
        if CRAWL in self._files:
            self._files[CRAWL].sync()

    def recover(self, lengths: Mapping[str, int]) -> int:
        """Open what is there and cut torn lines; how many lines of the crawl log stand beyond its stored length, -1
        when it is shorter than that."""
        directory = self._directory()
        for name in NAMES:
            if (directory / name).exists():
                self._file(name).open()
        crawl, stored = self._files.get(CRAWL), lengths.get(CRAWL, 0)
        length = 0 if crawl is None else crawl.length
        if length < stored and (before := self._moved(directory, stored)) is not None:
            # it was given another name, and the batch that says so was not written any more
            with before.open("rb") as file:
                file.seek(stored)
                beyond = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(CHUNK), b""))
            return beyond + (0 if crawl is None else crawl.lines_beyond(0))
        if length < stored:
            if any(path.stat().st_size == stored for path in directory.glob(f"{CRAWL}.cp*")):
                # the process died between a checkpoint's rotation and the next batch
                return 0 if crawl is None else crawl.lines_beyond(0)
            logger.warning("%s has lost its last %d bytes", directory / CRAWL, stored - length)
            return -1
        return 0 if crawl is None else crawl.lines_beyond(stored)

    def rotate(self, name: str) -> list[Path]:
        """End every log as ``LOG.NAME``, at a checkpoint of that name; lines that follow go into new files (Heritrix:
        GenerationFileHandler.rotate). The ended files, open no more.

        Raises StorageFull and OSError; then each log has its name still.
        """
        self.flush()
        ended: list[tuple[Path, Path]] = []
        try:
            for log, file in self._files.items():
                other = file.path.with_name(rotated(log, name))
                file.path.rename(other)
                ended.append((file.path, other))
        except OSError:
            for path, other in ended:
                other.rename(path)
            raise
        self.close()
        return [other for _, other in ended]

    def move_aside(self) -> None:
        """Give files of an earlier crawl their time as a suffix."""
        directory = self._directory()
        for name in NAMES:
            path = directory / name
            if path.exists():
                path.rename(unused(directory, rotated(name, ts14(int(path.stat().st_mtime * 1000)))))

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    @staticmethod
    def _moved(directory: Path, stored: int) -> Path | None:
        """The crawl log that grew too large last, where it holds at least so many bytes."""
        moved = [path for path in directory.glob(f"{CRAWL}.[0-9]*") if path.is_file()]
        newest = max(moved, key=lambda path: path.stat().st_mtime_ns, default=None)
        return newest if newest is not None and newest.stat().st_size >= stored else None

    def _file(self, name: str) -> LogFile:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = LogFile(self._directory() / name)
        return file
