"""Where in which WARC file does each capture stand? An index as pywb and its kin read it.

One line a capture: key, 14 digits, JSON. The key is that of the library ``surt``, as in every other such index.
Requests, metadata, warcinfo and DNS answers have no line. Lines sort as bytes.
"""

from __future__ import annotations

import heapq
import json
import logging
import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive import reading
from heritrix_scrapy.archive.names import OPEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

#: Kinds of records that can be replayed.
KINDS = frozenset({"response", "revisit", "resource"})
REVISIT = "warc/revisit"
#: What stands in the place of the parts that a date does not tell.
EARLIEST = "00000101000000"


def key(uri: str) -> str:
    """The key that a URI is found by; the URI itself where it is none that the library takes apart."""
    import surt  # type: ignore[import-untyped]  # slow to import, and wanted where an index is made only

    try:
        return str(surt.surt(uri))
    except (ValueError, LookupError, TypeError):
        return uri.replace(" ", "%20")


def line(
    uri: str, stamp: str, mime: str, status: str, digest: str | None, length: int, offset: int, filename: str
) -> str:
    """One line, without its end. ``stamp``: 14 digits; ``length``: bytes of the record in the file."""
    told: dict[str, str] = {"url": uri, "mime": mime}
    if status:
        told["status"] = status
    if digest:
        told["digest"] = digest
    told |= {"length": str(length), "offset": str(offset), "filename": filename}
    return f"{key(uri)} {stamp} {json.dumps(told, ensure_ascii=False)}"


def stamp14(ms: int) -> str:
    """14 digits of milliseconds since the epoch."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y%m%d%H%M%S}"


def lines_of(path: Path) -> list[str]:
    """The sorted lines of one WARC file, which warcio reads; of one that is open or torn, those of its whole records.
    Raises OSError."""
    return lines_in(reading.extent(path))


def lines_in(where: reading.Extent) -> list[str]:
    """The same of what is known of a file."""
    found = []
    for records, record in reading.records(where):
        told = described(record)
        at = None if told is None else reading.place_of(records, record)
        if told is not None and at is not None:
            found.append(line(*told, at[1], at[0], where.name))
    return sorted(found)


def described(record: Any) -> tuple[str, str, str, str, str | None] | None:
    """URI, date, type, status and digest of a record; None when it has no line, for one without address or date."""
    headers = record.rec_headers
    uri = (headers.get_header("WARC-Target-URI") or "").removeprefix("<").removesuffix(">")
    kind = record.rec_type
    if kind not in KINDS or not uri or uri.startswith("dns:"):
        return None
    when = digits_of(headers.get_header("WARC-Date") or "")
    if not when:
        return None
    http = record.http_headers
    status = (http.get_statuscode() or "") if http is not None else ""
    if kind == "revisit":
        mime = REVISIT
    elif http is not None:
        mime = type_of(http.get_header("Content-Type") or "")
    else:
        mime = type_of(headers.get_header("Content-Type") or "")
    return uri, when, mime, status, headers.get_header("WARC-Payload-Digest")


def type_of(content_type: str) -> str:
    """The media type as indexes have it: what stands before the first blank or semicolon."""
    return re.split("[; ]", content_type.strip(), maxsplit=1)[0] or "unk"


def digits_of(date: str) -> str:
    """The 14 digits of a WARC-Date, which may end behind the year or any further part (ISO 28500:2017, 5.4); none where
    it tells no year."""
    digits = "".join(char for char in date if char in "0123456789")[:14]
    return digits + EARLIEST[len(digits) :] if len(digits) >= 4 else ""


def warcs_of(place: Path) -> list[Path]:
    """A file itself, or all WARC files below a folder, closed ones before open ones of the same name."""
    if place.is_file():
        return [place]
    return sorted(
        path
        for path in place.rglob("*")
        if path.name.removesuffix(OPEN).endswith((".warc", ".warc.gz")) and path.is_file()
    )


def index_beside(warc: Path) -> Path:
    """Where the index of one file lies: beside it."""
    return warc.with_name(warc.name.removesuffix(OPEN) + ".cdxj")


def merged(warcs: Iterable[Path]) -> Iterator[str]:
    """All lines of several files in order, from the index beside a file where there is one."""
    return merged_of(reading.extent(warc) for warc in warcs)


def merged_of(extents: Iterable[reading.Extent]) -> Iterator[str]:
    """The same of what is known of them."""
    return heapq.merge(*(_kept(where.path) or lines_in(where) for where in extents))


def _kept(warc: Path) -> list[str]:
    beside = index_beside(warc)
    if warc.name.endswith(OPEN) or not beside.exists() or beside.stat().st_mtime < warc.stat().st_mtime:
        return []
    return beside.read_text(encoding="utf-8").splitlines()


class Growing:
    """The lines of files that are being written; put beside a file when it is closed."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def add(self, filename: str, text: str) -> None:
        self._lines.setdefault(filename, []).append(text)

    def closed(self, warc: Path) -> None:
        """Write the index of a file."""
        lines = sorted(self._lines.pop(warc.name, ()))
        draft = index_beside(warc).with_suffix(".part")
        try:
            draft.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")
            draft.replace(index_beside(warc))
        except OSError as error:
            # the file itself is whole, and the commands index what has no index beside it
            logger.error("no index beside %s: %s", warc, error)
            with suppress(OSError):
                draft.unlink(missing_ok=True)
