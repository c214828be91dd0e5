"""Has an engine the same page for each of its jobs, whether the crawl runs or not?"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from tests.crawls import Project
from tests.operate.page.crawled import SETTINGS, site, text_of, told
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


#: Of a seed that is added.
QUEUE = "/ui/job/tour/queue?name=test%2Cpage%2Clate%2C"


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
        assert "It has not crawled yet" in text_of(client.get("/ui/job/tour", "text/html").text)
        assert "it has not crawled yet" in text_of(client.get("/ui/job/tour/queues", "text/html").text)
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
        for path in ("queues", "why?uri=http%3A%2F%2Fa.test%2F", "report?name=hosts", "settings?find=delay", "steer"):
            assert client.get(f"/ui/job/tour/{path}", "text/html").status == 200, path
        assert "no crawl runs" in told(client, "/ui/job/tour/steer", deed="kill", uri="http://a.test/")
        seed = {"deed": "seeds", "lines": "http://late.page.test/\n"}
        assert "1 seeds would be announced" in told(client, "/ui/job/tour/steer", **seed)
        assert "1 of 1 seed lines were queued" in told(client, "/ui/job/tour/steer", **seed, sure="yes")
        assert "http://late.page.test/" in text_of(client.get(QUEUE, "text/html").text)
        delete = {"deed": "delete", "uri": ".*late.*"}
        assert "1 queued URIs would be taken out" in told(client, "/ui/job/tour/steer", **delete)
        assert "1 URIs were taken out" in told(client, "/ui/job/tour/steer", **delete, sure="yes")
        change = {"deed": "set", "name": "MIN_DELAY_MS", "value": "7000"}
        assert "MIN_DELAY_MS would be '7000'" in told(client, "/ui/job/tour/steer", **change)
        assert "from the next start on" in told(client, "/ui/job/tour/steer", **change, sure="yes")
        assert "7000" in text_of(client.get("/ui/job/tour/settings?find=MIN_DELAY_MS", "text/html").text)
        wrong = {**change, "value": "soon"}
        assert "expected a whole number" in told(client, "/ui/job/tour/steer", **wrong)
        # what is wrong with the project is told where it is asked, and gone when it is mended
        settings = folder / "tour" / "crawl_project" / "settings.py"
        text = settings.read_text()
        settings.write_text("raise SystemExit('no')\n")
        assert "cannot be loaded: SystemExit: no" in text_of(client.get("/ui/job/tour/queues", "text/html").text)
        settings.write_text(text)
        assert client.get("/ui/job/tour/queues", "text/html").status == 200
