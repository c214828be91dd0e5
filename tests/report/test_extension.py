"""The report extension between frontier and Scrapy."""

from __future__ import annotations

import logging
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Clock, Crawl
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.report.extension import ReportExtension

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.example/", "TELNETCONSOLE_ENABLED": False}
NOW = 1308849128574


class Still(Clock):
    """A clock that a test turns."""

    seconds = 0.0

    def now_ms(self) -> int:
        return NOW + int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds


def report_of(jobdir: Path | None, **settings: Any) -> tuple[ReportExtension, Crawl]:
    given = CONTACT | settings | ({"JOBDIR": str(jobdir)} if jobdir else {})
    crawler = get_crawler(settings_dict=given)
    crawl = Crawl.of(crawler)
    crawl.clock = Still()
    return ReportExtension.from_crawler(crawler), crawl


def finished(code: int = 200, uri: str = "http://a.example/") -> CrawlURI:
    curi = CrawlURI(uri)
    curi.status, curi.content_size, curi.content_length = code, 300, 200
    curi.began_ms, curi.ended_ms = NOW, NOW + 5
    return curi


def test_each_kind_of_trouble_has_its_log(tmp_path: Path) -> None:
    report, crawl = report_of(tmp_path, HERITRIX_LOG_EXTRA_INFO=True)
    assert crawl.report is report
    curi = finished()
    curi.link_errors = [("http://:x/", "no host")]
    report.finished(curi)
    broken = finished(-5, "http://b.example/")
    try:
        raise ValueError("told\nin two lines")
    except ValueError as error:
        broken.errors = [("ExtractorHTML", "earlier"), ("", error)]
    report.finished(broken)
    lengths = report.flush()
    logs = tmp_path / "logs"
    assert set(lengths) == {"crawl.log", "uri-errors.log", "nonfatal-errors.log", "runtime-errors.log"}
    lines = (logs / "crawl.log").read_text().splitlines()
    assert [row.split()[3] for row in lines] == ["http://a.example/", "http://b.example/"]
    assert lines[0].endswith(' - - {"contentSize":300}')
    assert lengths["crawl.log"] == (logs / "crawl.log").stat().st_size
    assert (logs / "uri-errors.log").read_text() == (
        '2011-06-23T17:12:08.574Z http://a.example/ "no host" http://:x/\n'
    )
    runtime = (logs / "runtime-errors.log").read_text()
    assert runtime.startswith(lines[1] + "\n Traceback")
    assert "ValueError: told" in runtime
    nonfatal = (logs / "nonfatal-errors.log").read_text()
    assert nonfatal == lines[1] + "\n ExtractorHTML: earlier\n"


def test_a_try_that_is_followed_by_another_leaves_its_errors_only(tmp_path: Path) -> None:
    report, _ = report_of(tmp_path)
    curi = finished(-2)
    report.retried(curi)
    assert report.flush() == {}
    curi.errors = [("FetchHTTP", "refused")]
    report.retried(curi)
    assert set(report.flush()) == {"nonfatal-errors.log"}


def test_a_crawl_that_goes_on_appends_and_a_new_one_moves_aside(tmp_path: Path) -> None:
    first, _ = report_of(tmp_path)
    first.finished(finished())
    lengths = dict(first.flush())
    first.finished(finished(404))
    first.flush()
    with (tmp_path / "logs" / "crawl.log").open("a") as file:
        file.write("torn")

    again, _ = report_of(tmp_path)
    assert again.recover(lengths) == 1
    again.finished(finished(500))
    again.flush()
    statuses = [row.split()[1] for row in (tmp_path / "logs" / "crawl.log").read_text().splitlines()]
    assert statuses == ["200", "404", "500"]

    new, _ = report_of(tmp_path)
    new.finished(finished(301))
    new.flush()
    names = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert len(names) == 2
    assert names[1].startswith("crawl.log.2")
    assert len((tmp_path / "logs" / "crawl.log").read_text().splitlines()) == 1


def test_launch_folders(tmp_path: Path) -> None:
    report, crawl = report_of(tmp_path, HERITRIX_PROFILE="heritrix")
    report.finished(finished())
    report.flush()
    launched = os.readlink(tmp_path / "latest")
    assert launched == "20110623171208"
    assert vars(crawl.jobdir)["launch"] == launched

    # a command on the stopped job adds to what there is
    again, crawl = report_of(tmp_path, HERITRIX_PROFILE="heritrix")
    assert vars(crawl.jobdir)["launch"] == launched
    assert again.recover({f"{launched}/crawl.log": 0}) == 1
    again.finished(finished(404))
    assert again.flush()[f"{launched}/crawl.log"] == (tmp_path / launched / "logs" / "crawl.log").stat().st_size
    assert os.readlink(tmp_path / "latest") == launched

    new, crawl = report_of(tmp_path, HERITRIX_PROFILE="heritrix")
    new.finished(finished())
    new.flush()
    assert os.readlink(tmp_path / "latest") == vars(crawl.jobdir)["launch"] == "20110623171209"


def test_counters_reach_the_stats_about_once_a_second(tmp_path: Path) -> None:
    report, crawl = report_of(tmp_path)
    stats = crawl.crawler.stats
    assert stats is not None
    clock = crawl.clock
    assert isinstance(clock, Still)
    for _ in range(5):
        report.finished(finished())
    assert stats.get_value("heritrix/status/200") is None
    clock.seconds = 1.5
    report.finished(finished(404))
    report.flush()
    assert stats.get_value("heritrix/status/200") == 5
    assert stats.get_value("heritrix/uris/downloaded") == 6
    counted = report.take_tallies()
    assert (counted["bytes/novel"], counted["status/200"], counted["uris/finished"]) == (1800, 5, 6)
    assert report.take_tallies() == {}
    report.finished(finished(404))
    assert report.take_tallies()["status/404"] == 1


def test_the_end_tells_counts_by_status(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    report, crawl = report_of(tmp_path)
    crawl.crawler.engine = SimpleNamespace(_slot=None)  # type: ignore[assignment]
    for code in (200, 200, -9998):
        report.finished(finished(code))
    with caplog.at_level(logging.INFO):
        report.spider_closed("finished")
    text = caplog.text
    assert "3 URIs ended (3 in this run, finished):" in text
    assert "HTTP-200-Success-OK" in text
    assert "Heritrix(-9998)-Robots precluded" in text
    assert crawl.crawler.stats is not None
    assert crawl.crawler.stats.get_value("heritrix/status/200") == 2
    notes = (tmp_path / "logs" / "progress-statistics.log").read_text()
    assert "CRAWL ENDED - finished" in notes
