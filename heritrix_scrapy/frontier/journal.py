"""What happened to each URI, in Heritrix's recovery journal?

``frontier.recover.gz`` holds one line an event (Heritrix: FrontierJournal). Nothing here depends on it: the store is
what a crawl resumes from. It is kept for what people do with it: feeding a crawl's URIs to another crawl, and asking
afterwards in which order things came.
"""

from __future__ import annotations

import gzip
import logging
import os
import zlib
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, NamedTuple

from isal import isal_zlib

from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

NAME = "frontier.recover.gz"

ADDED = "F+ "
EMITTED = "Fe "
SUCCEEDED = "Fs "
FAILED = "Ff "
DISREGARDED = "Fd "
REENQUEUED = "Fr "
INCLUDED = "Fi "

#: A line with the time follows after so many others.
LINES_BETWEEN_TIMES = 10_000

#: isal's level 1, and a gzip wrapper.
_LEVEL, _GZIP = 1, 31


def line(tag: str, uri: str, path: str | None = None, via: str | None = None) -> str:
    """One event. With ``path`` its hop path and via follow; where they are empty, their blanks stay."""
    if path is None:
        return f"{tag}{uri}\n"
    return f"{tag}{uri} {path} {via or ''}\n"


class Journal:
    """The journal of one process. ``directory``: asked for when the first line is written; ``now_ms``: the time.

    A file that is there already is moved aside under the time it was last written to. What ``flush`` has handed on can
    be read after a crash; ``flush`` raises StorageFull, and keeps the lines then.
    """

    def __init__(self, directory: Callable[[], Path], now_ms: Callable[[], int]) -> None:
        self._directory = directory
        self._now_ms = now_ms
        self._lines: list[str] = []
        #: Adds a finished line: for those who write many.
        self.append = self._lines.append
        self._file: IO[bytes] | None = None
        self._packer: isal_zlib.Compress | None = None
        self._since_time = 0
        self._length = 0

    # -- events --------------------------------------------------------------------------------------------

    def added(self, curi: CrawlURI) -> None:
        """Stored in a queue."""
        self.append(f"F+ {curi.uri} {curi.path} {curi.via or ''}\n")

    def emitted(self, curi: CrawlURI) -> None:
        """Handed out."""
        self.append(f"Fe {curi.uri}\n")

    def succeeded(self, curi: CrawlURI) -> None:
        self.append(f"Fs {curi.uri} {curi.path} {curi.via or ''}\n")

    def failed(self, curi: CrawlURI) -> None:
        self.append(f"Ff {curi.uri} {curi.path} {curi.via or ''}\n")

    def disregarded(self, curi: CrawlURI) -> None:
        self.append(f"Fd {curi.uri}\n")

    def reenqueued(self, curi: CrawlURI) -> None:
        """Kept in its queue for another try."""
        self.append(f"Fr {curi.uri}\n")

    def included(self, curi: CrawlURI) -> None:
        """Marked as seen by an import."""
        self.append(f"Fi {curi.uri}\n")

    # -- writing -------------------------------------------------------------------------------------------

    def flush(self, *, whole: bool = False) -> None:
        """Hand on what was added. ``whole``: so that a reader finds all of it, whatever happens next."""
        if not self._lines and not (whole and self._file is not None):
            return
        if self._file is None:
            self._open()
        self._since_time += len(self._lines)
        if self._since_time >= LINES_BETWEEN_TIMES:
            self._since_time = 0
            moment = datetime.fromtimestamp(self._now_ms() / 1000, UTC)
            self._lines.append(f"T {moment:%Y-%m-%dT%H:%M:%SZ}\n")
        assert self._packer is not None
        text = "".join(self._lines).encode("utf-8", "replace")
        packed = self._packer.compress(text)
        self._lines.clear()
        if whole:
            packed += self._packer.flush(isal_zlib.Z_SYNC_FLUSH)
        self._write(packed)

    def rotate(self, name: str) -> None:
        """End this file as ``frontier.recover.gz.NAME`` and begin the next: at a checkpoint."""
        self.flush()
        if self._file is None:
            self._open()
        self._end()
        path = self._directory() / NAME
        path.rename(path.with_name(f"{NAME}.{name}"))
        self._open()

    def close(self) -> None:
        """Write what is left and end the file."""
        self.flush()
        if self._file is not None:
            self._end()

    def _open(self) -> None:
        path = self._directory() / NAME
        try:
            if path.exists():
                path.rename(aside(path))
            self._file = path.open("xb", buffering=0)
        except OSError as error:
            raise StorageFull(str(path), -1, error) from error
        self._length = 0
        self._packer = isal_zlib.compressobj(_LEVEL, 8, _GZIP)

    def _end(self) -> None:
        assert self._file is not None
        assert self._packer is not None
        self._write(self._packer.flush())
        self._file.close()
        self._file = self._packer = None

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            # the stream has a hole now: what follows goes into a file of its own
            path = self._directory() / NAME
            os.ftruncate(self._file.fileno(), self._length)
            self._file.close()
            self._file = self._packer = None
            raise StorageFull(str(path), len(data), error) from error
        self._length += len(data)


def aside(path: Path) -> Path:
    """Another name for a file that gives way: with the time it was last written to (Heritrix:
    FileUtils.moveAsideIfExists)."""
    moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    other = path.with_name(f"{path.name}.{moment:%Y%m%d%H%M%S}")
    number = 1
    while other.exists():
        number += 1
        other = other.with_name(f"{path.name}.{moment:%Y%m%d%H%M%S}~{number}")
    return other


# -- reading -----------------------------------------------------------------------------------------------


class Torn(Exception):
    """A packed file ends in the middle; its whole lines have been given."""


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file, packed or not, without their ends. Raises OSError, and Torn at a torn end: a crash
    takes the end of a gzip stream along, and what stands before it is good."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if not packed:
            for row in raw:
                yield row.decode("utf-8", "replace").rstrip("\r\n")
            return
        with gzip.GzipFile(fileobj=raw) as file:
            try:
                for row in file:
                    if not row.endswith(b"\n"):
                        # whether it is whole shows when more is asked for
                        file.read(1)
                    yield row.decode("utf-8", "replace").rstrip("\r\n")
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise Torn(str(error)) from error


class Fields(NamedTuple):
    """What a line says of its URI: ``path`` and ``via`` empty when it does not say."""

    uri: str
    path: str
    via: str
    context: str | None


def fields(text: str, *, heritrix: bool = False) -> Fields:
    """``URI PATH VIA CONTEXT``, the last three optional (Heritrix: CrawlURI.fromHopsViaString).

    Blanks part the fields, so a seed's empty path leaves two of them; ``-`` is an empty path or via. ``heritrix``: runs
    of blanks count as one, and such a line with a via has it taken for the path.
    """
    found = text.split() if heritrix else _parted(text)
    uri, path, via, context = [*found, "", "", "", ""][:4]
    if len(via) <= 1:
        # without a via there is nothing that the context could be a place of
        return Fields(uri, path if path != "-" or heritrix else "", "", None)
    return Fields(uri, path if path != "-" or heritrix else "", via, context or None)


def _parted(text: str) -> list[str]:
    """Single blanks part, so that an empty field leaves two; other white space comes from a table."""
    text = text.strip()
    return text.split() if "\t" in text or "   " in text else text.split(" ")
