"""How do records get into files so that none is ever torn?

One gzip member a record; one write a group; a group that cannot be written whole is taken back. While a file
grows it is locked and its name ends in ``.open``; a file left like that by a crash is cut back to its last
whole record at the next start (Heritrix: WriterPoolMember, WARCWriter; what Heritrix leaves to its operators
is the repair).
"""

from __future__ import annotations

import fcntl
import logging
import os
import zlib
from typing import TYPE_CHECKING

from isal import isal_zlib

from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.records import Record, Stream
from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

logger = logging.getLogger(__name__)

#: isal's level 1: a fifth of the time of zlib's level 9 for files 10 to 29 % larger.
LEVEL = 1
GZIP = 31  # window bits of a gzip member
END = b"\r\n\r\n"
CHUNK = 256 * 1024

#: What is counted of the records of each type: block bytes, bytes of whole records, bytes in the file.
COUNTED = ("num_records", "content_bytes", "total_bytes", "size_on_disk")


def members(record: Record, *, compress: bool) -> Iterator[bytes]:
    """The bytes of one record as they go to the file."""
    if not compress:
        yield record.head
        yield from whole_block(record)
        yield END
    elif isinstance(record.block, Stream):
        deflate = zlib.compressobj(0, zlib.DEFLATED, GZIP) if record.packed else isal_zlib.compressobj(LEVEL, 8, GZIP)
        yield deflate.compress(record.head)
        for piece in whole_block(record):
            if packed := deflate.compress(piece):
                yield packed
        yield deflate.compress(END) + deflate.flush()
    elif record.packed:
        yield zlib.compress(record.head + record.block + END, 0, GZIP)
    else:
        yield isal_zlib.compress(record.head + record.block + END, LEVEL, GZIP)


def whole_block(record: Record) -> Iterator[bytes]:
    """The block in pieces. Raises ValueError when fewer bytes come than its header says."""
    left = record.length
    for piece in record.pieces():
        left -= len(piece)
        yield piece
    if left:
        raise ValueError(f"the {record.kind} record {record.id} lacks {left} of {record.length} bytes")


