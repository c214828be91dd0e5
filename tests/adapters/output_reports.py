"""What statistics, reports and log names do with the cases of output.json."""

from __future__ import annotations

import math
from typing import Any

from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.frontier.largest import Largest
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.status import Disposition
from heritrix_scrapy.model.tally import Tally, tally_end
from heritrix_scrapy.operate import life
from heritrix_scrapy.report import crawled, progress, tables, times
from heritrix_scrapy.report.durations import duration
from heritrix_scrapy.report.logs import rotated

NUMBERS = {"NaN": math.nan, "Infinity": math.inf}


def same(got: object, expected: object) -> bool:
    if isinstance(got, float) and isinstance(expected, str):
        return str(got) == str(NUMBERS.get(expected, expected))
    return got == expected


def format_ms(case: dict[str, Any]) -> tuple[bool, object]:
    got = {"full": duration(case["input"]), "two_units": duration(case["input"], 2)}
    return got == case["expected"], got


def timestamps(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    if "unique_calls" in asked:
        # of files that are begun in one moment
        machine, calls = Machine("host", "", 1), asked["unique_calls"]
        counted: dict[str, int] = {}
        for form in ("timestamp14", "timestamp17"):
            names = FileNames(f"${{{form}}}", machine=machine, now_ms=lambda: 1308849128574)
            counted[form] = len({names() for _ in range(calls)})
        return set(counted.values()) == {case["expected"]["distinct"]}, counted
    forms = {"log14": times.log14, "log17": times.log17, "ts14": times.ts14, "ts17": times.ts17}
    got = {name: forms[name](asked["ms"]) for name in case["expected"]}
    return got == case["expected"], got


def timestamp_parse(case: dict[str, Any]) -> tuple[bool, object]:
    try:
        got: object = times.parsed(case["input"])
    except ValueError:
        got = "error"
    wanted = case["expected"]
    return (got != "error" if wanted == "ok" else got == wanted), got


def seconds_since_epoch(case: dict[str, Any]) -> tuple[bool, object]:
    try:
        got: object = times.seconds10(case["input"])
    except ValueError:
        got = "error"
    return got == case["expected"], got


def crawled_bytes(case: dict[str, Any]) -> tuple[bool, object]:
    of = Tally()
    kinds = {None: "novel", "identical-payload-digest": "dup_by_hash", "server-not-modified": "not_modified"}
    for each in case["input"]["tallies"]:
        stats = each.get("warc_stats", {}).values()
        written = (sum(row["contentBytes"] for row in stats), sum(row["numRecords"] for row in stats))
        kind = kinds.get(each["profile"], "other_dup")
        tally_end([of.counts], Disposition.SUCCESS, 200, each["size"], 0, kind, written)
    table = crawled.of_tally(of)
    got: dict[str, Any] = {"map": table, "summary": crawled.summary(table)}
    got |= {"total_bytes": crawled.total_bytes(table), "total_urls": crawled.total_urls(table)}
    got = {name: got[name] for name in case["expected"]}
    return got == case["expected"], got


ENDS = {
    "SUCCEEDED": Disposition.SUCCESS,
    "FAILED": Disposition.FAILURE,
    "DISREGARDED": Disposition.DISREGARDED,
}
FETCH_STATS = {
    "totalScheduled": "scheduled",
    "fetchSuccesses": "successes",
    "fetchFailures": "failures",
    "fetchDisregards": "disregards",
    "fetchResponses": "responses",
    "robotsDenials": "robots_denials",
    "successBytes": "success_bytes",
    "totalBytes": "total_bytes",
    "fetchNonResponses": "nonresponses",
    "remaining": "remaining",
    "finishes": "finishes",
}


def fetch_stats(case: dict[str, Any]) -> tuple[bool, object]:
    of = Tally()
    for stage, code, size in case["input"]["events_stage_status_size"]:
        name, _, profile = stage.partition("(")
        if name == "SCHEDULED":
            of.scheduled += 1
        elif name == "RETRIED":
            of.nonresponses += 1
        else:
            # the probe's robots.txt refusal carries no status of its own
            kind = "dup_by_hash" if profile else "novel"
            tally_end([of.counts], ENDS[name], code, size, 0, kind)
    if case["input"].get("short_line"):
        fields = [getattr(of, each) for each in list(FETCH_STATS.values())[:9]]
        got: object = " ".join([*map(str, fields), times.log17(case["input"]["last_success_ms"])])
        return got == case["expected"], got
    table = crawled.of_tally(of)
    told = {
        name: getattr(of, FETCH_STATS[name]) if name in FETCH_STATS else table.get(name, 0) for name in case["expected"]
    }
    return told == case["expected"], told


def snapshot_rates(case: dict[str, Any]) -> tuple[bool, object] | None:
    asked, wanted = case["input"], case["expected"]
    if "elapsed_ms" in asked:
        last = asked["last"]
        now = progress.Progress(downloaded=asked["downloaded"], bytes_total=asked["bytes"])
        before = None if last is None else progress.Progress(downloaded=last["downloaded"], bytes_total=last["bytes"])
        progress.rates(now, asked["elapsed_ms"], before, 0 if last is None else last["age_ms"])
        got = {
            "docsPerSecond": now.average_docs,
            "totalKiBPerSec": now.average_kib,
            "currentDocsPerSecond": now.current_docs,
            "currentKiBPerSec": now.current_kib,
        }
        return all(same(got[name], value) for name, value in wanted.items()), got
    if "bytes_delta" in asked:
        now = progress.Progress(bytes_total=asked["bytes_delta"])
        progress.rates(now, 1000, progress.Progress(), asked["age_ms"])
        return now.current_kib == wanted["currentKiBPerSec"], now.current_kib
    if "discovered" in asked:
        percent = progress.percent(asked["finished"], asked["discovered"])
        return percent == wanted["percent"], percent
    total = progress.total(asked["queued"], asked["busy"], asked["downloaded"])
    return total == wanted["totalCount"], total


def congestion_ratio(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    working = asked["in_process"] + asked["snoozed"]
    got = progress.ratio(working + asked["ready"] + asked["eligible_inactive"], working)
    return same(got, case["expected"]), got


def seeds_report_order(case: dict[str, Any]) -> tuple[bool, object]:
    got = sorted(case["input"], key=tables.seed_order)
    return got == case["expected"], got


def seeds_report_line(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    code = asked["code"]
    row = (code, "CRAWLED" if code > 0 else "NOTCRAWLED", asked["seed"], asked["redirect"])
    got = tables.seed_line(row) + "\n"
    return got == case["expected"], got


def rotated_log_name(case: dict[str, Any]) -> tuple[bool, object]:
    asked = case["input"]
    got = rotated(asked["log"], asked.get("checkpoint") or asked["existing_mtime_ts14"])
    return got == case["expected"], got


def longest(size: int, updates: list[list[Any]] | str) -> dict[str, Any]:
    """What the tracker of the longest queues holds after updates, written out or as ``str(i) -> i``."""
    of = Largest(size)
    for name, count in [[str(number), number] for number in range(101)] if isinstance(updates, str) else updates:
        of.update(name, count)
    listed = of.descending()
    return {"size": len(listed), "largest": listed[0][0], "smallest": listed[-1][0]}


def top_n(case: dict[str, Any]) -> tuple[bool, object]:
    got = longest(case["input"]["n"], case["input"]["updates"])
    return got == case["expected"], got


def frontier_topnset(case: dict[str, Any]) -> tuple[bool, object]:
    got = longest(case["in"]["n"], case["in"]["updates"])
    return got == case["expect"], got


def padding_buffer(case: dict[str, Any]) -> tuple[bool, object]:
    got = ""
    for name, *given in case["input"]:
        if name == "padTo":
            got = got.ljust(given[0])
        elif name == "append":
            got += given[0]
        else:
            got = progress.right(got, given[0], str(given[1]), apart=0)
    return got == case["expected"], got


def pad_to(case: dict[str, Any]) -> tuple[bool, object]:
    got = progress.right("", case["input"]["width"], str(case["input"]["value"]), apart=0)
    return got == case["expected"], got


def zero_pad10(case: dict[str, Any]) -> tuple[bool, object]:
    got = times.ten(case["input"])
    return got == case["expected"], got


def progress_log_contains(case: dict[str, Any]) -> tuple[bool, object]:
    """The notes of the states that every crawl comes through, below the first line."""
    states = (life.State.PREPARING, life.State.RUNNING, life.State.STOPPING)
    lines = [progress.LEGEND]
    for state in states:
        word, message = life.NOTES[state]
        lines.append(progress.note(0, word, message or life.End.FINISHED.value))
    got = "\n".join(lines)
    return case["expected"] in got, got


#: The two seeds of the self test, with what was fetched from each: (host, bytes of each page).
PAGES = {
    "http://127.0.0.1:7777/a.html": ("127.0.0.1", [734, 734, 734]),
    "http://localhost:7777/b.html": ("localhost", [575] * 9 + [583]),
}
LOOK_UP = 50


def statistics_selftest(case: dict[str, Any]) -> tuple[bool, object]:
    hosts, whole = Hosts(lambda key: None), Tally()

    def end(uri: str, tag: str, size: int, written: tuple[int, int]) -> None:
        curi = CrawlURI(uri, source_tag=tag)
        tally_end((whole.counts, *hosts.tallies_of(curi)), Disposition.SUCCESS, 200, size, 0, "novel", written)

    for tag, (host, sizes) in PAGES.items():
        for number, size in enumerate(sizes):
            end(f"http://{host}:7777/{number}", tag, size, (size, 1))
    # the system's resolver: no record is written
    end("dns:localhost", "http://localhost:7777/b.html", LOOK_UP, (0, 0))
    asked = case["input"]
    if "source" in asked:
        of = hosts.source(asked["source"])
    else:
        of = hosts.host(asked["host"]).tally if "host" in asked else whole
    table = crawled.of_tally(of)
    if case["expected"] is None:
        return not table, table
    of_names = asked.get("host") == "dns:" or "localhost" in str(asked.get("source"))
    got = {**table, "keys": len(table), "novel_minus_dns": table.get("novel", 0) - (LOOK_UP if of_names else 0)}
    got["warcNovelContentBytes_minus_dns"] = table.get("warcNovelContentBytes", 0)
    told = {name: got.get(name, 0) for name in case["expected"]}
    return told == case["expected"], told


ADAPTERS = {
    "output/padding_buffer": padding_buffer,
    "output/pad_to": pad_to,
    "output/zero_pad10": zero_pad10,
    "output/progress_log_contains": progress_log_contains,
    "output/statistics_selftest": statistics_selftest,
    "output/format_ms": format_ms,
    "output/timestamps": timestamps,
    "output/timestamp_parse": timestamp_parse,
    "output/seconds_since_epoch": seconds_since_epoch,
    "output/crawled_bytes": crawled_bytes,
    "output/fetch_stats": fetch_stats,
    "output/snapshot_rates": snapshot_rates,
    "output/congestion_ratio": congestion_ratio,
    "output/seeds_report_order": seeds_report_order,
    "output/seeds_report_line": seeds_report_line,
    "output/rotated_log_name": rotated_log_name,
    "output/top_n": top_n,
    "frontier/ut_topnset": frontier_topnset,
}
