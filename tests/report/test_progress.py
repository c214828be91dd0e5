"""Lines of progress and counters."""

from __future__ import annotations

import math

import pytest

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.report import progress
from heritrix_scrapy.report.tally import MOST_TYPES, by_status, media_type, tally
from heritrix_scrapy.report.times import log14, log17, ts14, ts17


def test_rates_since_the_moment_before() -> None:
    now = progress.Progress(downloaded=9000, bytes_total=31457280)
    progress.rates(now, 6_000_000, progress.Progress(downloaded=8990, bytes_total=26337280), 20_000)
    assert (now.average_docs, now.average_kib, now.current_docs, now.current_kib) == (1.5, 5, 0.5, 250)


def test_rates_of_a_crawl_that_went_on() -> None:
    start = progress.Progress(downloaded=1000, bytes_total=1_000_000)
    now = progress.Progress(downloaded=1100, bytes_total=1_000_000 + 10 * 1024 * 100)
    progress.rates(now, 10_000, start, 10_000, start)
    assert (now.average_docs, now.current_docs) == (10.0, 10.0)
    assert now.current_kib == 100


def test_rates_before_anything_happened() -> None:
    now = progress.Progress()
    progress.rates(now, 0, None, 0)
    assert math.isnan(now.average_docs)
    assert (now.average_kib, now.current_docs, now.current_kib) == (0, 0, 0)


def test_wide_values_never_touch_in_the_modern_profile() -> None:
    wide = progress.Progress(*[123456789012] * 5)
    assert len(progress.line(0, wide).split()) == 13
    assert len(progress.line(0, wide, modern=False).split()) < 13


def test_the_legend_ends_its_columns_where_the_values_end() -> None:
    for name, end in progress.ENDS.items():
        assert progress.LEGEND[:end].endswith(name)


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (-5, "0 B"), (1536, "1.5 KiB"), (1 << 50, "1,024 TiB")])
def test_sizes_for_people(size: int, text: str) -> None:
    assert progress.human(size) == text


def test_the_four_shapes_of_a_moment() -> None:
    ms = 1308849128574
    assert (log14(ms), log17(ms)) == ("2011-06-23T17:12:08Z", "2011-06-23T17:12:08.574Z")
    assert (ts14(ms), ts17(ms)) == ("20110623171208", "20110623171208574")


def test_counters_of_an_end() -> None:
    curi = CrawlURI("http://a.example/")
    curi.status, curi.content_size, curi.content_type = 404, 300, "Text/HTML; charset=x"
    assert tally(curi) == {
        "uris/finished": 1,
        "uris/downloaded": 1,
        "status/404": 1,
        "urls/novel": 1,
        "bytes/novel": 300,
        "mime/text/html": 1,
        "mime_bytes/text/html": 300,
    }
    curi.annotations = ["duplicate:digest"]
    assert tally(curi)["bytes/dup_by_hash"] == 300
    curi.status = -9998
    assert tally(curi) == {"uris/finished": 1, "uris/disregarded": 1, "status/-9998": 1}
    curi.status, curi.credential_pending = 401, True
    assert tally(curi) == {"uris/finished": 1, "uris/failed": 1, "status/401": 1, "failed_status/401": 1}


@pytest.mark.parametrize(
    ("sent", "counted"),
    [("text/html;x", "text/html"), ("unknown", "unknown"), ("", "no-type"), ("\x00/é", "other"), ("a" * 500, "other")],
)
def test_types_that_are_none_share_a_counter(sent: str, counted: str) -> None:
    assert media_type(sent) == counted


def test_by_status() -> None:
    assert by_status({"status/200": 5, "status/-9998": 7, "uris/finished": 12, "status/404": 5}) == [
        (-9998, 7),
        (200, 5),
        (404, 5),
    ]


def test_types_that_a_server_makes_up_are_bounded() -> None:
    known: set[str] = set()
    counted = {media_type(f"text/x-{number}", known) for number in range(MOST_TYPES + 10)}
    assert len(counted) == MOST_TYPES + 1
    assert media_type("text/x-0", known) == "text/x-0"
    assert media_type("text/new", known) == "other"
