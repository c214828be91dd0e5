"""What does an index of captures say of a URI, and how is one asked?

Reads lines of CDX servers (11 fields, or fewer, between blanks) and of CDXJ files; the query's template is
Heritrix's (WbmPersistLoadProcessor): ``$u`` is the URI, ``$s`` the earliest date, 14 digits.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote_plus

from heritrix_scrapy.model.revisit import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Where the Internet Archive answered Heritrix; ours has to be named by the operator.
QUERY_URL = "http://wwwb-dedup.us.archive.org:8083/web/timemap/cdx?url=$u&limit=-1"
RANGE_SECONDS = 15_552_000

_STAMP = re.compile(r"\d{14}\Z", re.ASCII)
_DIGEST = re.compile(r"[A-Z0-9]{32}\Z")
_PLACE = re.compile(r"\$([us])")


class Capture(NamedTuple):
    """One line. ``digest``: with its scheme; ``status`` 0: not told; ``revisit``: whether its content stands in an
    earlier record."""

    uri: str
    ms: int
    digest: str | None
    status: int = 0
    mime: str = ""
    file: str | None = None
    offset: int = -1
    revisit: bool = False

    def entry(self) -> Entry:
        """As it is remembered. Without a status no condition is asked with it."""
        return Entry(
            0 if self.status not in range(100, 600) else self.status,
            self.ms,
            self.digest,
            file=self.file,
            offset=self.offset,
            original_ms=self.ms,
        )


def query_url(template: str, uri: str, now_ms: int, range_seconds: int = RANGE_SECONDS) -> str:
    """The address that asks for a URI. ``range_seconds``: how far back; 0 or less: since 1970."""
    since = max(now_ms // 1000 - range_seconds, 0) if range_seconds > 0 else 0
    values = {
        "u": quote_plus(uri, safe="*-._").replace("~", "%7E"),
        "s": f"{datetime.fromtimestamp(since, UTC):%Y%m%d%H%M%S}",
    }
    return _PLACE.sub(lambda found: values[found[1]], template)


def parse_stamp(text: str) -> int | None:
    """Milliseconds of a date of 14 digits, or None."""
    if _STAMP.match(text) is None:
        return None
    try:
        return int(datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()) * 1000
    except ValueError:
        return None


def lookup(lines: Iterable[str], scheme: str = "sha1:") -> tuple[str | None, int | None]:
    """(digest, milliseconds) of the last line that a server gave; a field that cannot be read is None (Heritrix:
    WbmPersistLoadProcessor)."""
    digest = ms = None
    for line in lines:
        if not line.strip():
            continue
        fields = line.rstrip("\r\n").split(" ")
        ms = parse_stamp(fields[1]) if len(fields) > 2 else None
        digest = scheme + fields[5] if len(fields) > 6 and _DIGEST.match(fields[5]) else None
    return digest, ms


def read(line: str) -> Capture | None:
    """A line of CDX (9 or 11 fields, as servers and cdx-indexers write it) or CDXJ; None for a header or what
    cannot be read."""
    line = line.rstrip("\r\n")
    if not line or line.startswith((" CDX", "!")):
        return None
    rest = line.partition(" ")[2]
    stamp, _, rest = rest.partition(" ")
    ms = parse_stamp(stamp[:14])
    if ms is None:
        return None
    if rest.startswith("{"):
        return _cdxj(ms, rest)
    fields = rest.split(" ")
    if len(fields) < 4:
        return None
    uri, mime, status, digest = fields[:4]
    offset, file = (fields[-2], fields[-1]) if len(fields) >= 6 else ("", None)
    return Capture(
        uri,
        ms,
        with_scheme(digest),
        int(status) if status.isdigit() else 0,
        mime,
        file,
        int(offset) if offset.isdigit() else -1,
        mime == "warc/revisit",
    )


def _cdxj(ms: int, text: str) -> Capture | None:
    try:
        told = json.loads(text)
        uri, file = told["url"], told.get("filename")
        if type(uri) is not str or type(file) not in (str, type(None)):
            return None
    except (ValueError, KeyError, TypeError):
        return None
    status, offset, mime = str(told.get("status", "")), str(told.get("offset", "")), str(told.get("mime", ""))
    return Capture(
        uri,
        ms,
        with_scheme(str(told.get("digest", "-"))),
        int(status) if status.isdigit() else 0,
        mime,
        file,
        int(offset) if offset.isdigit() else -1,
        mime == "warc/revisit",
    )


def with_scheme(digest: str) -> str | None:
    """A digest as records write it: ``sha1:`` before 32 characters of Base32."""
    if ":" in digest:
        return digest
    return f"sha1:{digest}" if _DIGEST.match(digest) else None
