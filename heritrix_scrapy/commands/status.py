"""How far is the crawl on a JOBDIR, and what does it wait for?

Asks the running crawl through its socket; of a stopped one it reads the store.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.frontier.status import status_of_store, tallies_of_store
from heritrix_scrapy.model.errors import StoreError
from heritrix_scrapy.model.steering import PROTOCOL
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.life import End, State, description
from heritrix_scrapy.operate.numbers import model
from heritrix_scrapy.operate.record import stands
from heritrix_scrapy.report.crawled import summary
from heritrix_scrapy.store import open_store

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


def find(directory: Path, name: str = "") -> dict[str, Any]:
    """The status of the crawl on a JOBDIR, running or stopped; ``name``: of a stopped one.

    Raises ControlError or StoreError.
    """
    try:
        return ask(directory, {"do": "status"})
    except ControlError as refused:
        if not (directory / "frontier" / "CURRENT").exists():
            raise ControlError(f"{directory} is no JOBDIR of an archival crawl") from refused
    store = open_store(directory / "frontier", migrate=migrate)
    try:
        frontier = status_of_store(store, int(time.time() * 1000))
        tallies = tallies_of_store(store)
    finally:
        store.close()
    answer = {"protocol": PROTOCOL, **told(directory), "frontier": frontier}
    return {**answer, "job": model(directory, answer, tallies, name=name, running=False)}


def told(directory: Path) -> dict[str, Any]:
    """What a job whose crawl does not run has come to."""
    record = stands(directory)
    return {
        "state": record.state,
        "end": record.end,
        "description": description(State(record.state), End[record.end], alive=False),
        "reason": record.reason or None,
        "jobdir": str(directory),
        "launch": record.launch,
        "launches": record.launches,
        "started_ms": record.started_ms,
        "ended_ms": record.ended_ms,
        "elapsed_ms": record.ran_ms,
        "alerts": record.alerts,
        "checkpoint": record.checkpoint or None,
    }


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
