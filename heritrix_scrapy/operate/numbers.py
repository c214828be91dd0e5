"""Which numbers of a job does whoever watches it want to see? The model of Heritrix's job page, under its names.

A running crawl and a stopped one have the same entries; what is not known of one is None. A plain function makes them
of what is known.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.operate import checkpoints, record
from heritrix_scrapy.report import crawled
from heritrix_scrapy.report.durations import duration
from heritrix_scrapy.report.progress import Progress, rates
from heritrix_scrapy.report.reports import REPORTS
from heritrix_scrapy.report.searching import backwards

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Milliseconds that current rates look back at least; at most twice as long.
BACK_MS = 5000

#: Verbs of a running crawl by its state, in the order of Heritrix's buttons.
ACTIONS = {
    "NASCENT": ("terminate",),
    "PREPARING": ("terminate",),
    "RUNNING": ("pause", "checkpoint", "terminate"),
    "EMPTY": ("pause", "checkpoint", "terminate"),
    "PAUSING": ("unpause", "terminate"),
    "PAUSED": ("unpause", "checkpoint", "terminate"),
    "STOPPING": (),
    "FINISHED": ("launch",),
}

#: Name in the status of a frontier → in Heritrix's report.
QUEUES = {
    "known": "totalQueues",
    "in process": "inProcessQueues",
    "ready": "readyQueues",
    "snoozed": "snoozedQueues",
    "inactive": "inactiveQueues",
    "retired": "retiredQueues",
    "exhausted": "exhaustedQueues",
}
CLASSES = ("novel", "dupByHash", "notModified", "otherDup")


def model(
    root: Path,
    told: Mapping[str, Any],
    tallies: Mapping[str, int],
    *,
    name: str,
    running: bool,
    slots: int | None = None,
    steps: Mapping[str, int] | None = None,
    load: Mapping[str, float] | None = None,
    before: tuple[int, Progress] | None = None,
    memory_mib: int | None = None,
) -> dict[str, Any]:
    """The entries, in Heritrix's order. ``told``: state, times, counts and ``frontier`` of the status; ``steps``: how
    many fetches are at which step; ``load``: ``congestion``, ``average_depth`` and ``deepest`` of the queues;
    ``before``: how many ms ago what stood, for current rates."""
    frontier: Mapping[str, Any] = told.get("frontier") or {}
    queues: Mapping[str, int] = frontier.get("queues") or {}
    state = told.get("state")
    ran_ms = told.get("elapsed_ms") or 0
    downloaded = frontier.get("succeeded")
    finished = sum(frontier.get(each, 0) for each in ("succeeded", "failed", "disregarded"))
    table = crawled.of_counters(tallies)
    size = crawled.total_bytes(table)
    age_ms, earlier = before or (0, None)
    now = Progress(downloaded=downloaded or 0, bytes_total=size)
    rates(now, ran_ms, earlier, age_ms)
    report: dict[str, Any] | None = None
    if queues:
        report = {theirs: queues.get(ours) for ours, theirs in QUEUES.items()}
        report["activeQueues"] = sum(queues.get(each, 0) for each in ("in process", "ready", "snoozed"))
        report |= {"ineligibleQueues": None, "lastReachedState": None, "queueReadiedCount": None}
    busy = sum(steps.values()) if steps is not None else None
    load = load or {}
    return {
        "shortName": name,
        "crawlControllerState": state,
        "crawlExitStatus": told.get("end") if state == "FINISHED" else None,
        "statusDescription": told.get("description"),
        "availableActions": list(ACTIONS.get(str(state), ())),
        "launchCount": told.get("launches"),
        "lastLaunch": told.get("launch") or None,
        "isProfile": False,
        "jobLogTail": newest(root / "job.log", 5),
        "uriTotalsReport": {
            "downloadedUriCount": downloaded,
            "queuedUriCount": frontier.get("queued"),
            "totalUriCount": finished + frontier.get("queued", 0) if frontier else None,
            "futureUriCount": frontier.get("to be fetched again"),
        },
        "sizeTotalsReport": {
            **{key: table.get(key, 0) for each in CLASSES for key in (each, f"{each}Count")},
            **table,
            "total": size,
            "totalCount": crawled.total_urls(table),
            "sizeOnDisk": on_disk(root),
        },
        "rateReport": {
            "currentDocsPerSecond": finite(now.current_docs) if earlier else None,
            "averageDocsPerSecond": finite(now.average_docs),
            "currentKiBPerSec": now.current_kib if earlier else None,
            "averageKiBPerSec": now.average_kib if ran_ms else None,
        },
        "loadReport": {
            "busyThreads": busy,
            "totalThreads": slots,
            "congestionRatio": finite(load.get("congestion")),
            "averageQueueDepth": load.get("average_depth"),
            "deepestQueueDepth": load.get("deepest"),
        },
        "elapsedReport": {
            "elapsedMilliseconds": told.get("elapsed_ms"),
            "elapsedPretty": duration(told.get("elapsed_ms") or 0),
        },
        "threadReport": None
        if steps is None
        else {"toeCount": slots, "steps": [f"{count} {step}" for step, count in steps.items()], "processors": None},
        "frontierReport": report,
        "crawlLogTail": newest(log(root, "crawl.log"), 10),
        "isRunning": running,
        "isLaunchable": not running,
        "hasApplicationContext": running,
        "alertCount": told.get("alerts"),
        "checkpointName": told.get("checkpoint") or None,
        "checkpointFiles": [each.name for each in reversed(checkpoints.listed(root))],
        "alertLogFilePath": there(log(root, "alerts.log")),
        "crawlLogFilePath": there(log(root, "crawl.log")),
        "reports": list(REPORTS),
        "heapReport": {"usedBytes": None if memory_mib is None else memory_mib * 1024 * 1024},
    }


def log(root: Path, name: str) -> Path:
    """A log of the latest launch."""
    latest = root / "latest" / "logs" / name
    return latest if latest.exists() else root / "logs" / name


def there(path: Path) -> str | None:
    """A file's path, when it exists."""
    return str(path) if path.exists() else None


def newest(path: Path, count: int) -> list[str]:
    """The last lines of a file, the newest first; none when it cannot be read."""
    try:
        return [line.decode("utf-8", "replace") for line in islice(backwards(path), count)]
    except OSError:
        return []


def on_disk(root: Path) -> int:
    """Bytes of the job's WARC files, of all its launches, growing ones included; where they lie outside of the JOBDIR,
    of those there that its last launch would give such names."""
    places = [(root / "warcs", ""), *((path, "") for path in root.glob("[0-9]" * 14 + "/warcs"))]
    places += [(Path(place).parent, Path(place).name) for place in record.read(root).warcs]
    return sum(_bytes_in(folder, prefix) for folder, prefix in places)


def _bytes_in(folder: Path, prefix: str) -> int:
    total = 0
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:
        for entry in found:
            name = entry.name.removesuffix(OPEN)
            if name.startswith(prefix) and name.endswith((".warc", ".warc.gz")):
                total += _size(Path(entry.path)) or _size(folder / name)
    return total


def _size(path: Path) -> int:
    """0 for a file that is gone: when it is closed its name changes."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def finite(value: float | None) -> float | None:
    """A number that JSON has; None for the others."""
    return None if value is None or not math.isfinite(value) else round(value, 2)
