"""Do commands and signals that come at a bad moment leave a job that is whole?"""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.record import stands
from tests.durability.test_disk_full import noise, small_disk
from tests.durability.watch import responses, until
from tests.operate.test_checkpoints import PAGES, SITE, of_seed

if TYPE_CHECKING:
    import subprocess

    from tests.conftest import Serve
    from tests.crawls import Project

pytestmark = pytest.mark.crawl

HOST = "www.saved.test"
PROFILES = ["modern", pytest.param("heritrix", marks=pytest.mark.long)]

#: Checkpoints of the project wait, once their files are linked, until a file is there.
HELD = """
import time
from pathlib import Path
from heritrix_scrapy.crawl import Crawl

class Held:
    def __init__(self, crawler):
        Crawl.of(crawler).durables["held"] = self
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    def checkpoint(self, directory):
        Path("holding").touch()
        def complete():
            while not Path("go").exists():
                time.sleep(0.01)
        return complete
"""


def ignored(pid: int, number: int) -> bool:
    """Whether a process ignores a signal: as it does when it has heard it twice."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    mask = next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn:"))
    return bool(mask >> (number - 1) & 1)


def state(jobdir: Path) -> str:
    try:
        return str(ask(jobdir, {"do": "status"})["state"])
    except ControlError:
        return ""


def paused(made: Project, crawl: subprocess.Popen[str]) -> None:
    until(crawl, lambda: state(made.jobdir) != "")
    ask(made.jobdir, {"do": "pause"})
    until(crawl, lambda: state(made.jobdir) == "PAUSED")


def whole(web: Any, made: Project, jobdir: Path | None = None, *, repeated: int = 0) -> None:
    """The job goes on to its end, and every page was fetched: once, but for so many."""
    done = made.run(jobdir=jobdir or made.jobdir)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    asked = Counter(row.target for row in web.requests if row.target.strip("/").isdigit())
    assert set(asked) == {f"/{number}" for number in range(PAGES)}
    assert sum(asked.values()) - PAGES <= repeated


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("way", ["SIGTERM", pytest.param("Ctrl-C twice", marks=pytest.mark.long)])
def test_a_stop_while_a_checkpoint_is_made(serve: Serve, project: Any, way: str, profile: str) -> None:
    web = serve(SITE)
    given = {**of_seed(web), "HERITRIX_PROFILE": profile, "EXTENSIONS": {"crawl_project.held.Held": 700}}
    made = project({**given, "HERITRIX_CHECKPOINT_INTERVAL_MINUTES": 0.01}, web=web, modules={"held": HELD})
    log = made.folder / "log.txt"
    crawl = made.start("-s", f"LOG_FILE={log}")
    until(crawl, lambda: (made.folder / "holding").exists())
    with pytest.raises(ControlError, match="a checkpoint is being made"):
        ask(made.jobdir, {"do": "checkpoint"})
    crawl.send_signal(signal.SIGTERM if way == "SIGTERM" else signal.SIGINT)
    until(crawl, lambda: "STOPPING" in (made.jobdir / "job.log").read_text())
    assert not any((path / "valid").exists() for path in checkpoints.found(made.jobdir))
    if way != "SIGTERM":
        crawl.send_signal(signal.SIGINT)
        # what it says of it has to wait for the checkpoint
        until(crawl, lambda: ignored(crawl.pid, signal.SIGINT))
    (made.folder / "go").touch()
    ended = made.finish(crawl, 60)
    assert ended.returncode == 3, log.read_text()
    for each in checkpoints.listed(made.jobdir):
        other = made.folder / each.name
        checkpoints.begin(str(each.path), other, 0)
        assert (other / "frontier" / "CURRENT").exists()
    assert checkpoints.listed(made.jobdir)
    whole(web, made, repeated=0 if way == "SIGTERM" else 28)


@pytest.mark.long
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_checkpoint_while_it_pauses_and_an_end_while_it_is_paused(
    serve: Serve, project: Any, tmp_path: Path, profile: str
) -> None:
    """What is still in flight at the checkpoint is queued in it."""
    slow = {"/slow": {"fill": 20, "drip": [2, 0.2]}, "/": {"body": '<a href="/slow">s</a>'}}
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404}, **slow}}})
    made = project({**of_seed(web), "HERITRIX_PROFILE": profile}, web=web)
    uri = web.url(HOST, "/slow")
    crawl = made.start()
    until(crawl, lambda: any(row.target == "/slow" for row in web.requests))
    assert ask(made.jobdir, {"do": "pause"})["state"] == "PAUSING"
    saved = ask(made.jobdir, {"do": "checkpoint"})
    assert saved["checkpoint"], saved
    assert state(made.jobdir) == "PAUSING"
    until(crawl, lambda: state(made.jobdir) == "PAUSED")
    ask(made.jobdir, {"do": "terminate"})
    ended = made.finish(crawl, 60)
    assert ended.returncode == 3, ended.stderr
    assert ended.statuses[uri] == [200]
    words = [line.split()[2] for line in (made.jobdir / "job.log").read_text().splitlines() if " INFO " in line]
    assert [word for word in words if word.isupper() and word != "CHECKPOINTED"][-4:] == (
        ["PAUSING", "PAUSED", "STOPPING", "FINISHED"]
    )
    assert stands(made.jobdir).end == "ABORTED"
    begun = made.run("-s", f"HERITRIX_CHECKPOINT={saved['path']}", jobdir=tmp_path / "other")
    assert begun.returncode == 0, begun.stderr
    log = (tmp_path / "other").glob("**/crawl.log")
    assert any(f" {uri} " in line for path in log for line in path.read_text().splitlines())


def test_going_on_while_there_is_no_room(serve: Serve, project: Any) -> None:
    """Told to go on too early the crawl pauses again, and loses nothing."""
    number = 40
    routes = {f"/{n}": noise(n, 20_000) for n in range(number)}
    page = "".join(f'<a href="/{n}">{n}</a>' for n in range(number))
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404}, "/": {"body": page}, **routes}}})
    made = project({**of_seed(web), "HERITRIX_PAUSE_THRESHOLD_MIB": 0}, web=web)
    with small_disk(made.jobdir / "warcs", "200k") as disk:
        crawl = made.start(prefix=disk.prefix)
        for _ in range(3):
            until(crawl, lambda: state(made.jobdir) == "PAUSED")
            ask(made.jobdir, {"do": "unpause"})
        until(crawl, lambda: state(made.jobdir) == "PAUSED")
        disk.grow("64m")
        done = made.finish(crawl, 60)
        assert done.returncode == 0, done.stderr
        found = Counter(uri for path in disk.inside.glob("*.warc.gz") for uri in responses(path))
    assert {web.url(HOST, f"/{n}") for n in range(number)} <= set(found)
    assert set(found.values()) == {1}
    assert all(row == [200] for uri, row in done.statuses.items() if uri.rpartition("/")[2].isdigit())


def test_no_room_for_a_checkpoint(serve: Serve, project: Any) -> None:
    """It fails as a whole, says so, and the crawl goes on; with room again the next one is made."""
    web = serve(SITE)
    made = project(of_seed(web), web=web)
    with small_disk(made.jobdir / "checkpoints", "8k") as disk:
        crawl = made.start(prefix=disk.prefix)
        until(crawl, lambda: len(web.requests) > 8)
        with pytest.raises(ControlError, match=r"could not be made.*No space left"):
            ask(made.jobdir, {"do": "checkpoint"})
        assert list(disk.inside.iterdir()) == []
        assert state(made.jobdir) == "RUNNING"
        disk.grow("16m")
        told = ask(made.jobdir, {"do": "checkpoint"})
        assert told["checkpoint"].startswith("cp00002-")
        done = made.finish(crawl, 60)
        assert done.returncode == 0, done.stderr
        assert (disk.inside / told["checkpoint"] / "valid").exists()
        # the tables are copies here: another file system has no links to them
        checkpoints.begin(str(disk.inside / told["checkpoint"]), made.folder / "other", 0)
    assert done.stats["heritrix/checkpoints/failed"] == 1
    asked = Counter(row.target for row in web.requests if row.target.strip("/").isdigit())
    assert asked == Counter({f"/{number}": 1 for number in range(PAGES)})


SOURCE = """
import signal
from pathlib import Path

