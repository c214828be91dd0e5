"""Do the reports say what the statistics and the logs add up to, while a crawl runs, after it, and after a resume?"""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.crawl import InFlight
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.tally import Tally
from heritrix_scrapy.report import plot, reports, tables
from heritrix_scrapy.report.figures import MOMENTS, Course, Figures, Moment, Seed
from heritrix_scrapy.report.known import Known
from heritrix_scrapy.report.sorting import sorted_rows
from heritrix_scrapy.settings import read
from heritrix_scrapy.store.memory import MemoryStore
from tests.scrapy_side.sites import HOST, SITE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def figures(store: MemoryStore) -> Figures:
    return Figures(store.get, store.range)


def known(store: MemoryStore, counters: dict[str, int] | None = None, profile: str = "modern", **more: Any) -> Known:
    settings = Settings({"HERITRIX_PROFILE": profile, "HERITRIX_OPERATOR_CONTACT_URL": "http://o.example/"})
    view = read(settings).view
    return Known(
        now_ms=1_308_849_128_574,
        job="basic",
        state="Finished",
        ran_ms=90_061_001,
        modern=profile == "modern",
        view=view,
        counters=counters or {},
        figures=figures(store),
        hosts=more.pop("hosts", lambda: iter(())),
        **more,
    )


def text(name: str, of: Known) -> list[str]:
    return list(reports.REPORTS[name].lines(of))


def ended(uri: str, code: int, **more: Any) -> CrawlURI:
    curi = CrawlURI(uri, seed=more.pop("seed", False), source_tag=more.pop("source_tag", None))
    curi.status, curi.content_size = code, more.pop("size", 100)
    for name, value in more.items():
        setattr(curi, name, value)
    return curi


# -- rows ----------------------------------------------------------------------------------------------------


def test_figures_are_the_same_before_and_after_they_are_written() -> None:
    store = MemoryStore()
    first = figures(store)
    first.seed_added("http://b.example/")
    first.seed_added("http://a.example/")
    gone = ended("http://a.example/", 302, seed=True, source_tag="http://a.example/")
    gone.outlinks = [Outlink("http://c.example/", "R", "Location:")]
    first.finished(gone, "a.example")
    first.finished(ended("http://c.example/", 200, source_tag="http://a.example/"), "c.example")
    first.finished(ended("http://c.example/1", -2, source_tag="http://a.example/"), "c.example")
    first.count({"extractor/ExtractorHTML/links": 3})
    first.take_down(Moment(1000, 5, 3, 2, 0, 150))

    def seen(of: Figures) -> tuple[Any, ...]:
        return list(of.seeds()), list(of.source_hosts()), of.counters(), of.course().moments

    before = seen(first)
    store.write(first.drain())
    assert seen(figures(store)) == before == seen(first)
    assert before[0] == [
        ("http://a.example/", Seed(302, "Seed successfully crawled", "http://c.example/")),
        ("http://b.example/", Seed()),
    ]
    assert before[1] == [("http://a.example/", "a.example", 1), ("http://a.example/", "c.example", 1)]
    assert first.drain() == []


def test_a_known_seed_that_is_announced_again_keeps_its_end() -> None:
    store = MemoryStore()
    first = figures(store)
    first.finished(ended("http://a.example/", 404, seed=True), "a.example")
    store.write(first.drain())
    again = figures(store)
    again.seed_added("http://a.example/")
    assert [(uri, seed.code) for uri, seed in again.seeds()] == [("http://a.example/", 404)]
    again.retried(ended("http://a.example/", status.DEFERRED, seed=True))
    assert [(uri, seed.code) for uri, seed in again.seeds()] == [("http://a.example/", 0)]


def test_a_long_crawl_keeps_few_moments() -> None:
    course = Course()
    for number in range(5 * MOMENTS):
        course.offer(Moment(number, number, 0, 0, 0, 0))
    assert MOMENTS / 2 <= len(course.moments) <= MOMENTS
    gaps = {after.ran_ms - before.ran_ms for before, after in pairwise(course.moments)}
    assert gaps == {course.every}


