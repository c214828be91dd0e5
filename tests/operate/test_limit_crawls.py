"""Do whole crawls keep to their limits and quotas, and say how they ended?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from tests.durability.watch import until

if TYPE_CHECKING:
    from tests.conftest import Serve

pytestmark = pytest.mark.crawl

HOST = "www.limit.test"
PAGE = {"body": '<a href="/$+1">next</a>' + "x" * 980, "delay": 0.02}
CHAIN = {HOST: {"routes": {"/robots.txt": {"status": 404}}, "patterns": [[r"/(\d+)", PAGE]]}}

ONLY_ONE = ["NotMatchesRegexDecideRule", {"regex": ".*one.*", "decision": "REJECT"}]

#: Seconds between two looks at the limits.
INTERVAL = 0.5


def told_of(jobdir: Any) -> dict[str, Any]:
    try:
        return ask(jobdir, {"do": "status"})
    except ControlError:
        return {}


def states(jobdir: Any) -> list[str]:
    lines = [line.split(" ", 2) for line in (jobdir / "job.log").read_text().splitlines()]
    return [text.split()[0] for _, level, text in lines if level == "INFO" and text != "Job launched"]


@pytest.mark.parametrize(
    ("limit", "most", "end"),
    [
        ("MAX_DOCUMENTS_DOWNLOAD", 15, "FINISHED_DOCUMENT_LIMIT"),
        ("MAX_BYTES_DOWNLOAD", 15_000, "FINISHED_DATA_LIMIT"),
        pytest.param("MAX_WARC_NOVEL_URLS", 15, "FINISHED_DOCUMENT_LIMIT", marks=pytest.mark.long),
        pytest.param("MAX_TIME_SECONDS", 1, "FINISHED_TIME_LIMIT", marks=pytest.mark.long),
        pytest.param("WARC_LIMITS", {"response": {"numRecords": 15}}, "FINISHED_WRITE_LIMIT", marks=pytest.mark.long),
    ],
)
def test_a_limit_ends_the_crawl(serve: Serve, project: Any, limit: str, most: Any, end: str) -> None:
    """End status in state, job log and stats; beyond the limit at most what one interval brings."""
    web = serve(CHAIN)
    given = {"HERITRIX_SEEDS": [web.url(HOST, "/1")], "HERITRIX_MAX_HOPS": 1000, "HERITRIX_INTERVAL_SECONDS": INTERVAL}
    made = project({**given, f"HERITRIX_{limit}": most}, web=web)
    done = made.run(timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stats["heritrix/end"] == end
    assert done.stats["finish_reason"] == end.lower()
    record = json.loads((made.jobdir / "state.json").read_text())
    assert (record["state"], record["end"]) == ("FINISHED", end)
    assert record["reason"].startswith(f"HERITRIX_{limit}")
    words = [word for word in states(made.jobdir) if word != "CHECKPOINTED"]
    assert words[-2:] == ["STOPPING", "FINISHED"]
    progress = (made.jobdir / "logs" / "progress-statistics.log").read_text()
    assert progress.count("CRAWL ENDED - Finished - ") == 1
    pages = sum(uri.rpartition("/")[2].isdigit() for uri in done.statuses)
    # a page each 20 ms, one after the other: what an interval brings, and what was in flight
    assert pages <= 15 + INTERVAL / 0.02 + 2 if limit != "MAX_TIME_SECONDS" else pages <= (1 + INTERVAL) / 0.02 + 2
    assert done.stats["heritrix/frontier/queued"] >= 1


def test_what_still_waits_at_the_end_has_lines(serve: Serve, project: Any) -> None:
    """Told, and not counted: the next launch goes on with it."""
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(60))
    site = {"routes": {"/robots.txt": {"status": 404}, "/": {"body": links}}, "default": {"body": "page"}}
    web = serve({HOST: site})
    made = project(
        {
            "HERITRIX_SEEDS": [web.url(HOST)],
            "HERITRIX_MAX_DOCUMENTS_DOWNLOAD": 4,
            "HERITRIX_INTERVAL_SECONDS": 0.05,
            "HERITRIX_MIN_DELAY_MS": 200,
            "HERITRIX_DUMP_PENDING_AT_CLOSE": True,
        },
        web=web,
    )
    done = made.run(timeout=60)
    assert done.returncode == 0, done.stderr
    waiting = [line.split()[3] for line in done.log if line.split()[1] == "0"]
    assert len(waiting) == done.stats["heritrix/frontier/queued"] >= 1
    assert "status/0" not in " ".join(done.stats)
    done = made.run("-s", "HERITRIX_MAX_DOCUMENTS_DOWNLOAD=0", "-s", "HERITRIX_MIN_DELAY_MS=0", timeout=60)
    assert done.returncode == 0, done.stderr
    assert all(done.statuses[uri] == [0, 200] for uri in waiting)
    assert "reported as finished but not recorded" not in done.stderr


@pytest.mark.long
def test_quotas_retire_queues_or_end_uris(serve: Serve, project: Any) -> None:
    """One host's queue is retired with what is left in it; of another the rest ends as -5003. Begun anew, the first
    goes on: by a command on the stopped job, and on the running one."""
    names = ("one.limit.test", "two.limit.test")
    page = "".join(f'<a href="/{n}">{n}</a>' for n in range(1, 7))
    web = serve(
        {
            name: {"routes": {"/robots.txt": {"status": 404}, "/": {"body": page}}, "default": {"body": "p"}}
            for name in names
        }
    )
    quotas = [
        {"host_max_fetch_successes": 4, "should_process": ONLY_ONE},
        {"host": "two.limit.test", "quotas": {"fetchSuccesses": 4}, "at": "after_preconditions"},
    ]
    made = project({"HERITRIX_SEEDS": [web.url(name) for name in names], "HERITRIX_QUOTAS": quotas}, web=web)
    done = made.run(timeout=60)
    assert done.returncode == 0, done.stderr
    codes = {name: [code for uri, row in done.statuses.items() if name in uri for code in row] for name in names}
    assert sum(code > 0 and code != 1 for code in codes["one.limit.test"]) == 4
    assert -5003 not in codes["one.limit.test"]
    assert codes["two.limit.test"].count(-5003) >= 3
    assert any(line.endswith("hostQuota:fetchSuccesses") for line in done.log)
    assert done.stats["heritrix/quota/hostMaxFetchSuccesses"] == 1
    # what is left lies in the retired queue: no end of it is logged
    assert len(codes["one.limit.test"]) == 5

    def reset(*args: str) -> Any:
        return made.run("reset-quota", str(made.jobdir), *args, name="", command=("heritrix",), jobdir=None)

    assert "quota Q:hostMaxFetchSuccesses is used up" in "".join(
        made.run("queues", str(made.jobdir), name="", command=("heritrix",), jobdir=None).stdout
    )
    assert reset().returncode == 2
    assert "nothing has been counted of the host other.test" in reset("--host", "other.test").stderr
    told = reset("--host", "one.limit.test")
    assert told.returncode == 0, told.stderr
    assert ["reconsidered", "1"] in [line.split() for line in told.stdout.splitlines()]

    again = made.start("-s", "HERITRIX_RUN_WHILE_EMPTY=True")
    until(again, lambda: told_of(made.jobdir).get("state") == "EMPTY")
    assert ask(made.jobdir, {"do": "reset_quota", "host": "one.limit.test"})["reconsidered"] == 1
    until(again, lambda: told_of(made.jobdir).get("frontier", {}).get("queues", {}).get("retired") == 0)
    until(again, lambda: told_of(made.jobdir)["state"] == "EMPTY")
    ask(made.jobdir, {"do": "terminate"})
    ended = made.finish(again, 60)
    assert ended.returncode == 3, ended.stderr
    found = {uri: row for uri, row in ended.statuses.items() if "one.limit.test" in uri}
    assert {web.url("one.limit.test", f"/{number}") for number in range(1, 7)} <= set(found)
    assert all(len(row) == 1 for row in found.values())
    assert not any("Q:" in line for line in ended.log if " 200 " in line)
    assert (made.jobdir / "job.log").read_text().count("reset_quota: hosts 1, ") == 2


@pytest.mark.parametrize(("answers", "share", "status"), [(0, 1, 4), (1, 0.5, 4), (1, 1, 0)])
def test_pc226_a_crawl_of_which_no_seed_answered(
    serve: Serve, project: Any, answers: int, share: float, status: int
) -> None:
    """PC-226: seeds that refuse connections."""
    web = serve(
        {
            HOST: {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "p"}},
            "no.limit.test": {"listen": False},
        }
    )
    seeds = [web.url("no.limit.test", f"/{n}") for n in range(2)] + [web.url(HOST)] * answers
    given = {"HERITRIX_SEEDS": seeds, "HERITRIX_SEEDS_UNANSWERED_SHARE": share, "HERITRIX_RETRY_DELAY_SECONDS": 0}
    done = project(given, web=web).run(timeout=60)
    assert done.returncode == status, done.stderr
    assert done.stats["heritrix/end"] == ("FINISHED" if not status else "FINISHED_ABNORMAL")
    assert ("seeds did not answer" in done.stderr or "none of 2 seeds answered" in done.stderr) == bool(status)


TRICKLE = {HOST: {"routes": {"/robots.txt": {"status": 404}, "/": {"fill": 5000, "drip": [1, 1.0]}}}}
PLAIN = {HOST: {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "p"}}}


def ended(made: Any, done: Any, end: str) -> None:
    """How the crawl ended stands everywhere."""
    assert done.stats["heritrix/end"] == end, done.stderr
    assert json.loads((made.jobdir / "state.json").read_text())["end"] == end
    assert [word for word in states(made.jobdir) if word.isupper()][-1] == "FINISHED"


def test_a_crawl_in_which_nothing_moves_ends(serve: Serve, project: Any) -> None:
    web = serve(TRICKLE)
    given = {"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_IDLE_LIMIT_SECONDS": 1, "HERITRIX_STOP_GRACE_SECONDS": 0}
    made = project({**given, "HERITRIX_INTERVAL_SECONDS": 0.2}, web=web)
    done = made.run(timeout=60)
    assert done.returncode == 4, done.stderr
    ended(made, done, "FINISHED_ABNORMAL")
    assert "no URI has moved" in json.loads((made.jobdir / "state.json").read_text())["reason"]
    # it was not fetched, and stays queued
    assert web.url(HOST) not in done.statuses
    assert done.stats["heritrix/frontier/queued"] == 1


def test_an_empty_crawl_stays_alive_until_it_was_idle_for_long(serve: Serve, project: Any) -> None:
    web = serve(PLAIN)
    given = {"HERITRIX_SEEDS": [web.url(HOST)], "HERITRIX_RUN_WHILE_EMPTY": True, "HERITRIX_IDLE_LIMIT_SECONDS": 3}
    made = project(given, web=web)
    crawl = made.start()
    until(crawl, lambda: told_of(made.jobdir).get("state") == "EMPTY")
    assert ask(made.jobdir, {"do": "seeds", "lines": [web.url(HOST, "/more")]})["queued"] == 1
    done = made.finish(crawl, 60)
    assert done.returncode == 0, done.stderr
    assert done.statuses[web.url(HOST, "/more")] == [200]
    ended(made, done, "FINISHED")
    words = [word for word in states(made.jobdir) if word in ("RUNNING", "EMPTY", "STOPPING", "FINISHED")]
    assert words == ["RUNNING", "EMPTY", "RUNNING", "EMPTY", "STOPPING", "FINISHED"]


def test_a_process_that_holds_too_much_memory_ends_its_crawl(serve: Serve, project: Any) -> None:
    web = serve(CHAIN)
    made = project({"HERITRIX_SEEDS": [web.url(HOST, "/1")], "HERITRIX_MAX_HOPS": 5}, web=web)
    done = made.run("-s", "HERITRIX_MEMORY_LIMIT_MIB=1", timeout=60)
    assert done.returncode == 4, done.stderr
    ended(made, done, "FINISHED_ABNORMAL")
    assert "HERITRIX_MEMORY_LIMIT_MIB = 1: the process holds" in done.stderr
    again = made.run("-s", "HERITRIX_MEMORY_LIMIT_MIB=4000", timeout=60)
    assert again.returncode == 0, again.stderr
    assert {web.url(HOST, f"/{number}") for number in range(1, 7)} <= set(again.statuses)


@pytest.mark.parametrize(
    ("at", "asked"), [("before_preselector", 0), ("after_preconditions", 1), pytest.param("candidate", 1)]
)
def test_where_a_quota_is_looked_at(serve: Serve, project: Any, at: str, asked: int) -> None:
    """Before the preselector: not even its address is asked for. A candidate is dropped before it is queued."""
    page = "".join(f'<a href="${{http:other.limit.test}}/{n}">{n}</a>' for n in range(3))
    sites = {
        HOST: {"routes": {"/robots.txt": {"status": 404}, "/": {"body": page}}},
        # what uses the quota up leads to the page with the links
        "other.limit.test": {**PLAIN[HOST], "routes": {"/": {"body": f'<a href="${{http:{HOST}}}/">first</a>'}}},
    }
    web = serve(sites)
    quota = {"host": "other.limit.test", "quotas": {"fetchSuccesses": asked if at == "candidate" else 0}, "at": at}
    seeds = [web.url("other.limit.test" if at == "candidate" else HOST)]
    given = {"HERITRIX_SEEDS": seeds, "HERITRIX_SURTS": ["+http://(test,limit,"], "HERITRIX_QUOTAS": [quota]}
    made = project({**given, "HERITRIX_FOLLOW": "all"}, web=web)
    done = made.run(timeout=60)
    assert done.returncode == 0, done.stderr
    found = {uri: row for uri, row in done.statuses.items() if "//other.limit.test" in uri}
    links = {web.url("other.limit.test", f"/{n}") for n in range(3)}
    assert ("dns:other.limit.test" in done.statuses) == bool(asked)
    if at == "candidate":
        assert not links & set(found)
    else:
        assert {uri: row for uri, row in found.items() if uri in links} == {uri: [-5003] for uri in links}
        assert any("hostQuota:fetchSuccesses" in line for line in done.log)


@pytest.mark.parametrize(
    "operation",
    ["PAUSE", pytest.param("TERMINATE", marks=pytest.mark.long), pytest.param("BLOCK_URIS", marks=pytest.mark.long)],
)
def test_a_crawl_whose_time_is_over(serve: Serve, project: Any, operation: str) -> None:
    web = serve(CHAIN)
    given = {"HERITRIX_SEEDS": [web.url(HOST, "/1")], "HERITRIX_MAX_HOPS": 1000, "HERITRIX_RUNTIME_SECONDS": 1}
    made = project({**given, "HERITRIX_RUNTIME_EXPIRATION_OPERATION": operation}, web=web)
    crawl = made.start()
    if operation == "PAUSE":
        for _ in range(2):
            # told to go on without more time it pauses again
            until(crawl, lambda: told_of(made.jobdir).get("state") == "PAUSED")
            assert told_of(made.jobdir)["reason"] == "HERITRIX_RUNTIME_SECONDS = 1 are over"
            pages = len(web.requests)
            ask(made.jobdir, {"do": "unpause"})
        until(crawl, lambda: told_of(made.jobdir).get("state") == "PAUSED")
        assert len(web.requests) <= pages + 2
        ask(made.jobdir, {"do": "set", "values": {"HERITRIX_RUNTIME_SECONDS": 1000}})
        ask(made.jobdir, {"do": "unpause"})
        until(crawl, lambda: len(web.requests) > pages + 10)
        ask(made.jobdir, {"do": "terminate"})
    done = made.finish(crawl, 60)
    end, code = {"PAUSE": ("ABORTED", 3), "TERMINATE": ("FINISHED_TIME_LIMIT", 0), "BLOCK_URIS": ("FINISHED", 0)}[
        operation
    ]
    assert done.returncode == code, done.stderr
    ended(made, done, end)
    blocked = [line for line in done.log if line.split()[1] == "-5004"]
    assert bool(blocked) == (operation == "BLOCK_URIS")
    assert all("runtimeExceeded:1000ms" in line for line in blocked)


@pytest.mark.parametrize(
    ("setting", "most", "end", "code"),
    [
        ("CLOSESPIDER_PAGECOUNT", 5, "FINISHED_DOCUMENT_LIMIT", 0),
        pytest.param("CLOSESPIDER_TIMEOUT", 1, "FINISHED_TIME_LIMIT", 0, marks=pytest.mark.long),
        pytest.param("CLOSESPIDER_ITEMCOUNT", 3, "FINISHED_DOCUMENT_LIMIT", 0, marks=pytest.mark.long),
        pytest.param("CLOSESPIDER_ERRORCOUNT", 3, "FINISHED_ABNORMAL", 4, marks=pytest.mark.long),
    ],
)
def test_scrapys_own_limits(serve: Serve, project: Any, setting: str, most: int, end: str, code: int) -> None:
    web = serve(CHAIN)
    spider = f"""
from scrapy import Request, Spider

class Own(Spider):
    name = "own"
    async def start(self):
        yield Request({web.url(HOST, "/1")!r})
    def parse(self, response):
        yield {{"url": response.url}}
        yield response.follow(response.css("a::attr(href)").get(), callback=self.parse, errback=self.parse)
        if {setting == "CLOSESPIDER_ERRORCOUNT"}:
            raise ValueError(response.url)
"""
    made = project({setting: most, "HERITRIX_MAX_HOPS": 1000}, spider, web=web)
    done = made.run(name="own", timeout=60)
    assert done.stats["finish_reason"] == setting.lower(), done.stderr
    assert done.returncode == code, done.stderr
    ended(made, done, end)
    assert done.stats["heritrix/frontier/queued"] >= 1
