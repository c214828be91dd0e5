"""What is counted of a host, a server, a queue and a source, each by itself?

Ends of URIs, and the bytes that came, by what they are: new, or a repetition of what is archived already (Heritrix:
FetchStats, CrawledBytesHistotable).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD, NOT_MODIFIED
from heritrix_scrapy.model.status import ROBOTS_PRECLUDED, Disposition

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.revisit import Revisit

NEVER = -1

NOVEL = "novel"
#: Profile of a revisit → class of its bytes. Without a revisit they are novel, of another profile they are
#: ``other_dup``.
CLASSES = {IDENTICAL_PAYLOAD: "dup_by_hash", NOT_MODIFIED: "not_modified"}


def byte_class(revisit: Revisit | None) -> str:
    """``novel``, ``dup_by_hash``, ``not_modified`` or ``other_dup``."""
    return NOVEL if revisit is None else CLASSES.get(revisit.profile, "other_dup")


def counted_size(curi: CrawlURI, *, heritrix: bool = False) -> int:
    """Bytes of a URI's answer, -1 when there was none. ``heritrix``: of a 304 the body that it stands for counts, too
    (Heritrix: FetchHistoryProcessor)."""
    size = curi.content_size
    revisit = curi.revisit
    if heritrix and revisit is not None and revisit.profile == NOT_MODIFIED and curi.history:
        return max(size, 0) + max(curi.history[0].reference_length, 0)
    return size


class Tally(msgspec.Struct, array_like=True, omit_defaults=True):
    """Counters. Order is the format of the store: new fields go to the end.

    ``warc_urls``, ``warc_bytes``: response and resource records written, and the bytes of their blocks.
    """

    scheduled: int = 0
    successes: int = 0
    failures: int = 0
    disregards: int = 0
    responses: int = 0
    robots_denials: int = 0
    success_bytes: int = 0
    total_bytes: int = 0
    nonresponses: int = 0
    last_success_ms: int = NEVER
    novel_urls: int = 0
    novel_bytes: int = 0
    dup_by_hash_urls: int = 0
    dup_by_hash_bytes: int = 0
    not_modified_urls: int = 0
    not_modified_bytes: int = 0
    other_dup_urls: int = 0
    other_dup_bytes: int = 0
    warc_urls: int = 0
    warc_bytes: int = 0

    @property
    def finishes(self) -> int:
        """URIs that succeeded or failed (Heritrix: getRecordedFinishes)."""
        return self.successes + self.failures

    @property
    def remaining(self) -> int:
        """URIs that were queued and have not come to their end."""
        return self.scheduled - self.successes - self.failures - self.disregards

    def count(self, kind: str, size: int, archived: tuple[int, int] | None = None) -> None:
        """An answer came. ``kind``: class of its bytes; ``archived``: response and resource records written of it, and
        the bytes of their blocks."""
        if kind == NOVEL:
            self.novel_urls += 1
            self.novel_bytes += size
        elif kind == "dup_by_hash":
            self.dup_by_hash_urls += 1
            self.dup_by_hash_bytes += size
        elif kind == "not_modified":
            self.not_modified_urls += 1
            self.not_modified_bytes += size
        else:
            self.other_dup_urls += 1
            self.other_dup_bytes += size
        if archived is not None:
            self.warc_urls += archived[0]
            self.warc_bytes += archived[1]

    def ended(
        self,
        disposition: Disposition,
        code: int,
        size: int,
        now_ms: int,
        kind: str = NOVEL,
        archived: tuple[int, int] | None = None,
    ) -> None:
        """Count a final disposition (Heritrix: FetchStats.tally)."""
        if disposition is Disposition.SUCCESS:
            self.successes += 1
            self.responses += 1
            self.success_bytes += size
            self.total_bytes += size
            self.last_success_ms = now_ms
        elif disposition is Disposition.DISREGARDED:
            self.disregards += 1
            self.robots_denials += code == ROBOTS_PRECLUDED
        else:
            self.failures += 1
            if code <= 0:
                self.nonresponses += 1
            else:
                self.responses += 1
                self.total_bytes += size
        if code > 0:
            self.count(kind, size, archived)
