"""What does one finished URI add to the crawl's counters?

The counters go into the frontier's write batch of the URI, so that after a crash they still equal the log
(Heritrix: StatisticsTracker, CrawledBytesHistotable).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from heritrix_scrapy.model import status
from heritrix_scrapy.model.revisit import byte_class, counted_size
from heritrix_scrapy.model.status import Disposition
from heritrix_scrapy.report.log_line import truncate_mime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Disposition → counter of URIs that ended so.
URIS = {
    Disposition.SUCCESS: "uris/downloaded",
    Disposition.FAILURE: "uris/failed",
    Disposition.DISREGARDED: "uris/disregarded",
}

#: The same for seeds; one that robots.txt forbids counts as neither.
SEEDS = {Disposition.SUCCESS: "seeds/answered", Disposition.FAILURE: "seeds/unanswered"}

#: Classes of the bytes of a success.
BYTES = ("novel", "dup_by_hash", "not_modified", "other_dup")


#: What a type looks like that gets counters of its own; servers send anything, and each name is a row.
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,40}/[a-z0-9!#$&^_.+-]{1,80}|no-type|unknown")
#: What passes for one in the heritrix profile, where types keep their case and are whatever servers say.
_ANY_TYPE = re.compile(r"[!-~]{1,120}")


OTHER = "other"
#: So many types at most have counters of their own, whatever servers make up.
MOST_TYPES = 1000


def media_type(text: str, known: set[str] | None = None, *, modern: bool = True) -> str:
    """The type that an answer is counted under, in lower case; ``other`` for what is none, and for a new one when
    ``known``, to which it is added, has enough."""
    mime = _written(text, modern)
    if known is None or mime in known or mime == OTHER:
        return mime
    if len(known) >= MOST_TYPES:
        return OTHER
    known.add(mime)
    return mime


@lru_cache(4096)
def _written(text: str, modern: bool) -> str:
    mime = truncate_mime(text)
    if modern:
        mime = mime.lower()
    return mime if (_TYPE if modern else _ANY_TYPE).fullmatch(mime) else OTHER


@lru_cache(4096)
def _names(mime: str) -> tuple[str, str]:
    return f"mime/{mime}", f"mime_bytes/{mime}"


@lru_cache(1024)
def _status_name(code: int) -> str:
    return f"status/{code}"


#: Class of bytes → counters of its URIs and of its bytes.
_CLASSES = {kind: (f"urls/{kind}", f"bytes/{kind}") for kind in BYTES}


def tally(curi: CrawlURI, types: set[str] | None = None, *, modern: bool = True) -> Mapping[str, int]:
    """Counter → what this URI adds to it. ``types``: media types that have counters already.

    ``uris/...`` by disposition, ``status/CODE`` (``failed_status/CODE`` too for an answer that is a failure), and of
    each success ``bytes/CLASS``, ``urls/CLASS``, ``mime/TYPE`` and ``mime_bytes/TYPE``; ``urls/warc``, ``bytes/warc``:
    response and resource records written.
    """
    end = status.disposition(curi.status, credential_pending=curi.credential_pending)
    counters = {"uris/finished": 1, URIS[end]: 1, _status_name(curi.status): 1}
    if end is Disposition.SUCCESS:
        size = max(counted_size(curi, heritrix=not modern), 0)
        kind = byte_class(curi)
        mime = media_type(curi.content_type, types, modern=modern)
        urls, sizes = _CLASSES[kind]
        answers, lengths = _names(mime)
        counters[urls] = counters[answers] = 1
        counters[sizes] = counters[lengths] = size
        if curi.warc_novel[1]:
            counters["bytes_written/novel"], counters["urls_written/novel"] = curi.warc_novel
    elif curi.status > 0:
        counters[f"failed_status/{curi.status}"] = 1
    if curi.seed and end in SEEDS:
        counters[SEEDS[end]] = 1
    return counters


def by_status(counters: Mapping[str, int]) -> list[tuple[int, int]]:
    """(status, count) of all ``status/...`` counters, the most frequent first."""
    rows = [(int(name[7:]), count) for name, count in counters.items() if name.startswith("status/")]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
