"""Which WARC files has a job written, and which number has the next one?

Kept in the job's store, so that a checkpoint holds it, and a crawl goes on counting that begins with one in another
JOBDIR or whose files were moved away (Heritrix keeps the number in its checkpoints:
WriterPoolProcessor.toCheckpointJson).

| key | value |
|---|---|
| `mwarc/serial/` + the writer's id or place | the next number, in digits |
| `mwarc/file/` + name without `.open` | the folder that it was begun in |
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.crawl import Store

SERIAL = b"mwarc/serial/"
FILE = b"mwarc/file/"


class Roll:
    """What one writer has begun. ``store``: gives the job's store, None where nothing is kept."""

    def __init__(self, store: Callable[[], Store | None], writer: str) -> None:
        self._store = store
        self._key = SERIAL + writer.encode("utf-8", "replace")

    def serial(self) -> int:
        """The number that the next file has at least."""
        store = self._store()
        row = None if store is None else store.get(self._key)
        return 0 if row is None else int(row)

    def add(self, name: str, folder: Path, serial: int) -> None:
        """A file was begun; ``serial``: the next one's number. Raises StorageFull."""
        store = self._store()
        if store is not None:
            place = os.fsencode(folder.absolute())
            store.write([(FILE + os.fsencode(name), place), (self._key, b"%d" % serial)])


class Missing(NamedTuple):
    """Files of a job that are no longer where they were begun. ``number``: how many; ``of``: of how many;
    ``first``: the first of them."""

    number: int
    of: int
    first: Path


def missing(store: Store, moved: tuple[Path, Path] | None = None) -> Missing | None:
    """Which files of the job are gone, open or closed; None when all are there. ``moved``: where the JOBDIR was and
    where it is, when it was moved as a whole."""
    number = total = 0
    first: Path | None = None
    for key, row in store.range(FILE, FILE + b"\xff"):
        total += 1
        path = Path(os.fsdecode(row), os.fsdecode(key[len(FILE) :]))
        if not _is_there(path, moved):
            number += 1
            first = first or path
    return None if first is None else Missing(number, total, first)


def _is_there(path: Path, moved: tuple[Path, Path] | None) -> bool:
    paths = [path]
    if moved is not None and path.is_relative_to(moved[0]):
        paths.append(moved[1] / path.relative_to(moved[0]))
    return any(os.path.exists(each) or os.path.exists(f"{each}.open") for each in paths)
