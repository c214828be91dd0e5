"""Where is it kept what was fetched before, and when?

One store for a job or for many crawls in turn. What a fetch adds is held in memory until the records it names are
on the disk, and written then: so the history never names what a power failure took.

| key | value |
|---|---|
| `u` + key of a URI | its entries, the latest first |
| `d` + digest | the record that holds the content |
| `l` + key of a URI | its links, where a 304 may come next time |
| `p` + path, size and time of a file | it has been taken in |
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.archive.history import key
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.revisit import Entry, Original

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from heritrix_scrapy.crawl import Store

#: Version of the rows.
SCHEMA = b"history.1"

_encode = msgspec.msgpack.Encoder().encode
_entries = msgspec.msgpack.Decoder(list[Entry])
_original = msgspec.msgpack.Decoder(Original)
_links = msgspec.msgpack.Decoder(list[tuple[str, str, str]])


class History:
    """What is remembered. Also one of ``Crawl.archives``: ``sync`` comes after the WARC files'."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[bytes, bytes] = {}
        self._closed = False

    # -- reading -------------------------------------------------------------------------------------------

    def entries(self, uri: str) -> list[Entry]:
        """Earlier fetches of a URI, the latest first."""
        data = self._get(b"u" + key(uri).encode())
        return [] if data is None else _entries.decode(data)

    def original(self, digest: str) -> Original | None:
        """The record that holds what has this digest."""
        data = self._get(b"d" + digest.encode())
        return None if data is None else _original.decode(data)

    def links(self, uri: str) -> list[Outlink]:
        """The links that the URI had when it was last read whole."""
        data = self._get(b"l" + key(uri).encode())
        if data is None:
            return []
        return [Outlink(*link) for link in _links.decode(zlib.decompress(data))]

    def _get(self, name: bytes) -> bytes | None:
        data = self._waiting.get(name)
        return self._store.get(name) if data is None else data

    def has_read(self, mark: str) -> bool:
        """Whether a file was taken in before."""
        return self._get(b"p" + mark.encode("utf-8", "surrogateescape")) is not None

    # -- writing -------------------------------------------------------------------------------------------

    def put_entries(self, uri: str, entries: Sequence[Entry]) -> None:
        self._waiting[b"u" + key(uri).encode()] = _encode(list(entries))

    def put_original(self, digest: str, original: Original) -> None:
        self._waiting[b"d" + digest.encode()] = _encode(original)

    def put_links(self, uri: str, links: Sequence[Outlink]) -> None:
        self._waiting[b"l" + key(uri).encode()] = zlib.compress(_encode([tuple(link) for link in links]), 1)

    def note_read(self, mark: str) -> None:
        self._waiting[b"p" + mark.encode("utf-8", "surrogateescape")] = b""

    def flush(self) -> Mapping[str, int]:
        """Nothing of its own that a batch of the frontier would have to vouch for."""
        return {}

    def sync(self) -> None:
        """Write what waits. Called when the records it names are on the disk. Raises StorageFull; what waited
        still waits then."""
        if self._waiting and not self._closed:
            self._store.write(self._waiting.items())
            self._waiting = {}

    def length(self, name: str) -> int:
        return -1

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """Copy the store; what waits names records that the checkpoint's frontier has just synced. Raises OSError and
        StorageFull."""
        self.sync()
        return self._store.checkpoint(directory)

    def close(self) -> None:
        """Write what waits and let go of the store."""
        if not self._closed:
            try:
                self.sync()
            finally:
                self._closed = True
                self._store.close()
