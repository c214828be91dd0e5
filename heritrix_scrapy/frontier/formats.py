"""How does Heritrix write numbers, durations and times in its frontier reports?

Plain functions (Heritrix: ArchiveUtils.formatMillisecondsToConventional, doubleToString, formatBytesForDisplay).
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms"))


def duration(ms: int) -> str:
    """``1d1h1m1s1ms``, units of 0 left out; ``0ms`` for nothing."""
    parts, rest = [], abs(ms)
    for size, letters in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{letters}")
    return ("-" if ms < 0 else "") + ("".join(parts) or "0ms")


def number(value: float, places: int = 1) -> str:
    """US grouping, at most so many decimals, half to even on the exact binary value, no trailing zeros."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def size(amount: int) -> str:
    """Bytes in the largest unit that leaves at least 1; one decimal below 10 of a unit."""
    if amount <= 0:
        return "0 B"
    value, unit = float(amount), 0
    while value >= 1024 and unit < len(_SIZES) - 1:
        value /= 1024
        unit += 1
    if unit and value < 10:
        return f"{value:.1f} {_SIZES[unit]}"
    return f"{int(value + 0.5):,} {_SIZES[unit]}"


def moment(ms: int) -> str:
    """``2011-06-23T17:12:08.574Z``."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def minute(ms: int) -> str:
    """``201106231712``."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y%m%d%H%M}"
