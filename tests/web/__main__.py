"""Serve sites for another process: ``python -m tests.web [SITES.json ...] [--ready FILE] [--log FILE]``.

Without a file it serves the demonstration web. Once everything listens, one JSON object with ``port``,
``tls_port``, ``dns`` and ``hosts`` goes to standard output and to FILE (which appears whole, by a rename).
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from pathlib import Path

from tests.web.demo_site import SITES
from tests.web.ready import announce
from tests.web.server import Web


async def serve(args: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Web(*(args.sites or [SITES]), log=args.log, generation=args.generation) as web:
        announce(web.ports(), args.ready)
        await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.web", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", type=Path)
    parser.add_argument("--ready", type=Path, help="file that gets the ports once everything listens")
    parser.add_argument("--log", type=Path, help="file that gets one JSON line per request and DNS question")
    parser.add_argument("--generation", type=int, default=1)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
