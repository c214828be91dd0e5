"""What the FTP handler does with the cases of fetch.json and output.json: each is one fetch from a real server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scrapy import Request

from heritrix_scrapy.fetch.ftp_handler import FtpDownloadHandler
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.requests import bind
from tests.fetch.loopback import make_crawler, run
from tests.web.ftp import FtpServer

#: Setting of a case → ours.
SETTINGS = {
    "username": "ftp_username",
    "password": "ftp_password",
    "extractFromDirs": "ftp_extract_from_dirs",
    "extractParent": "ftp_extract_parent",
    "maxLengthBytes": "max_length_bytes",
    "timeoutSeconds": "timeout_seconds",
    "soTimeoutMs": "so_timeout_ms",
    "digestContent": "digest_content",
    "max_length_bytes": "max_length_bytes",
    "timeout_seconds": "timeout_seconds",
    "so_timeout_ms": "so_timeout_ms",
    "digest_content": "digest_content",
}


def fetched(asked: dict[str, Any]) -> CrawlURI:
    """The CrawlURI of one fetch in the heritrix profile."""
    values = {SETTINGS[name]: value for name, value in asked.items() if name in SETTINGS}
    path = "/" + asked["uri"].partition("://")[2].partition("/")[2]
    content = asked.get("file", "")
    if "ftp_file_bytes" in asked:
        content = "hello world"[: asked["ftp_file_bytes"]].ljust(asked["ftp_file_bytes"], "x")
    tree: dict[str, bytes | None] = {unquote(path): content.encode()}
    faults = {}
    for name in asked.get("directory", asked.get("listing", [])):
        tree.pop(unquote(path), None)
        tree[unquote(path).rstrip("/") + "/" + name] = b""
    if "reply" in asked:
        faults["retr"] = asked["reply"]

    async def work() -> CrawlURI:
        handler = FtpDownloadHandler.from_crawler(make_crawler("heritrix", **values))
        async with FtpServer(tree, **faults) as server:
            uri = asked["uri"].replace("PORT", str(server.port))
            curi = CrawlURI(uri)
            request = Request(uri)
            bind(request, curi)
            try:
                await handler.download_request(request)
            except Exception as error:
                curi.error_text = curi.error_text or str(error)
            return curi

    got: CrawlURI = run(work())
    return got


def facts(curi: CrawlURI) -> dict[str, Any]:
    """Everything a case may ask about one fetch, by the names that the two files use."""
    told = {
        "status": curi.status,
        "contentType": curi.content_type,
        "contentSize": curi.content_size,
        "contentLength": curi.content_length,
        "contentDigest": curi.digest,
        "serverIP": curi.server_ip,
        "annotations": curi.annotations,
        "outlinks": [link.uri for link in curi.outlinks],
        "ftpFetchStatus": curi.recorder.reply if curi.recorder is not None else None,
    }
    return told | {
        "fetchStatus": told["status"],
        "content_type": told["contentType"],
        "content_size": told["contentSize"],
        "content_length": told["contentLength"],
        "content_digest": told["contentDigest"],
        "server_ip": told["serverIP"],
    }


def ftp(case: dict[str, Any]) -> tuple[bool, object]:
    expected = case["expected"]
    expected = expected.get("pinned", expected.get("observed", expected))
    told = facts(fetched(case["input"]))
    got = {name: told.get(name) for name in expected}
    return got == expected, got


ADAPTERS = {"fetch/ftp": ftp}
