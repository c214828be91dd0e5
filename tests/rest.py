#!/usr/bin/env python3
"""Does ``scrapy heritrix serve`` answer as Heritrix's web API did?

    tests/rest.py FILE [--group NAME]... [--keep DIR] [--verbose]

FILE is a transcript of exchanges with a real Heritrix; the web beside it (``site/``) is served meanwhile. Each
exchange is made with a server of our own and compared: status, headers, structure of the body; of ``live`` ones
structure, state and actions only. The last line is ``rest: N equal, N deviate, N differ``; exit status 1 when any
differs. A deviation is one that ``rest_rows`` knows a row for. It runs in a network namespace of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from heritrix_scrapy.operate.control import ControlError, ask  # noqa: E402
from heritrix_scrapy.operate.jobs.folder import stock  # noqa: E402
from tests import golden, jobs  # noqa: E402
from tests.rest_compare import Comparison, form_of  # noqa: E402
from tests.rest_rows import explained, new_story, told  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

USER, PASSWORD = "admin", "admin"
NAMES = "127.20.0.1"
#: Seconds between two wrong passwords; Heritrix's six would only lengthen the run.
DELAY = 0.2
#: Seconds that a state may take to come.
LONGEST = 60.0
LOOK = 0.1


# -- job files ---------------------------------------------------------------------------------------------------


OVERRIDES = {
    **jobs.GOLDEN,
    "metadata.jobName": "ledger",
    "disposition.minDelayMs": "200",
    "disposition.maxDelayMs": "200",
    "frontier.maxRetries": "30",
    "warcWriter.prefix": "GOLDEN",
}
SEEDS = "http://ledger.example/\nhttp://branch.example/"


def job_file(more: Mapping[str, str] | None = None) -> str:
    """The transcript's: our profile with one slot, 200 ms between fetches, paused at the start, two seeds."""
    lines = "\n".join(f"{name}={value}" for name, value in {**OVERRIDES, **(more or {})}.items())
    text = re.sub(r"metadata\.operatorContactUrl=(?s:.*?)(?=\n   </value>)", lines, stock(), count=1)
    return text.replace("\n# One address a line.\n    ", SEEDS)


def without_controller() -> str:
    return re.sub(r' <bean id="crawlController"(?s:.*?)</bean>\n', "", job_file({"crawlController.maxToeThreads": "1"}))


#: What a transcript calls a job file → the text.
JOB_FILES = {
    "<the job file of this transcript>": job_file,
    "<a job file that is not well-formed>": lambda: "<beans><bean id='x'",
    "<a job file whose frontier has an unknown class>": lambda: job_file().replace(
        "org.archive.crawler.frontier.BdbFrontier", "org.example.NoSuchFrontier"
    ),
    "<a job file that overrides frontier.noSuchProperty>": lambda: job_file({"frontier.noSuchProperty": "1"}),
    "<a job file that sets frontier.maxRetries=many>": lambda: job_file({"frontier.maxRetries": "many"}),
    "<a job file without the bean crawlController>": without_controller,
}


# -- one server --------------------------------------------------------------------------------------------------


