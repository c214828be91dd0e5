"""What does a crawl still know of its seeds, its spider's Requests and its queues after kill -9?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.durability.watch import archived, recorded, until

if TYPE_CHECKING:
    from tests.conftest import Serve
    from tests.crawls import Project
    from tests.web import Web

pytestmark = pytest.mark.crawl

HOST = "www.again.test"
ROBOTS = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}
#: Answers from the second time on; the first one lasts until the crawl is killed.
HELD = {"stall": True, "cases": [{"if": {"nth_from": 2}, "then": {"body": "at last"}}]}

SPIDER = """
import json
from pathlib import Path
from scrapy import Request, Spider

class Asks(Spider):
    name = "asks"
    def note(self, what, **more):
        with (Path(__file__).parents[1] / "called.jsonl").open("a") as file:
            file.write(json.dumps({"what": what, **more}) + "\\n")
    async def start(self):
        yield Request(self.settings["FIRST"])
        yield Request(self.settings["FIRST"] + "twice", self.parse_start, dont_filter=True)
    def parse_start(self, response):
        self.note("start", url=response.url)
    def parse(self, response):
        self.note("first")
        yield response.follow("/held", self.parse_held, priority=100)
        yield response.follow("/low", self.parse_asked, cb_kwargs={"n": 1}, meta={"tag": ["a", 1]}, priority=-5)
        yield response.follow("/high", self.parse_asked, cb_kwargs={"n": 2}, priority=5, headers={"X-Mine": "yes"})
        yield response.follow("/post", self.parse_asked, cb_kwargs={"n": 3}, method="POST", body=b"the body")
        yield response.follow("/none", self.parse, errback=self.failed, cb_kwargs={})
        yield response.follow("/lambda", lambda answer: self.note("lambda"))
        yield response.follow("/renamed", self.parse_OLD)
    def parse_held(self, response):
        self.note("held")
    def parse_asked(self, response, n):
        self.note("asked", n=n, tag=response.meta.get("tag"), url=response.url)
    def failed(self, failure):
        self.note("failed", status=failure.value.response.status)
    def parse_OLD(self, response):
        self.note("renamed")
"""


def called(made: Project) -> list[dict[str, Any]]:
    path = made.folder / "called.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def asked(web: Web, host: str = HOST) -> Counter[str]:
    return Counter(target.partition(" ")[2] for target in web.asked(host))


def test_what_the_spider_asked_for(serve: Serve, project: Any) -> None:
    """Callbacks, cb_kwargs, meta, method, headers and priority survive; what cannot be stored, or has lost its
    method, is archived without callback; ``start()`` is not repeated."""
    page = {"body": "<p>page"}
    routes = {f"/{name}": page for name in ("", "twice", "low", "high", "post", "lambda", "renamed")}
    web = serve({HOST: {"routes": {"/robots.txt": ROBOTS, "/held": HELD, **routes}}})
    made = project({"FIRST": web.url(HOST)}, SPIDER, web=web)
    process = made.start(name="asks")
    until(process, lambda: asked(web)["/held"] == 1, "the held page was asked for")
    recorded(process, made.jobdir, web.url(HOST))
    process.kill()
    made.finish(process)
    before = called(made)
    assert [row["what"] for row in before] == ["first"], "all else waits behind the held page"

    code = made.folder / "crawl_project" / "spiders.py"
    code.write_text(code.read_text().replace("parse_OLD", "parse_NEW"))
    resumed = made.run(name="asks")
    assert resumed.returncode == 0, resumed.stderr
    after = called(made)[len(before) :]
    page_calls = [row for row in after if row["what"] == "asked"]
    assert {row["n"]: row["tag"] for row in page_calls} == {1: ["a", 1], 2: None, 3: None}
    assert [row["n"] for row in page_calls] == [2, 3, 1], "the highest priority first"
    assert {"what": "failed", "status": 404} in after
    assert Counter(row["what"] for row in after) == {"held": 1, "start": 1, "asked": 3, "failed": 1}
    assert asked(web)["/"] == asked(web)["/twice"] == 1
    (post,) = [row for row in web.requests if row.target == "/post"]
    assert post.method == "POST"
    assert post.raw.endswith(b"the body")
    (high,) = [row for row in web.requests if row.target == "/high"]
    assert b"X-Mine: yes" in high.raw
    for name in ("lambda", "renamed"):
        assert resumed.statuses[web.url(HOST, f"/{name}")] == [200]
        assert archived(resumed).count(web.url(HOST, f"/{name}")) == 1
    lost = [line for line in resumed.stderr.splitlines() if "archived without callback" in line]
    assert len(lost) == 1
    assert "/renamed" in lost[0]
    assert "parse_OLD" in lost[0]


def test_seeds_that_a_redirect_made(serve: Serve, project: Any) -> None:
    """The place a seed leads to is in scope after a kill too."""
    elsewhere = "www.elsewhere.test"
    web = serve(
        {
            HOST: {"routes": {"/robots.txt": ROBOTS, "/": {"redirect": f"${{http:{elsewhere}}}/"}}},
            elsewhere: {
                "routes": {"/robots.txt": ROBOTS, "/": {"body": '<a href="/held">h</a>'}, "/deep": {"body": "deep"}},
                "patterns": [[r"/held", {**HELD, "cases": [{"if": {"nth_from": 2}, "then": LINKS}]}]],
            },
        }
    )
    made = project({"HERITRIX_SEEDS": [web.url(HOST)]}, web=web)
    process = made.start()
    until(process, lambda: asked(web, elsewhere)["/held"] == 1, "the held page was asked for")
    recorded(process, made.jobdir, web.url(elsewhere))
    process.kill()
    made.finish(process)
    resumed = made.run()
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.statuses[web.url(elsewhere, "/deep")] == [200]


LINKS = {"body": '<a href="/deep">deep</a>'}


SLOW_START = """
import asyncio
from scrapy import Request, Spider

