"""What did the crawl's course look like? Four small charts over the time it ran, as one SVG file."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from heritrix_scrapy.report import progress
from heritrix_scrapy.report.durations import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heritrix_scrapy.report.figures import Moment
    from heritrix_scrapy.report.known import Known

WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 150, 90, 40, 50


def _count(value: float) -> str:
    return progress.decimal(value, 1)


def _size(value: float) -> str:
    return progress.human(int(value))


def rate(moments: Sequence[Moment]) -> list[float]:
    """Answers a second between each moment and the one before it."""
    rates = [0.0]
    for before, after in pairwise(moments):
        passed = after.ran_ms - before.ran_ms
        rates.append((after.downloaded - before.downloaded) * 1000 / passed if passed > 0 else rates[-1])
    return rates[: len(moments)]


def svg(known: Known) -> str:
    """The file's text."""
    moments = known.course.moments
    charts: list[tuple[str, list[float], Callable[[float], str]]] = [
        ("answers a second", rate(moments), _count),
        ("queued URIs", [float(each.queued) for each in moments], _count),
        ("answers, all in all", [float(each.downloaded) for each in moments], _count),
        ("bytes, all in all", [float(each.size) for each in moments], _size),
    ]
    height = TOP + len(charts) * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{escape(known.job)}: {escape(known.state)}</text>',
    ]
    times = [each.ran_ms for each in moments]
    for number, (title, values, unit) in enumerate(charts):
        parts += _chart(title, times, values, unit, TOP + number * (HEIGHT + GAP))
    parts.append("</svg>\n")
    return "\n".join(parts)


def _chart(title: str, times: list[int], values: list[float], unit: Callable[[float], str], top: int) -> Iterator[str]:
    most, last = max(values, default=0.0), max(times, default=0)
    yield f'<text x="{LEFT}" y="{top + 14}">{escape(title)}</text>'
    bottom = top + HEIGHT
    yield f'<path d="M{LEFT} {top + 20}V{bottom}H{LEFT + WIDTH}" fill="none" stroke="#888"/>'
    yield f'<text x="{LEFT - 6}" y="{top + 28}" text-anchor="end">{escape(unit(most))}</text>'
    yield f'<text x="{LEFT - 6}" y="{bottom}" text-anchor="end">0</text>'
    yield f'<text x="{LEFT + WIDTH}" y="{bottom + 16}" text-anchor="end">{duration(last)}</text>'
    if not values:
        return
    points = " ".join(
        f"{LEFT + WIDTH * time / (last or 1):.1f},{bottom - (HEIGHT - 20) * value / (most or 1):.1f}"
        for time, value in zip(times, values, strict=True)
    )
    yield f'<polyline points="{points}" fill="none" stroke="#1565c0" stroke-width="1.5"/>'