class WarcFiles:
    """The WARC files of one writer, one open at a time.

    ``directory``: asked when a file is made; ``name``: gives its name without ``.open``; ``opening``: makes the
    warcinfo record for a name; ``elsewhere``: further directories in which files of earlier launches lie;
    ``limit``: bytes after which the next group goes to a new file, -1 none; ``follow``: told the names that are
    there already; ``claim``: where others write too, what the warcinfo of a file has to hold for it to be ours.
    Nothing is touched before the first use, at which files left open by a crash are repaired.
    """

    def __init__(
        self,
        directory: Callable[[], Path],
        name: Callable[[], str],
        opening: Callable[[str], Record],
        *,
        compress: bool = True,
        limit: int = 1_000_000_000,
        elsewhere: Callable[[], Sequence[Path]] = tuple,
        follow: Callable[[list[str]], None] | None = None,
        claim: Callable[[], bytes | None] = lambda: None,
    ) -> None:
        self._directory, self._name, self._opening, self._claim = directory, name, opening, claim
        self._compress, self._limit, self._elsewhere, self._follow = compress, limit, elsewhere, follow
        self._place: Path | None = None
        self._fd = -1
        self._current = ""
        self._warcinfo_id = ""
        self._position = self._first_group = 0
        self._grown: dict[str, int] = {}
        self._unsynced = False
        self._counts: dict[str, list[int]] = {}
        #: Groups written since the counters were last taken.
        self.counted = 0

    # -- writing -------------------------------------------------------------------------------------------

    def prepare(self) -> str:
        """Have a file open that takes one more group; the id of its warcinfo record. Raises StorageFull."""
        if self._fd >= 0 and 0 <= self._limit < self._position and self._position > self._first_group:
            self.close()
        if self._fd < 0:
            self._start()
        return self._warcinfo_id

    def append(self, group: Sequence[Record]) -> tuple[str, int]:
        """Write a group whole, or not at all. The file's name (without ``.open``) and where the group begins.

        Raises StorageFull when the disk refuses; the file then ends before the group.
        """
        self.prepare()
        begin = self._position
        self._write(group)
        self._grown[self._current] = self._position
        self._unsynced = True
        return self._current, begin

    def _write(self, group: Sequence[Record]) -> None:
        begin = position = self._position
        sizes: list[int] = []
        pending: list[bytes] = []
        held = 0
        try:
            for record in group:
                size = 0
                for piece in members(record, compress=self._compress):
                    pending.append(piece)
                    size += len(piece)
                    held += len(piece)
                    if held >= CHUNK:
                        position += self._put(pending)
                        held = 0
                sizes.append(size)
            position += self._put(pending)
        except OSError as error:
            self._take_back(begin)
            need = sum(len(record.head) + record.length + len(END) for record in group)
            raise StorageFull(str(self._open_place() / (self._current + OPEN)), need, error) from error
        except BaseException:
            self._take_back(begin)
            raise
        self._position = position
        self._count(group, sizes)

    def _put(self, pending: list[bytes]) -> int:
        data = memoryview(b"".join(pending))
        pending.clear()
        done = 0
        while done < len(data):
            done += os.write(self._fd, data[done:])
        return done

    def _take_back(self, size: int) -> None:
        """Cut off what was written of a group. When even that fails, the file is left to the repair."""
        try:
            os.ftruncate(self._fd, size)
            os.lseek(self._fd, size, os.SEEK_SET)
        except OSError as error:
            logger.error("cannot cut %s back to %d bytes, it is given up: %s", self._current + OPEN, size, error)
            os.close(self._fd)
            self._fd = -1

    def _start(self) -> None:
        place = self._open_place()
        name = self._name()
        stem, dot, ending = name.partition(".warc")
        number = 1
        while (place / name).exists() or (place / (name + OPEN)).exists():
            # Heritrix deletes a file of the same name; a name that lacks time and serial would cost captures.
            number += 1
            name = f"{stem}-{number}{dot}{ending}"
        path = place / (name + OPEN)
        record = self._opening(name)
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StorageFull(str(path), -1, error) from error
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._current, self._warcinfo_id, self._position = name, record.id, 0
        try:
            self._write([record])
        except BaseException:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
            path.unlink(missing_ok=True)
            raise
        self._first_group = self._position
        sync_directory(place)

    def _count(self, group: Sequence[Record], sizes: list[int]) -> None:
        self.counted += 1
        for record, size in zip(group, sizes, strict=True):
            row = self._counts.get(record.kind)
            if row is None:
                row = self._counts[record.kind] = [0, 0, 0, 0]
            row[0] += 1
            row[1] += record.length
            row[2] += len(record.head) + record.length + len(END)
            row[3] += size

    # -- what the frontier's batch vouches for -------------------------------------------------------------

    def flush(self) -> Mapping[str, int]:
        """Name → length of each file written to since the last call. Writes go straight to the system."""
        grown, self._grown = self._grown, {}
        return grown

    def sync(self) -> None:
        """Have the disk hold what was written; files closed before already are. Raises StorageFull."""
        if self._fd >= 0 and self._unsynced:
            try:
                os.fdatasync(self._fd)
            except OSError as error:
                raise StorageFull(str(self._open_place() / (self._current + OPEN)), cause=error) from error
            self._unsynced = False

    def length(self, name: str) -> int:
        """Bytes of the file of that name (without ``.open``), open or closed; -1 when it is gone."""
        for place in (self._open_place(), *self._elsewhere()):
            for path in (place / name, place / (name + OPEN)):
                try:
                    return path.stat().st_size
                except OSError:
                    continue
        return -1

    def drain_counts(self) -> Mapping[str, int]:
        """Counters since the last call, ``warc/KIND/COUNTED``: per record type and in total, see ``COUNTED``."""
        counts, self._counts, self.counted = self._counts, {}, 0
        if counts:
            counts["totals"] = [sum(column) for column in zip(*counts.values(), strict=True)]
        return {
            f"warc/{kind}/{name}": count
            for kind, row in counts.items()
            for name, count in zip(COUNTED, row, strict=True)
        }

    def close(self) -> None:
        """Finish the open file: on disk, without ``.open``. Raises StorageFull."""
        if self._fd < 0:
            return
        place = self._open_place()
        try:
            os.fsync(self._fd)
            (place / (self._current + OPEN)).rename(place / self._current)
            sync_directory(place)
        except OSError as error:
            raise StorageFull(str(place / (self._current + OPEN)), cause=error) from error
        self._unsynced = False
        os.close(self._fd)
        self._fd = -1

    def repair(self) -> None:
        """Close what a crash left open, in the directory and in those of earlier launches."""
        claim = self._claim()
        for place in (self._directory(), *self._elsewhere()):
            for left in sorted(place.glob("*.warc*" + OPEN)) if place.is_dir() else ():
                if left.name != self._current + OPEN and (claim is None or claims(left, claim)):
                    repair(left)

    def _open_place(self) -> Path:
        """The directory; at first use with whatever a crash left there repaired."""
        place = self._directory()
        if place != self._place:
            self._place = place
            self.repair()
            place.mkdir(parents=True, exist_ok=True)
            if self._follow is not None:
                self._follow([path.name for path in place.iterdir()])
        return place


def sync_directory(path: Path) -> None:
    """Have the disk hold the names in a directory."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# -- repair ------------------------------------------------------------------------------------------------


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
    stem, dot, ending = path.name.partition(".warc")
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{stem}-{number}{dot}{ending}")
    return free


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


def _member_ends(fd: int) -> Iterator[int]:
    """Where each gzip member ends that unpacks whole into what begins and ends as a record does."""
    read = 0  # how far the file was read
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


def _plain_ends(fd: int) -> Iterator[int]:
    """Where each whole record of an uncompressed file ends."""
    size = os.fstat(fd).st_size
    offset = 0
    while offset < size:
        top = os.pread(fd, 64 * 1024, offset)
        stop = top.find(END)
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
