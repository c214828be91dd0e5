"""Is a checkpoint whole, and does a crawl begin with it where the other was?"""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.operate.control import ask
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

PAGES = 60
SITE = {
    "www.saved.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "".join(f'<a href="/{number}">x</a>' for number in range(PAGES))},
        },
        "default": {"body": "page"},
    },
}


def of_seed(web: Any) -> dict[str, Any]:
    return {
        "HERITRIX_SEEDS": [web.url("www.saved.test", "/")],
        "HERITRIX_FOLLOW": "all",
        "HERITRIX_PREFERENCE_EMBED_HOPS": 0,
        "HERITRIX_MIN_DELAY_MS": 20,
        "HERITRIX_MAX_DELAY_MS": 20,
        "HERITRIX_FORGET_ALL_BUT_LATEST": False,
    }


def lines(jobdir: Path, log: str = "crawl.log") -> list[str]:
    """The lines of a log, ended parts included."""
    return [line for path in sorted((jobdir / "logs").glob(f"{log}*")) for line in path.read_text().splitlines()]


@pytest.mark.crawl
def test_a_crawl_is_saved_while_it_runs_and_goes_on_elsewhere(serve: Serve, project: Any, tmp_path: Path) -> None:
    web = serve(SITE)
    made = project(of_seed(web), web=web)
    crawl = made.start()
    until(crawl, lambda: len(web.requests) > 10)
    first = ask(made.jobdir, {"do": "checkpoint", "remark": "before the change"})
    assert first["checkpoint"].startswith("cp00001-")
    assert first["paused_ms"] < 1000
    until(crawl, lambda: len(web.requests) > 20)
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    [saved] = checkpoints.listed(made.jobdir)
    assert saved.about.remark == "before the change"
    print(json.dumps(checkpoints.rows([saved])))
    before = (made.jobdir / "logs" / f"crawl.log.{saved.name}").read_text().splitlines()
    other = tmp_path / "other"
    done = made.run("-s", f"HERITRIX_CHECKPOINT={made.jobdir}", jobdir=other)
    assert done.returncode == 0, done.stderr
    after = lines(other)
    both = [line.split()[3] for line in [*before, *after] if "/robots.txt" not in line and "dns:" not in line]
    assert sorted(both) == sorted(set(both))
    assert len(both) == PAGES + 2
    assert done.stats["heritrix/uris/finished"] == len(after)
