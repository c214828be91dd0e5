"""What do those who read Heritrix's logs and reports take for granted? Each known reader's rule, in our words.

``ROW``: of each line of a crawl log; ``WHOLE``: of all of them, in order; ``JSON_ROW``: of a line of its JSON form;
``folder``: of the other files of a launch. A rule raises AssertionError, ValueError or IndexError, as its reader would
stumble.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# -- lines of the crawl log --------------------------------------------------------------------------------


def twelve_by_space_runs(row: str) -> None:
    """UKWA's CrawlLogLine: at most 11 splits at runs of spaces give exactly 12 parts; the last may go on with JSON;
    annotations by comma, the hour in 13 characters."""
    parts = re.split(" +", row, maxsplit=11)
    assert len(parts) == 12
    assert all(parts)
    datetime.strptime(parts[0][:13], "%Y-%m-%dT%H")
    for note in parts[11].partition(" {")[0].split(","):
        assert re.fullmatch(r"\S+", note)
        if re.match(r"dol:|ip:", note):
            assert re.fullmatch(r"dol:\d+|ip:[\d.]+|ip:[\da-fA-F:.]+", note)


def long_status_and_uris(row: str) -> None:
    """NetarchiveSuite's report: at least 11 fields, a number, URIs from which a host follows in 3 and 10; bytes only
    from ``content-size:N``, and what a quota stopped by its name."""
    parts = re.split(r"\s+", row, maxsplit=11)
    assert len(parts) >= 12
    status = int(parts[1])
    for uri in (parts[3], parts[10]):
        assert uri == "-" or ":" in uri
    assert parts[10]
    for note in parts[11].partition(" {")[0].split(","):
        if note.startswith("content-size:"):
            assert int(note[13:]) > 0
        if note.startswith("Q:"):
            assert status == -5003


def digest_index(row: str) -> None:
    """NetarchiveSuite's and Landsbokasafn's deduplicators: field 8 up to its ``+`` is 17 digits, 9 a digest with its
    scheme, lines longer than 42."""
    parts = re.split(r"\s+", row, maxsplit=12)
    assert len(parts) >= 10
    assert len(row) > 42
    assert parts[8] == "-" or re.fullmatch(r"\d{17}\+-?\d+", parts[8])
    assert parts[9] == "-" or re.fullmatch(r"sha1:[A-Z2-7]{32}", parts[9])


def twelve_non_blanks(row: str) -> None:
    """The grok pattern of monitrix: twelve groups of non-blanks, runs of spaces only behind the first two columns."""
    assert re.fullmatch(r"\S+ +-?\d+ +(?:\d+|-)(?: \S+){9}(?: \{.*\})?", row)
    assert "\t" not in row


def single_blanks(row: str) -> None:
    """monitrix: single spaces, empty parts dropped; the rest from 11 on is annotations; a time with milliseconds."""
    parts = [part for part in row.split(" ") if part]
    assert len(parts) >= 12
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", parts[0])
    assert parts[8] == "-" or parts[8][:17].isdigit()


def plain_split(row: str) -> None:
    """dbmdz: ``str.split`` and indexes 0 to 11 without a look at the length; the host between slashes."""
    parts = row.split()
    assert parts[11]
    int(parts[1])  # a server may say 2000, too
    datetime.strptime(parts[0], "%Y-%m-%dT%H:%M:%S.%f%z")
    assert parts[2] == "-" or parts[2].isdigit()
    if parts[3].startswith("http"):
        assert len(parts[3].split("/")) > 2


def mime_and_thread(row: str) -> None:
    """dbmdz and UKWA: a MIME type without parameters, a thread as ``#`` and digits with leading zeros."""
    parts = row.split()
    assert not re.search(r"[;,\s]", parts[6])
    assert re.fullmatch(r"#\d{3,}", parts[7])


def hop_path_by_blanks(row: str) -> None:
    """hoppath.pl: squeezed spaces, then single blanks: 3, 4 and 5; a seed's path is ``-``."""
    parts = re.sub(" +", " ", row).split(" ")
    assert re.fullmatch(r"-|(?:\d+\+)?[A-Z]+", parts[4])


def starts_with_a_time(row: str) -> None:
    """Web Curator Tool pages through a log by the time in front."""
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d{14}", row)


def json_last(row: str) -> None:
    """What follows the twelfth column is one JSON object."""
    rest = re.split(" +", row, maxsplit=12)[12:]
    if rest:
        assert isinstance(json.loads(rest[0]), dict)


ROW: list[Callable[[str], None]] = [
    twelve_by_space_runs,
    long_status_and_uris,
    digest_index,
    twelve_non_blanks,
    single_blanks,
    plain_split,
    mime_and_thread,
    hop_path_by_blanks,
    starts_with_a_time,
    json_last,
]

# -- all lines ---------------------------------------------------------------------------------------------


def in_order_of_writing(rows: Sequence[str]) -> None:
    """Those who page by time: no line is earlier than the one before it."""
    for before, after in pairwise(rows):
        assert before.split(" ", 1)[0] <= after.split(" ", 1)[0], after


def back_to_a_seed(rows: Sequence[str]) -> None:
    """uri-backtrace reads the log backwards, from via to via: each stands in an earlier line, spelt the same. What was
    wanted first for a page (``P``) names one that comes later."""
    seen = set()
    for row in rows:
        fields = row.split()
        uri, path, via = fields[3:6]
        seen.add(uri)
        if via != "-" and path != "-" and path[-1] != "P":
            assert via in seen, row


WHOLE: list[Callable[[Sequence[str]], None]] = [in_order_of_writing, back_to_a_seed]

# -- the JSON form -----------------------------------------------------------------------------------------

