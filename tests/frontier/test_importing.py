"""Do URIs of other crawls and lists get in, once and only once, and is nothing skipped without a word?"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from heritrix_scrapy.frontier.importing import format_of
from heritrix_scrapy.frontier.journal import NAME, Fields, Journal, Torn, fields, lines
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.store import MemoryStore
from tests.frontier.test_operations import World
from tests.frontier.world import end, make

JOURNAL = [
    "F+ http://a.test/  ",
    "F+ http://a.test/1 L http://a.test/",
    "Fe http://a.test/",
    "Fs http://a.test/  ",
    "Ff http://a.test/2 L http://a.test/",
    "F+ http://a.test/2 L http://a.test/",
    "F+ http://a.test/3  http://b.test/",
    "T 2026-01-01T00:00:00Z",
    "nonsense",
    "F+ a.test L http://a.test/",
]


def write(path: Path, rows: list[str]) -> str:
    text = "".join(f"{row}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def test_a_recovery_journal(tmp_path: Path) -> None:
    world = World()
    file = write(tmp_path / "frontier.recover.gz", JOURNAL)
    answer = world.do("import", file=file)
    assert (answer["format"], answer["lines"], answer["taken for seen"], answer["queued"]) == ("recover", 10, 1, 3)
    assert answer["skipped"] == {"no line of a recovery journal": 1, "no URI": 1}
    assert [example[0] for example in answer["examples"]] == [9, 10]
    assert world.do("import", file=file)["queued"] == 0
    rows = world.do("urls")["urls"]
    assert [(row["uri"], row["path"], row["via"]) for row in rows] == [
        ("http://a.test/3", "", "http://b.test/"),
        ("http://a.test/1", "L", "http://a.test/"),
        ("http://a.test/2", "L", "http://a.test/"),
    ] or {row["uri"] for row in rows} == {"http://a.test/1", "http://a.test/2", "http://a.test/3"}


def test_a_torn_journal(tmp_path: Path) -> None:
    rows = [f"F+ http://a.test/{number} L http://a.test/" for number in range(5000)]
    file = Path(write(tmp_path / "j.gz", rows))
    file.write_bytes(file.read_bytes()[:-2000])
    world = World()
    answer = world.do("import", file=str(file))
    assert answer["torn"]
    assert 0 < answer["queued"] < 5000
    assert answer["queued"] == world.frontier.totals.queued


def test_crawl_log_lines_of_any_status(tmp_path: Path) -> None:
    def row(code: int, uri: str, path: str, via: str) -> str:
        return f"2026-01-01T00:00:00.000Z {code:5} {10:10} {uri} {path} {via} text/html #001 - - tag -"

    file = write(
        tmp_path / "crawl.log",
        [
            row(200, "http://a.test/", "-", "-"),
            row(777, "http://a.test/odd", "L", "http://a.test/"),
            row(-4242, "http://a.test/odder", "LL", "http://a.test/"),
            "2026-01-01T00:00:00.000Z x",
        ],
    )
    world = World()
    answer = world.do("import", file=file, format="crawl.log")
    assert (answer["queued"], answer["skipped"]) == (3, {"no line of a crawl.log": 1})
    assert {row["uri"]: (row["path"], row["via"], row["source"]) for row in world.do("urls")["urls"]} == {
        "http://a.test/": ("", None, "tag"),
        "http://a.test/odd": ("L", "http://a.test/", "tag"),
        "http://a.test/odder": ("LL", "http://a.test/", "tag"),
    }
    other = World()
    answer = other.do("import", file=file, include="200", schedule="777")
    assert (answer["format"], answer["taken for seen"], answer["queued"]) == ("crawl.log", 1, 1)


REDIRECTED = [
    "F+ http://a.test/x  ",
    "Fs http://a.test/x  ",
    "F+ http://www.a.test/x R http://a.test/x",
    "Fs http://www.a.test/x R http://a.test/x",
    "F+ http://b.test/x  ",
    "Fs http://b.test/x  ",
    "F+ http://www.b.test/x R http://b.test/x",
]


def test_a_finished_redirect_to_another_name_of_its_page(tmp_path: Path) -> None:
    rules = {"canonicalization_rules": [["StripWWWRule", {}]]}
    world = World(**rules)
    file = write(tmp_path / "frontier.recover", REDIRECTED)
    assert world.do("import", file=file)["queued"] == 1
    assert [row["uri"] for row in world.do("urls")["urls"]] == ["http://www.b.test/x"]
    # not a second time either; unless it is wanted
    assert world.do("import", file=file)["queued"] == 0
    assert world.do("import", file=file, include="-", again=True)["queued"] == 2


@pytest.mark.parametrize("steps", range(1, 8))
def test_a_finished_redirect_in_an_import_that_is_cut_off(tmp_path: Path, steps: int) -> None:
    rules = {"canonicalization_rules": [["StripWWWRule", {}]]}
    world = World(**rules)
    file = write(tmp_path / "frontier.recover", REDIRECTED[:4] + ["# nothing"] * 20)
    work: Any = world.operations.perform({"do": "import", "file": file})
    for _ in range(steps):
        work.run(lambda: True)
    world.frontier.flush(world.clock.now)
    again = World(world.store, **rules)  # the process died; another one opens the store
    assert again.do("import", file=file)["queued"] == 0
    assert again.frontier.totals.queued == 0


def test_lists_seeds_and_scope(tmp_path: Path) -> None:
    file = write(tmp_path / "list.txt", ["# a list", "a.test/x", "http://b.test/ # one", "two words", "http://[x/"])
    world = World()
    world.decide = lambda curi: "a.test" in curi.uri
    answer = world.do("import", file=file, seeds=True, scope=True)
    assert (answer["format"], answer["queued"]) == ("uris", 1)
    assert answer["skipped"] == {"out of scope": 1, "more than one word": 1, "no URI": 1}
    assert world.do("urls")["urls"][0]["seed"]


def test_json_lines_come_back_as_they_went(tmp_path: Path) -> None:
    world = World()
    world.add("http://a.test/1", "http://b.test/2", source_tag="tag", directive=1)
    file = str(tmp_path / "out.json.gz")
    assert world.do("export", file=file, format="json")["written"] == 2
    assert not Path(file + ".open").exists()
    other = World()
    assert other.do("import", file=file)["queued"] == 2
    strip = {"attempts"}
    assert [{k: v for k, v in row.items() if k not in strip} for row in other.do("urls")["urls"]] == [
        {k: v for k, v in row.items() if k not in strip} for row in world.do("urls")["urls"]
    ]
    bad = write(
        tmp_path / "bad.json", ['{"uri": "http://a.test/"', "[]", '{"uri": 3}', '{"uri": "http://c/", "directive": 9}']
    )
    answer = other.do("import", file=bad, format="json")
    assert answer["skipped"] == {
        "not JSON": 1,
        "no JSON object": 1,
        "uri is no text": 1,
        "directive is none of 0 to 3": 1,
    }


def test_a_forced_import_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    file = write(tmp_path / "list.txt", [f"http://a.test/{number}" for number in range(100)])
    world = World()
    work: Any = world.operations.perform({"do": "import", "file": file, "force": True})
    for _ in range(3):
        work.run(lambda: True)
    world.frontier.flush(world.clock.now)
    cut = world.frontier.totals.queued
    assert 0 < cut < 100
    again = World(world.store)  # the process died; another one opens the store
    assert again.do("import", file=file, force=True)["queued"] == 100 - cut
    assert again.frontier.totals.queued == 100
    assert again.do("import", file=file, force=True)["imported before"] == again.clock.now
    assert again.frontier.totals.queued == 100
    assert again.do("import", file=file, force=True, again=True)["queued"] == 100


def test_exports_of_both_kinds(tmp_path: Path) -> None:
    world = World()
    world.add("http://b.test/1", "http://a.test/1", "http://a.test/2")
    world.do("retire", queue="test,b,")
    world.frontier.next(world.clock.now)
    plain, journal = tmp_path / "pending.txt", tmp_path / "pending.recover"
    assert world.do("export", file=str(plain))["written"] == 3
    assert plain.read_text() == "http://a.test/1\nhttp://a.test/2\nhttp://b.test/1\n"
    world.do("export", file=str(journal), format="recover", queue="test,b,")
    assert journal.read_text() == "F+ http://b.test/1 L http://s.test/\n"
    assert format_of(journal) == "recover"


# ---------------------------------------------------------------- the journal


def test_the_journal_of_a_small_crawl(tmp_path: Path) -> None:
    journal = Journal(lambda: tmp_path, lambda: 0)
    frontier, clock, _ = make(MemoryStore(), journal=journal, retry_delay_seconds=0, queue_total_budget=-1)
    frontier.add([seed("http://a.test/")])
    for code, links in ((-2, ()), (200, ("http://a.test/1", "http://a.test/2")), (-5000, ()), (-4, ())):
        curi = frontier.next(clock.now)
        assert curi is not None
        end(frontier, curi, code, clock.now, *links)
    frontier.close()
    assert list(lines(tmp_path / NAME)) == [
        "F+ http://a.test/  ",
        "Fe http://a.test/",
        "Fr http://a.test/",
        "Fe http://a.test/",
        "F+ http://a.test/1 L http://a.test/",
        "F+ http://a.test/2 L http://a.test/",
        "Fs http://a.test/  ",
        "Fe http://a.test/1",
        "Fd http://a.test/1",
        "Fe http://a.test/2",
        "Ff http://a.test/2 L http://a.test/",
    ]


def test_what_was_flushed_whole_survives_a_kill(tmp_path: Path) -> None:
    journal = Journal(lambda: tmp_path, lambda: 0)
    journal.append("Fe http://a.test/\n")
    journal.flush(whole=True)
    journal.append("Fe http://b.test/\n")
    journal.flush()
    found = lines(tmp_path / NAME)
    assert next(found) == "Fe http://a.test/"
    with pytest.raises(Torn):
        list(found)
    other = Journal(lambda: tmp_path, lambda: 0)
    other.append("Fe http://c.test/\n")
    other.close()
    assert sorted(path.name[:20] for path in tmp_path.iterdir()) == ["frontier.recover.gz", "frontier.recover.gz."]


def test_times_come_every_ten_thousand_lines_and_files_rotate(tmp_path: Path) -> None:
    journal = Journal(lambda: tmp_path, lambda: 1_700_000_000_000)
    for _ in range(25):
        for _ in range(1000):
            journal.append("Fe http://a.test/\n")
        journal.flush()
    journal.rotate("cp00001-20260101000000")
    journal.append("Fe http://b.test/\n")
    journal.close()
    rotated = list(lines(tmp_path / f"{NAME}.cp00001-20260101000000"))
    assert [text for text in rotated if text.startswith("T ")] == ["T 2023-11-14T22:13:20Z"] * 2
    assert list(lines(tmp_path / NAME)) == ["Fe http://b.test/"]


def test_fields_of_a_line() -> None:
    assert fields("http://a.test/  http://b.test/") == Fields("http://a.test/", "", "http://b.test/", None)
    assert fields("http://a.test/ - http://b.test/ x") == Fields("http://a.test/", "", "http://b.test/", "x")
