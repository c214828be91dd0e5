"""Has every launch a folder of its own, with all that it wrote, and is the one before settled first?"""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.durability.watch import responses, until
from tests.operate.test_checkpoints import SITE, of_seed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

pytestmark = pytest.mark.crawl

HOST = "www.saved.test"


def launches(jobdir: Path) -> list[Path]:
    """The folders of a job's launches, in their order; the last is the one that is linked."""
    found = sorted(path for path in jobdir.iterdir() if re.fullmatch(r"\d{14}", path.name))
    assert os.readlink(jobdir / "latest") == found[-1].name
    return found


def uris(*folders: Path) -> list[str]:
    """URIs of the crawl logs of launches, in order, rotated parts included."""
    logs = [log for folder in folders for log in sorted((folder / "logs").glob("crawl.log*"), reverse=True)]
    return [line.split()[3] for log in logs for line in log.read_text().splitlines()]


@pytest.mark.parametrize("profile", ["heritrix", pytest.param("modern", marks=pytest.mark.long)])
def test_a_launch_a_resume_and_a_return_to_a_checkpoint(
    serve: Serve, project: Any, tmp_path: Path, profile: str
) -> None:
    web = serve(SITE)
    given = {
        **of_seed(web),
        "HERITRIX_PROFILE": profile,
        "HERITRIX_LAUNCH_DIRS": True,
        "HERITRIX_ACTION_INITIAL_DELAY_SECONDS": 0.05,
        "HERITRIX_ACTION_DELAY_SECONDS": 0.05,
        "HERITRIX_CHECKPOINT_ON_SHUTDOWN": True,
        "HERITRIX_WARC_TEMPLATE": "${prefix}-${serialno}",
    }
    made = project(given, web=web)
    jobdir = made.jobdir
    crawl = made.start()
    until(crawl, lambda: (jobdir / "action").is_dir() and len(web.requests) > 5)
    (jobdir / "action" / "more.schedule").write_text(web.url(HOST, "/from-a-file") + "\n")
    until(crawl, lambda: any((jobdir / "latest").glob("actions-done/*more.schedule")) and len(web.requests) > 12)
    crawl.send_signal(signal.SIGSTOP)
    [first] = launches(jobdir)
    assert [path.suffix for path in (jobdir / "latest" / "warcs").iterdir()] == [".open"]
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    with (first / "logs" / "crawl.log").open("a") as log:
        log.write("a line that no batch knows of\nand a torn o")

    crawl = made.start()
    until(crawl, lambda: len(web.requests) > 30)
    crawl.send_signal(signal.SIGTERM)
    stopped = made.finish(crawl, 60)
    assert stopped.returncode == 3, stopped.stderr
    [_, second] = launches(jobdir)
    assert re.search(r"\([1-9]\d* not recorded, 0 lost", stopped.stderr), stopped.stderr
    assert (first / "logs" / "crawl.log").read_text().endswith("\na line that no batch knows of\n")
    assert uris(second)
    assert (second / "logs" / "frontier.recover.gz").exists()
    assert (second / "job.log").read_text().count("Job launched") == 1
    lines = (jobdir / "latest" / "reports" / "seeds-report.txt").read_text().splitlines()
    assert lines[0] == "[code] [status] [seed] [redirect]"
    assert lines[1].split()[0] == "200"

    # back to what was saved at the end of the second launch, and from there in another folder too
    saved = [path.name for path in (jobdir / "checkpoints").iterdir()]
    other = tmp_path / "other"
    elsewhere = made.run("-s", f"HERITRIX_CHECKPOINT={jobdir}", jobdir=other)
    back = made.run("-s", "HERITRIX_CHECKPOINT=latest")
    assert (elsewhere.returncode, back.returncode) == (0, 0), back.stderr
    third, alone = launches(jobdir)[2], launches(other)[0]
    assert len(saved) == 1
    for last in (third, alone):
        assert sorted(uris(last)) == sorted(set(uris(last)))
        assert not set(uris(last)) & set(uris(second))
        assert {path.suffix for path in (last / "warcs").iterdir() if "warc" in path.name} == {".gz"}
        assert (last / "reports" / "crawl-report.txt").exists()
    pages = {web.url(HOST, f"/{number}") for number in range(60)} | {web.url(HOST, "/from-a-file")}
    assert pages <= set(uris(first, second, third))
    names = [path.name for folder in launches(jobdir) for path in folder.glob("warcs/*.warc.gz")]
    assert len(names) >= 3
    assert len(set(names)) == len(names)
    for name in ("logs", "reports", "warcs", "actions-done"):
        assert not (jobdir / name).exists(), name


HELD = """
import signal
from pathlib import Path
from heritrix_scrapy.crawl import Crawl

class Held:
    '''Stands still in a sync: what was finished since the one before is not known to be on the disk.'''
    def __init__(self, crawler):
        self.lines = 0
        Crawl.of(crawler).archives.append(self)
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    def process_item(self, item):
        return item
    def flush(self):
        return {}
    def length(self, name):
        return -1
    def sync(self):
        before = self.lines
        self.lines = sum(len(path.read_text().splitlines()) for path in Path("job").glob("2*/logs/crawl.log"))
        if self.lines > max(before, 10):
            Path("held").touch()
            signal.pause()
"""


@pytest.mark.long
def test_what_the_last_launch_lost_of_its_files_is_fetched_again(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    given = {**of_seed(web), "HERITRIX_LAUNCH_DIRS": True, "ITEM_PIPELINES": {"crawl_project.held.Held": 900}}
    made = project(given, web=web, modules={"held": HELD})
    crawl = made.start()
    until(crawl, lambda: (made.folder / "held").exists())
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    [first] = launches(made.jobdir)
    [growing] = (first / "warcs").glob("*.open")
    with growing.open("r+b") as file:
        # the end is gone with the power
        file.truncate(growing.stat().st_size - 300)
    done = made.run("-s", "ITEM_PIPELINES={}")
    assert done.returncode == 0, done.stderr
    assert re.search(r"\(\d+ not recorded, [1-9]\d* lost", done.stderr), done.stderr
    assert len(launches(made.jobdir)) == 2
    found = [uri for path in done.warcs for uri in responses(path)]
    assert {web.url(HOST, f"/{number}") for number in range(60)} <= set(found)
    # where the settings say otherwise the same job goes on so
    made.run("-s", "ITEM_PIPELINES={}", "-s", "HERITRIX_LAUNCH_DIRS=False", "-s", "HERITRIX_NEW_CRAWL=True")
    assert (made.jobdir / "logs" / "crawl.log").exists()
    assert len(launches(made.jobdir)) == 2


def test_a_copy_of_the_job_file_lies_beside_its_logs(serve: Serve, project: Any, tmp_path: Path) -> None:
    web = serve(SITE)
    job = tmp_path / "crawler-beans.cxml"
    job.write_text('<beans xmlns="http://www.springframework.org/schema/beans"/>')
    made = project({**of_seed(web), "HERITRIX_JOB": str(job), "HERITRIX_MAX_HOPS": 0}, web=web)
    done = made.run("-s", "ITEM_PIPELINES={}")
    assert done.returncode == 0, done.stderr
    [folder] = launches(made.jobdir)
    assert (folder / "crawler-beans.cxml").read_text() == job.read_text()
