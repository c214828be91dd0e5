"""What does one finished URI add to the crawl's counters?

The counters go into the frontier's write batch of the URI, so that after a crash they still equal the log
(Heritrix: StatisticsTracker, CrawledBytesHistotable).
"""

from __future__ import annotations

import re
from collections import Counter
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
LONGEST = 200
#: So many types at most have counters of their own, whatever servers make up.
MOST_TYPES = 1000


def media_type(text: str, known: set[str] | None = None, *, modern: bool = True) -> str:
    """The type that an answer is counted under, in lower case; ``other`` for what is none, and for a new one when
    ``known``, to which it is added, has enough."""
    # what is longer is none, and servers may send much
    mime = _written(text[:LONGEST], modern)
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


#: Class of bytes → counters of its URIs and of its bytes.
_CLASSES = {kind: (f"urls/{kind}", f"bytes/{kind}") for kind in BYTES}

#: (status, credential pending, seed, Content-Type, class of its bytes): what ends alike adds to the same counters.
Kind = tuple[int, bool, bool, str, str]
#: So many kinds are remembered.
MOST_KINDS = 2000


class Ends:
    """URIs that came to their ends, until somebody asks what they add. Many end alike, so the names of their counters
    are made once, and bytes are added up once a batch.

    ``types``: media types that have counters already.
    """

    def __init__(self, types: set[str] | None = None, *, modern: bool = True) -> None:
        self.types = set() if types is None else types
        self._modern = modern
        #: Kind → its counters of URIs, and of bytes.
        self._kinds: dict[Kind, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        #: Each counter as often as it is to be raised by one.
        self._ended: list[str] = []
        self._sizes: dict[tuple[str, ...], int] = {}
        self._written = self._records = 0

    def add(self, curi: CrawlURI) -> None:
        """A URI came to its end."""
        of_bytes = byte_class(curi) if curi.annotations else "novel"
        kind = (curi.status, curi.credential_pending, curi.seed, curi.content_type, of_bytes)
        names, sizes = self._kinds.get(kind) or self._met(kind)
        self._ended += names
        if sizes:
            size = curi.content_size if self._modern else counted_size(curi, heritrix=True)
            self._sizes[sizes] = self._sizes.get(sizes, 0) + (size if size > 0 else 0)
            written, records = curi.warc_novel
            if records:
                self._written += written
                self._records += records

    def take(self) -> Counter[str]:
        """Counter → what is to be added to it since this was asked last.

        ``uris/...`` by disposition, ``status/CODE`` (``failed_status/CODE`` too for an answer that is a failure), and
        of each success ``bytes/CLASS``, ``urls/CLASS``, ``mime/TYPE`` and ``mime_bytes/TYPE``; ``urls_written/novel``,
        ``bytes_written/novel``: records that hold what no record held before.
        """
        # counted by C code
        counters = Counter(self._ended)
        for names, size in self._sizes.items():
            for name in names:
                counters[name] = counters.get(name, 0) + size
        if self._records:
            counters["bytes_written/novel"] = self._written
            counters["urls_written/novel"] = self._records
            self._written = self._records = 0
        self._ended.clear()
        self._sizes.clear()
        return counters

    def _met(self, kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
        code, pending, seed, sent, of_bytes = kind
        end = status.disposition(code, credential_pending=pending)
        names, sizes = ["uris/finished", URIS[end], f"status/{code}"], tuple[str, ...]()
        if end is Disposition.SUCCESS:
            mime = media_type(sent, self.types, modern=self._modern)
            names += [_CLASSES[of_bytes][0], f"mime/{mime}"]
            sizes = (_CLASSES[of_bytes][1], f"mime_bytes/{mime}")
        elif code > 0:
            names.append(f"failed_status/{code}")
        if seed and end in SEEDS:
            names.append(SEEDS[end])
        if len(self._kinds) >= MOST_KINDS:
            self._kinds.clear()
        found = (tuple(names), sizes)
        if len(sent) <= LONGEST:
            self._kinds[kind] = found
        return found


def tally(curi: CrawlURI, types: set[str] | None = None, *, modern: bool = True) -> Mapping[str, int]:
    """Counter → what this URI adds to it."""
    ends = Ends(types, modern=modern)
    ends.add(curi)
    return ends.take()


def by_status(counters: Mapping[str, int]) -> list[tuple[int, int]]:
    """(status, count) of all ``status/...`` counters, the most frequent first."""
    rows = [(int(name[7:]), count) for name, count in counters.items() if name.startswith("status/")]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
