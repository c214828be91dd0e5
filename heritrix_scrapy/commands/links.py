"""What would the extractors find in this document?

A file is read as what its name says it is, an address is fetched once, with no crawl around it. Each link is
printed with the extractor that found it, its hop and its context.
"""

from __future__ import annotations

import json
import mimetypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from scrapy.utils.project import get_project_settings

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    import argparse

#: Bytes that are read of a document.
MOST = 64 * 1024 * 1024
SECONDS = 60

#: Types of files that mimetypes does not know everywhere.
TYPES = {".md": "text/plain", ".m3u8": "application/vnd.apple.mpegurl", ".mpd": "application/dash+xml", "": "text/html"}


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Print the links; exit status 1 when there is no document."""
    try:
        curi, body = load(args[0])
    except OSError as error:
        print(f"heritrix_scrapy: {args[0]}: {error}", file=sys.stderr)
        return 1
    found, curi = links(curi, body)
    if opts.json:
        print(json.dumps({"uri": curi.uri, "type": curi.content_type, "annotations": curi.annotations, "links": found}))
        return 0
    for link in found:
        print(f"{link['extractor']:24} {link['hop']}  {link['uri']}  {link['context']}")
    print(f"{len(found)} links in {curi.uri} ({curi.content_type}) {' '.join(curi.annotations)}".rstrip())
    return 0


def load(place: str) -> tuple[CrawlURI, bytes]:
    """The document at an address or in a file, as a fetch would leave it. Raises OSError."""
    if "://" not in place:
        path = Path(place).resolve()
        body = path.read_bytes()[:MOST]
        kind = TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "unknown"
        return _curi(f"http://localhost/{path.name}", 200, kind, [], body), body
    if not place.startswith(("http://", "https://")):
        raise OSError("only http and https addresses, and files")
    try:
        with urlopen(Request(place, headers={"Accept-Encoding": "identity"}), timeout=SECONDS) as answer:
            body = answer.read(MOST)
            return _curi(answer.url, answer.status, "", answer.headers.items(), body), body
    except HTTPError as error:
        body = error.read(MOST)
        return _curi(place, error.code, "", error.headers.items(), body), body
    except URLError as error:
        raise OSError(str(error.reason)) from None


def _curi(uri: str, status: int, kind: str, headers: Any, body: bytes) -> CrawlURI:
    curi = CrawlURI(uri, seed=True)
    curi.status = status
    curi.content_length = curi.content_size = len(body)
    curi.headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers]
    curi.content_type = kind or (curi.header(b"content-type") or b"unknown").decode("latin-1")
    return curi


def links(curi: CrawlURI, body: bytes) -> tuple[list[dict[str, str]], CrawlURI]:
    """The links of a document in the project's order of extractors, each with the one that found it first."""
    project = get_project_settings()
    profile = project.get("HERITRIX_PROFILE", "modern")
    view = default_view(
        profile,
        **{
            name: project[f"HERITRIX_{name.upper()}"]
            for name in default_view(profile).__slots__
            if name not in ("profile", "extractors") and project.get(f"HERITRIX_{name.upper()}") is not None
        },
    )
    order = Extraction(project.get("HERITRIX_EXTRACTORS") or view.extractors)
    found: dict[Any, str] = {}

    def note(name: str, document: Document) -> None:
        for link in document.links:
            found.setdefault(link, name)

    order.read(Document(curi, view, lambda limit: body[:limit]), after=note)
    return (
        [
            {"extractor": found.get(link, ""), "hop": link.hop, "uri": link.uri, "context": link.context}
            for link in curi.outlinks
        ],
        curi,
    )
