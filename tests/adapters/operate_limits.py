"""How limits, quotas and the disk monitor answer ``frontier.json`` and ``output.json``."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from adapters.frontier_frontier import same

from heritrix_scrapy.model.status import BLOCKED_BY_QUOTA, BLOCKED_BY_RUNTIME_LIMIT
from heritrix_scrapy.model.tally import Tally
from heritrix_scrapy.operate import disk, limits, quotas

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
Answer = tuple[bool, object]

SNAPSHOT = {
    "bytesProcessed": "bytes_processed",
    "novelBytes": "novel_bytes",
    "warcNovelBytes": "warc_novel_bytes",
    "downloadedUriCount": "downloaded",
    "novelUriCount": "novel_urls",
    "warcNovelUriCount": "warc_novel_urls",
    "elapsedMilliseconds": "elapsed_ms",
}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def ended(settings: Case, now: Case) -> str | None:
    wanted = SimpleNamespace(**dict.fromkeys((limit.setting for limit in limits.LIMITS), 0))
    for name, value in settings.items():
        assert hasattr(wanted, name)
        setattr(wanted, name, value)
    found = limits.reached(wanted, limits.Snapshot(**now))
    return None if found is None else found[0].name


def crawl_limit(case: Case) -> Answer:
    given = case["input"]
    return same(ended({given["setting"]: given["limit"]}, given["snapshot"]), case["expected"])


def crawl_limit_unit(case: Case) -> Answer:
    given = case["in"]
    settings = {snake(name): value for name, value in given["limit"].items()}
    now = {SNAPSHOT[name]: value for name, value in given["snapshot"].items()}
    return same({"stop": ended(settings, now)}, case["expect"])


def asked(entry: Case, tallies: dict[str, Tally]) -> Case:
    """What becomes of a URI whose host, server and queue have these counters."""
    [quota] = quotas.parse([entry])
    used = quota.used_up(tallies)
    if used is None:
        return {"result": "PROCEED", "status": 0, "retire_directive": False, "annotations": []}
    retire = quota.force_retire
    told = {"status": 0 if retire else BLOCKED_BY_QUOTA, "retire_directive": retire, "annotations": [used]}
    return {"result": "FINISH", **told}


def with_count(name: str, count: int) -> dict[str, Tally]:
    """Counters under which the quota of that name stands at ``count`` of its own unit."""
    scope, counter = quotas.NUMBERS[name]
    field, unit = quotas.COUNTERS[counter]
    tally = Tally()
    setattr(tally, field, count * unit + unit // 2)
    return {scope: tally}


def quota_executed(case: Case) -> Answer:
    given = case["in"]
    if "set" in given:
        one, other = re.findall(r"(\w+)=(-?\d+)", given["set"])
        [quota] = quotas.parse([{snake(one[0]): int(one[1]), snake(other[0]): int(other[1])}])
        [left] = [bound.most for bound in quota.bounds if bound.annotation == f"Q:{one[0]}"]
        return same({f"{one[0]}_now": left}, case["expect"])
    name = snake(given["setting"])
    entry = {name: given["quota"], "force_retire": given["forceRetire"]}
    return same(asked(entry, with_count(name, given["actual"])), case["expect"])


def quota_deviates(case: Case, got: object) -> tuple[str, str] | None:
    if "set" in case["in"] or case["in"]["setting"] in ("groupMaxNovelKb", "groupMaxNovelUrls"):
        return "defect D-04: the group's settings share their storage with the server's", "operate-group-quotas"
    return None


def quota_unit(case: Case) -> Answer:
    given, got, tallies = case["in"], [], {scope: Tally() for scope in quotas.SCOPES}
    [(name, most)] = given["setting"].items()
    entry = {snake(name): most, "force_retire": given["forceRetire"]}
    for step in given["sequence"]:
        counted = re.fullmatch(r"stats of example\.com's (\w+) set to \{'(\w+)': (\d+)\}", step)
        if counted:
            setattr(tallies[counted[1]], snake(counted[2]), int(counted[3]))
            got.append(None)
            continue
        answer = asked(entry, tallies if "example.com" in step else {})
        answer.pop("annotations")
        got.append(answer)
    return same({"sequence": got}, case["expect"])


def quota_output(case: Case) -> Answer:
    given, expected = case["input"], case["expected"]
    if "other_host_not_over_quota" in given:
        return same({"result": asked({"host_max_novel_urls": 1}, {})["result"]}, expected)
    name = f"{given['scope']}_max_{given['quota']}"
    tally = Tally()
    setattr(tally, "novel_bytes" if given.get("accumulated_unit") == "bytes" else "novel_urls", given["accumulated"])
    got = asked({name: given["limit"], "force_retire": given["force_retire"]}, {given["scope"]: tally})
    told = {"result": got["result"], "status": got["status"], "queue_retired": got["retire_directive"]}
    return same({key: told[key] for key in expected}, expected)


def host_quota(case: Case) -> Answer:
    given, expected = case["in"], case["expect"]
    subdomains = given["applyToSubdomains"]
    entry = {"host": given["host"], "apply_to_subdomains": subdomains, "quotas": given["quotas"]}
    [quota] = quotas.parse([entry])
    host = given["uri"].split("/")[2]
    used = quota.used_up({"host": Tally(total_bytes=given["host_totalBytes"])}) if quota.concerns(host, None) else None
    return answered(used, expected)


def source_quota(case: Case) -> Answer:
    given = case["in"]
    [quota] = quotas.parse([{"source_tag": given["sourceTag"], "quotas": given["quotas"]}])
    tally = Tally(**{quotas.STATISTICS[name]: count for name, count in given["stats"].items()})
    used = quota.used_up({"source": tally}) if quota.concerns("a.com", given["uri_source"]) else None
    return answered(used, case["expect"])


def answered(used: str | None, expected: Case) -> Answer:
    got: Case = {"result": "PROCEED"}
    if used is not None:
        got = {"result": "FINISH", "status": BLOCKED_BY_QUOTA, "annotation": used}
    return same(got, {key: value for key, value in expected.items() if key != "why"})


def runtime(case: Case, *, modern: bool = False) -> Answer:
    given = case["in"]
    got: Case = {"result": "PROCEED"}
    if limits.outlived(given["runtimeSeconds"], given["elapsed_ms"]):
        if given["operation"] == limits.BLOCK_URIS:
            annotation = limits.expired(given["runtimeSeconds"], modern=modern)
            got = {"result": "FINISH", "status": BLOCKED_BY_RUNTIME_LIMIT, "annotation": annotation}
        elif given["operation"] == limits.TERMINATE:
            got["controller"] = "stop requested, FINISHED_TIME_LIMIT"
        else:
            got["controller"] = "pause requested"
    return same(got, case["expect"])


def modern_runtime(case: Case) -> Answer:
    return runtime(case, modern=True)


def space(case: Case) -> Answer:
    given = case["in"]
    paths = [Path("/")] if given["path_exists"] else [Path("/no/such/place")]
    found = [room._replace(usable=given["usable_bytes"]) for room in disk.rooms(paths)]
    low = any(disk.short(room, disk.threshold(given["pauseThresholdMiB"], room, chosen=True)) for room in found)
    return same({"pause": low and given["crawl_active"]}, case["expect"])


ADAPTERS: dict[str, Callable[[Case], Answer | None]] = {
    "frontier/ut_crawl_limit_enforcer": crawl_limit_unit,
    "frontier/ut_quota_enforcer": quota_unit,
    "frontier/quota_enforcer": quota_executed,
    "frontier/runtime_limit": runtime,
    "frontier/host_quota": host_quota,
    "frontier/source_quota": source_quota,
    "frontier/disk_space": space,
    "output/crawl_limit": crawl_limit,
    "output/quota": quota_output,
}
MODERN = {"frontier/runtime_limit": modern_runtime}
MODERN_ROWS = {"frontier/runtime_limit": "operate-runtime-annotation"}
DEVIATES = {"frontier/quota_enforcer": quota_deviates}
