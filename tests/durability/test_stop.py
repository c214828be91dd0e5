"""Does a crawl that was stopped, in whatever way, go on where it was?"""

from __future__ import annotations

import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.durability.watch import archived, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from tests.conftest import Serve
    from tests.crawls import Project
    from tests.web import Web

pytestmark = pytest.mark.crawl

HOST = "www.stop.test"
ROBOTS = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}
#: Fetched once a job besides the pages.
ASIDE = {"/robots.txt", "/favicon.ico"}


def tree(pages: int, hosts: int, *, ways: int = 3, delay: float = 0.01) -> dict[str, Any]:
    """Page n leads to ``ways`` further ones; the pages lie on several hosts."""
    site: dict[str, Any] = {host(n): {"routes": {"/robots.txt": ROBOTS}} for n in range(hosts)}
    for n in range(pages):
        links = [m for m in range(ways * n + 1, ways * n + ways + 1) if m < pages]
        body = "".join(f'<a href="${{http:{host(m % hosts)}}}/{m}">{m}</a>' for m in links)
        site[host(n % hosts)]["routes"][f"/{n}"] = {"body": f"<html>{body}</html>", "delay": delay}
    return site


def host(number: int) -> str:
    return HOST if not number else f"h{number}.stop.test"


def pages_of(web: Web) -> Counter[str]:
    """How often each page was asked for."""
    return Counter(row.target for row in web.requests if row.target not in ASIDE)


def settings(web: Web, path: str, **more: Any) -> dict[str, Any]:
    return {
        "HERITRIX_SEEDS": [web.url(HOST, path)],
        "HERITRIX_SURTS": ["+http://(test,stop,"],
        "HERITRIX_DNS_SERVERS": [web.dns],
        "CONCURRENT_REQUESTS": 8,
        **more,
    }


def log_of(made: Project) -> str:
    """What the crawl that runs has said so far."""
    path = made.folder / "log.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def begin(made: Project) -> subprocess.Popen[str]:
    """Start a crawl whose log can be read meanwhile."""
    return made.start("-s", f"LOG_FILE={made.folder / 'log.txt'}")


def once(made: Project, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)


