"""How many bytes came, and what were they: new, or repeated?

The names and the sentence of Heritrix's table (CrawledBytesHistotable), made from a ``Tally`` or from the crawl's
counters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.report.progress import human

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.model.tally import Tally

#: Our class → Heritrix's names of its bytes and of its URIs.
NAMES = {
    "novel": ("novel", "novelCount"),
    "dup_by_hash": ("dupByHash", "dupByHashCount"),
    "not_modified": ("notModified", "notModifiedCount"),
    "other_dup": ("otherDup", "otherDupCount"),
    "warc_novel": ("warcNovelContentBytes", "warcNovelUrls"),
}


def of_tally(tally: Tally) -> dict[str, int]:
    """Heritrix's table of one host, server, queue or source: what is 0 is left out, names are sorted."""
    found = {}
    for kind, (size, count) in NAMES.items():
        found[size] = getattr(tally, f"{kind}_bytes")
        found[count] = getattr(tally, f"{kind}_urls")
    return {name: found[name] for name in sorted(found) if found[name]}


def of_counters(counters: Mapping[str, int]) -> dict[str, int]:
    """The same of the whole crawl's counters ``bytes/CLASS`` and ``urls/CLASS``."""
    found = {}
    for kind, (size, count) in NAMES.items():
        found[size] = counters.get(f"bytes/{kind}", 0)
        found[count] = counters.get(f"urls/{kind}", 0)
    # what was written has a family of its own
    size, count = NAMES["warc_novel"]
    found[size], found[count] = counters.get("bytes_written/novel", 0), counters.get("urls_written/novel", 0)
    return {name: found[name] for name in sorted(found) if found[name]}


def total_bytes(table: Mapping[str, int]) -> int:
    """All bytes that came."""
    return sum(table.get(size, 0) for kind, (size, _) in NAMES.items() if kind != "warc_novel")


def total_urls(table: Mapping[str, int]) -> int:
    """All URIs that something came of."""
    return sum(table.get(count, 0) for kind, (_, count) in NAMES.items() if kind != "warc_novel")


def summary(table: Mapping[str, int]) -> str:
    """One sentence. The last word names the count though bytes stand before it: Heritrix's own slip, which readers of
    its page know."""
    novel, dup, same, other = (human(table.get(NAMES[kind][0], 0)) for kind in list(NAMES)[:4])
    return (
        f"{human(total_bytes(table))} crawled ({novel} novel, {dup} dupByHash, {same} notModified,"
        f" {other} otherDupCount)"
    )
