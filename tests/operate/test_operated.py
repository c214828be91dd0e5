"""Is a crawl paused, saved, killed, begun again elsewhere, steered and ended, and do its numbers stay right?"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.record import stands
from tests.durability.watch import until

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.conftest import Serve
    from tests.crawls import Project

SITES = 10


def hosts(pages: int) -> dict[str, Any]:
    """Sites with so many pages in all: each page links to the ten that follow."""
    each = pages // SITES
    sites: dict[str, Any] = {}
    for site in range(SITES):
        routes = {"/robots.txt": {"status": 404}, "/favicon.ico": {"status": 404}}
        for page in range(each):
            links = [f'<a href="/{number}">x</a>' for number in range(page + 1, min(page + 11, each))]
            routes[f"/{page}"] = {"body": f"<html>{page}{''.join(links)}</html>"}
        sites[f"s{site}.operated.test"] = {"routes": routes, "default": {"body": "another page"}}
    return sites


def told(jobdir: Path) -> dict[str, Any] | None:
    try:
        status = ask(jobdir, {"do": "status"})
    except ControlError:
        return None
    return status if "frontier" in status else None


def finished(jobdir: Path) -> int:
    status = told(jobdir)
    return 0 if status is None else sum(status["frontier"][name] for name in ("succeeded", "failed", "disregarded"))


def lines(jobdir: Path, *suffixes: str) -> list[str]:
    """The lines of crawl.log's parts, in order; without suffixes of all."""
    logs = jobdir / "logs"
    parts = [logs / f"crawl.log{suffix}" for suffix in suffixes] or sorted(logs.glob("crawl.log*"))
    return [line for part in parts for line in part.read_text().splitlines()]


def first_job(made: Project, pages: int) -> tuple[str, str]:
    """Paused, saved twice, killed; the names of both checkpoints."""

    def do(name: str, /, **more: Any) -> dict[str, Any]:
        return ask(made.jobdir, {"do": name, **more}, timeout=60)

    crawl = made.start()
    until(crawl, lambda: finished(made.jobdir) > pages // 10)
    do("pause")
    until(crawl, lambda: do("status")["state"] == "PAUSED")
    first = do("checkpoint", remark="while it is paused")
    assert first["checkpoint"].startswith("cp00001-")
    assert do("checkpoint") == {"ok": True, "protocol": 1, "checkpoint": None, "reason": _no(first["checkpoint"])}
    do("unpause")
    until(crawl, lambda: finished(made.jobdir) > pages // 4)
    begun = time.time_ns()
    second = do("checkpoint")
    assert second["paused_ms"] < 2000
    until(crawl, lambda: finished(made.jobdir) > pages // 3)
    # those of the settings, as of the checkpoint
    report = made.jobdir / "reports" / "responsecode-report.txt"
    until(crawl, lambda: report.exists() and report.stat().st_mtime_ns > begun)
    assert report.read_text().startswith("[#urls] [rescode]\n")
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    assert [each.name for each in checkpoints.listed(made.jobdir)] == [first["checkpoint"], second["checkpoint"]]
    assert stands(made.jobdir).end == "FINISHED_ABNORMAL"
    return first["checkpoint"], second["checkpoint"]


def _no(name: str) -> str:
    return f"no progress since {name}"


def second_job(made: Project, crawl: subprocess.Popen[str], other: Path, pages: int, site: str) -> str:
    """Steered by files and commands, saved and ended by the operator; the checkpoint's name."""
    until(crawl, lambda: finished(other) > pages // 2)
    (other / "action" / "more.s.schedule").write_text(f"{site}/from-a-file\n")
    assert ask(other, {"do": "add", "name": "REJECT_REGEXES", "value": ".*/refused.*"})["check"] is False
    assert ask(other, {"do": "seeds", "lines": [f"{site}/from-a-command"]})["queued"] == 1
    until(crawl, lambda: (other / "actions-done").exists() and any((other / "actions-done").iterdir()))
    third = ask(other, {"do": "checkpoint"}, timeout=60)
    assert third["checkpoint"].startswith("cp00003-")
    ask(other, {"do": "set", "values": {"HERITRIX_MIN_DELAY_MS": 50, "HERITRIX_MAX_DELAY_MS": 50}})
    ask(other, {"do": "terminate"})
    ended = made.finish(crawl, 60)
    assert ended.returncode == 3, ended.stderr
    assert "Traceback" not in ended.stderr
    assert stands(other).end == "ABORTED"
    return str(third["checkpoint"])


@pytest.mark.crawl
@pytest.mark.parametrize("pages", [500, pytest.param(5000, marks=pytest.mark.long)])
def test_a_crawl_is_operated(serve: Serve, project: Any, tmp_path: Path, pages: int) -> None:
    web = serve(hosts(pages))
    made = project(
        {
            "HERITRIX_SEEDS": [web.url(f"s{site}.operated.test", "/0") for site in range(SITES)],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_MAX_HOPS": pages,
            "HERITRIX_FORGET_ALL_BUT_LATEST": False,
            "HERITRIX_ACTION_INITIAL_DELAY_SECONDS": 0.1,
            "HERITRIX_ACTION_DELAY_SECONDS": 0.1,
            "HERITRIX_MIN_DELAY_MS": 20,
            "HERITRIX_MAX_DELAY_MS": 20,
            "HERITRIX_EXTRACTORS": ["ExtractorHTML"],
            # nobody reads what it says while it runs
            "LOG_LEVEL": "INFO",
        },
        web=web,
    )
    first, second = first_job(made, pages)
    other = tmp_path / "other"
    begun = made.jobdir / "checkpoints" / second
    crawl = made.start("-s", f"HERITRIX_CHECKPOINT={begun}", jobdir=other)
    third = second_job(made, crawl, other, pages, web.url("s0.operated.test", "").rstrip("/"))
    whole = made.run(jobdir=other)
    assert whole.returncode == 0, whole.stderr

    # what the crawl did before the checkpoint, and all that came of it afterwards
    log = [*lines(made.jobdir, f".{first}", f".{second}"), *lines(other, f".{third}", "")]
    rows = [line.split() for line in log]
    assert len({row[3] for row in rows}) == len(rows)
    uris = {row[3] for row in rows if row[3].startswith("http") and row[3].endswith(tuple("0123456789"))}
    assert len(uris) == pages
    assert {row[3].rpartition("/")[2] for row in rows} >= {"from-a-file", "from-a-command"}
    stats = {name.removeprefix("heritrix/"): value for name, value in whole.stats.items()}
    assert sum(stats[f"frontier/{name}"] for name in ("succeeded", "failed", "disregarded")) == len(rows)
    about = checkpoints.listed(other)[-1].about
    assert about.counts["finished"] <= len(rows)
    # the counters that the last checkpoint holds are those of the lines up to it
    upto = [line.split() for line in log[: about.counts["finished"]]]
    codes = Counter(row[1] for row in upto)
    assert {code: about.tallies[f"status/{code}"] for code in codes} == dict(codes)
