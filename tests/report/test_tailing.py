"""Are the last lines of a log given, and then what comes, byte by byte and over a rotation?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.commands import tail as command
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.report.tailing import LIMIT, Unwritten, asked, follow, tail

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "crawl.log").write_text("".join(f"line {number}\n" for number in range(20)) + "torn")
    (tmp_path / "job.log").write_text("launched\n")
    return tmp_path


def test_the_last_whole_lines_and_what_comes_after_them(job: Path) -> None:
    first = tail(job, lines=3)
    assert first["lines"] == ["line 17", "line 18", "line 19"]
    assert tail(job, start=first["next"])["lines"] == []
    with (job / "logs" / "crawl.log").open("a") as file:
        file.write(" no more\nnext\n")
    then = tail(job, start=first["next"])
    assert then["lines"] == ["torn no more", "next"]
    assert then["next"] == then["size"] or tail(job, start=then["next"])["lines"] == []
    assert tail(job, lines=0)["lines"] == []


def test_a_filter_is_searched_for_in_each_line(job: Path) -> None:
    assert tail(job, lines=2, filter="1[23]$")["lines"] == ["line 12", "line 13"]
    assert tail(job, start=0, filter="e 1$")["lines"] == ["line 1"]


def test_a_limit_gives_whole_lines_and_goes_on(job: Path) -> None:
    at, lines = 0, []
    while (answer := tail(job, start=at, limit=20))["next"] != at:
        lines += answer["lines"]
        at = answer["next"]
    assert lines == [f"line {number}" for number in range(20)]
    # longer than an answer: given in pieces
    assert tail(job, start=0, limit=3)["next"] == 3


def test_the_latest_launch_is_meant_where_launches_have_folders(job: Path) -> None:
    (job / "20260101000000" / "logs").mkdir(parents=True)
    (job / "20260101000000" / "logs" / "crawl.log").write_text("of the launch\n")
    (job / "latest").symlink_to("20260101000000")
    assert tail(job)["lines"] == ["of the launch"]
    assert tail(job, "job.log")["lines"] == ["launched"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"log": "../job.log"}, "name of a file"),
        ({"log": "none.log"}, "there are: crawl.log, job.log"),
        ({"filter": "("}, "no regular expression"),
        ({"start": -2}, "at least -1"),
        ({"limit": LIMIT + 1}, "limit from 1"),
    ],
)
def test_what_cannot_be_given_is_refused(job: Path, given: dict[str, object], words: str) -> None:
    with pytest.raises(Refused, match=words):
        tail(job, **given)  # type: ignore[arg-type]


def test_a_log_of_heritrix_that_has_no_line_yet_has_none(job: Path, tmp_path: Path) -> None:
    answer = asked(job, "alerts.log", lines=3)
    assert (answer["lines"], answer["next"], answer["size"]) == ([], 0, 0)
    log = job / "logs" / "alerts.log"
    assert answer["path"] == str(log)
    with pytest.raises(Unwritten, match="has no line yet"):
        tail(job, "alerts.log")
    with pytest.raises(Refused, match="no regular expression"):
        asked(job, "alerts.log", filter="(")
    # what is no job has no logs either, and a name that is none is told so
    with pytest.raises(Refused, match=r"has no alerts\.log"):
        asked(tmp_path / "elsewhere", "alerts.log")
    with pytest.raises(Refused, match=r"has no alert\.log; there are: crawl\.log"):
        asked(job, "alert.log")
    # and its first line is not missed
    steps = iter([lambda: log.write_text("first\n"), lambda: None])
    assert list(follow(job, "alerts.log", 10, "", lambda: next(steps, lambda: "end")() != "end")) == ["first"]


def test_a_log_is_followed_over_its_rotation(job: Path) -> None:
    log = job / "logs" / "crawl.log"
    steps = iter(
        [
            lambda: log.write_text(log.read_text() + " now whole\n"),
            lambda: log.rename(log.with_name("crawl.log.cp00001")),
            lambda: log.write_text("a new one\n"),
        ]
    )

    def wait() -> bool:
        step = next(steps, None)
        if step is not None:
            step()
        return step is not None

    assert list(follow(job, "crawl.log", 1, "", wait)) == ["line 19", "torn now whole", "a new one"]


def test_the_command_prints_lines(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(json=False, lines=2, follow=False, filter=None)
    assert command.run([str(job)], options) == 0
    assert capsys.readouterr().out == "line 18\nline 19\n"
    options.json = True
    assert command.run([str(job), "job.log"], options) == 0
    assert json.loads(capsys.readouterr().out)["lines"] == ["launched"]
    assert command.run([str(job), "none"], options) == 1
    assert "has no none" in capsys.readouterr().err
