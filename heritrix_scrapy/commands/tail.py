"""What does a log of the job say last, and what comes next?"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.report.tailing import DEFAULT, asked, follow

if TYPE_CHECKING:
    import argparse

#: Seconds between two looks at a log that is followed.
LOOK = 0.5


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print the last lines, and with ``--follow`` what comes, until Ctrl-C; exit status 1 when there is no such log."""
    root, log = Path(args[0]), args[1] if len(args) > 1 else DEFAULT
    lines, wanted = 10 if opts.lines is None else opts.lines, opts.filter or ""
    try:
        if opts.json and not opts.follow:
            print(json.dumps(asked(root, log, lines=lines, filter=wanted), indent=2))
            return 0
        for line in follow(root, log, lines, wanted, _pause if opts.follow else lambda: False):
            print(line, flush=True)
    except Refused as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _pause() -> bool:
    time.sleep(LOOK)
    return True
