"""How is a length of time written?"""

from __future__ import annotations

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms"))


def duration(ms: int, units: int = 5) -> str:
    """``1d1h1m1s1ms``; units of 0 are left out, ``0ms`` is nothing. ``units``: how many at most, the largest (Heritrix:
    ArchiveUtils.formatMillisecondsToConventional)."""
    parts, rest = [], abs(ms)
    for size, letters in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{letters}")
    return ("-" if ms < 0 else "") + ("".join(parts[:units]) or "0ms")
