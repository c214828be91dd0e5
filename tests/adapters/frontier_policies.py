"""How the frontier's policies answer ``frontier.json``, and the scenarios that hang on them."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adapters.frontier_frontier import same, scenario, uri_of

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.diversion import Diversions
from heritrix_scrapy.frontier.fingerprint import POLYNOMIALS, Fingerprint, bucket_for, fp64
from heritrix_scrapy.frontier.journal import fields
from heritrix_scrapy.frontier.mapper import Diverter, HashCrawlMapper, LexicalCrawlMapper, parse_map
from heritrix_scrapy.frontier.policies import named
from heritrix_scrapy.frontier.politeness import Rest
from heritrix_scrapy.frontier.prepare import Preparer, canonicaliser
from heritrix_scrapy.frontier.queue import Queue, QueueRecord, unpack_record
from heritrix_scrapy.model.crawluri import CrawlURI, pack, unpack
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.uri.domain import assignment_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.frontier.prepare import Plan

Case = dict[str, Any]
Answer = tuple[bool, object]


def plan(hosts: Hosts | None = None, profile: str = "heritrix", **settings: Any) -> Plan:
    return Preparer(canonicaliser, named.Policies(None, hosts), heritrix=profile == "heritrix").plan(
        default_view(profile, **settings)
    )


def cost(case: Case) -> Answer:
    curi = CrawlURI(uri_of(case["in"]["uri"]), via=case["in"]["via"])
    names = ("Unit", "Wag", "Zero", "AntiCalendar")
    return same({name.lower(): plan(cost_assignment_policy=name).cost(curi) for name in names}, case["expect"])


POLICY = re.compile(r"(\w+)(?:\((.*)\))?")


def class_key(case: Case, profile: str = "heritrix") -> Answer:
    given = case["in"]
    found = POLICY.fullmatch(given["policy"])
    assert found is not None
    settings: Case = {"queue_assignment_policy": found[1]}
    hosts = Hosts(lambda key: None)
    for word in (found[2] or "").split(","):
        name, _, value = word.partition("=")
        if name == "force":
            settings["force_queue_assignment"] = value
        elif name == "limit":
            settings["queue_assignment_limit"] = int(value)
        elif name:
            hosts.host(name).addresses = [value]
    via = uri_of(given["via"], profile) if given["via"] else None
    curi = CrawlURI(uri_of(given["uri"], profile), path=given["path"], via=via)
    return same({"class_key": plan(hosts, profile, **settings).class_key(curi)}, case["expect"])


def modern_class_key(case: Case) -> Answer:
    return class_key(case, "modern")


def class_key_deviates(case: Case, got: object) -> tuple[str, str] | None:
    """A crash is no answer."""
    if str(case["expect"].get("class_key")).startswith("EXCEPTION"):
        return "defect D-18: HostnameWithLimits crashes without a host", "frontier-limits-crash"
    return None


def class_key_defer(case: Case) -> Answer:
    curi = CrawlURI("http://www.example.com/")
    curi.class_key = case["in"]["previous"]
    got = plan(defer_to_previous=case["in"]["deferToPrevious"]).class_key(curi)
    return same({"class_key": got}, case["expect"])


def parallel_queues(case: Case, profile: str = "heritrix") -> Answer:
    given = case["in"]
    via = given.get("via")
    curi = CrawlURI(uri_of(given["uri"]), path="P" if via else "", via=via and uri_of(via))
    number = given["parallelQueues"]
    got = {
        "first_segment": plan(profile=profile, parallel_queues=number),
        "whole_uri": plan(profile=profile, parallel_queues=number, parallel_queues_random_assignment=True),
        "assignment_level": plan(
            profile=profile, parallel_queues=number, queue_assignment_policy="AssignmentLevelSurt"
        ),
    }
    return same({name: got[name].class_key(curi) for name in case["expect"]}, case["expect"])


def modern_parallel_queues(case: Case) -> Answer:
    return parallel_queues(case, "modern")


def fingerprints(case: Case) -> Answer:
    text = case["in"]["input"]
    got = {f"std{degree}": f"{Fingerprint(word, degree).of(text):016x}" for degree, word in POLYNOMIALS.items()}
    return same({name: got[name] for name in case["expect"]}, case["expect"])


def consistent_hash(case: Case) -> Answer:
    given = case["in"]
    if "replica_of" in given:
        return same({"location": f"{fp64(given['replica_of']) & (1 << 64) - 1:016x}"}, case["expect"])
    return same({"bucket": bucket_for(given["input"], given["upto"])}, case["expect"])


def consistent_hash_properties(case: Case) -> Answer:
    given, expected = case["in"], case["expect"]
    if "0 <= bucket < upTo" in expected:
        return all(0 <= bucket_for(str(i), 1 + i % 32) < 1 + i % 32 for i in range(10_000)), "all buckets"
    if "moved" in expected:
        one, other = given["upTo"]
        moved = sum(bucket_for(str(i), one) != bucket_for(str(i), other) for i in range(10_000))
        return moved < int(expected["moved"].lstrip("< ")), moved
    limit = int(expected["abs(count0-count1)"].lstrip("< "))
    uneven = sum(1 - 2 * bucket_for(f"7a{i}", 2) for i in range(100_000))
    return abs(uneven) < limit, uneven


def level(case: Case) -> Answer:
    return same({"reduced": assignment_level(case["in"]["class_key"], strict=True)}, case["expect"])


def success_counts(case: Case) -> Answer:
    given = case["in"]
    record = QueueRecord(1)
    record.tally.successes = given["successes"]
    policy = [
        "SuccessCounts",
        {"base_precedence": given["basePrecedence"], "increment_counts": given["incrementCounts"]},
    ]
    plan(queue_precedence_policy=policy).set_precedence(record, CrawlURI("http://a.com/"))
    return same({"precedence": record.precedence}, case["expect"])


def hops_precedence(case: Case) -> Answer:
    given = case["in"]
    policy = ["Hops", {"navlinks_only": given["navlinksOnly"]}]
    got = plan(uri_precedence_policy=policy).precedence(CrawlURI("http://a.com/", path=given["path"]))
    return same({"precedence": got}, case["expect"])


def hash_mapper(case: Case) -> Answer:
    given = case["in"]
    got = {
        "public_suffix_regex": HashCrawlMapper(given["crawlers"], strict=True),
        "no_regex": HashCrawlMapper(given["crawlers"], by_domain=False),
        "regex_\\w+": HashCrawlMapper(given["crawlers"], by_domain=False, prefix="\\w+"),
    }
    return same({name: got[name].crawler_of(given["class_key"]) for name in case["expect"]}, case["expect"])


def lexical_mapper(case: Case) -> Answer:
    mapper = LexicalCrawlMapper(parse_map(case["in"]["map"].split(";")))
    return same({"crawler": mapper.crawler_of(case["in"]["class_key"])}, case["expect"])


class SetClock:
    def __init__(self, utc: str) -> None:
        self.now = int(datetime.fromisoformat(utc).timestamp() * 1000)

    def now_ms(self) -> int:
        return self.now


class Always:
    """A mapper that sends everything to one crawler."""

    def __init__(self, target: str) -> None:
        self.target = target

    def crawler_of(self, class_key: str) -> str:
        return self.target


def diversion(case: Case, profile: str = "heritrix") -> Answer:
    given, expected = case["in"], case["expect"]
    clock = SetClock(given.get("utc", "2026-01-02T03:04:05Z"))
    with TemporaryDirectory() as folder:
        files = Diversions(Path(folder), given.get("local", "0"), clock, heritrix=profile == "heritrix")  # type: ignore[arg-type]
        diverter = Diverter(Always(given.get("target", "1")), files, lambda curi: "com,b,")
        view = default_view(profile, check_outlinks=True)

        def lines() -> dict[str, list[str]]:
            files.flush()
            return {path.name: path.read_text().splitlines() for path in Path(folder).iterdir()}

        if "outlink" in given:
            curi = CrawlURI(given["outlink"], path=given["outlink_path"], via=given["parent"])
            curi.settings = view
            gone = diverter.divert_outlink(curi)
            [[line]] = lines().values()
            return same(
                {"result": "PROCEED", "outlink_removed": gone, "line": line},
                {key: expected[key] for key in ("result", "outlink_removed", "line")},
            )
        curi = CrawlURI(given.get("uri", "http://a.com/1"), path=given.get("path", ""), via=given.get("via"))
        curi.class_key, curi.status, curi.settings = given.get("class_key", "com,a,"), given.get("status", 0), view
        target = diverter.divert(curi)
        if "renamed" in expected:
            before = set(lines())
            clock.now += 3_600_000
            other = CrawlURI("http://a.com/2")
            other.settings = view
            diverter.divert(other)
            done = {name for name in lines() if name.endswith(".divert")}
            return before == {name.replace(".divert", ".open") for name in done}, sorted(lines())
        if given.get("same_uri_diverted_again"):
            diverter.divert(curi)
            return sum(map(len, lines().values())) == 1, lines()
        got: Case = {"result": "PROCEED" if target is None else "FINISH", "status": curi.status}
        if target is not None:
            [(name, [line])] = lines().items()
            got |= {"status": -5002, "annotation": f"to:{target}", "file": name, "line": line}
        return same(got, {key: value for key, value in expected.items() if key != "why"})


def diversion_deviates(case: Case, got: object) -> tuple[str, str] | None:
    if "outlink" not in case["in"]:
        return None
    return "design: a listed defect (D-36), the key is known", "frontier-diversion-key"


def modern_diversion(case: Case) -> Answer:
    return diversion(case, "modern")


def bandwidth(case: Case) -> Answer:
    given = case["in"]
    now = 1_000_000_000_000
    curi = CrawlURI("http://a.com/")
    curi.status, curi.began_ms, curi.ended_ms, curi.content_size = 200, now, now, given["content_size"]
    curi.settings = default_view(
        "heritrix",
        delay_factor=0,
        min_delay_ms=0,
        max_per_host_bandwidth_usage_kb_sec=given["maxPerHostBandwidthUsageKbSec"],
    )
    delay = Rest(Hosts(lambda key: None), None, heritrix=True).after(curi, now)
    rounded = round(delay / 100) * 100
    got = {"delay_ms_rounded_100": rounded, "next_emit_in_ms_rounded_100": rounded}
    return same(got, case["expect"])


def bandwidth_deviates(case: Case, got: object) -> tuple[str, str] | None:
    """The rest is what this fetch asks for, not the one before."""
    assert isinstance(got, dict)
    if got["delay_ms_rounded_100"] == case["expect"]["next_emit_in_ms_rounded_100"]:
        return "defect D-20: it lags one fetch", "frontier-bandwidth"
    return None


def key_of(directive: int, precedence: int, ordinal: int) -> bytes:
    """The last 8 bytes of a queued URI's key."""
    rank = keys.rank(directive, precedence, False, True)
    return keys.queued(keys.queued_prefix(1), *rank, ordinal)[-8:]


