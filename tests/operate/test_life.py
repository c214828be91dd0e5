"""Does a job go through Heritrix's states, and is what it came to still told when its process is gone?"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess

import pytest

from heritrix_scrapy.operate import record
from heritrix_scrapy.operate.elapsed import Elapsed
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.life import End, Life, State, description, end_of, exit_status
from tests.durability.test_disk_full import small_disk


def life():
    seen = []
    return Life(seen.append), seen


def test_a_whole_life():
    job, seen = life()
    job.prepare()
    job.run()
    job.pause(in_flight=2)
    job.settle(in_flight=1)
    job.settle(in_flight=0)
    job.run()
    job.empty()
    job.run()
    job.stop(End.FINISHED)
    job.finish()
    assert [state.value for state in seen] == (
        ["PREPARING", "RUNNING", "PAUSING", "PAUSED", "RUNNING", "EMPTY", "RUNNING", "STOPPING", "FINISHED"]
    )
    assert job.end is End.FINISHED


def test_while_it_runs_its_end_would_be_abnormal():
    job, _ = life()
    assert job.end is End.CREATED
    job.prepare()
    assert job.end is End.FINISHED_ABNORMAL


def test_the_first_word_for_the_end_counts():
    job, _ = life()
    job.prepare()
    job.run()
    job.stop(End.FINISHED_DATA_LIMIT)
    job.stop(End.ABORTED)
    assert job.end is End.FINISHED_DATA_LIMIT


def test_a_job_that_never_began_is_finished_at_once():
    job, seen = life()
    job.stop(End.ABORTED)
    assert seen == [State.FINISHED]


@pytest.mark.parametrize(
    "steps", list(itertools.product(["prepare", "run", "empty", "pause", "settle", "stop"], repeat=2))
)
def test_finished_is_the_end(steps):
    job, seen = life()
    job.prepare()
    job.stop(End.ABORTED)
    job.finish()
    before = list(seen)
    for step in steps:
        arguments = {"in_flight": 0} if step in {"pause", "settle"} else {}
        getattr(job, step)(*([End.FINISHED] if step == "stop" else []), **arguments)
    assert (seen, job.state, job.end) == (before, State.FINISHED, End.ABORTED)


def test_heritrix_words():
    assert description(State.NASCENT, End.CREATED, alive=False) == "Ready"
    assert description(State.RUNNING, End.FINISHED_ABNORMAL, alive=True) == "Active: RUNNING"
    assert description(State.RUNNING, End.FINISHED_ABNORMAL, alive=False) == "Finished: FINISHED_ABNORMAL"
    assert description(State.FINISHED, End.ABORTED, alive=False) == "Finished: ABORTED"


def test_the_record_outlives_the_process(tmp_path):
    assert record.read(tmp_path).launches == 0
    record.write(tmp_path, record.Record(state="FINISHED", end="ABORTED", launches=3))
    again = record.read(tmp_path)
    assert (again.state, again.end, again.launches) == ("FINISHED", "ABORTED", 3)
    assert [path.name for path in tmp_path.iterdir()] == [record.NAME]


def test_a_job_whose_process_is_gone_ended_abnormally(tmp_path):
    pid = os.getpid()
    since = record.born(pid)
    record.write(tmp_path, record.Record(state="RUNNING", end="FINISHED_ABNORMAL", pid=pid, born=since))
    assert record.stands(tmp_path).state == "RUNNING"
    record.write(tmp_path, record.Record(state="STOPPING", end="ABORTED", pid=pid, born=since - 1))
    gone = record.stands(tmp_path)
    assert (gone.state, gone.end) == ("FINISHED", "FINISHED_ABNORMAL")
    assert str(pid) in gone.reason


@pytest.mark.parametrize(
    ("reason", "end", "status"),
    [
        ("finished", End.FINISHED, 0),
        ("shutdown", End.ABORTED, 3),
        ("aborted", End.ABORTED, 3),
        ("enough", End.ABORTED, 0),
        ("closespider_pagecount", End.FINISHED_DOCUMENT_LIMIT, 0),
        ("finished_data_limit", End.FINISHED_DATA_LIMIT, 0),
        ("closespider_errorcount", End.FINISHED_ABNORMAL, 4),
    ],
)
def test_the_reason_for_closing_says_how_it_ended(reason, end, status):
    assert (end_of(reason), exit_status(end, reason)) == (end, status)


def test_pauses_and_downtime_do_not_count():
    ran = Elapsed(1000)
    ran.go(10.0)
    ran.go(11.0)
    ran.halt(12.5)
    assert ran.ms(99.0) == 3500
    ran.go(100.0)
    assert ran.ms(100.25) == 3750


def test_a_process_that_nobody_has_asked_after_is_gone():
    process = subprocess.Popen(["sleep", "3600"])
    since = record.born(process.pid)
    assert record.lives(process.pid, since)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not record.lives(process.pid, since)
    process.wait()
    assert not record.lives(process.pid, since)


def test_the_jobs_log_stands_in_the_launchs_folder_too(tmp_path):
    log = JobLog(tmp_path)
    log.write(0, "Job launched")
    log.copy_to(tmp_path / "19700101000000")
    (tmp_path / "19700101000000").mkdir()
    log.copy_to(tmp_path / "19700101000000")
    log.write(1500, "two\nlines\x1b[2J", "WARNING")
    [launched, warned] = (tmp_path / "job.log").read_text().splitlines()
    assert launched == "1970-01-01T00:00:00.000Z INFO Job launched"
    assert warned == "1970-01-01T00:00:01.500Z WARNING two lines [2J"
    assert (tmp_path / "19700101000000" / "job.log").read_text().splitlines()[-1] == warned


def test_lines_that_the_disk_refuses_come_later(tmp_path):
    log = JobLog(tmp_path)
    (tmp_path / "job.log").mkdir()
    log.write(0, "one")
    log.write(0, "two")
    (tmp_path / "job.log").rmdir()
    log.write(0, "three")
    assert [line.split()[-1] for line in (tmp_path / "job.log").read_text().splitlines()] == ["one", "two", "three"]
    assert log.lost == 0


def test_a_full_disk_takes_the_end_all_the_same(tmp_path):
    with small_disk(tmp_path / "job", "64k") as disk:
        record.write(disk.inside, record.Record(state="RUNNING", pid=1))
        with contextlib.suppress(OSError), (disk.inside / "full").open("ab", buffering=0) as file:
            while file.write(bytes(4096)):
                """Until it is full."""
        record.write(disk.inside, record.Record(state="FINISHED", end="ABORTED", reason="by the operator"))
        assert record.read(disk.inside).end == "ABORTED"
        assert record.read(disk.inside).reason == "by the operator"
        record.write(disk.inside, record.Record(state="FINISHED", end="FINISHED"))
        assert record.read(disk.inside) == record.Record(state="FINISHED", end="FINISHED")
        with pytest.raises(OSError, match="No space"):
            record.write(disk.inside, record.Record(warcs=["x" * 5000]))
        assert record.read(disk.inside).end == "FINISHED"


def test_the_next_launch_may_have_begun(tmp_path):
    mine = record.Record(pid=1 << 22, born=5)
    assert not record.of_another(tmp_path, mine)
    record.write(tmp_path, mine)
    assert not record.of_another(tmp_path, mine)
    pid = os.getpid()
    record.write(tmp_path, record.Record(pid=pid, born=record.born(pid)))
    assert record.of_another(tmp_path, mine)
    record.write(tmp_path, record.Record(pid=pid, born=record.born(pid) - 1))
    assert not record.of_another(tmp_path, mine), "that process is gone"


def test_a_torn_record_is_a_new_one(tmp_path):
    (tmp_path / record.NAME).write_bytes(b'{"state": "RUN')
    assert record.read(tmp_path) == record.Record()