#: What UKWA's crawl-streams asks each line for.
KEYS = [
    "timestamp",
    "status_code",
    "size",
    "url",
    "hop_path",
    "via",
    "mimetype",
    "thread",
    "start_time_plus_duration",
    "content_digest",
    "seed",
    "annotations",
    "extra_info",
]


def crawl_streams(row: str) -> None:
    """UKWA's crawl-streams: these keys; a line counts only with a thread; its host is that of the address."""
    told = json.loads(row)
    assert all(key in told for key in KEYS)
    assert told["thread"] > 0
    int(told["status_code"])
    datetime.strptime(told["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    assert told["start_time_plus_duration"] is None or told["start_time_plus_duration"][:17].isdigit()
    assert urlsplit(told["url"]).scheme


JSON_ROW: list[Callable[[str], None]] = [crawl_streams]

# -- other files of a launch -------------------------------------------------------------------------------


def crawl_report(text: str) -> None:
    """heritrix-stats: lines by their beginnings, the value behind ``: ``."""
    lines = text.splitlines()
    for name in ("crawl status", "URIs processed", "URI successes", "URI failures", "total crawled bytes"):
        [line] = [line for line in lines if line.startswith(name)]
        value = line.split(": ")[1]
        assert name == "crawl status" or value.split()[0].isdigit()


def seeds_report(text: str) -> None:
    """pandas4: exactly this first line, then three or four fields with a number in front."""
    first, *rows = text.splitlines()
    assert first == "[code] [status] [seed] [redirect]"
    for row in rows:
        fields = row.split(" ")
        assert len(fields) in (3, 4)
        int(fields[0])
        assert fields[1] in ("CRAWLED", "NOTCRAWLED")


def responsecode_report(text: str) -> None:
    """heritrix-stats: a heading, then count and code with one blank between them."""
    _, *rows = text.splitlines()
    for row in rows:
        assert re.fullmatch(r"\d+ -?\d+", row)


def hosts_report(text: str) -> None:
    """WAHarvester: a heading, then numbers around the host."""
    first, *rows = text.splitlines()
    assert first.startswith("[#urls] [#bytes] [host] [#robots] [#remaining]")
    for row in rows:
        fields = row.split()
        assert len(fields) == 11
        assert all(re.fullmatch(r"-?\d+", field) for number, field in enumerate(fields) if number != 2)


def mimetype_report(text: str) -> None:
    """WAHarvester: a heading, then count, bytes and type."""
    first, *rows = text.splitlines()
    assert first == "[#urls] [#bytes] [mime-types]"
    for row in rows:
        count, size, _ = row.split(" ")
        assert int(count) > 0
        assert int(size) >= 0


def processors_report(text: str) -> None:
    """WAHarvester: chains with as many processors as they say."""
    for chain in re.split(r"(?m)^(?=\w+Chain - Processors report)", text)[1:]:
        [said] = re.findall(r"  Number of Processors: (\d+)", chain)
        assert len(re.findall(r"(?m)^Processor: \S+$", chain)) == int(said)


def progress_log(text: str) -> None:
    """WAIL looks for words of the legend; NetarchiveSuite knows the file by its name."""
    first, *rows = text.splitlines()
    assert "discovered" in first
    assert "queued" in first
    for row in rows:
        starts_with_a_time(row)


REPORTS: dict[str, Callable[[str], None]] = {
    "crawl-report.txt": crawl_report,
    "seeds-report.txt": seeds_report,
    "responsecode-report.txt": responsecode_report,
    "hosts-report.txt": hosts_report,
    "mimetype-report.txt": mimetype_report,
    "processors-report.txt": processors_report,
}
#: Names that UKWA's tidy_logs and NetarchiveSuite pick; rotated ones go on behind them.
LOG_NAMES = re.compile(
    r"(alerts|crawl|nonfatal-errors|progress-statistics|runtime-errors|uri-errors|job|scope|\w+Scoper)\.log(\.\S+)?"
    r"|crawl\.jsonl(\.\S+)?|frontier\.recover\.gz(\.\S+)?"
)


def complaints(launch: Path, *, whole: bool = True) -> list[str]:
    """Which rules the files of a launch break. ``whole``: the log has the crawl from its beginning on."""
    found = []

    def look(name: str, rule: Callable[[Any], None], what: Any) -> None:
        try:
            rule(what)
        except (AssertionError, ValueError, IndexError, KeyError) as error:
            found.append(f"{name}: {rule.__name__}: {error!r}: {what if isinstance(what, str) else ''}"[:400])

    for path in sorted((launch / "logs").iterdir()):
        if not LOG_NAMES.fullmatch(path.name):
            found.append(f"{path.name}: no name of a log")
        if path.name.startswith(("crawl.", "progress")) and path.suffix != ".gz":
            rows = path.read_text(encoding="utf-8").split("\n")
            if rows.pop():
                found.append(f"{path.name}: the last line has no end")
            if path.name.startswith("progress"):
                look(path.name, progress_log, "\n".join(rows))
                continue
            rules = JSON_ROW if path.name.startswith("crawl.jsonl") else ROW
            for row in rows:
                for rule in rules:
                    look(path.name, rule, row)
            if whole and path.name == "crawl.log":
                for of_all in WHOLE:
                    look(path.name, of_all, rows)
        if path.name.startswith("uri-errors.log"):
            for row in path.read_text(encoding="utf-8").splitlines():
                look(path.name, starts_with_a_time, row)
    for path in sorted((launch / "reports").iterdir()):
        if path.suffix == ".txt" and not path.name.endswith("-report.txt"):
            found.append(f"{path.name}: no name of a report")
        if path.name in REPORTS:
            look(path.name, REPORTS[path.name], path.read_text(encoding="utf-8"))
    return found
