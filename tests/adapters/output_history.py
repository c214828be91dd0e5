"""What the history, the CDX reader and the mirror of ``heritrix_scrapy.archive`` do with the cases of output.json."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from adapters.output_archive import HERITRIX, captured, facts_of
from conformance import KEPT

from heritrix_scrapy.archive import cdx, history, mirror
from heritrix_scrapy.archive.alone import Crawler, warcinfo
from heritrix_scrapy.archive.memory import History
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.recall import Recall
from heritrix_scrapy.archive.records import END_OF_RECORD, Facts, Form, content_type, group, target
from heritrix_scrapy.archive.warcfile import WarcFiles
from heritrix_scrapy.fetch.headers import compose
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.recorder import Recorder, sha1_base32
from heritrix_scrapy.model.revisit import Entry, Original, Revisit
from heritrix_scrapy.settings.view import default_view
from heritrix_scrapy.store import MemoryStore
from heritrix_scrapy.uri.fixup import fix

VIEW = default_view("heritrix")


# -- records


@cache
def scenarios() -> dict[str, dict[str, Any]]:
    """The exchanges that cases name: those of the record groups in every file at hand, and one told by its sizes."""
    found: dict[str, dict[str, Any]] = {}
    for path in (KEPT / "output.json", *(Path(word) for word in sys.argv[1:] if word.endswith("output.json"))):
        if path.exists():
            for case in json.loads(path.read_text()).get("warc_record_group", ()):
                found[case["input"].get("scenario", "")] = case["input"]
    plain = {key: found["seed"][key] for key in ("request", "response", "status", "fetch_begin_ms")}
    forced = {"uri": "http://h.example/ff", "hops": "LLE", "via": "http://h.example/", "force_fetch": True}
    found.setdefault("forcefetch no completed", plain | forced)
    return found


def stats_of(scenario: str, form: Form) -> dict[str, dict[str, int]]:
    asked = scenarios()[scenario]
    # the original counts ids of 45 characters
    ids = "urn:uuid:00000000-0000-4000-8000-000000000000"
    out: dict[str, dict[str, int]] = {}
    for record in group(captured(asked), form, lambda: ids, facts=facts_of(asked)):
        whole = len(record.head) + record.length + len(END_OF_RECORD)
        for kind in (record.kind, "totals"):
            row = out.setdefault(kind, {"numRecords": 0, "totalBytes": 0, "contentBytes": 0, "sizeOnDisk": 0})
            row["numRecords"] += 1
            row["totalBytes"] += whole
            row["contentBytes"] += record.length
            row["sizeOnDisk"] += whole
    return out


def warc_stats_per_group(case: dict[str, Any]) -> tuple[bool, object]:
    got = stats_of(case["input"]["scenario"], HERITRIX)
    return got == case["expected"], got


def stats_deviation(case: dict[str, Any], got: object) -> tuple[str, str] | None:
    """Only what the original counts too much of a revisit."""
    expected = case["expected"]
    if not isinstance(got, dict) or "revisit" not in expected:
        return None
    same = all(got[kind] == expected[kind] for kind in expected if kind not in ("revisit", "totals"))
    if same and got["revisit"]["sizeOnDisk"] == expected["revisit"]["sizeOnDisk"]:
        return "design: a defect of the original; the bytes written are counted", "archive-revisit-counts"
    return None


def warc_target_uri_check(case: dict[str, Any]) -> tuple[bool, object]:
    """What the original rejects is written with an escape."""
    text = case["input"]
    got = "accepted" if target(text) == text else "rejected"
    return got == case["expected"], got


def warc_content_type_normalise(case: dict[str, Any]) -> tuple[bool, object]:
    got = content_type(case["input"])
    return got == case["expected"], got


def warc_writer_processor(case: dict[str, Any]) -> tuple[bool, object] | None:
    asked, expected = case["input"], case["expected"]
    names = FileNames(machine=Machine("h", "", 1), now_ms=lambda: 1)
    with tempfile.TemporaryDirectory() as place:
        files = WarcFiles(
            lambda: Path(place), names, lambda name: warcinfo(Crawler("t"), HERITRIX, name, 1, "urn:uuid:1")
        )
        if "every_write_raises" in asked:
            refused = 0
            files._put = fail  # type: ignore[method-assign]
            for _ in range(asked["calls"]):
                try:
                    files.append([])
                except StorageFull:
                    refused += 1
            got: dict[str, Any] = {"refused": refused}
            return refused == asked["calls"], got
        curi = captured({"request": "GET / HTTP/1.0\r\n\r\n", **asked})
        files.append(group(curi, HERITRIX, lambda: "urn:uuid:1"))
        counts = files.drain_counts()
        left = next(Path(place).iterdir())
        got = {
            "file_suffix": left.name[left.name.index(".warc") :],
            "numRecords": {kind: counts[f"warc/{kind}/num_records"] for kind in expected["numRecords"]},
            "response.contentBytes": counts["warc/response/content_bytes"],
            "totals.sizeOnDisk": "equals length of the open file"
            if counts["warc/totals/size_on_disk"] == left.stat().st_size
            else "differs",
        }
        files.close()
    return got == expected, got


def fail(pending: list[bytes]) -> int:
    raise OSError(5, "Input/output error")


# -- history


def fetched(uri: str, told: dict[str, Any]) -> CrawlURI:
    curi = CrawlURI(uri)
    curi.settings = VIEW
    curi.status, curi.began_ms, curi.digest = told["status"], told.get("began_ms", 0), told.get("digest")
    curi.content_length = told.get("content_length", 10)
    for name in ("etag", "last_modified"):
        if told.get(name):
            curi.headers.append((name.replace("_", "-").encode(), told[name].encode()))
    return curi


def revisit_decision(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    if "conditional" in asked:
        return conditional(asked, expected)
    recall = Recall(History(MemoryStore()), by_uri=True, by_digest=False, length=asked["history_length"])
    got: list[Any] = []
    for told in asked["fetches"]:
        curi = fetched(asked["uri"], told)
        recall.judge(curi)
        curi.warc_file = "A.warc.gz"
        recall.keep(curi)
        got.append(seen(curi))
    if isinstance(expected, dict):
        return False, got
    wanted = [row and {key: row[key] for key in row if key != "entry0_digest"} for row in expected]
    return got == wanted, got


def seen(curi: CrawlURI) -> dict[str, Any] | None:
    revisit = curi.revisit
    if revisit is None:
        return None
    curi.recorder = Recorder()
    head = next(r.head for r in group(curi, HERITRIX, lambda: "urn:uuid:U", facts=facts_for(revisit)))
    lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    names = ("WARC-Payload-Digest", "WARC-Etag", "WARC-Last-Modified", "WARC-Refers-To")
    names += ("WARC-Refers-To-Date", "WARC-Refers-To-Target-URI")
    return {
        "annotation": curi.annotations[-1],
        "profile": revisit.profile,
        "headers": {name: lines[name] for name in names if name in lines},
    }


def facts_for(revisit: Revisit) -> Facts:
    return Facts(revisit=revisit)


def conditional(asked: dict[str, Any], expected: dict[str, Any]) -> tuple[bool, object]:
    recall = Recall(History(MemoryStore()), by_uri=True, by_digest=False)
    uri = "http://h.example/"
    first = fetched(uri, {"digest": "sha1:A", **asked["first"]})
    before = requested(first, recall.condition(first))
    recall.judge(first)
    first.warc_file = "A.warc.gz"
    recall.keep(first)
    second = fetched(uri, {**asked["second"]})
    sent = requested(second, recall.condition(second))
    second.status = 304
    recall.judge(second)
    got = {"before": before, "sent": sent, "profile": second.revisit and second.revisit.profile}
    lacks = expected.get("first_request_lacks")
    good = (
        (lacks is None or lacks not in before.lower())
        and expected["second_request_contains"] in sent
        and second.revisit is not None
        and second.revisit.profile == expected["profile"]
        and second.revisit.etag == expected["etag"]
        and second.revisit.last_modified == expected["last_modified"]
    )
    return good, got


def requested(curi: CrawlURI, condition: list[tuple[str, str]]) -> str:
    own = [(name.encode(), value.encode()) for name, value in condition]
    lines = compose(curi, VIEW, url=curi.uri, own=own)
    return "".join(f"{name.decode()}: {value.decode()}\r\n" for name, value in lines)


def history_deviation(case: dict[str, Any], got: object) -> tuple[str, str] | None:
    """A failed try pushes nothing out, and a history of one entry is kept as one of two."""
    asked = case["input"]
    if asked.get("history_length") == 1:
        return "design: a defect of the original; a history has two entries at least", "archive-history-length"
    if any(told["status"] < 0 for told in asked.get("fetches", ())):
        return "design: a defect of the original; only answers are remembered", "archive-history-failures"
    return None


def content_digest_history(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    memory = History(MemoryStore())
    digest = asked["digest"]
    if "action" not in asked:
        curi = fetched("http://h.example/", {"status": 200, "digest": digest, "content_length": 5})
        weighed = history.weighable(curi)
        got: dict[str, Any] = {"loader_processes": weighed, "storer_processes": weighed and curi.warc_file is not None}
        if weighed:
            got["key"] = digest
        return got == expected, got
    for key, row in asked.get("store", {}).items():
        memory.put_original(key, Original(row["original-url"], 0))
    if "history_map" in asked:
        memory.put_original(digest, Original(asked["history_map"]["original-url"], 0))
        memory.sync()
    found = memory.original(digest)
    got = {
        "history_map_exists": True,
        "history_map_empty": found is None,
        "store_after_storer": {},
        "history_map_original_url": found and found.uri,
        "store_size": 1 if found else 0,
    }
    return all(got[key] == value for key, value in expected.items()), got


def warc_dedupe_sequence(case: dict[str, Any]) -> tuple[bool, object] | None:
    body = b"abcdefghijklmnopqrstuvwxyz0123456789\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain;charset=US-ASCII\r\n\r\n"
    memory = History(MemoryStore())
    recall = Recall(memory, by_uri=False, by_digest=True)
    groups, curis, counts = [], [], []
    number = iter(range(100))
    for uri in ("http://127.0.0.1:7777/url1", "http://127.0.0.1:7777/url2"):
        curi = fetched(uri, {"status": 200, "began_ms": 1308849128574, "content_length": len(body)})
        curi.recorder = Recorder()
        curi.recorder.request.append(b"GET /url HTTP/1.0\r\n\r\n")
        curi.recorder.response.append(head + body)
        curi.recorder.body_at = len(head)
        curi.digest = sha1_base32([body])
        recall.judge(curi)
        facts = facts_for(curi.revisit) if curi.revisit else facts_of({})
        records = group(curi, HERITRIX, lambda: f"urn:uuid:{next(number)}", facts=facts)
        curi.record_id, curi.warc_file = records[0].id, "A.warc.gz"
        recall.keep(curi)
        groups.append(records)
        curis.append(curi)
        found = memory.original(curi.digest)
        assert found is not None
        counts.append((found.uri, found.count))
    asked, expected = case["input"], case["expected"]
    kept = memory.original(curis[0].digest or "")
    assert kept is not None
    special = {
        "<stored warc-record-id>": f"<{kept.record_id}>",
        "<stored content-written-date>": "2011-06-23T17:12:08Z",
    }
    if "fetches" in asked:
        kinds = ["warcinfo", *(record.kind for records in groups for record in records)]
        return kinds == expected["record_types"], kinds
    if "after" in asked:
        at = 0 if asked["after"].startswith("first") else 1
        got = {
            "annotation": (curis[at].annotations or [None])[0],
            "original-url": counts[at][0],
            "content-digest-count": counts[at][1],
            "store_size": 1,
            "report_contains": [f"Total CrawlURIs:   {at + 1}\n", f"Revisit records:   {at}\n"],
        }
        return all(got[key] == value for key, value in expected.items()), got
    which = {"response": [groups[0][0]], "first request and metadata": groups[0][1:], "revisit": [groups[1][0]]}
    lines = [record_lines(record.head) for record in which[asked["record"]]]
    good = all(
        row.get(name) == special.get(value, value)
        for row in lines
        for name, value in expected.items()
        if name != "absent"
    ) and not any(name in row for row in lines for name in expected.get("absent", ()))
    return good, lines


def record_lines(head: bytes) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)


def persist_key(case: dict[str, Any]) -> tuple[bool, object]:
    got = history.key(case["input"])
    return got == case["expected"], got


def fetch_history_insert(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    told = [ts for ts in asked.get("history_ts") or asked.get("history") or [] if ts is not None]
    before = [Entry(200, 0 if ts == "missing" else ts) for ts in told]
    known = [ts != "missing" for ts in told]
    place = history.inserted(Entry(0, asked["ts"]), before, asked["length"], known)
    got: dict[str, Any] = {"index": place}
    if place is not None:
        after: list[Any] = [*told[:place], asked["ts"], *told[place:]][: asked["length"]]
        got["history_ts"] = after + [None] * (asked["length"] - len(after))
    return got == expected, got


# -- CDX


def cdx_query_url(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    got = cdx.query_url(asked["template"], asked["uri"], asked.get("now_ms", 1_700_000_000_000))
    expected = case["expected"]
    return re.match(expected["regex"], got) is not None if isinstance(expected, dict) else got == expected, got


def cdx_lookup(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    digest, ms = cdx.lookup(asked["response"].splitlines(), asked.get("scheme", "sha1:"))
    before = [Entry(0, row.get(".ts", 0)) for row in asked.get("existing_history", ())]
    place = None if ms is None else history.inserted(Entry(0, ms), before, max(len(before), 2))
    if place is None and ms is not None and len(before) == 2:
        place = None
    got = {"index": place, "content-digest": digest, ".ts": ms, "fetch-began-time": ms}
    return all(got[key] == value for key, value in expected.items()), got


# -- mirror


class Tree:
    """A mirror in memory."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.directories = {""}

    @staticmethod
    def clean(path: str) -> str:
        return "/".join(part for part in path.split("/") if part)

    def is_dir(self, path: str) -> bool:
        return self.clean(path) in self.directories

    def is_file(self, path: str) -> bool:
        return self.clean(path) in self.files

    def names(self, path: str) -> list[str]:
        top = self.clean(path)
        start = f"{top}/" if top else ""
        every = self.files | self.directories
        return [name[len(start) :].split("/")[0] for name in every if name.startswith(start) and name != top]

    def write(self, path: str) -> None:
        parts = self.clean(path).split("/")
        self.files.add("/".join(parts))
        for at in range(1, len(parts)):
            self.directories.add("/".join(parts[:at]))


