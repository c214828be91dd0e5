"""A fetcher of the project's own: a Scrapy download handler. What it returns is archived, as a resource record."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

from scrapy.http import Response, TextResponse

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

MOST = 32 * 1024 * 1024


class GopherDownloadHandler:
    """``gopher://host/1/selector`` (RFC 1436): says the selector, reads to the end."""

    lazy = True

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls()

    async def download_request(self, request: Request) -> Response:
        address = urlsplit(request.url)
        kind, selector = address.path[1:2] or "1", unquote_to_bytes(address.path[2:])
        reader, writer = await asyncio.open_connection(address.hostname, address.port or 70)
        try:
            writer.write(selector.translate(None, b"\r\n\t") + b"\r\n")
            await writer.drain()
            body = b""
            while len(body) < MOST and (data := await reader.read(65536)):
                body += data
        finally:
            writer.close()
        if kind in "01":
            return TextResponse(request.url, body=body, headers={"Content-Type": "text/plain"}, encoding="utf-8")
        return Response(request.url, body=body, headers={"Content-Type": "application/octet-stream"})

    async def close(self) -> None:
        """Nothing is kept open."""
