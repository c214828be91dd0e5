"""Is what was fetched in the last moments before a crash remembered, and nothing that the crash took?"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.archive.history import key
from heritrix_scrapy.archive.memory import SCHEMA, History
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.revisit import Entry, Original
from heritrix_scrapy.store import open_store
from tests.archive.test_warcfile import NOW, Ids, captured, files_in, put
from tests.durability.watch import recorded, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URI = "http://a.example/page"
HOST = "last.test"
PAGES = 200


class Killed:
    """A process that has written two captures, told the history of both, flushed it, and died before the sync."""

    def __init__(self, folder: Path, *, compress: bool = True) -> None:
        self.folder = folder
        self.files = files_in(folder / "warcs", compress=compress)
        ids = Ids()
        self.places = [put(self.files, captured(f"{URI}{n}", b"body" * 100), ids) for n in range(2)]
        store = open_store(folder / "history", schema=SCHEMA)
        memory = History(store, lambda: [folder / "warcs"])
        for n, (name, offset) in enumerate(self.places):
            memory.put_entries(f"{URI}{n}", [Entry(200, NOW, "sha1:X", file=name, offset=offset)])
            memory.put_links(f"{URI}{n}", [Outlink("http://a.example/b", "L", "a/@href")])
            memory.put_original(f"sha1:{n}", Original(f"{URI}{n}", NOW, None, name, offset))
            memory.flush()
        memory.note_read("a file")
        memory.put_entries("http://a.example/nowhere", [Entry(200, NOW, "sha1:X", file="none.warc.gz", offset=0)])
        memory.flush()
        assert memory.flush() == {}
        store.close()

    def again(self) -> tuple[History, tuple[int, int]]:
        memory = History(open_store(self.folder / "history", schema=SCHEMA), lambda: [self.folder / "warcs"])
        return memory, memory.recover()


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("closed", [True, False])
def test_records_that_are_there_are_remembered(tmp_path: Path, compress: bool, closed: bool) -> None:
    dead = Killed(tmp_path, compress=compress)
    if closed:
        dead.files.close()
    memory, counted = dead.again()
    assert counted == (4, 1)
    for _ in range(2):
        for n, (name, offset) in enumerate(dead.places):
            [entry] = memory.entries(f"{URI}{n}")
            assert (entry.file, entry.offset) == (name, offset)
            assert [link.uri for link in memory.links(f"{URI}{n}")] == ["http://a.example/b"]
            assert memory.original(f"sha1:{n}") is not None
        assert not memory.has_read("a file")
        assert memory.entries("http://a.example/nowhere") == []
        memory.close()
        memory, counted = dead.again()
        assert counted == (0, 0)
    memory.close()


@pytest.mark.parametrize(
    ("harm", "left"),
    [
        (lambda path, offset: os.truncate(path, path.stat().st_size - 1000), 1),
        (lambda path, offset: os.truncate(path, offset + 5), 1),
        (lambda path, offset: os.truncate(path, offset), 1),
        (lambda path, offset: path.write_bytes(b"\0" * path.stat().st_size), 0),
        (lambda path, offset: path.unlink(), 0),
    ],
    ids=["torn", "begun", "gone", "zeros", "deleted"],
)
def test_what_the_power_took_is_not(tmp_path: Path, harm: Callable[[Path, int], None], left: int) -> None:
    dead = Killed(tmp_path)
    name, offset = dead.places[1]
    harm(tmp_path / "warcs" / f"{name}.open", offset)
    memory, counted = dead.again()
    assert counted == (2 * left, 5 - 2 * left)
    assert [len(memory.entries(f"{URI}{n}")) for n in range(2)] == [left, 0]
    assert [len(memory.links(f"{URI}{n}")) for n in range(2)] == [left, 0]
    memory.close()


def test_a_second_crash_before_anything_was_synced_loses_nothing(tmp_path: Path) -> None:
    dead = Killed(tmp_path)
    store = open_store(tmp_path / "history", schema=SCHEMA)
    memory = History(store, lambda: [tmp_path / "warcs"])
    memory.recover()
    name, offset = dead.places[0]
    memory.put_entries("http://a.example/later", [Entry(200, NOW, "sha1:X", file=name, offset=offset)])
    memory.flush()
    store.close()
    memory, counted = dead.again()
    assert counted == (5, 1)
    assert all(memory.entries(uri) for uri in (f"{URI}0", f"{URI}1", "http://a.example/later"))
    memory.close()


@pytest.mark.long
@pytest.mark.crawl
def test_all_that_is_logged_is_remembered_after_a_kill(serve: Any, project: Any) -> None:
    links = "".join(f"<a href=/{number}>x</a>" for number in range(PAGES))
    web = serve(
        {
            HOST: {
                "routes": {"/robots.txt": {"status": 404}, "/": {"body": links}},
                "default": {"body": "page", "etag": '"1"', "delay": 0.01},
            }
        }
    )
    made = project(
        {"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_FOLLOW": "all", "HERITRIX_FETCH_HISTORY": True}, web=web
    )
    log = made.jobdir / "logs" / "crawl.log"

    def logged() -> list[str]:
        rows = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        return [row[3] for row in rows if row[1] == "200" and row[3].startswith("http")]

    process = made.start()
    recorded(process, made.jobdir, web.url(HOST))
    until(process, lambda: len(logged()) > 40)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = logged()
    store = open_store(made.jobdir / "history", schema=SCHEMA)
    memory = History(store)
    aside = list(store.range(b"w", b"x"))
    kept, lost = memory.recover()
    assert (bool(aside), lost) == (kept > 0, 0)
    assert [uri for uri in before if not memory.entries(uri)] == []
    store.close()

    done = made.finish(made.start())
    assert done.returncode == 0, done.stderr
    store = open_store(made.jobdir / "history", schema=SCHEMA)
    assert list(store.range(b"w", b"x")) == []
    assert [uri for uri in logged() if store.get(b"u" + key(uri).encode()) is None] == []
    store.close()
