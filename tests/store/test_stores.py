"""Do both stores keep rows alike, and does the one on disk say clearly what is wrong?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.model.errors import ConfigurationError, StoreInUse
from heritrix_scrapy.store import MemoryStore, discard, leveldb, open_store

KEYS = st.binary(min_size=1, max_size=3)
PUTS = st.lists(st.tuples(KEYS, st.binary(max_size=4)), max_size=6)
BATCHES = st.lists(st.tuples(PUTS, st.lists(KEYS, max_size=4), st.booleans()), max_size=8)


@settings(deadline=None, max_examples=40)
@given(batches=BATCHES, start=st.binary(max_size=2), stop=st.none() | st.binary(max_size=2))
def test_twins(batches: list[tuple[list[tuple[bytes, bytes]], list[bytes], bool]], start: bytes, stop: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        disk, memory = open_store(Path(directory)), open_store(None)
        assert isinstance(memory, MemoryStore)
        end = b"\xff" if stop is None else stop
        for puts, deletes, sync in batches:
            disk.write(puts, deletes, sync=sync)
            memory.write(puts, deletes, sync=sync)
            # the row of the schema stands at m
            for begin, before in ((start, min(end, b"m")), (max(start, b"n"), end)):
                for most in (1, 3, 100):
                    rows = disk.first(begin, before, most)
                    assert rows == memory.first(begin, before, most) == list(disk.range(begin, before))[:most]
        mine = [row for row in disk.range(start, stop) if row[0] != leveldb.SCHEMA_KEY]
        assert mine == list(memory.range(start, stop))
        for puts, deletes, _ in batches:
            for key in [*deletes, *(key for key, _ in puts)]:
                assert disk.get(key) == memory.get(key)
        disk.compact()
        memory.compact()
        assert [row for row in disk.range(b"") if row[0] != leveldb.SCHEMA_KEY] == list(memory.range(b""))
        disk.close()


@pytest.mark.parametrize("disk", [False, True])
def test_a_seeker_finds_what_comes_next(tmp_path: Path, disk: bool) -> None:
    """As the rows were when it was asked for."""
    store = open_store(tmp_path if disk else None)
    store.write([(b"n1", b""), (b"n3", b""), (b"n5", b"")])
    seek = store.seeker()
    store.write([(b"n2", b"")], [b"n5"])
    assert [seek(key) for key in (b"n4", b"n1", b"n1\0", b"n5\0", b"n2")] == [b"n5", b"n1", b"n3", None, b"n3"]
    store.close()


@pytest.mark.parametrize("disk", [False, True])
def test_the_first_rows_are_those_of_now(tmp_path: Path, disk: bool) -> None:
    """Whatever was asked before something was written, compacted or copied."""
    store = open_store(tmp_path / "store" if disk else None)
    for number in range(5):
        store.write([(b"q%d" % number, b"1")], [b"q%d" % (number - 1)], sync=number == 3)
        expected = [(b"q%d" % number, b"1")]
        assert store.first(b"q", b"r", 9) == expected
        assert store.first(b"q%d" % (number + 1), b"r", 9) == []
        store.compact()
        assert store.first(b"q", b"r", 9) == expected
        if disk:
            store.checkpoint(tmp_path / f"copy{number}")()
        assert store.first(b"a", b"r", 9)[-1:] == expected
    store.close()


def test_range_is_a_snapshot() -> None:
    store = MemoryStore()
    store.write([(b"a", b"1"), (b"b", b"2")])
    rows = store.range(b"")
    store.write([(b"c", b"3")], [b"a"])
    assert list(rows) == [(b"a", b"1"), (b"b", b"2")]


def test_survives_reopening(tmp_path: Path) -> None:
    store = open_store(tmp_path / "frontier")
    store.write([(b"k", b"v")])
    store.close()
    store = open_store(tmp_path / "frontier")
    assert store.get(b"k") == b"v"
    store.close()
    discard(tmp_path / "frontier")
    store = open_store(tmp_path / "frontier")
    assert store.get(b"k") is None
    store.close()


OPEN = """
import sys
from pathlib import Path
from heritrix_scrapy.store import open_store
open_store(Path(sys.argv[1]))
"""


def test_one_process_at_a_time(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    done = subprocess.run([sys.executable, "-c", OPEN, str(tmp_path)], capture_output=True, text=True, check=False)
    store.close()
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "another crawl or command works on this directory" in done.stderr


def test_another_schema(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.write([(leveldb.SCHEMA_KEY, b"0.0")])
    store.close()
    with pytest.raises(ConfigurationError, match=r"schema 0\.0"):
        open_store(tmp_path)


def test_another_programs_leveldb(tmp_path: Path) -> None:
    with leveldb.plyvel.DB(str(tmp_path), create_if_missing=True) as other:
        other.put(b"x", b"y")
    with pytest.raises(ConfigurationError, match="schema none"):
        open_store(tmp_path)


def test_no_directory_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="a directory in which a frontier can be kept"):
        open_store(tmp_path / "file" / "frontier")


def test_binding_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leveldb, "plyvel", None)
    with pytest.raises(ConfigurationError, match="pip install plyvel"):
        open_store(tmp_path)


FULL = """
import resource, sys
from pathlib import Path
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.store import open_store
store = open_store(Path(sys.argv[1]))
store.write([(b"before", b"1")])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    for number in range(100):
        store.write([(b"%d" % number, bytes(5000))])
except StorageFull as error:
    print(error)
    print(store.get(b"before"))
"""


def test_disk_refuses(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=False)
    said, row = done.stdout.splitlines()
    assert said.startswith(f"cannot write some bytes to {tmp_path}")
    assert row == "b'1'"
    store = open_store(tmp_path)
    assert store.get(b"before") == b"1"
    store.close()


def test_a_store_that_somebody_has_open_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    looked_at = open_store(tmp_path)
    looked_at.write([(b"x", b"y")])
    with pytest.raises(StoreInUse):
        open_store(tmp_path)
    with pytest.raises(StoreInUse):
        open_store(tmp_path, patience=0.1)
    closing = threading.Timer(0.3, looked_at.close)
    closing.start()
    store = open_store(tmp_path, patience=30)
    assert store.get(b"x") == b"y"
    store.close()
    closing.join()
