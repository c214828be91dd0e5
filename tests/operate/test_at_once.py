"""Does what reports and operation read of the settings hold at once when it is changed while the crawl runs?

Each setting that such a change may reach, and that these rooms read, has a case: what they make of it before the change
and after. Those that need an engine are changed in a whole crawl.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.test import get_crawler

import heritrix_scrapy
from heritrix_scrapy.crawl import Clock, Crawl
from heritrix_scrapy.engine import DISK
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate import changes, disk
from heritrix_scrapy.operate.control import ask
from heritrix_scrapy.operate.guards import LimitExtension
from heritrix_scrapy.operate.lifetime import LifeExtension
from heritrix_scrapy.report.extension import ReportExtension
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.defaults import BY_NAME
from heritrix_scrapy.store import MemoryStore
from tests.durability.watch import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Serve

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/contact", "TELNETCONSOLE_ENABLED": False}
HOUR_MS = 3_600_000
TALLIES = {"uris/downloaded": 9, "urls/novel": 9, "bytes/novel": 900, "urls_written/novel": 9, "bytes_written/novel": 9}


class Turned(Clock):
    """A clock that goes on by as much as the test says."""

    seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


class Engine:
    """What the bridge asks of Scrapy's engine."""

    paused = False
    _slot = SimpleNamespace(closing=None, inprogress=(), nextcall=SimpleNamespace(schedule=lambda: None))

    def pause(self) -> None:
        self.paused = True

    def unpause(self) -> None:
        self.paused = False


class Parts:
    """Reports, limits and state of a crawl that has come some way."""

    def __init__(self, root: Path, given: dict[str, Any]) -> None:
        self.given = CONTACT | given | {"JOBDIR": str(root)}
        self.crawler = get_crawler(settings_dict=self.given)
        self.crawler.engine = Engine()  # type: ignore[assignment]
        self.crawl = Crawl.of(self.crawler)
        self.crawl.clock = self.clock = Turned()
        self.crawl.store = MemoryStore()
        self.report = ReportExtension(self.crawler)
        self.limits = LimitExtension(self.crawler)
        self.ends: list[str] = []
        told = {"retried": 0, "discovered": 0}
        self.tallies = dict(TALLIES)
        self.crawl.frontier = SimpleNamespace(  # type: ignore[assignment]
            tallies=lambda: self.tallies, status=lambda: told, queue_tally=lambda key: None, in_process=list
        )
        self.crawl.life = SimpleNamespace(ran_ms=lambda: HOUR_MS, state="RUNNING", stop=self._stop, end_text="")  # type: ignore[assignment]
        self._number = 0

    async def _stop(self, end: str, words: str) -> None:
        self.ends.append(end)

    def change(self, **values: Any) -> None:
        """As the command does it."""
        changes.refuse_fixed([f"HERITRIX_{name}" for name in values], running=True)
        changed = read(ScrapySettings(self.given | {f"HERITRIX_{name}": value for name, value in values.items()}))
        for test in self.crawl.settings_tests:
            test(changed)
        self.crawl.settings.become(changed)  # type: ignore[union-attr]
        for tell in self.crawl.settings_changed:
            tell()

    def finished(self) -> CrawlURI:
        """One more URI comes to its end."""
        self._number += 1
        curi = CrawlURI(f"http://a.example/{self._number}", seed=True)
        curi.status, curi.content_size, curi.content_length, curi.source_tag = 200, 300, 200, f"tag-{self._number}"
        self.crawl.hosts.scheduled("a.example").scheduled += 1
        self.report.finished(curi)
        self.report.flush()
        return curi

    @property
    def logs(self) -> Path:
        return self.crawl.jobdir.logs

    def look(self) -> list[str]:
        """The end statuses that a look at the limits brings."""
        self.ends.clear()

        async def once() -> None:
            self.limits._look()
            await asyncio.sleep(0)

        asyncio.run(once())
        return self.ends


def line(parts: Parts) -> str:
    parts.finished()
    return (parts.logs / "crawl.log").read_text().splitlines()[-1].split(" ", 3)[-1].partition("/")[2][3:]


def json_lines(parts: Parts) -> int:
    before = _json(parts).count("\n")
    parts.finished()
    return _json(parts).count("\n") - before


