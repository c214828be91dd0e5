"""What does a status of crawl.log mean, and what can be done about it?"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from heritrix_scrapy.model.explanations import told
from heritrix_scrapy.model.status import STATUS

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Explain each code (``all``: every one of the table); exit status 2 when one is no number."""
    try:
        codes = sorted(STATUS, reverse=True) if args == ["all"] else [int(word) for word in args]
    except ValueError:
        print(f"heritrix_scrapy: {' '.join(args)}: expected numbers as in crawl.log, or all", file=sys.stderr)
        return 2
    answers = [told(code) for code in codes]
    if opts.json:
        print(json.dumps(answers[0] if len(answers) == 1 else answers, indent=2))
        return 0
    for answer in answers:
        print(f"{answer['status']}  {answer['label']}")
        for name in ("means", "do", "counts as", "tried again"):
            print(f"  {name:12} {answer[name]}")
    return 0
