"""Has an engine the same page for each of its jobs, whether the crawl runs or not?"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from tests.crawls import Project
from tests.operate.page.crawled import SETTINGS, site, text_of
from tests.operate.web.served import LOOKER, Client, served
from tests.web import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Any]]:
    """A folder with one job, a Scrapy project whose crawl begins paused."""
    folder = tmp_path_factory.mktemp("engine")
    with running(site(10)) as web:
        settings = {name: value for name, value in SETTINGS.items() if not name.startswith("HERITRIX_WEB")}
        made = Project(
            folder / "tour",
            {
                **settings,
                "HERITRIX_SEEDS": [web.url("www.page.test")],
                "HERITRIX_DNS_SERVERS": [web.dns],
                "HERITRIX_PAUSE_AT_START": True,
                "JOBDIR": "job",
            },
        )
        try:
            yield folder, made
        finally:
            made.kill()


def jobdir(folder: Path) -> Path:
    from heritrix_scrapy.operate.jobs.engine import Engine

    job = Engine(folder).job("tour")
    assert job is not None
    return job.jobdir


def test_a_job_is_shown_before_while_and_after_it_runs(engine: tuple[Path, Any]) -> None:
    folder, made = engine
    where = jobdir(folder)
    with served(folder) as (port, _):
        client = Client(port)
        assert "tour" in text_of(client.get("/ui", "text/html").text)
        assert client.get("/ui/job/tour", "text/html").status == 200
        assert client.get("/ui/job/other", "text/html").status == 404
        process = made.start(jobdir=where)
        end = time.monotonic() + 90
        state = ""
        while state != "PAUSED" and time.monotonic() < end:
            try:
                state = ask(where, {"do": "hello"})["state"]
            except ControlError:
                process.poll()
        page = client.get("/ui/job/tour", "text/html").text
        assert "PAUSED" in text_of(page)
        assert 'action="/ui/job/tour/state"' in page
        for path in ("queues", "log", "why?uri=http%3A%2F%2Fa.test%2F", "reports", "settings", "steer"):
            assert client.get(f"/ui/job/tour/{path}", "text/html").status == 200, path
        parts = json.loads(client.get("/ui/job/tour/parts", "application/json").text)
        assert parts["figures"]["state"] == "PAUSED"
        assert Client(port, LOOKER).post("/ui/job/tour/state", action="unpause").status == 403
        assert client.post("/ui/job/tour/state", action="unpause").status == 303
    # the engine is gone, the crawl goes on
    assert ask(where, {"do": "hello"})["state"] in ("RUNNING", "EMPTY")
    ask(where, {"do": "terminate"})
    made.finish(process)
    with served(folder) as (port, _):
        client = Client(port)
        page = client.get("/ui/job/tour", "text/html").text
        assert "FINISHED" in text_of(page)
        assert "fetched" in text_of(page)
        assert client.get("/ui/job/tour/events").status == 204
        assert client.get("/ui/job/tour/log", "text/html").status == 200
        assert client.get("/ui/job/tour/queues", "text/html").status == 409
