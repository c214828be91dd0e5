"""Are the numbers of Heritrix's job page there, of a running crawl and of a stopped one?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.operate.numbers import BACK_MS, model
from heritrix_scrapy.report.progress import Progress, Window

if TYPE_CHECKING:
    from pathlib import Path

TOLD: dict[str, Any] = {
    "state": "RUNNING",
    "end": "RUNNING",
    "description": "Active: RUNNING",
    "launch": "20260101000000",
    "launches": 2,
    "elapsed_ms": 61_000,
    "alerts": 3,
    "frontier": {
        "queued": 5,
        "succeeded": 122,
        "failed": 2,
        "disregarded": 1,
        "to be fetched again": 4,
        "queues": {"known": 9, "in process": 1, "ready": 2, "snoozed": 3, "inactive": 0, "retired": 1, "exhausted": 2},
    },
}
TALLIES = {"bytes/novel": 61 * 10240, "urls/novel": 100, "bytes/dup_by_hash": 61 * 1024, "urls/dup_by_hash": 22}
FIELDS = {
    *("shortName", "crawlControllerState", "crawlExitStatus", "statusDescription", "availableActions", "launchCount"),
    *("lastLaunch", "isProfile", "jobLogTail", "uriTotalsReport", "sizeTotalsReport", "rateReport", "loadReport"),
    *("elapsedReport", "threadReport", "frontierReport", "crawlLogTail", "isRunning", "isLaunchable", "alertCount"),
    *("hasApplicationContext", "checkpointName", "checkpointFiles", "alertLogFilePath", "crawlLogFilePath", "reports"),
    "heapReport",
}


def made(root: Path) -> None:
    (root / "logs").mkdir()
    (root / "logs" / "crawl.log").write_text("".join(f"line {number}\n" for number in range(20)))
    (root / "job.log").write_text("launched\nrunning\n")
    (root / "warcs").mkdir()
    (root / "warcs" / "a.warc.gz.open").write_bytes(b"x" * 100)
    (root / "warcs" / "a.cdxj").write_bytes(b"x" * 100)


def test_a_running_crawl_has_them_all(tmp_path: Path) -> None:
    made(tmp_path)
    job = model(
        tmp_path,
        TOLD,
        TALLIES,
        name="basic",
        running=True,
        slots=25,
        steps={"receiving": 3, "connecting": 1},
        load={"congestion": 1.256, "average_depth": 2, "deepest": 4},
        before=(10_000, Progress(downloaded=102, bytes_total=61 * 11264 - 114 * 1024)),
        memory_mib=100,
    )
    assert set(job) == FIELDS
    assert json.loads(json.dumps(job, allow_nan=False)) == job
    assert job["uriTotalsReport"] == {
        "downloadedUriCount": 122,
        "queuedUriCount": 5,
        "totalUriCount": 130,
        "futureUriCount": 4,
    }
    assert job["sizeTotalsReport"]["total"] == 61 * 11264
    assert job["sizeTotalsReport"]["totalCount"] == 122
    assert job["sizeTotalsReport"]["dupByHashCount"] == 22
    assert job["sizeTotalsReport"]["sizeOnDisk"] == 100
    assert job["rateReport"] == {
        "currentDocsPerSecond": 2.0,
        "averageDocsPerSecond": 2.0,
        "currentKiBPerSec": 11,
        "averageKiBPerSec": 10,
    }
    assert job["loadReport"] == {
        "busyThreads": 4,
        "totalThreads": 25,
        "congestionRatio": 1.26,
        "averageQueueDepth": 2,
        "deepestQueueDepth": 4,
    }
    assert job["frontierReport"]["activeQueues"] == 6
    assert job["frontierReport"]["totalQueues"] == 9
    assert job["threadReport"]["steps"] == ["3 receiving", "1 connecting"]
    assert job["elapsedReport"]["elapsedPretty"] == "1m1s"
    assert job["crawlLogTail"] == [f"line {number}" for number in range(19, 9, -1)]
    assert job["jobLogTail"] == ["running", "launched"]
    assert job["availableActions"] == ["pause", "checkpoint", "terminate"]
    assert job["crawlExitStatus"] is None


def test_what_is_not_known_of_a_stopped_one_is_null(tmp_path: Path) -> None:
    job = model(tmp_path, {**TOLD, "state": "FINISHED", "end": "ABORTED", "elapsed_ms": 0}, {}, name="x", running=False)
    assert set(job) == FIELDS
    assert job["crawlExitStatus"] == "ABORTED"
    assert job["rateReport"]["averageDocsPerSecond"] is None
    assert job["threadReport"] is None
    assert job["loadReport"]["congestionRatio"] is None
    assert job["crawlLogFilePath"] is None
    assert job["crawlLogTail"] == []
    assert job["isLaunchable"] is True


def test_a_congestion_without_end_is_no_number_of_json(tmp_path: Path) -> None:
    job = model(tmp_path, TOLD, {}, name="x", running=True, load={"congestion": float("inf")})
    assert job["loadReport"]["congestionRatio"] is None


def test_current_rates_look_back_some_seconds_however_often_they_are_asked_for() -> None:
    window, first, later = Window(BACK_MS), Progress(), Progress(downloaded=50)
    assert window.before(0, first) is None
    for ms in range(100, BACK_MS, 100):
        assert window.before(ms, Progress(downloaded=ms // 100)) == (ms, first)
    assert window.before(BACK_MS, later) == (BACK_MS, first)
    assert window.before(2 * BACK_MS, later) == (BACK_MS, later)


def test_a_window_of_nothing_looks_back_to_the_time_before() -> None:
    window = Window(start=(0, Progress()))
    assert window.before(5, Progress(downloaded=1)) == (5, Progress())
    assert window.before(7, Progress(downloaded=3)) == (2, Progress(downloaded=1))
