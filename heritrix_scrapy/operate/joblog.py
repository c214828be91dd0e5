"""What was done to the job, over all its launches?

``JOBDIR/job.log``, appended to by every launch and every command, and a copy of a launch's lines in the launch's
folder. A line is ``<time> <LEVEL> <message>`` (spec/output 6.3). It is written at once: there are few.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from heritrix_scrapy.report.times import log17

if TYPE_CHECKING:
    from pathlib import Path

NAME = "job.log"


def one_line(text: str) -> str:
    """The text without line ends and control characters."""
    return "".join(each if each.isprintable() else " " for each in " ".join(text.splitlines()))


#: Bytes of lines that are kept for a disk that refuses them.
KEPT = 1 << 16


class JobLog:
    """The log of one job. What the disk refuses is written with a later line. ``lost``: lines for which that was too
    much."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._copy: Path | None = None
        self._waiting: list[str] | None = []
        self._owed: dict[Path, bytes] = {}
        self.lost = 0

    def copy_to(self, folder: Path | None) -> None:
        """From now on the lines stand in the launch's folder too, those written so far included; None: there is
        none."""
        waiting, self._waiting = self._waiting or [], None
        if folder is not None:
            self._copy = folder / NAME
            for line in waiting:
                self._append(self._copy, line)

    def write(self, now_ms: int, text: str, level: str = "INFO") -> None:
        """Add a line."""
        line = f"{log17(now_ms)} {level} {one_line(text)}\n"
        self._append(self._root / NAME, line)
        if self._copy is not None:
            self._append(self._copy, line)
        elif self._waiting is not None:
            self._waiting.append(line)

    def _append(self, path: Path, line: str) -> None:
        data = self._owed.pop(path, b"") + line.encode("utf-8", "replace")
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                # a disk that is full may take a part
                while data:
                    data = data[os.write(descriptor, data) :]
            finally:
                os.close(descriptor)
        if len(data) > KEPT:
            self.lost += 1
            data = data[: -len(line.encode("utf-8", "replace"))]
        if data:
            self._owed[path] = data
