"""What is being worked on at the moment? (Heritrix: ToeThreadsReport)

There are no threads: a slot is one of the ``CONCURRENT_REQUESTS`` URIs that may be in process at once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.report.durations import duration
from heritrix_scrapy.report.log_line import token
from heritrix_scrapy.report.times import ts12

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heritrix_scrapy.report.known import Known

#: What a URI is at that no download handler of ours fetches.
AROUND = "in the middlewares or the spider"


def slots(known: Known) -> list[dict[str, Any]]:
    """One entry for each URI in process."""
    fetching = {id(each.curi): each for each in known.in_flight}
    rows = []
    for curi in known.in_process:
        flight = fetching.pop(id(curi), None)
        began = curi.began_ms
        rows.append(
            {
                "uri": curi.uri,
                "path": curi.path,
                "via": curi.via,
                "queue": curi.class_key,
                "attempts": curi.attempts,
                "step": AROUND if flight is None else flight.step,
                "received": 0 if flight is None else flight.received,
                "for_ms": None if began is None else max(known.now_ms - began, 0),
            }
        )
    for flight in fetching.values():
        # fetches of engine.download(), which no queue knows
        rows.append({"uri": flight.curi.uri, "step": flight.step, "received": flight.received, "for_ms": None})
    return rows


def short(known: Known) -> str:
    """In one line: how many are at which step."""
    rows = slots(known)
    steps = Counter(row["step"] for row in rows)
    said = ", ".join(f"{count} {step}" for step, count in sorted(steps.items(), key=lambda item: (-item[1], item[0])))
    return f"{known.slots} slots: {len(rows)} active" + (f"; {said}" if said else "")


def lines(known: Known) -> Iterator[str]:
    """The report."""
    if not known.running:
        yield "no ToeThreads"
        return
    rows = slots(known)
    yield f"Toe threads report - {ts12(known.now_ms)}"
    yield f" Job being crawled: {known.job}"
    yield f" Number of toe threads in pool: {known.slots} ({len(rows)} active)"
    yield ""
    for number, row in enumerate(rows, 1):
        yield f"[slot #{number}"
        yield f" CrawlURI {token(row['uri'])} {token(row.get('path'))} {token(row.get('via'))}"
        yield f"    {row.get('attempts', 0)} attempts"
        yield f" ACTIVE for {'-' if row['for_ms'] is None else duration(row['for_ms'])}"
        yield f" step: {row['step']}, {row['received']} bytes received"
        yield "]"
        yield ""
