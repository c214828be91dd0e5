"""How far is the crawl, in one line?

Two forms: the columns of Heritrix's progress-statistics.log (StatisticsTracker.progressStatisticsLine) and a
sentence for the terminal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from heritrix_scrapy.report.times import log14

#: Column → where it ends, counted from 1. The time stands at the left and takes 20.
ENDS = {
    "discovered": 32,
    "queued": 44,
    "downloaded": 57,
    "doc/s(avg)": 74,
    "KB/s(avg)": 85,
    "dl-failures": 99,
    "busy-thread": 113,
    "mem-use-KB": 126,
    "heap-size-KB": 140,
    "congestion": 153,
    "max-depth": 165,
    "avg-depth": 177,
}

LEGEND = (
    "           timestamp  discovered      queued   downloaded       doc/s(avg)  KB/s(avg)   dl-failures"
    "   busy-thread   mem-use-KB  heap-size-KB   congestion   max-depth   avg-depth"
)


@dataclass(slots=True)
class Progress:
    """A moment of the crawl. Rates are per second, sizes KiB; ``current_*`` since the moment before."""

    discovered: int = 0
    queued: int = 0
    downloaded: int = 0
    failures: int = 0
    busy: int = 0
    bytes_total: int = 0
    current_docs: float = 0.0
    average_docs: float = math.nan
    current_kib: int = 0
    average_kib: int = 0
    memory_kib: int = 0
    heap_kib: int = 0
    congestion: float = 0.0
    deepest: int = -1
    average_depth: int = 0


def rates(
    progress: Progress, elapsed_ms: int, before: Progress | None, age_ms: int, start: Progress | None = None
) -> None:
    """Fill in the four rates (Heritrix: CrawlStatSnapshot.collect).

    ``before``: the moment ``age_ms`` ago; ``start``: the moment ``elapsed_ms`` ago, when it was not all zero.
    """
    docs, size = progress.downloaded, progress.bytes_total
    if start is not None:
        docs, size = docs - start.downloaded, size - start.bytes_total
    progress.average_docs = ratio(docs, elapsed_ms / 1000)
    progress.average_kib = int((size / 1024) / ((elapsed_ms + 1) / 1000))
    if before is not None:
        progress.current_docs = ratio(progress.downloaded - before.downloaded, age_ms / 1000)
        grown = (progress.bytes_total - before.bytes_total) // 1024
        progress.current_kib = int(grown / (age_ms / 1000)) if age_ms > 0 else 0


class Window:
    """What stood some time ago, for the rates since then: between ``back_ms`` and twice as long ago, whoever asks and
    however often; with 0 when it was asked last. ``start``: when it began, and what stood then."""

    def __init__(self, back_ms: int = 0, start: tuple[int, Progress] | None = None) -> None:
        self._back_ms = back_ms
        self._earlier = self._next = start

    def before(self, now_ms: int, moment: Progress) -> tuple[int, Progress] | None:
        """How long ago, in ms of a clock that never jumps, and what stood then; None when nothing is known of before.
        ``moment``: what stands now, for later."""
        here = (now_ms, moment)
        if self._next is None:
            self._earlier = self._next = here
        elif now_ms - self._next[0] >= self._back_ms:
            self._earlier, self._next = self._next, here
        assert self._earlier is not None
        age_ms = now_ms - self._earlier[0]
        return (age_ms, self._earlier[1]) if self._earlier is not here else None

    def speed(self, now_ms: int, moment: Progress) -> tuple[float, float] | None:
        """Documents and KiB a second since then; None when nothing is known of before."""
        found = self.before(now_ms, moment)
        if found is None or not found[0]:
            return None
        age_ms, earlier = found
        rates(moment, age_ms, earlier, age_ms)
        return moment.current_docs, moment.current_kib


def ratio(count: float, by: float) -> float:
    """A division that knows 0/0 and x/0."""
    if by:
        return count / by
    return math.inf if count else math.nan


def decimal(value: float, most: int = 2, least: int = 0) -> str:
    """A number with at most ``most`` and at least ``least`` decimals, commas between thousands; what the binary
    value exactly is decides ties, then the even digit (Heritrix: ArchiveUtils.doubleToString)."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    number = Decimal(repr(float(value)))
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and -exponent > most:
        number = Decimal(value).quantize(Decimal(1).scaleb(-most), ROUND_HALF_EVEN)
    text = f"{number:,f}"
    if "." in text or least:
        whole, _, places = text.partition(".")
        places = places.rstrip("0").ljust(least, "0")
        text = f"{whole}.{places}" if places else whole
    return "0" if text == "-0" else text


def line(now_ms: int, progress: Progress, *, modern: bool = True) -> str:
    """One line of progress-statistics.log, without its line end. In the modern profile wide values never touch."""
    values = (
        str(progress.discovered),
        str(progress.queued),
        str(progress.downloaded),
        f"{decimal(progress.current_docs)}({decimal(progress.average_docs)})",
        f"{progress.current_kib}({progress.average_kib})",
        str(progress.failures),
        str(progress.busy),
        str(progress.memory_kib),
        str(progress.heap_kib),
        decimal(progress.congestion),
        str(progress.deepest),
        str(progress.average_depth),
    )
    text = log14(now_ms)
    for value, end in zip(values, ENDS.values(), strict=True):
        text = right(text, end, value, apart=1 if modern else 0)
    return text


def right(text: str, end: int, value: str, *, apart: int) -> str:
    """The text with a value behind it that ends at that column, where there is room; ``apart``: blanks that stand
    before it in any case (Heritrix: PaddingStringBuffer.raAppend)."""
    return text + " " * max(end - len(value) - len(text), apart) + value


def percent(finished: int, discovered: int) -> int:
    """How much of what was met has come to its end, whole (Heritrix: percentOfDiscoveredUrisCompleted)."""
    return 100 * finished // discovered if discovered else 0


def total(queued: int, busy: int, downloaded: int) -> int:
    """All URIs as Heritrix's page counts them: those in process are among the queued, too."""
    return queued + busy + downloaded


def note(now_ms: int, word: str, message: str) -> str:
    """A line that tells a change of state: ``... CRAWL RUNNING - Preparing``."""
    return f"{log14(now_ms)} CRAWL {word} - {message}"


def sentence(progress: Progress) -> str:
    """The same for a terminal."""
    return (
        f"{progress.downloaded} archived ({decimal(progress.current_docs, 1)}/s), {human(progress.bytes_total)},"
        f" {progress.queued} queued, {progress.busy} in process, {progress.failures} failed"
    )


def human(size: int) -> str:
    """A number of bytes for people (Heritrix: ArchiveUtils.formatBytesForDisplay)."""
    if size < 1024:
        return f"{max(size, 0):,} B"
    value, units = size / 1024, ["TiB", "GiB", "MiB", "KiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop()
    unit = units[-1]
    return f"{decimal(value, 1, 1) if value < 10 else decimal(value, 0)} {unit}"
