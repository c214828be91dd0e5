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
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.model.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WACZ_VERSION = "1.1.1"
PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
#: Bytes of a page that are searched for its title.
TITLE_WITHIN = 64 * 1024
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.IGNORECASE)


def pack(jobdir: Path, out: Path, *, title: str = "", created: datetime | None = None) -> list[str]:
    """Write a job's archive into ``out``; the names of its parts. Raises OSError, and ValueError when two WARC files
    have the same name or there is none."""
    warcs = cdxj.warcs_of(jobdir)
    names = [warc.name.removesuffix(OPEN) for warc in warcs]
    if not warcs:
        raise ValueError(f"no WARC file in {jobdir}")
    if len(set(names)) < len(names):
        raise ValueError(f"two WARC files of one name in {jobdir}")
    draft = out.with_name(out.name + ".part")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
            parts = _Parts(file)
            for warc, name in zip(warcs, names, strict=True):
                parts.file(f"archive/{name}", warc, zipfile.ZIP_STORED)
            parts.text("indexes/index.cdxj", "".join(f"{line}\n" for line in cdxj.merged(warcs)))
            rows = [PAGES_HEAD, *pages(warcs)]
            parts.text("pages/pages.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            for log in sorted(path for path in jobdir.rglob("*.log") if path.parent.name == "logs" and path.is_file()):
                if "latest" not in log.relative_to(jobdir).parts:
                    inner = "-".join(part for part in log.relative_to(jobdir).parts if part != "logs")
                    parts.file(f"logs/{inner}", log, zipfile.ZIP_DEFLATED)
            parts.describe(title or jobdir.resolve().name, created or datetime.now(UTC))
        draft.replace(out)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return parts.names


class _Parts:
    """The parts of the zip file, with their digests."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._zip = file
        self._resources: list[dict[str, Any]] = []

    @property
    def names(self) -> list[str]:
        return [row["path"] for row in self._resources]

    def file(self, name: str, path: Path, how: int) -> None:
        digest, size = hashlib.sha256(), 0
        info = zipfile.ZipInfo(name, date_time=datetime.fromtimestamp(path.stat().st_mtime, UTC).timetuple()[:6])
        info.compress_type = how
        with path.open("rb") as source, self._zip.open(info, "w", force_zip64=True) as target:
            while piece := source.read(1 << 20):
                digest.update(piece)
                size += len(piece)
                target.write(piece)
        self._resource(name, digest.hexdigest(), size)

    def text(self, name: str, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self._zip.writestr(name, data, zipfile.ZIP_DEFLATED)
        self._resource(name, hashlib.sha256(data).hexdigest(), len(data))

    def _resource(self, name: str, digest: str, size: int) -> None:
        # what the names of a data package may hold (Frictionless, data-resource), each once
        short = f"{len(self._resources)}-" + re.sub(r"[^a-z0-9._-]", "-", name.rpartition("/")[2].lower())
        self._resources.append({"name": short, "path": name, "hash": f"sha256:{digest}", "bytes": size})

    def describe(self, title: str, created: datetime) -> None:
        told = {
            "profile": "data-package",
            "resources": self._resources,
            "wacz_version": WACZ_VERSION,
            "title": title,
            "software": f"heritrix_scrapy {VERSION}",
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        data = json.dumps(told, indent=2).encode()
        self._zip.writestr("datapackage.json", data)
        digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(data).hexdigest()}
        self._zip.writestr("datapackage-digest.json", json.dumps(digest, indent=2))


def pages(warcs: list[Path]) -> Iterator[dict[str, Any]]:
    """The HTML pages that a reader would begin at: seeds, and what links led to."""
    for warc in warcs:
        waiting: dict[str, dict[str, Any]] = {}
        with warc.open("rb") as file:
            for record in ArchiveIterator(file):
                headers = record.rec_headers
                if record.rec_type == "response":
                    row = _page(record)
                    if row is not None:
                        waiting[headers.get_header("WARC-Record-ID")] = row
                elif record.rec_type == "metadata":
                    row = waiting.pop(headers.get_header("WARC-Concurrent-To") or "", None)
                    if row is not None:
                        told = _fields(record.content_stream().read())
                        row["seed"] = "seed" in told
                        if row["seed"] or told.get("hopsFromSeed", "L")[-1] in "LRSM":
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
    ident = record.rec_headers.get_header("WARC-Record-ID").removeprefix("<urn:uuid:").removesuffix(">")
    row = {"id": ident, "url": uri, "ts": record.rec_headers.get_header("WARC-Date")}
    if title := title_of(record.content_stream().read(TITLE_WITHIN), mime):
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
