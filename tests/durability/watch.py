"""How does a test follow a crawl that runs, and read what it left behind?"""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from fastwarc.warc import ArchiveIterator, WarcRecordType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crawls import Crawl


def until(
    process: subprocess.Popen[str], condition: Callable[[], bool], what: str = "it happened", timeout: float = 60
) -> None:
    """Wait until the condition holds while the process runs; the test fails when the process ends before, or after
    *timeout* seconds."""
    end = time.monotonic() + timeout
    while not condition():
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            if time.monotonic() < end:
                continue
            process.kill()
        stderr = process.communicate()[1]
        raise AssertionError(f"the crawl ended (status {process.returncode}) or 60 s passed before {what}:\n{stderr}")


def recorded(process: subprocess.Popen[str], jobdir: Path, uri: str) -> None:
    """Wait until the end of a URI stands in crawl.log, and the batch that goes with the line has been written."""
    log = jobdir / "logs" / "crawl.log"

    def stands() -> bool:
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return any(line.split()[3] == uri for line in lines)

    def journal() -> int:
        return sum(path.stat().st_size for path in (jobdir / "frontier").glob("*.log"))

    until(process, stands, f"{uri} was recorded")
    # the batch follows the lines at once, a sync within a second: either lets the journal grow
    before, end = journal(), time.monotonic() + 1.5
    until(process, lambda: journal() > before or time.monotonic() > end, "the batch was written")


def archived(crawl: Crawl) -> list[str]:
    """Addresses of all response records, in order; every WARC file of the job is read whole, digests checked."""
    found: list[str] = []
    for path in crawl.warcs:
        found += responses(path)
    return found


def responses(path: Path) -> list[str]:
    """Addresses of the response records of one file."""
    found: list[str] = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, strict_mode=False, parse_http=False):
            if record.record_type == WarcRecordType.response:
                found.append(record.headers.get("WARC-Target-URI") or "")
                assert record.verify_block_digest(), (path, found[-1])
            else:
                record.reader.consume()
    return found
