"""Does the frontier do in a whole crawl what it does alone? Seeds of every kind, what comes again, what waits."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.operate.control import ask
from heritrix_scrapy.store import open_store
from tests.durability.watch import until

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve
    from tests.web import Web

pytestmark = pytest.mark.crawl

NO_ROBOTS = {"/robots.txt": {"status": 404}, "/favicon.ico": {"status": 404}}
PAGE = {"body": "<p>page"}


def asked(web: Web, host: str) -> list[str]:
    return [line.partition(" ")[2] for line in web.asked(host)]


OWN = """
from scrapy.utils.asyncio import call_later


class Cursor:
    '''One seed at the start, one when the crawl has run dry.'''

    def __init__(self, crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def seeds(self):
        yield self.crawler.settings["FIRST"]

    def started(self, add):
        self.add = add
        call_later(1.2, self.more)

    def more(self):
        assert self.add([self.crawler.settings["SECOND"], self.crawler.settings["FIRST"]]) == 1


class OnceMore:
    '''What was long is fetched again.'''

    def next_fetch(self, curi, now_ms, settings):
        return now_ms + 1 if "/long" in curi.uri and curi.content_size > 1000 else None
"""


def test_a_source_of_seeds_and_what_comes_again(serve: Serve, project: Any) -> None:
    """PC-212 as a crawl: fed, run dry, fed again. A 429 and a 503 that name a time are asked again, and cost no try;
    a page that a policy wants once more is fetched once more."""
    busy = {"body": "well", "cases": []}
    for number, code in ((1, 429), (2, 503)):
        answer = {"status": code, "headers": [["Retry-After", "1"]], "body": "later"}
        busy["cases"].append({"if": {"nth": number}, "then": answer})  # type: ignore[attr-defined]
    long = {"body": "short", "cases": [{"if": {"nth": 1}, "then": {"body": "x" * 2000}}]}
    web = serve(
        {
            "www.first.test": {"routes": {**NO_ROBOTS, "/": {"body": '<a href="/long">l</a>'}, "/long": long}},
            "www.second.test": {"routes": {**NO_ROBOTS, "/": busy}},
        }
    )
    settings = {
        "FIRST": web.url("www.first.test"),
        "SECOND": web.url("www.second.test"),
        "HERITRIX_SEED_SOURCE": "crawl_project.own.Cursor",
        "HERITRIX_RESCHEDULING_POLICY": "crawl_project.own.OnceMore",
        "HERITRIX_RUN_WHILE_EMPTY": True,
        "HERITRIX_MAX_RETRIES": 3,
    }
    made = project(settings, web=web, modules={"own": OWN})
    process = made.start()
    until(process, lambda: asked(web, "www.second.test").count("/") == 3, "the busy page was asked for three times")
    until(process, lambda: ask(made.jobdir, {"do": "status"})["frontier"]["queued"] == 0, "all is done")
    process.terminate()
    crawl = made.finish(process)
    assert "Traceback" not in crawl.stderr, crawl.stderr
    second = web.url("www.second.test")
    assert crawl.statuses[second] == [429, 503, 200]
    assert [line.split()[11] for line in crawl.log if line.split()[3] == second][-1] == "-", "the first try of all"
    times = [row.time for row in web.requests if (row.host or "").startswith("www.second") and row.target == "/"]
    assert min(after - before for before, after in pairwise(times)) >= 0.99
    assert crawl.statuses[web.url("www.first.test", "/long")] == [200, 200]
    assert asked(web, "www.first.test").count("/") == 1


def test_depth_first_and_one_robots_for_parallel_queues(serve: Serve, run_crawl: RunCrawl) -> None:
    """``HERITRIX_PREFERENCE_DEPTH_HOPS`` 0: the newest first. Queues that need one robots.txt have it fetched once."""
    one, many = "www.deep.test", "www.wide.test"
    links = {name: {"body": f'<a href="/{name}1">1</a><a href="/{name}2">2</a>'} for name in ("", "1", "2")}
    deep = {f"/{name}": body for name, body in links.items()}
    deep |= {f"/{name}{number}": PAGE for name in ("1", "2") for number in (1, 2)}
    robots = {"type": "text/plain", "body": "User-agent: *\nDisallow: /no\n", "delay": 0.5}
    wide = {f"/d{number}/": PAGE for number in range(6)}
    web = serve(
        {
            one: {"routes": {**NO_ROBOTS, **deep}},
            many: {"routes": {"/robots.txt": robots, "/favicon.ico": {"status": 404}, **wide}},
        }
    )
    crawl = run_crawl(
        {
            "HERITRIX_SEEDS": [web.url(one), *(web.url(many, path) for path in wide)],
            "HERITRIX_PREFERENCE_DEPTH_HOPS": 0,
            "HERITRIX_PARALLEL_QUEUES": 4,
            "CONCURRENT_REQUESTS": 8,
        },
        web=web,
    )
    assert crawl.returncode == 0, crawl.stderr
    order = [target for target in asked(web, one) if target not in NO_ROBOTS]
    assert order == ["/", "/2", "/22", "/21", "/1", "/12", "/11"]
    assert Counter(asked(web, many))["/robots.txt"] == 1
    assert {target for target in asked(web, many) if "/d" in target} == set(wide)
    assert [uri for uri, codes in crawl.statuses.items() if uri.startswith("dns:") and len(codes) > 1] == []


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_the_operators_seeds_file(serve: Serve, project: Any, profile: str) -> None:
    """A seed that redirects elsewhere leaves the file as it is in the modern profile, and stands in the JOBDIR; the
    heritrix profile appends where it leads to as Heritrix does. PC-219 as a crawl: lines added during a pause are
    read."""
    from_, to, late = "www.from.test", "www.to.test", "www.late.test"
    web = serve(
        {
            from_: {"routes": {**NO_ROBOTS, "/": {"redirect": f"${{http:{to}}}/"}}},
            to: {"routes": {**NO_ROBOTS, "/": {"body": '<a href="/deep">d</a>'}, "/deep": PAGE}},
            late: {"routes": {**NO_ROBOTS, "/": PAGE}},
        }
    )
    settings = {"HERITRIX_SEEDS": "seeds.txt", "HERITRIX_PROFILE": profile, "HERITRIX_PAUSE_AT_START": True}
    made = project(settings, web=web)
    file = made.folder / "seeds.txt"
    file.write_text(f"# mine\n{web.url(from_)}")
    process = made.start()
    until(process, lambda: (made.jobdir / "control.sock").exists(), "it can be asked")
    until(process, lambda: ask(made.jobdir, {"do": "status"})["state"] == "PAUSED", "it is paused")
    file.write_text(f"# mine\n{web.url(from_)}\n{web.url(late)}")
    before = file.read_text()
    ask(made.jobdir, {"do": "unpause"})
    crawl = made.finish(process)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[web.url(late)] == [200]
    assert crawl.statuses[web.url(to, "/deep")] == [200], "the place it leads to is a seed"
    added = f"\n# Heritrix added seed redirect from {web.url(from_)}.\n{web.url(to)}"
    assert file.read_text() == before + (added if profile == "heritrix" else "")
    store = open_store(crawl.jobdir / "frontier")
    assert store.get(keys.seed(web.url(to))) is not None, "the next process knows it"
    store.close()


def test_two_crawls_leave_the_seeds_file_as_it_was(serve: Serve, project: Any) -> None:
    """PC-220: 30 seeds, 10 of which redirect elsewhere, crawled twice. The file has the same bytes after each; where
    the ten lead to stands in the JOBDIR and in the report."""
    hosts: dict[str, Any] = {}
    for number in range(30):
        there = {"redirect": f"${{http:to{number}.test}}/"} if number % 3 == 0 else PAGE
        hosts[f"from{number}.test"] = {"routes": {**NO_ROBOTS, "/": there}}
    targets = [f"to{number}.test" for number in range(0, 30, 3)]
    hosts |= {target: {"routes": {**NO_ROBOTS, "/": PAGE}} for target in targets}
    web = serve(hosts)
    made = project({"HERITRIX_SEEDS": "seeds.txt"}, web=web)
    file = made.folder / "seeds.txt"
    file.write_text("".join(f"{web.url(f'from{number}.test')}\n" for number in range(30)))
    before = file.read_bytes()
    for _ in range(2):
        crawl = made.run()
        assert crawl.returncode == 0, crawl.stderr
        assert file.read_bytes() == before
        assert all(crawl.statuses[web.url(target)] == [200] for target in targets)
        (report,) = sorted(crawl.jobdir.rglob("seeds-report.txt"))[-1:]
        lines = [line.split() for line in report.read_text().splitlines()[1:]]
        assert {line[2] for line in lines if line[0] == "200"} >= {web.url(target) for target in targets}
        store = open_store(crawl.jobdir / "frontier")
        assert all(store.get(keys.seed(web.url(target))) is not None for target in targets)
        store.close()


UNFINISHED = """
from heritrix_scrapy.frontier.rescheduling import ReschedulingPolicy

class Source:
    def lines(self):
        return []

class Policy(ReschedulingPolicy):
    def next(self, curi, now_ms, settings):
        return None
"""


@pytest.mark.parametrize(
    ("setting", "name", "said"),
    [
        ("HERITRIX_SEED_SOURCE", "Source", "such a class has a method seeds()"),
        ("HERITRIX_RESCHEDULING_POLICY", "Policy", "abstract method"),
    ],
)
def test_a_part_without_its_method_ends_the_start(project: Any, setting: str, name: str, said: str) -> None:
    crawl = project({setting: f"crawl_project.own.{name}"}, modules={"own": UNFINISHED}).run()
    assert crawl.returncode == 1
    assert setting in crawl.stderr
    assert said in crawl.stderr
