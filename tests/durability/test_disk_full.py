"""What happens when the disk is full: does the crawl say so and stop, and is everything there once there is room?

The full disk is a small tmpfs in a mount namespace that outlives the crawls.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.operate.control import ask
from tests.archive.test_warcfile import blocks
from tests.durability.watch import responses, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Serve
    from tests.crawls import Project

pytestmark = pytest.mark.crawl

HOST = "www.full.test"

SPIDER = """
from pathlib import Path
from scrapy import Request, Spider

class Fills(Spider):
    name = "fills"
    async def start(self):
        for n in range(self.settings.getint("PAGES")):
            yield Request(self.settings["FIRST"] + str(n), meta={"weight": "x" * 2000})
    def parse(self, response):
        with (Path(__file__).parents[1] / "called").open("a") as file:
            file.write(response.url + "\\n")
"""


class SmallDisk:
    """A tmpfs at *place*, seen only by commands with ``prefix``."""

    def __init__(self, place: Path, holder: subprocess.Popen[str]) -> None:
        self.place = place
        user = [] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]
        self.prefix = ["nsenter", "-t", str(holder.pid), "-m", "-r", *user, f"--wd={place.parents[1]}"]
        if place.name == "tmp":
            self.prefix += ["env", f"TMPDIR={place}"]
        self.inside = Path(f"/proc/{holder.pid}/root{place}")

    def grow(self, size: str) -> None:
        subprocess.run([*self.prefix, "mount", "-o", f"remount,size={size}", str(self.place)], check=True)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[SmallDisk]:
    place.mkdir(parents=True)
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
    if subprocess.run([*command, "true"], check=False, capture_output=True).returncode:
        # in a chroot the root is no mount point, and what others see of a mount cannot be settled there
        command.append("--propagation=unchanged")
    script = f'mount -t tmpfs -o size={size} none "$0" && echo mounted && cat; umount -l "$0"'
    holder = subprocess.Popen(
        [*command, "sh", "-c", script, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mounted\n"
        yield SmallDisk(place, holder)
    finally:
        holder.communicate()


def noise(seed: int, size: int) -> dict[str, Any]:
    """A page that does not compress."""
    return {"bytes": b"<html>" + random.Random(seed).randbytes(size), "type": "text/html"}


def status(made: Project) -> str:
    asked = made.run(str(made.jobdir), name="", command=("heritrix", "status"), jobdir=None)
    assert asked.returncode == 0, asked.stderr
    return asked.stdout


@pytest.mark.parametrize(
    ("place", "size", "body", "number"),
    [
        ("warcs", "200k", 20_000, 40),
        pytest.param("frontier", "160k", 500, 100, marks=pytest.mark.long),
        # room for a first piece of each log and of the journal
        pytest.param("logs", "12k", 500, 200, marks=pytest.mark.long),
        # where bodies lie beyond 512 KiB until they are archived
        pytest.param("tmp", "100k", 700_000, 2, marks=pytest.mark.long),
    ],
)
def test_pauses_and_goes_on(serve: Serve, project: Any, place: str, size: str, body: int, number: int) -> None:
    routes = {f"/{n}": noise(n, body if n else 500) for n in range(number)}
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404, "body": ""}, **routes}}})
    made: Project = project(
        {"FIRST": web.url(HOST), "PAGES": number, "HERITRIX_FOLLOW": "none", "HERITRIX_PAUSE_THRESHOLD_MIB": 0},
        SPIDER,
        web=web,
    )
    log = made.folder / "log.txt"
    called = made.folder / "called"
    pages = {web.url(HOST, f"/{n}") for n in range(number)}

    with small_disk(made.jobdir / place, size) as disk:
        warcs = disk.inside if place == "warcs" else made.jobdir / "warcs"

        def archived() -> list[str]:
            return [uri for path in sorted(warcs.glob("*.warc.gz*")) for uri in responses(path) if uri in pages]

        process = made.start("-s", f"LOG_FILE={log}", name="fills", prefix=disk.prefix)
        until(process, lambda: log.exists() and "crawl paused" in log.read_text(), "the crawl was paused")
        said = status(made)
        assert said.startswith("PAUSED")
        assert "No space left on device" in said
        assert "make room" in said
        assert str(made.jobdir / place) in said
        assert place != "tmp" or "the response spool" in said
        if place == "tmp":
            # looks at the disk: it is seen that there is no room yet
            waited = time.monotonic()
            until(process, lambda: time.monotonic() > waited + 2.5)
        process.terminate()
        stopped = made.finish(process, timeout=40)
        told = [line for line in log.read_text().splitlines() if "crawl paused" in line]
        assert len(told) == 1
        assert "No space left on device" in told[0]
        before = Counter(archived())
        assert 0 < len(before) < number
        calls = Counter(called.read_text().split())
        assert set(calls) <= set(before), "a callback ran for a page that is not archived"
        assert set(stopped.statuses) & pages <= set(before), "a page is logged that is not archived"

        disk.grow("64m")
        resumed = made.finish(made.start(name="fills", prefix=disk.prefix))
        assert resumed.returncode == 0, resumed.stderr
        after = Counter(archived())
        assert set(after) == pages
        if place in ("warcs", "tmp"):
            assert set(after.values()) == {1}
            assert Counter(called.read_text().split()) == Counter(pages)
        logged = disk.inside if place == "logs" else made.jobdir / "logs"
        lines = [line.split() for line in (logged / "crawl.log").read_text().splitlines()]
        ends = Counter(line[3] for line in lines if line[3] in pages)
        assert set(ends) == pages
        assert all(line[1] == "200" for line in lines if line[3] in pages)


@pytest.mark.parametrize(
    ("place", "size", "body", "guarded"),
    [
        ("warcs", "2m", 60_000, True),
        pytest.param("warcs", "300k", 20_000, False, marks=pytest.mark.long),
        pytest.param("frontier", "160k", 500, False, marks=pytest.mark.long),
        pytest.param("logs", "8k", 500, False, marks=pytest.mark.long),
        pytest.param("logs", "32k", 500, True, marks=pytest.mark.long),
    ],
)
def test_pc016_pc019_goes_on_by_itself(
    serve: Serve, project: Any, place: str, size: str, body: int, guarded: bool
) -> None:
    """PC-016: paused before anything fails to be written, where the guard is on. PC-019: PAUSED, then RUNNING. PC-017:
    the pause is not counted as time that the crawl ran, and its reports are there at the end."""
    number = 60 if place == "warcs" else 150
    routes = {f"/{n}": noise(n, body if n else 500) | {"delay": 0.02} for n in range(number)}
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404, "body": ""}, **routes}}})
    least = {} if guarded else {"HERITRIX_PAUSE_THRESHOLD_MIB": 0}
    given = {"FIRST": web.url(HOST), "PAGES": number, "HERITRIX_FOLLOW": "none", "HERITRIX_INTERVAL_SECONDS": 0.1}
    made: Project = project(given | least, SPIDER, web=web)
    log = made.folder / "log.txt"
    with small_disk(made.jobdir / place, size) as disk:
        process = made.start("-s", f"LOG_FILE={log}", name="fills", prefix=disk.prefix)
        until(process, lambda: log.exists() and "crawl paused" in log.read_text(), "the crawl was paused")
        said = status(made)
        assert said.startswith("PAUS")
        assert str(made.jobdir / place) in said
        assert ("low disk space" if guarded else "No space left on device") in said
        until(process, lambda: ask(made.jobdir, {"do": "status"})["state"] == "PAUSED")
        ran, since = ask(made.jobdir, {"do": "status"})["elapsed_ms"], time.monotonic()
        until(process, lambda: time.monotonic() > since + 0.2)
        assert ask(made.jobdir, {"do": "status"})["elapsed_ms"] == ran
        disk.grow("64m")
        done = made.finish(process, timeout=60)
        assert done.returncode == 0, log.read_text()
        pages = {web.url(HOST, f"/{n}") for n in range(number)}
        warcs = disk.inside if place == "warcs" else made.jobdir / "warcs"
        after = Counter(uri for path in warcs.glob("*.warc.gz") for uri in responses(path) if uri in pages)
        assert set(after) == pages
        logged = disk.inside if place == "logs" else made.jobdir / "logs"
        ends = Counter(line.split()[3] for line in (logged / "crawl.log").read_text().splitlines())
        assert all(ends[uri] == 1 for uri in pages)
    assert (made.jobdir / "reports" / "crawl-report.txt").exists()
    states = [line.split()[2] for line in (made.jobdir / "job.log").read_text().splitlines() if " INFO " in line]
    assert states.count("PAUSED") >= 1
    assert states[-4:] == ["RUNNING", "EMPTY", "STOPPING", "FINISHED"]


@pytest.mark.long
@pytest.mark.parametrize(("profile", "stopped"), [("modern", False), ("modern", True), ("heritrix", False)])
def test_a_disk_that_is_full_when_the_next_file_begins(serve: Serve, project: Any, profile: str, stopped: bool) -> None:
    """The file system has room for a few names only: the file before is whole and closed, the next one cannot be."""
    number = 40
    routes = {f"/{n}": noise(n, 3000) | {"delay": 0.01} for n in range(number)}
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404, "body": ""}, **routes}}})
    given = {
        "FIRST": web.url(HOST),
        "PAGES": number,
        "HERITRIX_PROFILE": profile,
        "HERITRIX_LAUNCH_DIRS": False,
        "HERITRIX_FOLLOW": "none",
        "HERITRIX_PAUSE_THRESHOLD_MIB": 0,
        "HERITRIX_INTERVAL_SECONDS": 0.1,
        "HERITRIX_WARC_MAX_FILE_CAPTURES": 5,
    }
    made: Project = project(given, SPIDER, web=web)
    log = made.folder / "log.txt"
    pages = {web.url(HOST, f"/{n}") for n in range(number)}
    # one name is the folder's own
    with small_disk(made.jobdir / "warcs", "32m,nr_inodes=4") as disk:

        def archived() -> Counter[str]:
            found = [record for path in disk.inside.iterdir() for record in blocks(path)]
            return Counter(uri for kind, uri, _ in found if kind == "response" and uri in pages)

        process = made.start("-s", f"LOG_FILE={log}", name="fills", prefix=disk.prefix)
        until(process, lambda: log.exists() and "crawl paused" in log.read_text(), "the crawl was paused")
        until(process, lambda: ask(made.jobdir, {"do": "status"})["state"] == "PAUSED")
        assert "No space left on device" in status(made)
        assert str(made.jobdir / "warcs") in status(made)
        waited = time.monotonic()
        until(process, lambda: time.monotonic() > waited + 1)
        assert log.read_text().count("crawl paused") <= 2, "it is tried once more, and then after a minute"
        there = sorted(path.name for path in disk.inside.iterdir())
        assert [name.endswith(".warc.gz") for name in there] == [True] * 3, "files are closed, and none is begun"
        before = archived()
        assert set(before.values()) == {1}
        if stopped:
            process.terminate()
            made.finish(process, timeout=40)
            assert archived() == before
        disk.grow("64m,nr_inodes=1000")
        done = made.finish(made.start(name="fills", prefix=disk.prefix) if stopped else process, timeout=90)
        assert done.returncode == 0, done.stderr
        assert archived() == Counter(pages)
        assert not [path.name for path in disk.inside.iterdir() if path.name.endswith(".open")]
        found = sorted(int(path.name.split("-")[2]) for path in disk.inside.iterdir())
        assert found == list(range(len(found))), "no number is left out, none comes twice"
    ends = Counter(line.split()[3] for line in (made.jobdir / "logs" / "crawl.log").read_text().splitlines())
    assert all(ends[uri] == 1 for uri in pages)
    assert Counter((made.folder / "called").read_text().split()) == Counter(pages)
