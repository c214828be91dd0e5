"""What do the crawls of these tests walk through, and what did they archive?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

HOST = "www.side.test"
OTHER = "cdn.side.test"

SITE: dict[str, Any] = {
    HOST: {
        "routes": {
            "/robots.txt": {"body": "User-agent: *\nDisallow: /private\n", "type": "text/plain"},
            "/": {
                "body": "<html><title>home</title><link rel=stylesheet href=/style.css>"
                f"<img src=${{http:{OTHER}}}/pic.png>"
                "<a href=/two>two</a><a href=/private>p</a><a href=/old>o</a></html>"
            },
            "/two": {"body": "<html><title>two</title><img src=/two.png><a href=/three>3</a></html>"},
            "/three": {"body": "<html><title>three</title></html>"},
            "/old": {"redirect": "/new"},
            "/new": {"body": "<html><title>new</title></html>"},
            "/style.css": {"type": "text/css", "body": "body { background: url(/bg.png) }"},
            "/bg.png": {"type": "image/png", "body": "bg"},
            "/two.png": {"type": "image/png", "body": "two"},
        }
    },
    OTHER: {"routes": {"/robots.txt": {"status": 404}, "/pic.png": {"type": "image/png", "body": "pic"}}},
}

#: A spider that asks for two pages and gives an item for each.
SPIDER = f"""
from scrapy import Spider

class Pages(Spider):
    name = "pages"

    async def start(self):
        from scrapy import Request
        yield Request(self.settings["START"])

    def parse(self, response):
        yield {{"title": response.css("title::text").get()}}
        if response.url.endswith(("{HOST}/", ":" + response.url.rpartition(":")[2])):
            yield response.follow("/two", self.parse)
"""


def archived(warcs: Iterable[Path]) -> Counter[tuple[str, str | None, str | None]]:
    """Record type, target URI and payload digest of every record; an answer of DNS tells its time in its payload."""
    found: Counter[tuple[str, str | None, str | None]] = Counter()
    for path in warcs:
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                get = record.rec_headers.get_header
                uri = get("WARC-Target-URI")
                digest = None if uri and uri.startswith("dns:") else get("WARC-Payload-Digest")
                found[record.rec_type, uri, digest] += 1
    return found


def pages(warcs: Iterable[Path]) -> set[str]:
    """Target URIs of the response records."""
    return {uri for kind, uri, _ in archived(warcs) if kind == "response" and uri}


def agents(warcs: Iterable[Path]) -> set[str]:
    """The User-Agents that warcinfo records name."""
    found = set()
    for path in warcs:
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "warcinfo":
                    text = record.content_stream().read().decode()
                    found |= {line.partition(": ")[2] for line in text.splitlines() if "user-agent" in line}
    return found
