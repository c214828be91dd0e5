"""How far is the crawl on a JOBDIR, and what does it wait for?

Asks the running crawl through its socket; of a stopped one it reads the store.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import StoreError
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.standing import find
from heritrix_scrapy.report.crawled import summary

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print the status; exit status 1 when there is no crawl to tell of."""
    directory = Path(args[0])
    try:
        answer = find(directory, opts.project.get("HERITRIX_JOB_NAME") or directory.resolve().name)
    except (ControlError, StoreError) as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, indent=2) if opts.json else as_text(answer))
    return 0


def as_text(answer: dict[str, Any]) -> str:
    """The same for a terminal: counts, then queues, then the ones that wait."""
    lines = [f"{answer['state']:10} {answer['jobdir']}"]
    if answer.get("reason"):
        lines.append(f"           {answer['reason']}")
    job = answer.get("job")
    if job:
        rates, sizes = job["rateReport"], job["sizeTotalsReport"]
        lines.append(f"           {job['elapsedReport']['elapsedPretty']}, {summary(sizes)}")
        lines.append(
            f"           {_number(rates['currentDocsPerSecond'])} URIs/s ({_number(rates['averageDocsPerSecond'])}"
            f" on average), {_number(rates['currentKiBPerSec'])} KiB/s ({_number(rates['averageKiBPerSec'])})"
        )
    fetching = answer.get("fetching", {})
    if fetching.get("all_wait"):
        lines.append(f"           {fetching['reason']}")
    for name, value in answer.get("frontier", {}).items():
        if isinstance(value, dict):
            lines.append(f"{name}:")
            lines += [f"  {key:24} {count}" for key, count in value.items()]
        elif isinstance(value, list):
            lines.append(f"{name}:")
            lines += ["  " + (_row(row) if isinstance(row, dict) else str(row)) for row in value]
        else:
            lines.append(f"{name:26} {value}")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else str(value)


def _row(row: dict[str, Any]) -> str:
    return "  ".join(f"{key}={value}" for key, value in row.items())
