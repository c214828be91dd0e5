"""A step that has what was fetched looked at by a virus scanner before anything is written."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI


class ScannerError(Exception):
    """The scanner did not say whether the body is clean."""


class Scan:
    """``after_fetch``: asks a clamd (INSTREAM) at CLAMD, ``host:port``. What it finds something in ends as -5002, with
    the annotation ``found:NAME``, and is not written. A body that could not be looked at ends its URI as -5, with the
    reason in runtime-errors.log; it is not written either.

    The body may be larger than memory: it goes through in pieces, content codings undone.
    """

    def __init__(self, place: str, patience: float = 60.0) -> None:
        self.host, _, port = place.rpartition(":")
        self.port = int(port)
        self.patience = patience

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.get("CLAMD", "127.0.0.1:3310"))

    async def process(self, curi: CrawlURI) -> None:
        if curi.recorder is None or curi.recorder.body_size == 0 or curi.status <= 1:
            return
        said = await asyncio.wait_for(self.ask(curi), self.patience)
        name = said.removeprefix("stream: ")
        if name.endswith(" FOUND"):
            curi.status = -5002
            curi.annotate("found:" + name.removesuffix(" FOUND"))
        elif name != "OK":
            raise ScannerError(f"the scanner said {said!r} of {curi.uri}")

    async def ask(self, curi: CrawlURI) -> str:
        """What the scanner says of the body."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(b"zINSTREAM\0")
            assert curi.recorder is not None
            for piece in curi.recorder.decoded():
                if reader.at_eof():
                    break
                writer.write(len(piece).to_bytes(4, "big") + piece)
                await writer.drain()
            writer.write(bytes(4))
            await writer.drain()
        except ConnectionError:
            """It has heard enough, and may have said why."""
        try:
            return (await reader.read(4096)).rstrip(b"\0\n").decode("utf-8", "replace")
        finally:
            writer.close()
