"""Where is it kept what was fetched before, and when?

One store for a job or for many crawls in turn. What a fetch adds is held in memory until the records it names are
on the disk, and written then: so the history never names what a power failure took. Until then it stands aside in the
store, from where the next start takes what names a record that is there: so a killed process loses none of it.

| key | value |
|---|---|
| `u` + key of a URI | its entries, the latest first |
| `d` + digest | the record that holds the content |
| `l` + key of a URI | its links, where a 304 may come next time |
| `p` + path, size and time of a file | it has been taken in |
| `w` + number | the folders of the WARC files, and rows that wait for these to be on the disk |
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.archive.history import key
from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.repair import whole_at
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.revisit import Entry, Original

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heritrix_scrapy.crawl import Store

#: Version of the rows.
SCHEMA = b"history.1"

_encode = msgspec.msgpack.Encoder().encode
_entries = msgspec.msgpack.Decoder(list[Entry])
_original = msgspec.msgpack.Decoder(Original)
_links = msgspec.msgpack.Decoder(list[tuple[str, str, str]])
_aside = msgspec.msgpack.Decoder(tuple[list[bytes], list[tuple[bytes, bytes]]])

ASIDE = b"w"


class History:
    """What is remembered. Also one of ``Crawl.archives``: ``sync`` comes after that of the WARC files. ``folders``:
    where these are written now."""

    def __init__(self, store: Store, folders: Callable[[], Sequence[Path]] = tuple) -> None:
        self._store, self._folders = store, folders
        self._waiting: dict[bytes, bytes] = {}
        #: Keys of what waits and does not stand aside yet; rows that stand aside.
        self._fresh: set[bytes] = set()
        self._set_aside: list[bytes] = []
        self._next = 0
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
        self._wait(b"u" + key(uri).encode(), _encode(list(entries)))

    def put_original(self, digest: str, original: Original) -> None:
        self._wait(b"d" + digest.encode(), _encode(original))

    def put_links(self, uri: str, links: Sequence[Outlink]) -> None:
        self._wait(b"l" + key(uri).encode(), zlib.compress(_encode([tuple(link) for link in links]), 1))

    def note_read(self, mark: str) -> None:
        self._wait(b"p" + mark.encode("utf-8", "surrogateescape"), b"")

    def _wait(self, name: bytes, row: bytes) -> None:
        self._waiting[name] = row
        self._fresh.add(name)

    def flush(self) -> Mapping[str, int]:
        """Set aside what was added since the last call. Raises StorageFull. Nothing that a batch of the frontier would
        have to vouch for."""
        if self._fresh and not self._closed:
            folders = [os.fsencode(path.absolute()) for path in self._folders()]
            name = ASIDE + self._next.to_bytes(8, "big")
            self._store.write([(name, _encode((folders, [(each, self._waiting[each]) for each in self._fresh])))])
            self._set_aside.append(name)
            self._next += 1
            self._fresh.clear()
        return {}

    def sync(self) -> None:
        """Write what waits. Called when the records it names are on the disk. Raises StorageFull; what waited
        still waits then."""
        if self._waiting and not self._closed:
            self._store.write(self._waiting.items(), self._set_aside)
            self._waiting = {}
            self._set_aside = []
            self._fresh.clear()

    def recover(self) -> tuple[int, int]:
        """Take in what a process set aside that was killed, before anything is added; it is written with the next
        ``sync``. How many fetches and contents are remembered, and how many name no record that is there whole."""
        kept: dict[bytes, bytes] = {}
        lost = 0
        for name, value in self._store.range(ASIDE, ASIDE + b"\xff"):
            self._set_aside.append(name)
            folders, rows = _aside.decode(value)
            places = [Path(os.fsdecode(folder)) for folder in folders]
            found = {each: row for each, row in rows if each[:1] in b"ud" and is_there(_named(each, row), places)}
            # a page's links go with what is remembered of it
            found |= {each: row for each, row in rows if each[:1] == b"l" and b"u" + each[1:] in found}
            lost += sum(each[:1] in b"ud" and each not in found for each, _ in rows)
            kept |= found
        if self._set_aside:
            self._next = int.from_bytes(self._set_aside[-1][1:], "big") + 1
        self._waiting.update(kept)
        return sum(each[:1] in b"ud" for each in kept), lost

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


def _named(name: bytes, row: bytes) -> tuple[str | None, int]:
    """File and offset of the record that a row rests on."""
    if name[:1] == b"u":
        first, *_ = _entries.decode(row)
        return first.file, first.offset
    original = _original.decode(row)
    return original.file, original.offset


def is_there(where: tuple[str | None, int], places: Sequence[Path]) -> bool:
    """Whether a whole record stands at an offset of a file, open or closed, in one of the folders."""
    file, offset = where
    if file is None:
        return False
    for place in places:
        for name in (file, file + OPEN):
            with suppress(OSError):
                if whole_at(place / name, offset):
                    return True
    return False
