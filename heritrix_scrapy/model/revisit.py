"""What is remembered of earlier fetches of a URI, and what does a fetch say that repeats one?

``Entry`` is one earlier fetch, ``Original`` the record that holds a content, ``Revisit`` what a record says that
holds none because an earlier one does (Heritrix: FetchHistoryProcessor, ContentDigestHistoryLoader, RevisitProfile).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

IDENTICAL_PAYLOAD = "identical-payload-digest"
NOT_MODIFIED = "server-not-modified"

#: Profile → annotation of the crawl log.
ANNOTATIONS = {IDENTICAL_PAYLOAD: "duplicate:digest", NOT_MODIFIED: "duplicate:server-not-modified"}

#: Annotation → what the bytes of a fetch count as (Heritrix: CrawledBytesHistotable).
BYTE_CLASSES = {"duplicate:server-not-modified": "not_modified", "duplicate:digest": "dup_by_hash"}


def byte_class(curi: CrawlURI) -> str:
    """``novel``, ``dup_by_hash``, ``not_modified`` or ``other_dup``: what the bytes of a fetch count as."""
    for annotation in curi.annotations:
        if annotation.startswith("duplicate:"):
            return BYTE_CLASSES.get(annotation, "other_dup")
    return "novel"


def counted_size(curi: CrawlURI, *, heritrix: bool = False) -> int:
    """Bytes of a URI's answer, -1 when there was none. ``heritrix``: of a 304 the body that it stands for counts, too
    (Heritrix: FetchHistoryProcessor)."""
    size, revisit = curi.content_size, curi.revisit
    if heritrix and revisit is not None and revisit.profile == NOT_MODIFIED and curi.history:
        return max(size, 0) + max(curi.history[0].reference_length, 0)
    return size


class Entry(msgspec.Struct, array_like=True, omit_defaults=True):
    """One earlier fetch. Order is the format of the store: new fields go to the end.

    ``digest``: of the payload as a record names it; ``entity``: without transfer coding, where that is another;
    ``status`` 0: not known, as for what a CDX server told; ``began_ms``: when it was fetched; ``reference_length``:
    bytes of its body; ``file``, ``offset``: where its records stand; ``original_*``: the record that holds its
    content, which for a revisit is an earlier one. Dates are milliseconds since the epoch.
    """

    status: int
    began_ms: int
    digest: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    reference_length: int = -1
    file: str | None = None
    offset: int = -1
    original_uri: str | None = None
    original_ms: int = -1
    original_id: str | None = None
    entity: str | None = None


class Original(msgspec.Struct, array_like=True, omit_defaults=True):
    """The record that holds a content. ``count``: records that stand for it, revisits included; ``digest``: what the
    record names, where that is not what the content is known by."""

    uri: str
    ms: int
    record_id: str | None = None
    file: str | None = None
    offset: int = -1
    count: int = 1
    status: int = 0
    digest: str | None = None


@dataclass(slots=True)
class Revisit:
    """What an unchanged capture says of the one it repeats. ``profile``: the last part of its URI;
    ``refers_to_date``: as it is written, or milliseconds since the epoch; ``refers_to``: a record id without
    brackets."""

    profile: str
    payload_digest: str | None = None
    refers_to: str | None = None
    refers_to_date: str | int | None = None
    refers_to_target_uri: str | None = None
    etag: str | None = None
    last_modified: str | None = None
