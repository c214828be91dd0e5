"""Lines of the crawl log, and what those who read them take for granted."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.report import json_line
from heritrix_scrapy.report.log_line import error_line, failure_entry, line, size, truncate_mime
from tests.report.log_readers import JSON_ROW, ROW

NOW = 1308849128574
SITES = Path(__file__).parents[2].parent / "shared" / "golden" / "sites"

text = st.text(max_size=30)


@st.composite
def curis(draw: Any) -> CrawlURI:
    curi = CrawlURI(
        draw(st.sampled_from(["http://a.example/", "https://a.example/", "dns:"])) + draw(text),
        path=draw(st.sampled_from(["", "L", "LLE", "7+" + "L" * 50])),
        via=draw(st.none() | text.map(lambda t: "http://v.example/" + t)),
        source_tag=draw(st.none() | text.map(lambda t: "http://s.example/" + t)),
    )
    curi.status = draw(st.sampled_from([200, 404, 0, -1, -2, -9998, -5003, 1]))
    curi.content_type = draw(st.sampled_from(["text/html", "", "text/html; charset=x", "\x00\x01"]) | text)
    curi.content_size = draw(st.integers(-1, 1 << 50))
    curi.content_length = draw(st.integers(-1, 1 << 50))
    curi.began_ms = draw(st.none() | st.just(NOW))
    curi.ended_ms = draw(st.none() | st.just(NOW + 12))
    curi.digest = draw(st.none() | st.just("sha1:" + "A" * 32))
    curi.annotations = draw(st.lists(text, max_size=4))
    curi.attempts = draw(st.integers(0, 40))
    curi.extra_info = draw(st.dictionaries(text, text | st.integers(), max_size=3))
    return curi


@given(curi=curis(), extra=st.booleans(), modern=st.booleans(), thread=st.integers(0, 5000))
def test_every_reader_splits_every_line(curi: CrawlURI, extra: bool, modern: bool, thread: int) -> None:
    written = line(curi, NOW, extra_info=extra, modern=modern, thread=thread)
    assert written.count("\n") == 1
    assert written.endswith("\n")
    assert written.encode().decode() == written
    assert len(written.splitlines()) == 1
    for reader in ROW:
        reader(written[:-1])


@given(curi=curis(), modern=st.booleans())
def test_every_reader_reads_every_json_line(curi: CrawlURI, modern: bool) -> None:
    written = json_line.line(curi, NOW, {"url": "no", "mine": "é\u2028"}, modern=modern)
    assert written.isascii()
    assert len(written.splitlines()) == 1
    for reader in JSON_ROW:
        reader(written)


def golden_lines() -> list[str]:
    rows: list[str] = []
    for path in sorted(SITES.glob("*/jobs/*/golden/crawl.log*")):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            rows += [row.rstrip("\n") for row in file]
    return rows


def test_the_readers_rules_hold_for_heritrix_itself() -> None:
    for row in golden_lines():
        for reader in ROW:
            reader(row)


@pytest.mark.parametrize(
    ("status", "length", "modern", "expected"),
    [(200, 0, True, 0), (-2, -1, True, 0), (-2, -1, False, 1), (-3, -1, False, 1), (-9998, -1, False, None)],
)
def test_size_of_an_exchange(status: int, length: int, modern: bool, expected: int | None) -> None:
    curi = CrawlURI("http://a.example/")
    curi.status, curi.content_length = status, length
    assert size(curi, modern=modern) == expected


def test_size_of_anything_else_counts_all_bytes() -> None:
    curi = CrawlURI("dns:a.example")
    curi.status, curi.content_size, curi.content_length = 1, 56, 0
    assert size(curi) == 56
    curi.content_size = 0
    assert size(curi) is None


def test_annotations_stay_one_column() -> None:
    curi = CrawlURI("http://a.example/")
    curi.annotations = ["Runtime exceeded 5ms", "submit:a,b", "", "3t"]
    curi.attempts = 3
    assert line(curi, NOW).split()[11] == "Runtime%20exceeded%205ms,submit:a%2Cb,3t"


def test_what_a_page_wrote_cannot_break_the_error_logs() -> None:
    row = error_line(NOW, "http://a.example/", 'bad\n"port"', "http://a:b\r\n/ x")
    assert row == '2011-06-23T17:12:08.574Z http://a.example/ "bad%0A"port"" http://a:b%0D%0A/ x\n'
    assert error_line(NOW, None, "m", "x").split()[1] == "n/a"
    assert failure_entry("line\n", ["Trace\n", "  more\n"]) == "line\n Trace\n  more\n"


@given(
    trace=st.lists(st.text() | st.sampled_from(["\n2011-06-23T17:12:08.574Z   200 1 http://a.example/", "\x1b[2J\r"]))
)
def test_what_a_server_wrote_cannot_forge_an_entry(trace: list[str]) -> None:
    entry = failure_entry(line(CrawlURI("http://a.example/"), NOW), trace)
    first, *rest = entry.removesuffix("\n").split("\n")
    for reader in ROW:
        reader(first)
    assert not any(re.match(r"\d", text) for text in rest)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", entry)
    assert entry.encode().decode() == entry


@pytest.mark.parametrize("value", ["", None, " text/html", ";", ",a"])
def test_no_type(value: str | None) -> None:
    assert truncate_mime(value) == "no-type"
