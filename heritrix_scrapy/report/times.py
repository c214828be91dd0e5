"""How is a moment written in logs and names?

Four shapes, all UTC (Heritrix: ArchiveUtils.getLog14Date, getLog17Date, get14DigitDate, get17DigitDate).
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=64)
def _second(seconds: int) -> tuple[str, str]:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}", f"{moment:%Y%m%d%H%M%S}"


def log14(ms: int) -> str:
    """``2011-06-23T17:12:08Z`` of milliseconds since the epoch."""
    return _second(ms // 1000)[0] + "Z"


def log17(ms: int) -> str:
    """``2011-06-23T17:12:08.574Z``."""
    return f"{_second(ms // 1000)[0]}.{ms % 1000:03d}Z"


def ts14(ms: int) -> str:
    """``20110623171208``."""
    return _second(ms // 1000)[1]


def ts17(ms: int) -> str:
    """``20110623171208574``."""
    return f"{_second(ms // 1000)[1]}{ms % 1000:03d}"
