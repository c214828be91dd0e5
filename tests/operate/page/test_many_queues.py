"""Do the pages answer at once where a crawl has 100,000 queues: in the crawl's process, through an engine, and when it
is over?"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.reach import Job
from tests.crawls import Project
from tests.durability.watch import until
from tests.operate.page.crawled import SETTINGS, Browser, address, text_of
from tests.operate.web.served import Client, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

MANY = 100_000
#: Milliseconds; the best of some tries, since other programs run on the machine.
LIMIT = 300
TRIES = 8

PATHS = {
    "the first page": "/queues",
    "by state": "/queues?state=READY",
    "by the middle of the names": "/queues?name=99999.many",
    "by the end of the names": "/queues?name=h00001",
    "a queue": "/queue?name=test,many,h04711,",
    "the crawl": "",
    "the tables of the crawl": "/parts",
    "why": "/why?uri=http%3A%2F%2Fh04711.many.test%2F",
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Project, Any, str]]:
    """A paused crawl with a URI on each of so many hosts; the folder that its project lies in."""
    folder = tmp_path_factory.mktemp("many")
    hosts = folder / "hosts.txt"
    hosts.write_text("".join(f"http://h{number:05}.many.test/\n" for number in range(1, MANY)))
    settings = {"HERITRIX_SEEDS": ["http://h00000.many.test/"], "HERITRIX_PAUSE_AT_START": True, "JOBDIR": "."}
    made = Project(folder / "many", {**SETTINGS, **settings})
    made.jobdir = made.folder
    process = made.start()

    def paused() -> bool:
        with contextlib.suppress(ControlError):
            return str(ask(made.jobdir, {"do": "numbers"})["state"]) == "PAUSED"
        return False

    try:
        _, place = address(made, process)
        until(process, paused, "it paused")
        with Job(made.jobdir, None) as job:
            answer = job.perform({"do": "import", "file": str(hosts), "format": "uris"})
        assert ask(made.jobdir, {"do": "numbers"})["uris"]["queued"] == MANY, answer
        yield folder, made, process, place
    finally:
        made.kill()


def quickest(get: Callable[[str], str]) -> dict[str, float]:
    """Milliseconds of each page, the best of the tries."""
    found: dict[str, float] = {}
    for name, path in PATHS.items():
        taken = []
        for _ in range(TRIES):
            begun = time.perf_counter()
            text = get(path)
            taken.append(1000 * (time.perf_counter() - begun))
            assert text
        found[name] = min(taken)
    return found


def test_pages_answer_at_once(crawl: tuple[Path, Project, Any, str]) -> None:
    folder, made, process, place = crawl
    inside = Browser(place)
    assert "100\u202f000" in text_of(inside.get("/ui"))
    assert "h04711" in inside.get("/ui/queue?name=test,many,h04711,")
    found = {"inside": quickest(lambda path: inside.get("/ui" + path, Accept="*/*"))}
    with served(folder) as (port, _):
        client = Client(port)

        def get(path: str) -> str:
            answer = client.get("/ui/job/many" + path, "text/html")
            assert answer.status == 200, (path, answer.text)
            return answer.text

        found["engine"] = quickest(get)
        ask(made.jobdir, {"do": "terminate"})
        made.finish(process)
        assert "FINISHED" in text_of(get(""))
        # of a stopped crawl each page opens its store, once
        for path, shown in (
            ("/queues", "h00000"),
            ("/queue?name=test,many,h04711,", "http://h04711.many.test/"),
            ("/why?uri=http%3A%2F%2Fh04711.many.test%2F", "test,many,h04711,"),
            ("/queues?name=h00999", "h00999"),
        ):
            begun = time.perf_counter()
            assert shown in text_of(get(path))
            print(f"stopped: {path} {time.perf_counter() - begun:.2f} s")
    print(found)
    slow = {(where, name): ms for where, each in found.items() for name, ms in each.items() if ms > LIMIT}
    assert not slow, found
