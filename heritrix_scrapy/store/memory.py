"""How do rows behave, without a disk? The twin of the LevelDB store, row for row."""

from __future__ import annotations

import errno
from bisect import bisect_left, insort
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


#: New keys up to which each is put into its place.
FEW = 50


class MemoryStore:
    """Rows in a dict, their keys in a sorted list. Implements ``crawl.Store``."""

    def __init__(self) -> None:
        self._rows: dict[bytes, bytes] = {}
        self._sorted: list[bytes] = []
        #: Keys that are not among the sorted ones yet.
        self._fresh: list[bytes] = []

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes] = (), *, sync: bool = False) -> None:
        """Deletes first, then puts, as one batch. ``sync`` means nothing here."""
        rows = self._rows
        for key in deletes:
            if rows.pop(key, None) is not None:
                keys = self._keys
                del keys[bisect_left(keys, key)]
        before = len(rows)
        rows.update(puts)
        # a dict has its new keys at its end
        self._fresh += islice(reversed(rows), len(rows) - before)

    @property
    def _keys(self) -> list[bytes]:
        """All keys in their order."""
        keys, fresh = self._sorted, self._fresh
        if len(fresh) > FEW:
            keys += fresh
            keys.sort()
        else:
            for key in fresh:
                insort(keys, key)
        fresh.clear()
        return keys

    def get(self, key: bytes) -> bytes | None:
        """Value of one row, or None."""
        return self._rows.get(key)

    def range(self, start: bytes, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Rows from ``start`` to before ``stop``, as they were when the range was asked for."""
        keys = self._keys
        end = len(keys) if stop is None else bisect_left(keys, stop)
        return iter([(key, self._rows[key]) for key in keys[bisect_left(keys, start) : end]])

    def first(self, start: bytes, stop: bytes, most: int) -> list[tuple[bytes, bytes]]:
        """The first rows from ``start`` to before ``stop``, at most so many."""
        keys, rows = self._keys, self._rows
        at = bisect_left(keys, start)
        return [(key, rows[key]) for key in keys[at : min(at + most, bisect_left(keys, stop, at))]]

    def seeker(self) -> Callable[[bytes], bytes | None]:
        """A function: a key → the first key of a row from there on, None behind the last."""
        keys = self._keys.copy()

        def seek(start: bytes) -> bytes | None:
            at = bisect_left(keys, start)
            return keys[at] if at < len(keys) else None

        return seek

    def compact(self, start: bytes | None = None, stop: bytes | None = None) -> None:
        """Nothing to reclaim."""

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """Raises OSError: nothing of this store is kept."""
        raise OSError(errno.ENOTSUP, "a store in memory has no checkpoints")

    def close(self) -> None:
        """Forget nothing: a test may look at the rows of a closed store."""
