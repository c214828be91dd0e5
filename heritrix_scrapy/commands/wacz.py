"""How is a job handed on as one file? Packs its WARC files, index, pages and logs into a WACZ file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.archive.wacz import pack

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Write FILE; exit status 1 when it could not be."""
    jobdir, out = Path(args[0]), Path(args[1])
    try:
        names = pack(jobdir, out)
    except (OSError, ValueError) as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    print(json.dumps(names) if opts.json else f"{out}: {len(names)} parts, {out.stat().st_size} bytes")
    return 0
