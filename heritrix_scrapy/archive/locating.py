"""In which WARC file does a capture stand, and where in it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive import cdxj, reading
from heritrix_scrapy.archive.names import OPEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


def located(places: Iterable[Path], uri: str, began_ms: int, enough: Callable[[], bool]) -> dict[str, Any] | None:
    """File, offset and kind of the capture of ``uri`` whose fetch began then; None when it is in none of the folders,
    or ``enough`` says that it was looked for long enough.

    The index beside a file is asked where it has one; else the file is read, when it was written to since.
    """
    stamp = cdxj.stamp14(began_ms)
    found: dict[str, Any] | None = None
    for warc in (path for place in places if place.exists() for path in cdxj.warcs_of(place)):
        try:
            if warc.stat().st_mtime_ns // 1_000_000 < began_ms - 1000:
                continue
            found = _in_index(warc, uri, stamp) or _in_file(warc, uri, stamp, enough)
        except OSError:
            # closed and renamed meanwhile
            continue
        if found is not None or enough():
            return found
    return found


def _in_index(warc: Path, uri: str, stamp: str) -> dict[str, Any] | None:
    beside = cdxj.index_beside(warc)
    if warc.name.endswith(OPEN) or not beside.exists() or uri.startswith("dns:"):
        return None
    start = f"{cdxj.key(uri)} {stamp} "
    with beside.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(start):
                told = json.loads(line[len(start) :])
                if told["url"] == uri:
                    kind = "revisit" if told["mime"] == cdxj.REVISIT else "response"
                    return {"file": str(warc), "offset": int(told["offset"]), "record": kind}
    return None


def _in_file(warc: Path, uri: str, stamp: str, enough: Callable[[], bool]) -> dict[str, Any] | None:
    if not warc.name.endswith(OPEN) and cdxj.index_beside(warc).exists() and not uri.startswith("dns:"):
        return None
    for records, record in reading.records(reading.extent(warc)):
        headers = record.rec_headers
        target = (headers.get_header("WARC-Target-URI") or "").removeprefix("<").removesuffix(">")
        if target == uri and record.rec_type in cdxj.KINDS:
            when = cdxj.digits_of(headers.get_header("WARC-Date") or "")
            place = reading.place_of(records, record) if when == stamp else None
            if place is not None:
                return {"file": str(warc), "offset": place[0], "record": record.rec_type}
        if enough():
            return None
    return None
