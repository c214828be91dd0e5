"""How journal, import, reports, seeds and operations answer ``frontier.json``, ``scope.json`` and ``output.json``."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import formats, reports
from heritrix_scrapy.frontier.importing import Nothing, Skip, recover_line
from heritrix_scrapy.frontier.journal import Journal
from heritrix_scrapy.frontier.operations import Operations
from heritrix_scrapy.frontier.seeds import announce, appended
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import MemoryStore
from tests.adapters.frontier_frontier import Frontier, Replay, Unsupported, same, uri_of

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]


class Kept(Journal):
    """A journal that stays in memory."""

    def __init__(self) -> None:
        super().__init__(lambda: Path(), lambda: 0)
        self.kept: list[str] = []
        self.append = self.kept.append

    def flush(self, *, whole: bool = False) -> None:
        """Nothing of it is on a disk."""

    def close(self) -> None:
        """Nothing is open."""


class Operated(Replay):
    """A replay with an operator and a journal."""

    def __init__(self, store: Any = None) -> None:
        super().__init__()
        self.store = MemoryStore() if store is None else store
        self.journal = Kept()
        self.frontier = Frontier(
            self.store,
            self,
            decide=lambda curi: True,
            hosts=Hosts(self.store.get),
            clock=self,
            report=self,
            journal=self.journal,
        )
        self.frontier.open()
        self.operations = Operations(self.frontier, self, self, decide=lambda curi: True)

    uniform = False

    def do(self, name: str, **given: Any) -> dict[str, Any]:
        result = self.operations.perform({"do": name, **given})
        if isinstance(result, Work):
            while not result.run(lambda: True):
                """Slice by slice."""
            return result.answer()
        return result

    def pending(self) -> list[str]:
        return [row["uri"] for row in self.do("urls")["urls"]]

    def op_delete(self, op: Case) -> Case:
        answer = self.do("delete", uri=op["uri_regex"], queue=op["queue_regex"], quiet=True)
        return {"deleted": answer["deleted"]}

    def op_pending(self, op: Case) -> Case:
        return {"uris": self.pending()}

    def op_include(self, op: Case) -> None:
        self.frontier.include(CrawlURI(uri_of(op["uri"]), path=op["path"], via=op["via"] or None))

    def op_metrics(self, op: Case) -> Case:
        got = reports.metrics(self.frontier)
        congestion: object = got["congestion"]
        if isinstance(op["expect"]["congestion_ratio"], str):
            congestion = {"inf": "Infinity", "nan": "NaN"}.get(str(congestion), str(congestion))
        return {
            "average_depth": got["average_depth"],
            "deepest_uri": got["deepest"],
            "congestion_ratio": congestion,
        }


def scenario(case: Case) -> tuple[bool, object] | None:
    try:
        return Operated().run(case["ops"])
    except Unsupported:
        return None


# ---------------------------------------------------------------- reports


def report_formats(case: Case) -> tuple[bool, object]:
    given = case["in"]
    if "ms" in given:
        return same({"text": formats.duration(given["ms"])}, case["expect"])
    if "bytes" in given:
        return same({"text": formats.size(given["bytes"])}, case["expect"])
    return same({"text1": formats.number(float(given["value"]))}, case["expect"])


def reported() -> Operated:
    """The state that the report vectors describe."""
    replay = Operated()
    for uri in ("http://a.com/", "http://b.com/", "http://c.com/"):
        replay.op_schedule({"uri": uri, "path": "", "via": "", "flags": "seed"})
    replay.op_schedule({"uri": "http://a.com/1", "path": "L", "via": "http://a.com/", "flags": ""})
    replay.op_next({"worker": "w1"})
    replay.op_next({"worker": "w2"})
    replay.op_finish({"worker": "w2", "status": 200, "politeness_ms": 0})
    return replay


DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?= - \d)")


def report_text(case: Case) -> tuple[bool, object] | None:
    replay, expected = reported(), case["expect"]
    frontier, now = replay.frontier, replay.now
    kind = case["in"]["report"]
    if kind == "metrics":
        got = reports.metrics(frontier)
        return same(
            {
                "averageDepth": got["average_depth"],
                "deepestUri": got["deepest"],
                "congestionRatio": str(got["congestion"]),
            },
            expected,
        )
    if kind == "shortReportLine":
        c = reports.counts(frontier)
        text = "{" + ", ".join(f"{key}={value}" for key, value in c.items()) + "}"
        return same(
            {"text": reports.short_line(frontier), "legend": reports.LINE_LEGEND, "map": text},
            expected,
        )
    if kind == "reportTo":
        text = "".join(f"{line}\n" for line in reports.summary(frontier, now, job="job"))
        text = re.sub(r"(?<=report - )\d{12}", "YYYYMMDDHHMM", text)
        # the threads of ours are no thread
        text = re.sub(r"^\(no thread.*\)$", "(manager thread)", text, flags=re.MULTILINE)
        return same(text, expected["text"])
    if kind == "allNonemptyReportTo":
        text = "".join(f"{line}\n" for line in reports.nonempty(frontier, now))
        return same(DATE.sub("<log17 date>", text), expected["text"])
    if kind == "allQueuesReportTo":
        lines = [DATE.sub("<log17 date>", line) for line in reports.every(frontier, now)]
        # the order is the store's
        wanted = expected["text"].splitlines()
        return [lines[0], *sorted(lines[1:])] == [wanted[0], *sorted(wanted[1:])], lines
    return None


# ---------------------------------------------------------------- journal and import

KINDS = {
    ".recover (two passes)": {},
    "journal of .recover import": {},
    ".include": {"include": "*", "schedule": "-"},
    ".schedule": {"include": "-", "schedule": "*"},
    ".force": {"include": "-", "schedule": "*", "force": True},
}


def import_recover_format(case: Case) -> tuple[bool, object] | None:
    options = KINDS.get(case["in"]["file_kind"])
    if options is None:
        return None
    replay = Operated()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        path.write_text("".join(f"{line}\n" for line in case["in"]["lines"]))
        replay.do("import", file=str(path), format="recover", **options)
    totals = replay.frontier.totals
    got = {
        "pending": replay.pending(),
        "queued": totals.queued,
        "discovered": totals.discovered,
        "lines": [line.rstrip("\n") for line in replay.journal.kept],
    }
    return same({key: got[key] for key in case["expect"]}, case["expect"])


def probe_recover_line(case: Case) -> tuple[bool, object]:
    try:
        _, curi = recover_line("F+ " + case["input"], strict=True)
    except (Skip, Nothing):
        return same({"error": True}, case["expected"])
    return same({"uri": curi.uri, "path": curi.path, "via": curi.via, "viaContext": curi.via_context}, case["expected"])


EVENTS: dict[str, Callable[[Journal, CrawlURI], None]] = {
    "added": Journal.added,
    "emitted": Journal.emitted,
    "finished_success": Journal.succeeded,
    "finished_failure": Journal.failed,
    "finished_disregard": Journal.disregarded,
    "finished_disregarded": Journal.disregarded,
    "disregarded": Journal.disregarded,
    "reenqueued": Journal.reenqueued,
    "rescheduled": Journal.reenqueued,
    "included": Journal.included,
}


def recovery_log_line(case: Case) -> tuple[bool, object] | None:
    given = case["input"]
    event = EVENTS.get(given["event"])
    if event is None:
        return None
    kept = Kept()
    event(kept, CrawlURI(given["uri"], path=given.get("hops", ""), via=given.get("via") or None))
    return same(kept.kept[0], case["expected"])


# ---------------------------------------------------------------- seeds


class Listener:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def seed_added(self, uri: str, written: str = "") -> None:
        """Told with the URI that is scheduled."""

    def non_seed_line(self, line: str) -> bool:
        self.heard.append(f"nonseed {line}")
        return True

    def seeds_read(self) -> None:
        self.heard.append("concluded")


def heard(text: str) -> list[str]:
    listener = Listener()
    view = default_view("heritrix", source_tag_seeds=True)
    for curi in announce(text.splitlines(), [listener], view):
        listener.heard.append(f"seed {curi.uri} directive={curi.directive} tag={curi.source_tag}")
    return listener.heard


def seed_text(case: Case) -> tuple[bool, object]:
    return same(heard(case["in"]["text"]), case["expect"]["notifications"])


def seed_line(case: Case) -> tuple[bool, object]:
    got: object = None
    found = heard(case["input"])[:-1]
    if found:
        kind, _, rest = found[0].partition(" ")
        if kind == "seed":
            uri, _, rest = rest.partition(" directive=")
            got = {"seed": uri, "tag": rest.partition(" tag=")[2]}
        else:
            got = {"nonseed": rest}
    elif len(case["input"].split()) > 1 and not case["input"].lstrip().startswith("#"):
        got = {"dropped": "warning"}
    return same(got, case["expected"])


def seed_file_append(case: Case) -> tuple[bool, object]:
    given = case["input"]
    return same(appended(given["uri"], given.get("via")), case["expected"])


def seed_redirect_loop(case: Case) -> tuple[bool, object]:
    replay = Operated()
    replay.op_schedule({"uri": "http://a.com/", "path": "", "via": "", "flags": "seed"})
    fetches = []
    while (curi := replay.frontier.next(replay.now)) is not None and len(fetches) < 20:
        fetches.append(f"{curi.uri} path={curi.path} seed={str(curi.seed).lower()} dir={curi.directive}")
        other = "http://b.com/" if "a.com" in curi.uri else "http://a.com/"
        curi.status, curi.delay_ms = 302, 0
        curi.outlinks = [Outlink(other, "R", "Location:")]
        replay.frontier.finish(curi, replay.now)
    return same(fetches, case["expect"]["fetches"])


# ---------------------------------------------------------------- recovery

STEPS = ("before", "checkpoint", "log dir", "recovered", "drain after recovery", "after one new queue is created")


def checkpoint_and_recovery(case: Case) -> tuple[bool, object] | None:
    """What the store gives back: there are no lists beside it, so nothing can be missed or stall."""
    step = case["in"]["step"]
    if step not in STEPS:
        return None
    if step == "checkpoint":
        return same("the store, linked: there are no lists beside it", case["expect"])
    if step == "log dir":
        with tempfile.TemporaryDirectory() as folder:
            written = Journal(lambda: Path(folder), lambda: 0)
            written.append("F+ http://a.com/1 L http://s.com/\n")
            written.rotate("cp00001-20260101000000")
            written.close()
            return same({"files": sorted(path.name for path in Path(folder).iterdir())}, case["expect"])
    replay = Operated()
    for host in "abcd":
        for page in (1, 2):
            uri = f"http://{host}.com/{page}"
            replay.op_schedule({"uri": uri, "path": "L", "via": "http://s.com/", "flags": ""})
    replay.op_next({"worker": "w1"})
    replay.op_finish({"worker": "w1", "status": 200, "politeness_ms": 60_000})
    replay.op_next({"worker": "w2"})
    if step == "before":
        return same({"state": replay.op_state({})}, case["expect"])
    replay.frontier.ledger.write()
    again = Operated(replay.store)
    again.now = replay.now
    if step == "recovered":
        got: Case = {
            "state": again.op_state({}),
            "nextOrdinal": again.frontier.totals.ordinal + 1,
            "highestPrecedenceWaiting": str(again.frontier.lists.best()),
        }
    else:
        order = again.op_drain({"max": 20, "status": 200, "politeness_ms": 0})["order"]
        if step.startswith("drain"):
            got = {"order": order, "state": again.op_state({}), "isEmpty": not again.frontier.alive()}
        else:
            again.op_schedule({"uri": "http://e.com/1", "path": "L", "via": "http://s.com/", "flags": ""})
            got = again.op_drain({"max": 20, "status": 200, "politeness_ms": 0})
    return same(got, case["expect"])


SCENARIOS = (
    "force_retire_sticky",
    "delete_uris",
    "delete_from_retired_queue",
    "delete_in_process_uri",
    "consider_included",
    "congestion",
)

ADAPTERS: dict[str, Callable[[Case], tuple[bool, object] | None]] = {
    "frontier/report_formats": report_formats,
    "frontier/report_text": report_text,
    "frontier/import_recover_format": import_recover_format,
    "frontier/seed_text": seed_text,
    "frontier/seed_redirect_loop": seed_redirect_loop,
    "frontier/checkpoint_and_recovery": checkpoint_and_recovery,
    "scope/probe_recover_line": probe_recover_line,
    "output/recovery_log_line": recovery_log_line,
    "output/seed_line": seed_line,
    "output/seed_file_append": seed_file_append,
    **{f"frontier/scenario/{name}": scenario for name in SCENARIOS},
}


def restored(case: Case, got: object) -> tuple[str, str] | None:
    if case["in"]["step"] not in ("before", "log dir"):
        return "the store's records are the state", "frontier-restart"
    return None


DEVIATES = {
    "frontier/checkpoint_and_recovery": restored,
    "frontier/scenario/force_retire_sticky": lambda case, got: ("the wish ends with its try", "frontier-retire-once"),
    "frontier/scenario/delete_in_process_uri": lambda case, got: (
        "what is in process is left alone",
        "frontier-in-process",
    ),
}
