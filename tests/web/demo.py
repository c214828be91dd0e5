"""The crawl behind ``make crawl``: ``python -m tests.web.demo [SEED ...]``.

Without seeds it serves the demonstration web on loopback and crawls that, with its own name server and
hardly any politeness; with seeds it crawls the live web, as politely as the defaults are. Either way it
runs ``scrapy crawl archive`` in ``example_project``, shows how far it is, and at the end what came of it
and where it lies.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tests.web.demo_site import SEEDS, SITES
from tests.web.thread import running

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.web.server import Web

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "example_project"

# Politeness and retries for a web that is one process on this machine.
LOOPBACK = {
    "HERITRIX_DELAY_FACTOR": "1",
    "HERITRIX_MIN_DELAY_MS": "20",
    "HERITRIX_MAX_DELAY_MS": "100",
    "HERITRIX_RETRY_DELAY_SECONDS": "1",
    "HERITRIX_MAX_RETRIES": "2",
    "HERITRIX_MAX_HOPS": "12",
}

# warcio unpacks as it checks, and stumbles over brotli's present binding; digests need no unpacking.
CHECK = "import sys; sys.modules['brotli'] = None; from warcio.cli import main; main()"


class Progress:
    """Follows crawl.log while it grows and counts what it says."""

    def __init__(self, jobdir: Path) -> None:
        self._jobdir = jobdir
        self._file: TextIO | None = None
        self._rest = ""
        self.statuses: Counter[int] = Counter()
        self.bytes = 0
        self.last = ""

    def read(self) -> None:
        """Take in the lines that came since the last call."""
        if self._file is None:
            log = self._jobdir / "logs" / "crawl.log"
            if not log.exists():
                return
            self._file = log.open(encoding="utf-8", errors="replace")
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            fields = line.split(None, 4)
            if len(fields) > 4:
                self.statuses[int(fields[1])] += 1
                self.bytes += int(fields[2]) if fields[2].isdigit() else 0
                self.last = fields[3]

    def line(self, seconds: float) -> str:
        good = sum(number for status, number in self.statuses.items() if status > 0)
        bad = sum(self.statuses.values()) - good
        return f"{seconds:5.0f} s  {good:5} fetched  {bad:4} not  {size(self.bytes):>9}  {self.last}"


def size(number: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"


@contextmanager
def demo_web(jobdir: Path) -> Iterator[Web]:
    """The demonstration web; for a job that is resumed on the ports it had, since they are part of every URI."""
    kept = jobdir / "web-ports.json"
    ports = json.loads(kept.read_text()) if kept.exists() else {}
    with running(SITES, log=jobdir / "logs" / "web-requests.jsonl", **ports) as web:
        kept.write_text(json.dumps({"port": web.port, "tls_port": web.tls_port}))
        yield web


def near(path: Path) -> Path:
    """*path* as seen from the project, when it lies there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def watch(process: subprocess.Popen[bytes], progress: Progress) -> int:
    """Show progress until the crawl ends. Ctrl-C reaches the crawl itself, which then stops in good order."""
    began, live = time.monotonic(), sys.stdout.isatty()
    pause, told = 0.5 if live else 2.0, 0
    signal.signal(signal.SIGINT, lambda number, frame: print("\nstopping; once more for at once"))
    while True:
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            pass
        progress.read()
        text = progress.line(time.monotonic() - began)
        if live:
            print("\r" + text[:100].ljust(100), end="", flush=True)
        elif told != sum(progress.statuses.values()) or process.returncode is not None:
            told = sum(progress.statuses.values())
            print(text, flush=True)
        if process.returncode is not None:
            print()
            return process.returncode


def warcs(jobdir: Path) -> Iterator[Path]:
    for path in sorted(jobdir.rglob("*.warc*")):
        if path.is_file():
            yield path


def report(jobdir: Path, progress: Progress) -> bool:
    """Print what came of the crawl; false when a WARC file is not well."""
    from warcio.archiveiterator import ArchiveIterator

    from heritrix_scrapy.model.status import label

    print("\nURIs by status")
    for status, number in progress.statuses.most_common():
        print(f"  {number:6}  {status:6}  {label(status)}")
    print("\nWARC files")
    well = True
    for path in warcs(jobdir):
        kinds: Counter[str] = Counter()
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                kinds[record.rec_type] += 1
        detail = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
        check = subprocess.run([sys.executable, "-c", CHECK, "check", str(path)], capture_output=True, text=True)
        good = check.returncode == 0
        well = well and good
        print(f"  {near(path)}  {size(path.stat().st_size)}, {kinds.total()} records: {detail}")
        print(f"    warcio check: {'passed' if good else 'FAILED ' + check.stdout + check.stderr}")
    print(f"\nLogs   {near(jobdir / 'logs')}/  (crawl.log has one line per URI)")
    print(f"State  {near(jobdir)}/  (the same command with JOBDIR={near(jobdir)} resumes)")
    return well


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make crawl", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("seeds", nargs="*", help="where to start on the live web; none: the bundled web")
    parser.add_argument("--jobdir", help="resume or put the job here (default: a new one below crawl-output/)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    args = parser.parse_args(argv)
    jobdir = ROOT / (args.jobdir or f"crawl-output/{time.strftime('%Y%m%d-%H%M%S')}")
    (jobdir / "logs").mkdir(parents=True, exist_ok=True)
    settings: dict[str, str] = {}
    with ExitStack() as stack:
        seeds = args.seeds
        if not seeds:
            web = stack.enter_context(demo_web(jobdir))
            seeds = [web.filled(seed) for seed in SEEDS]
            settings |= {"HERITRIX_DNS_SERVERS": web.dns, **LOOPBACK}
            print(f"A web of {len(SITES)} hosts listens on loopback, ports {web.port} and {web.tls_port}.")
        seed_file = jobdir / "seeds.txt"
        seed_file.write_text("".join(f"{seed}\n" for seed in seeds), encoding="utf-8")
        settings |= {"JOBDIR": str(jobdir), "HERITRIX_SEEDS": str(seed_file)}
        settings |= {"LOG_FILE": str(jobdir / "logs" / "scrapy.log"), "LOG_LEVEL": "INFO"}
        settings |= dict(pair.partition("=")[::2] for pair in args.set)
        command = [sys.executable, "-m", "scrapy", "crawl", "archive"]
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        print("scrapy " + " ".join(command[3:]) + "\n", flush=True)
        progress = Progress(jobdir)
        status = watch(subprocess.Popen(command, cwd=PROJECT), progress)
    well = report(jobdir, progress)
    if status:
        log = jobdir / "logs" / "scrapy.log"
        print(f"\nscrapy ended with exit status {status}" + (f"; see {near(log)}" if log.exists() else ""))
    return status or (0 if well else 1)


if __name__ == "__main__":
    sys.exit(main())
