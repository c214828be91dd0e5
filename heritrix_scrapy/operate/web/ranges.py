"""Which part of a file does a Range header ask for? (RFC 9110 14.2)"""

from __future__ import annotations

import re
from typing import Final

_ONE: Final = re.compile(r"bytes\s*=\s*(\d*)-(\d*)\s*", re.IGNORECASE | re.ASCII)
#: Digits of a position that is looked at.
LONGEST: Final = 18


class Unsatisfiable(Exception):
    """The part lies behind the end."""


def chosen(header: str | None, size: int) -> tuple[int, int] | None:
    """From where to where, the end not included; None for the whole file, which several ranges and what is no range
    stand for. Raises Unsatisfiable."""
    found = _ONE.fullmatch(header.strip()) if header else None
    if found is None or not (found[1] or found[2]) or max(len(found[1]), len(found[2])) > LONGEST:
        return None
    if not found[1]:
        last = int(found[2])
        if not last or not size:
            raise Unsatisfiable
        return max(size - last, 0), size
    start = int(found[1])
    if found[2] and int(found[2]) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return start, min(int(found[2]) + 1, size) if found[2] else size
