"""How the frontier's policies answer ``frontier.json``, and the scenarios that hang on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from adapters.frontier_frontier import same, scenario, uri_of

from heritrix_scrapy.frontier.fingerprint import POLYNOMIALS, Fingerprint, bucket_for, fp64
from heritrix_scrapy.frontier.policies import named
from heritrix_scrapy.frontier.prepare import Preparer, canonicaliser
from heritrix_scrapy.frontier.queue import Queue, QueueRecord, unpack_record
from heritrix_scrapy.model.crawluri import CrawlURI
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
    "frontier/ut_highest_uri_provider_serialises": highest_uri_is_stored,
    "frontier/scenario": scenario,
}

MODERN = {"frontier/class_key": modern_class_key, "frontier/parallel_queues": modern_parallel_queues}
MODERN_ROWS = {"frontier/class_key": "frontier-limits", "frontier/parallel_queues": "frontier-parallel-once"}

DEVIATIONS = {
    "frontier/scenario/precedence_floor_bypass": ("defect D-06: the scan keeps to the floor", "frontier-floor-scan"),
    "frontier/scenario/force_retire_sticky": ("defect D-12: the wish ends with the attempt", "frontier-retire-once"),
}
DEVIATES = {"frontier/class_key": class_key_deviates}
