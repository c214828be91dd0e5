"""What is to be written next, and what does the store look like with it?

All rows that belong together are one batch. Until it is written, nothing of it counts: the URIs it finishes are
still in their queues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.crawl import Store


class Batch:
    """Puts and deletes that wait for the next flush, laid over the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.puts: dict[bytes, bytes] = {}
        self.deletes: set[bytes] = set()
        self._get = store.get

    def __bool__(self) -> bool:
        return bool(self.puts or self.deletes)

    def put(self, key: bytes, value: bytes) -> None:
        """Write a row; the last word on a key holds."""
        self.puts[key] = value
        self.deletes.discard(key)

    def delete(self, key: bytes) -> None:
        """Remove a row."""
        self.puts.pop(key, None)
        self.deletes.add(key)

    def get(self, key: bytes) -> bytes | None:
        """A row as it will stand."""
        value = self.puts.get(key)
        if value is not None:
            return value
        if key in self.deletes:
            return None
        return self._get(key)

    def write(self) -> None:
        """Write it. When the store refuses, with StorageFull, everything still waits."""
        self._store.write(self.puts.items(), self.deletes)
        self.puts = {}
        self.deletes = set()
