"""Is a crawl with a million URIs operated as a small one is, and do its numbers stay right?

Imported, crawled, paused, saved a hundred times while it runs, killed, begun again elsewhere, steered, ended; printed
is what that took.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import time
from collections import Counter
from pathlib import Path
from random import Random, randrange
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.crawl import bulk
from heritrix_scrapy.frontier.status import tallies_of_store, totals_of_store
from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.operate.control import ask
from heritrix_scrapy.operate.record import stands
from heritrix_scrapy.store import open_store
from tests.durability.watch import until
from tests.operate.test_operated import finished, lines, told
from tests.report.test_adding_up import of_families, sums

if TYPE_CHECKING:
    import subprocess

    from tests.crawls import Crawl, Project

HOSTS, URIS = 1000, 1_000_000
ROUNDS = 100
#: Seconds for what is done with a million rows, on a machine that others use too.
LONG = 900
#: What is added, and what is refused, while the second crawl runs.
ADDED = ("from-a-file", "from-a-command", "forced")
GONE, REFUSED = "h0", "h9"
#: What is left of a host's pages by then, at least.
SOME = 500


def settings(site: dict[str, Any]) -> dict[str, Any]:
    return {
        "HERITRIX_SEEDS": [site["seed"]],
        "HERITRIX_DNS_SERVERS": [site["dns"]],
        "HERITRIX_SURTS": ["http://(test,bulk,"],
        "HERITRIX_MAX_HOPS": URIS,
        "HERITRIX_FORGET_ALL_BUT_LATEST": False,
        "HERITRIX_CHECKPOINT_ON_SHUTDOWN": False,
        "HERITRIX_ANNOTATE_CONTENT_SIZE": True,
        "HERITRIX_ACTION_INITIAL_DELAY_SECONDS": 0.1,
        "HERITRIX_ACTION_DELAY_SECONDS": 0.1,
        "HERITRIX_EXTRACTORS": ["ExtractorHTML"],
        "CONCURRENT_REQUESTS": 16,
        "LOG_LEVEL": "WARNING",
    }


class Operator:
    """Types commands, and measures."""

    def __init__(self, made: Project, jobdir: Path) -> None:
        self.made, self.jobdir = made, jobdir

    def types(self, name: str, *args: str) -> dict[str, Any]:
        """``scrapy heritrix NAME JOBDIR ...``: its answer."""
        began = time.monotonic()
        words = (str(self.jobdir), *args, "--json")
        done = self.made.run(*words, name="", jobdir=None, command=("heritrix", name), timeout=LONG)
        assert done.returncode == 0, (name, args, done.stderr)
        print(f"{name} {' '.join(args)}: {time.monotonic() - began:.1f} s")
        return dict(json.loads(done.stdout))

    def asks(self, name: str, /, **more: Any) -> dict[str, Any]:
        return ask(self.jobdir, {"do": name, **more}, timeout=LONG)

    def waits(self, crawl: subprocess.Popen[str], state: str) -> None:
        until(crawl, lambda: self.asks("status")["state"] == state, state, LONG)

    def saves(self, crawl: subprocess.Popen[str], dice: Random, rounds: int) -> list[str]:
        """So many checkpoints at random moments; prints for how long the crawl waited, when they were whole and how
        large they are. The names."""
        made = []
        for _ in range(rounds):
            mark = finished(self.jobdir) + dice.randrange(1, 80)
            until(crawl, lambda mark=mark: finished(self.jobdir) >= mark, "more was fetched", LONG)  # type: ignore[misc]
            made.append(self.asks("checkpoint"))
        waited = sorted(each["paused_ms"] for each in made)
        whole = sorted(each["seconds"] for each in made)
        print(f"the crawl waited {statistics.median(waited):.0f} ms, at most {waited[-1]:.0f} ms")
        print(f"whole after {statistics.median(whole):.2f} s, at most {whole[-1]:.2f} s")
        own, all_of_it = size(self.jobdir / "frontier", Path(made[-1]["path"]) / "frontier")
        print(f"megabytes of its own {own:.1f}, with what it shares {all_of_it:.1f}")
        assert statistics.median(waited) <= 200
        assert statistics.median(whole) <= 2
        return [str(each["checkpoint"]) for each in made]


def size(frontier: Path, saved: Path) -> tuple[float, float]:
    """Megabytes of a checkpoint: of its own, and in all."""
    shared = {path.stat().st_ino for path in frontier.iterdir()}
    told = [path.stat() for path in saved.iterdir()]
    own = sum(each.st_size for each in told if each.st_ino not in shared)
    return own / 1e6, sum(each.st_size for each in told) / 1e6


def uris(log: list[str]) -> list[str]:
    return [line.split(None, 4)[3] for line in log]


def first_job(job: Operator, pages: list[str], dice: Random) -> list[str]:
    """A million URIs imported, crawled, paused, saved, killed; the names of the checkpoints."""
    listed = job.made.folder / "pages.txt"
    listed.write_text("".join(f"{page}\n" for page in pages))
    crawl = job.made.start("-s", "HERITRIX_PAUSE_AT_START=True", jobdir=job.jobdir)
    until(crawl, lambda: told(job.jobdir) is not None)
    job.types("terminate")
    assert job.made.finish(crawl).returncode == 3
    assert job.types("import", str(listed))["queued"] == URIS - 1
    before = time.monotonic()
    crawl = job.made.start(jobdir=job.jobdir)
    until(crawl, lambda: told(job.jobdir) is not None)
    print(f"started, and answers: {time.monotonic() - before:.1f} s")
    assert job.asks("status")["frontier"]["queued"] >= URIS - 1000
    until(crawl, lambda: finished(job.jobdir) > 300, "some were fetched", LONG)
    job.asks("pause")
    job.waits(crawl, "PAUSED")
    names = [str(job.asks("checkpoint", remark="while it is paused")["checkpoint"])]
    assert job.asks("checkpoint")["checkpoint"] is None
    job.asks("unpause")
    names += job.saves(crawl, dice, ROUNDS)
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    assert [each.name for each in checkpoints.listed(job.jobdir)] == names
    assert stands(job.jobdir).end == "FINISHED_ABNORMAL"
    return names


def checkpoints_say_what_the_log_says(jobdir: Path, names: list[str]) -> None:
    """Each one's counters are those of the lines up to it."""
    log: list[str] = []
    for saved in checkpoints.listed(jobdir):
        log += lines(jobdir, f".{saved.name}")
        about = saved.about
        assert about.counts["finished"] == len(log), saved.path
        assert of_families(about.tallies) == sums(log, modern=True), saved.path
    assert len(set(uris(log))) == len(log)
    assert len(names) == ROUNDS + 1


