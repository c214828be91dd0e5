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
    """Wait until the end of a URI stands in crawl.log, and the batch that goes with the line has been written: the
    store was written to after the log was."""
    log = jobdir / "logs" / "crawl.log"

    def logged() -> bool:
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return any(line.split()[3] == uri for line in lines)

    def written() -> bool:
        at = log.stat().st_mtime_ns
        return any(path.stat().st_mtime_ns >= at for path in (jobdir / "frontier").glob("*.log"))

    until(process, logged, f"{uri} was recorded")
    until(process, written, f"the batch of {uri} was written")


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
