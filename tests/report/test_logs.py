"""Log files: whole lines, lengths a batch can vouch for, torn lines cut, old files moved aside."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.report import launch
from heritrix_scrapy.report.logs import ALERTS, CRAWL, URI_ERRORS, Logs

ROOT = Path(__file__).parents[2]
NOW = 1_308_849_128_574


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


def test_a_log_that_was_deleted_is_said_once_and_begins_anew(tmp_path: Path) -> None:
    logs = Logs(lambda: tmp_path)
    logs.append(CRAWL, "one\n")
    logs.flush()
    (tmp_path / CRAWL).unlink()
    logs.append(CRAWL, "two\n")
    with pytest.raises(StorageFull, match="deleted"):
        logs.flush()
    assert logs.flush() == {CRAWL: 4}
    assert (tmp_path / CRAWL).read_text() == "two\n"
    logs.close()


@pytest.mark.parametrize("largest", [1, 10, 64, 1000])
def test_a_log_that_grows_too_large_goes_on_in_a_new_file(tmp_path: Path, largest: int) -> None:
    """Every line once, in order, over all parts; with times that jump back, too."""
    clock = iter([1_308_849_128_574, 1_308_849_128_574, 1_300_000_000_000] * 200)
    logs = Logs(lambda: tmp_path, largest=lambda: largest, now_ms=lambda: next(clock))
    names: list[str] = []
    for number in range(100):
        logs.append(CRAWL, f"line {number}\n")
        logs.flush()
        names += sorted({path.name for path in tmp_path.iterdir()} - set(names))
    logs.close()
    ended = [name for name in names if name != CRAWL]
    assert bool(ended) is (largest < 900)
    text = "".join((tmp_path / name).read_text() for name in [*ended, CRAWL] if (tmp_path / name).exists())
    assert text == "".join(f"line {number}\n" for number in range(100))
    assert all((tmp_path / name).stat().st_size >= largest for name in ended)


@pytest.mark.parametrize("largest", [0, 100])
def test_what_stands_beyond_a_batch_is_found_whatever_was_renamed(tmp_path: Path, largest: int) -> None:
    """The process may end between any two steps: the lengths that the batch holds are those of a flush before."""
    logs = Logs(lambda: tmp_path, largest=lambda: largest, now_ms=lambda: NOW)
    stored, finished = {}, 0
    for number in range(30):
        logs.append(CRAWL, f"line {number}\n" * 3)
        lengths = dict(logs.flush())
        again = Logs(lambda: tmp_path)
        assert again.recover(stored) == 3 * (number + 1 - finished), number
        again.close()
        if number % 2:
            stored, finished = lengths, number + 1
    logs.close()


WRITER = """
import sys
from pathlib import Path
from heritrix_scrapy.report.logs import CRAWL, Logs

folder, number = Path(sys.argv[1]), 0
logs = Logs(lambda: folder)
print(flush=True)
while True:
    for size in (10, 100, 5000, 70000):
        number += 1
        logs.append(CRAWL, f"{number} {'x' * size} {number}\\n")
    (folder / "beside").write_text(f"{logs.flush()[CRAWL]} {number}")
    (folder / "beside").replace(folder / "vouched")
"""


@pytest.mark.parametrize("after", [0.001, 0.02, 0.05])
def test_a_kill_tears_no_line_that_is_vouched_for(tmp_path: Path, after: float) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert writer.stdout is not None
    writer.stdout.readline()
    with contextlib.suppress(subprocess.TimeoutExpired):
        writer.wait(after)
    writer.kill()
    writer.communicate()
    vouched = (tmp_path / "vouched").read_text() if (tmp_path / "vouched").exists() else ""
    length, finished = map(int, vouched.split()) if vouched else (0, 0)
    logs = Logs(lambda: tmp_path)
    beyond = logs.recover({CRAWL: length})
    logs.close()
    lines = (tmp_path / CRAWL).read_text().splitlines() if (tmp_path / CRAWL).exists() else []
    assert len(lines) == finished + beyond
    for number, line in enumerate(lines, 1):
        first, _, last = line.split(" ")
        assert first == last == str(number)


def test_lines_of_other_threads_are_not_lost(tmp_path: Path) -> None:
    logs = Logs(lambda: tmp_path)

    def alerts() -> None:
        for number in range(2000):
            logs.append(ALERTS, f"{number}\n")

    logs.append(ALERTS, "")
    thread = threading.Thread(target=alerts)
    thread.start()
    while thread.is_alive():
        logs.flush()
    thread.join()
    logs.flush()
    assert (tmp_path / ALERTS).read_text().splitlines() == [str(number) for number in range(2000)]
    logs.close()


def test_a_rotation_that_the_disk_refuses_leaves_every_name_as_it_was(tmp_path: Path) -> None:
    logs = Logs(lambda: tmp_path)
    for name in (CRAWL, URI_ERRORS):
        logs.append(name, "one\n")
    logs.flush()
    # a folder that is not empty cannot be replaced by a file
    (tmp_path / f"{URI_ERRORS}.cp00001" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        logs.rotate("cp00001")
    logs.append(CRAWL, "two\n")
    assert logs.flush() == {CRAWL: 8, URI_ERRORS: 4}
    assert (tmp_path / CRAWL).read_text() == "one\ntwo\n"
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
