"""The life of a job, by PyPI's heritrix3 0.4.1; run by a Python that has it: ``ENGINE_URL JOBS_FOLDER JOB_FILE``."""

import re
import sys
import time
from pathlib import Path

import urllib3
from heritrix3 import HeritrixAPI

urllib3.disable_warnings()
NAME = "python"


def until(right, what, seconds=60):
    end = time.monotonic() + seconds
    while not right():
        if time.monotonic() > end:
            raise SystemExit(f"never came: {what}")
        time.sleep(0.2)
    print("ok", what)


def main():
    url, jobs, file = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    api = HeritrixAPI(host=url, user="admin", passwd="admin", insecure=True, headers=None)
    api.create(NAME)
    until(
        lambda: NAME in [each["shortName"] if isinstance(each, dict) else each for each in api.list_jobs()], "created"
    )
    api.send_file(NAME, str(file), "crawler-beans.cxml")
    api.rescan()
    api.build(NAME)
    until(lambda: "launch" in api.get_job_actions(NAME), "built")
    api.launch(NAME)
    until(lambda: api.get_job_state(NAME) == "PAUSED", "launched")
    launch = api.get_launchid(NAME)
    assert re.fullmatch(r"\d{14}", launch), launch
    api.unpause(NAME)
    until(lambda: api.get_job_state(NAME) == "RUNNING", "running")
    api.pause(NAME)
    until(lambda: api.get_job_state(NAME) == "PAUSED", "paused")
    api.checkpoint(NAME)
    api.unpause(NAME)
    until(lambda: api.get_job_state(NAME) == "RUNNING", "running again")
    warcs = api.list_warcs(NAME)
    assert warcs
    assert all(".warc.gz" in each for each in warcs), warcs
    assert any("crawl.log" in each for each in api.list_files(NAME))
    api.terminate(NAME)
    until(lambda: api.get_job_state(NAME) == "FINISHED", "terminated")
    assert api.get_crawl_exit_state(NAME) == "ABORTED"
    api.teardown(NAME)
    until(lambda: "build" in api.get_job_actions(NAME), "torn down")
    api.build(NAME)
    checkpoint = sorted(path.name for path in (jobs / NAME / "checkpoints").iterdir())[0]
    api.launch(NAME, checkpoint)
    until(lambda: api.get_job_state(NAME) == "PAUSED", "launched from a checkpoint")
    api.unpause(NAME)
    until(lambda: api.get_job_state(NAME) == "FINISHED", "finished by itself", 120)
    assert api.get_crawl_exit_state(NAME) == "FINISHED"
    log = api.crawl_log(NAME) if hasattr(api, "crawl_log") else ""
    assert not log or "ledger.example" in log
    api.teardown(NAME)
    api.copy(NAME, f"{NAME}2")
    until(lambda: (jobs / f"{NAME}2" / "crawler-beans.cxml").exists(), "copied")
    print("life: whole")


main()