def insert_key(case: Case) -> Answer:
    given = case["in"]
    got = key_of(given["directive"], given["precedence"], given["ordinal"]).hex()
    return same({"key_hex": got}, {"key_hex": case["expect"]["key_hex"][-16:]})


def insert_key_order(case: Case) -> Answer:
    made = {name: key for name, key in case["in"].items() if name.startswith("key")}
    bases = [1 << bit for bit in range(61)]
    wrong = []
    for base in bases:
        found = {}
        for name, key in made.items():
            ordinal = base + int(key["ordinal"].partition("+")[2] or 0)
            found[name] = key_of(key["directive"], key["precedence"], ordinal)
        for rule in case["expect"]["unsigned_byte_order"]:
            less, more = rule.split(" < ")
            if not found[less] < found[more]:
                wrong.append((base, rule))
    return not wrong, wrong


def identity(case: Case) -> Answer:
    given = case["in"]
    if "path" in given:
        return same({"path": CrawlURI("http://a.com/", path=given["path"]).path}, case["expect"])
    # each field decides where all before it are equal
    fields = ("via", "uri", "via_context", "path")
    for place, field in enumerate(fields):
        one = {name: "http://b/" if name in fields[: place + 1] else "http://z/" for name in fields}
        other = one | {field: "http://c/"} | dict.fromkeys(fields[place + 1 :], "http://a/")
        if not made(one).identity < made(other).identity:
            return False, (one, other)
    return made(one).identity == made(one).identity, "ordered"


