"""Where does the last whole record of a file end, and what becomes of what follows?

A file left open by a crash is cut back to its last whole record at the next start, and closed (Heritrix leaves that
to its operators).
"""

from __future__ import annotations

import fcntl
import logging
import os
from typing import TYPE_CHECKING

from isal import isal_zlib

from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.records import END_OF_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

GZIP = 31  # window bits of a gzip member
END = END_OF_RECORD
CHUNK = 256 * 1024
#: Bytes of a head that are looked through for its end.
LONGEST_HEAD = 4 * 1024 * 1024


def repair(path: Path) -> Path | None:
    """Cut a file that a crash left open back to its last whole record and close it; says in the log what was cut.

    The closed file; None when another process still writes it, or when nothing whole was in it (it is removed).
    """
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        size = os.fstat(fd).st_size
        whole, records = whole_records(path)
        if not records:
            logger.warning("%s held no whole record and was removed (%d bytes)", path, size)
            path.unlink()
            return None
        if whole < size:
            os.ftruncate(fd, whole)
        final = free_name(path.with_name(path.name.removesuffix(OPEN)))
        os.fsync(fd)
        path.rename(final)
        sync_directory(path.parent)
        logger.warning(
            "%s was left open by a crawl that did not end: closed with %d whole records, %d bytes of a torn one cut",
            final,
            records,
            size - whole,
        )
        return final
    finally:
        os.close(fd)


def claims(path: Path, text: bytes) -> bool:
    """Whether the first record of a file holds a text."""
    with path.open("rb") as file:
        data = file.read(CHUNK)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = isal_zlib.decompressobj(GZIP).decompress(data, CHUNK)
        except isal_zlib.error:  # type: ignore[misc]
            return False
    return text in data


def free_name(path: Path) -> Path:
    """The path, or when it is taken the first of its kind with ``-2``, ``-3`` ... before the suffixes."""
    stem = stem_of(path.name)
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{stem}-{number}{path.name[len(stem) :]}")
    return free


def stem_of(name: str) -> str:
    """A name without ``.warc`` and what follows; a prefix may hold that too."""
    return name.removesuffix(OPEN).removesuffix(".gz").removesuffix(".warc")


def is_open_warc(name: str) -> bool:
    """Whether a name is that of a file that is still being written, or was left so."""
    return name.endswith(OPEN) and name.removesuffix(OPEN).removesuffix(".gz").endswith(".warc")


def whole_records(path: Path) -> tuple[int, int]:
    """Where the last whole record of a file ends, and how many whole records stand before.

    Reads from the beginning: a stored body may itself hold what looks like the start of a member.
    """
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        ends = _member_ends(file.fileno()) if packed else _plain_ends(file.fileno())
        last = count = 0
        for end in ends:
            last = end
            count += 1
        return last, count


def whole_at(path: Path, offset: int) -> bool:
    """Whether a whole record begins at an offset of a file. Raises OSError."""
    with path.open("rb") as file:
        packed = os.pread(file.fileno(), 2, offset) == b"\x1f\x8b"
        ends = _member_ends(file.fileno(), offset) if packed else _plain_ends(file.fileno(), offset)
        return next(ends, None) is not None


def _member_ends(fd: int, offset: int = 0) -> Iterator[int]:
    """Where each gzip member from an offset on ends that unpacks whole into what begins and ends as a record does."""
    read = offset  # how far the file was read
    data = b""
    while True:
        inflate = isal_zlib.decompressobj(GZIP)
        first = last = b""
        try:
            while not inflate.eof:
                if not data:
                    data = os.pread(fd, CHUNK, read)
                    if not data:
                        return
                    read += len(data)
                out = inflate.decompress(data)
                data = b""
                first = first if len(first) >= 5 else (first + out)[:5]
                last = (last + out[-4:])[-4:]
        except isal_zlib.error:  # type: ignore[misc]
            return
        data = inflate.unused_data
        if first != b"WARC/" or last != END:
            return
        yield read - len(data)


def _plain_ends(fd: int, offset: int = 0) -> Iterator[int]:
    """Where each whole record of an uncompressed file from an offset on ends."""
    size = os.fstat(fd).st_size
    while offset < size:
        reach = 64 * 1024
        top = os.pread(fd, reach, offset)
        while (stop := top.find(END)) < 0 and len(top) == reach and reach < LONGEST_HEAD and top.startswith(b"WARC/"):
            reach *= 4
            top = os.pread(fd, reach, offset)
        if not top.startswith(b"WARC/") or stop < 0:
            return
        length = -1
        for row in top[:stop].split(b"\r\n"):
            name, _, value = row.partition(b":")
            if name.lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
        end = offset + stop + len(END) + length + len(END)
        if length < 0 or end > size or os.pread(fd, len(END), end - len(END)) != END:
            return
        yield end
        offset = end


def sync_directory(path: Path) -> None:
    """Have the disk hold the names in a directory."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
