"""Can a spider run over what was archived, instead of the network?

``HERITRIX_REPLAY = [files]`` lists WARC and WACZ files, or folders of them. The add-on then puts
``ReplayDownloadHandler`` in the place of the handlers for http and https and leaves the rest to Scrapy: nothing is
fetched and nothing archived. ``Request.meta["replay_date"]`` (14 digits) asks for the capture nearest to it, else
the latest answers.
"""

from __future__ import annotations

import gzip
import json
import logging
import struct
import sys
import zipfile
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj, reading
from heritrix_scrapy.archive.cdx import with_scheme
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.recorder import content_codings, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

SETTING = "HERITRIX_REPLAY"
#: What indexes in a package are called; a compressed one has another beside it that says where its blocks begin.
INDEXES = (".cdxj", ".cdx", ".cdxj.gz", ".cdx.gz")
#: Header lines that speak of what the reader has taken off.
TAKEN_OFF = frozenset({"content-encoding", "transfer-encoding", "content-length"})


#: What a package that is damaged, locked or of a kind that is not known here raises.
UNREADABLE = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    KeyError,
    EOFError,
    RuntimeError,
    struct.error,
    zlib.error,
)


class NotArchived(IgnoreRequest):
    """There is no capture of this address in the files; goes to the errback."""


class Place(NamedTuple):
    """One record. ``begin``: where in ``path`` its WARC file begins, for one in a package."""

    stamp: str
    path: Path
    begin: int
    offset: int
    digest: str
    revisit: bool


class Index:
    """Address → captures, the earliest first."""

    def __init__(self, places: Iterable[Path]) -> None:
        self._by_key: dict[str, list[Place]] = {}
        self._by_digest: dict[str, Place] = {}
        for place in places:
            for key, found in _found(place):
                self._by_key.setdefault(key, []).append(found)
                if not found.revisit and found.digest:
                    self._by_digest.setdefault(found.digest, found)
        for rows in self._by_key.values():
            rows.sort()

    def find(self, url: str, date: str = "") -> Place | None:
        """The capture nearest to ``date``, or the latest."""
        rows = self._by_key.get(cdxj.key(url))
        if not rows:
            return None
        if not date:
            return rows[-1]
        wanted = int(date.ljust(14, "0")[:14])
        return min(rows, key=lambda row: abs(int(row.stamp) - wanted))

    def original(self, digest: str) -> Place | None:
        """A record that holds the content of this digest."""
        return self._by_digest.get(digest)

    def named(self, told: Any) -> Place | None:
        """The record that the headers of a revisit refer to, by address and date."""
        uri = told.get_header("WARC-Refers-To-Target-URI") or told.get_header("WARC-Target-URI") or ""
        date = cdxj.digits_of(told.get_header("WARC-Refers-To-Date") or "")
        rows = [row for row in self._by_key.get(cdxj.key(uri.strip("<>")), ()) if not row.revisit]
        return next((row for row in rows if row.stamp == date), None)


def _found(place: Path) -> Iterator[tuple[str, Place]]:
    if place.suffix == ".wacz":
        with zipfile.ZipFile(place) as package:
            begins = {
                Path(info.filename).name: _begin(place, info)
                for info in package.infolist()
                if info.filename.startswith("archive/") and info.compress_type == zipfile.ZIP_STORED
            }
            for name in package.namelist():
                if name.startswith("indexes/") and name.endswith(INDEXES):
                    for line in _lines(package, name):
                        yield from _of_line(line, lambda filename: (place, begins.get(filename)))
        return
    for warc in cdxj.warcs_of(place):
        for line in cdxj.merged([warc]):
            yield from _of_line(line, lambda filename, at=warc: (at, 0))
    for inner in sorted(place.rglob("*.wacz")) if place.is_dir() else ():
        yield from _found(inner)


