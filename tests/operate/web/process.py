"""``scrapy heritrix serve`` on a folder of jobs, as a process that can be ended in every way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.crawls import ROOT
from tests.operate.web.served import LOOKER, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Served:
    """``place``: its ``host:port``; ``process``."""

    def __init__(self, folder: Path, log: Path, *more: str) -> None:
        command = [sys.executable, "-m", "scrapy", "heritrix", "serve", str(folder), "-p", "0", "-b", "127.0.0.1"]
        command += ["-a", f"{OPERATOR.user}:{OPERATOR.password}", "--web-reader", f"{LOOKER.user}:{LOOKER.password}"]
        environment = {**os.environ, "XDG_STATE_HOME": str(log.parent / "state"), "PYTHONPATH": str(ROOT)}
        with log.open("a") as file:
            self.process = subprocess.Popen(
                [*command, *more], cwd=log.parent, env=environment, stdout=subprocess.PIPE, stderr=file, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.match(r"(https?)://(127\.0\.0\.1:\d+)/", line)
        assert found, log.read_text()
        self.scheme, self.place = found[1], found[2]

    @property
    def port(self) -> int:
        return int(self.place.rpartition(":")[2])

    def end(self, number: int = signal.SIGTERM, seconds: float = 20) -> int:
        """Send it a signal, and wait for its end; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(seconds)


@contextmanager
def serving(folder: Path, log: Path, *more: str) -> Iterator[Served]:
    """An engine. ``log``: what it writes to; ``more``: further options."""
    made = Served(folder, log, *more)
    try:
        yield made
    finally:
        made.end(signal.SIGKILL)
