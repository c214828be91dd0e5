"""What is wrong with this project, or this job?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.doctor import WRONG, examined

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print a line for each thing that was looked at; exit status 1 when something is wrong."""
    named = args[0] if args else opts.project.get("JOBDIR")
    findings = list(examined(opts.project, Path(named) if named else None))
    if opts.json:
        print(json.dumps([each._asdict() for each in findings], indent=2))
    else:
        for each in findings:
            print(f"{each.level:8} {each.what:12} {each.text}")
    return 1 if any(each.level == WRONG for each in findings) else 0
