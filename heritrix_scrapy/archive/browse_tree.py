"""How does a mirror become a tree that can be browsed from disk?

The mirror keeps what the servers sent. Beside it, a second tree holds the same files, links to them where nothing
changes and rewritten copies of pages and style sheets. It is made anew from the mirror as often as asked, so a crawl
that goes on brings it up to date.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from heritrix_scrapy.archive.browse import Links

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PLACES = ".places.sqlite"
PAGES = frozenset(("text/html", "application/xhtml+xml"))
STYLES = frozenset(("text/css",))

#: Bytes beyond which a page is linked as it is.
LARGEST = 32 * 1024 * 1024


class Places:
    """Which URI lies where in a mirror: a small database in its folder. A row outlives the process as the file does."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        # used by the thread of the crawl, and by the one that makes the tree when the crawl is over
        self._rows = sqlite3.connect(root / PLACES, isolation_level=None, check_same_thread=False)
        self._rows.execute("PRAGMA journal_mode=WAL")
        self._rows.execute("PRAGMA synchronous=OFF")
        self._rows.execute(
            "CREATE TABLE IF NOT EXISTS place (uri TEXT PRIMARY KEY, path TEXT, type TEXT) WITHOUT ROWID"
        )

    def put(self, uri: str, path: str, content_type: str) -> None:
        """A file was written. Raises sqlite3.Error."""
        self._rows.execute("REPLACE INTO place VALUES (?, ?, ?)", (uri, path, content_type))

    def find(self, uri: str) -> str | None:
        """The path of a URI's file, or None."""
        row = self._rows.execute("SELECT path FROM place WHERE uri = ?", (uri,)).fetchone()
        return None if row is None else str(row[0])

    def all(self) -> Generator[tuple[str, str, str]]:
        """URI, path and media type of every file."""
        yield from self._rows.execute("SELECT uri, path, type FROM place")

    def close(self) -> None:
        self._rows.close()


def build(root: Path, places: Places, target: Path) -> int:
    """Make the tree for browsing; the number of pages and style sheets whose links were rewritten.

    Raises OSError where the disk refuses; a file of the mirror that is gone is left out.
    """
    rewritten = 0
    with closing(places.all()) as rows:
        for uri, path, content_type in rows:
            source, copy = root / path, target / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            draft = copy.with_name(f".{os.getpid()}.part")
            try:
                kind = content_type.partition(";")[0].strip().lower()
                if kind in PAGES | STYLES and source.stat().st_size <= LARGEST:
                    links = Links(uri, path, places.find)
                    body = source.read_bytes()
                    draft.write_bytes(links.html(body) if kind in PAGES else links.css(body))
                    rewritten += 1
                else:
                    os.link(source, draft)
            except FileNotFoundError:
                continue
            os.replace(draft, copy)
            draft.unlink(missing_ok=True)  # a link onto itself leaves the draft
    return rewritten