def made(fields: Case) -> CrawlURI:
    return CrawlURI(fields["uri"], path=fields["path"], via=fields["via"], via_context=fields["via_context"])


def ordering(case: Case) -> Answer:
    one, other = (
        CrawlURI(side["uri"], path=side["pathFromSeed"], via=side["via"], via_context=side["viaContext"]).identity
        for side in (case["input"]["a"], case["input"]["b"])
    )
    return same((one > other) - (one < other), case["expected"])


def persistence(case: Case) -> Answer:
    given = case["in"]
    if "data_put" in given:
        curi = CrawlURI("http://a.com/")
        name, value = given["data_put"]
        curi.heritable = {name: value}
        return same({"data_get_key": (unpack(pack(curi)).heritable or {}).get(name)}, case["expect"])
    return same({"uri_after_round_trip": round_trip(given["uri"])}, case["expect"])


def round_trip(text: str) -> str:
    curi = CrawlURI(uri_of(text), path="LE", via="http://via.com/", via_context="a/@href", seed=True)
    again = unpack(pack(curi))
    assert again.identity == curi.identity
    return again.uri


def stored(case: Case) -> Answer:
    return same(round_trip(case["input"]), case["expected"])


def hops_via(case: Case, heritrix: bool = True) -> Answer:
    return same(fields(case["in"]["line"], heritrix=heritrix)._asdict(), case["expect"])


