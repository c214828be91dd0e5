"""Can a spider run over what was archived, instead of the network?

``HERITRIX_REPLAY = [files]`` lists WARC and WACZ files, or folders of them. The add-on then puts
``ReplayDownloadHandler`` in the place of the handlers for http and https and leaves the rest to Scrapy: nothing is
fetched and nothing archived. ``Request.meta["replay_date"]`` (14 digits) asks for the capture nearest to it, else
the latest answers.
"""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

SETTING = "HERITRIX_REPLAY"
#: Header lines that speak of what the reader has taken off.
TAKEN_OFF = frozenset({"content-encoding", "transfer-encoding", "content-length"})


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
                if not found.revisit:
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


def _found(place: Path) -> Iterator[tuple[str, Place]]:
    if place.suffix == ".wacz":
        with zipfile.ZipFile(place) as package:
            begins = {Path(info.filename).name: _begin(place, info) for info in package.infolist()}
            for name in package.namelist():
                if name.startswith("indexes/") and name.endswith((".cdxj", ".cdx")):
                    for line in package.read(name).decode("utf-8").splitlines():
                        yield from _of_line(line, lambda filename: (place, begins[filename]))
        return
    for warc in cdxj.warcs_of(place):
        for line in cdxj.merged([warc]):
            yield from _of_line(line, lambda filename, at=warc: (at, 0))


def _of_line(line: str, where: Any) -> Iterator[tuple[str, Place]]:
    key, _, rest = line.partition(" ")
    stamp, _, told = rest.partition(" ")
    if told.startswith("{"):
        row = json.loads(told)
        path, begin = where(row["filename"])
        revisit = row.get("mime") == cdxj.REVISIT
        yield key, Place(stamp, path, begin, int(row["offset"]), row.get("digest", ""), revisit)


def _begin(place: Path, info: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored part begin (APPNOTE 4.3.7)."""
    with place.open("rb") as file:
        file.seek(info.header_offset)
        name, extra = struct.unpack("<HH", file.read(30)[26:30])
    return info.header_offset + 30 + int(name) + int(extra)


def read(place: Place) -> tuple[Any, bytes]:
    """HTTP headers and decoded body of a record."""
    with place.path.open("rb") as file:
        file.seek(place.begin + place.offset)
        record = next(iter(ArchiveIterator(file)))
        return record.http_headers, record.content_stream().read()


class ReplayDownloadHandler:
    """Answers Requests from WARC and WACZ files."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        files = [Path(path) for path in crawler.settings.getlist(SETTING)]
        missing = [str(path) for path in files if not path.exists()]
        if missing:
            raise ConfigurationError(SETTING, ", ".join(missing), "expected WARC or WACZ files, or folders of them")
        self._index = Index(files)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """The archived answer. Raises NotArchived."""
        found = self._index.find(request.url, str(request.meta.get("replay_date", "")))
        if found is None:
            raise NotArchived(f"{request.url} is not in the archive")
        headers, body = read(found)
        if found.revisit:
            original = self._index.original(found.digest)
            if original is None:
                raise NotArchived(f"{request.url}: what its revisit record refers to is not in the archive")
            held, body = read(original)
            headers = headers or held
        if headers is None:
            raise NotArchived(f"{request.url} has no http answer in the archive")
        kept = Headers()
        for name, value in headers.headers:
            if name.lower() not in TAKEN_OFF:
                kept.appendlist(name, value)
        cls = responsetypes.from_args(headers=kept, url=request.url, body=body)
        request.meta["replay_date"] = found.stamp
        return cls(
            url=request.url, status=int(headers.get_statuscode() or 200), headers=kept, body=body, flags=["replayed"]
        )

    async def close(self) -> None:
        """Nothing is held open."""
