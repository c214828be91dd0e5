"""Is the recovery journal of a crawl, queue by queue, the one that Heritrix wrote?

    tests/golden/journal.py GOLDEN_FOLDER frontier.recover.gz

A queue is an authority; what a URI needs first belongs to the queue of the URI that needs it, as its ``F+`` line says.
What was found on pages of another queue is compared apart, in its own order. Times are left out. Exit status 0 when each queue has the same lines in the same order.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path


def read(path: Path) -> list[str]:
    """The lines of a journal, packed or not."""
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8").splitlines()


def authority(uri: str) -> str:
    """What stands between the slashes; of ``dns:host`` the host."""
    found = re.match(r"[\w+.-]+://([^/?#]*)", uri)
    return found.group(1) if found else uri.partition(":")[2]


def by_queue(lines: list[str]) -> dict[str, list[str]]:
    """The events of each queue."""
    queues: dict[str, list[str]] = defaultdict(list)
    owner: dict[str, str] = {}
    for line in lines:
        if not re.match(r"F[+esfdri] ", line):
            continue
        uri, path, via = [*line[3:].split(" "), "", ""][:3]
        if line.startswith("F+ "):
            owner[uri] = queue = authority(via if path.endswith("P") and via else uri)
            found_in = owner.get(via, authority(via)) if via else queue
            if found_in != queue:
                # when a page of another queue is fetched is that queue's matter: timers move it
                queues[f"{queue} from {found_in}"].append(line)
                continue
        queues[owner.get(uri, authority(uri))].append(line)
    return queues


def differences(golden: list[str], other: list[str]) -> list[str]:
    """The first difference of each queue that differs."""
    ours, theirs = by_queue(other), by_queue(golden)
    found = []
    for queue in sorted({*ours, *theirs}):
        mine, wanted = ours.get(queue, []), theirs.get(queue, [])
        if mine != wanted:
            place = next((i for i, (a, b) in enumerate(zip(mine, wanted, strict=False)) if a != b), None)
            if place is None:
                place = min(len(mine), len(wanted))
            found.append(
                f"{queue}, event {place}: golden {wanted[place : place + 1] or ['none']},"
                f" other {mine[place : place + 1] or ['none']}"
            )
    return found


def golden_lines(folder: Path) -> list[str]:
    """The journal that belongs to golden results; none where there is none."""
    return next((read(path) for path in sorted(folder.glob("frontier.recover.txt*"))), [])


if __name__ == "__main__":
    told = differences(golden_lines(Path(sys.argv[1])), read(Path(sys.argv[2])))
    print("\n".join(told) or "equal")
    sys.exit(bool(told))