def second_job(job: Operator, begun: Path, site: dict[str, Any]) -> Crawl:
    """Begun with a checkpoint, steered by files and commands while it runs, saved, ended by the operator."""
    at = site["seed"].removesuffix("/p/0.html")
    before = time.monotonic()
    crawl = job.made.start("-s", f"HERITRIX_CHECKPOINT={begun}", jobdir=job.jobdir)
    until(crawl, lambda: told(job.jobdir) is not None)
    print(f"begun with a checkpoint, and answers: {time.monotonic() - before:.1f} s")
    since = finished(job.jobdir)
    until(crawl, lambda: finished(job.jobdir) > since + 300, "some were fetched", LONG)
    gone = job.types("delete", "--queue", rf".*\b{GONE}\b.*")
    assert gone["deleted"] >= SOME, gone
    action = job.jobdir / "action"
    (action / "more.s.schedule").write_text(f"{at}/from-a-file\n{site['seed']}\n")
    (action / "again.force").write_text(f"{at}/forced\n")
    (action / "known.include").write_text(f"{at}/never\n")
    assert job.asks("seeds", lines=[f"{at}/from-a-command"])["queued"] == 1
    assert job.types("set", "HERITRIX_MIN_DELAY_MS=2", "HERITRIX_MAX_DELAY_MS=4")["changed"]
    assert job.types("add", "HERITRIX_REJECT_REGEXES", rf"http://{REFUSED}\.bulk\.test.*")["check"] is False
    dropped = job.types("drop", "--queue", rf".*\b{REFUSED}\b.*")
    assert dropped["deleted"] >= SOME, dropped
    assert "frontier" in job.types("status")
    done = job.jobdir / "actions-done"
    until(crawl, lambda: done.exists() and len(list(done.iterdir())) == 3, "the files were done", LONG)
    assert job.types("checkpoint")["checkpoint"]
    job.types("terminate")
    ended = job.made.finish(crawl, LONG)
    assert ended.returncode == 3, ended.stderr
    assert "Traceback" not in ended.stderr
    assert stands(job.jobdir).end == "ABORTED"
    return ended


