"""A large frontier, in a process of its own: ``python -m tests.durability.large fill|open DIRECTORY URIS HOSTS``.

``open`` prints one JSON object: how long it took until the first URI was served, how many rows were read for it,
and how many bytes of memory it needed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.store.leveldb import LevelStore
from tests.frontier.world import make

if TYPE_CHECKING:
    from collections.abc import Iterator


class CountingStore(LevelStore):
    """Counts the rows that are read in order."""

    read = 0

    def range(self, start: bytes, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        for row in super().range(start, stop):
            self.read += 1
            yield row

    def first(self, start: bytes, stop: bytes, most: int) -> list[tuple[bytes, bytes]]:
        rows = super().first(start, stop, most)
        self.read += len(rows)
        return rows


def own_memory() -> int:
    """Bytes of memory that are this process's alone; mapped tables are the kernel's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def fill(directory: Path, uris: int, hosts: int) -> None:
    """Left as a killed process leaves it."""
    store = LevelStore(directory)
    frontier, clock, _ = make(store)
    frontier.add(seed(f"http://h{number % hosts}.large.test/{number}") for number in range(uris))
    frontier.flush(clock.now)
    store.close()


def opened(directory: Path) -> dict[str, float]:
    before, began = own_memory(), time.monotonic()
    store = CountingStore(directory)
    frontier, clock, _ = make(store)
    curi = frontier.next(clock.now)
    seconds = time.monotonic() - began
    assert curi is not None
    queued = frontier.status()["queued"]
    return {"seconds": seconds, "rows": store.read, "bytes": own_memory() - before, "queued": queued}


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        print(json.dumps(opened(Path(sys.argv[2]))))
