"""Which elements have the engine and a job? Heritrix's, in its order and with its types (spec/output 12.1, 12.2).

Clients bind these by name and type, so each number is one, whether it is known or not.
"""

from __future__ import annotations

import math
import os
import resource
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.operate.joblog import NAME as JOB_LOG
from heritrix_scrapy.operate.jobs.beans import config_paths
from heritrix_scrapy.operate.jobs.launches import of_log
from heritrix_scrapy.operate.memory import held_mib
from heritrix_scrapy.operate.numbers import newest, on_disk
from heritrix_scrapy.operate.web import paths
from heritrix_scrapy.operate.web.answers import API_VERSION
from heritrix_scrapy.report.durations import duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.operate.jobs.engine import Engine
    from heritrix_scrapy.operate.jobs.job import EngineJob, Standing

#: Reports in Heritrix's order: class → short name.
REPORTS: Final = (
    "CrawlSummaryReport",
    "SeedsReport",
    "HostsReport",
    "SourceTagsReport",
    "MimetypesReport",
    "ResponseCodeReport",
    "ProcessorsReport",
    "FrontierSummaryReport",
    "ToeThreadsReport",
)

SIZES: Final = ("dupByHash", "dupByHashCount", "notModified", "notModifiedCount", "novel", "novelCount")

#: Counts of queues, and the one that is told behind the state.
QUEUES: Final = (
    "totalQueues",
    "inProcessQueues",
    "readyQueues",
    "snoozedQueues",
    "activeQueues",
    "inactiveQueues",
    "ineligibleQueues",
    "retiredQueues",
    "exhaustedQueues",
)
READIED: Final = "queueReadiedCount"

#: State of the controller → last state that the frontier has reached.
REACHED: Final = {
    "PREPARING": "PAUSE",
    "RUNNING": "RUN",
    "EMPTY": "EMPTY",
    "PAUSING": "RUN",
    "PAUSED": "PAUSE",
    "STOPPING": "RUN",
    "FINISHED": "FINISH",
}

#: Files that are text and may be edited.
EDITABLE: Final = (".cxml", ".xml", ".txt", ".groovy", ".py", ".cfg")

ACTIONS: Final = ("rescan", "add", "create")


def engine_model(engine: Engine, base: str) -> dict[str, Any]:
    """The engine. ``base``: ``https://host:port``."""
    return {
        "heritrixVersion": API_VERSION,
        "heapReport": heap(held_mib()),
        "jobsDir": str(engine.folder.root),
        "jobsDirUrl": f"{base}/engine/jobsdir/",
        "availableActions": list(ACTIONS),
        "jobs": [listed(job, base) for job in engine.jobs()],
    }


def listed(job: EngineJob, base: str) -> dict[str, Any]:
    """A job in the engine's list."""
    standing, launches = job.standing(ask_it=False), of_log(job.jobdir / JOB_LOG)
    url = base + paths.address("engine", "job", job.name)
    made: dict[str, Any] = {
        "shortName": job.name,
        "url": url,
        "isProfile": job.place.is_profile,
        "launchCount": launches.times,
        "lastLaunch": launches.last or None,
        "hasApplicationContext": standing.built,
        "statusDescription": standing.status,
        "isLaunchInfoPartial": launches.partial,
        "primaryConfig": str(job.place.config),
        "primaryConfigUrl": f"{url}/jobdir/{job.place.config.name}",
    }
    if standing.state is not None:
        made["crawlControllerState"] = standing.state
    if standing.state == "FINISHED":
        made["crawlExitStatus"] = standing.end
    return {**made, "key": job.name}


def actions(job: EngineJob, standing: Standing) -> list[str]:
    """What can be done; a profile is not launched."""
    return [each for each in standing.actions if each != "launch" or not job.place.is_profile]


