"""Is a checkpoint whole, and does a crawl begin with it where the other was?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate import checkpoints, record
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.reach import Job
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import open_store
from tests.durability.watch import until
from tests.frontier.world import make

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


#: One more part of a checkpoint, which fails as nobody expects while a file is there.
BROKEN = """
from pathlib import Path
from heritrix_scrapy.crawl import Crawl

class Broken:
    def __init__(self, crawler):
        Crawl.of(crawler).durables["broken"] = self
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    def checkpoint(self, directory):
        if Path("break").exists():
            raise LookupError("a part is broken")
        return lambda: None
"""


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


def rows(jobdir: Path) -> list[tuple[bytes, bytes]]:
    """All rows of a stopped job's frontier."""
    store = open_store(jobdir / "frontier")
    try:
        return list(store.range(b""))
    finally:
        store.close()


@pytest.mark.crawl
def test_a_crawl_is_saved_while_it_runs_and_goes_on_elsewhere(serve: Serve, project: Any, tmp_path: Path) -> None:
    """PC-009, PC-010."""
    web = serve(SITE)
    given = {**of_seed(web), "EXTENSIONS": {"crawl_project.broken.Broken": 700}}
    made = project(given, web=web, modules={"broken": BROKEN})
    crawl = made.start()
    until(crawl, lambda: len(web.requests) > 10)
    ask(made.jobdir, {"do": "pause"})
    until(crawl, lambda: ask(made.jobdir, {"do": "status"})["state"] == "PAUSED")
    # the logs cannot be ended: nothing is left of the checkpoint, and the next one succeeds though nothing has happened
    logs = made.jobdir / "logs"
    now = int(time.time() * 1000)
    in_the_way = [logs / f"crawl.log.{checkpoints.name_of(1, now + second * 1000)}" for second in range(30)]
    for path in in_the_way:
        path.mkdir()
    with pytest.raises(ControlError, match="could not be made"):
        ask(made.jobdir, {"do": "checkpoint"})
    assert checkpoints.found(made.jobdir) == []
    for path in in_the_way:
        path.rmdir()
    # nor of one that fails otherwise
    (made.folder / "break").touch()
    with pytest.raises(ControlError, match="a part is broken"):
        ask(made.jobdir, {"do": "checkpoint"})
    (made.folder / "break").unlink()
    assert checkpoints.found(made.jobdir) == []
    assert not list(logs.glob("*.cp*"))
    first = ask(made.jobdir, {"do": "checkpoint", "remark": "before the change"})
    assert first["checkpoint"].startswith("cp00003-")
    assert ask(made.jobdir, {"do": "checkpoint"})["checkpoint"] is None
    ask(made.jobdir, {"do": "unpause"})
    until(crawl, lambda: len(web.requests) > 25)
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    [saved] = checkpoints.listed(made.jobdir)
    assert saved.about.remark == "before the change"
    assert (saved.path / "valid").read_text().startswith("           timestamp  discovered")
    before = (logs / f"crawl.log.{saved.name}").read_text().splitlines()
    assert len(before) == saved.about.counts["finished"]
    assert (logs / f"frontier.recover.gz.{saved.name}").exists()
    # twice from the same one: each time the same state
    for name in ("one", "two"):
        checkpoints.begin(str(saved.path), tmp_path / name, 0)
    assert rows(tmp_path / "one") == rows(tmp_path / "two")
    other = tmp_path / "other"
    done = made.run("-s", f"HERITRIX_CHECKPOINT={made.jobdir}", jobdir=other)
    assert done.returncode == 0, done.stderr
    both = [line.split()[3] for line in [*before, *lines(other)]]
    assert sorted(both) == sorted(set(both))
    assert len([uri for uri in both if uri.startswith("http") and not uri.endswith("robots.txt")]) == PAGES + 2
    # a crawl has come of it meanwhile, and it begins with the same state still
    checkpoints.begin(str(saved.path), tmp_path / "three", 0)
    assert rows(tmp_path / "three") == rows(tmp_path / "one")
    refused = made.run("-s", f"HERITRIX_CHECKPOINT={made.jobdir}", jobdir=other)
    assert refused.returncode == 1
    assert "expected a JOBDIR without a crawl" in refused.stderr


