"""Does a crawl with very many queues go on while a report of them is made?"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.operations import Operations
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.report.extension import ReportExtension
from heritrix_scrapy.settings import default_view
from tests.frontier.world import UniformSettings, make

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

QUEUES = 20_000
#: Milliseconds of CPU that a turn of the loop may take.
TURN = 5


class Measuring(asyncio.SelectorEventLoop):
    """A loop that takes down the CPU time of each of its turns, in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[float] = []

    def _run_once(self) -> None:
        began = time.thread_time()
        super()._run_once()  # type: ignore[misc]
        self.turns.append((time.thread_time() - began) * 1000)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    """A crawl with a URI in each of its queues, of which most are retired: their places in other lists are left."""
    frontier, clock, _ = make()
    numbers = range(QUEUES)
    frontier.add([CrawlURI(f"http://h{number}.test/", path="L", via="http://s.test/") for number in numbers])
    frontier.flush(clock.now)
    operations = Operations(
        frontier, UniformSettings(default_view(max_queues_per_report_category=QUEUES)), clock, decide=lambda curi: True
    )
    retire = operations.retire(queue=r"test,h1\d{4},|test,h[2-9]\d{3},")
    while not retire.run(lambda: False):
        """All of them."""
    contact = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/", "TELNETCONSOLE_ENABLED": False}
    made = Crawl.of(get_crawler(settings_dict=contact | {"JOBDIR": str(tmp_path_factory.mktemp("job"))}))
    made.frontier, made.operations = frontier, operations  # type: ignore[assignment]
    ReportExtension(made.crawler)
    # what the collector does with all of them is not what is measured
    gc.collect()
    gc.freeze()
    yield made
    gc.unfreeze()


def turns_of(work: Any) -> tuple[Any, list[float]]:
    loop = Measuring()
    try:
        return loop.run_until_complete(work), loop.turns
    finally:
        loop.close()


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("kind", ["summary", "nonempty"])
def test_no_turn_of_the_loop_is_long(crawl: Crawl, kind: str, as_json: bool) -> None:
    desk = crawl.report.desk  # type: ignore[union-attr]
    answer, turns = turns_of(desk.report(name=f"frontier-{kind}", as_json=as_json))
    assert len(turns) > 20
    assert max(turns) <= TURN, sorted(turns)[-5:]
    assert "text" not in answer
    with open(answer["path"], encoding="utf-8") as file:
        lines = json.load(file)["data"]["lines"] if as_json else file.read().splitlines()
    heads = {"summary": ("Queue ",), "nonempty": ("test,h",)}[kind]
    shown = [line.split()[1 if kind == "summary" else 0] for line in lines if line.startswith(heads)]
    assert len(set(shown)) == QUEUES


def test_two_may_ask_for_the_same_report(crawl: Crawl) -> None:
    desk = crawl.report.desk  # type: ignore[union-attr]

    async def both() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(desk.report(name="frontier-nonempty") for _ in range(2))))

    answers, _ = turns_of(both())
    [path] = {answer["path"] for answer in answers}
    with open(path, encoding="utf-8") as file:
        assert sum(line.startswith("test,h") for line in file) == QUEUES


def test_no_slice_follows_when_the_store_is_about_to_be_closed(crawl: Crawl, tmp_path: Path) -> None:
    desk = crawl.report.desk  # type: ignore[union-attr]

    async def ended() -> None:
        asking = asyncio.ensure_future(desk.report(name="frontier-nonempty"))
        await asyncio.sleep(0.01)
        desk.end_threads()
        await asking

    with pytest.raises(Refused, match="the crawl ends"):
        turns_of(ended())
    assert not list(crawl.jobdir.reports.glob(".*.new"))
