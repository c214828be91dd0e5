"""Does the frontier open when its files are torn, say what is lost, and go on with all the rest?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.queue import unpack_record
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.store.leveldb import LevelStore
from heritrix_scrapy.store.mend import live_tables
from tests.frontier.world import Clock, end, make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier

URIS = 5000
HOSTS = 50


def uri(number: int) -> str:
    return f"http://h{number % HOSTS}.torn.test/{number}"


def fill(path: Path, *, batches: int = 20) -> None:
    """A frontier with URIs in some batches, left as a killed process leaves it."""
    store = LevelStore(path)
    frontier, clock, _ = make(store)
    for batch in range(batches):
        frontier.add([seed(uri(number)) for number in range(batch, URIS, batches)])
        frontier.flush(clock.now)
    store.close()


def compacted(path: Path) -> None:
    """All rows in tables, none in the journal."""
    store = LevelStore(path)
    store.compact()
    store.close()


def newest(path: Path, pattern: str) -> Path:
    return max(path.glob(pattern), key=lambda file: file.name)


def cut(file: Path, size: int) -> None:
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size - size)


def drain(frontier: Frontier, clock: Clock) -> list[str]:
    """Fetch everything; the URIs in the order they came."""
    served = []
    while (curi := frontier.next(clock.now)) is not None:
        served.append(curi.uri)
        end(frontier, curi, 200, clock.now)
    return served


def test_pc002_a_torn_journal(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """PC-002: the last 7 bytes off the newest data file. The batch is dropped, and only that."""
    fill(tmp_path)
    cut(newest(tmp_path, "*.log"), 7)
    frontier, clock, _ = make(LevelStore(tmp_path))
    (said,) = [record.message for record in caplog.records if "damaged" in record.message]
    assert "ends in a torn batch" in said
    dropped = int(said.partition(" rows")[0].rpartition(" ")[2])
    assert dropped > URIS // 20, "the rows of the last batch"
    served = drain(frontier, clock)
    assert len(served) == len(set(served)) == URIS - URIS // 20
    frontier.close()


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_flipped_byte_in_the_journal(tmp_path: Path, caplog: pytest.LogCaptureFixture, place: float) -> None:
    """It is said; all that was not touched is there, what came after it too, each URI once, and no number is given
    twice."""
    fill(tmp_path)
    journal = newest(tmp_path, "*.log")
    data = bytearray(journal.read_bytes())
    # a byte of a URI, so that the lengths stay right
    at = data.index(b".torn.test/", int(len(data) * place))
    data[at] ^= 1
    journal.write_bytes(data)
    frontier, clock, _ = make(LevelStore(tmp_path))
    (said,) = [record.message for record in caplog.records if "damaged" in record.message]
    assert "checksum mismatch" in said
    fresh = [uri(URIS + number).replace("torn", "fresh") for number in range(HOSTS)]
    frontier.add(seed(each) for each in fresh)
    served = drain(frontier, clock)
    assert len(served) == len(set(served))
    assert set(fresh) <= set(served)
    assert len(set(served) & {uri(number) for number in range(URIS)}) >= URIS - 1
    assert not frontier.alive()
    frontier.close()


@pytest.mark.parametrize("size", [1, 7, 8, 40, 3000])
def test_pc002_a_torn_table(tmp_path: Path, caplog: pytest.LogCaptureFixture, size: int) -> None:
    """PC-002, when the newest data file is a table. What only its end lacks is put back; else its rows are lost,
    which is said."""
    fill(tmp_path)
    compacted(tmp_path)
    cut(newest(tmp_path, "*.ldb"), size)
    frontier, clock, _ = make(LevelStore(tmp_path))
    said = [record.message for record in caplog.records if "damaged" in record.message]
    assert said
    served = drain(frontier, clock)
    if size <= 7:
        assert f"lacked its last {size} bytes: put back, no row lost" in said[0]
        assert len(served) == URIS
    else:
        assert "cannot be read: its rows are lost" in said[0]
    assert not frontier.alive()
    frontier.close()


@pytest.mark.parametrize("damage", ["torn", "missing", "no CURRENT"])
def test_a_damaged_manifest(tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    """LevelDB would drop the tables that a torn manifest does not name; no row is lost here."""
    fill(tmp_path)
    compacted(tmp_path)
    manifest = newest(tmp_path, "MANIFEST-*")
    if damage == "torn":
        cut(manifest, 7)
    else:
        (manifest if damage == "missing" else tmp_path / "CURRENT").unlink()
    frontier, clock, _ = make(LevelStore(tmp_path))
    assert any("damaged" in record.message for record in caplog.records)
    assert len(set(drain(frontier, clock))) == URIS
    frontier.close()


def test_a_lost_table(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(tmp_path)
    compacted(tmp_path)
    newest(tmp_path, "*.ldb").unlink()
    frontier, clock, _ = make(LevelStore(tmp_path))
    assert any("damaged" in record.message for record in caplog.records)
    drain(frontier, clock)
    frontier.close()


def lose_counts(store: LevelStore) -> None:
    """PC-004: every stored count says 0."""
    for key, row in list(store.range(keys.QUEUE, keys.after(keys.QUEUE))):
        record = unpack_record(row)
        record.count = record.state = 0
        store.write([(key, msgspec.msgpack.encode(record))])


def lose_records(store: LevelStore) -> None:
    store.write([], [key for key, _ in store.range(keys.QUEUE, keys.after(keys.QUEUE))])


def lose_names(store: LevelStore) -> None:
    lose_records(store)
    store.write([], [key for key, _ in store.range(keys.QUEUE_NAME, keys.after(keys.QUEUE_NAME))])


def lose_totals(store: LevelStore) -> None:
    store.write([], [keys.STATE])


def lose_all(store: LevelStore) -> None:
    lose_names(store)
    lose_totals(store)


@pytest.mark.parametrize("lose", [lose_counts, lose_records, lose_names, lose_totals, lose_all])
def test_pc004_stale_counters(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, lose: Callable[[LevelStore], None]
) -> None:
    """PC-004: 5000 URIs are queued, and the counters say otherwise."""
    fill(tmp_path)
    store = LevelStore(tmp_path)
    lose(store)
    frontier, clock, _ = make(store)
    assert frontier.status()["queued"] == URIS
    assert frontier.alive()
    fresh = uri(URIS + 1).replace("torn", "fresh")
    frontier.add([seed(fresh)])
    served = drain(frontier, clock)
    assert sorted(served) == sorted([fresh, *map(uri, range(URIS))])
    assert not frontier.alive()
    frontier.close()


def test_an_open_store_is_left_alone(tmp_path: Path) -> None:
    """Nothing is mended in a directory that this or another process has open."""
    store = LevelStore(tmp_path)
    store.write([(b"q", b"row")])
    with pytest.raises(SystemExit, match="another crawl"):
        LevelStore(tmp_path)
    store.write([(b"r", b"row")])
    assert dict(store.range(b"q", b"s")) == {b"q": b"row", b"r": b"row"}
    store.close()


def test_what_a_compaction_left_half_written_is_nobodys_loss(tmp_path: Path) -> None:
    """A process that dies while tables are merged leaves a table that no list names: the store is whole without it."""
    fill(tmp_path)
    compacted(tmp_path)
    whole = newest(tmp_path, "*.ldb")
    for number, size in ((900001, 0), (900002, 7), (900003, 100_000)):
        (tmp_path / f"{number}.ldb").write_bytes(whole.read_bytes()[:size])
    store = LevelStore(tmp_path)
    assert store.damage == []
    frontier, clock, _ = make(store)
    assert sorted(drain(frontier, clock)) == sorted(uri(number) for number in range(URIS))


def test_tables_are_known_by_the_manifest(tmp_path: Path) -> None:
    fill(tmp_path)
    compacted(tmp_path)
    live = live_tables(tmp_path)
    assert live == {int(table.stem) for table in tmp_path.glob("*.ldb")}
    assert live


def test_a_manifest_of_another_kind_makes_every_table_count(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("MANIFEST-000001\n")
    assert live_tables(tmp_path) is None
    for edit in (b"\x07\x00", b"\x63\x01"):  # a table without its number; a field that is not known
        (tmp_path / "MANIFEST-000001").write_bytes(b"\0" * 4 + bytes([len(edit), 0, 1]) + edit)
        assert live_tables(tmp_path) is None