class Slow(Spider):
    name = "slow"
    async def start(self):
        if self.settings.getbool("AGAIN"):
            await asyncio.sleep(1.5)
        yield Request(self.settings["FIRST"])
    def parse(self, response):
        pass
"""


@pytest.mark.long
def test_what_start_asked_for_is_in_scope_before_it_asks_again(serve: Serve, project: Any) -> None:
    """Links found before ``start()`` has said its seeds again are judged as the first run would have."""
    held = {**HELD, "cases": [{"if": {"nth_from": 2}, "then": LINKS}]}
    web = serve(
        {
            HOST: {
                "routes": {
                    "/robots.txt": ROBOTS,
                    "/": {"body": '<a href="/held">h</a>'},
                    "/held": held,
                    "/deep": {"body": "deep"},
                }
            }
        }
    )
    made = project({"FIRST": web.url(HOST), "HERITRIX_FOLLOW": "all"}, SLOW_START, web=web)
    process = made.start(name="slow")
    until(process, lambda: asked(web)["/held"] == 1, "the held page was asked for")
    recorded(process, made.jobdir, web.url(HOST))
    process.kill()
    made.finish(process)
    resumed = made.run("-s", "AGAIN=1", name="slow")
    assert resumed.returncode == 0, resumed.stderr
    assert asked(web) == {"/robots.txt": 1, "/favicon.ico": 1, "/": 1, "/held": 2, "/deep": 1}


@pytest.mark.long
def test_a_queue_sleeps_on(serve: Serve, project: Any) -> None:
    """Politeness outlives the process: the next fetch of a host comes no earlier than it would have."""
    rest = 4.0
    web = serve({HOST: {"routes": {"/robots.txt": ROBOTS, "/": {"body": '<a href="/next">n</a>'}, "/next": {}}}})
    made = project(
        {"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_MIN_DELAY_MS": int(rest * 1000), "HERITRIX_MAX_DELAY_MS": 60_000},
        web=web,
    )
    process = made.start()
    recorded(process, made.jobdir, web.url(HOST, "/robots.txt"))
    process.kill()
    made.finish(process)
    resumed = made.run(timeout=90)
    assert resumed.returncode == 0, resumed.stderr
    times = {row.target: row.time for row in web.requests}
    assert times["/"] - times["/robots.txt"] >= rest - 0.1
    assert resumed.statuses[web.url(HOST, "/next")] == [200]
