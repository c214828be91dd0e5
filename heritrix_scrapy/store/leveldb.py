"""How are the rows of a job kept on disk? One LevelDB, tuned for a frontier.

No compression: rows are short, and a seek into a compressed block costs four times as much. Ten Bloom bits a key
answer most "never seen" questions without touching a block. A write buffer of 32 MB keeps the pause of a buffer
change short.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.crawluri import SCHEMA as ROW_SCHEMA
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreInUse
from heritrix_scrapy.store import copying
from heritrix_scrapy.store.mend import mend, open_here

try:
    import plyvel
except ImportError:  # pragma: no cover - depends on the installation
    try:
        import plyvel_next as plyvel
    except ImportError:
        plyvel = None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

OPTIONS: dict[str, Any] = {
    "compression": None,
    "bloom_filter_bits": 10,
    "write_buffer_size": 32 << 20,
    "lru_cache_size": 64 << 20,
    "max_open_files": 1000,
    "max_file_size": 8 << 20,
}

#: Layout of the rows as a whole; grows when the meaning of a key or of a row changes.
LAYOUT = 2
SCHEMA_KEY = b"mschema"
SCHEMA = b"%d.%d" % (LAYOUT, ROW_SCHEMA)


#: Bytes that must be free, besides twice the journal, before a store that could not write is opened again.
REOPENING = 1 << 20


class LevelStore:
    """A LevelDB directory, held by this process alone. Implements ``crawl.Store``."""

    def __init__(
        self,
        path: Path,
        *,
        schema: bytes = SCHEMA,
        setting: str = "JOBDIR",
        migrate: Callable[[LevelStore, bytes], bool] | None = None,
    ) -> None:
        if plyvel is None:
            raise ConfigurationError(
                setting, str(path), "the frontier needs LevelDB: pip install plyvel (from CPython 3.12 on plyvel-next)"
            )
        self._path = path
        self._refused: Exception | None = None
        #: Stands somewhere among the rows as the last batch left them; see ``first``.
        self._rows: Any = None
        #: What was found damaged on opening, a sentence each.
        self.damage: list[str] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            self.damage = mend(path, self._repair)
            self._db: Any = self._opened()
        except (OSError, plyvel.Error) as error:
            kind = StoreInUse if "lock" in str(error).lower() else ConfigurationError
            raise kind(setting, str(path), _explain(error)) from error
        open_here.add(path.resolve())
        for finding in self.damage:
            logger.error("the store in %s was damaged: %s", path, finding)
        #: Value of one row, or None; LevelDB's own, as it is asked for every link.
        self.get: Callable[[bytes], bytes | None] = self._db.get
        found = self._db.get(SCHEMA_KEY)
        if found is None and self.damage:
            # the row was in what is lost; whatever is left was written under a schema all the same
            found = schema
            self.write([(SCHEMA_KEY, schema)])
        if found is None and next(self.range(b""), None) is None:
            self.write([(SCHEMA_KEY, schema)])
        elif found != schema:
            self._bring_up(found, schema, setting, migrate)

    def _bring_up(
        self,
        found: bytes | None,
        schema: bytes,
        setting: str,
        migrate: Callable[[LevelStore, bytes], bool] | None,
    ) -> None:
        """Have rows of another schema rewritten. Raises ConfigurationError when they cannot be."""
        if found is not None and migrate is not None and migrate(self, found):
            self.write([(SCHEMA_KEY, schema)], sync=True)
            logger.info("the store in %s was brought from schema %s to %s", self._path, found.decode(), schema.decode())
            return
        self.close()
        raise ConfigurationError(
            setting,
            str(self._path),
            f"its store has schema {(found or b'none').decode('ascii', 'replace')}, this version reads "
            f"{schema.decode()}; finish the crawl with the version that began it, or export its URIs with that version"
            " and import them into another JOBDIR",
        )

    def _repair(self) -> None:
        """Build the manifest anew from every table and journal that can be read."""
        plyvel.repair_db(str(self._path), compression=None, bloom_filter_bits=OPTIONS["bloom_filter_bits"])

    def _opened(self) -> Any:
        """The database; what LevelDB finds to be missing or damaged is left out, once.

        It is opened with all checks first, and closed: only so does it say that a batch in its journal does not match
        its checksum, which it passes over otherwise. The checks do not stay: they would have the first damaged block
        that a compaction meets end all writing, and the crawl stand still for the sake of a few rows.
        """
        try:
            if any(journal.stat().st_size for journal in self._path.glob("*.log")):
                plyvel.DB(str(self._path), paranoid_checks=True, **OPTIONS).close()
            return plyvel.DB(str(self._path), create_if_missing=True, **OPTIONS)
        except plyvel.CorruptionError as error:
            self._repair()
            self.damage.append(f"{error}: repaired; rows that cannot be read are lost, others may be wrong")
            return plyvel.DB(str(self._path), create_if_missing=True, **OPTIONS)

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes] = (), *, sync: bool = False) -> None:
        """Deletes first, then puts, as one batch; with ``sync`` it is on the disk when this returns.

        In the order of the keys: each row's way into LevelDB's skip list is mostly that of the row before, and still
        in the processor's cache. That makes two thirds of a large batch's cost go away, a third of which sorting takes.

        Raises StorageFull when LevelDB cannot write, and from then on until there is room to open the store again: its
        journal may end in a torn record, and LevelDB would not find on opening what is written behind that.
        """
        if self._refused is not None and not self._open_again():
            raise StorageFull(str(self._path), cause=self._refused)
        self._rows = None
        batch = self._db.write_batch(sync=sync)
        put, rows = batch.put, dict(puts)
        for key in deletes:
            batch.delete(key)
        for key in sorted(rows):
            put(key, rows[key])
        try:
            batch.write()
        except (OSError, plyvel.Error) as error:
            self._refused = error
            raise StorageFull(str(self._path), cause=error) from error

    def _open_again(self) -> bool:
        """Open the store anew after a refused write, if there is room for what its journal holds."""
        journals = sum(journal.stat().st_size for journal in self._path.glob("*.log"))
        room = os.statvfs(self._path)
        if room.f_bavail * room.f_frsize < 2 * journals + REOPENING:
            return False
        place = self._path.resolve()
        self._rows = None
        self._db.close()
        open_here.discard(place)
        try:
            found = mend(self._path, self._repair)
            self._db = self._opened()
        except (OSError, plyvel.Error) as error:
            self._refused = error
            return False
        finally:
            open_here.add(place)
        for finding in found:
            logger.info("the store in %s was opened again: %s", self._path, finding)
        self.get = self._db.get
        self._refused = None
        return True

    def range(self, start: bytes, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Rows from ``start`` to before ``stop``, as they were when the range was asked for."""
        rows: Iterator[tuple[bytes, bytes]] = self._db.iterator(start=start, stop=stop)
        return rows

    def first(self, start: bytes, stop: bytes, most: int) -> list[tuple[bytes, bytes]]:
        """The first rows from ``start`` to before ``stop``, at most so many, as they are now.

        Making an iterator costs more than a seek and ten rows, so one serves until something is written: it shows the
        rows as they were when it was made.
        """
        rows = self._rows
        if rows is None:
            rows = self._rows = self._db.iterator()
        rows.seek(start)
        found: list[tuple[bytes, bytes]] = []
        for row in rows:
            if row[0] >= stop:
                break
            found.append(row)
            if len(found) >= most:
                break
        return found

    def seeker(self) -> Callable[[bytes], bytes | None]:
        """A function: a key → the first key of a row from there on, None behind the last; of the rows as they are now,
        which stay on the disk as long as the function is kept."""
        rows = self._db.raw_iterator()
        to, valid, found = rows.seek, rows.valid, rows.key

        def seek(start: bytes) -> bytes | None:
            to(start)
            return found() if valid() else None

        return seek

    def compact(self, start: bytes | None = None, stop: bytes | None = None) -> None:
        """Reclaim the room of deleted rows; takes a second a million rows."""
        self._rows = None
        self._db.compact_range(start=start, stop=stop)

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """Copy the store into ``directory``, which must not be there; what is returned completes the copy, and may run
        in a thread while rows are written. Raises OSError; see ``copying``."""
        return copying.copy(self._path, directory)

    def close(self) -> None:
        """Release the directory."""
        self._rows = None
        self._db.close()
        open_here.discard(self._path.resolve())


def _explain(error: BaseException) -> str:
    text = str(error)
    if "lock" in text.lower():
        return "another crawl or command works on this directory; wait until it has ended"
    return f"a directory in which a frontier can be kept ({text})"
