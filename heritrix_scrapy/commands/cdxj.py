"""Where does each capture stand? Prints one sorted CDXJ index of WARC files, or of all those of a job."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.archive.cdxj import merged, warcs_of

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print the lines; exit status 1 when there is no such file."""
    places = [Path(arg) for arg in args]
    missing = [str(place) for place in places if not place.exists()]
    if missing:
        print(f"heritrix_scrapy: no such file: {', '.join(missing)}", file=sys.stderr)
        return 1
    warcs = [warc for place in places for warc in warcs_of(place)]
    lines = merged(warcs)
    if opts.json:
        print(json.dumps(list(lines), ensure_ascii=False))
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0
