"""How does a whole crawl become one file that a browser can replay?

A WACZ file (Web Archive Collection Zipped, 1.1.1): the WARC files as they are, one index over them, the list of
pages with their titles, the crawl's logs, and a description with the digest of each part.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import zipfile
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive import cdxj, reading
from heritrix_scrapy.model.recorder import take
from heritrix_scrapy.model.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

WACZ_VERSION = "1.1.1"
PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
#: Bytes of a page that are searched for its title.
TITLE_WITHIN = 64 * 1024
#: Bytes of a metadata record that are searched for where the page came from.
FIELDS_WITHIN = 64 * 1024
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.IGNORECASE)


def pack(jobdir: Path, out: Path, *, title: str = "", created: datetime | None = None) -> list[str]:
    """Write a job's archive into ``out``; the names of its parts. Raises OSError, and ValueError when two WARC files
    have the same name or there is none."""
    warcs = [where for path in cdxj.warcs_of(jobdir) if (where := reading.extent(path)).size]
    names = [where.name for where in warcs]
    if not warcs:
        raise ValueError(f"no WARC file in {jobdir}")
    if len(set(names)) < len(names):
        raise ValueError(f"two WARC files of one name in {jobdir}")
    created = created or datetime.now(UTC)
    draft = out.with_name(out.name + ".part")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
            parts = _Parts(file, created)
            for warc, name in zip(warcs, names, strict=True):
                parts.put(f"archive/{name}", warc.chunks(), zipfile.ZIP_STORED, warc.size)
            parts.put("indexes/index.cdxj", encoded(cdxj.merged_of(warcs)))
            rows = chain((PAGES_HEAD,), pages(warcs))
            parts.put("pages/pages.jsonl", encoded(json.dumps(row, ensure_ascii=False) for row in rows))
            for log in sorted(path for path in jobdir.rglob("*.log") if path.parent.name == "logs" and path.is_file()):
                if "latest" not in log.relative_to(jobdir).parts:
                    inner = "-".join(part for part in log.relative_to(jobdir).parts if part != "logs")
                    parts.put(f"logs/{inner}", reading.Extent(log, log.stat().st_size).chunks())
            parts.describe(title or jobdir.resolve().name)
        draft.replace(out)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return parts.names


class _Parts:
    """The parts of the zip file, with their digests."""

    def __init__(self, file: zipfile.ZipFile, created: datetime) -> None:
        self._zip = file
        self._created = created
        self._resources: list[dict[str, Any]] = []

    @property
    def names(self) -> list[str]:
        return [row["path"] for row in self._resources]

    def put(
        self, name: str, pieces: Iterable[bytes], how: int = zipfile.ZIP_DEFLATED, wanted: int | None = None
    ) -> None:
        """One part, however large. Raises ValueError when it has not ``wanted`` bytes."""
        digest, size = hashlib.sha256(), 0
        info = zipfile.ZipInfo(name, date_time=self._created.timetuple()[:6])
        info.compress_type = how
        info.external_attr = 0o644 << 16
        with self._zip.open(info, "w", force_zip64=True) as target:
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                target.write(piece)
        if wanted is not None and size != wanted:
            raise ValueError(f"{name} has {size} bytes, not {wanted}: it was cut while it was packed")
        self._resource(name, digest.hexdigest(), size)

    def _resource(self, name: str, digest: str, size: int) -> None:
        # what the names of a data package may hold (Frictionless, data-resource), each once
        short = f"{len(self._resources)}-" + re.sub(r"[^a-z0-9._-]", "-", name.rpartition("/")[2].lower())
        self._resources.append({"name": short, "path": name, "hash": f"sha256:{digest}", "bytes": size})

    def describe(self, title: str) -> None:
        told = {
            "profile": "data-package",
            "resources": self._resources,
            "wacz_version": WACZ_VERSION,
            "title": title,
            "software": f"heritrix_scrapy {VERSION}",
            "created": self._created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        data = json.dumps(told, indent=2).encode()
        self._zip.writestr("datapackage.json", data)
        digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(data).hexdigest()}
        self._zip.writestr("datapackage-digest.json", json.dumps(digest, indent=2))


def encoded(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines as they stand in a file."""
    for line in lines:
        yield f"{line}\n".encode("utf-8", "replace")


def pages(warcs: Iterable[reading.Extent]) -> Iterator[dict[str, Any]]:
    """The HTML pages that a reader would begin at: seeds, and what links led to."""
    for warc in warcs:
        waiting: dict[str, dict[str, Any]] = {}
        for _, record in reading.records(warc):
            headers = record.rec_headers
            if record.rec_type == "response":
                row = _page(record)
                if row is not None:
                    waiting[headers.get_header("WARC-Record-ID")] = row
            elif record.rec_type == "metadata":
                row = waiting.pop(headers.get_header("WARC-Concurrent-To") or "", None)
                if row is not None:
                    told = _fields(take(reading.body(record), FIELDS_WITHIN))
                    row["seed"] = "seed" in told
                    if row["seed"] or (told.get("hopsFromSeed") or "L")[-1] in "LRSM":
                        if not row["seed"]:
                            del row["seed"]
                        yield row
        yield from waiting.values()  # where no metadata records are written


def _page(record: Any) -> dict[str, Any] | None:
    http = record.http_headers
    uri = record.rec_headers.get_header("WARC-Target-URI") or ""
    if http is None or http.get_statuscode() != "200" or not uri.startswith("http"):
        return None
    mime = http.get_header("Content-Type") or ""
    if not mime.startswith(("text/html", "application/xhtml+xml")):
        return None
    ident = (record.rec_headers.get_header("WARC-Record-ID") or "").removeprefix("<urn:uuid:").removesuffix(">")
    row = {"id": ident, "url": uri, "ts": record.rec_headers.get_header("WARC-Date")}
    if title := title_of(take(reading.body(record), TITLE_WITHIN), mime):
        row["title"] = title
    return row


def title_of(data: bytes, mime: str) -> str:
    """The title of an HTML page, as text."""
    found = _TITLE.search(data)
    if found is None:
        return ""
    named = _CHARSET.search(mime.encode("latin-1", "replace")) or _CHARSET.search(data[:2048])
    charset = named[1].decode("ascii", "replace") if named else "utf-8"
    try:
        text = found[1].decode(charset, "replace")
    except LookupError:
        text = found[1].decode("utf-8", "replace")
    return " ".join(html.unescape(text).split())[:500]


def _fields(data: bytes) -> dict[str, str]:
    out: dict[str, str] = {}
    for row in data.decode("utf-8", "replace").split("\r\n"):
        name, colon, value = row.partition(":")
        if colon:
            out.setdefault(name, value.strip())
    return out