def _lines(package: zipfile.ZipFile, name: str) -> Iterator[str]:
    with package.open(name) as stored, gzip.open(stored) if name.endswith(".gz") else nullcontext(stored) as stream:
        for line in stream:
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def _of_line(line: str, where: Any) -> Iterator[tuple[str, Place]]:
    key, _, rest = line.partition(" ")
    stamp, _, told = rest.partition(" ")
    if not told.startswith("{"):
        return
    try:
        row = json.loads(told)
        if "filename" not in row:
            return
        path, begin = where(row["filename"])
        int(stamp)
        offset, digest = int(row["offset"]), with_scheme(row.get("digest") or "") or ""
    except (ValueError, KeyError, TypeError) as error:
        logger.warning("a line of an index cannot be read (%s): %.200s", error, line)
        return
    if begin is None:
        logger.warning("%s names %s, which is not there to be read", path, row["filename"])
        return
    revisit = row.get("mime") == cdxj.REVISIT
    yield key, Place(stamp, path, begin, offset, digest, revisit)


def _begin(place: Path, info: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored part begin (APPNOTE 4.3.7)."""
    with place.open("rb") as file:
        file.seek(info.header_offset)
        name, extra = struct.unpack("<HH", file.read(30)[26:30])
    return info.header_offset + 30 + int(name) + int(extra)


def read(place: Place, limit: int) -> tuple[Any, Any, bytes]:
    """WARC headers, HTTP headers and decoded body of a record, of the body at most ``limit`` bytes. Raises
    NotArchived when it cannot be read."""
    try:
        with place.path.open("rb") as file:
            file.seek(place.begin + place.offset)
            record = next(iter(ArchiveIterator(file)))
            return record.rec_headers, record.http_headers, take(reading.body(record), limit)
    except (StopIteration, *reading.UNREADABLE) as error:
        raise NotArchived(f"the record at {place.offset} of {place.path} cannot be read: {error}") from error


class ReplayDownloadHandler:
    """Answers Requests from WARC and WACZ files."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        files = [Path(path) for path in crawler.settings.getlist(SETTING)]
        missing = [str(path) for path in files if not path.exists()]
        if missing:
            raise ConfigurationError(SETTING, ", ".join(missing), "expected WARC or WACZ files, or folders of them")
        try:
            self._index = Index(files)
        except UNREADABLE as error:
            raise ConfigurationError(SETTING, ", ".join(map(str, files)), f"cannot be read: {error}") from error
        self._limit = crawler.settings.getint("DOWNLOAD_MAXSIZE") or sys.maxsize - 1

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """The archived answer. Raises NotArchived."""
        found = self._index.find(request.url, str(request.meta.get("replay_date", "")))
        if found is None:
            raise NotArchived(f"{request.url} is not in the archive")
        told, headers, body = read(found, self._limit + 1)
        if found.revisit:
            original = self._index.original(found.digest) or self._index.named(told)
            if original is None:
                raise NotArchived(f"{request.url}: what its revisit record refers to is not in the archive")
            _, held, body = read(original, self._limit + 1)
            # a 304 tells of the page that it stands for, not of itself
            headers = held if headers is None or headers.get_statuscode() == "304" else headers
        if len(body) > self._limit:
            raise NotArchived(f"{request.url} has more than {self._limit} bytes (DOWNLOAD_MAXSIZE)")
        if headers is None:
            raise NotArchived(f"{request.url} has no http answer in the archive")
        kept = Headers()
        known = content_codings(headers.get_header("Content-Encoding"))
        for name, value in headers.headers:
            if name.lower() not in TAKEN_OFF or (name.lower() == "content-encoding" and not known):
                kept.appendlist(name, value)
        if request.method == "HEAD":
            body = b""
        cls = responsetypes.from_args(headers=kept, url=request.url, body=body)
        request.meta["replay_date"] = found.stamp
        return cls(
            url=request.url, status=int(headers.get_statuscode() or 200), headers=kept, body=body, flags=["replayed"]
        )

    async def close(self) -> None:
        """Nothing is held open."""
