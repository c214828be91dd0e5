"""Is a store copied whole while rows are written and compactions go on, and does the copy leave it alone?"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.store import MemoryStore, copying, open_store
from heritrix_scrapy.store.leveldb import LevelStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VALUE = bytes(range(250)) * 4


def opened(path: Path) -> LevelStore:
    store = open_store(path)
    assert isinstance(store, LevelStore)
    return store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LevelStore]:
    made = opened(tmp_path / "store")
    yield made
    made.close()


def fill(store: LevelStore, start: int, stop: int) -> None:
    for at in range(start, stop, 500):
        store.write([(b"k%07d" % number, VALUE) for number in range(at, min(at + 500, stop))])


def count(store: LevelStore) -> int:
    return sum(1 for _ in store.range(b"k", b"l"))


def test_copies_hold_what_there_was_and_are_written_to_while_the_store_goes_on(
    store: LevelStore, tmp_path: Path
) -> None:
    """Four copies, each opened, read to its end and written to; the store is compacted meanwhile, and every row of it
    is read at the end."""
    rows = 0
    compacting: list[threading.Thread] = []
    for number in range(4):
        fill(store, rows, rows + 9000)
        rows += 9000
        compacting.append(threading.Thread(target=store.compact))
        compacting[-1].start()
        complete = store.checkpoint(tmp_path / f"copy{number}")
        fill(store, rows, rows + 1000)
        complete()
        copy = opened(tmp_path / f"copy{number}")
        assert copy.damage == []
        assert count(copy) == rows
        rows += 1000
        # as much as makes the copy write tables under numbers of its own
        copy.write([(b"x%07d" % each, VALUE * 3) for each in range(12_000)])
        copy.compact()
        assert count(copy) == rows - 1000
        copy.close()
    for thread in compacting:
        thread.join()
    assert count(store) == rows
    assert next(store.range(b"x", b"y"), None) is None
    store.close()
    again = opened(tmp_path / "store")
    assert again.damage == []
    assert all(value == VALUE for _, value in again.range(b"k", b"l"))
    assert count(again) == rows
    again.close()


def test_a_copy_may_be_used_again_and_again(store: LevelStore, tmp_path: Path) -> None:
    """PC-009: what is begun with a copy does not change it."""
    fill(store, 0, 40_000)
    store.checkpoint(tmp_path / "copy")()
    before = {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()}
    for number in range(2):
        copying.restore(tmp_path / "copy", tmp_path / f"job{number}")
        job = opened(tmp_path / f"job{number}")
        assert count(job) == 40_000
        job.write([], [key for key, _ in job.range(b"k", b"k003")])
        job.compact()
        job.close()
    assert {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()} == before


def test_only_named_tables_are_linked(store: LevelStore, tmp_path: Path) -> None:
    fill(store, 0, 60_000)
    store.compact()  # none runs beside, which would replace the tables
    stray = tmp_path / "store" / "999999.ldb"
    stray.write_bytes(b"of a compaction that was cut off")
    tables = {path.name: path.stat().st_ino for path in (tmp_path / "store").glob("*.ldb")}
    store.checkpoint(tmp_path / "copy")()
    assert not (tmp_path / "copy" / "999999.ldb").exists()
    linked = list((tmp_path / "copy").glob("*.ldb"))
    assert linked
    assert [path.stat().st_ino for path in linked] == [tables[path.name] for path in linked]


def test_a_copy_that_cannot_be_made(store: LevelStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        store.checkpoint(tmp_path / "file" / "copy")
    with pytest.raises(OSError, match="no checkpoints"):
        MemoryStore().checkpoint(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