def test_a_job_goes_back_to_its_own(tmp_path: Path) -> None:
    jobdir = tmp_path / "job"
    store = open_store(jobdir / "frontier")
    store.write([(b"n1", b"then"), (keys.LENGTHS, b"lengths")])
    path = checkpoints.folder(jobdir) / "cp00007-20300101000000"
    path.mkdir(parents=True)
    store.checkpoint(path / "frontier")()
    store.write([(b"n1", b"now")])
    with pytest.raises(checkpoints.CheckpointError, match="no whole checkpoint"):
        checkpoints.chosen(path.name, jobdir)
    checkpoints.seal(path, checkpoints.About(name=path.name, ran_ms=5), "words", jobdir)
    store.close()
    (jobdir / "logs").mkdir()
    (jobdir / "logs" / "crawl.log").write_text("a line\n")
    for _ in range(2):
        assert checkpoints.begin("latest", jobdir, 1_900_000_000_000).name == path.name
        found = dict(rows(jobdir))
        assert found[b"n1"] == b"then"
        assert keys.LENGTHS not in found
        shutil.rmtree(jobdir / "frontier.until-20300317174640")
    assert [each.name.startswith("crawl.log.") for each in (jobdir / "logs").iterdir()] == [True]
    assert record.read(jobdir).ran_ms == 5
    assert checkpoints.next_number([record.read(jobdir).checkpoint]) == 8
    with pytest.raises(SystemExit, match="there is no checkpoint cp00008"):
        checkpoints.begin("cp00008-20300101000000", jobdir, 0)


def test_a_checkpoint_of_a_stopped_job_has_its_reports_written(tmp_path: Path) -> None:
    open_store(tmp_path / "frontier").close()
    project = Settings({"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/"})
    with Job(tmp_path, project) as job:
        job.perform({"do": "seeds", "lines": ["http://www.stopped.test/"]})
    with Job(tmp_path, Settings(dict(project) | {"HERITRIX_REPORTS_AT_CHECKPOINTS": False})) as job:
        assert job.perform({"do": "checkpoint"})["checkpoint"]
    assert not (tmp_path / "reports").exists()
    with Job(tmp_path, project) as job:
        job.perform({"do": "seeds", "lines": ["http://www.other.test/"]})
    with Job(tmp_path, project) as job:
        made = job.perform({"do": "checkpoint"})
    assert checkpoints.listed(tmp_path)[-1].name == made["checkpoint"]
    reports = tmp_path / "reports"
    assert {"crawl-report.txt", "frontier-summary-report.txt"} <= {path.name for path in reports.iterdir()}
    assert "http://www.stopped.test/" in (reports / "seeds-report.txt").read_text()


def test_nothing_to_begin_with(tmp_path: Path) -> None:
    """PC-011: an empty frontier is not saved, so that no crawl begins with it and is over at once."""
    open_store(tmp_path / "frontier").close()
    project = Settings({"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/"})
    with Job(tmp_path, project) as job, pytest.raises(Refused, match="nothing is queued"):
        job.perform({"do": "checkpoint"})
    assert checkpoints.listed(tmp_path) == []
    with pytest.raises(SystemExit, match="there is no checkpoint in"):
        checkpoints.begin(str(tmp_path), tmp_path / "other", 0)


def test_older_ones_are_forgotten_and_their_logs_put_together(tmp_path: Path) -> None:
    names = [checkpoints.name_of(number, number * 1000) for number in (1, 2, 3)]
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in names:
        path = checkpoints.folder(tmp_path) / name
        path.mkdir(parents=True)
        checkpoints.seal(path, checkpoints.About(name=name), "words", tmp_path)
        (logs / f"crawl.log.{name}").write_text(f"{name}\n")
    (logs / f"crawl.log.{names[0]}").rename(logs / f"crawl.log.{names[0]}.merging{len(names[0]) + 1}")
    with (logs / f"crawl.log.{names[0]}.merging{len(names[0]) + 1}").open("a") as torn:
        torn.write(names[1][:5])  # a process that died while it put them together
    assert checkpoints.forget(tmp_path, names[2]) == names[:2]
    checkpoints.merge(logs, ["crawl.log", "uri-errors.log"], names[2])
    assert [path.name for path in logs.iterdir()] == [f"crawl.log.{names[2]}"]
    assert (logs / f"crawl.log.{names[2]}").read_text().split() == names
    assert [each.name for each in checkpoints.listed(tmp_path)] == names[2:]
    (checkpoints.folder(tmp_path) / "cp00004-20300101000000").mkdir()
    assert checkpoints.sweep(tmp_path) == ["cp00004-20300101000000"]