@pytest.mark.parametrize("run", [1, 2, 3, 100])
def test_rows_are_sorted_however_many_fit_into_memory(run: int) -> None:
    rows = [(-(number * 7 % 10), f"host{number}") for number in range(10)]
    assert list(sorted_rows(rows, run)) == sorted(rows)


# -- tables --------------------------------------------------------------------------------------------------


def test_the_report_on_statuses_lists_the_crawlers_own_codes() -> None:
    """PC-146."""
    counters = {"status/200": 3, "status/-2": 1, "status/-6": 1, "status/-9998": 2, "status/-5003": 1, "status/401": 2}
    counters["failed_status/401"] = 1
    modern = text("responsecode", known(MemoryStore(), counters))
    assert modern == ["[#urls] [rescode]", "3 200", "2 -9998", "2 401", "1 -2", "1 -5003", "1 -6"]
    assert text("responsecode", known(MemoryStore(), counters, "heritrix")) == [modern[0], "3 200", "1 401"]
    rows = json.loads(reports.as_json("responsecode", known(MemoryStore(), counters)))["data"]["rows"]
    assert rows[1] == [2, -9998, status.label(-9998)]


def test_the_report_on_seeds_names_what_failed_first() -> None:
    """PC-226: a seed that did not answer is named, and stands before those that did."""
    store = MemoryStore()
    kept = figures(store)
    for uri, code in (("http://ok.example/", 200), ("http://off.example/", -2), ("http://gone.example/", 404)):
        kept.finished(ended(uri, code, seed=True), "x")
    kept.seed_added("http://new.example/")
    store.write(kept.drain())
    assert text("seeds", known(store)) == [
        "[code] [status] [seed] [redirect]",
        "0 NOTCRAWLED http://new.example/",
        "-2 NOTCRAWLED http://off.example/",
        "404 CRAWLED http://gone.example/",
        "200 CRAWLED http://ok.example/",
    ]
    crawl = text("crawl", known(store, {"uris/finished": 3}))
    assert {"seeds crawled: 2", "seeds uncrawled: 2"} <= set(crawl)


def test_the_report_on_hosts() -> None:
    def hosts() -> Iterator[tuple[str, Tally]]:
        yield "b.example", Tally(scheduled=4, successes=2, disregards=1, robots_denials=1, total_bytes=30, novel_urls=2)
        yield "dns:", Tally(scheduled=1, successes=1, total_bytes=5, novel_urls=1, novel_bytes=5)
        yield "::1", Tally(scheduled=3, successes=3, total_bytes=9)

    assert text("hosts", known(MemoryStore(), hosts=hosts))[1:] == [
        "3 9 %3A%3A1 0 0 0 0 0 0 0 0 ",
        "2 30 b.example 1 1 2 0 0 0 0 0 ",
        "1 5 dns: 0 0 1 5 0 0 0 0 ",
    ]


def test_a_report_with_text_of_a_server_keeps_its_lines() -> None:
    """PC-216: control characters never reach a report or its JSON as they are."""
    store = MemoryStore()
    kept = figures(store)
    kept.finished(ended("http://a.example/\x01\n\x1b[2J", 200, seed=True, source_tag="tag\n\x1b"), "a.example")
    store.write(kept.drain())
    for name in ("seeds", "source"):
        lines = text(name, known(store))
        assert len(lines) == 2
        assert all(line.isprintable() for line in lines)
        assert json.loads(reports.as_json(name, known(store)))["report"] == name


def test_bytes_by_class_in_the_crawl_report() -> None:
    counters = {"urls/novel": 2, "bytes/novel": 300, "urls/dup_by_hash": 1, "bytes/dup_by_hash": 100}
    counters |= {
        "uris/finished": 4,
        "uris/downloaded": 3,
        "uris/failed": 1,
        "urls_written/novel": 2,
        "bytes_written/novel": 280,
    }
    lines = text("crawl", known(MemoryStore(), counters))
    assert lines[:3] == ["crawl name: basic", "crawl status: Finished", "duration: 1d1h1m1s1ms"]
    assert "total crawled bytes: 400 (400 B) " in lines
    assert "duplicate-by-hash crawled bytes: 100 (100 B) " in lines
    assert not [line for line in lines if line.startswith("not-modified")]


