"""How is a store copied while it is written to, and how does a job begin with a copy?

LevelDB never changes a table once it is made: the copy has hard links to the tables, and costs neither time nor room.
Only those that the copied manifest names are linked. An older manifest beside all the tables would have the copy give
out numbers whose names are links to the running store's tables, and write into them (spec/scrapy-review 9). Journals
grow: the copy gets as much of them as there was.
"""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

from heritrix_scrapy.store.mend import read_manifest, tables, torn_end

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: How often it is tried again when a compaction takes a table away meanwhile.
TRIES = 100

#: A file system, or a pair of them, has no hard links, or no more for this file.
NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})

#: Suffix of a link to a journal of which a part is still to be copied.
GROWING = ".growing"
CHUNK = 1 << 20


def copy(source: Path, target: Path) -> Callable[[], None]:
    """Copy the store in ``source``, which may be open, as it is now; nobody may write rows meanwhile, compactions may
    go on. ``target`` is made. What is returned completes the copy and has it on the disk, while rows are written
    again: until then it cannot be opened.

    Raises OSError; ``target`` is then left for the caller to remove.
    """
    target.mkdir(parents=True)
    for _ in range(TRIES):
        rest = _tried(source, target)
        if rest is not None:
            return rest
        for path in target.iterdir():
            path.unlink()
    raise OSError(errno.EBUSY, f"{source}: its tables were replaced faster than they could be linked")


def _tried(source: Path, target: Path) -> Callable[[], None] | None:
    """One try; None when a table or journal went away."""
    name = (source / "CURRENT").read_text("ascii").strip()
    data = (source / name).read_bytes()
    # a compaction may be writing its record
    data = data[: len(data) - torn_end(data)[0]]
    listed = read_manifest(data)
    if listed is None:
        raise OSError(errno.EINVAL, f"{source / name}: cannot be read")
    found = {int(table.stem): table for table in tables(source)}
    journals = [
        path
        for path in sorted(source.glob("*.log"))
        if path.stem.isdigit() and (int(path.stem) >= listed.journal or int(path.stem) == listed.previous)
    ]
    growing: list[tuple[Path, int]] = []
    try:
        for number in listed.tables:
            link(found[number], target / found[number].name)
        for journal in journals:
            growing.append((_held(journal, target), journal.stat().st_size))
    except (KeyError, FileNotFoundError):
        return None
    if listed.journal and listed.journal not in {int(journal.stem) for journal in journals}:
        return None

    def complete() -> None:
        for held, size in growing:
            part(held, held.with_suffix(""), size)
            held.unlink()
        write(target / name, data)
        write(target / "CURRENT", f"{name}\n".encode("ascii"))
        sync(target)

    return complete


def _held(journal: Path, target: Path) -> Path:
    """The journal under a name of ours, so that it outlives the store's own."""
    held = target / (journal.name + GROWING)
    link(journal, held)
    return held


def restore(source: Path, target: Path) -> None:
    """Make the store ``target`` out of a complete copy, which stays as it is, and may be used again. Raises OSError."""
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.suffix in (".ldb", ".sst"):
            link(path, target / path.name)
        elif path.suffix == ".log" or path.name == "CURRENT" or path.name.startswith("MANIFEST-"):
            part(path, target / path.name, path.stat().st_size)
    sync(target)


def link(path: Path, other: Path) -> None:
    """Another name for a file, or a copy where the file system has no links. Raises OSError."""
    try:
        os.link(path, other)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        shutil.copyfile(path, other)
        with other.open("rb+") as file:
            os.fsync(file.fileno())


def part(path: Path, other: Path, size: int) -> None:
    """Copy the first ``size`` bytes of a file, onto the disk."""
    with path.open("rb") as source, other.open("wb") as file:
        while size > 0:
            data = source.read(min(size, CHUNK))
            if not data:
                raise OSError(errno.EIO, f"{path} ends {size} bytes too early")
            file.write(data)
            size -= len(data)
        file.flush()
        os.fsync(file.fileno())


def write(path: Path, data: bytes) -> None:
    """Write a file, onto the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(directory: Path) -> None:
    """Have the disk hold a folder's names."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