def job_model(job: EngineJob, base: str) -> dict[str, Any]:
    """A job, with its numbers where it has any."""
    standing = job.standing()
    launches = of_log(job.jobdir / JOB_LOG)
    url = base + paths.address("engine", "job", job.name)
    numbers = job.numbers(standing)
    made: dict[str, Any] = {"shortName": job.name}
    if standing.state is not None:
        made["crawlControllerState"] = standing.state
    if standing.state == "FINISHED":
        made["crawlExitStatus"] = standing.end
    made |= {
        "statusDescription": standing.status,
        "availableActions": actions(job, standing),
        "launchCount": launches.times,
        "lastLaunch": launches.last or None,
        "isProfile": job.place.is_profile,
        "primaryConfig": str(job.place.config),
        "primaryConfigUrl": f"{url}/jobdir/{job.place.config.name}",
        "url": url,
        "jobLogTail": newest(job.jobdir / JOB_LOG, 5) or None,
        "uriTotalsReport": totals(numbers) if standing.built else None,
        "sizeTotalsReport": sizes(job, numbers, built=standing.built),
        "rateReport": rates(numbers, standing) if standing.built else None,
        "loadReport": load(numbers, standing) if standing.built else None,
        "elapsedReport": elapsed(numbers) if standing.built else None,
        "threadReport": threads(numbers) if standing.running else None,
        "frontierReport": frontier(numbers, standing) if standing.launched else None,
        "crawlLogTail": (numbers.get("crawlLogTail") or None) if standing.launched else None,
        "configFiles": config_files(job, url) if standing.built else None,
        "isLaunchInfoPartial": launches.partial,
        "isRunning": standing.running,
        "isLaunchable": not standing.built or (standing.valid and not standing.launched),
        "hasApplicationContext": standing.built,
        "alertCount": alerts(standing),
    }
    if job.checkpoint:
        made["checkpointName"] = job.checkpoint
    made["checkpointFiles"] = (job.checkpoints() or None) if standing.state == "NASCENT" and standing.valid else None
    if standing.built:
        logs = launch_folder(job, standing)
        made["alertLogFilePath"] = f"{job.jobdir}/{logs}/logs/alerts.log"
        made["alertLogFileUrl"] = f"jobdir/{logs}/logs/alerts.log"
        if standing.launched or not standing.valid:
            made["crawlLogFilePath"] = f"{job.jobdir}/{logs}/logs/crawl.log"
            made["crawlLogFileUrl"] = f"jobdir/{logs}/logs/crawl.log"
    made["reports"] = (
        [{"className": name, "shortName": name.removesuffix("Report")} for name in REPORTS] if standing.built else None
    )
    used = ((numbers.get("heapReport") or {}).get("usedBytes") or 0) / 1024 / 1024
    made["heapReport"] = heap(used or held_mib())
    return made


def launch_folder(job: EngineJob, standing: Standing) -> str:
    """The folder of the launch, within the job's; Heritrix's name for one that is not there yet."""
    if standing.launched:
        latest = job.jobdir / "latest"
        return os.readlink(latest).rstrip("/").rpartition("/")[2] if latest.is_symlink() else standing.record.launch
    return "${launchId}"


def alerts(standing: Standing) -> int:
    """Alerts of the launch."""
    if not standing.launched:
        return 0
    return int((standing.told or {}).get("alerts") or standing.record.alerts)


