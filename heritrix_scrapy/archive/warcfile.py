"""How do records get into files so that none is ever torn?

One gzip member a record; one write a group; a group that cannot be written whole is taken back. While a file
grows it is locked and its name ends in ``.open`` (Heritrix: WriterPoolMember, WARCWriter).
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
import zlib
from contextlib import suppress
from errno import ENOENT
from typing import TYPE_CHECKING

from isal import isal_zlib

from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.repair import CHUNK, END, GZIP, claims, is_open_warc, repair, stem_of, sync_directory
from heritrix_scrapy.model.errors import StorageFull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from heritrix_scrapy.archive.records import Record

logger = logging.getLogger(__name__)

#: isal's level 1: a fifth of the time of zlib's level 9 for files 10 to 29 % larger.
LEVEL = 1
ROOMY = 9  # isal's largest table: a twentieth less time for long blocks
#: Bytes of a block up to which it is put together with its head before it is compressed: a larger copy costs more.
TOGETHER = 64 * 1024
#: Bytes written after which the disk is asked again how much room there is.
FREE_EVERY = 8 * 1024 * 1024

#: What is counted of the records of each type: block bytes, bytes of whole records, bytes in the file.
COUNTED = ("num_records", "content_bytes", "total_bytes", "size_on_disk")


def members(record: Record, *, compress: bool) -> Iterable[bytes]:
    """The bytes of one record as they go to the file. Raises ValueError, now or when they are read, when the block has
    fewer bytes than its head says."""
    block = record.block
    if not compress or record.length > TOGETHER or not isinstance(block, bytes) or len(block) != record.length:
        return _in_pieces(record, compress=compress)
    whole = b"".join((record.head, block, END))
    return (zlib.compress(whole, 0, GZIP) if record.packed else isal_zlib.compress(whole, LEVEL, GZIP),)


def _in_pieces(record: Record, *, compress: bool) -> Iterator[bytes]:
    if not compress:
        yield record.head
        yield from whole_block(record)
        yield END
        return
    deflate = (
        zlib.compressobj(0, zlib.DEFLATED, GZIP) if record.packed else isal_zlib.compressobj(LEVEL, 8, GZIP, ROOMY)
    )
    yield deflate.compress(record.head)
    for piece in whole_block(record):
        if packed := deflate.compress(piece):
            yield packed
    yield deflate.compress(END) + deflate.flush()


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

    ``directory``: asked when a file is made; ``stores``: when there are several directories, which take turns;
    ``name``: gives its name without ``.open``; ``opening``: makes the
    warcinfo record for a name; ``elsewhere``: further directories in which files of earlier launches lie;
    ``limit``: bytes after which the next group goes to a new file, -1 none; ``age``, ``groups``: seconds and groups
    after which it does, 0 none; ``reserve``: bytes of the disk that are left free; ``unused``: told that no file
    came of the latest name; ``opened``: told name and directory of each file that is begun, before any group is in it;
    ``closed``: of each finished file; ``follow``: told the names
    that are there already; ``claim``: where others write too, what the warcinfo of a file holds if it is ours.
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
        age: float = 0,
        groups: int = 0,
        reserve: int = 0,
        stores: Callable[[], Sequence[Path]] | None = None,
        elsewhere: Callable[[], Sequence[Path]] = tuple,
        follow: Callable[[list[str]], None] | None = None,
        claim: Callable[[], bytes | None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
        unused: Callable[[], None] | None = None,
        opened: Callable[[str, Path], None] | None = None,
        closed: Callable[[Path], None] | None = None,
    ) -> None:
        self._directory, self._name, self._opening, self._claim = directory, name, opening, claim
        self._compress, self._limit, self._elsewhere, self._follow = compress, limit, elsewhere, follow
        self._age, self._groups, self._reserve, self._monotonic = age, groups, reserve, monotonic
        self._unused, self._opened, self._closed = unused, opened, closed
        #: Bytes in the file of the first record of the group written last.
        self.first_size = 0
        self._stores = stores or (lambda: (self._directory(),))
        self._turn = 0
        self._known: set[Path] = set()
        self._at: Path | None = None
        self._born = 0.0
        self._written = 0
        self._unchecked = FREE_EVERY
        self._lock = threading.Lock()
        #: Held while a group is written or the file is finished: a thread may do the one, the crawl the other.
        self._writing = threading.RLock()
        #: Whether a thread is writing a group; then others have to wait, or take another file.
        self.busy = False
        self._fd = -1
        #: Whether the open file was found to take the next group.
        self._ready = False
        self._current = ""
        self._warcinfo_id = ""
        self._position = self._first_group = 0
        self._grown: dict[str, int] = {}
        self._unsynced = False
        self._counts: dict[str, list[int]] = {}
        #: Groups written since the counters were last taken.
        self.counted = 0

    # -- writing -------------------------------------------------------------------------------------------

    def prepare(self, need: int = 0, room: int = 0) -> str:
        """Have a file open that takes one more group, of ``need`` bytes by the limit and ``room`` by the disk; the id
        of its warcinfo record. Raises StorageFull."""
        with self._writing:
            if self._fd >= 0 and self._position > self._first_group and self._is_done(need):
                self.close()
            if self._fd >= 0 and self._unchecked + room >= FREE_EVERY and len(self._stores()) > 1:
                self._leave_full(room)
            if self._fd < 0:
                self._start(room)
            self._ready = True
        return self._warcinfo_id

    def _leave_full(self, room: int) -> None:
        """Finish the open file when its disk has no room for the next group: another store may have."""
        try:
            self._check_room(room)
        except StorageFull as error:
            logger.warning("%s takes no more, the next store is tried: %s", self._place(), error)
            self.close()

    def _is_done(self, need: int) -> bool:
        """Whether the open file takes no more groups."""
        return (
            0 <= self._limit < self._position + need
            or 0 < self._groups <= self._written
            or (self._age > 0 and self._monotonic() - self._born >= self._age)
        )

    def append(self, group: Sequence[Record]) -> tuple[str, int]:
        """Write a group whole, or not at all. The file's name (without ``.open``) and where the group begins.

        Raises StorageFull when the disk refuses; the file then ends before the group.
        """
        with self._writing:
            # records that name the warcinfo of a file go into that file, though it has become too old meanwhile
            if not self._ready or self._fd < 0:
                self.prepare()
            self._ready = False
            begin = self._position
            self._check_room(sum(record.length for record in group))
            self._write(group)
            with self._lock:
                self._grown[self._current] = self._position
                self._unsynced = True
            self._written += 1
            return self._current, begin

    def _check_room(self, need: int) -> None:
        """Have the disk asked for room before a large group, and every few megabytes."""
        self._unchecked += need
        if self._unchecked < FREE_EVERY:
            return
        free = free_bytes(self._place())
        if free is not None and free < need + self._reserve:
            raise StorageFull(str(self._place() / (self._current + OPEN)), need + self._reserve)
        self._unchecked = 0

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
            self._look_for()
        except OSError as error:
            self._take_back(begin)
            if isinstance(error, FileNotFoundError) and self._fd >= 0:
                # when the crawl goes on, in a file that is there
                os.close(self._fd)
                self._fd = -1
            need = sum(len(record.head) + record.length + len(END) for record in group)
            raise StorageFull(str(self._place() / (self._current + OPEN)), need, error) from error
        except BaseException:
            self._take_back(begin)
            raise
        self._position = position
        self.first_size = sizes[0] if sizes else 0
        self._count(group, sizes)

    def _look_for(self) -> None:
        """Raise FileNotFoundError when somebody has deleted the open file: all that is written to it would be gone."""
        if not os.fstat(self._fd).st_nlink:
            raise FileNotFoundError(ENOENT, "it was deleted while the crawl wrote to it")

    def _put(self, pending: list[bytes]) -> int:
        data = pending[0] if len(pending) == 1 else b"".join(pending)
        pending.clear()
        done = os.write(self._fd, data) if data else 0
        if done < len(data):
            with memoryview(data) as view:
                while done < len(data):
                    done += os.write(self._fd, view[done:])
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

    def _start(self, room: int = 0) -> None:
        """Make a file in the next store that takes one and has room. Raises StorageFull when none does."""
        stores = self._open_stores()
        refused: StorageFull | None = None
        for step in range(len(stores)):
            turn = (self._turn + step) % len(stores)
            try:
                if len(stores) > 1 and (free := free_bytes(stores[turn])) is not None and free < room + self._reserve:
                    raise StorageFull(str(stores[turn]), room + self._reserve)
                self._make(stores[turn])
            except StorageFull as error:
                refused = error
                if len(stores) > 1:
                    logger.warning("%s takes no file, the next store is tried: %s", stores[turn], error)
                continue
            self._turn = (turn + 1) % len(stores)
            return
        assert refused is not None
        raise refused

    def _make(self, place: Path) -> None:
        name = self._name()
        try:
            self._begin(place, name)
        except (OSError, StorageFull) as error:
            # told of the folder: with another name each time it would look like another want each time
            if self._unused is not None:
                self._unused()
            if isinstance(error, StorageFull) and not error.path.startswith(str(place)):
                raise
            cause = error.cause if isinstance(error, StorageFull) else error
            raise StorageFull(str(place), -1, cause) from error

    def _begin(self, place: Path, name: str) -> None:
        name, path = self._claimed(place, name)
        record = self._opening(name)
        self._at = place
        self._current, self._warcinfo_id, self._position = name, record.id, 0
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write([record])
            sync_directory(place)
            if self._opened is not None:
                self._opened(name, place)
        except BaseException:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
            path.unlink(missing_ok=True)
            raise
        self._first_group, self._written, self._born = self._position, 0, self._monotonic()
        self._unchecked = FREE_EVERY

    def _claimed(self, place: Path, name: str) -> tuple[str, Path]:
        """Open a new file of that name, or with a number where the name is taken: Heritrix deletes a file of the same
        name, and a name that lacks time and serial would cost captures. Raises OSError."""
        stem, number, wanted = stem_of(name), 1, name
        place.mkdir(parents=True, exist_ok=True)
        while True:
            path = place / (name + OPEN)
            if not (place / name).exists():
                try:
                    self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
                except FileExistsError:
                    pass  # another process has just taken it
                else:
                    return name, path
            number += 1
            name = f"{stem}-{number}{wanted[len(stem) :]}"

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
        with self._lock:
            grown, self._grown = self._grown, {}
        return grown

    def sync(self) -> None:
        """Have the disk hold what was written; files closed before already are. Raises StorageFull."""
        if self._fd >= 0 and self._unsynced:
            self._unsynced = False
            try:
                os.fdatasync(self._fd)
            except OSError as error:
                self._unsynced = True
                raise StorageFull(str(self._place() / (self._current + OPEN)), cause=error) from error
        if (
            self._age > 0
            and self._fd >= 0
            and not self.busy
            and self._position > self._first_group
            and self._is_done(0)
        ):
            self.close()  # whoever waits for old files gets them while the crawl waits, too

    def growing(self) -> tuple[str, int] | None:
        """Name (without ``.open``) and length of the open file, if there is one."""
        return (self._current, self._position) if self._fd >= 0 else None

    def folders(self) -> Sequence[Path]:
        """Where new files go, and where the open one lies."""
        stores = self._stores()
        return stores if self._at is None or self._at in stores else (*stores, self._at)

    def length(self, name: str) -> int:
        """Bytes of the file of that name (without ``.open``), open or closed; -1 when it is gone."""
        for place in (*self._open_stores(), *self._elsewhere()):
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
        with self._writing:
            if self._fd >= 0:
                self._finish()

    def _finish(self) -> None:
        place = self._place()
        try:
            os.fsync(self._fd)
            if not (place / (self._current + OPEN)).exists():
                logger.error("%s was deleted or moved while the crawl wrote to it", place / (self._current + OPEN))
                os.close(self._fd)
                self._fd = -1
                return
            (place / (self._current + OPEN)).rename(place / self._current)
            sync_directory(place)
        except OSError as error:
            raise StorageFull(str(place / (self._current + OPEN)), cause=error) from error
        self._unsynced = False
        os.close(self._fd)
        self._fd = -1
        if self._closed is not None:
            self._closed(place / self._current)

    def repair(self) -> None:
        """Close what a crash left open, in the directories and in those of earlier launches. What cannot be is told
        and stays as it is."""
        claim = self._claim()
        for place in (*self._stores(), *self._elsewhere()):
            try:
                found = sorted(path for path in place.iterdir() if is_open_warc(path.name)) if place.is_dir() else []
            except OSError as error:
                logger.error("cannot look for files left open in %s: %s", place, error)
                continue
            for left in found:
                try:
                    if left.name != self._current + OPEN and (claim is None or claims(left, claim)):
                        repair(left)
                except OSError as error:
                    logger.error("%s was left open by a crawl that did not end, and cannot be closed: %s", left, error)

    def _place(self) -> Path:
        """The directory of the open file."""
        return self._at if self._at is not None else self._directory()

    def _open_stores(self) -> Sequence[Path]:
        """The directories; at first use with whatever a crash left there repaired."""
        stores = self._stores()
        fresh = [place for place in stores if place not in self._known]
        if fresh:
            self._known.update(fresh)
            self.repair()
            for place in fresh:
                try:
                    place.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    if len(stores) == 1:
                        raise StorageFull(str(place), -1, error) from error
                    logger.warning("%s cannot be used: %s", place, error)
            if self._follow is not None:
                # no name twice in a job, not in the folders of two launches either
                for place in (*fresh, *self._elsewhere()):
                    with suppress(OSError):
                        self._follow([path.name for path in place.iterdir()])
        return stores


def free_bytes(place: Path) -> int | None:
    """Bytes that the disk of a directory has for us; None when it does not say."""
    try:
        found = os.statvfs(place)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize
