"""Do statistics and reports say what the lines of the crawl log add up to, and the WARC files hold?

The column ``size`` of an HTTP exchange counts its body, the statistics all bytes of the answer: what they count stands
in the annotation ``content-size``.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.durability.watch import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.crawls import Crawl

pytestmark = pytest.mark.crawl

HOST, OTHER = "www.sums.test", "other.sums.test"
SAME = "the same bytes under two names " * 100
PAGES = ("a", "b", "same", "copy", "gone", "moved", "secret", "empty", "held")
SITE = {
    HOST: {
        "routes": {
            "/robots.txt": {"type": "text/plain", "body": "User-agent: *\nDisallow: /secret\n"},
            "/": {"body": "<html>" + "".join(f'<a href="/{page}">x</a>' for page in PAGES), "etag": '"1"'},
            "/a": {"body": "<html>a page", "headers": [["X-Long", "x" * 300]]},
            "/b": {"body": "0123456789" * 5000, "type": "Text/Plain; charset=utf-8", "etag": '"b"'},
            "/same": {"body": SAME},
            "/copy": {"body": SAME},
            "/gone": {"status": 404, "body": "no"},
            "/moved": {"redirect": "/a"},
            "/empty": {"body": ""},
            "/held": {"stall": True, "cases": [{"if": {"nth_from": 2}, "then": {"body": "at last"}}]},
        }
    },
    OTHER: {"routes": {"/": {"body": "another host"}}},
}
#: Families of counters that the lines of the log determine.
FAMILIES = ("uris", "status", "urls", "bytes", "mime", "mime_bytes")
CLASSES = {"duplicate:digest": "dup_by_hash", "duplicate:server-not-modified": "not_modified"}


def ends(lines: Iterable[str]) -> list[list[str]]:
    """The columns of each end; the last one where a kill had a URI fetched again. A seed's target may be fetched twice,
    by two paths."""
    return list({(fields[3], fields[4]): fields for fields in map(str.split, lines)}.values())


def sums(lines: Iterable[str], *, modern: bool) -> dict[str, int]:
    """The counters that the lines make."""
    found: Counter[str] = Counter()
    for fields in ends(lines):
        code, notes = int(fields[1]), fields[11].split(",")
        found["uris/finished"] += 1
        found[f"status/{code}"] += 1
        if code <= 0:
            found[
                "uris/disregarded" if code in (-9998, -4001, -4002, -5000, -5001, -5002, -6000) else "uris/failed"
            ] += 1
            continue
        size = sum(int(note.partition(":")[2]) for note in notes if note.startswith("content-size:"))
        kind = next((CLASSES[note] for note in notes if note in CLASSES), "novel")
        mime = fields[6].lower() if modern else fields[6]
        for name, count in ((f"urls/{kind}", 1), (f"bytes/{kind}", size), (f"mime/{mime}", 1)):
            found[name] += count
        found[f"mime_bytes/{mime}"] += size
        found["uris/downloaded"] += 1
    return dict(found)


def of_families(counters: Mapping[str, Any]) -> dict[str, int]:
    return {name: count for name, count in counters.items() if name.partition("/")[0] in FAMILIES and count}


def stats(crawl: Crawl) -> dict[str, Any]:
    return {name[9:]: value for name, value in crawl.stats.items() if name.startswith("heritrix/")}


def report(crawl: Crawl, name: str) -> Any:
    folder = crawl.jobdir / "latest" if (crawl.jobdir / "latest").exists() else crawl.jobdir
    return json.loads((folder / "reports" / name).read_text())["data"]


def reports_add_up(crawl: Crawl, lines: list[str], counted: dict[str, int], *, modern: bool) -> None:
    """Crawl, types, statuses and hosts, as the reports tell them."""
    told = report(crawl, "crawl-report.json")
    assert told["URIs processed"] == counted["uris/finished"] == len(ends(lines))
    assert told["total crawled bytes"] == sum(count for name, count in counted.items() if name.startswith("bytes/"))
    assert told["bytes"]["novel"] == counted["bytes/novel"]
    assert told["bytes"]["novelCount"] == counted["urls/novel"]
    types = {kind: [count, size] for count, size, kind in report(crawl, "mimetype-report.json")["rows"]}
    kinds = [name[5:] for name in counted if name.startswith("mime/")]
    assert types == {kind: [counted[f"mime/{kind}"], counted.get(f"mime_bytes/{kind}", 0)] for kind in kinds}
    codes = {code: count for count, code, _ in report(crawl, "responsecode-report.json")["rows"]}
    assert codes == {
        int(n[7:]): c for n, c in counted.items() if n.startswith("status/") and (modern or int(n[7:]) > 0)
    }
    sources = Counter(
        (fields[10], urlsplit(fields[3]).hostname or "dns:")
        for fields in ends(lines)
        if int(fields[1]) > 0 and fields[10] != "-"
    )
    assert {(tag, host): count for tag, host, count in report(crawl, "source-report.json")["rows"]} == sources
    hosts = {row[2]: row for row in report(crawl, "hosts-report.json")["rows"]}
    assert sum(row[0] for row in hosts.values()) == counted["uris/downloaded"]
    assert sum(row[6] for row in hosts.values()) == counted["bytes/novel"]
    assert sum(row[8] for row in hosts.values()) == counted.get("bytes/dup_by_hash", 0)
    assert sum(row[3] for row in hosts.values()) == counted.get("status/-9998", 0)
    assert sum(row[4] for row in hosts.values()) == 0, "nothing remains"


def sizes_are_those_of_the_warc(crawl: Crawl, lines: list[str]) -> None:
    """Every whole record of an answer is as long as the statistics count it, its body as long as the column says; but
    for one that was written just before the kill, its URI not finished, and that has not changed when asked again."""
    logged, unchanged = {}, set()
    for fields in map(str.split, lines):
        if fields[1] == "304":
            unchanged.add(fields[3])
        notes = dict(note.split(":", 1) for note in fields[11].split(",") if ":" in note)
        logged[fields[3]] = (int(notes.get("content-size", 0)), 0 if fields[2] == "-" else int(fields[2]))
    checked = set()
    for path in crawl.warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, parse_http=False):
                uri, length = record.headers.get("WARC-Target-URI"), int(record.headers.get("Content-Length"))
                if record.record_type == WarcRecordType.response and uri in unchanged:
                    continue
                if record.record_type == WarcRecordType.response and uri.startswith("http"):
                    block = record.reader.read()
                    assert logged[uri] == (length, len(block.partition(b"\r\n\r\n")[2])), uri
                elif record.record_type in (WarcRecordType.response, WarcRecordType.resource):
                    assert logged[uri] == (length, length), uri
                else:
                    continue
                checked.add(uri)
    assert len(checked) > 5


@pytest.mark.parametrize("profile", ["modern", pytest.param("heritrix", marks=pytest.mark.long)])
def test_statistics_are_what_the_log_adds_up_to_after_a_kill_too(serve: Any, project: Any, profile: str) -> None:
    web, modern = serve(SITE), profile == "modern"
    made = project(
        {
            "HERITRIX_PROFILE": profile,
            "HERITRIX_MAX_RETRIES": 6,
            "HERITRIX_ANNOTATE_CONTENT_SIZE": True,
            "HERITRIX_CONTENT_DIGEST_HISTORY": True,
            "HERITRIX_FETCH_HISTORY": True,
            "HERITRIX_REPORTS_JSON": True,
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_SEEDS": [web.url(HOST), web.url(OTHER), web.url(HOST, "/moved"), "http://dead.test:1/"],
            "HERITRIX_SOURCE_TAG_SEEDS": True,
        },
        web=web,
    )
    crawl = made.start()
    # all but the page that the server holds; what they were is remembered with the next sync
    until(crawl, lambda: len({line.split()[3] for line in made.result(0).log}) >= len(PAGES) + 8)
    history = made.jobdir / "history"
    until(crawl, lambda: sum(path.stat().st_size for path in history.glob("*.log")) > 2000)
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()

    resumed = made.run()
    assert resumed.returncode == 0, resumed.stderr
    # in the heritrix profile each launch has logs of its own
    logs = [*made.jobdir.glob("logs/crawl.log"), *sorted(made.jobdir.glob("[0-9]" * 14 + "/logs/crawl.log"))]
    lines = [line for path in logs for line in path.read_text().splitlines()]
    counted = sums(lines, modern=modern)
    assert counted["urls/dup_by_hash"] >= 1
    assert counted["status/-9998"] == 1
    a = web.url(HOST, "/a")
    assert sorted(report(resumed, "seeds-report.json")["rows"], key=lambda row: row[2]) == sorted(
        [
            [200, "CRAWLED", web.url(HOST), None],
            [200, "CRAWLED", web.url(OTHER), None],
            [302, "CRAWLED", web.url(HOST, "/moved"), a],
            # where a seed leads to is one, too
            [200, "CRAWLED", a, None],
            [-6, "NOTCRAWLED", "http://dead.test:1/", None],
        ],
        key=lambda row: row[2],
    )
    reports_add_up(resumed, lines, counted, modern=modern)
    sizes_are_those_of_the_warc(resumed, lines)

    # a second crawl of the job, from its start to its end: what has not changed is told apart
    again = made.run("-s", "HERITRIX_NEW_CRAWL=True")
    assert again.returncode == 0, again.stderr
    counted = sums(again.log, modern=modern)
    assert counted["urls/not_modified"] >= 1, "at least the first page was remembered before the kill"
    assert of_families(stats(again)) == {name: count for name, count in counted.items() if count}
    reports_add_up(again, again.log, counted, modern=modern)
