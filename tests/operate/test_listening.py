"""Can a crawl be listened to, from its own process and from another, and by readers that do not read?"""

from __future__ import annotations

import asyncio
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.model.steering import Refused, Steering
from heritrix_scrapy.operate import control
from heritrix_scrapy.operate.control import ControlServer, NotRunning, ask, listen, reachable
from heritrix_scrapy.operate.remote import Remote
from tests.docs.examples import example
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

SITE = {
    "www.heard.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "".join(f'<a href="/{number}">{number}</a>' for number in range(20))},
        },
        "default": {"body": "page"},
    },
}

#: An extension that listens from inside, as the web page of a crawl does.
INSIDE = """
import asyncio
import json
from pathlib import Path
from scrapy import signals
from heritrix_scrapy.crawl import Crawl

class Inside:
    def __init__(self, crawler):
        self.steering = Crawl.of(crawler).steering
        crawler.signals.connect(self.opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def opened(self):
        self.task = asyncio.ensure_future(self.hear())

    async def hear(self):
        events = await self.steering.subscribe({"do": "subscribe", "logs": ["crawl.log"], "numbers": 0.2})
        with Path(__file__).parents[1].joinpath("heard").open("w", buffering=1) as file:
            async for event in events:
                file.write(json.dumps(event, default=str) + "\\n")
"""


def up(jobdir: Path) -> bool:
    try:
        return ask(jobdir, {"do": "status"})["state"] == "PAUSED"
    except control.ControlError:
        return False


@pytest.mark.crawl
def test_a_crawl_is_heard_from_its_beginning_to_its_end(
    serve: Serve, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("www.heard.test")],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_PAUSE_AT_START": True,
            "EXTENSIONS": {"crawl_project.inside.Inside": 900},
        },
        modules={"inside": INSIDE},
    )
    process = made.start()
    until(process, lambda: up(made.jobdir), "it was paused")
    hello = ask(made.jobdir, {"do": "hello", "protocol": 1})
    assert hello["version"]
    assert "state_changed" in hello["events"]
    with pytest.raises(control.ControlError, match="speaks version 1 of the protocol, not 2"):
        ask(made.jobdir, {"do": "hello", "protocol": 2})
    with pytest.raises(control.ControlError, match="no event 'fly'"):
        next(listen(made.jobdir, {"events": ["fly"]}))

    # one that never reads a byte
    mute = socket.socket(socket.AF_UNIX)
    mute.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    with reachable(made.jobdir) as path:
        mute.connect(path)
    mute.sendall(b'{"do": "subscribe", "numbers": 0.1, "logs": ["crawl.log"], "lines": 1000}\n')

    manual: dict[str, Any] = {}
    exec(example("control.md"), manual)

    async def heard() -> list[dict[str, Any]]:
        watch = asyncio.ensure_future(manual["watch"](made.jobdir))
        remote = Remote(made.jobdir)
        events = await remote.subscribe({"logs": {"crawl.log": " 200 "}, "numbers": 0.1})
        gone = await remote.subscribe({"numbers": 0.1})
        await anext(gone)
        gone.close()
        found = [await anext(events)]
        assert (await remote.do({"do": "unpause"}))["state"] == "RUNNING"
        with pytest.raises(Refused, match="unknown request"):
            await remote.do({"do": "fly"})
        found += [event async for event in events]
        await watch
        return found

    found = asyncio.run(heard())
    mute.close()
    shown = capsys.readouterr().out
    assert "'event': 'hello'" in shown
    assert "'event': 'end'" in shown
    crawl = made.finish(process)
    assert crawl.returncode == 0, crawl.stderr
    inside = [json.loads(line) for line in (made.folder / "heard").read_text().splitlines()]
    for events in (found, inside):
        assert events[0]["event"] == "hello"
        states = [event["state"] for event in events if event["event"] == "state_changed"]
        assert "RUNNING" in states
        assert states[-2:] == ["STOPPING", "FINISHED"]
        assert any(event["event"] == "crawl_resumed" for event in events)
        assert (events[-1]["event"], events[-1]["end"]) == ("end", "FINISHED")
        numbers = [event for event in events if event["event"] == "numbers"]
        assert numbers[0]["state"] == "PAUSED"
        assert numbers[0]["disks"][0]["free"] > 0
    lines = {"found": found, "inside": inside}
    told = {
        name: [line for event in events if event["event"] == "log" for line in event["lines"]]
        for name, events in lines.items()
    }
    assert told["inside"] == crawl.log
    assert told["found"] == [line for line in crawl.log if " 200 " in line]
    assert "subscription failed" not in crawl.stderr


@pytest.mark.crawl
def test_a_stopped_job_answers_the_same_calls(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project({"HERITRIX_SEEDS": [web.url("www.heard.test")], "HERITRIX_DNS_SERVERS": [web.dns]})
    assert made.run().returncode == 0

    async def main() -> None:
        with pytest.raises(NotRunning):
            await Remote(made.jobdir).do({"do": "status"})
        remote = Remote(made.jobdir, Settings({"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/"}))
        with pytest.raises(NotRunning):
            await remote.subscribe({})
        status, tail, metrics = await asyncio.gather(
            remote.do({"do": "status"}), remote.do({"do": "tail", "lines": 3}), remote.do({"do": "metrics"})
        )
        assert (status["state"], status["frontier"]["queued"]) == ("FINISHED", 0)
        assert len(tail["lines"]) == 3
        assert "heritrix_queued_uris 0.0" in metrics["text"]
        assert "[code]" in (await remote.do({"do": "report", "name": "seeds"}))["text"]

    asyncio.run(main())


def test_a_crawl_that_speaks_another_version_is_not_misread(tmp_path: Path) -> None:
    steering = Steering()
    steering.add("status", lambda: {"protocol": 99})

    async def main() -> None:
        server = ControlServer(tmp_path, steering.do, steering.subscribe)
        await server.start()
        try:
            with pytest.raises(control.ControlError, match="speaks version 99"):
                await Remote(tmp_path).do({"do": "status"})
            with pytest.raises(Refused, match="tells nothing"):
                await Remote(tmp_path).subscribe({})
        finally:
            await server.close()

    asyncio.run(main())
