"""What are the last lines of a log, and what came since?

Logs are read by bytes: an answer says where it ended, and the next question goes on there. Only whole lines are given.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.report.logs import NAMES
from heritrix_scrapy.report.searching import backwards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DEFAULT = "crawl.log"
#: Most bytes of one answer, and of lines that the end of a log is looked through for.
LIMIT = 1 << 18


#: Logs that a job has when there is something to write into them; any other has to be there.
KNOWN = frozenset({*NAMES, "job.log"})


class Unwritten(Refused):
    """A log of a job that has no line yet. ``path``: where the first one will be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} has no line yet")
        self.path = path


def log_of(root: Path, name: str) -> Path:
    """The file of a log, of the latest launch where launches have folders. Raises Refused when there is none, of a log
    that the job may have one day Unwritten."""
    if "/" in name or name.startswith("."):
        raise Refused(f"log is {name!r}, expected the name of a file in the logs folder")
    folders = (root / "latest" / "logs", root / "logs", root)
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    if name in KNOWN and any(path.exists() for path in (root / "job.log", root / "frontier", *folders[:2])):
        raise Unwritten(root / name if name == "job.log" else next(filter(_is_there, folders)) / name)
    there = sorted({path.name for folder in folders[:2] for path in folder.glob("*.log")} | {"job.log"})
    raise Refused(f"{root} has no {name}; there are: {', '.join(there)}")


def tail(
    root: Path, log: str = DEFAULT, start: int = -1, lines: int = 10, filter: str = "", limit: int = LIMIT
) -> dict[str, Any]:
    """Lines of a log, oldest first. ``start`` -1: the last ``lines`` of them; else those from that byte on, whatever
    ``lines`` says, at most ``limit`` bytes. ``filter``: an expression that is searched for in each line.

    ``next``: where to go on; ``file``: which changes when the log was rotated, and the new one begins at 0.
    Raises Refused.
    """
    try:
        takes = re.compile(filter).search
    except re.error as error:
        raise Refused(f"filter: {filter!r} is no regular expression: {error}") from None
    if start < -1 or lines < 0 or not 0 < limit <= LIMIT:
        raise Refused(f"start is at least -1, lines at least 0, limit from 1 to {LIMIT}")
    path = log_of(root, log)
    try:
        stat = path.stat()
        answer: dict[str, Any] = {"log": log, "path": str(path), "file": stat.st_ino, "size": stat.st_size}
        if start < 0:
            found = (line for line in map(_text, backwards(path)) if takes(line))
            taken = list(islice(found, lines))[::-1]
            return {**answer, "lines": taken, "next": _whole(path, stat.st_size)}
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(limit)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    end = data.rfind(b"\n") + 1
    if not end and len(data) == limit:
        # one line that is longer than an answer
        end = limit
    taken = [line for line in map(_text, data[:end].split(b"\n")) if line and takes(line)]
    return {**answer, "lines": taken, "next": start + end}


def asked(root: Path, log: str = DEFAULT, **how: Any) -> dict[str, Any]:
    """As ``tail``; of a log that has no line yet none: nothing of that kind has happened. Raises Refused."""
    try:
        return tail(root, log, **how)
    except Unwritten as unwritten:
        return {"log": log, "path": str(unwritten.path), "file": 0, "size": 0, "lines": [], "next": 0}


def follow(root: Path, log: str, lines: int, filter: str, wait: Callable[[], bool]) -> Iterator[str]:
    """The last lines, then those that come, over rotations too, while ``wait()`` says to go on."""
    answer = asked(root, log, lines=lines, filter=filter)
    yield from answer["lines"]
    file, at = answer["file"], answer["next"]
    while wait():
        try:
            answer = tail(root, log, start=at, filter=filter)
            if answer["file"] != file or answer["size"] < at:
                file, at = answer["file"], 0
                answer = tail(root, log, start=0, filter=filter)
        except Refused:
            # rotated, and the new one has no line yet
            continue
        yield from answer["lines"]
        at = answer["next"]


def _is_there(folder: Path) -> bool:
    return folder.is_dir()


def _whole(path: Path, size: int) -> int:
    """Where the last whole line of the first ``size`` bytes ends."""
    with path.open("rb") as file:
        at = size
        while at:
            step = min(LIMIT, at)
            file.seek(at - step)
            found = file.read(step).rfind(b"\n")
            if found >= 0:
                return at - step + found + 1
            at -= step
    return 0


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
