"""Which reports are there, and how is each made as text, as JSON, as a file?

A table: name → file, lines of text, JSON. The text is Heritrix's (spec/output 8): people and programs read its first
lines and its words.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from heritrix_scrapy.report import plot, processors, slots, summary, tables

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from heritrix_scrapy.report.known import Known

#: None among the lines is no line, but a place where something else may have its turn.
Lines = Callable[["Known"], Iterator[str | None]]

#: Pieces of a report after which something else may have its turn.
PIECES = 8


class Report(NamedTuple):
    """``file``: its name in the reports folder; ``lines``: the text, without line ends; ``data``: the same for
    programs, where an iterator stands for a long list; None in it is no entry, but such a place, too."""

    file: str
    lines: Lines
    data: Callable[[Known], Any]


def _table(
    columns: tuple[str, ...],
    rows: Callable[[Known], Iterator[tables.Row]],
    line: Callable[[tables.Row], str] = tables.line,
    empty: str = "",
) -> tuple[Lines, Callable[[Known], Any]]:
    def text(known: Known) -> Iterator[str]:
        found = rows(known)
        first = next(found, None)
        if first is None and empty:
            yield empty
            return
        yield tables.header(columns)
        if first is not None:
            yield line(first)
            yield from map(line, found)

    def data(known: Known) -> Any:
        return {"columns": list(columns), "rows": (list(row) for row in rows(known))}

    return text, data


def _frontier(kind: str) -> tuple[Lines, Callable[[Known], Any]]:
    def text(known: Known) -> Iterator[str | None]:
        yield from known.frontier_lines(kind)

    def data(known: Known) -> Any:
        return {**known.frontier, "lines": iter(known.frontier_lines(kind))}

    return text, data


def _processors(known: Known) -> Any:
    return {name: [part._asdict() for part in chain] for name, chain in processors.chains(known).items()}


def _slots(known: Known) -> Any:
    return {"slots": known.slots, "active": slots.slots(known)}


def _statuses(known: Known) -> Any:
    rows = [[count, int(code), tables.said_of(code)] for count, code in tables.statuses(known)]
    return {"columns": [*tables.STATUSES, "meaning"], "rows": rows}


def _plot(known: Known) -> Iterator[str]:
    yield plot.svg(known).rstrip("\n")


def _course(known: Known) -> Any:
    fields = ("ran_ms", "discovered", "queued", "downloaded", "failed", "size")
    return [{name: getattr(each, name) for name in fields} for each in known.course.moments]


REPORTS: dict[str, Report] = {
    "crawl": Report("crawl-report.txt", summary.lines, summary.facts),
    "seeds": Report("seeds-report.txt", *_table(tables.SEEDS, tables.seeds, tables.seed_line)),
    "hosts": Report("hosts-report.txt", *_table(tables.HOSTS, tables.hosts, tables.host_line)),
    "source": Report("source-report.txt", *_table(tables.SOURCES, tables.sources, empty=tables.NO_SOURCES)),
    "mimetypes": Report("mimetype-report.txt", *_table(tables.TYPES, tables.types)),
    "responsecode": Report("responsecode-report.txt", _table(tables.STATUSES, tables.statuses)[0], _statuses),
    "processors": Report("processors-report.txt", processors.lines, _processors),
    "frontier-summary": Report("frontier-summary-report.txt", *_frontier("summary")),
    "frontier-nonempty": Report("frontier-nonempty-report.txt", *_frontier("nonempty")),
    "threads": Report("threads-report.txt", slots.lines, _slots),
    "course": Report("crawl-course.svg", _plot, _course),
}

#: Heritrix's class → ours, for those who write its names.
CLASSES = {
    "CrawlSummaryReport": "crawl",
    "SeedsReport": "seeds",
    "HostsReport": "hosts",
    "SourceTagsReport": "source",
    "MimetypesReport": "mimetypes",
    "ResponseCodeReport": "responsecode",
    "ProcessorsReport": "processors",
    "FrontierSummaryReport": "frontier-summary",
    "FrontierNonemptyReport": "frontier-nonempty",
    "ToeThreadsReport": "threads",
}


def name_of(asked: str) -> str | None:
    """The report that is meant by a name, by Heritrix's class or by the name of its file; None for no such."""
    if asked in REPORTS:
        return asked
    last = asked.rpartition(".")[2] if "org.archive" in asked else asked
    if last in CLASSES:
        return CLASSES[last]
    return next((name for name, report in REPORTS.items() if report.file in (asked, f"{asked}-report.txt")), None)


def as_json(name: str, known: Known) -> str:
    """The report as one JSON object: ``report``, ``time_ms``, ``data``."""
    return "".join(piece for piece in json_pieces(name, known) if piece is not None)


def json_pieces(name: str, known: Known) -> Iterator[str | None]:
    """The same piece by piece; None is none, as among lines."""
    return _pieces({"report": name, "time_ms": known.now_ms, "data": REPORTS[name].data(known)})


def _pieces(value: Any) -> Iterator[str | None]:
    if isinstance(value, dict) and any(isinstance(each, dict | Iterator) for each in value.values()):
        before = "{"
        for name, each in value.items():
            yield f"{before}{json.dumps(str(name))}: "
            yield from _pieces(each)
            before = ", "
        yield "}"
    elif isinstance(value, Iterator):
        before = "["
        for each in value:
            if each is None:
                yield None
                continue
            yield before + _dumped(each)
            before = ", "
        yield "[]" if before == "[" else "]"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> str:
    return json.dumps(_finite(value), default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    """The value with null for what is no number that JSON has: a rate of nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def write(name: str, known: Known, directory: Path) -> Path:
    """Write a report into a folder, whole or not at all; its path. Raises OSError."""
    for _ in write_on(name, known, directory):
        """Without a pause."""
    return directory / REPORTS[name].file


def write_on(name: str, known: Known, directory: Path) -> Generator[None]:
    """The same, with a pause wherever something else may have its turn: after every few lines."""
    report = REPORTS[name]
    lines = report.lines(known)
    return _written(directory / report.file, (line if line is None else line + "\n" for line in lines))


def write_json(name: str, known: Known, directory: Path) -> Path:
    """The same as JSON, in a file of the same name with ``.json``."""
    for _ in write_json_on(name, known, directory):
        """Without a pause."""
    return json_path(name, directory)


def write_json_on(name: str, known: Known, directory: Path) -> Generator[None]:
    """The same, with pauses."""
    return _written(json_path(name, directory), chain(json_pieces(name, known), ["\n"]))


def json_path(name: str, directory: Path) -> Path:
    """Where a report lies as JSON."""
    return (directory / REPORTS[name].file).with_suffix(".json")


def _written(path: Path, pieces: Iterable[str | None]) -> Generator[None]:
    with _beside(path) as file:
        for number, piece in enumerate(pieces, 1):
            if piece is not None:
                file.write(piece)
            if piece is None or number % PIECES == 0:
                yield


_number = count()


@contextmanager
def _beside(path: Path) -> Iterator[TextIO]:
    """A file that takes the place of ``path`` when all of it is written."""
    # several may be asked for at a time
    beside = path.with_name(f".{path.name}.{next(_number)}.new")
    try:
        with beside.open("w", encoding="utf-8", errors="backslashreplace") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
