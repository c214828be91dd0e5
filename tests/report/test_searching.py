"""Is the last line about a URI found, whatever lies between, and however the log was rotated?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.report import searching
from heritrix_scrapy.report.searching import PIECE, backwards, fetched, judged

if TYPE_CHECKING:
    from pathlib import Path


def line(uri: str, status: int = 200) -> str:
    return f"2026-01-02T03:04:05.678Z {status:5d}         10 {uri} L - text/html #001 20260102030405678+10 - - 2t\n"


def never() -> bool:
    return False


def put(path: Path, text: str, age: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))


@pytest.mark.parametrize("piece", [1, 7, 64, PIECE])
def test_lines_come_backwards_and_whole(tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "PIECE", piece)
    put(tmp_path / "log", "first\n\nsecond line\nthird\ntorn")
    assert list(backwards(tmp_path / "log")) == [b"third", b"second line", b"first"]
    put(tmp_path / "log", "")
    assert list(backwards(tmp_path / "log")) == []
    put(tmp_path / "log", "no end")
    assert list(backwards(tmp_path / "log")) == []


def test_the_last_line_wins_over_all_parts(tmp_path: Path) -> None:
    put(tmp_path / "20260101000000" / "logs" / "crawl.log", line("http://a.test/1", 404) + line("http://a.test/2"), 20)
    put(tmp_path / "logs" / "crawl.log.cp00001", line("http://a.test/1", 500), 10)
    put(tmp_path / "logs" / "crawl.log", line("http://a.test/3") + line("http://a.test/12", -2))
    found = fetched(tmp_path, "http://a.test/1", never)
    assert found is not None
    assert (found["status"], found["annotations"], found["uri"]) == (500, "2t", "http://a.test/1")
    assert found["log"].endswith("crawl.log.cp00001")
    assert fetched(tmp_path, "http://a.test/2", never) is not None
    assert fetched(tmp_path, "http://a.test/", never) is None


def test_a_page_is_found_under_its_other_name_when_that_is_asked(tmp_path: Path) -> None:
    put(tmp_path / "logs" / "crawl.log", line("http://www.a.test/1"))
    assert fetched(tmp_path, "http://a.test/1", never) is None
    found = fetched(tmp_path, "http://a.test/1", never, lambda uri: uri.endswith("a.test/1"), "a.test")
    assert found is not None
    assert found["uri"] == "http://www.a.test/1"


def test_a_long_search_ends(tmp_path: Path) -> None:
    put(tmp_path / "logs" / "crawl.log", line("http://a.test/1") + line("http://a.test/2") * 5000)
    assert fetched(tmp_path, "http://a.test/1", lambda: True) is None
    assert fetched(tmp_path, "http://a.test/1", never) is not None


def test_the_rule_that_scope_log_names_is_found(tmp_path: Path) -> None:
    put(
        tmp_path / "logs" / "scope.log",
        "2026-01-02T03:04:05.678Z 1 SurtPrefixedDecideRule ACCEPT http://a.test/1\n"
        '2026-01-02T03:04:05.679Z 3 TooManyHopsDecideRule REJECT http://a.test/2 {"seed":"-"}\n',
    )
    assert judged(tmp_path, "http://a.test/2", never) == {
        "time": "2026-01-02T03:04:05.679Z",
        "index": "3",
        "rule": "TooManyHopsDecideRule",
        "decision": "REJECT",
    }
    assert judged(tmp_path, "http://a.test/", never) is None
