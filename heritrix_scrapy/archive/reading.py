"""How is a WARC file read that others wrote, that is still being written, or that is torn?

warcio finds the records; what it cannot do is done here: bodies in Brotli or zstd, a file that grows meanwhile,
an end in the middle of a record.
"""

from __future__ import annotations

import logging
import zlib
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.limitreader import LimitReader

from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.repair import whole_records
from heritrix_scrapy.model.recorder import content_codings, dechunk, decode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

#: What warcio and what lies below it raise over a file that is no WARC file, or torn; over a record without its
#: headers it fails in many ways.
UNREADABLE = (ArchiveLoadFailed, EOFError, OSError, ValueError, zlib.error, AttributeError, LookupError, TypeError)
PIECE = 1 << 18


class Extent(NamedTuple):
    """The bytes of a file that are whole records now. ``path``: as it was called when it was looked at."""

    path: Path
    size: int

    @property
    def name(self) -> str:
        """The name it has, or will have when it is closed."""
        return self.path.name.removesuffix(OPEN)

    def open(self) -> IO[bytes]:
        """The file; it may have been closed meanwhile, and so have lost its ending."""
        try:
            return self.path.open("rb")
        except FileNotFoundError:
            return self.path.with_name(self.name).open("rb")

    def chunks(self) -> Iterator[bytes]:
        with self.open() as file:
            left = self.size
            while left and (piece := file.read(min(left, PIECE))):
                left -= len(piece)
                yield piece


def extent(path: Path) -> Extent:
    """What can be read of a file: of one that is open, what is whole by now; of a closed one, all."""
    if path.name.endswith(OPEN):
        try:
            return Extent(path, whole_records(path)[0])
        except FileNotFoundError:
            path = path.with_name(path.name.removesuffix(OPEN))
    return Extent(path, path.stat().st_size)


def records(where: Extent) -> Iterator[tuple[Any, Any]]:
    """(iterator, record) for each record, until the end or the first thing that cannot be read, which is logged."""
    with where.open() as file:
        found = ArchiveIterator(LimitReader(file, where.size))
        while True:
            try:
                record = next(found)
            except StopIteration:
                return
            except UNREADABLE as error:
                logger.warning("%s cannot be read to its end: %s", where.path, error)
                return
            yield found, record


def place_of(found: Any, record: Any) -> tuple[int, int] | None:
    """(offset, length) of a record in its file; None when it is torn. Reads the rest of it."""
    try:
        offset, length = found.get_record_offset(), found.get_record_length()
    except UNREADABLE:
        return None
    return None if getattr(record.raw_stream, "limit", 0) > 0 else (offset, length)


def body(record: Any) -> Iterator[bytes]:
    """The body without chunk framing and content coding, piece by piece."""
    http = record.http_headers
    pieces = _raw(record)
    if http is None:
        return pieces
    if "chunked" in (http.get_header("Transfer-Encoding") or "").lower():
        pieces = dechunk(pieces)
    codings = content_codings(http.get_header("Content-Encoding"))
    return decode(pieces, codings) if codings else pieces


def _raw(record: Any) -> Iterator[bytes]:
    while True:
        try:
            piece = record.raw_stream.read(PIECE)
        except UNREADABLE:
            return
        if not piece:
            return
        yield piece
