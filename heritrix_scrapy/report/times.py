"""How is a moment written in logs and names?

Four shapes, all UTC (Heritrix: ArchiveUtils.getLog14Date, getLog17Date, get14DigitDate, get17DigitDate).
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

#: Milliseconds as three digits: a line of a log has two of them, and looking them up costs a third of writing them.
_MS = tuple(f"{ms:03d}" for ms in range(1000))
_MS_Z = tuple(f".{ms}Z" for ms in _MS)


@lru_cache(maxsize=64)
def _second(seconds: int) -> tuple[str, str]:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}", f"{moment:%Y%m%d%H%M%S}"


def log14(ms: int) -> str:
    """``2011-06-23T17:12:08Z`` of milliseconds since the epoch."""
    return _second(ms // 1000)[0] + "Z"


def log17(ms: int) -> str:
    """``2011-06-23T17:12:08.574Z``."""
    return _second(ms // 1000)[0] + _MS_Z[ms % 1000]


def ts14(ms: int) -> str:
    """``20110623171208``."""
    return _second(ms // 1000)[1]


def ts17(ms: int) -> str:
    """``20110623171208574``."""
    return _second(ms // 1000)[1] + _MS[ms % 1000]


def ts12(ms: int) -> str:
    """``201106231712``."""
    return _second(ms // 1000)[1][:12]


#: Digits of a time → how it is read.
_DIGITS = {4: "%Y", 6: "%Y%m", 8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


def parsed(digits: str) -> int:
    """Milliseconds since the epoch of 4 to 14 digits, or of 17 (Heritrix: ArchiveUtils.getDate). Raises ValueError."""
    whole, ms = (digits[:14], digits[14:]) if len(digits) == 17 else (digits, "0")
    shape = _DIGITS.get(len(whole))
    if shape is None or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{digits!r} is no time of 4, 6, 8, 10, 12, 14 or 17 digits")
    return int(datetime.strptime(whole, shape).replace(tzinfo=UTC).timestamp()) * 1000 + int(ms)


def seconds10(digits: str) -> str:
    """Seconds since the epoch, in ten digits (Heritrix: ArchiveUtils.secondsSinceEpoch). Raises ValueError."""
    return ten(parsed(digits) // 1000)


def ten(number: int) -> str:
    """A number in at least ten digits (Heritrix: ArchiveUtils.zeroPadInteger)."""
    return f"{number:010d}"
