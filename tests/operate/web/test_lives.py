"""Whole lives of jobs: crawls that outlive their engine, that are killed, that never begin; projects."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.jobs.folder import stock
from heritrix_scrapy.operate.record import stands
from tests.crawls import DEFAULTS, Project
from tests.operate.web.served import Client, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Serve
    from tests.web import Web

pytestmark = pytest.mark.crawl

PLACEHOLDER = "ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL"
QUICK = "\ncrawlController.maxToeThreads=2\ndisposition.minDelayMs=0\ndisposition.delayFactor=0"
SITES = {
    "www.lives.test": {
        "routes": {"/robots.txt": {"status": 404}, "/favicon.ico": {"status": 404}},
        "default": {"body": "<html>" + "".join(f'<a href="/{page}">x</a>' for page in range(30)) + "</html>"},
    }
}


def job_file(web: Web) -> str:
    text = stock().replace(PLACEHOLDER, "http://operator.test/contact" + QUICK)
    return text.replace("# One address a line.", web.url("www.lives.test"))


def told(client: Client) -> dict[str, Any]:
    return dict(json.loads(client.get("/engine/job/a", "application/json").text))


def until(client: Client, right: Callable[[dict[str, Any]], bool], seconds: float = 90) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while True:
        answer = told(client)
        if right(answer):
            return answer
        assert time.monotonic() < end, answer
        time.sleep(0.05)


def state(wanted: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: answer.get("crawlControllerState") == wanted


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve({"hosts": SITES})


@pytest.fixture
def settings(web: Web) -> dict[str, str]:
    return {"HERITRIX_DNS_SERVERS": web.dns, "HERITRIX_STOP_GRACE_SECONDS": "1"}


@pytest.mark.long
def test_a_crawl_outlives_its_engine(jobs: Path, web: Web, settings: dict[str, str]):
    with served(jobs, settings=settings) as (port, _):
        client = Client(port)
        client.post("/engine", action="create", createpath="a")
        (jobs / "a" / "crawler-beans.cxml").write_text(job_file(web))
        client.post("/engine/job/a", action="launch")
        assert until(client, state("PAUSED"))["statusDescription"] == "Active: PAUSED"
    with served(jobs, settings=settings) as (port, _):
        client = Client(port)
        found = told(client)
        assert (found["crawlControllerState"], found["isRunning"], found["launchCount"]) == ("PAUSED", True, 1)
        assert found["uriTotalsReport"]["queuedUriCount"] == 1
        assert client.post("/engine/job/a", action="checkpoint").status == 303
        client.post("/engine/job/a", action="unpause")
        assert until(client, state("FINISHED"))["uriTotalsReport"]["downloadedUriCount"] > 30
    with served(jobs, settings=settings) as (port, _):
        client = Client(port)
        assert told(client)["statusDescription"] == "Finished: FINISHED"
        client.post("/engine/job/a", action="teardown")
        assert told(client)["statusDescription"] == "Unbuilt"
    with served(jobs, settings=settings) as (port, _):
        client = Client(port)
        assert told(client)["statusDescription"] == "Unbuilt"
        client.post("/engine/job/a", action="launch")
        anew = until(client, state("PAUSED"))
        assert (anew["launchCount"], anew["uriTotalsReport"]["downloadedUriCount"]) == (2, 0)
        client.post("/engine/job/a", action="teardown")
        until(client, lambda answer: answer["statusDescription"] == "Unbuilt")


@pytest.mark.long
def test_a_killed_crawl_goes_on_with_the_next_launch(jobs: Path, web: Web, settings: dict[str, str]):
    with served(jobs, settings=settings) as (port, _):
        client = Client(port)
        client.post("/engine", action="create", createpath="a")
        (jobs / "a" / "crawler-beans.cxml").write_text(job_file(web).replace("minDelayMs=0", "minDelayMs=200"))
        client.post("/engine/job/a", action="launch")
        until(client, state("PAUSED"))
        client.post("/engine/job/a", action="unpause")
        some = until(client, lambda answer: (answer["uriTotalsReport"] or {}).get("downloadedUriCount", 0) > 5)
        os.kill(stands(jobs / "a").pid, signal.SIGKILL)
        over = until(client, state("FINISHED"))
        assert over["statusDescription"] == "Finished: FINISHED_ABNORMAL"
        client.post("/engine/job/a", action="teardown")
        client.post("/engine/job/a", action="launch")
        again = until(client, state("PAUSED"))
        assert again["uriTotalsReport"]["downloadedUriCount"] >= some["uriTotalsReport"]["downloadedUriCount"]
        client.post("/engine/job/a", action="terminate")
        assert until(client, state("FINISHED"))["crawlExitStatus"] == "ABORTED"


@pytest.mark.long
def test_a_project_is_a_job(jobs: Path, web: Web):
    given = {**DEFAULTS, "HERITRIX_DNS_SERVERS": [web.dns], "HERITRIX_SEEDS": [web.url("www.lives.test")]}
    Project(jobs / "a", given)
    with served(jobs) as (port, _):
        client = Client(port)
        assert told(client)["primaryConfig"].endswith("a/scrapy.cfg")
        client.post("/engine/job/a", action="build")
        assert told(client)["statusDescription"] == "Ready", (jobs / "a" / "job.log").read_text()
        client.post("/engine/job/a", action="launch")
        assert until(client, state("FINISHED"))["crawlExitStatus"] == "FINISHED"
        client.post("/engine/job/a", copyTo="b")
        copied = {path.name for path in (jobs / "b").iterdir()} - {"stats.json"}
        assert copied == {"crawl_project", "scrapy.cfg"}
        (jobs / "b" / "crawl_project" / "settings.py").write_text("1 / 0\n")
        client.post("/engine/job/b", action="build")
        assert "ZeroDivisionError" in (jobs / "b" / "job.log").read_text()


@pytest.mark.long
def test_a_crawl_that_never_begins(jobs: Path, web: Web):
    with served(jobs, settings={"HERITRIX_PROXY_PORT": "no port", "ADDONS": "{}"}) as (port, _):
        client = Client(port)
        client.post("/engine", action="create", createpath="a")
        (jobs / "a" / "crawler-beans.cxml").write_text(job_file(web))
        client.post("/engine/job/a", action="launch")
        assert told(client)["statusDescription"] == "Unbuilt"
        assert "SEVERE" in (jobs / "a" / "job.log").read_text()