def test_names_of_reports() -> None:
    assert reports.name_of("org.archive.crawler.reporting.HostsReport") == "hosts"
    assert reports.name_of("SeedsReport") == "seeds"
    assert reports.name_of("mimetype-report.txt") == "mimetypes"
    assert reports.name_of("mimetype") == "mimetypes"
    assert reports.name_of("toe") is None
    assert tables.header(tables.SEEDS) == "[code] [status] [seed] [redirect]"


def in_process(uri: str, began_ms: int | None) -> CrawlURI:
    curi = CrawlURI(uri, path="L", via="http://a.example/")
    curi.attempts, curi.began_ms = 2, began_ms
    return curi


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("name", reports.REPORTS)
def test_every_report_is_text_and_json_at_any_time(name: str, running: bool, profile: str) -> None:
    """Of a crawl that has just begun, and of one that knows everything."""
    store = MemoryStore()
    empty = known(store, profile=profile, running=running)
    empty.ran_ms = 0
    kept = figures(store)
    kept.finished(ended("http://a.example/", 302, seed=True, source_tag="http://a.example/"), "a.example")
    kept.take_down(Moment(0, 1, 1, 0, 0, 0))
    store.write(kept.drain())
    began = empty.now_ms - 61_000
    fetched, waiting = in_process("http://a.example/1", began), in_process("http://a.example/2", None)
    flights = [
        InFlight(fetched, "receiving", 17),
        InFlight(in_process("http://b.example/file", began), "connecting", 0),
    ]
    counters = {"uris/downloaded": 1, "mime/text/html": 1, "status/302": 1, "extractor/ExtractorHTML/links": 2}
    full = known(store, counters, profile, running=running, in_process=[fetched, waiting], in_flight=flights, slots=9)
    for crawl in (empty, full):
        assert text(name, crawl)
        told = json.loads(reports.as_json(name, crawl), parse_constant=pytest.fail)
        assert told["report"] == name
        assert told["data"] is not None


def test_the_report_on_slots_says_what_each_does_since_when() -> None:
    crawl = known(MemoryStore(), running=True)
    fetched = in_process("http://a.example/1", crawl.now_ms - 61_000)
    crawl.in_process, crawl.in_flight, crawl.slots = [fetched], [InFlight(fetched, "receiving", 17)], 25
    lines = text("threads", crawl)
    assert lines[2] == " Number of toe threads in pool: 25 (1 active)"
    assert lines[4:] == [
        "[slot #1",
        " CrawlURI http://a.example/1 L http://a.example/",
        "    2 attempts",
        " ACTIVE for 1m1s, since 2011-06-23T17:11:07.574Z",
        " step: receiving, 17 bytes received",
        "]",
        "",
    ]


def test_the_plot_is_an_image_with_four_lines() -> None:
    from xml.etree import ElementTree

    store = MemoryStore()
    kept = figures(store)
    for number in range(4):
        kept.take_down(Moment(number * 1000, number * 9, 5, number * 2, 0, number * 100))
    store.write(kept.drain())
    root = ElementTree.fromstring(plot.svg(known(store)))
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 4
    assert plot.rate(kept.course().moments) == [0.0, 2.0, 2.0, 2.0]
    ElementTree.fromstring(plot.svg(known(MemoryStore())))


def test_hosts_as_they_will_stand() -> None:
    store = MemoryStore()
    hosts = Hosts(store.get)
    hosts.scheduled("a.example").scheduled += 2
    store.write(hosts.drain())
    hosts.scheduled("a.example").scheduled += 1
    hosts.scheduled("b.example").scheduled += 1
    rows = store.range(b"hh", b"hi")
    assert {name: host.tally.scheduled for name, host in hosts.all_hosts(rows)} == {"a.example": 3, "b.example": 1}