def it_adds_up(job: Operator, ended: Crawl, log: list[str], pages: list[str], site: dict[str, Any]) -> None:
    """Statistics, counters and what is queued are what the lines of the log make; every URI is logged or queued."""
    counted = sums(log, modern=True)
    stats = {name.removeprefix("heritrix/"): value for name, value in ended.stats.items()}
    assert sum(stats[f"frontier/{name}"] for name in ("succeeded", "failed", "disregarded")) == len(log)
    store = open_store(job.jobdir / "frontier")
    totals, tallies = totals_of_store(store), tallies_of_store(store)
    store.close()
    assert of_families(tallies) == counted
    # Scrapy's statistics are those of one process
    assert of_families(stats) == sums(lines(job.jobdir), modern=True)
    status = job.types("status")["frontier"]
    assert (status["queued"], status["succeeded"]) == (totals.queued, counted["uris/downloaded"])
    pending = job.made.folder / "pending.txt"
    assert job.types("export", str(pending), "--format", "uris")["written"] == totals.queued
    queued, ends = pending.read_text().splitlines(), uris(log)
    assert len(set(queued)) == len(queued) == totals.queued
    assert not set(queued).intersection(ends)
    assert len(set(ends)) == len(ends)
    assert not set(pages).difference(queued, ends)
    at = site["seed"].removesuffix("/p/0.html")
    known = {*ends, *queued}
    assert f"{at}/never" not in known
    assert {f"{at}/{name}" for name in ADDED} <= known
    of_host = Counter(uri.split("/")[2].partition(".")[0] for uri in queued)
    assert (of_host[REFUSED], of_host[GONE]) == (0, len({f"{at}/{name}" for name in ADDED}.intersection(queued)))
    codes = Counter(line.split()[1] for line in log if f"//{GONE}.bulk" in line)
    assert codes["-6000"] >= SOME


@pytest.mark.long
@pytest.mark.crawl
def test_a_crawl_of_a_million_uris_is_operated(project: Any, tmp_path: Path) -> None:
    seed = randrange(10**6)
    print(f"seed of the random moments {seed}")
    dice, began = Random(seed), time.monotonic()
    with bulk(HOSTS, URIS) as site:
        at = site["seed"].removeprefix("http://h0.").removesuffix("/p/0.html")
        pages = [f"http://h{number % HOSTS}.{at}/p/{number}.html" for number in range(URIS)]
        made = project(settings(site))
        first = Operator(made, made.jobdir)
        names = first_job(first, pages, dice)
        checkpoints_say_what_the_log_says(made.jobdir, names)
        begun = dice.choice(names)
        second = Operator(made, tmp_path / "other")
        ended = second_job(second, made.jobdir / "checkpoints" / begun, site)
        log = lines(made.jobdir, *(f".{name}" for name in names[: names.index(begun) + 1]))
        it_adds_up(second, ended, [*log, *lines(second.jobdir)], pages, site)
    print(f"all: {time.monotonic() - began:.0f} s")
    # a million rows are not kept until the next test
    for jobdir in (first.jobdir, second.jobdir):
        shutil.rmtree(jobdir / "checkpoints")
        shutil.rmtree(jobdir / "frontier")