def rules_of(settings: dict[str, Any]) -> mirror.Rules:
    named = {re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name): value for name, value in settings.items()}
    return mirror.Rules(**named, base_length=10)


def mapped(uri: str, content_type: str, rules: mirror.Rules, tree: Tree) -> dict[str, Any]:
    try:
        path = mirror.place(fix(uri), content_type, rules, tree)
    except mirror.MirrorError as error:
        return {"path": None, "error": "nonfatal", "kind": error.kind}
    tree.write(path)
    return {"path": path}


def mirror_path_mapping(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    got = mapped(asked["uri"], asked["content_type"], rules_of(asked["settings"]), Tree())
    return got == case["expected"], got


def mirror_path_sequence(case: dict[str, Any]) -> tuple[bool, object]:
    asked, tree = case["input"], Tree()
    rules = rules_of(asked["settings"])
    got = [mapped(uri, asked["content_type"], rules, tree)["path"] for uri in asked["uris_in_order"]]
    return got == case["expected"], got


def mirror_deviation(case: dict[str, Any], got: object) -> tuple[str, str] | None:
    """No path outside of the mirror, and a short name where no limit leaves room."""
    expected = case["expected"]
    if isinstance(expected, list) and isinstance(got, list):
        outside = [(theirs, ours) for theirs, ours in zip(expected, got, strict=True) if theirs != ours]
        if all(ours is None and theirs is not None and "/.." in f"/{theirs}" for theirs, ours in outside):
            return "design: a defect of the original; no path leaves the mirror", "archive-mirror-escape"
    if isinstance(expected, dict) and expected.get("error") == "processor_failure":
        return "design: a defect of the original; a name that fits is found", "archive-mirror-limits"
    if isinstance(expected, dict) and "/.." in f"/{expected.get('path')}":
        return "design: a defect of the original; no path leaves the mirror", "archive-mirror-escape"
    return None


ADAPTERS = {
    "output/warc_stats_per_group": warc_stats_per_group,
    "output/warc_target_uri_check": warc_target_uri_check,
    "output/warc_content_type_normalise": warc_content_type_normalise,
    "output/warc_writer_processor": warc_writer_processor,
    "output/revisit_decision": revisit_decision,
    "output/content_digest_history": content_digest_history,
    "output/warc_dedupe_sequence": warc_dedupe_sequence,
    "output/persist_key": persist_key,
    "output/fetch_history_insert": fetch_history_insert,
    "output/cdx_query_url": cdx_query_url,
    "output/cdx_lookup": cdx_lookup,
    "output/mirror_path_mapping": mirror_path_mapping,
    "output/mirror_path_sequence": mirror_path_sequence,
}
DEVIATES = {
    "output/warc_stats_per_group": stats_deviation,
    "output/revisit_decision": history_deviation,
    "output/mirror_path_mapping": mirror_deviation,
    "output/mirror_path_sequence": mirror_deviation,
}
