"""How is a paused crawl told to go on?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.commands.pause import tell

if TYPE_CHECKING:
    import argparse


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Ask it to go on; exit status 1 when no crawl runs there."""
    return tell(Path(args[0]), "unpause", as_json=opts.json)
