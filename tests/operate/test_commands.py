"""Can a crawl be looked at and steered from another process: paused, running, killed, finished, and where none is?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from tests.durability.watch import until

if TYPE_CHECKING:
    from tests.conftest import Serve
    from tests.crawls import Crawl, Project

SITE = {
    "www.steered.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": '<a href="/one">1</a><a href="/two">2</a>'},
            "/stalls": {"stall": True},
        },
        "default": {"body": "page"},
    },
}

LISTENER = """
from pathlib import Path
from heritrix_scrapy import signals

class Listener:
    def __init__(self, crawler):
        for name in ("queue_retired", "crawl_paused", "crawl_resumed"):
            method = getattr(self, name)
            crawler.signals.connect(method, getattr(signals, name))

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def note(self, text):
        with Path(__file__).parents[1].joinpath("heard").open("a") as file:
            file.write(text + "\\n")

    def queue_retired(self, class_key, spider):
        self.note("retired " + class_key)

    def crawl_paused(self, reason, spider):
        self.note("paused " + reason)

    def crawl_resumed(self, spider):
        self.note("resumed")
"""


def heritrix(project: Project, command: str, *args: str) -> Crawl:
    return project.run(str(project.jobdir), *args, command=("heritrix", command), name="", jobdir=None, timeout=60)


def told(project: Project) -> dict[str, Any]:
    """The status as JSON, from the command."""
    answer: dict[str, Any] = json.loads(heritrix(project, "status", "--json").stdout)
    return answer


def asked(project: Project, what: str = "status") -> dict[str, Any]:
    """The same from the socket, without the command's start; empty while nobody answers."""
    try:
        return ask(project.jobdir, {"do": what})
    except ControlError:
        return {}


@pytest.mark.crawl
@pytest.mark.long
def test_a_crawl_that_starts_paused_goes_on_when_told_to(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.steered.test")],
            "HERITRIX_PAUSE_AT_START": True,
            "HERITRIX_QUEUE_TOTAL_BUDGET": 4,
            "EXTENSIONS": {"crawl_project.listener.Listener": 0},
        },
        web=web,
        modules={"listener": LISTENER},
    )
    crawl = made.start()
    until(crawl, lambda: asked(made).get("state") == "PAUSED")
    assert not web.requests
    shown = heritrix(made, "status")
    assert shown.stdout.startswith("PAUSED ")
    assert "HERITRIX_PAUSE_AT_START" in shown.stdout
    ended = heritrix(made, "unpause")
    assert (ended.returncode, ended.stdout.split()[0]) == (0, "RUNNING"), ended.stderr
    done = made.finish(crawl, 60)
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr
    heard = (made.folder / "heard").read_text().splitlines()
    assert heard[:2] == ["paused HERITRIX_PAUSE_AT_START", "resumed"]
    assert heard[2].startswith("retired test,steered,www,#")
    assert told(made)["state"] == "FINISHED"
    ended = heritrix(made, "pause")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1)


@pytest.mark.crawl
def test_a_running_crawl_says_what_it_does(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project({"HERITRIX_SEEDS": [web.url("www.steered.test", "/stalls")]}, web=web)
    crawl = made.start()
    until(crawl, lambda: any(row.target == "/stalls" for row in web.requests))
    running = told(made)
    assert (running["state"], running["reason"]) == ("RUNNING", None)
    assert running["frontier"]["in process"] == 1
    # what is in flight goes on, so it is not PAUSED yet
    assert asked(made, "pause")["state"] == "PAUSING"
    assert asked(made)["reason"] == "by the operator"
    crawl.kill()
    made.finish(crawl)
    stopped = told(made)
    assert (stopped["state"], stopped["end"]) == ("FINISHED", "FINISHED_ABNORMAL")
    assert (stopped["frontier"]["queued"], stopped["frontier"]["in process"]) == (1, 0)


@pytest.mark.crawl
@pytest.mark.long
def test_a_job_is_told_of_through_all_its_launches(serve: Serve, project: Any) -> None:
    """Killed, resumed, paused until nothing is in flight, gone on, ended by the operator: states, end, exit status."""
    held = {"stall": True, "cases": [{"if": {"nth_from": 2}, "then": {"body": "well", "delay": 0.3}}]}
    web = serve({"www.life.test": {"routes": {"/robots.txt": {"status": 404}, "/": held}, "default": {"stall": True}}})
    seeds = [web.url("www.life.test"), web.url("www.life.test", "/later")]
    made = project({"HERITRIX_SEEDS": seeds, "HERITRIX_STOP_GRACE_SECONDS": 0.2}, web=web)
    killed = made.start()
    until(killed, lambda: web.asked("www.life.test").count("GET /") == 1)
    killed.kill()
    made.finish(killed)
    assert (told(made)["state"], told(made)["end"]) == ("FINISHED", "FINISHED_ABNORMAL")

    crawl = made.start()
    until(crawl, lambda: web.asked("www.life.test").count("GET /") == 2)
    assert asked(made, "pause")["state"] == "PAUSING"
    until(crawl, lambda: asked(made).get("state") == "PAUSED")
    assert not web.asked("www.life.test").count("GET /later")
    assert asked(made, "unpause")["state"] == "RUNNING"
    until(crawl, lambda: web.asked("www.life.test").count("GET /later") == 1)
    assert heritrix(made, "terminate").stdout.split()[0] == "STOPPING"
    done = made.finish(crawl, 60)
    assert done.returncode == 3, done.stderr
    assert (done.stats["finish_reason"], done.stats["heritrix/end"]) == ("aborted", "ABORTED")
    assert "stopping: 1 fetches in flight" in done.stderr
    answer = told(made)
    assert (answer["state"], answer["end"], answer["launches"]) == ("FINISHED", "ABORTED", 2)
    assert answer["description"] == "Finished: ABORTED"
    assert answer["frontier"]["queued"] >= 1
    assert json.loads((made.jobdir / "state.json").read_text())["reason"] == "by the operator"
    said = [line.split(" ", 2)[1:] for line in (made.jobdir / "job.log").read_text().splitlines()]
    states = [text.split()[0] if text != "Job launched" else text for level, text in said if level == "INFO"]
    saved = [state for state in states if state == "CHECKPOINTED"]
    assert len(saved) == 1
    states.remove("CHECKPOINTED")
    assert states == [
        *("Job launched", "PREPARING", "RUNNING"),
        *("Job launched", "PREPARING", "RUNNING", "PAUSING", "PAUSED", "RUNNING", "STOPPING", "FINISHED"),
    ]
    notes = [row[21:] for row in (made.jobdir / "logs" / "progress-statistics.log").read_text().splitlines()]
    assert [row for row in notes if row.startswith("CRAWL")][-6:] == [
        "CRAWL RUNNING - Running",
        "CRAWL WAITING - Pausing - Waiting for threads to finish",
        "CRAWL PAUSED - Paused",
        "CRAWL RUNNING - Running",
        "CRAWL ENDING - Finished - Ended by operator",
        "CRAWL ENDED - Finished - Ended by operator",
    ]
