"""How fast is the crawl, drawn over time? SVG as data: a template writes it, a style sheet colours it.

Two curves over one axis of time, each with its own scale: documents a second and KiB a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH: Final = 960
HEIGHT: Final = 200
LEFT: Final = 60
RIGHT: Final = 70
TOP: Final = 12
BOTTOM: Final = 26
#: Most points of a curve; moments between two are taken together.
POINTS: Final = 120


@dataclass(frozen=True, slots=True)
class Mark:
    """A label on an axis, at a coordinate."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """``documents``, ``kib``: the points of a polyline; ``left``, ``right``: labels of the two scales, ``below``: of
    the time; ``last``: the newest values."""

    documents: str
    kib: str
    left: list[Mark]
    right: list[Mark]
    below: list[Mark]
    last: tuple[float, float]
    width: int = WIDTH
    height: int = HEIGHT
    x0: int = LEFT
    x1: int = WIDTH - RIGHT
    y0: int = TOP
    y1: int = HEIGHT - BOTTOM


def plot(moments: Sequence[Sequence[int]]) -> Plot | None:
    """``moments``: [ms, documents, bytes, …], in order; None when there are too few for a curve."""
    rates = rates_of(thinned(moments))
    if len(rates) < 2:
        return None
    begin, end = rates[0][0], rates[-1][0]
    span = max(end - begin, 1)
    most_documents, most_kib = nice(max(row[1] for row in rates)), nice(max(row[2] for row in rates))

    def curve(column: int, most: float) -> str:
        return " ".join(
            f"{LEFT + (row[0] - begin) / span * (WIDTH - LEFT - RIGHT):.1f},{height(row[column], most):.1f}"
            for row in rates
        )

    fractions = (0.0, 0.5, 1.0)
    seconds = span / 1000
    return Plot(
        curve(1, most_documents),
        curve(2, most_kib),
        [Mark(height(most_documents * part, most_documents), label(most_documents * part)) for part in fractions],
        [Mark(height(most_kib * part, most_kib), label(most_kib * part)) for part in fractions],
        [
            Mark(LEFT + part * (WIDTH - LEFT - RIGHT), "now" if part == 1 else "−" + ago(seconds * (1 - part)))
            for part in fractions
        ],
        (rates[-1][1], rates[-1][2]),
    )


def thinned(moments: Sequence[Sequence[int]], most: int = POINTS) -> list[Sequence[int]]:
    """At most so many of them, evenly, the newest among them."""
    if len(moments) <= most:
        return list(moments)
    step = math.ceil(len(moments) / most)
    return list(moments[::-1][::step])[::-1]


def rates_of(moments: Sequence[Sequence[int]]) -> list[tuple[int, float, float]]:
    """(ms, documents a second, KiB a second) between each two moments."""
    rates = []
    for before, after in pairwise(moments):
        seconds = (after[0] - before[0]) / 1000
        if seconds > 0:
            documents, size = max(after[1] - before[1], 0), max(after[2] - before[2], 0)
            rates.append((after[0], documents / seconds, size / 1024 / seconds))
    return rates


def height(value: float, most: float) -> float:
    """The coordinate of a value."""
    return HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM)


def nice(value: float) -> float:
    """The next number that is 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= value * 0.999999)


def label(value: float) -> str:
    """A number of a scale."""
    if value >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def ago(seconds: float) -> str:
    """A length of time in one unit."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size * 2:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
