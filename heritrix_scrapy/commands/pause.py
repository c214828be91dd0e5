"""How is a running crawl told to pause?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.control import ControlError, ask

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Ask for a pause; exit status 1 when no crawl runs there."""
    return tell(Path(args[0]), "pause", as_json=opts.json)


def tell(directory: Path, what: str, *, as_json: bool) -> int:
    """Tell the crawl on a JOBDIR to do something, and print in which state it is then."""
    try:
        answer = ask(directory, {"do": what})
    except ControlError as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, indent=2) if as_json else f"{answer['state']:10} {answer['jobdir']}")
    return 0
