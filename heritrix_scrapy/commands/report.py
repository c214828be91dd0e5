"""What does one of the crawl's reports say, of a running or a stopped job?"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.commands.operation import carried_out
from heritrix_scrapy.operate.reach import Job

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print it; exit status 1 when there is no such job or report. Without a name: which reports there are."""
    name = args[1] if len(args) > 1 else ""
    with Job(Path(args[0]), opts.project) as job:
        answer = carried_out(job, {"do": "report", "name": name, "as_json": opts.json})
    if answer is None:
        return 1
    if "reports" in answer:
        print("\n".join(f"{each:18} {file}" for each, file in answer["reports"].items()))
    elif "text" in answer:
        sys.stdout.write(answer["text"])
    else:
        with open(answer["path"], encoding="utf-8") as file:
            shutil.copyfileobj(file, sys.stdout)
    return 0
