"""How is the crawl of a Scrapy project asked and steered while it does not run? Its code is not run in the engine.

A process of the project's own is started with the first request, and anew when the project's files have changed; it
ends by itself when nothing is asked of it for a while.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.errors import StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.jobs.processes import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from heritrix_scrapy.operate.jobs.folder import Place

MODULE: Final = "heritrix_scrapy.operate.jobs.attending"
#: Seconds that an end is waited for, and an answer: its settings are a program, which may never end.
END: Final = 5.0
LONGEST: Final = 600.0


class Attendant:
    """One project's. ``more``: settings of every crawl of the engine; ``longest``: seconds that an answer may take.
    Blocks; for one caller at a time."""

    def __init__(self, more: Mapping[str, str], *, longest: float = LONGEST) -> None:
        self._more, self._longest = more, longest
        self._process: subprocess.Popen[bytes] | None = None
        #: What the process was started for: JOBDIR, and when the project's files were changed last.
        self._version: tuple[Path, int] | None = None
        self._abandoned = False

    def perform(self, place: Place, jobdir: Path, request: Mapping[str, Any]) -> dict[str, Any]:
        """As ``reach.Job.perform``. Raises ControlError, Refused, StoreError."""
        version = jobdir, max((path.stat().st_mtime_ns for path in _files(place.folder)), default=0)
        if self._process is None or self._process.poll() is not None or version != self._version:
            self._version = version
            self._start(place, jobdir)
        line = self._exchange(request)
        if not line and not self._abandoned:
            # it had just ended for want of something to do
            self._start(place, jobdir)
            line = self._exchange(request)
        if not line:
            raise ControlError("the project's process does not answer")
        answer: dict[str, Any] = json.loads(line)
        refused = answer.pop("refused", False)
        if answer.pop("ok"):
            return answer
        raise Refused(answer["error"]) if refused else StoreError(answer["error"])

    def _exchange(self, request: Mapping[str, Any]) -> bytes:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return b""
        said = bytearray()
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)
        end = time.monotonic() + self._longest
        while not said.endswith(b"\n"):
            if not poll.poll(max(end - time.monotonic(), 0.0) * 1000):
                self._process.kill()
                raise ControlError(f"the project's process did not answer for {self._longest:.0f} s, and was ended")
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            if not data:
                return b""
            said += data
        return bytes(said)

    def _start(self, place: Place, jobdir: Path) -> None:
        self.close()
        pairs = [part for name, value in self._more.items() for part in ("-s", f"{name}={value}")]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, str(jobdir), *pairs],
                cwd=place.folder,
                env=environment(place),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise ControlError(f"no process can be started: {error}") from error

    def abandon(self) -> None:
        """Wait for no answer any more, whoever waits for one: from another thread."""
        self._abandoned = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process, if one is there."""
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            try:
                process.wait(END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _files(folder: Path) -> Iterator[Path]:
    """The project's own source."""
    for path in folder.iterdir():
        if path.name.endswith((".py", ".cfg")) and path.is_file():
            yield path
        elif (path / "__init__.py").is_file():
            yield from path.rglob("*.py")
