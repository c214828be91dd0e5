"""Does a job go through Heritrix's states, and is what it came to still told when its process is gone?"""

from __future__ import annotations

import itertools

import pytest

from heritrix_scrapy.operate import record
from heritrix_scrapy.operate.life import End, Life, State, description


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


@pytest.mark.parametrize("steps", itertools.product(["prepare", "run", "empty", "pause", "settle", "stop"], repeat=2))
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
    assert (again.state, again.ended, again.launches) == ("FINISHED", End.ABORTED, 3)
    assert [path.name for path in tmp_path.iterdir()] == [record.NAME]


def test_a_torn_record_is_a_new_one(tmp_path):
    (tmp_path / record.NAME).write_bytes(b'{"state": "RUN')
    assert record.read(tmp_path) == record.Record()
