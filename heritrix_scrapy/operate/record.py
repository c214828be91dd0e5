"""What does a job remember of its launches when no process of it runs?

``JOBDIR/state.json``: state, end, times and launches, replaced whole at each change of state. A process that was
killed leaves a state that no process stands behind; ``stands`` tells that it ended abnormally.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

import msgspec

from heritrix_scrapy.operate.life import ACTIVE, End, State

NAME = "state.json"

#: Why a disk takes no file more, and the least room that a file has which is there.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
BLOCK = 4096


class Record(msgspec.Struct, kw_only=True):
    """State of a job. Times are milliseconds since the epoch; 0: not yet."""

    schema: int = 1
    state: str = State.NASCENT.value
    end: str = End.CREATED.name
    reason: str = ""
    launches: int = 0
    launch: str = ""
    #: Process that runs the crawl, and when the system started it (so that a number used again is told from it).
    pid: int = 0
    born: int = 0
    started_ms: int = 0
    ended_ms: int = 0
    #: Milliseconds for which the crawl ran, pauses left out, earlier launches of the same crawl included.
    ran_ms: int = 0
    checkpoint: str = ""
    alerts: int = 0
    #: Folders of WARC files outside of the JOBDIR, each with what the files' names begin with behind the last slash.
    warcs: list[str] = []
    #: Whether an engine has put the launch away after its end: it shows the job as one that was not built.
    torn_down: bool = False


def read(directory: Path) -> Record:
    """The record of a JOBDIR; a new one where there is none or it cannot be read."""
    try:
        return msgspec.json.decode((directory / NAME).read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError):
        return Record()


def stands(directory: Path) -> Record:
    """The record of a JOBDIR as it is true now: a job whose process was killed has ended abnormally."""
    record = read(directory)
    if State(record.state) in ACTIVE and not lives(record.pid, record.born):
        record.state, record.end = State.FINISHED.value, End.FINISHED_ABNORMAL.name
        record.reason = f"its process ({record.pid}) is gone"
    return record


def born(pid: int) -> int:
    """When the system started a process, in its own ticks; 0 where it does not tell."""
    fields = _stat(pid)
    return int(fields[19]) if len(fields) > 19 and fields[19].isdecimal() else 0


def _stat(pid: int) -> list[str]:
    """What the system tells of a process from its state on; nothing where it does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def lives(pid: int, since: int) -> bool:
    """Whether the process of that number and birth runs; not one that has ended and waits for its parent to ask."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        """Somebody else's: it runs."""
    if _stat(pid)[:1] in (["Z"], ["X"]):
        return False
    return not since or born(pid) in (0, since)


def of_another(directory: Path, record: Record) -> bool:
    """Whether another process that runs has put its record in the place of this one."""
    there = read(directory)
    return (there.pid, there.born) != (record.pid, record.born) and lives(there.pid, there.born)


def write(directory: Path, record: Record) -> None:
    """Replace the record, whole or not at all; on a full disk in the room of the old one. Raises OSError."""
    path = directory / NAME
    beside = path.with_name(f".{NAME}.{os.getpid()}")
    data = msgspec.json.format(msgspec.json.encode(record))
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if error.errno not in NO_ROOM or not _written_over(path, data):
            raise


def _written_over(path: Path, data: bytes) -> bool:
    """Whether a file took that in place of what it held: a block that it has is refused to nobody."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            old = os.pread(descriptor, BLOCK, 0)
            if len(data) <= BLOCK and 0 < len(old) < BLOCK:
                if os.pwrite(descriptor, data, 0) == len(data):
                    os.ftruncate(descriptor, len(data))
                    return True
                os.pwrite(descriptor, old, 0)
                os.ftruncate(descriptor, len(old))
        finally:
            os.close(descriptor)
    return False