def totals(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """URIs by what has become of them."""
    told = numbers.get("uriTotalsReport") or {}
    downloaded, queued = int(told.get("downloadedUriCount") or 0), int(told.get("queuedUriCount") or 0)
    return {
        "downloadedUriCount": downloaded,
        "queuedUriCount": queued,
        # what was disregarded or failed is in none of Heritrix's counts here
        "totalUriCount": downloaded + queued,
        "futureUriCount": int(told.get("futureUriCount") or 0),
    }


def sizes(job: EngineJob, numbers: Mapping[str, Any], *, built: bool) -> dict[str, Any]:
    """Bytes and documents by class."""
    told = dict(numbers.get("sizeTotalsReport") or {})
    disk = on_disk(job.jobdir)
    if not built:
        order = ("dupByHash", "dupByHashCount", "novel", "novelCount", "notModified", "notModifiedCount")
        return {**dict.fromkeys((*order, "total", "totalCount"), 0), "sizeOnDisk": disk}
    made = {name: int(told.pop(name, 0) or 0) for name in SIZES}
    made["sizeOnDisk"] = disk
    made["total"], made["totalCount"] = int(told.pop("total", 0) or 0), int(told.pop("totalCount", 0) or 0)
    told.pop("sizeOnDisk", None)
    more = {name: int(value or 0) for name, value in sorted(told.items()) if not name.startswith("otherDup") or value}
    return {**made, **more}


def rates(numbers: Mapping[str, Any], standing: Standing) -> dict[str, Any]:
    """URIs and KiB a second."""
    told = numbers.get("rateReport") or {}
    average = told.get("averageDocsPerSecond")
    return {
        "currentDocsPerSecond": float(told.get("currentDocsPerSecond") or 0.0) if standing.running else 0.0,
        "averageDocsPerSecond": float(average or 0.0) if standing.launched else math.nan,
        "currentKiBPerSec": int(told.get("currentKiBPerSec") or 0) if standing.running else 0,
        "averageKiBPerSec": int(told.get("averageKiBPerSec") or 0),
    }


def load(numbers: Mapping[str, Any], standing: Standing) -> dict[str, Any]:
    """How busy the crawl is; the ratio is what Heritrix says for one with nothing to do."""
    told, queues = numbers.get("loadReport") or {}, numbers.get("frontierReport") or {}
    congestion = told.get("congestionRatio")
    if not standing.launched:
        congestion = 0.0
    elif congestion is None:
        waiting = (queues.get("activeQueues") or 0) + (queues.get("inactiveQueues") or 0)
        congestion = math.inf if waiting else math.nan
    deepest = told.get("deepestQueueDepth")
    if deepest is None:
        deepest = 0 if standing.launched else -1
    return {
        "busyThreads": int(told.get("busyThreads") or 0),
        "totalThreads": int(told.get("totalThreads") or 0) if standing.running else 0,
        "congestionRatio": float(congestion),
        "averageQueueDepth": int(told.get("averageQueueDepth") or 0),
        "deepestQueueDepth": max(int(deepest), 0) if standing.launched else int(deepest),
    }


def elapsed(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """How long it has run."""
    ms = int((numbers.get("elapsedReport") or {}).get("elapsedMilliseconds") or 0)
    return {"elapsedMilliseconds": ms, "elapsedPretty": duration(ms)}


def threads(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """What each slot does, in the words of Heritrix's threads."""
    told = numbers.get("threadReport") or {}
    count = int(told.get("toeCount") or 0)
    busy = min(sum(int(each.partition(" ")[0]) for each in told.get("steps") or ()), count)
    idle = count - busy
    steps, processors = [], []
    if idle:
        steps.append(f"{idle} ABOUT_TO_GET_URI")
        processors.append(f"{idle} noActiveProcessor")
    if busy:
        steps.append(f"{busy} ABOUT_TO_BEGIN_PROCESSOR")
        processors.append(f"{busy} fetchHttp")
    return {"toeCount": count, "steps": steps, "processors": processors}


def frontier(numbers: Mapping[str, Any], standing: Standing) -> dict[str, Any]:
    """Queues by state."""
    told = numbers.get("frontierReport") or {}
    made: dict[str, Any] = {name: int(told.get(name) or 0) for name in QUEUES}
    made["lastReachedState"] = REACHED.get(str(standing.state), "RUN")
    if standing.state == "STOPPING" and not made["activeQueues"] + made["inactiveQueues"]:
        made["lastReachedState"] = "EMPTY"
    made[READIED] = int(told.get("readyQueues") or 0)
    return made


def config_files(job: EngineJob, url: str) -> list[dict[str, Any]]:
    """The paths that the job's beans name."""
    built = job.built
    if built is None or built.beans is None:
        return []
    standing = job.standing(ask_it=False)
    launch = launch_folder(job, standing)
    waits = standing.state in ("PREPARING", "PAUSED")
    has_warcs = standing.launched and (not waits or any((job.jobdir / launch / "warcs").glob("*")))
    made = []
    for each in config_paths(built.beans, launch, warcs_in_launch=has_warcs):
        path = each.path if each.path.startswith("/") else f"{job.jobdir}/{each.path}"
        inside = path.removeprefix(f"{job.place.folder}/")
        made.append(
            {
                "key": each.key,
                "name": each.name,
                "path": path,
                "url": f"{url}/jobdir/{inside}"
                if inside != path
                else url.partition("/engine/")[0] + "/engine/anypath" + path,
                "editable": each.editable,
            }
        )
    return made


def heap(used_mib: float | None) -> dict[str, int]:
    """Memory in bytes: in use, had at most so far, and what the machine has."""
    used = int((used_mib or 0) * 1024 * 1024)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"usedBytes": used, "totalBytes": max(used, peak), "maxBytes": most}
