"""Which lines have come to a log since it was last looked at?

A follower knows the byte it has read to, and reads on from there when it is asked: whoever reads slowly finds the
lines still in the file. It goes over rotations without losing a line. Of what is too far behind it skips the older
part, and says how many bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.report.tailing import LIMIT, Unwritten, tail

if TYPE_CHECKING:
    from pathlib import Path

#: Bytes that a reader may be behind before the older part of them is skipped, and those that are read then.
BEHIND = 16 * LIMIT
#: Bytes of one answer.
MOST = 1 << 16


class Follower:
    """One log of a job in ``root``, from its last ``lines`` on; ``filter``: an expression that is searched for in each.

    Raises Refused for a log that is none, and for what is no expression.
    """

    def __init__(self, root: Path, log: str, *, filter: str = "", lines: int = 0) -> None:
        self._root, self.log, self._filter = root, log, filter
        self._file: int | None = None
        self._at = 0
        self._first: list[str] = []
        try:
            re.compile(filter)
        except re.error as error:
            raise Refused(f"filter: {filter!r} is no regular expression: {error}") from None
        try:
            found = tail(root, log, lines=lines, filter=filter)
        except Unwritten:
            # its first line is still to come
            return
        self._file, self._at, self._first = found["file"], found["next"], found["lines"]

    def look(self) -> dict[str, Any] | None:
        """``lines`` that came, and ``skipped`` bytes before them; None when there is nothing new. Where there is more
        than one answer holds, the next look goes on."""
        if self._first:
            lines, self._first = self._first, []
            return self._told(lines)
        try:
            found = tail(self._root, self.log, lines=0)
        except Refused:
            # rotated, and the new one has no line yet
            return None
        if self._file is None:
            self._file = found["file"]
        elif found["file"] != self._file:
            rest = self._rotated()
            if rest is not None:
                return rest
            self._file, self._at = found["file"], 0
        elif found["size"] < self._at:
            self._at = 0
        return self._read(self.log, found["size"])

    def _rotated(self) -> dict[str, Any] | None:
        """What is left to read of the file that has another name now."""
        for folder in (self._root / "latest" / "logs", self._root / "logs", self._root):
            for path in folder.glob(f"{self.log}*"):
                try:
                    stat = path.stat()
                except OSError:
                    continue
                if stat.st_ino == self._file:
                    return self._read(path.name, stat.st_size)
        return None

    def _read(self, name: str, size: int) -> dict[str, Any] | None:
        skipped = 0
        if size - self._at > BEHIND:
            skipped = size - LIMIT - self._at
            self._at = size - LIMIT
        lines: list[str] = []
        while self._at < size and not lines:
            try:
                found = tail(self._root, name, start=self._at, filter=self._filter, limit=MOST)
            except Refused:
                break
            if found["next"] == self._at:
                # the last line is not whole yet
                break
            self._at, lines = found["next"], found["lines"]
        return self._told(lines, skipped) if lines or skipped else None

    def _told(self, lines: list[str], skipped: int = 0) -> dict[str, Any]:
        told: dict[str, Any] = {"log": self.log, "lines": lines, "file": self._file, "next": self._at}
        if skipped:
            told["skipped"] = skipped
        return told
