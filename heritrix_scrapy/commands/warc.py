"""Is a WARC file whole, and what is in it? ``verify`` checks every digest, ``repair`` cuts a torn end off, ``stats``
counts."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from heritrix_scrapy.archive.cdxj import warcs_of
from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.archive.warcfile import repair, whole_records

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
    except (ArchiveLoadFailed, OSError, EOFError, ValueError) as error:
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
    if whole < size and count:
        os.truncate(warc, whole)
    return {"records": count, "cut": size - whole if count else 0, "problems": [] if count else ["no whole record"]}


def stats(warc: Path) -> dict[str, Any]:
    """Records by type and answers by status and media type."""
    kinds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    with warc.open("rb") as file:
        for record in ArchiveIterator(file):
            kinds[record.rec_type] += 1
            if record.rec_type == "response" and record.http_headers is not None:
                statuses[record.http_headers.get_statuscode() or "-"] += 1
    return {
        "bytes": warc.stat().st_size,
        **dict(sorted(kinds.items())),
        **{f"status_{code}": count for code, count in sorted(statuses.items())},
    }


WORK = {"verify": verify, "repair": mend, "stats": stats}
