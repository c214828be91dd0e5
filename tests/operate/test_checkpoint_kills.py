"""Does every checkpoint that is listed start, whenever the crawl was killed, and does a crawl from it lose nothing?

Whole crawls save themselves and are killed at random moments, half of the time while a checkpoint is being made.
After each kill every listed checkpoint is begun with: the older ones hold the rows that they held, the new ones agree
with the logs that belong to them. Some are crawled to the end.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from hashlib import sha256
from random import Random, randrange
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from benchmarks.kill import POLICY, SPIDER, asked_pages, expected, host_of, page_path, site
from heritrix_scrapy.frontier import keys
from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.operate.control import ControlError, ask, reachable
from heritrix_scrapy.operate.doctor import OK, of_job
from heritrix_scrapy.operate.reach import Job
from heritrix_scrapy.store import open_store
from tests.crawls import Project
from tests.web import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from heritrix_scrapy.operate.checkpoints import Checkpoint
    from tests.web import Web

PAGES = 1600
#: Every so many new checkpoints one is crawled to its end.
WHOLE = 12
#: Seconds between two words to a crawl that does not answer yet.
LOOK = 0.02
#: Every so many pages links to one that is fetched again later, and to one that breaks off the first time.
ODD = re.compile(r"/(again|flaky)/")


def settings(web: Web, profile: str, *, forget: bool) -> dict[str, Any]:
    return {
        "FIRST": web.url(host_of(0), page_path(0)),
        "HERITRIX_DNS_SERVERS": [web.dns],
        "HERITRIX_PROFILE": profile,
        "HERITRIX_FOLLOW": "all",
        "HERITRIX_SURTS": ["+http://(test,kill,"],
        "HERITRIX_MIN_DELAY_MS": 20,
        "HERITRIX_MAX_DELAY_MS": 60,
        "HERITRIX_WARC_MAX_FILE_SIZE_BYTES": 200_000,
        "HERITRIX_FORGET_ALL_BUT_LATEST": forget,
        "HERITRIX_CHECKPOINT_ON_SHUTDOWN": False,
        "HERITRIX_CONTENT_DIGEST_HISTORY": True,
        "HERITRIX_RESCHEDULING_POLICY": "crawl_project.again.Again",
        "CONCURRENT_REQUESTS": 16,
        "RETRY_TIMES": 5,
        "LOG_LEVEL": "WARNING",
    }


def digest(jobdir: Path) -> str:
    """Of all rows of a job's frontier."""
    store, hashed = open_store(jobdir / "frontier"), sha256()
    try:
        for key, value in store.range(b""):
            hashed.update(b"%d %d " % (len(key), len(value)) + key + value)
    finally:
        store.close()
    return hashed.hexdigest()


def lines_of(jobdir: Path, saved: Checkpoint) -> list[str]:
    """The lines of the crawl log up to a checkpoint, of all launches before it."""
    parts = sorted(jobdir.glob("[0-9]" * 14 + "/logs/crawl.log*")) or sorted(jobdir.glob("logs/crawl.log*"))
    launch, number = saved.about.launch, checkpoints.number_of(saved.name)
    found: list[str] = []
    for part in parts:
        folder, ended = part.parent.parent.name, checkpoints.number_of(part.name.removeprefix("crawl.log."))
        if not launch or folder == launch:
            if 0 < ended <= number:
                found += part.read_text().splitlines()
        elif folder < launch:
            found += part.read_text().splitlines()
    return found


def uri_of(line: str) -> str:
    return line.split(None, 4)[3]


