#!/usr/bin/env python3
"""Does a crawl of a golden site give what the released Heritrix gave?

    tests/golden.py [--as job|converted] [--level N] [--warc] [--requests] [--journal] SITE_DIR[/jobs/JOB] ...

For each job: serve the site, run ``scrapy crawl archive`` with the job's settings in a subprocess (its
``runs`` one after the other on one JOBDIR), summarise the WARC files, print the comparer's table. The last
line is ``golden: N equal, N differ``. Levels L1 to LN decide the exit status, W and R, and the journal queue by
queue, too when asked for; the others are printed.

Each job runs in a network namespace of its own, so that ports 53, 80 and 443 need no root and jobs run side
by side. Where namespaces are refused it takes root, and a lock file keeps jobs one after the other.

Accepted differences are the rows of ``golden/deviations.json``: ``jobs`` (["SITE/JOB", ...]), ``uri`` or
``uri_regex``, ``level``, ``reason``, ``rests_on`` (the defect or design rule behind it). A row that is too
wide is refused, and so is one that no run of its jobs used.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import json
import os
import re
import runpy
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent / "golden"
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests import jobs as job_files  # noqa: E402
from tests.crawls import Project  # noqa: E402
from tests.report.log_readers import complaints as readers_complaints  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: How a project may say a job: ``said``.
WAYS = ("settings", "job", "converted", "takeover-1", "takeover-2", "takeover-3")
DEVIATIONS = HERE / "deviations.json"
LOCK = Path(tempfile.gettempdir()) / "heritrix-scrapy-golden.lock"
COOKIES = "cookies-saved.txt"
DEFAULT_LIMIT = 120  # seconds, for jobs that name none
STOP_SECONDS = 40  # what a crawl gets to stop by itself after its limit


def tool(name: str) -> Any:
    """One of the copied golden scripts, as a module."""
    spec = importlib.util.spec_from_file_location(f"golden_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = tool("compare")
#: Logs of which the URIs are compared: each is a level of its own in the table of deviations.
LOGS: tuple[str, ...] = tool("reports").LOGS


def find_jobs(places: Sequence[Path]) -> list[Path]:
    """Job folders: those named, and all of a site that is named whole."""
    out: list[Path] = []
    for place in places:
        if (place / "job.json").exists():
            out.append(place)
        elif (place / "site.json").exists():
            out += sorted(path.parent for path in place.glob("jobs/*/job.json"))
        else:
            raise SystemExit(f"{place}: neither a site (site.json) nor a job (job.json)")
    return [path.resolve() for path in out]


def name_of(job: Path) -> str:
    """SITE/JOB."""
    return f"{job.parents[1].name}/{job.name}"


# ------------------------------------------------------------------------------------------ deviations


def rows_for(job: Path, rows: Sequence[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """The rows that name this job, with their place in the table."""
    return [(number, row) for number, row in enumerate(rows) if name_of(job) in row.get("jobs", ())]


def too_wide(row: dict[str, Any], uris: Sequence[str]) -> str | None:
    """What is wrong with a row, judged against every URI that its jobs know; None when nothing is."""
    for key in ("jobs", "level", "reason", "rests_on"):
        if not row.get(key):
            return f"no {key}"
    if row["level"] not in (*compare.TITLES, *LOGS):
        return f"level {row['level']!r} is none of {', '.join([*compare.TITLES, *LOGS])}"
    if ("uri" in row) == ("uri_regex" in row):
        return "needs either uri or uri_regex"
    if "uri_regex" in row and uris:
        matched = [uri for uri in uris if re.fullmatch(row["uri_regex"], uri)]
        if len(matched) == len(uris):
            return "the regex matches every URI of the site"
    return None


def known_uris(job: Path) -> list[str]:
    """Every URI in the golden logs of a job."""
    return sorted({row["uri"] for folder in goldens(job) for row in compare.golden_rows(folder, "crawl")})


def goldens(job: Path) -> list[Path]:
    """Folders with the golden results, one per run."""
    numbered = sorted(job.glob("golden-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    return numbered or [job / "golden"]


# ------------------------------------------------------------------------------------------ one job


@contextmanager
def served(site: Path, work: Path) -> Iterator[tuple[Path, Path]]:
    """The site on ports 53, 80 and 443 while the block runs; (log of requests, file of the generation number).

    One server for all runs of a job: what it answers may depend on how often it was asked.
    """
    log, control = work / "requests.jsonl", work / "generation"
    log.touch()
    command = [sys.executable, str(HERE / "serve.py"), str(site), "--log", str(log), "--control", str(control)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            if not server.stdout.readline().startswith("ready"):
                raise SystemExit(f"{site}: the golden server did not start")
            yield log, control
        finally:
            server.terminate()


def crawl(project: Project, limit: float) -> tuple[int, str]:
    """Run the archive spider to its end, or stop it at the limit; (exit status, what it wrote to stderr)."""
    process = project.start(stdout=subprocess.DEVNULL)
    try:
        _, stderr = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        try:
            _, stderr = process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            project.kill()
            return -signal.SIGKILL, f"did not stop {STOP_SECONDS} s after its limit of {limit} s"
    return process.returncode, stderr


def said(declared: dict[str, Any], work: Path, way: str) -> dict[str, Any]:
    """What a project says so that it crawls as a job is declared: its settings, its job file, or what that converts
    to."""
    if way == "settings":
        return dict(declared["settings"])
    servers = {"HERITRIX_DNS_SERVERS": declared["settings"]["HERITRIX_DNS_SERVERS"]}
    text, files = job_files.golden(declared)
    path = work / "crawler-beans.cxml"
    path.write_text(text, encoding="utf-8")
    for name, lines in files.items():
        (work / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    if way == "job":
        return {"HERITRIX_JOB": str(path), **servers}
    command = [sys.executable, "-m", "scrapy", "heritrix", "convert", str(path), "-o", str(work / "converted.py")]
    subprocess.run(command, check=True, capture_output=True, cwd=work, env={**os.environ, "PYTHONPATH": str(ROOT)})
    module = runpy.run_path(str(work / "converted.py"))
    return {**{name: value for name, value in module.items() if name.startswith("HERITRIX_")}, **servers}


#: Lines of a journal that say a URI is finished.
FINISHED = ("Fs ", "Ff ", "Fd ")


def take_over(job: Path, work: Path, quarter: int, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Go on with a Heritrix job that was cut off after so many quarters of its journal, whose gzip stream is torn:
    what is finished must not be asked for again, and all the rest must be."""
    declared = json.loads((job / "job.json").read_text(encoding="utf-8"))
    golden = goldens(job)[0]
    written = tool("journal").golden_lines(golden)
    lines = written[: len(written) * quarter // 4]
    heritrix = work / "heritrix"
    logs = heritrix / "20260101000000" / "logs"
    logs.mkdir(parents=True)
    said(declared, heritrix, "job")
    packer = zlib.compressobj(wbits=31)
    torn = packer.compress("".join(f"{line}\n" for line in lines).encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
    (logs / "frontier.recover.gz").write_bytes(torn)
    warcs = logs.parent / "warcs"
    warcs.mkdir()
    (warcs / "WEB-20260101000000000-00007-4242~crawler.example~8443.warc.gz").touch()
    finished = {line.split()[1] for line in lines if line.startswith(FINISHED)}
    settings = {"TELNETCONSOLE_ENABLED": False, "HERITRIX_DNS_SERVERS": declared["settings"]["HERITRIX_DNS_SERVERS"]}
    project = Project(work / "project", settings, defaults=False)
    with served(job.parents[1], work) as (asked, control):
        control.write_text("1")
        command = [sys.executable, "-m", "scrapy", "heritrix", "import-job", str(heritrix), str(project.jobdir)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=project.folder, env=environment, check=False)
        if done.returncode:
            return {"run": golden.name, "levels": {}, "used": [], "problem": f"import-job: {done.stdout}{done.stderr}"}
        status, stderr = crawl(project, declared.get("limit", DEFAULT_LIMIT))
        requests = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()]
    left = project.result(status)
    logged = {row["uri"] for row in map(compare_row, left.log)}
    wanted = {row["uri"] for row in compare.golden_rows(golden, "crawl")}
    accepted = compare.Deviations([row for _, row in rows_for(job, rows)])

    def counts(uri: str) -> bool:
        return not is_prerequisite(uri) and not accepted.reason("L1", uri)

    again = [uri for uri in logged & finished if counts(uri)]
    lost = [uri for uri in wanted - finished - logged if counts(uri)]
    more = [uri for uri in logged - wanted if counts(uri)]
    names = [path.name for path in left.warcs]
    problem = None
    if status or again or lost or more:
        problem = f"exit {status}; fetched again: {again}; lost: {lost}; more: {more}; {stderr[-1500:]}"
    elif requests and not any("-00008-4242~crawler.example~8443.warc" in name for name in names):
        problem = f"the WARC files do not go on: {names}"
    return {"run": golden.name, "levels": {}, "used": [], "problem": problem}


def compare_row(line: str) -> dict[str, Any]:
    return {"uri": line.split()[3]}


def is_prerequisite(uri: str) -> bool:
    """What any crawl asks for again when it starts: no journal tells what came of it."""
    return uri.startswith("dns:") or uri.endswith("/robots.txt")


def run_job(job: Path, work: Path, rows: Sequence[dict[str, Any]], way: str = "settings") -> dict[str, Any]:
    """Crawl and compare every run of a job. ``way``: what the project says it in, see ``WAYS``."""
    if way.startswith("takeover"):
        return {"job": name_of(job), "runs": [take_over(job, work, int(way[-1]), rows)]}
    declared = json.loads((job / "job.json").read_text(encoding="utf-8"))
    settings = {"TELNETCONSOLE_ENABLED": False, **said(declared, work, way)}
    project = Project(work / "project", settings, defaults=False)
    runs = declared.get("runs") or [{}]
    with served(job.parents[1], work) as (asked, control):
        results = []
        for number, (run, golden) in enumerate(zip(runs, goldens(job), strict=True), 1):
            place = work / f"run-{number}"
            place.mkdir()
            control.write_text(str(run.get("generation", 1)))
            before, heard, began = set(project.result(0).warcs), asked.stat().st_size, time.monotonic()
            status, stderr = crawl(project, declared.get("limit", DEFAULT_LIMIT))
            (place / "stderr.txt").write_text(stderr)
            left = project.result(status)
            log, summary, requests = place / "crawl.log", place / "warc.jsonl", place / "requests.jsonl"
            log.write_text("".join(f"{line}\n" for line in left.log), encoding="utf-8")
            requests.write_bytes(asked.read_bytes()[heard:])
            fresh = sorted(set(left.warcs) - before, key=lambda path: path.name)
            with summary.open("w") as out:
                for row in tool("summarise_warc").summary(fresh):
                    out.write(json.dumps(row) + "\n")
            result = judged(golden, declared, log, summary, requests, rows_for(job, rows))
            journals = sorted(left.jobdir.rglob("frontier.recover.gz"), key=lambda path: path.stat().st_mtime)
            written = tool("journal").read(journals[-1]) if journals else []
            wanted = tool("journal").golden_lines(golden)
            result["journal"] = tool("journal").differences(wanted, written) if wanted else []
            folder = left.jobdir / "latest" if (left.jobdir / "latest").exists() else left.jobdir
            # what differs rightly makes other sums, so only of jobs that are equal everywhere
            result["compared"] = not any(level["accepted"] for level in result["levels"].values())
            if result["compared"]:
                result["reports"] = tool("reports").differences(golden, folder / "reports")
            numbered = rows_for(job, rows)
            accepted = compare.Deviations([row for _, row in numbered])
            result["logs"] = [
                f"{name}: {side} only {uri}"
                for name, side, uri in tool("reports").log_differences(golden, folder / "logs")
                if not accepted.reason(name, uri)
            ]
            result["used"] += [numbered[place][0] for place, times in accepted.used.items() if times]
            result["readers"] = readers_complaints(folder, whole=number == 1 or folder != left.jobdir)
            result |= {"run": golden.name, "seconds": round(time.monotonic() - began, 1), "problem": None}
            if status:
                result["problem"] = f"the crawl ended with exit status {status}: {stderr[-1500:]}"
            elif not left.log:
                result["problem"] = f"no line in crawl.log: {stderr[-1500:]}"
            elif result["readers"]:
                result["problem"] = "known readers stumble:\n" + "\n".join(result["readers"][:20])
            elif (golden / "mirror.txt").exists():
                result["problem"] = mirror_differs(golden / "mirror.txt", left.jobdir / "mirror")
            elif (golden / COOKIES).exists():
                result["problem"] = cookies_differ(golden / COOKIES, left.jobdir / COOKIES)
            results.append(result)
    return {"job": name_of(job), "runs": results}


def mirror_differs(golden: Path, mirror: Path) -> str | None:
    """How the files of a mirror differ from the golden list of sizes and paths; None when they do not."""
    wanted = set(golden.read_text(encoding="utf-8").splitlines())
    files = [path for path in mirror.rglob("*") if path.is_file()]
    found = {f"{path.stat().st_size} {path.relative_to(mirror)}" for path in files}
    return f"mirror: {sorted(wanted ^ found)[:10]}" if wanted != found else None


def cookies_differ(golden: Path, saved: Path) -> str | None:
    """How a saved cookie file differs from the golden one, whose changing times are masked; None when it does not."""
    if not saved.exists():
        return f"{COOKIES}: not written"
    wanted = golden.read_text(encoding="utf-8")
    pattern = re.escape(wanted).replace(re.escape("<time>"), r"\d+")
    found = saved.read_text(encoding="utf-8")
    return None if re.fullmatch(pattern, found) else f"{COOKIES} differs:\n{found}"


def judged(
    golden: Path,
    declared: dict[str, Any],
    log: Path,
    summary: Path,
    requests: Path,
    rows: Sequence[tuple[int, dict[str, Any]]],
) -> dict[str, Any]:
    """The comparer's levels, and which rows of the deviation table were used."""
    unstable = [{**entry, "reason": "Heritrix itself does not repeat this"} for entry in declared.get("unstable", ())]
    deviations = compare.Deviations([row for _, row in rows] + unstable)
    levels: dict[str, Any] = {}

    def level(name: str) -> Any:
        return levels.setdefault(name, compare.Level(name, deviations))

    policy = declared.get("beans", {}).get("queueAssignmentPolicy", {}).get("class", "")
    compare.compare_logs(
        compare.golden_rows(golden, "crawl"), list(compare.read_crawl_log(log)), level, "Hostname" in policy
    )
    compare.compare_warcs(compare.golden_rows(golden, "warc"), compare.read_jsonl(summary), level)
    compare.compare_requests(compare.golden_rows(golden, "requests"), compare.read_jsonl(requests), level)
    return {
        "levels": {
            name: {
                "equal": levels[name].equal,
                "total": levels[name].total,
                "accepted": levels[name].accepted,
                "differences": levels[name].differences,
            }
            for name in compare.TITLES
            if name in levels
        },
        "used": [rows[place][0] for place, times in deviations.used.items() if times and place < len(rows)],
    }


# ------------------------------------------------------------------------------------------ namespaces


def raise_loopback() -> None:
    """Bring ``lo`` up in this namespace (no ``ip`` command is needed for it)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        up_and_running, set_flags = 0x41, 0x8914
        fcntl.ioctl(sock, set_flags, struct.pack("16sh14s", b"lo", up_and_running, b""))


def namespace_command() -> list[str] | None:
    """What puts a command into a network namespace of its own here; None where that is refused."""
    for command in (["unshare", "-n"], ["unshare", "-rn"]):
        try:
            if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
                return command
        except FileNotFoundError:
            return None
    return None


def run_apart(job: Path, work: Path, namespace: Sequence[str], way: str = "settings") -> dict[str, Any]:
    """`run_job` in a namespace of its own."""
    result = work / "result.json"
    command = [*namespace, sys.executable, __file__, "--inside", str(work), "--as", way, str(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not result.exists():
        problem = f"golden.py ended with {done.returncode}: {done.stderr[-3000:]}"
        return {"job": name_of(job), "runs": [{"run": "golden", "levels": {}, "used": [], "problem": problem}]}
    return json.loads(result.read_text())  # type: ignore[no-any-return]


@contextmanager
def alone() -> Iterator[None]:
    """The ports of this machine are ours while the block runs."""
    if os.geteuid() != 0:
        raise SystemExit("golden: network namespaces are refused here, so ports 53, 80 and 443 need root")
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ------------------------------------------------------------------------------------------ command


def counted(level: str, args: argparse.Namespace) -> bool:
    if level.startswith("L"):
        return int(level[1:]) <= args.level
    return bool(args.warc if level.startswith("W") else args.requests)


def report(result: dict[str, Any], args: argparse.Namespace) -> bool:
    """Print the table of a job; true when it is equal."""
    good = True
    for run in result["runs"]:
        title = result["job"] + ("" if run["run"] == "golden" else f" {run['run']}")
        print(f"\n== {title}" + (f" ({run['seconds']} s)" if "seconds" in run else ""))
        if run["problem"]:
            good = False
            print(run["problem"])
        if args.journal and run.get("journal"):
            good = False
            print("\n".join(["the journal differs:", *run["journal"][: args.show]]))
        if args.reports and not run.get("compared", True):
            print("(reports not compared: some differences are accepted)")
        for kind in ("reports", "logs"):
            if getattr(args, kind) and run.get(kind):
                good = False
                print("\n".join([f"the {kind} differ:", *run[kind][: args.show]]))
        for name, level in run["levels"].items():
            differ = len(level["differences"])
            if differ and counted(name, args):
                good = False
            accepted = f", {level['accepted']} accepted" if level["accepted"] else ""
            verdict = f"   DIFFERS: {differ}" if differ else ""
            asked = "" if counted(name, args) else "  (not asked for)"
            print(f"{name}  {compare.TITLES[name]:<28} {level['equal']}/{level['total']}{accepted}{verdict}{asked}")
        for name, level in run["levels"].items():
            shown = args.show if counted(name, args) else min(args.show, args.show_others)
            for difference in level["differences"][:shown]:
                print(f"\n{name} {difference['uri']}")
                print(f"   golden {compare.short(difference['golden'])}")
                print(f"   other  {compare.short(difference['other'])}")
    return good


def check_rows(rows: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]]) -> list[str]:
    """Rows of these jobs that no run used. A row is judged once all its jobs have run."""
    ran = {result["job"] for result in results}
    used = {number for result in results for run in result["runs"] for number in run["used"]}
    return [
        f"deviation {number} ({row.get('uri') or row.get('uri_regex')}, {row.get('level')}): no run used it"
        for number, row in enumerate(rows)
        if set(row.get("jobs", ())) <= ran and number not in used
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", type=Path, metavar="SITE_DIR[/jobs/JOB]")
    parser.add_argument("--level", type=int, default=4, help="highest L level that decides (4)")
    parser.add_argument("--warc", action="store_true", help="W levels decide too")
    parser.add_argument("--requests", action="store_true", help="R levels decide too")
    parser.add_argument("--journal", action="store_true", help="frontier.recover.gz decides too, queue by queue")
    parser.add_argument("--reports", action="store_true", help="the end reports decide too, line by line")
    parser.add_argument("--logs", action="store_true", help="which URIs the error logs name decides too")
    parser.add_argument("--show", type=int, default=5, help="differences printed per level that decides (5)")
    parser.add_argument("--show-others", type=int, default=0, help="and per level that does not (0)")
    parser.add_argument("--deviations", type=Path, default=DEVIATIONS, help="table of accepted differences")
    parser.add_argument("--work", type=Path, help="keep crawls, logs and summaries here")
    parser.add_argument("--json", type=Path, help="write every level and difference here")
    parser.add_argument("--parallel", type=int, default=2, help="jobs at a time (2)")
    parser.add_argument("--as", dest="way", choices=WAYS, default="settings", help="what says the job (settings)")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    rows = json.loads(args.deviations.read_text(encoding="utf-8"))
    jobs = find_jobs(args.places)
    if args.inside:
        raise_loopback()
        (args.inside / "result.json").write_text(json.dumps(run_job(jobs[0], args.inside, rows, args.way)))
        return 0
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        return run_all(jobs, rows, args.work or Path(scratch), args)


def run_all(jobs: Sequence[Path], rows: list[dict[str, Any]], work: Path, args: argparse.Namespace) -> int:
    """Run, print and judge; the exit status."""
    complaints = []
    for number, row in enumerate(rows):
        uris = sorted({uri for job in jobs if name_of(job) in row.get("jobs", ()) for uri in known_uris(job)})
        wrong = too_wide(row, uris)
        if wrong:
            complaints.append(f"deviation {number}: {wrong}")
    places = []
    for job in jobs:
        place = work / name_of(job).replace("/", "-")
        place.mkdir(parents=True, exist_ok=False)
        places.append(place)
    namespace = namespace_command()
    results, equal = [], 0
    with ThreadPoolExecutor(args.parallel if namespace else 1) as pool:
        if namespace:
            waiting = [
                pool.submit(run_apart, job, place, namespace, args.way) for job, place in zip(jobs, places, strict=True)
            ]
            for future in waiting:
                results.append(future.result())
                equal += report(results[-1], args)
        else:
            with alone():
                for job, place in zip(jobs, places, strict=True):
                    results.append(run_job(job, place, rows, args.way))
                    equal += report(results[-1], args)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))
    complaints += check_rows(rows, results)
    print()
    for complaint in complaints:
        print(complaint)
    print(f"golden: {equal} equal, {len(results) - equal} differ")
    return 1 if complaints or equal < len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