class Slow:
    def seeds(self):
        first = not Path("asked").exists()
        for number in range(30 if first else PAGES):
            yield FIRST + str(number)
        if first:
            Path("asked").touch()
            signal.pause()
"""


@pytest.mark.long
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_killed_while_it_prepares(serve: Serve, project: Any, profile: str) -> None:
    """Seeds are being read: none is lost, and none is fetched twice."""
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "p"}}})
    more = {"HERITRIX_PROFILE": profile, "HERITRIX_SEEDS": [], "HERITRIX_LAUNCH_DIRS": True}
    source = f"FIRST, PAGES = {web.url(HOST)!r}, {PAGES}\n{SOURCE}"
    given = {**of_seed(web), **more, "HERITRIX_SEED_SOURCE": "crawl_project.source.Slow"}
    made = project(given, web=web, modules={"source": source})
    crawl = made.start()
    until(crawl, lambda: (made.folder / "asked").exists())
    assert stands(made.jobdir).state == "PREPARING"
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    told = stands(made.jobdir)
    assert (told.state, told.end) == ("FINISHED", "FINISHED_ABNORMAL")
    whole(web, made)


@pytest.mark.long
def test_a_checkpoint_whose_warcs_are_gone(serve: Serve, project: Any, tmp_path: Path) -> None:
    """Files may have been moved to the archive: a crawl begins with it elsewhere, and the job goes back to it."""
    web = serve(SITE)
    made = project({**of_seed(web), "HERITRIX_FETCH_HISTORY": True}, web=web)
    crawl = made.start()
    until(crawl, lambda: len(web.requests) > 12)
    saved = ask(made.jobdir, {"do": "checkpoint"})
    until(crawl, lambda: len(web.requests) > 20)
    ask(made.jobdir, {"do": "terminate"})
    made.finish(crawl, 60)
    shutil.rmtree(made.jobdir / "warcs")
    for path in (made.jobdir / "logs").glob("crawl.log.cp*"):
        path.unlink()
    elsewhere = made.run("-s", f"HERITRIX_CHECKPOINT={saved['path']}", jobdir=tmp_path / "other")
    back = made.run("-s", f"HERITRIX_CHECKPOINT={saved['checkpoint']}")
    for done, jobdir in ((elsewhere, tmp_path / "other"), (back, made.jobdir)):
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert [path.name for path in (jobdir / "warcs").glob("*.warc.gz")]
    asked = Counter(row.target for row in web.requests if row.target.strip("/").isdigit())
    assert set(asked) == {f"/{number}" for number in range(PAGES)}


def test_a_return_that_was_cut_off_is_completed(tmp_path: Path) -> None:
    for name in (".frontier.restored", "frontier.until-20260101000000", "frontier"):
        (tmp_path / name).mkdir()
    (tmp_path / ".frontier.restored" / "CURRENT").touch()
    assert checkpoints.end_return(tmp_path)
    assert (tmp_path / "frontier" / "CURRENT").exists()
    assert not checkpoints.end_return(tmp_path)
    # one that was still being copied is none
    (tmp_path / "frontier" / "CURRENT").unlink()
    (tmp_path / ".frontier.restored").mkdir()
    (tmp_path / "frontier.until-20260101000000").rmdir()
    assert not checkpoints.end_return(tmp_path)


def test_what_is_told_to_end_twice_waits_for_nothing(serve: Serve, project: Any) -> None:
    """As Heritrix's second terminate; what was in flight stays queued."""
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404}, "/": {"stall": True}}}})
    made = project({**of_seed(web), "HERITRIX_STOP_GRACE_SECONDS": 3600}, web=web)
    crawl = made.start()
    until(crawl, lambda: any(row.target == "/" for row in web.requests))
    assert ask(made.jobdir, {"do": "terminate"})["state"] == "STOPPING"
    until(crawl, lambda: state(made.jobdir) == "STOPPING")
    with pytest.raises(ControlError, match="is ending"):
        ask(made.jobdir, {"do": "set", "values": {"MIN_DELAY_MS": 1}})
    assert ask(made.jobdir, {"do": "terminate"})["state"] == "STOPPING"
    ended = made.finish(crawl, 60)
    assert ended.returncode == 3, ended.stderr
    assert "Traceback" not in ended.stderr
    assert stands(made.jobdir).end == "ABORTED"
    [saved] = checkpoints.listed(made.jobdir)
    assert saved.about.counts["queued"] == 1