class Trial:
    """One site, and crawls of it that are killed. ``begun``: how many checkpoints were begun with, how often."""

    def __init__(self, web: Web, folder: Path, profile: str, *, forget: bool, seed: int) -> None:
        self.web, self.folder, self.profile, self.forget = web, folder, profile, forget
        self.dice = Random(seed)
        self.known: dict[Path, str] = {}
        self.counts: Counter[str] = Counter()

    # -- one crawl -------------------------------------------------------------------------------------------

    def crawl(self, name: str, rounds: int) -> None:
        """One crawl, killed until it is over or enough checkpoints were made."""
        values = settings(self.web, self.profile, forget=self.forget)
        made = Project(self.folder / name, values, SPIDER, modules={"again": POLICY})
        try:
            while self.counts["checkpoints"] < rounds:
                before = [each.name for each in checkpoints.listed(made.jobdir)]
                process = made.start(name="killed", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if not self.killed(process, made.jobdir, before):
                    assert process.returncode == 0
                    break
                self.counts["kills"] += 1
                self.look(made)
            # once more, after all that the crawl has written since
            self.look(made)
        finally:
            made.kill()

    def killed(self, process: subprocess.Popen[str], jobdir: Path, before: list[str]) -> bool:
        """Let a crawl make some checkpoints, and end it at a random moment; False when it was over before."""
        way = self.dice.choices(("start", "run", "checkpoint"), (1, 2, 5))[0]
        if way == "start":
            return self.end(process, self.dice.uniform(0.3, 2.0))
        if not self.until(process, lambda: told(jobdir)):
            return False
        # what was left of one whose process died is gone
        assert [path.name for path in checkpoints.found(jobdir)] == before
        for _ in range(self.dice.randrange(1, 8)):
            mark = len(self.web.requests) + self.dice.randrange(5, 60)
            if not self.until(process, lambda mark=mark: len(self.web.requests) >= mark):  # type: ignore[misc]
                return False
            try:
                ask(jobdir, {"do": "checkpoint"}, timeout=60)
            except ControlError as error:
                # it is over
                if "could not be made" in str(error):
                    raise
                return self.end(process, 60)
        if way == "run":
            return self.end(process, self.dice.uniform(0, 0.5))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, reachable(jobdir) as path:
            try:
                connection.connect(path)
                connection.sendall(b'{"do": "checkpoint"}\n')
            except OSError:
                return self.end(process, 60)
            select.select([connection], [], [], self.dice.uniform(0, 0.1))
            return self.end(process, 0)

    @staticmethod
    def end(process: subprocess.Popen[str], seconds: float) -> bool:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode == -signal.SIGKILL

    @staticmethod
    def until(process: subprocess.Popen[str], condition: Callable[[], bool]) -> bool:
        """Whether it came to that before the crawl was over."""
        end = time.monotonic() + 120
        while not condition():
            try:
                process.wait(LOOK)
            except subprocess.TimeoutExpired:
                assert time.monotonic() < end, "the crawl stands still"
            else:
                return False
        return True

    # -- after a kill ----------------------------------------------------------------------------------------

    def look(self, made: Project) -> None:
        """Every listed checkpoint starts."""
        listed = checkpoints.listed(made.jobdir)
        assert len(listed) <= 2 or not self.forget
        for saved in listed:
            other = self.folder / "other" / saved.name
            checkpoints.begin(str(saved.path), other, 0)
            self.counts["begun"] += 1
            rows = digest(other)
            if saved.path in self.known:
                assert rows == self.known[saved.path], saved.path
            else:
                self.known[saved.path] = rows
                self.counts["checkpoints"] += 1
                self.agrees(made, saved, other)
                if self.counts["checkpoints"] % WHOLE == 1:
                    self.whole(made, saved)
            shutil.rmtree(other)

    def agrees(self, made: Project, saved: Checkpoint, other: Path) -> None:
        """The frontier opens as a resume opens it, and says what the logs say that belong to it."""
        about = saved.about
        project = Settings({**settings(self.web, self.profile, forget=self.forget), "HERITRIX_RESCHEDULING_POLICY": ""})
        bad = [each for each in of_job(other) if each.level != OK]
        assert not bad, (saved.path, bad)
        store = open_store(other / "frontier")
        kinds = Counter(key[:1] for key, _ in store.range(b""))
        store.close()
        assert kinds[keys.QUEUED] == about.counts["queued"], saved.path
        assert kinds[keys.FUTURE] == about.counts["to be fetched again"], saved.path
        pending = other / "pending"
        with Job(other, project) as job:
            status = job.perform({"do": "status"})["frontier"]
            job.perform({"do": "export", "file": str(pending), "format": "json"})
        told = {name: status[name] for name in checkpoints.COUNTED}
        assert told == {name: about.counts[name] for name in checkpoints.COUNTED}, saved.path
        queued = {json.loads(line)["uri"] for line in pending.read_text().splitlines()}
        lines = lines_of(made.jobdir, saved)
        last = {uri_of(line): line.split(None, 2)[1] for line in lines}
        ended = {uri: code for uri, code in last.items() if uri not in queued and not ODD.search(uri)}
        odd = sum(1 for line in lines if ODD.search(uri_of(line)))
        finished, codes = about.counts["finished"], Counter(ended.values())
        assert len(ended) <= finished <= len(ended) + odd, saved.path
        tallied = {name[7:]: count for name, count in about.tallies.items() if name.startswith("status/")}
        assert sum(tallied.values()) == finished, saved.path
        assert all(0 <= count - codes[code] <= odd for code, count in tallied.items()), (saved.path, tallied, codes)
        lost = sorted(set(self.linked(ended)) - queued - last.keys())
        assert not lost, (saved.path, lost[:10])

    def linked(self, ended: Iterable[str]) -> Iterable[str]:
        """What the pages that were finished link to."""
        for uri in ended:
            if found := re.search(r"/p/(\d+)\.html$", uri):
                page = int(found[1])
                for target in range(4 * page + 1, min(4 * page + 5, PAGES)):
                    yield self.web.url(host_of(target), page_path(target) if target % 7 else f"/r/{target}")
                if page == 0:
                    yield from (self.web.url(host_of(n), f"/asked/{n}") for n in asked_pages(PAGES))

    def whole(self, made: Project, saved: Checkpoint) -> None:
        """A crawl from it comes to its end, and has all that was left."""
        values = settings(self.web, self.profile, forget=self.forget) | {"HERITRIX_MIN_DELAY_MS": 0}
        elsewhere = Project(self.folder / f"from-{saved.name}", values, SPIDER, modules={"again": POLICY})
        ended = elsewhere.run("-s", f"HERITRIX_CHECKPOINT={saved.path}", name="killed", timeout=300)
        assert ended.returncode == 0, ended.stderr[-8000:]
        logs = [*elsewhere.jobdir.glob("logs/crawl.log*"), *elsewhere.jobdir.glob("[0-9]*/logs/crawl.log*")]
        after = [line.split() for log in logs for line in log.read_text().splitlines()]
        before = {uri_of(line) for line in lines_of(made.jobdir, saved)}
        lost = {self.web.url(*pair) for pair in expected(PAGES)} - before - {row[3] for row in after}
        assert not lost, (saved.path, sorted(lost)[:10])
        called = elsewhere.folder / "called.jsonl"
        answered = {json.loads(line)[0] for line in called.read_text().splitlines()} if called.exists() else set()
        asked = {row[3] for row in after if "/asked/" in row[3] and row[1] == "200"}
        assert asked == answered, saved.path
        assert sum(ended.stats[f"heritrix/frontier/{name}"] for name in ("succeeded", "failed", "disregarded")) == (
            saved.about.counts["finished"] + len(after)
        ), saved.path
        self.counts["crawled"] += 1
        shutil.rmtree(elsewhere.folder)


@pytest.mark.long
@pytest.mark.crawl
@pytest.mark.parametrize(
    ("rounds", "profile", "forget"), [(100, "modern", False), (30, "heritrix", False), (30, "modern", True)]
)
def test_every_listed_checkpoint_starts(tmp_path: Path, rounds: int, profile: str, *, forget: bool) -> None:
    seed = randrange(10**6)
    print(f"{profile}, forget {forget}: seed of the random moments {seed}")
    began = time.monotonic()
    with running(site(PAGES)) as web:
        trial = Trial(web, tmp_path, profile, forget=forget, seed=seed)
        number = 0
        while trial.counts["checkpoints"] < rounds:
            number += 1
            trial.crawl(f"crawl{number}", rounds)
    print(f"{dict(trial.counts)} in {number} crawls, {time.monotonic() - began:.0f} s")
    assert trial.counts["kills"] >= rounds // 10
    assert trial.counts["crawled"]


def told(jobdir: Path) -> bool:
    try:
        return "frontier" in ask(jobdir, {"do": "status"})
    except ControlError:
        return False