def twice(made: Project, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    until(process, lambda: "stopping:" in log_of(made), "it began to stop")
    process.send_signal(signal.SIGINT)


def terminated(made: Project, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)


def killed(made: Project, process: subprocess.Popen[str]) -> None:
    process.kill()


#: How it is stopped, and how many pages may then be fetched twice: none, or those in flight and in the last flush.
WAYS: dict[str, tuple[Callable[[Project, subprocess.Popen[str]], None], int]] = {
    "Ctrl-C": (once, 0),
    "Ctrl-C twice": (twice, 8 + 20),
    "SIGTERM": (terminated, 0),
    "kill -9": (killed, 8 + 20),
}


@pytest.mark.parametrize("way", ["Ctrl-C", "Ctrl-C twice", "kill -9", pytest.param("SIGTERM", marks=pytest.mark.long)])
def test_stopped_and_resumed(serve: Serve, project: Any, way: str) -> None:
    stop, repeated = WAYS[way]
    pages = 240
    web = serve(tree(pages, 6))
    made = project(settings(web, "/0"))
    process = begin(made)
    until(process, lambda: sum(pages_of(web).values()) >= 60, "60 pages were asked for")
    stop(made, process)
    made.finish(process, timeout=40)
    assert sum(pages_of(web).values()) < pages, "the stop came too late to say anything"

    resumed = made.run()
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming the crawl" in resumed.stderr
    asked = pages_of(web)
    assert set(asked) == {f"/{n}" for n in range(pages)}
    assert sum(asked.values()) - pages <= repeated
    everything = {web.url(host(n % 6), f"/{n}") for n in range(pages)}
    assert everything <= set(archived(resumed))
    assert all(resumed.statuses[uri] == [200] for uri in everything) or repeated
    assert everything <= set(resumed.statuses)


@pytest.mark.parametrize("pages", [450, pytest.param(4000, marks=pytest.mark.long)])
def test_pc001_killed_while_requests_wait(serve: Serve, project: Any, pages: int) -> None:
    """PC-001: a tree of 4000 pages, 10 ms each, killed when part of it was fetched (6 s were 900 pages there)."""
    web = serve(tree(pages, 8))
    made = project(settings(web, "/0"))
    process = begin(made)
    until(process, lambda: sum(pages_of(web).values()) >= pages * 2 // 9, "part of the pages were asked for")
    process.kill()
    made.finish(process)
    before = pages_of(web)
    assert len(before) < pages
    resumed = made.run(timeout=300)
    assert resumed.returncode == 0, resumed.stderr
    asked = pages_of(web)
    assert set(asked) == {f"/{n}" for n in range(pages)}
    assert sum(asked.values()) - pages <= 8 + 20
    assert {web.url(host(n % 8), f"/{n}") for n in range(pages)} <= set(archived(resumed))


def test_pc007_a_chain_goes_on_to_its_end(serve: Serve, project: Any) -> None:
    """PC-007: /1 → /2 → /3 ..., stopped with Ctrl-C at /14."""
    chain = {
        HOST: {
            "routes": {"/robots.txt": ROBOTS, "/40": {"body": "the end"}},
            "patterns": [[r"/(\d+)", {"body": '<a href="/$+1">next</a>', "delay": 0.02}]],
        }
    }
    web = serve(chain)
    made = project(settings(web, "/1", HERITRIX_MAX_HOPS=50))
    process = begin(made)
    until(process, lambda: pages_of(web)["/14"] > 0, "/14 was asked for")
    process.send_signal(signal.SIGINT)
    made.finish(process)
    reached = len(pages_of(web))
    assert 14 <= reached < 40
    resumed = made.run()
    assert resumed.returncode == 0, resumed.stderr
    assert pages_of(web) == Counter({f"/{n}": 1 for n in range(1, 41)})


@pytest.mark.long
def test_pc013_a_trickling_response_does_not_hold_the_stop(serve: Serve, project: Any) -> None:
    """PC-013: stop while one response trickles 1 byte per second; also when that happens again after a resume."""
    again = 2
    page = {"body": '<a href="/next">next</a>'}
    trickle = {"fill": 1000, "drip": [1, 1.0], "cases": [{"if": {"nth_from": again + 1}, "then": page}]}
    web = serve({HOST: {"routes": {"/robots.txt": ROBOTS, "/": trickle, "/next": {"body": "next"}}}})
    made = project(settings(web, "/", HERITRIX_STOP_GRACE_SECONDS=1))
    for nth in range(1, again + 1):
        process = begin(made)
        until(process, lambda nth=nth: pages_of(web)["/"] == nth, "the page trickles")
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        stopped = made.finish(process, timeout=20)
        assert time.monotonic() - began < 8, "one second of grace, and the rest of a stop"
        assert stopped.returncode == 3, "ended by the operator"
        uri = web.url(HOST)
        assert uri not in stopped.statuses, "what was cut off was not fetched"
        assert uri not in archived(stopped)
    resumed = made.run()
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.statuses[uri] == [200]
    assert resumed.statuses[web.url(HOST, "/next")] == [200]
    assert archived(resumed).count(uri) == 1


def test_within_the_grace_time_a_fetch_ends_by_itself(serve: Serve, project: Any) -> None:
    web = serve({HOST: {"routes": {"/robots.txt": ROBOTS, "/": {"fill": 30, "drip": [10, 0.3]}}}})
    made = project(settings(web, "/"))
    process = begin(made)
    until(process, lambda: pages_of(web)["/"] == 1, "the page trickles")
    process.send_signal(signal.SIGINT)
    stopped = made.finish(process)
    assert stopped.statuses[web.url(HOST)] == [200]
    assert archived(stopped).count(web.url(HOST)) == 1


def test_a_finished_job_begins_a_new_crawl(serve: Serve, project: Any) -> None:
    """The frontier begins afresh, WARCs stay, logs are moved aside."""
    web = serve(tree(7, 2))
    made = project(settings(web, "/0"))
    first = made.run()
    assert first.returncode == 0
    log = (first.jobdir / "logs" / "crawl.log").read_bytes()
    second = made.run()
    assert second.returncode == 0
    assert "resuming" not in second.stderr
    assert pages_of(web) == Counter({f"/{n}": 2 for n in range(7)})
    assert Counter(archived(second))[web.url(HOST, "/0")] == 2
    aside = [path for path in (first.jobdir / "logs").iterdir() if path.name.startswith("crawl.log.")]
    assert [path.read_bytes() for path in aside] == [log]
    assert second.statuses[web.url(HOST, "/0")] == [200]


@pytest.mark.long
def test_a_new_crawl_can_be_forced(serve: Serve, project: Any) -> None:
    web = serve(tree(60, 3, delay=0.05))
    made = project(settings(web, "/0"))
    process = begin(made)
    until(process, lambda: len(pages_of(web)) >= 10, "10 pages were asked for")
    process.send_signal(signal.SIGINT)
    made.finish(process)
    before = pages_of(web)
    assert len(before) < 60
    crawl = made.run("-s", "HERITRIX_NEW_CRAWL=True")
    assert crawl.returncode == 0
    assert "resuming" not in crawl.stderr
    assert pages_of(web) - before == Counter({f"/{n}": 1 for n in range(60)})