class Engine:
    """``scrapy heritrix serve`` on a folder, and a client for it."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.jobs = work / "jobs"
        self.cookie = ""
        self.location = ""
        self._nonce, self._since, self._count = "", 0.0, 0
        self._connection: http.client.HTTPSConnection | None = None
        self._launches: list[str] = []
        command = [sys.executable, "-m", "scrapy", "heritrix", "serve", str(self.jobs)]
        command += ["-a", f"{USER}:{PASSWORD}", "-p", "0", "--web-delay", str(DELAY)]
        command += ["-s", f"HERITRIX_DNS_SERVERS={NAMES}", "-s", "LOG_LEVEL=INFO"]
        environment = {**os.environ, "XDG_STATE_HOME": str(work / "state"), "PYTHONPATH": str(ROOT)}
        self._log = (work / "serve.log").open("w")
        self.process = subprocess.Popen(
            command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.match(r"https://([\d.]+):(\d+)/", line)
        if found is None:
            raise SystemExit(f"rest: no server: {(work / 'serve.log').read_text()}")
        self.host, self.port = found[1], int(found[2])
        self._tls = ssl.create_default_context()
        self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE

    def close(self) -> None:
        """End the server and every crawl."""
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(15)
        if self.process.poll() is None:
            self.process.kill()
        for state in self.jobs.glob("*/state.json"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                held = json.loads(state.read_text())
                if held["state"] != "FINISHED" and held["pid"]:
                    os.kill(held["pid"], signal.SIGKILL)
        self._log.close()

    def send(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make a request of a transcript; the answer in the transcript's form."""
        method, path = request["method"], self.filled(request["path"])
        headers = {name: self.filled(value) for name, value in request.get("headers", {}).items()}
        if headers.get("Cookie"):
            headers["Cookie"] = f"flashdrop={self.cookie}"
        body: bytes | None = None
        if "form" in request:
            body = urlencode({name: self.filled(value) for name, value in request["form"].items()}).encode()
        elif "body" in request:
            body = self.body(request["body"], headers)
        who = request.get("auth", f"digest {USER}:{PASSWORD}")
        if who.startswith("digest "):
            headers["Authorization"] = self.digest(who.partition(" ")[2], method, path)
        elif who.startswith("basic "):
            import base64

            headers["Authorization"] = "Basic " + base64.b64encode(who.partition(" ")[2].encode()).decode()
        return self.once(method, path, headers, body)

    def body(self, said: str, headers: dict[str, str]) -> bytes:
        """The bytes that a transcript's body stands for."""
        if said in JOB_FILES:
            return str(JOB_FILES[said]()).encode()
        found = re.fullmatch(r"<the form (.*), gzip-compressed>", said)
        if found:
            import gzip

            pairs = dict(pair.split("=", 1) for pair in found[1].split(", "))
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            return gzip.compress(urlencode(pairs).encode())
        return self.filled(said).encode()

    def once(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> dict[str, Any]:
        response, data = self._exchanged(method, path, headers, body)
        cookie = response.headers.get("Set-Cookie", "")
        if cookie.startswith("flashdrop="):
            self.cookie = cookie.partition(";")[0].partition("=")[2]
        if response.headers.get("Location"):
            self.location = response.headers["Location"]
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        found = {name: self.plain(value) for name, value in response.headers.items()}
        made = form_of(kind, data)
        return {"status": response.status, "headers": found, "body": self.normalised(made)}

    def _exchanged(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """The connection stays open, so that what was there for a moment is seen."""
        for again in (True, False):
            if self._connection is None:
                self._connection = http.client.HTTPSConnection(self.host, self.port, context=self._tls, timeout=120)
            try:
                self._connection.putrequest(method, path, skip_accept_encoding=True)
                for name, value in headers.items():
                    self._connection.putheader(name, value)
                if body is not None:
                    self._connection.putheader("Content-Length", str(len(body)))
                self._connection.endheaders(body)
                response = self._connection.getresponse()
                return response, response.read()
            except (http.client.HTTPException, OSError):
                self._connection.close()
                self._connection = None
                if not again:
                    raise
        raise AssertionError

    def digest(self, login: str, method: str, path: str) -> str:
        """An Authorization header."""
        if not self._nonce or time.monotonic() - self._since > 120:
            self._since, self._count = time.monotonic(), 0
            challenge = self.once("GET", "/engine", {}, None)["headers"]["WWW-Authenticate"]
            self._nonce = re.search(r'nonce="([^"]*)"', challenge)[1]  # type: ignore[index]
        user, _, password = login.partition(":")
        self._count += 1
        count = f"{self._count:08x}"

        def md5(text: str) -> str:
            return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

        first, second = md5(f"{user}:Authentication Required:{password}"), md5(f"{method}:{path}")
        response = md5(f"{first}:{self._nonce}:{count}:0a4f113b:auth:{second}")
        return (
            f'Digest username="{user}", realm="Authentication Required", nonce="{self._nonce}", uri="{path}",'
            f' algorithm=MD5, response="{response}", qop=auth, nc={count}, cnonce="0a4f113b"'
        )

    # -- names -----------------------------------------------------------------------------------------------------

    def launches(self) -> list[str]:
        """Launch folders, in the order in which they came."""
        for path in sorted(self.jobs.glob("*/" + "[0-9]" * 14), key=lambda path: (path.name, path.parent.name)):
            if path.is_dir() and path.name not in self._launches:
                self._launches.append(path.name)
        return self._launches

    def filled(self, text: str) -> str:
        """A transcript's text with what its placeholders stand for here."""
        if "<" not in text:
            return text
        if text.endswith("?m=<mtime>") and "?m=" in self.location:
            text = text.replace("<mtime>", self.location.partition("?m=")[2])
        text = text.replace("<work>", str(self.work)).replace("<jobs>", str(self.jobs)).replace("<byte>", "200")
        text = text.replace("<engine>", f"{self.host}:{self.port}")
        launches = self.launches()
        text = re.sub(
            r"<launch-(\d+)>",
            lambda found: launches[int(found[1]) - 1] if int(found[1]) <= len(launches) else "20200101000000",
            text,
        )
        text = re.sub(r"(cp\d{5})-<ts14>", self._checkpoint, text)
        return re.sub(r"GOLDEN-<ts17>-(\d{5})-<host>\.warc\.gz", self._warc, text)

    def _checkpoint(self, found: re.Match[str]) -> str:
        there = sorted(self.jobs.glob(f"*/checkpoints/{found[1]}-*"))
        return there[-1].name if there else f"{found[1]}-20200101000000"

    def _warc(self, found: re.Match[str]) -> str:
        there = sorted(self.jobs.glob(f"*/latest/warcs/GOLDEN-*-{found[1]}-*.warc.gz"))
        return there[-1].name if there else found[0]

    def plain(self, text: str) -> str:
        """A text of ours with a transcript's placeholders for names of this run."""
        text = text.replace(f"{self.host}:{self.port}", "<engine>")
        text = text.replace(str(self.jobs), "<jobs>").replace(str(self.work), "<work>")
        # first what may have been named in the very second of a launch
        text = re.sub(r"(cp\d{5})-\d{14}", r"\1-<ts14>", text)
        text = re.sub(r"GOLDEN-\d{17}-(\d{5})-[^/\"]+?\.warc\.gz", r"GOLDEN-<ts17>-\1-<host>.warc.gz", text)
        for place, name in enumerate(self.launches(), 1):
            text = text.replace(name, f"<launch-{place}>")
        return text

    def normalised(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.plain(value)
        if isinstance(value, list):
            return [self.normalised(each) for each in value]
        if isinstance(value, dict):
            return {key: self.normalised(each) for key, each in value.items()}
        return value


# -- the run -----------------------------------------------------------------------------------------------------


class Run:
    """One pass through a transcript."""

    def __init__(self, engine: Engine, steps: Sequence[dict[str, Any]], *, verbose: bool) -> None:
        self.engine = engine
        self.steps = steps
        self.verbose = verbose
        self.story = new_story()
        self.counts = {"equal": 0, "deviate": 0, "differ": 0}
        self.rows: dict[str, list[str]] = {}
        #: Copies of one job: as old as its file.
        self.copies: set[str] = set()
        #: Jobs whose crawl was paused on its way.
        self.midway: set[str] = set()

    def through(self) -> None:
        for place, step in enumerate(self.steps):
            self.prepare(place)
            self.exchange(place, step)
            self.settle(place)

    def exchange(self, place: int, step: dict[str, Any]) -> None:
        """Make it, again while the state that is expected may still come."""
        looks = step["request"]["method"] == "GET" and (step["response"].get("body") or {}).get("kind") == "xml"
        end, since = time.monotonic() + LONGEST, 0.0
        while True:
            got = self.engine.send(step["request"])
            midway = str(step["request"]["path"]).startswith(tuple(f"/engine/job/{job}/" for job in self.midway))
            comparison = Comparison(live=bool(step.get("live")), midway=midway, tied=self.copies)
            comparison.response(step["response"], got)
            told(step, got["status"], self.flash_after(place), self.story)
            left = [each for each in comparison.differences if explained(step, each, self.story) is None]
            waits = any(
                re.search(r"crawlControllerState|statusDescription|Exit|queuedUriCount|crawlLogTail", each.path)
                for each in left
            )
            if not looks or not waits or time.monotonic() > end:
                break
            settled = any("State" in each.path for each in left) is False
            since = since or (time.monotonic() if settled else 0.0)
            if since and time.monotonic() - since > 5:
                break
            time.sleep(LOOK)
        used = {explained(step, each, self.story) for each in comparison.differences} - {None}
        for row in used:
            self.rows.setdefault(str(row), []).append(step["step"])
        outcome = "differ" if left else "deviate" if used else "equal"
        self.counts[outcome] += 1
        if left or self.verbose:
            words = f" ({', '.join(sorted(map(str, used)))})" if used else ""
            print(f"{outcome:8} {step['step']} {step['note']}{words}")
            for each in comparison.differences[:40] if self.verbose else left[:8]:
                print(f"           {explained(step, each, self.story) or 'differs'}: {each}")

    # -- what happened outside the exchanges --------------------------------------------------------------------------

    def following(self, place: int, job: str) -> dict[str, Any]:
        """The next exchange that shows a job's state."""
        for step in self.steps[place + 1 :]:
            body = step["response"].get("body") or {}
            if step["request"]["path"] == f"/engine/job/{job}" and body.get("kind") == "xml":
                return dict(body["body"])
            if step["request"]["method"] == "POST" and step["request"]["path"] == f"/engine/job/{job}":
                return {}
        return {}

    def prepare(self, place: int) -> None:
        """Put the files in place that the exchange needs, and wait for the moment that it was made at."""
        step = self.steps[place]
        request, response = step["request"], step["response"]
        form, path = request.get("form") or {}, request["path"]
        folder, job = self.engine.jobs, re.match(r"/engine/job/([^/?]+)", path)
        flash = self.flash_after(place)
        if form.get("action") == "create" and "Directory exists: " in flash:
            name = flash.partition("Directory exists: ")[2]
            if name not in ("", ".", ".."):
                (folder / name).mkdir(exist_ok=True)
        elif form.get("action") == "add":
            self.outside(self.engine.filled(str(form.get("addpath", ""))), flash)
        elif form.get("action") == "rescan":
            self.folders(place)
        elif (
            job
            and request["method"] == "GET"
            and response["status"] == 200
            and (response.get("body") or {}).get("kind") == "xml"
        ):
            name = job[1]
            if (
                re.fullmatch(r"[\w.-]+", name)
                and path == f"/engine/job/{name}"
                and not list(folder.glob(f"{name}/*.cxml"))
                and not list(folder.glob(f"{name}.jobpath"))
            ):
                self.make(folder / name)
        elif "symbolic link" in step["note"]:
            target = self.engine.work / "outside" / "secret.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("outside the job\n")
            link = folder / str(job[1] if job else "") / path.rpartition("/")[2]
            if not link.is_symlink():
                link.symlink_to(target)
        if "checkpoint is being made by another request" in step["note"] and job:
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            form = {"action": "checkpoint"}
            other = {"method": "POST", "path": f"/engine/job/{job[1]}", "headers": kind, "form": form}
            thread = threading.Thread(target=self.engine.send, args=(other,))
            thread.start()
            thread.join(LONGEST)
        if job and form.get("action") in ("pause", "teardown", "terminate"):
            state = self.following(place, job[1]).get("crawlControllerState")
            if state in ("PAUSING", "STOPPING") and form["action"] != "terminate":
                self.until_busy(job[1])

    def make(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "crawler-beans.cxml").write_text(job_file())

    def youngest(self, folder: Path) -> None:
        """Have a job be the one that was changed last, as jobs are listed by that: two that are made within one tick
        of the file system's clock are as old."""
        others = (path for kind in ("*.cxml", "job.log") for path in self.engine.jobs.glob(f"*/{kind}"))
        newest = max(path.stat().st_mtime_ns for path in others)
        os.utime(folder / "crawler-beans.cxml", ns=(newest + 1_000_000, newest + 1_000_000))

    def outside(self, path: str, flash: str) -> None:
        place = Path(path)
        if not path.startswith(str(self.engine.work)):
            return
        if "Added crawl job" in flash or "Job exists" in flash:
            if not place.exists():
                self.make(place)
        elif "Could not add" in flash:
            place.mkdir(parents=True, exist_ok=True)

    def flash_after(self, place: int) -> str:
        """The message that an exchange has led to."""
        for step in self.steps[place + 1 : place + 3]:
            body = step["response"].get("body") or {}
            if body.get("flash"):
                return str(body["flash"][0]["text"])
            if body.get("kind") == "html":
                return ""
        return ""

    def folders(self, place: int) -> None:
        """Make the folders what the next list of jobs shows."""
        for step in self.steps[place + 1 : place + 4]:
            body = step["response"].get("body") or {}
            if step["request"]["path"] == "/engine" and body.get("kind") == "xml":
                listed = {each["shortName"]: each["primaryConfig"] for each in body["body"]["jobs"] or ()}
                for name, config in listed.items():
                    if config.startswith("<jobs>/") and not (self.engine.jobs / name).exists():
                        self.make(self.engine.jobs / name)
                        self.youngest(self.engine.jobs / name)
                for path in self.engine.jobs.iterdir():
                    if path.is_dir() and path.name not in listed and list(path.glob("*.cxml")):
                        shutil.rmtree(path)
                return

    def until_busy(self, job: str) -> None:
        """Wait until a fetch has taken a while."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            try:
                fetching = ask(self.engine.jobs / job, {"do": "status"}, timeout=5)["fetching"]
            except ControlError:
                return
            if fetching["in_use"] and fetching["longest_s"] >= 1:
                return
            time.sleep(LOOK)

    def settle(self, place: int) -> None:
        """Wait until what was asked for has come about, unless the next exchange shows it on its way."""
        step = self.steps[place]
        did = (step["request"].get("form") or {}).get("action")
        job = re.fullmatch(r"/engine/job/([^/?]+)", step["request"]["path"])
        if copied := (step["request"].get("form") or {}).get("copyTo"):
            self.copies.add(str(copied))
        if job is None or did not in ("pause", "unpause", "terminate"):
            return
        if did == "pause":
            self.midway.add(job[1])
        else:
            self.midway.discard(job[1])
        follows = self.steps[place + 1]["request"] if place + 1 < len(self.steps) else {}
        if did == "unpause" and follows.get("method") == "POST":
            return
        wanted = {"pause": ("PAUSED",), "unpause": ("RUNNING", "EMPTY", "FINISHED"), "terminate": ("FINISHED",)}[did]
        if self.following(place, job[1]).get("crawlControllerState") in ("PAUSING", "STOPPING"):
            return
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if ask(self.engine.jobs / job[1], {"do": "status"}, timeout=5).get("state") in wanted:
                    return
            except ControlError:
                return
            time.sleep(LOOK)


def read(path: Path, groups: Sequence[str]) -> list[dict[str, Any]]:
    steps = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [step for step in steps if not groups or step["step"].rpartition("-")[0] in groups]


def inside(path: Path, groups: Sequence[str], work: Path, *, verbose: bool) -> int:
    """The run itself, where ports 53 and 80 are ours."""
    site = path.parent / "site"
    with contextlib.ExitStack() as stack:
        if site.is_dir():
            stack.enter_context(golden.served(site, work))
        engine = Engine(work)
        stack.callback(engine.close)
        run = Run(engine, read(path, groups), verbose=verbose)
        run.through()
    for row, used in sorted(run.rows.items()):
        print(f"row {row}: {len(used)} exchanges, {', '.join(used[:6])}{' ...' if len(used) > 6 else ''}")
    counts = run.counts
    print(f"rest: {counts['equal']} equal, {counts['deviate']} deviate, {counts['differ']} differ")
    return 1 if counts["differ"] else 0


@contextlib.contextmanager
def folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="rest-") as made:
        yield Path(made).resolve()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--group", action="append", default=[], help="only exchanges of this group")
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave it")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    path = args.file.resolve()
    namespace = None if args.inside else golden.namespace_command()
    with folder(args.keep) as work:
        if namespace is not None:
            groups = [part for group in args.group for part in ("--group", group)]
            command = [*namespace, sys.executable, __file__, str(path), "--keep", str(work), "--inside", *groups]
            return subprocess.run([*command, *(["--verbose"] if args.verbose else [])], check=False).returncode
        if args.inside:
            golden.raise_loopback()
            return inside(path, args.group, work, verbose=args.verbose)
        with golden.alone():
            return inside(path, args.group, work, verbose=args.verbose)


if __name__ == "__main__":
    raise SystemExit(main())
