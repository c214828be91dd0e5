"""How are more rows sorted than should be in memory? In runs, each sorted and written out, then read side by side."""

from __future__ import annotations

import heapq
import pickle
import tempfile
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Rows that are sorted in memory: some 20 MB.
RUN = 100_000


def sorted_rows(rows: Iterable[tuple[Any, ...]], run: int = RUN) -> Iterator[tuple[Any, ...]]:
    """The rows in their order; of more than ``run`` all but one run lies in temporary files meanwhile."""
    source = iter(rows)
    first = sorted(islice(source, run))
    if len(first) < run:
        yield from first
        return
    files: list[IO[bytes]] = []
    try:
        while first:
            file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed below, with all others)
            files.append(file)
            for row in first:
                pickle.dump(row, file)
            file.seek(0)
            first = sorted(islice(source, run))
        yield from heapq.merge(*map(_read, files))
    finally:
        for file in files:
            file.close()


def _read(file: IO[bytes]) -> Iterator[tuple[Any, ...]]:
    while True:
        try:
            yield pickle.load(file)
        except EOFError:
            return
