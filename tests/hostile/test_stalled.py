"""Does a crowd of hosts that say nothing keep the others waiting?

Figures: ``python -m pytest -m long tests/hostile/test_stalled.py -s``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.web import Web, running

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crawls import Project

QUICK, STALLED, PAGES = 20, 2000, 900
SECONDS = 30.0

pytestmark = pytest.mark.crawl


def site(stalled: int) -> dict[str, Any]:
    links = "".join(f"<a href=/p/{number}>n</a>" for number in range(PAGES))
    quick = {
        "routes": {"/": {"body": f"<html>{links}</html>"}},
        "patterns": [["/p/.*", {"body": "<html>a page</html>"}]],
    }
    return {
        **{f"quick{number}.test": quick for number in range(QUICK)},
        **{f"stalled{number}.test": {"default": {"stall": True}} for number in range(stalled)},
    }


def crawling(project: Callable[..., Project], web: Web, threads: int) -> tuple[Project, subprocess.Popen[str]]:
    settings = {
        "HERITRIX_SEEDS": [web.url(name) for name in web.hosts],
        "HERITRIX_DELAY_FACTOR": 0,
        "HERITRIX_MIN_DELAY_MS": 100,
        "HERITRIX_MAX_DELAY_MS": 100,
        "HERITRIX_SO_TIMEOUT_MS": 600_000,
        "CONCURRENT_REQUESTS": threads,
        "LOG_LEVEL": "ERROR",
    }
    made = project(settings, web=web)
    return made, made.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until(true: Callable[[], Any], process: subprocess.Popen[str], seconds: float) -> None:
    """Waits by way of the child, so that nothing sleeps here."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "nothing came of it in time"
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the crawl ended with {process.returncode}")


def fetched(web: Web, since: float) -> Counter[str]:
    """Pages by quick host, up to ``SECONDS`` after ``since``."""
    return Counter(
        exchange.host
        for exchange in web.requests
        if (exchange.host or "").startswith("quick") and since <= exchange.time <= since + SECONDS
    )


def grown(process: subprocess.Popen[str]) -> tuple[int, int]:
    """Open files, and megabytes of memory of its own."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("RssAnon")]
    return len(os.listdir(f"/proc/{process.pid}/fd")), int(line.split()[1]) // 1024


def measured(project: Callable[..., Project], stalled: int) -> tuple[int, int, int]:
    """Pages of the quick hosts in the time, open files and memory at its end."""
    with running(site(stalled)) as web:
        _, process = crawling(project, web, 2100)

        def begun() -> bool:
            return sum((exchange.host or "").startswith("quick") for exchange in web.requests) >= QUICK

        def all_stalled() -> bool:
            return sum((exchange.host or "").startswith("stalled") for exchange in web.requests) >= stalled

        wait_until(begun, process, 120)
        wait_until(all_stalled, process, 120)
        since = time.time()
        wait_until(lambda: time.time() > since + SECONDS, process, SECONDS + 60)
        files, memory = grown(process)
        process.kill()
        process.wait()
        return fetched(web, since).total(), files, memory


@pytest.mark.long
def test_quick_hosts_beside_two_thousand_that_stall(project: Callable[..., Project]) -> None:
    room = STALLED * 3
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(room, hard)), hard))
    alone, _, _ = measured(project, 0)
    beside, files, memory = measured(project, STALLED)
    print(f"{alone} pages alone, {beside} beside ({beside / alone:.0%}), {files} open files, {memory} MB")
    assert beside >= 0.9 * alone
    assert files <= 2300
    assert memory <= 400


def test_a_status_says_that_all_slots_wait(project: Callable[..., Project]) -> None:
    with running({f"stalled{number}.test": {"default": {"stall": True}} for number in range(4)}) as web:
        made, process = crawling(project, web, 3)
        wait_until(lambda: len(web.requests) >= 3, process, 60)
        told = subprocess.run(
            ["python", "-m", "scrapy", "heritrix", "status", str(made.jobdir), "--json"],
            cwd=made.folder,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PATH": f"{Path(os.sys.executable).parent}:{os.environ['PATH']}"},  # type: ignore[attr-defined]
        )
        process.kill()
        process.wait()
    fetching = json.loads(told.stdout)["fetching"]
    assert (fetching["slots"], fetching["in_use"], fetching["waiting"]) == (3, 3, 3)
    assert fetching["all_wait"]
    assert fetching["reason"].startswith("all 3 slots wait: for stalled")
    assert len(fetching["waits_for"]) == 3
