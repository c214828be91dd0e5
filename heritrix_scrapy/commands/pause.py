"""How is a running crawl told to pause, to go on, or to end?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.control import ControlError, ask

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Ask for what the subcommand is called, and print in which state the crawl is then; exit status 1 when no crawl
    runs there."""
    try:
        answer = ask(Path(args[0]), {"do": opts.subcommand})
    except ControlError as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, indent=2) if opts.json else f"{answer['state']:10} {answer['jobdir']}")
    return 0
