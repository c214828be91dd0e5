"""Which reports are tables? Seeds, hosts, sources, types and statuses, each in the order Heritrix gives it.

A row is a tuple of what its columns hold; ``line`` makes Heritrix's text of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from heritrix_scrapy.model import status
from heritrix_scrapy.report.log_line import token
from heritrix_scrapy.report.sorting import sorted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heritrix_scrapy.report.known import Known

SEEDS = ("code", "status", "seed", "redirect")
HOSTS = (
    "#urls",
    "#bytes",
    "host",
    "#robots",
    "#remaining",
    "#novel-urls",
    "#novel-bytes",
    "#dup-by-hash-urls",
    "#dup-by-hash-bytes",
    "#not-modified-urls",
    "#not-modified-bytes",
)
SOURCES = ("source", "host", "#urls")
TYPES = ("#urls", "#bytes", "mime-types")
STATUSES = ("#urls", "rescode")

NO_SOURCES = "No source tag information. (Is 'sourceTagSeeds' enabled?)"

Row = tuple[Any, ...]


def header(columns: tuple[str, ...]) -> str:
    """The first line of such a report."""
    return " ".join(f"[{name}]" for name in columns)


def line(row: Row) -> str:
    """A row with one blank between its fields."""
    return " ".join("-" if field is None else str(field) for field in row)


# -- seeds -------------------------------------------------------------------------------------------------


def seed_order(code: int) -> tuple[bool, int]:
    """Where a seed stands in the report: those that came to nothing first, in the order 1 (a look-up), 0, -1, -2 ...,
    then the others, the highest status first (Heritrix: SeedRecord.sortShiftStatusCode)."""
    return code > 1, -code


def seed_line(row: Row) -> str:
    """A line of the seeds report: without a redirect it has three fields."""
    return line(row[:3] if row[3] is None else row)


def seeds(known: Known) -> Iterator[Row]:
    """(code, CRAWLED or NOTCRAWLED, seed, redirect or None): what went wrong stands first."""
    rows = ((seed_order(seed.code), uri, seed.code, seed.redirect) for uri, seed in known.figures.seeds())
    for _, uri, code, redirect in sorted_rows((order, uri, code, to or "") for order, uri, code, to in rows):
        yield code, "CRAWLED" if code > 0 else "NOTCRAWLED", token(uri), token(redirect) if redirect else None


# -- hosts -------------------------------------------------------------------------------------------------


def host_line(row: Row) -> str:
    """A line of the hosts report; a blank stands behind each field."""
    return "".join(f"{field} " for field in row)


def hosts(known: Known) -> Iterator[Row]:
    """What came from each host, the most successful first; ``dns:`` stands for all look-ups."""
    rows = (
        (
            -tally.successes,
            name if name in ("dns:", "whois:") else quote_plus(name, safe="*", errors="surrogatepass"),
            tally.total_bytes,
            tally.robots_denials,
            tally.remaining,
            tally.novel_urls,
            tally.novel_bytes,
            tally.dup_by_hash_urls,
            tally.dup_by_hash_bytes,
            tally.not_modified_urls,
            tally.not_modified_bytes,
        )
        for name, tally in known.hosts()
    )
    for less, name, size, *rest in sorted_rows(rows):
        yield -less, size, name, *rest


# -- sources -----------------------------------------------------------------------------------------------


def sources(known: Known) -> Iterator[Row]:
    """(source, host, successes): sources as their names sort; of one, the host with the most first."""
    rows = ((tag, -count, host) for tag, host, count in known.figures.source_hosts())
    for tag, less, host in sorted_rows(rows):
        yield token(tag), token(host), -less


# -- types and statuses ------------------------------------------------------------------------------------


def types(known: Known) -> Iterator[Row]:
    """(answers, bytes, type), the most frequent first."""
    counters = known.counters
    found = [(-count, name[5:]) for name, count in counters.items() if name.startswith("mime/")]
    for less, name in sorted(found):
        yield -less, counters.get(f"mime_bytes/{name}", 0), name


def statuses(known: Known) -> Iterator[Row]:
    """(URIs, status), the most frequent first, then as the digits sort. In the heritrix profile only those that
    something came of; else the crawler's own statuses stand beside those of the servers."""
    found = []
    for name, count in known.counters.items():
        if name.startswith("status/"):
            code = int(name[7:])
            if not known.modern:
                count -= known.counters.get(f"failed_status/{code}", 0)
                if code <= 0:
                    continue
            if count:
                found.append((-count, str(code)))
    for less, digits in sorted(found):
        yield -less, digits


def said_of(code: str) -> str:
    """The words for a status, for those who read the JSON."""
    return status.label(int(code))