def json_members(parts: Parts) -> int:
    parts.finished()
    return _json(parts).splitlines()[-1].count('":')


def _json(parts: Parts) -> str:
    path = parts.logs / "crawl.jsonl"
    return path.read_text() if path.exists() else ""


def more_files(parts: Parts) -> bool:
    before = len(list(parts.logs.glob("crawl.log*")))
    parts.finished()
    parts.finished()
    return len(list(parts.logs.glob("crawl.log*"))) > before


def told_of(report: str, what: Callable[[CrawlURI], str]) -> Callable[[Parts], bool]:
    def told(parts: Parts) -> bool:
        curi = parts.finished()
        return what(curi) in parts.report.desk.report_now(report)["text"]

    return told


def text_of(report: str) -> Callable[[Parts], str]:
    return lambda parts: re.sub(r"\d{12}", "", parts.report.desk.report_now(report)["text"])


def written(parts: Parts) -> set[str]:
    return {path.name for path in parts.report.desk.write_all()}


def ends(parts: Parts) -> list[str]:
    parts.clock.seconds += 100
    return list(parts.look())


def ended(parts: Parts) -> str:
    """What a crawl without anything left comes to, when half its seeds did not answer."""
    life = LifeExtension(parts.crawler)
    parts.tallies = {"seeds/answered": 1, "seeds/unanswered": 1}

    async def over() -> None:
        life.closing("finished")
        life.spider_closed("finished")

    asyncio.run(over())
    return life.end_text


def written_enough(parts: Parts) -> list[str]:
    assert parts.crawler.stats is not None
    parts.crawler.stats.set_value("heritrix/warc/totals/num_records", 5)
    return list(parts.look())


def paused(parts: Parts) -> bool:
    parts.look()
    return DISK in parts.crawl.bridge.pauses


def refused(parts: Parts) -> tuple[int, list[str], bool | None, list[str]]:
    """What becomes of a URI of a host that has had five."""
    parts.crawl.hosts.host("a.example").tally.successes = 5
    curi = CrawlURI("http://a.example/")
    curi.class_key = "a.example"
    curi.settings = parts.crawl.settings.for_uri(curi)  # type: ignore[union-attr]
    parts.crawl.check_limits("before_preselector", curi)
    return curi.status, list(curi.annotations), curi.retire, list(parts.crawl.bridge.pauses)


def last_mib() -> int:
    """A threshold that this machine's disk does not meet."""
    return disk.rooms([Path.cwd()])[0].total // disk.MIB - 1


class Case(NamedTuple):
    """``value``: what the setting is changed to; ``outcome``: what the parts make of it; ``given``: other settings."""

    value: Any
    outcome: Callable[[Parts], Any]
    given: dict[str, Any] = {}


QUOTA = [{"host_max_fetch_successes": 5, "force_retire": False}]
CASES: dict[str, Case] = {
    "ANNOTATE_CONTENT_SIZE": Case(True, line),
    "EXTRACTORS": Case(["ExtractorHTML"], text_of("processors")),
    "IDLE_LIMIT_SECONDS": Case(50, ends),
    "JSON_CRAWL_LOG": Case(True, json_lines),
    "JSON_CRAWL_LOG_EXTRA_FIELDS": Case({"crawl": "one"}, json_members, {"JSON_CRAWL_LOG": True}),
    "LOG_EXTRA_INFO": Case(True, line),
    "LOG_MAX_BYTES": Case(10, more_files),
    **{
        name: Case(1, ends)
        for name in (
            "MAX_BYTES_DOWNLOAD",
            "MAX_DOCUMENTS_DOWNLOAD",
            "MAX_NOVEL_BYTES",
            "MAX_NOVEL_URLS",
            "MAX_TIME_SECONDS",
            "MAX_WARC_NOVEL_BYTES",
            "MAX_WARC_NOVEL_URLS",
            "MEMORY_LIMIT_MIB",
        )
    },
    "MONITOR_CONFIG_PATHS": Case(False, paused, {"PAUSE_THRESHOLD_MIB": last_mib()}),
    "MONITOR_PATHS": Case(["."], paused, {"PAUSE_THRESHOLD_MIB": last_mib(), "MONITOR_CONFIG_PATHS": False}),
    "PAUSE_THRESHOLD_MIB": Case(last_mib(), paused, {"MONITOR_PATHS": ["."]}),
    "QUOTAS": Case(QUOTA, refused),
    "REPORTS": Case(["seeds"], written),
    "REPORTS_JSON": Case(True, written),
    "RUNTIME_EXPIRATION_OPERATION": Case("BLOCK_URIS", refused, {"RUNTIME_SECONDS": 60}),
    "RUNTIME_SECONDS": Case(60, refused),
    "SEEDS_UNANSWERED_SHARE": Case(0.2, ended),
    "TRACK_SEEDS": Case(False, told_of("seeds", lambda curi: curi.uri)),
    "TRACK_SOURCES": Case(False, told_of("source", lambda curi: str(curi.source_tag))),
    "WARC_LIMITS": Case({"totals": {"numRecords": 5}}, written_enough),
    "WARC_WRITE_METADATA": Case(False, text_of("processors"), {"PROFILE": "heritrix"}),
    "WARC_WRITE_REQUESTS": Case(False, text_of("processors"), {"PROFILE": "heritrix"}),
}

