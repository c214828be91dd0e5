"""Is every signal sent, with what the manual says, and can an extension steer the crawl it is in?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy import signals
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.telling import EVENTS
from tests.crawls import ROOT
from tests.docs.examples import example
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

SITE = {
    "www.signals.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": '<a href="/one">1</a><a href="/resets">2</a>'},
            "/resets": {"reset_now": True},
        },
        "default": {"body": "page"},
    },
    "other.signals.test": {
        "routes": {"/robots.txt": {"status": 404}, "/": {"body": "".join(f'<a href="/{n}">x</a>' for n in range(9))}},
        "default": {"status": 404, "body": "gone"},
    },
}

#: Notes every signal, and has everything happen that does not happen by itself.
OPERATOR = """
import asyncio
import json
import logging
from pathlib import Path
from scrapy import signals as scrapys
from heritrix_scrapy import signals
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.errors import StorageFull

class Operator:
    def __init__(self, crawler):
        self.crawl = Crawl.of(crawler)
        self.steering = self.crawl.steering
        self.file = Path(__file__).parents[1].joinpath("heard").open("w", buffering=1)
        self.handlers = [self.handler(name) for name in signals.NAMES]
        for name, handler in zip(signals.NAMES, self.handlers):
            crawler.signals.connect(handler, getattr(signals, name))
        crawler.signals.connect(self.opened, scrapys.spider_opened)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def handler(self, name):
        def hear(**details):
            told = {key: value for key, value in details.items() if key not in ("signal", "sender")}
            told["spider"] = getattr(told["spider"], "name", None)
            if "curi" in told:
                told["curi"] = told["curi"].uri
            self.file.write(json.dumps([name, told], default=str) + chr(10))
        return hear

    def opened(self):
        self.task = asyncio.ensure_future(self.operate())

    async def operate(self):
        do = self.steering.do
        logging.getLogger("operator").warning("look here")
        await do({"do": "pause"})
        await do({"do": "set", "values": {"HERITRIX_RETRY_DELAY_SECONDS": 1}})
        await do({"do": "checkpoint"})
        await do({"do": "unpause"})
        self.crawl.bridge.pause(StorageFull(str(self.crawl.jobdir.root), 10))
"""


def heard(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    return [tuple(json.loads(line)) for line in (folder / "heard").read_text().splitlines()]


@pytest.mark.crawl
def test_every_signal_is_sent(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.signals.test"), web.url("other.signals.test")],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_RUN_WHILE_EMPTY": True,
            "HERITRIX_MAX_RETRIES": 2,
            "ERRORS_PER_HOST": 3,
            "EXTENSIONS": {"crawl_project.operator.Operator": 1, "crawl_project.own.TooManyErrors": 2},
        },
        modules={"operator": OPERATOR, "own": example("signals.md", 1)},
    )
    process = made.start()
    resets = web.url("www.signals.test", "/resets")

    def over() -> bool:
        names = {name for name, told in heard(made.folder)} if (made.folder / "heard").exists() else set()
        return {"disk_recovered", "queue_retired", "uri_retried"} <= names and any(
            name == "uri_finished" and told["curi"] == resets for name, told in heard(made.folder)
        )

    until(process, over, "all had happened")
    failures = ask(made.jobdir, {"do": "failures", "least": 3})["failures"]
    assert [count >= 3 for count in failures.values()] == [True]
    with pytest.raises(ControlError, match="failures: least is '3', expected int"):
        ask(made.jobdir, {"do": "failures", "least": "3"})
    ask(made.jobdir, {"do": "set", "values": {"HERITRIX_MIN_DELAY_MS": 1}})
    ask(made.jobdir, {"do": "terminate", "end": "FINISHED_TIME_LIMIT"})
    crawl = made.finish(process)
    found = heard(made.folder)
    names = [name for name, _ in found]
    assert set(names) == set(signals.NAMES) - {"limit_reached"}, crawl.stderr
    first: dict[str, dict[str, Any]] = {}
    for name, told in found:
        first.setdefault(name, told)
    assert first["seed_added"]["uri"] == web.url("www.signals.test")
    assert first["alert_raised"] == {"level": "WARNING", "text": "operator: look here", "spider": "archive"}
    assert first["crawl_paused"]["reason"] == "by the operator"
    assert first["settings_changed"]["names"] == ["RETRY_DELAY_SECONDS"]
    assert first["checkpointed"]["name"].startswith("cp00001-")
    assert first["disk_low"]["reason"].startswith("cannot write 10 bytes")
    assert first["uri_retried"]["curi"] == resets
    assert list(failures) == [first["queue_retired"]["class_key"]]
    assert found[-1] == (
        "crawl_ended",
        {"end": "FINISHED_TIME_LIMIT", "reason": "by the operator", "spider": "archive"},
    )
    assert names.index("disk_low") < names.index("disk_recovered")
    # what is sent is what the manual says
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]*)\|", (ROOT / "docs" / "signals.md").read_text(), re.MULTILINE)
    table = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows}
    assert set(table) == set(signals.NAMES)
    for name, told in found:
        assert set(told) - {"spider"} == table[name], name


@pytest.mark.crawl
def test_a_limit_says_so(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.signals.test")],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_MAX_DOCUMENTS_DOWNLOAD": 1,
            "HERITRIX_RUN_WHILE_EMPTY": True,
            "EXTENSIONS": {"crawl_project.operator.Operator": 1},
        },
        modules={
            "operator": OPERATOR.split("    async def operate")[0] + "    async def operate(self):\n        pass\n"
        },
    )
    assert made.run().returncode == 0
    told = dict(heard(made.folder))
    assert told["limit_reached"]["end"] == told["crawl_ended"]["end"] == "FINISHED_DOCUMENT_LIMIT"
    assert "HERITRIX_MAX_DOCUMENTS_DOWNLOAD" in told["limit_reached"]["reason"]


def test_events_are_signals() -> None:
    assert set(EVENTS) == set(signals.NAMES) - {"uri_finished", "uri_retried"}
