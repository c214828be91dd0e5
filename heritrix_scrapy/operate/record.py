"""What does a job remember of its launches when no process of it runs?

``JOBDIR/state.json``: state, end, times and launches, replaced whole at each change of state. A process that was
killed leaves a state that no process stands behind; ``read`` tells that it ended abnormally.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.operate.life import End, State

if TYPE_CHECKING:
    from pathlib import Path

NAME = "state.json"


class Record(msgspec.Struct, kw_only=True):
    """State of a job. Times are milliseconds since the epoch; 0: not yet."""

    schema: int = 1
    state: str = State.NASCENT.value
    end: str = End.CREATED.name
    reason: str = ""
    launches: int = 0
    launch: str = ""
    pid: int = 0
    started_ms: int = 0
    ended_ms: int = 0
    #: Milliseconds for which the crawl ran, pauses left out, earlier launches of the same crawl included.
    ran_ms: int = 0
    checkpoint: str = ""
    alerts: int = 0

    @property
    def ended(self) -> End:
        """The end status; of a process that was killed: FINISHED_ABNORMAL."""
        return End[self.end]


def read(directory: Path) -> Record:
    """The record of a JOBDIR; a new one where there is none or it cannot be read."""
    try:
        return msgspec.json.decode((directory / NAME).read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError):
        return Record()


def write(directory: Path, record: Record) -> None:
    """Replace the record, whole or not at all. Raises OSError."""
    path = directory / NAME
    beside = path.with_name(f".{NAME}.{os.getpid()}")
    try:
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