#: Changed in the whole crawl below, or in a test of their own.
IN_A_CRAWL = {
    "ACTION_DELAY_SECONDS",
    "ACTION_DONE_DIR",
    "CHECKPOINT_INTERVAL_MINUTES",
    "CHECKPOINT_ON_SHUTDOWN",
    "FORGET_ALL_BUT_LATEST",
    "INTERVAL_SECONDS",
    "MAX_QUEUES_PER_REPORT_CATEGORY",
    "MAX_TOE_THREADS",
    "REPORTS_AT_CHECKPOINTS",
    "RUN_WHILE_EMPTY",
    "SCOPE",
    "SCOPE_SPIDER_REQUESTS",
    "SEEDS",
    "STOP_GRACE_SECONDS",
    "WARC_START_NEW_FILES_ON_CHECKPOINT",
}

#: Read by nobody there: the same word is something else, or the URI is asked for its own View.
OF_OTHERS = {
    "DESCRIPTION": "of a verb",
    "FORCE_RETIRE": "a property of a quota",
    "FOLLOW": "an argument of the command",
    "ROBOTS_STANDARD": "asked of the URI's own View",
    "ROBOTS_USER_AGENT": "asked of the URI's own View",
}

ROOMS = ("report", "operate", "commands")


def changeable(name: str) -> bool:
    row = BY_NAME[name]
    return name in changes.AT_ONCE or (row.overridable and name not in changes.REASONS)


def test_every_setting_that_is_read_here_and_may_change_has_a_case() -> None:
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in (Path(heritrix_scrapy.__file__).parent / room).rglob("*.py")
    )
    words = set(re.findall(r"\.([a-z_0-9]+)\b", source)) | set(re.findall(r'Limit\("([a-z_]+)"', source))
    wanted = {name for name, row in BY_NAME.items() if row.attribute in words and changeable(name)}
    assert wanted - IN_A_CRAWL - set(OF_OTHERS) <= set(CASES)
    assert set(CASES) | IN_A_CRAWL <= {name for name in BY_NAME if changeable(name)}


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_change_holds_at_once(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    parts = Parts(tmp_path, {f"HERITRIX_{other}": value for other, value in case.given.items()})
    case.outcome(parts)
    before = case.outcome(parts)
    parts.change(**{name: case.value})
    assert case.outcome(parts) != before


@pytest.mark.parametrize(
    ("name", "value"),
    [("REPORTS", ["nothing"]), ("QUOTAS", [{"host_max_nothing": 1}]), ("PAUSE_THRESHOLD_MIB", 1 << 50)],
)
def test_what_would_not_have_started_is_no_change_either(name: str, value: Any, tmp_path: Path) -> None:
    parts = Parts(tmp_path, {})
    with pytest.raises(ConfigurationError, match=f"HERITRIX_{name}"):
        parts.change(**{name: value})


HOST = "www.at-once.test"
SITE = {
    HOST: {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "".join(f'<a href="/{number}">x</a>' for number in range(40))},
            "/stalls": {"stall": True},
        },
        "default": {"body": "page"},
    },
    "stalls.at-once.test": {"routes": {"/robots.txt": {"status": 404}, "/": {"stall": True}}},
}


