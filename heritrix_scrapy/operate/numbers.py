"""Which numbers of a job does whoever watches it want to see? The model of Heritrix's job page, under its names.

A running crawl and a stopped one have the same entries; what is not known of one is None. A plain function makes them
of what is known; ``Rates`` looks at what came since a few seconds.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.operate import checkpoints
from heritrix_scrapy.report import crawled
from heritrix_scrapy.report.durations import duration
from heritrix_scrapy.report.reports import REPORTS
from heritrix_scrapy.report.searching import backwards

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


class Rates:
    """How fast the crawl is now: against what stood five to ten seconds ago, whoever asks and however often."""

    def __init__(self) -> None:
        self._before: tuple[int, int, int] | None = None
        self._next: tuple[int, int, int] | None = None

    def now(self, now_ms: int, documents: int, size: int) -> tuple[float, float] | None:
        """Documents and KiB a second; None when nobody has asked before."""
        here = (now_ms, documents, size)
        if self._next is None:
            self._before = self._next = here
        elif now_ms - self._next[0] >= BACK_MS:
            self._before, self._next = self._next, here
        assert self._before is not None
        age = (now_ms - self._before[0]) / 1000
        if age <= 0:
            return None
        return (documents - self._before[1]) / age, (size - self._before[2]) / 1024 / age


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
    current: tuple[float, float] | None = None,
    memory_mib: int | None = None,
) -> dict[str, Any]:
    """The entries, in Heritrix's order. ``told``: state, times, counts and ``frontier`` of the status; ``steps``: how
    many fetches are at which step; ``load``: ``congestion``, ``average_depth`` and ``deepest`` of the queues."""
    frontier: Mapping[str, Any] = told.get("frontier") or {}
    queues: Mapping[str, int] = frontier.get("queues") or {}
    state = told.get("state")
    seconds = (told.get("elapsed_ms") or 0) / 1000
    downloaded = frontier.get("succeeded")
    finished = sum(frontier.get(each, 0) for each in ("succeeded", "failed", "disregarded"))
    table = crawled.of_counters(tallies)
    size = crawled.total_bytes(table)
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
            "currentDocsPerSecond": None if current is None else round(current[0], 2),
            "averageDocsPerSecond": round((downloaded or 0) / seconds, 2) if seconds else None,
            "currentKiBPerSec": None if current is None else int(current[1]),
            "averageKiBPerSec": int(size / 1024 / seconds) if seconds else None,
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
    """Bytes of the files in the latest launch's WARC folder."""
    folder = root / "latest" / "warcs" if (root / "latest" / "warcs").is_dir() else root / "warcs"
    total = 0
    try:
        for path in folder.iterdir():
            if path.is_file():
                total += path.stat().st_size
    except OSError:
        # a file was renamed meanwhile, or there is no folder
        return total
    return total


def finite(value: float | None) -> float | None:
    """A number that JSON has; None for the others."""
    return None if value is None or not math.isfinite(value) else round(value, 2)
