"""How often was a job launched, and when last? Read from its log, as Heritrix does (spec/output 11.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LAUNCHED: Final = re.compile(r"(\S+) INFO +Job launched\s*")
#: Bytes of a log that are read, from its end.
LONGEST: Final = 16 << 20


class Launches(NamedTuple):
    """``last``: the time as the log has it, empty for never; ``partial``: the log was too long to be read whole."""

    times: int = 0
    last: str = ""
    partial: bool = False


def counted(lines: Iterable[str], *, partial: bool = False) -> Launches:
    """The launches that lines of a job's log tell of."""
    times = [found[1] for line in lines if (found := _LAUNCHED.fullmatch(line))]
    return Launches(len(times), times[-1] if times else "", partial)


def of_log(path: Path) -> Launches:
    """The launches that a job's log tells of; none where there is no log."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - LONGEST, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return Launches()
    return counted(text.splitlines(), partial=size > LONGEST)
