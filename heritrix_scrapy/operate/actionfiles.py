"""What does a file in the action directory ask for, and is it complete?

A file's name says what its lines are for (Heritrix: ActionDirectory.actOn; spec/frontier 17). No clock, no Scrapy.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Endings of files that Heritrix runs as scripts, where it has an engine for them.
SCRIPTS: Final = ("groovy", "bsh", "beanshell", "js", "py", "rb", "sh")

#: Part before the ending: only what the scope accepts.
SCOPED: Final = "s"

EVERY, NONE = "*", "-"

#: Ending → what of the file's lines is taken for seen, what is queued, and whether it is forced.
IMPORTS: Final[dict[str, dict[str, Any]]] = {
    "recover": {"format": "recover", "include": "Fs,Fi", "schedule": "F+"},
    "include": {"include": EVERY, "schedule": NONE},
    "schedule": {"include": NONE, "schedule": EVERY},
    "force": {"include": NONE, "schedule": EVERY, "force": True},
}


class Action(NamedTuple):
    """``kind``: ``seeds``, one of ``IMPORTS``, ``script`` or ``unknown``; ``scope``: whether the scope judges each
    line; ``packed``: whether the file is gzip."""

    kind: str
    scope: bool = False
    packed: bool = False

    def request(self, path: Path, *, again: bool) -> dict[str, Any]:
        """The import that the file asks for. ``again``: though a file of the same content was imported before."""
        return {"file": str(path), "scope": self.scope, "again": again, "remark": path.name, **IMPORTS[self.kind]}


def action_of(name: str) -> Action:
    """What a file of that name asks for."""
    packed = name.endswith(".gz")
    bare = name.removesuffix(".gz")
    stem, dot, ending = bare.rpartition(".")
    if dot and ending == "seeds":
        return Action("seeds", packed=packed)
    if dot and ending in IMPORTS:
        return Action(ending, scope=stem == SCOPED or stem.endswith("." + SCOPED), packed=packed)
    if dot and ending in SCRIPTS and not packed:
        return Action("script")
    return Action("unknown", packed=packed)


class Seen(NamedTuple):
    """What tells one state of a file from another."""

    inode: int
    size: int
    changed_ns: int


#: A file that was changed less long ago may be growing.
REST_MS: Final = 1000


class Folder:
    """The files that come into a directory. A file is complete when nobody has it open for writing, and it is either
    older than a second or the same as at the last look; where the system does not tell who has it open, it has to be
    the same."""

    def __init__(self) -> None:
        self._seen: Mapping[str, Seen] = {}

    def complete(self, directory: Path, now_ms: int) -> list[Path]:
        """Plain files that are complete, in the order of their names; hidden ones are left alone. Raises OSError when
        the directory cannot be read."""
        ready: list[Path] = []
        seen: dict[str, Seen] = {}
        for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
            if entry.name.startswith(".") or entry.name.endswith("~"):
                continue
            try:
                about = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(about.st_mode):
                    continue
                path = directory / entry.name
                seen[entry.name] = state = Seen(about.st_ino, about.st_size, about.st_mtime_ns)
                written = is_written_to(path)
            except FileNotFoundError:
                continue
            same = self._seen.get(entry.name) == state
            rests = now_ms - about.st_mtime_ns // 1_000_000 >= REST_MS
            if (written is False and (same or rests)) or (written is None and same):
                ready.append(path)
        self._seen = seen
        return ready


def is_written_to(path: Path) -> bool | None:
    """Whether a process has the file open for writing; None where the system does not tell. Raises FileNotFoundError.

    Linux grants a lease for reading on a file only while nobody has it open for writing (fcntl(2), F_SETLEASE).
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError:
        return None
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno in (errno.EAGAIN, errno.EBUSY) else None
    finally:
        os.close(descriptor)
    return False
