"""What is being worked on at the moment? (Heritrix: ToeThreadsReport)

There are no threads: a slot is one of the ``CONCURRENT_REQUESTS`` URIs that may be in process at once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.report.durations import duration
from heritrix_scrapy.report.log_line import token
from heritrix_scrapy.report.times import log17, ts12

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heritrix_scrapy.crawl import InFlight
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.report.known import Known

#: What a URI is at that no download handler of ours fetches.
AROUND = "in the middlewares or the spider"


def slots(known: Known) -> list[dict[str, Any]]:
    """One entry for each URI in process: what it is, at which step, since when."""
    fetching = {id(each.curi): each for each in known.in_flight}
    rows = [_row(known, curi, fetching.pop(id(curi), None)) for curi in known.in_process]
    for flight in fetching.values():
        # fetches of engine.download(), which no queue knows
        rows.append(_row(known, flight.curi, flight))
    return rows


def _row(known: Known, curi: CrawlURI, flight: InFlight | None) -> dict[str, Any]:
    began = curi.began_ms
    return {
        "uri": curi.uri,
        "path": curi.path,
        "via": curi.via,
        "queue": curi.class_key,
        "attempts": curi.attempts,
        "step": AROUND if flight is None else flight.step,
        "received": 0 if flight is None else flight.received,
        "since": None if began is None else log17(began),
        "for_ms": None if began is None else max(known.now_ms - began, 0),
    }


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
        yield f" CrawlURI {token(row['uri'])} {token(row['path'])} {token(row['via'])}"
        yield f"    {row['attempts']} attempts"
        waited = row["for_ms"]
        yield f" ACTIVE for {'-' if waited is None else duration(waited)}, since {row['since'] or '-'}"
        yield f" step: {row['step']}, {row['received']} bytes received"
        yield "]"
        yield ""
