"""Is a WARC file whole, and what is in it? ``verify`` checks every digest, ``repair`` cuts a torn end off, ``stats``
counts."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import reading
from heritrix_scrapy.archive.cdxj import warcs_of
from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.repair import repair, whole_records

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Do what the first argument says with each file; exit status 1 when one is not as it should be."""
    what, places = args[0], [Path(arg) for arg in args[1:]]
    if what not in WORK or not places:
        print(f"heritrix_scrapy: expected one of {', '.join(WORK)} and files", file=sys.stderr)
        return 2
    missing = [str(place) for place in places if not place.exists()]
    if missing:
        print(f"heritrix_scrapy: no such file: {', '.join(missing)}", file=sys.stderr)
        return 1
    results = {str(warc): WORK[what](warc) for place in places for warc in warcs_of(place)}
    if opts.json:
        print(json.dumps(results, indent=1))
    else:
        for name, result in results.items():
            told = "  ".join(f"{key}={value}" for key, value in result.items() if key != "problems")
            print(f"{name}  {told}")
            for problem in result.get("problems", ()):
                print(f"   {problem}")
    return 0 if all(not result.get("problems") for result in results.values()) else 1


def verify(warc: Path) -> dict[str, Any]:
    """Read every record and its digests with warcio, and whether the file ends behind a whole one."""
    problems: list[str] = []
    records = 0
    try:
        with warc.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                records += 1
                while record.raw_stream.read(1 << 20):
                    pass  # the digests are of the bytes as they are
                checker = record.digest_checker
                if checker is not None and checker.passed is False:
                    problems += [f"record {records}: {problem}" for problem in checker.problems]
    except reading.UNREADABLE as error:
        problems.append(f"behind record {records}: {error}")
    whole, count = whole_records(warc)
    size = warc.stat().st_size
    if whole < size:
        problems.append(f"{size - whole} bytes behind the last whole record, number {count}")
    return {"records": records, "bytes": size, "problems": problems}


def mend(warc: Path) -> dict[str, Any]:
    """Cut off what follows the last whole record; an open file is closed too, when nobody writes it."""
    size = warc.stat().st_size
    if warc.name.endswith(OPEN):
        closed = repair(warc)
        if closed is None:
            return {
                "problems": [] if not warc.exists() else ["another process writes it"],
                "removed": not warc.exists(),
            }
        return {"closed": closed.name, "cut": size - closed.stat().st_size}
    whole, count = whole_records(warc)
    if not count:
        return {"records": 0, "problems": ["no whole record"]}
    told: dict[str, Any] = {"records": count, "cut": size - whole}
    if whole < size:
        # another program may have written it, and what we cannot read may be read by others
        told["kept"] = cut_off(warc, whole).name
    return told


def cut_off(warc: Path, whole: int) -> Path:
    """Move what follows ``whole`` bytes of a file into one beside it."""
    number, beside = 1, warc.with_name(f"{warc.name}.cut")
    while beside.exists():
        number += 1
        beside = warc.with_name(f"{warc.name}.cut{number}")
    with warc.open("rb") as source, beside.open("xb") as target:
        source.seek(whole)
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())
    os.truncate(warc, whole)
    return beside


def stats(warc: Path) -> dict[str, Any]:
    """Records by type and answers by status and media type."""
    kinds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    where = reading.extent(warc)
    for found, record in reading.records(where):
        code = record.http_headers.get_statuscode() if record.http_headers is not None else None
        if reading.place_of(found, record) is None:
            break
        kinds[record.rec_type or "-"] += 1
        if record.rec_type == "response" and record.http_headers is not None:
            statuses[code or "-"] += 1
    return {
        "bytes": warc.stat().st_size,
        **dict(sorted(kinds.items())),
        **{f"status_{code}": count for code, count in sorted(statuses.items())},
    }


WORK = {"verify": verify, "repair": mend, "stats": stats}
