"""What does a running crawl do? Shown until it ends, or until Ctrl-C, which ends the watching alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.board import subscription
from heritrix_scrapy.operate.control import ControlError, listen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

#: Seconds between two times the numbers, on a terminal and elsewhere.
DRAWN = 1.0
PLAIN = 10.0


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Show it; exit status 1 when no crawl runs there."""
    every = opts.every
    if every is None:
        every = DRAWN if sys.stdout.isatty() else PLAIN
    request: dict[str, Any] = {"numbers": every} if opts.json else subscription(every)
    try:
        _show(listen(Path(args[0]), request), as_json=opts.json)
    except ControlError as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _show(events: Iterator[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        for event in events:
            print(json.dumps(event), flush=True)
        return
    # imported by those who look
    from heritrix_scrapy.operate.terminal import Screen

    # refused, or not there: said before anything is drawn
    first = next(events, None)
    if first is None:
        return
    with Screen() as screen:
        screen.hear(first)
        for event in events:
            screen.hear(event)
