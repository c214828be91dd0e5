"""Why was this URI fetched, or not, or not yet? Everything known of it, of a running crawl or a stopped one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.commands.operation import carried_out
from heritrix_scrapy.operate.reach import Job

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print the answer; exit status 1 when there is no job, or the text is no URI."""
    request = {"do": "why", "uri": args[0], "via": opts.via or "", "path": opts.path or ""}
    with Job(Path(args[1]), opts.project) as job:
        answer = carried_out(job, request)
    if answer is None:
        return 1
    if opts.json:
        print(json.dumps(answer, indent=2))
        return 0
    print(f"{answer['verdict']:12} {answer['uri']}")
    for line in answer["text"]:
        print(f"  {line}")
    if opts.explain:
        for row in answer["scope"]["rules"]:
            because = f"  {row['because']}" if row["because"] else ""
            print(f"    {row['index']:2} {row['says']:6} {row['rule']}{because}")
    return 0