def modern_hops_via(case: Case) -> Answer:
    return hops_via(case, heritrix=False)


def highest_uri_is_stored(case: Case) -> Answer:
    """The record of a queue whose precedence hangs on its URIs, through the store."""
    view = plan(queue_precedence_policy=["HighestUri", {"base_precedence": 0}])
    queue = Queue("com,a,", QueueRecord(1))
    view.set_precedence(queue.record, CrawlURI("http://a.com/"))
    fresh = unpack_record(queue.packed())
    queue.record.rank(7, 1)
    ranked = unpack_record(queue.packed())
    return (fresh.ranks, fresh.base, ranked.ranks, ranked.precedence) == ({}, 0, {7: 1}, 7), (fresh, ranked)


ADAPTERS: dict[str, Callable[[Case], Answer | None]] = {
    "frontier/cost": cost,
    "frontier/class_key": class_key,
    "frontier/class_key_defer": class_key_defer,
    "frontier/parallel_queues": parallel_queues,
    "frontier/fingerprint": fingerprints,
    "frontier/consistent_hash": consistent_hash,
    "frontier/ut_consistent_hash": consistent_hash_properties,
    "frontier/assignment_level": level,
    "frontier/success_counts_precedence": success_counts,
    "frontier/hops_precedence": hops_precedence,
    "frontier/bandwidth_delay": bandwidth,
    "frontier/hash_crawl_mapper": hash_mapper,
    "frontier/lexical_crawl_mapper": lexical_mapper,
    "frontier/crawl_mapper_diversion": diversion,
    "frontier/insert_key": insert_key,
    "frontier/hops_via_parse": hops_via,
    "frontier/ut_insert_key_order": insert_key_order,
    "frontier/ut_crawluri_identity": identity,
    "frontier/ut_crawluri_persistence": persistence,
    "scope/crawluri_ordering": ordering,
    "scope/crawluri_roundtrip": stored,
    "frontier/ut_highest_uri_provider_serialises": highest_uri_is_stored,
    "frontier/scenario": scenario,
}

MODERN = {
    "frontier/class_key": modern_class_key,
    "frontier/parallel_queues": modern_parallel_queues,
    "frontier/crawl_mapper_diversion": modern_diversion,
    "frontier/hops_via_parse": modern_hops_via,
}
MODERN_ROWS = {
    "frontier/class_key": "frontier-limits",
    "frontier/parallel_queues": "frontier-parallel-once",
    "frontier/crawl_mapper_diversion": "frontier-diversion-line",
    "frontier/hops_via_parse": "frontier-recover-fields",
}

DEVIATIONS = {
    "frontier/scenario/precedence_floor_bypass": ("defect D-06: the scan keeps to the floor", "frontier-floor-scan"),
    "frontier/scenario/force_retire_sticky": ("defect D-12: the wish ends with the attempt", "frontier-retire-once"),
}
DEVIATES = {
    "frontier/bandwidth_delay": bandwidth_deviates,
    "frontier/class_key": class_key_deviates,
    "frontier/crawl_mapper_diversion": diversion_deviates,
}