# -- a whole crawl -------------------------------------------------------------------------------------------


@pytest.mark.crawl
def test_reports_of_a_crawl_equal_its_log(serve: Any, project: Any) -> None:
    """The end reports, and the same asked for afterwards as text and as JSON."""
    web = serve(SITE)
    made = project({"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_REPORTS_JSON": True}, web=web)
    crawl = made.run()
    assert crawl.returncode == 0, crawl.stderr
    folder = made.jobdir / "reports"
    by_code: dict[str, int] = {}
    for codes in crawl.statuses.values():
        for code in codes:
            by_code[str(code)] = by_code.get(str(code), 0) + 1
    lines = (folder / "responsecode-report.txt").read_text().splitlines()[1:]
    assert {code: int(count) for count, code in map(str.split, lines)} == by_code
    hosts = (folder / "hosts-report.txt").read_text().splitlines()[1:]
    answered = sum(count for code, count in by_code.items() if int(code) > 0)
    assert sum(int(line.split()[0]) for line in hosts) == answered
    assert all(line.split()[4] == "0" for line in hosts)
    said = (folder / "crawl-report.txt").read_text()
    assert "crawl status: Finished\n" in said
    assert f"URIs processed: {sum(by_code.values())}\n" in said
    assert "seeds crawled: 1\n" in said
    assert "links from" in (folder / "processors-report.txt").read_text()
    assert (folder / "threads-report.txt").read_text() == "no ToeThreads\n"
    assert (folder / "crawl-course.svg").exists()

    def asked(*words: str) -> Any:
        return made.run(str(made.jobdir), *words, name="", jobdir=None, command=("heritrix", "report"))

    again = asked("hosts")
    assert again.stdout.splitlines()[1:] == hosts
    told = json.loads(asked("crawl", "--json").stdout)
    assert told["data"]["URIs processed"] == sum(by_code.values())
    assert told["data"]["crawl status"] == "Finished"
    assert asked("none").returncode == 1


# -- odd and many --------------------------------------------------------------------------------------------


def test_odd_names_break_no_line_of_a_report() -> None:
    names = [
        "a.example",
        "with blank.example",
        "two\nlines",
        "tab\there",
        "b\u00fccher.example",
        "\udcff.example",
        "",
        "[::1]",
        "*",
    ]
    store = MemoryStore()
    made = figures(store)
    for name in names:
        made.finished(ended(f"http://{name}/", 200, seed=True, source_tag=f"http://{name}/ x\n"), name)
    many = [(name, Tally(successes=1, total_bytes=5)) for name in names]
    crawl = known(store, {"mime/text/html": 1}, hosts=lambda: iter(many))
    crawl.figures = made
    for name, fields in (("hosts", 11), ("source", 3), ("seeds", 3)):
        rows = text(name, crawl)
        assert len(rows) == 1 + len(names), name
        assert all(len(row.split()) == fields for row in rows[1:] if name != "hosts" or "  " not in row), name
        assert "\n".join(rows).encode().decode() == "\n".join(rows)
        assert len(json.loads(reports.as_json(name, crawl))["data"]["rows"]) == len(names)


@pytest.mark.long
def test_a_hundred_thousand_hosts_are_sorted_in_little_memory(tmp_path: Path) -> None:
    count = 100_000

    def hosts() -> Iterator[tuple[str, Tally]]:
        for number in range(count):
            yield f"host{number * 7919 % count}.example", Tally(successes=number % 1000, total_bytes=number)

    tracemalloc.start()
    path = reports.write("hosts", known(MemoryStore(), hosts=hosts), tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = path.read_text().splitlines()[1:]
    assert len(rows) == count
    keys = [(-int(row.split()[0]), row.split()[2]) for row in rows]
    assert keys == sorted(keys)
    assert peak < 80 << 20
