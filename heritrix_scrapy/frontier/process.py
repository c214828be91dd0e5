"""Which URIs are out, and what will their next try know of this one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI


class InProcess:
    """What selection hands out and finishing takes back. ``uris``: by class key, at most one a queue; ``stale``:
    what the next try of a URI knows of the last one, by its key (heritrix profile only)."""

    def __init__(self) -> None:
        self.uris: dict[str, CrawlURI] = {}
        self.stale: dict[bytes, tuple[str, str | None, int, str | None]] = {}
