"""How does a test or benchmark start a whole crawl, as a user would?

A `Project` is an ordinary Scrapy project written into a folder: ``scrapy.cfg``, a settings module (so that
Scrapy sees real lists and mappings, not strings), the given spiders. ``run`` and ``start`` call ``scrapy``
in a subprocess there. When the crawler closes, an extension of the project writes its statistics to
``stats.json``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[1]
ADDON = {"heritrix_scrapy.Addon": 500}

# What every test crawl says unless the test says otherwise: no politeness, quick retries, no telnet port. In the
# heritrix profile each wait for a prerequisite is a try: three are the fewest that fetch a page.
DEFAULTS: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/contact",
    "HERITRIX_DELAY_FACTOR": 0.0,
    "HERITRIX_MIN_DELAY_MS": 0,
    "HERITRIX_MAX_DELAY_MS": 0,
    "HERITRIX_RETRY_DELAY_SECONDS": 1,
    "HERITRIX_MAX_RETRIES": 3,
}

EXTENSION = '''"""Writes the statistics of the finished crawl beside the settings."""

import json
from pathlib import Path

from scrapy import signals


class StatsFile:
    def __init__(self, crawler):
        self.crawler = crawler
        crawler.signals.connect(self.write, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def write(self):
        stats = json.dumps(self.crawler.stats.get_stats(), default=str, indent=1)
        Path(__file__).parents[1].joinpath("stats.json").write_text(stats)
'''


@dataclass
class Crawl:
    """What one crawl left behind."""

    returncode: int
    stdout: str
    stderr: str
    jobdir: Path
    stats: dict[str, Any]  # empty when the crawl was killed

    @property
    def log(self) -> list[str]:
        """Lines of crawl.log, of the latest launch where launches have folders."""
        return self._lines("crawl.log")

    @property
    def runtime_errors(self) -> list[str]:
        """Lines of runtime-errors.log: what went wrong in our own parts."""
        return self._lines("runtime-errors.log")

    @property
    def statuses(self) -> dict[str, list[int]]:
        """URI -> its statuses in crawl.log, in order."""
        out: dict[str, list[int]] = {}
        for line in self.log:
            fields = line.split()
            out.setdefault(fields[3], []).append(int(fields[1]))
        return out

    @property
    def warcs(self) -> list[Path]:
        """Every WARC file of the job, finished or open."""
        return sorted(
            path
            for path in self.jobdir.rglob("*")
            if path.is_file() and path.name.removesuffix(".open").endswith((".warc", ".warc.gz"))
        )

    def _lines(self, name: str) -> list[str]:
        latest = self.jobdir / "latest" / "logs" / name
        found = latest if latest.exists() else self.jobdir / "logs" / name
        return found.read_text(encoding="utf-8").splitlines() if found.exists() else []


class Project:
    """A Scrapy project below *folder*.

    *spiders*: source of its spiders module; *modules*: further modules of the project, name -> source;
    *addon* False leaves ours out; *defaults* False leaves `DEFAULTS` out.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any] | None = None,
        spiders: str = "",
        *,
        addon: bool = True,
        defaults: bool = True,
        modules: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.jobdir = folder / "job"
        self._started: list[subprocess.Popen[str]] = []
        package = folder / "crawl_project"
        package.mkdir(parents=True, exist_ok=True)
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = crawl_project.settings\n")
        (package / "__init__.py").write_text("")
        (package / "stats_file.py").write_text(EXTENSION)
        (package / "spiders.py").write_text(spiders)
        for name, source in (modules or {}).items():
            (package / f"{name}.py").write_text(source)
        values: dict[str, Any] = {
            "BOT_NAME": "crawl_project",
            "SPIDER_MODULES": ["crawl_project.spiders"],
            **(DEFAULTS if defaults else {"TELNETCONSOLE_ENABLED": False}),
            **({"ADDONS": ADDON} if addon else {}),
            **(settings or {}),
        }
        values["EXTENSIONS"] = {**values.get("EXTENSIONS", {}), "crawl_project.stats_file.StatsFile": 0}
        lines = [f"{name} = {plain(value)!r}\n" for name, value in values.items()]
        (package / "settings.py").write_text("".join(lines))

    def start(
        self,
        *args: str,
        name: str = "archive",
        jobdir: Path | str | None = "",
        command: Sequence[str] = ("crawl",),
        prefix: Sequence[str] = (),
        **popen: Any,
    ) -> subprocess.Popen[str]:
        """``scrapy crawl NAME ARGS`` as a process in a session of its own.

        *jobdir* "" is the project's `jobdir`, None a crawl without JOBDIR; *command* replaces ``crawl``
        (``("heritrix", "status")``, with *name* ""); *prefix*: the command that runs it;
        *popen*: further arguments of ``subprocess.Popen``.
        """
        (self.folder / "stats.json").unlink(missing_ok=True)
        if jobdir is not None:
            args = (*args, "-s", f"JOBDIR={jobdir or self.jobdir}")
        named = (name,) if name else ()
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        process: subprocess.Popen[str] = subprocess.Popen(
            [*prefix, sys.executable, "-m", "scrapy", *command, *named, *args],
            cwd=self.folder,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            **popen,
        )
        self._started.append(process)
        return process

    def kill(self) -> None:
        """End every crawl of this project that still runs, with all its children."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def finish(self, process: subprocess.Popen[str], timeout: float = 120) -> Crawl:
        """Wait for a started crawl; one that takes longer than *timeout* seconds fails the test."""
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            raise AssertionError(f"the crawl did not end in {timeout} s:\n{stderr[-8000:]}") from error
        return self.result(process.returncode, stdout, stderr)

    def run(self, *args: str, timeout: float = 120, **start: Any) -> Crawl:
        """``scrapy crawl`` from start to end; keywords as for `start`."""
        return self.finish(self.start(*args, **start), timeout)

    def result(self, returncode: int, stdout: str = "", stderr: str = "") -> Crawl:
        """What lies in the project now."""
        stats = self.folder / "stats.json"
        return Crawl(
            returncode,
            stdout or "",
            stderr or "",
            self.jobdir,
            json.loads(stats.read_text()) if stats.exists() else {},
        )


def plain(value: Any) -> Any:
    """*value* as its ``repr`` can be read back: paths become text."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value
