"""Do the reports and the error logs of a crawl say what Heritrix's said?

What cannot be equal is masked on both sides: times, rates, sizes of our own records, the end status (Heritrix's is
wrong), Java's thread dump. Lines whose order Heritrix leaves to chance are compared sorted.
"""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    "crawl-report.txt",
    "seeds-report.txt",
    "hosts-report.txt",
    "source-report.txt",
    "mimetype-report.txt",
    "responsecode-report.txt",
    "processors-report.txt",
    "frontier-summary-report.txt",
)

#: Logs of which the URIs are compared.
LOGS = ("nonfatal-errors.log", "runtime-errors.log", "uri-errors.log")

MASKS = (
    # times
    (re.compile(r"(report - )(<ts>|\d{12})$"), r"\1<ts>"),
    (re.compile(r"^(duration: ).*"), r"\1<ms>"),
    (re.compile(r"^(URIs/sec|KB/sec): .*"), r"\1: <rate>"),
    (re.compile(r"(<date>|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"), "<date>"),
    # errata: Heritrix prints the state it was in before the end
    (re.compile(r"^(crawl status: ).*"), r"\1<status>"),
    # sizes of our own: a warcinfo record and a request hold names and versions
    (re.compile(r"^(  Total (uncompressed bytes|size on disk) \(.*\): ).*"), r"\1<size>"),
)

#: Lines below the heading of the manager thread, up to the next blank one, tell of a Java thread.
THREAD = " -----===== MANAGER THREAD =====-----"
SORTED = frozenset({"seeds-report.txt", "source-report.txt", "hosts-report.txt"})


def masked(name: str, text: str) -> list[str]:
    """The lines of a report that can be compared, in the order in which they can."""
    lines, skipping = [], False
    for line in text.splitlines():
        if skipping:
            skipping = bool(line)
            continue
        if line == THREAD:
            skipping = True
        for pattern, instead in MASKS:
            line = pattern.sub(instead, line)
        lines.append(line)
    if name == "frontier-summary-report.txt":
        # which of the queues of one length are among the longest is chance
        lines = lines[: next((at for at, line in enumerate(lines) if "LONGEST QUEUES" in line), len(lines))]
    return sorted(lines) if name in SORTED else lines


def differences(golden: Path, reports: Path) -> list[str]:
    """Lines of the reports that stand on one side only, each with its report."""
    found = []
    for name in NAMES:
        wanted, path = golden / "reports" / name, reports / name
        if not wanted.exists():
            continue
        if not path.exists():
            found.append(f"{name}: not written")
            continue
        ours, theirs = masked(name, path.read_text(encoding="utf-8")), masked(name, wanted.read_text(encoding="utf-8"))
        for number in range(max(len(ours), len(theirs))):
            left = theirs[number] if number < len(theirs) else None
            right = ours[number] if number < len(ours) else None
            if left != right:
                found.append(f"{name}:{number + 1}: golden {left!r}, other {right!r}")
    return found


def text_of(path: Path) -> str:
    """A log, packed or not; empty where there is none."""
    packed = path.with_name(path.name + ".gz")
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode("utf-8", "replace")
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def uris(name: str, text: str) -> set[str]:
    """The URIs that a log names."""
    if name == "uri-errors.log":
        return {fields[1] for line in text.splitlines() if len(fields := line.split(" ", 2)) == 3}
    pattern = re.compile(r"^(?:<date>|\d{4}-\S+) +-?\d+ +\S+ (\S+) ", re.MULTILINE)
    return set(pattern.findall(text))


def log_differences(golden: Path, logs: Path) -> list[tuple[str, str, str]]:
    """(log, ``golden`` or ``other``, URI) of those that an error log names on one side only."""
    found = []
    for name in LOGS:
        theirs, ours = (uris(name, text_of(folder / name)) for folder in (golden / "logs", logs))
        found += [(name, "golden", uri) for uri in sorted(theirs - ours)]
        found += [(name, "other", uri) for uri in sorted(ours - theirs)]
    return found
