"""Does `why` give the right answer for every kind of URI, while the crawl runs and when it has stopped?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.reach import Job
from tests.durability.watch import until

if TYPE_CHECKING:
    from tests.conftest import Serve
    from tests.web import Web

ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /private/deeper/\nAllow: /private/open\n"
LINKS = [
    *(f"/page{number}" for number in range(8)),
    *("/gone", "/error", "/moved", "/private/a", "/private/deeper/b", "/private/open", "/blocked/a", "/blocked/b"),
    *("http://out.test/", "http://out.test/a"),
]
SITE: dict[str, Any] = {
    "www.why.test": {
        "routes": {
            "/robots.txt": {"body": ROBOTS},
            "/": {"body": "".join(f'<a href="{link}">x</a>' for link in LINKS)},
            "/gone": {"status": 404},
            "/error": {"status": 500},
            "/moved": {"redirect": "/target"},
        },
        "default": {"body": "a page"},
    },
    "hang.why.test": {
        "routes": {"/robots.txt": {"status": 404}, "/stalls": {"stall": True}},
        "default": {"body": "page"},
    },
    "again.why.test": {"routes": {"/robots.txt": {"status": 404}, "/": {"close_now": True}}},
    "tried.why.test": {"routes": {"/robots.txt": {"status": 404}, "/": {"close_now": True}}},
    "later.why.test": {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "changes often"}},
}

WARC = r"response record stands in .*\.warc\.gz(\.open)? at offset \d+"
FETCHED = rf"fetched at .* with 200 .*{WARC}"
SCOPE = r"The scope accepts it when found from .*/ by the path L: rule \d+, Surt"
SCOPE_SAYS = r"The scope accepts it .*assumed"
REFUSED = r"The scope refuses it .*rule 0, RejectDecideRule"


def expected(web: Web, *, running: bool) -> dict[str, tuple[str, list[str]]]:
    """URI → verdict and what its sentences must match."""

    def on(host: str, path: str) -> str:
        return web.url(host, path)

    www, hang = "www.why.test", "hang.why.test"
    waits = "the fetch of .*/stalls" if running else "its turn"
    stalls = (
        ("in process", [r"worked on now: waiting for the answer, for \d"])
        if running
        else ("queued", ["at place 1 of 5"])
    )
    first = 1 if running else 2
    table: dict[str, tuple[str, list[str]]] = {
        on(www, "/"): ("fetched", [FETCHED, "It is a seed"]),
        **{on(www, f"/page{number}"): ("fetched", [FETCHED, SCOPE]) for number in range(8)},
        on(www, "/page1#fragment"): ("fetched", [FETCHED]),
        on("why.test", "/page1"): ("fetched", [rf"with 200 .*as http://www.*{WARC}"]),
        on(www, "/robots.txt"): ("fetched", [FETCHED]),
        on(www, "/private/open"): ("fetched", [FETCHED]),
        on(www, "/target"): ("fetched", [FETCHED, "by the path LR"]),
        on(www, "/gone"): ("fetched", [f"with 404 .*{WARC}", "no such page"]),
        on(www, "/error"): ("fetched", [f"with 500 .*{WARC}", "The server failed"]),
        on(www, "/moved"): ("fetched", [f"with 302 .*{WARC}"]),
        "dns:www.why.test": ("fetched", [r"with 1 .*re\w+ record stands in .* at offset \d+"]),
        on(www, "/private/a"): (
            "disregarded",
            ["with -9998", r'line 2 of http://www.*robots.txt, "Disallow: /private/"'],
        ),
        on(www, "/private/deeper/b"): ("disregarded", ["with -9998", 'line 3 of .*"Disallow: /private/deeper/"']),
        on(www, "/private/never"): ("never seen", ["never seen", "line 2 of"]),
        on(www, "/blocked/a"): ("disregarded", ["with -5001", "HERITRIX_BLOCK_BY_REGEX"]),
        on(www, "/blocked/b"): ("disregarded", ["with -5001"]),
        on(www, "/never"): ("never seen", ["no page fetched so far leads to it", r"accepts it .*assumed"]),
        "http://out.test/": ("out of scope", ["never queued", REFUSED]),
        "http://out.test/a": ("out of scope", ["never queued", REFUSED]),
        "http://elsewhere.test/": ("out of scope", [REFUSED]),
        on(hang, "/stalls"): stalls,
        on(hang, "/q1"): ("queued", [rf"queue test,why,hang,.* at place {first} of 5", f"waits for {waits}", "a seed"]),
        on(hang, "/q2"): ("queued", [f"at place {first + 1} of 5", f"waits for {waits}"]),
        on(hang, "/q4"): ("queued", [f"at place {first + 3} of 5"]),
        on(hang, "/q5"): ("disregarded", ["with -6000", "An operator deleted"]),
        on("again.why.test", "/"): (
            "queued",
            ["snoozed and waits for another try after .*, until 2", "tried once before"],
        ),
        on("tried.why.test", "/"): ("failed", ["ended at .* with -", "tried 2 times"]),
        on("later.why.test", "/"): ("to be fetched again", ["fetched again at 2", rf"fetched last at .*200 .*{WARC}"]),
        on(www, "/imported"): ("known", ["waits in no queue, and no crawl.log of the job has a line", SCOPE_SAYS]),
    }
    verdicts = {"in process", "queued", "to be fetched again", "fetched", "failed", "disregarded", "known"}
    assert verdicts - {verdict for verdict, _ in table.values()} <= (set() if running else {"in process"})
    assert len(table) >= 30
    return table


def wrong(table: dict[str, tuple[str, list[str]]], why: Any) -> str:
    """What is not as it should be."""
    found = []
    for uri, (verdict, texts) in table.items():
        answer = why(uri)
        text = " ".join(answer["text"])
        if answer["verdict"] != verdict:
            found.append(f"{uri}: {answer['verdict']}, expected {verdict}: {text}")
        found += [f"{uri}: {text!r} has no {wanted!r}" for wanted in texts if not re.search(wanted, text)]
    return "\n".join(found)


@pytest.mark.crawl
def test_why_is_right_for_each_kind_of_uri(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    hanging = [web.url("hang.why.test", path) for path in ("/stalls", "/q1", "/q2", "/q3", "/q4", "/q5")]
    others = [web.url(host, "/") for host in ("again.why.test", "tried.why.test", "later.why.test")]
    settings = {
        "HERITRIX_SEEDS": [web.url("www.why.test", "/"), *hanging, *others],
        "HERITRIX_FOLLOW": "all",
        "HERITRIX_BLOCK_BY_REGEX": ".*/blocked/.*",
        "HERITRIX_MAX_RETRIES": 2,
        "HERITRIX_RETRY_DELAY_SECONDS": 3600,
        "HERITRIX_STOP_GRACE_SECONDS": 0,
        "HERITRIX_SHEETS": {"later": {"HERITRIX_RESCHEDULE_DELAY_SECONDS": 3600}},
        "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(test,why,later,"], "sheets": ["later"]}],
        "HERITRIX_ACTION_INITIAL_DELAY_SECONDS": 0.1,
        "HERITRIX_ACTION_DELAY_SECONDS": 0.1,
    }
    made = project(settings, web=web)
    crawl = made.start()

    def do(name: str, **more: Any) -> dict[str, Any]:
        return ask(made.jobdir, {"do": name, **more}, timeout=60)

    def why(uri: str) -> dict[str, Any]:
        return do("why", uri=uri)

    def status() -> dict[str, Any]:
        try:
            return dict(do("status")["frontier"])
        except (ControlError, KeyError):
            return {"in process": 0, "queues": {}}

    until(crawl, lambda: status()["queues"].get("snoozed") == 2, "both hosts rest", 60)
    do("wake", queue="test,why,tried,.*")
    until(crawl, lambda: why(others[1])["verdict"] == "failed", "the second try failed")
    assert do("delete", uri=".*/q5")["deleted"] == 1
    (made.jobdir / "action" / "known.s.include").write_text(f"{web.url('www.why.test', '/imported')}\n")
    done = made.jobdir / "actions-done"
    until(crawl, lambda: done.exists() and any(done.iterdir()), "the list was imported")
    until(crawl, lambda: status()["in process"] == 1 and not status()["queues"]["ready"], "only one hangs")
    found = wrong(expected(web, running=True), why)
    assert not found, found
    answer = why(web.url("www.why.test", "/page1"))
    assert answer["log"]["status"] == 200
    assert answer["scope"]["rules"]
    with pytest.raises(ControlError, match="no URI"):
        why("http://")
    numbers = do("status")["job"]
    assert (numbers["isRunning"], numbers["loadReport"]["busyThreads"]) == (True, 1)
    assert numbers["frontierReport"]["inProcessQueues"] == 1
    tailed = do("tail", lines=1, filter="/gone ")
    assert " 404 " in tailed["lines"][0]
    assert "heritrix_in_process_uris 1.0" in do("metrics")["text"]
    do("terminate")
    ended = made.finish(crawl, 60)
    assert "Traceback" not in ended.stderr

    project_settings = Settings({**settings, "HERITRIX_DELAY_FACTOR": 0.0})
    with Job(made.jobdir, project_settings) as job:
        job.perform({"do": "queues"})
        found = wrong(expected(web, running=False), lambda uri: job.perform({"do": "why", "uri": uri}))
        assert not found, found
        with pytest.raises(Refused, match="no URI"):
            job.perform({"do": "why", "uri": "http://"})
    told = made.run(str(made.jobdir), "--json", command=("heritrix", "status"), name="", jobdir=None, timeout=60)
    stopped = json.loads(told.stdout)
    assert (stopped["protocol"], stopped["job"]["crawlExitStatus"]) == (1, "ABORTED")
    before, after = (each["uriTotalsReport"]["downloadedUriCount"] for each in (numbers, stopped["job"]))
    assert after >= before > 10
    shown = made.run(
        *("why", web.url("www.why.test", "/gone"), str(made.jobdir), "--json"),
        command=("heritrix",),
        name="",
        jobdir=None,
        timeout=60,
    )
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["verdict"] == "fetched"