KILLS = """
import os, random, sys, threading, time
from pathlib import Path
from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import open_store
jobdir, seed = Path(sys.argv[1]), int(sys.argv[2])
dice = random.Random(seed)
checkpoints.sweep(jobdir)
store = open_store(jobdir / "frontier")
number = int(store.get(b"last") or b"0")
threading.Timer(dice.uniform(0.05, 0.6), lambda: os.kill(os.getpid(), 9)).start()
while True:
    for _ in range(dice.randrange(1, 8)):
        number += 1
        rows = [(b"n%09d" % each, bytes(900)) for each in range(number * 300, number * 300 + 300)]
        store.write([*rows, (b"last", b"%d" % number)])
    name = checkpoints.name_of(checkpoints.next_number(path.name for path in checkpoints.found(jobdir)), number)
    path = checkpoints.folder(jobdir) / name
    path.mkdir(parents=True)
    complete = store.checkpoint(path / "frontier")
    told = checkpoints.About(name=name, counts={"rows": number})
    store.write([(b"last", b"%d" % number)])
    complete()
    checkpoints.seal(path, told, "words", jobdir)
    checkpoints.forget(jobdir, name)
"""


@pytest.mark.parametrize("rounds", [4, pytest.param(100, marks=pytest.mark.long)])
def test_every_listed_checkpoint_is_whole_whenever_the_process_dies(tmp_path: Path, rounds: int) -> None:
    jobdir = tmp_path / "job"
    begun = 0
    for seed in range(rounds):
        ended = subprocess.run([sys.executable, "-c", KILLS, str(jobdir), str(seed)], capture_output=True, check=False)
        assert ended.returncode == -9, ended.stderr
        for each in checkpoints.listed(jobdir):
            begun += 1
            other = tmp_path / f"{seed}-{each.name}"
            checkpoints.begin(str(each.path), other, 0)
            found = dict(rows(other))
            assert found[b"last"] == b"%d" % each.about.counts["rows"]
            assert len(found) == each.about.counts["rows"] * 300 + 2
            shutil.rmtree(other)
    assert begun >= rounds // 3


@pytest.mark.long
def test_a_million_uris_are_saved_in_moments(tmp_path: Path) -> None:
    """The crawl waits 200 ms at most, and the checkpoint is whole after 2 seconds."""
    frontier, clock, _ = make(open_store(tmp_path / "frontier"))
    settings = default_view(follow="all")
    for site in range(1000):
        pages = [CrawlURI(f"http://s{site}.example.org/{page}", path="L") for page in range(1000)]
        for curi in pages:
            curi.settings = settings
        frontier.add(pages)
    path = checkpoints.folder(tmp_path) / checkpoints.name_of(1, 0)
    path.mkdir(parents=True)
    frontier.flush(clock.now)
    began = time.monotonic()
    complete = frontier.checkpoint(path / "frontier")
    waited = time.monotonic() - began
    complete()
    checkpoints.seal(path, checkpoints.About(name=path.name), "words", tmp_path)
    seconds = time.monotonic() - began
    print(f"waited {waited * 1000:.0f} ms, complete after {seconds * 1000:.0f} ms")
    assert waited <= 0.2
    assert seconds <= 2
    began = time.monotonic()
    checkpoints.begin(str(path), tmp_path / "other", 0)
    print(f"begun in {(time.monotonic() - began) * 1000:.0f} ms")
    assert sum(key[:1] == b"q" for key, _ in rows(tmp_path / "other")) == 1_000_000
