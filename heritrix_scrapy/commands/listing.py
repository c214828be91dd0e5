"""Which queues has a job, running or stopped, and which URIs wait in them?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.commands.operation import carried_out
from heritrix_scrapy.operate.reach import Job

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

#: Rows that are listed where the command line does not say.
LIMIT = 1000


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print the list, asking page by page; exit status 1 when there is no job to tell of."""
    with Job(Path(args[0]), opts.project) as job:
        return listed(job, opts)


def listed(job: Job, opts: argparse.Namespace) -> int:
    """The same for an open job."""
    if opts.report:
        answer = carried_out(job, {"do": "queue_report", "kind": opts.report})
        if answer is None:
            return 1
        sys.stdout.write(answer["text"])
        return 0
    name = opts.subcommand
    request: dict[str, Any] = {"do": name, "queue": opts.queue, "queue_name": opts.name}
    request |= {"state": opts.state} if name == "queues" else {"uri": opts.uri}
    request = {key: value for key, value in request.items() if value is not None}
    left = LIMIT if opts.limit is None else opts.limit
    pages: list[dict[str, Any]] = []
    marker: str | None = ""
    while marker is not None and left > 0:
        page = carried_out(job, {**request, "marker": marker, "limit": min(left, LIMIT)})
        if page is None:
            return 1
        pages.append(page)
        left -= len(page[name])
        marker = page.get("marker")
    whole = {**pages[0], name: [row for page in pages for row in page[name]], "marker": marker} if pages else {name: []}
    print(json.dumps(whole, indent=2) if opts.json else "\n".join(told(name, whole)))
    return 0


def told(name: str, whole: Mapping[str, Any]) -> Iterator[str]:
    """The same for a terminal."""
    if "states" in whole:
        yield "  ".join(f"{key}={value}" for key, value in whole["states"].items())
        yield from (f"{row['uris']:10}  {row['queue']}" for row in whole["longest"])
        yield ""
    for row in whole[name]:
        if name == "queues":
            yield f"{row['uris']:10}  {row['state']:10}  {row['queue']}  waits for {row['waits for']}" + (
                f", until {row['until']}" if "until" in row else ""
            )
            extra = {key: value for key, value in row.items() if key not in SHOWN}
            if "ever queued" in extra:
                yield from (f"    {key:18} {value}" for key, value in extra.items())
        else:
            via = f"  via {row['via']}" if row["via"] else ""
            yield f"{row['queue']}  {row['path'] or '-'}  {row['uri']}{via}"
    if whole.get("marker") is not None:
        yield f"(there are more; --limit lists more than {len(whole[name])})"


SHOWN = frozenset({"uris", "state", "queue", "waits for", "until"})
