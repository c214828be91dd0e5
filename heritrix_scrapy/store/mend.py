"""Are the files of a store whole, and what is lost where they are not?

LevelDB opens a store whose journal ends in a torn record without a word, drops tables that a torn manifest no
longer names, and fails at the first read of a table whose end is gone. So the ends of all files are looked at
before the store is opened: what can be mended is mended, LevelDB's own repair does the rest, and each finding
is one sentence for the log.

File formats: LevelDB's ``log_format.md`` (journal and manifest), ``table_format.md``.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = 32 * 1024
HEADER = 7
#: Fragments of a record: whole, first, middle, last.
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
#: Of a batch: 8 bytes of sequence number, 4 of the number of its rows.
BATCH_HEADER = 12

FOOTER = 48
MAGIC = bytes.fromhex("57fb808b247547db")

#: Directories of the stores that this process has open: closing a file of theirs would end LevelDB's lock.
open_here: set[Path] = set()


def mend(path: Path, repair: Callable[[], None]) -> list[str]:
    """Look at the store in a directory that no process has open, and mend it. ``repair``: LevelDB's own, which
    builds the manifest anew from what it can read. What was found, a sentence each."""
    found: list[str] = []
    with locked(path) as alone:
        if not alone:
            return []
        for journal in sorted(path.glob("*.log")):
            size, rows = torn(journal)
            if size:
                found.append(f"{journal.name} ends in a torn batch: {rows} rows in {size} bytes dropped")
        wrong = manifest_fault(path)
        # what a compaction was writing when its process died is in no list, and is nobody's loss
        live = None if wrong is not None else live_tables(path)
        named = [table for table in tables(path) if live is None or int(table.stem) in live]
        unreadable = [name for table in named if (name := mend_table(table, found))]
        must_repair = bool(unreadable)
        if wrong is not None:
            must_repair = True
            found.append(wrong)
        if must_repair:
            sizes = {name: (path / name).stat().st_size for name in unreadable}
            repair()
            found += [f"{name} cannot be read: its rows are lost, {size} bytes" for name, size in sizes.items()]
            found.append(f"repaired: {len(tables(path))} tables are left")
    return found


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the store's lock, as LevelDB itself does; False where another process has it, this one has the store open,
    or there is no store."""
    if path.resolve() in open_here:
        yield False
        return
    try:
        fd = os.open(path / "LOCK", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        yield False
        return
    try:
        yield True
    finally:
        os.close(fd)


def torn(journal: Path) -> tuple[int, int]:
    """Bytes behind the last whole record, and rows of the batch that began there as far as it says; (0, 0) when
    the file ends well."""
    return torn_end(journal.read_bytes())


def torn_end(data: bytes) -> tuple[int, int]:
    """The same of a file's content."""
    size = len(data)
    at = 0
    begin: int | None = None
    while at < size:
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        if at + HEADER > size:
            break
        length = data[at + 4] | data[at + 5] << 8
        kind = data[at + 6]
        end = at + HEADER + length
        if not WHOLE <= kind <= LAST or length > left - HEADER or end > size:
            break
        if kind in (WHOLE, FIRST):
            begin = at
        if kind in (WHOLE, LAST):
            begin = None
        at = end
    start = at if begin is None else begin
    if start >= size:
        return 0, 0
    batch = data[start + HEADER : start + HEADER + BATCH_HEADER]
    return size - start, int.from_bytes(batch[8:], "little") if len(batch) == BATCH_HEADER else 0


def manifest_fault(path: Path) -> str | None:
    """What is wrong with the list of the store's files; None when all is well, or there is nothing to list."""
    current = path / "CURRENT"
    name = current.read_text("ascii", "replace").strip() if current.exists() else ""
    manifest = path / name
    if not name or not manifest.is_file():
        if not tables(path) and not any(path.glob("*.log")):
            return None
        return "the manifest is missing"
    size, _ = torn(manifest)
    return f"{name} is torn: {size} bytes" if size else None


def tables(path: Path) -> list[Path]:
    """The table files of a store."""
    return sorted(table for kind in ("*.ldb", "*.sst") for table in path.glob(kind) if table.stem.isdigit())


#: Fields of a record of the manifest (a version edit): tag → what follows, in order. v: a number; s: a length and so
#: many bytes.
EDIT_FIELDS = {1: "s", 2: "v", 3: "v", 4: "v", 5: "vs", 6: "vv", 7: "vvvss", 9: "v"}
JOURNAL, DELETED_TABLE, NEW_TABLE, PREVIOUS_JOURNAL = 2, 6, 7, 9


def live_tables(path: Path) -> set[int] | None:
    """Numbers of the tables that a whole manifest lists; None when it cannot be read: then every table counts."""
    try:
        return _listed(path)
    except (IndexError, OSError):
        return None


def _listed(path: Path) -> set[int] | None:
    name = (path / "CURRENT").read_text("ascii", "replace").strip() if (path / "CURRENT").exists() else ""
    if not name:
        return set()
    listed = read_manifest((path / name).read_bytes())
    return None if listed is None else listed.tables


class Listed(NamedTuple):
    """What a manifest lists. ``tables``: numbers of the tables; ``journal``: number of the first journal whose batches
    are in none of them; ``previous``: one more such journal, or 0."""

    tables: set[int]
    journal: int
    previous: int


def read_manifest(data: bytes) -> Listed | None:
    """What a whole manifest says; None when it holds a field that nobody knows. Raises IndexError for a torn one."""
    live: set[int] = set()
    last = {JOURNAL: 0, PREVIOUS_JOURNAL: 0}
    for record in records(data):
        at = 0
        while at < len(record):
            tag, at = varint(record, at)
            if tag not in EDIT_FIELDS:
                return None
            numbers = []
            for field in EDIT_FIELDS[tag]:
                number, at = varint(record, at)
                if field == "s":
                    at += number
                else:
                    numbers.append(number)
            if tag == NEW_TABLE:
                live.add(numbers[1])
            elif tag == DELETED_TABLE:
                live.discard(numbers[1])
            elif tag in last:
                last[tag] = numbers[0]
    return Listed(live, last[JOURNAL], last[PREVIOUS_JOURNAL])


def records(data: bytes) -> Iterator[bytes]:
    """The records of a journal or manifest that is known to be whole."""
    at, parts = 0, b""
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        length, kind = data[at + 4] | data[at + 5] << 8, data[at + 6]
        part = data[at + HEADER : at + HEADER + length]
        at += HEADER + length
        parts = part if kind in (WHOLE, FIRST) else parts + part
        if kind in (WHOLE, LAST):
            yield parts


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
    return value | data[at] << shift, at + 1


def mend_table(table: Path, found: list[str]) -> str | None:
    """See that a table ends as one; a few bytes cut off the end are put back. Its name when it stays unreadable."""
    size = table.stat().st_size
    with table.open("r+b") as file:
        file.seek(max(size - FOOTER, 0))
        tail = file.read()
        if tail.endswith(MAGIC) and ends_well(tail, size):
            return None
        for missing in range(1, len(MAGIC)):
            whole = tail + MAGIC[-missing:]
            if whole.endswith(MAGIC) and ends_well(whole[-FOOTER:], size + missing):
                file.write(MAGIC[-missing:])
                file.flush()
                os.fsync(file.fileno())
                found.append(f"{table.name} lacked its last {missing} bytes: put back, no row lost")
                return None
    return table.name


def ends_well(footer: bytes, size: int) -> bool:
    """Whether the index that a footer names stands right before it."""
    if len(footer) != FOOTER:
        return False
    numbers, at = [], 0
    for _ in range(4):
        try:
            value, at = varint(footer, at)
        except IndexError:
            return False
        numbers.append(value)
    _, _, offset, length = numbers
    return offset + length + 5 + FOOTER == size