@pytest.mark.long
@pytest.mark.crawl
def test_what_needs_an_engine_changes_while_the_crawl_runs(serve: Serve, project: Any) -> None:
    web = serve(SITE)
    made = project(
        {
            "HERITRIX_SEEDS": [web.url(HOST, "/")],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_MIN_DELAY_MS": 1500,
            "HERITRIX_MAX_DELAY_MS": 1500,
            "HERITRIX_PREFERENCE_EMBED_HOPS": 0,
            "HERITRIX_INTERVAL_SECONDS": 3600,
            "HERITRIX_ACTION_DELAY_SECONDS": 0,
            "HERITRIX_CHECKPOINT_INTERVAL_MINUTES": -1,
            "HERITRIX_REPORTS_AT_CHECKPOINTS": False,
            "HERITRIX_WARC_START_NEW_FILES_ON_CHECKPOINT": False,
            "HERITRIX_FORGET_ALL_BUT_LATEST": True,
        },
        web=web,
    )
    crawl = made.start()
    jobdir = made.jobdir

    def do(name: str, /, **more: Any) -> dict[str, Any]:
        return ask(jobdir, {"do": name, **more})

    def change(**values: Any) -> None:
        do("set", values={f"HERITRIX_{name}": value for name, value in values.items()})

    def summary() -> str:
        return str(do("report", name="frontier-summary")["text"])

    def reasons() -> list[str]:
        return [str(row["reason"]) for row in do("checkpoints")["checkpoints"]]

    until(crawl, lambda: any(row.target == "/" for row in web.requests))
    until(crawl, lambda: do("status")["frontier"]["queued"] >= 40)
    change(INTERVAL_SECONDS=1, MAX_TOE_THREADS=3, MAX_QUEUES_PER_REPORT_CATEGORY=0)
    assert do("status")["fetching"]["slots"] == do("numbers")["fetching"]["slots"] == 3
    until(crawl, lambda: "...and 1 more SNOOZED." in summary())
    # the first look ever, and where what was done is kept
    change(ACTION_DELAY_SECONDS=0.3, ACTION_DONE_DIR="dealt")
    (jobdir / "action").mkdir(exist_ok=True)
    (jobdir / "action" / "more.seeds").write_text(web.url("stalls.at-once.test", "/") + "\n")
    until(crawl, lambda: any((jobdir / "dealt").glob("*.more.seeds")))
    # the timer starts; then it stops, all of them are kept, reports are written and WARC files end
    change(CHECKPOINT_INTERVAL_MINUTES=0.01)
    until(crawl, lambda: reasons() == ["on the timer"])
    assert not (jobdir / "reports" / "crawl-report.txt").exists()
    change(
        CHECKPOINT_INTERVAL_MINUTES=-1,
        FORGET_ALL_BUT_LATEST=False,
        REPORTS_AT_CHECKPOINTS=True,
        WARC_START_NEW_FILES_ON_CHECKPOINT=True,
    )
    until(crawl, lambda: any(row.host.startswith("stalls") for row in web.requests))
    kept = len(reasons())
    assert not list((jobdir / "warcs").glob("*.warc.gz"))
    until(crawl, lambda: do("checkpoint")["checkpoint"] is not None)
    assert len(reasons()) == kept + 1
    until(crawl, lambda: (jobdir / "reports" / "crawl-report.txt").exists())
    assert list((jobdir / "warcs").glob("*.warc.gz"))
    # checkpoints have ended the log, too
    noted = re.compile(r"^20\S+ +\d", re.MULTILINE)
    logs = (jobdir / "logs").glob
    until(crawl, lambda: any(noted.search(path.read_text()) for path in logs("progress-statistics.log*")))
    # what stalls is cut off, and no checkpoint is made of the rest
    change(STOP_GRACE_SECONDS=0.1, CHECKPOINT_ON_SHUTDOWN=False)
    do("terminate")
    done = made.finish(crawl, 20)
    assert done.stats["heritrix/end"] == "ABORTED", done.stderr
    assert "at the end" not in "".join(path.read_text() for path in (jobdir / "checkpoints").glob("*/*.json"))
