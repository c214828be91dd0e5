"""How is a crawl of a job started, so that it goes on when the engine ends?"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.operate import record
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.jobs.processes import environment, spider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from heritrix_scrapy.operate.jobs.folder import Place

#: What the process says, and Scrapy's log.
OUT: Final = "scrapy.out"
LOG: Final = "scrapy.log"

#: Seconds until a crawl that was started must be there, and between two looks.
READY: Final = 60.0
LOOK: Final = 0.05

_BEGINNING: Final = ("NASCENT", "PREPARING")


def command(place: Place, jobdir: Path, settings: Mapping[str, Any]) -> list[str]:
    """The command line of a crawl. ``settings``: those of this launch."""
    said = {"JOBDIR": str(jobdir), "LOG_FILE": str(jobdir / LOG), "LOG_FILE_APPEND": True}
    if not place.is_project:
        said["HERITRIX_JOB"] = str(place.config)
    said |= settings
    pairs = [part for name, value in said.items() for part in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", "crawl", spider(place), *pairs]


def start(place: Place, jobdir: Path, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Start a crawl in a session of its own. Raises OSError."""
    with (jobdir / OUT).open("wb") as out:
        return subprocess.Popen(
            command(place, jobdir, settings),
            cwd=place.folder,
            env=environment(place),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait(process: subprocess.Popen[bytes], jobdir: Path, seconds: float = READY) -> bool:
    """Wait until the crawl that was started has come to life; whether it has. An end that came at once counts."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        over = process.poll() is not None
        told = record.read(jobdir)
        if told.pid == process.pid and told.state not in _BEGINNING:
            if told.state == "FINISHED":
                return True
            try:
                if ask(jobdir, {"do": "status"}, timeout=5)["state"] not in _BEGINNING:
                    return True
            except (ControlError, KeyError):
                """Its socket comes a moment later."""
        if over:
            return told.pid == process.pid
        time.sleep(LOOK)
    return process.poll() is None


def last_words(jobdir: Path, lines: int = 3) -> Sequence[str]:
    """What a process that came to nothing said last."""
    try:
        text = (jobdir / OUT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()][-lines:]
