"""Log files: whole lines, lengths a batch can vouch for, torn lines cut, old files moved aside."""

from __future__ import annotations

import os
import resource
import signal
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.report import launch
from heritrix_scrapy.report.logs import CRAWL, URI_ERRORS, Logs

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_reach_the_file_with_flush_and_lengths_tell_how_far(tmp_path: Path) -> None:
    logs = Logs(lambda: tmp_path)
    logs.append(CRAWL, "one\n")
    assert not (tmp_path / CRAWL).exists()
    assert logs.flush() == {CRAWL: 4}
    logs.append(CRAWL, "zwö\n")
    logs.append(URI_ERRORS, "x\n")
    assert logs.flush() == {CRAWL: 9, URI_ERRORS: 2}
    assert (tmp_path / CRAWL).read_text() == "one\nzwö\n"
    assert logs.flush() == {CRAWL: 9, URI_ERRORS: 2}
    logs.close()


@pytest.mark.parametrize("torn", ["", "to", "x" * 200_000])
def test_recovery_cuts_a_torn_line_and_counts_lines_ahead(tmp_path: Path, torn: str) -> None:
    whole = "".join(f"line {n}\n" for n in range(20_000))
    (tmp_path / CRAWL).write_text(whole + torn)
    logs = Logs(lambda: tmp_path)
    known = len("".join(f"line {n}\n" for n in range(19_000)))
    assert logs.recover({CRAWL: known}) == 1000
    logs.append(CRAWL, "next\n")
    logs.flush()
    assert (tmp_path / CRAWL).read_text() == whole + "next\n"
    logs.close()


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path: Path) -> None:
    (tmp_path / CRAWL).write_text("torn")
    logs = Logs(lambda: tmp_path)
    assert logs.recover({}) == 0
    assert (tmp_path / CRAWL).read_text() == ""
    logs.close()


def test_recovery_without_files(tmp_path: Path) -> None:
    logs = Logs(lambda: tmp_path)
    assert logs.recover({}) == 0
    assert logs.recover({CRAWL: 100}) == -1


def test_a_new_crawl_moves_the_logs_aside_under_their_time(tmp_path: Path) -> None:
    for text in ("first\n", "second\n"):
        (tmp_path / CRAWL).write_text(text)
        os.utime(tmp_path / CRAWL, (1308849128, 1308849128))
        Logs(lambda: tmp_path).move_aside()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["crawl.log.20110623171208", "crawl.log.20110623171208~2"]
    assert (tmp_path / names[0]).read_text() == "first\n"


def test_a_refusing_disk_tears_no_line_and_loses_none(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    logs = Logs(lambda: tmp_path)
    logs.append(CRAWL, "one\n")
    logs.flush()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        logs.append(CRAWL, "x" * 500 + "\n")
        with pytest.raises(StorageFull):
            logs.flush()
        assert (tmp_path / CRAWL).read_text() == "one\n"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert logs.flush() == {CRAWL: 505}
    assert (tmp_path / CRAWL).read_text() == "one\n" + "x" * 500 + "\n"
    logs.close()


def test_launch_folders_are_named_by_their_time_and_latest_links_to_the_last(tmp_path: Path) -> None:
    assert launch.latest(tmp_path) is None
    first = launch.begin(tmp_path, 1308849128574)
    second = launch.begin(tmp_path, 1308849128574)
    assert (first, second) == ("20110623171208", "20110623171209")
    assert launch.latest(tmp_path) == second
    assert os.readlink(tmp_path / "latest") == second


def test_what_earlier_launches_left_is_settled(tmp_path: Path) -> None:
    assert launch.settle(tmp_path, {}) == 0
    first, second = (launch.begin(tmp_path, 1308849128574) for _ in range(2))
    for name, text in {first: "known\nbeyond\ntorn", second: "one\ntwo\n"}.items():
        (tmp_path / name / "logs").mkdir()
        (tmp_path / name / "logs" / CRAWL).write_text(text)
    vouched = launch.labelled(first, {CRAWL: 6})
    assert vouched == {f"{first}/{CRAWL}": 6}
    # the second launch came to no batch: its lines are as unknown as those behind what the first vouched for
    assert launch.settle(tmp_path, vouched) == 3
    assert (tmp_path / first / "logs" / CRAWL).read_text() == "known\nbeyond\n"
    assert launch.settle(tmp_path, {f"{second}/{CRAWL}": 8}) == 0
    assert launch.settle(tmp_path, {f"{second}/{CRAWL}": 9}) == -1
    assert launch.labelled(None, {CRAWL: 6}) == {CRAWL: 6}
    assert launch.split({CRAWL: 6}) == (None, {CRAWL: 6})


def test_a_latest_that_is_a_folder_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "latest" / "mine").mkdir(parents=True)
    name = launch.begin(tmp_path, 1308849128574)
    assert (tmp_path / name).is_dir()
    assert (tmp_path / "latest" / "mine").is_dir()
    assert "cannot be linked" in caplog.text
