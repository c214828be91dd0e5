"""Are numbers, curves and lists made as the page needs them? Plain functions, and what remembers how a crawl went."""

from __future__ import annotations

from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.operate.closer import MOMENTS, Course, HeaviestHosts, limits_of
from heritrix_scrapy.operate.web.pages import render
from heritrix_scrapy.operate.web.ui import words
from heritrix_scrapy.operate.web.ui.live import text_of
from heritrix_scrapy.operate.web.ui.plot import POINTS, nice, plot, rates_of, thinned

NUMBERS = {
    "state": "RUNNING",
    "reason": None,
    "elapsed_ms": 90_500,
    "alerts": 0,
    "uris": dict.fromkeys(
        ("succeeded", "failed", "disregarded", "retried", "discovered", "queued", "in_process", "future"), 0
    ),
    "queues": {},
    "bytes": {"total": 0, "novel": 0},
    "rates": dict.fromkeys(
        ("uris_per_second", "kib_per_second", "average_uris_per_second", "average_kib_per_second"), None
    ),
    "fetching": {"slots": 25, "in_use": 0, "steps": {}},
    "hosts": [],
    "disks": [],
    "memory": 0,
}


def test_a_crawl_without_anything_has_all_its_figures() -> None:
    figures = words.figures(NUMBERS)
    assert figures["progress"] == figures["rate"] == figures["free"] == words.NONE
    assert figures["elapsed"] == "1m30s"
    assert words.figures({"state": "FINISHED"}) == {"state": "FINISHED", "reason": ""}


def test_numbers_are_written_for_people() -> None:
    assert words.count(1_234_567) == "1\u202f234\u202f567"
    assert [words.rate(each) for each in (0.5, 12.34, 1234.0, None)] == ["0.50", "12.3", "1\u202f234", "–"]
    assert words.time(0) == "0s"


def test_a_course_stays_small_and_even() -> None:
    course = Course()
    for second in range(5000):
        course.offer(second * 1000, second * 2, second * 1024, 10)
    assert len(course.moments) <= MOMENTS
    gaps = {after[0] - before[0] for before, after in zip(course.moments, course.moments[1:], strict=False)}
    assert max(gaps) <= 2 * min(gaps)
    assert course.moments[0][0] == 0


def test_a_curve_shows_rates_within_its_frame() -> None:
    moments = [(second * 1000, second * 5, second * 2048, 0) for second in range(500)]
    assert len(thinned(moments)) <= POINTS
    assert thinned(moments)[-1] == moments[-1]
    assert {row[1:] for row in rates_of(moments)} == {(5.0, 2.0)}
    drawn = plot(moments)
    assert drawn is not None
    for curve in (drawn.documents, drawn.kib):
        for point in curve.split():
            x, y = map(float, point.split(","))
            assert drawn.x0 <= x <= drawn.x1
            assert drawn.y0 - 0.1 <= y <= drawn.y1 + 0.1
    assert plot(moments[:2]) is None
    assert plot([(0, 0, 0, 0)] * 5) is None


def test_scales_are_round() -> None:
    assert [nice(each) for each in (0, 0.3, 1, 7, 12, 999)] == [1, 0.5, 1, 10, 20, 1000]


def test_a_counter_that_went_back_is_no_negative_rate() -> None:
    assert rates_of([(0, 10, 10, 0), (1000, 5, 5, 0)]) == [(1000, 0.0, 0.0)]


def test_events_are_one_line_of_data_each_whatever_a_log_says() -> None:
    hostile = 'http://a.test/\r\nevent: end\n\ndata: <script>alert(1)</script>\x1b[2J"\u2028'
    told = text_of({"event": "log", "lines": [hostile]})
    assert told is not None
    assert told.startswith(b"event: log\ndata: ")
    assert told.count(b"\n") == 3
    assert b"\x1b" not in told
    assert text_of({"event": "hello"}) is None


def test_parts_escape_what_strangers_say() -> None:
    bad = "<script>alert(1)</script>\" onload='x'"
    detail = {
        "flights": [{"uri": bad, "queue": bad, "step": bad, "seconds": 1, "received": 0}],
        "holding": [{"queue": bad, "uris": 1, "state": "READY", "waits for": bad, "errors": 0}],
        "refusals": [{"rule": bad, "uris": 1}],
        "hosts": {
            "bytes": [{"host": bad, "bytes": 1, "succeeded": 1, "failed": 0, "disregarded": 0, "remaining": 0}],
            "errors": [],
        },
        "statuses": [{"status": 200, "label": bad, "uris": 1}],
        "limits": [],
    }
    for name in ("flights", "holding", "refusals", "hosts", "uris", "alerts", "buttons"):
        drawn = render(
            f"ui/part_{name}.html",
            subject={"base": "/ui", "home": "", "name": bad},
            detail=detail,
            numbers={**NUMBERS, "running": True},
            figures=words.figures(NUMBERS),
            words=words,
            may=True,
            csrf="0",
            actions=("pause",),
            alerts=[bad],
        )
        assert "<script" not in drawn, name
        assert "onload='x'" not in drawn, name


def test_hosts_are_told_by_bytes_and_by_errors() -> None:
    hosts = Hosts(lambda key: None)
    heaviest = HeaviestHosts(hosts)
    for number in range(50):
        tally = hosts.host(f"h{number}.test").tally
        tally.total_bytes, tally.failures = number * 100, 50 - number if number < 3 else 0
        heaviest.meet(f"h{number}.test", tally)
    told = heaviest.told()
    assert [row["host"] for row in told["bytes"]][:2] == ["h49.test", "h48.test"]
    assert [row["failed"] for row in told["errors"]] == [50, 49, 48]


def test_only_limits_that_are_set_are_told() -> None:
    class View:
        max_documents_download = 10
        max_time_seconds = 60

    rows = limits_of(View(), {"uris/downloaded": 4}, 30_000)
    assert [(row["setting"], row["used"], row["limit"]) for row in rows] == [
        ("HERITRIX_MAX_DOCUMENTS_DOWNLOAD", 4, 10),
        ("HERITRIX_MAX_TIME_SECONDS", 30, 60),
    ]
