"""How is what a project's own download handler brought back kept: the answer of a scheme that nobody here speaks?

There are no wire bytes to keep, so its body becomes a resource record (WARC 1.1, 6.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.model.recorder import Recorder

if TYPE_CHECKING:
    from scrapy.http import Response

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Schemes whose wire bytes are what is archived; a foreign handler's answer for one is no capture.
OF_THE_WIRE = frozenset(("http", "https", "dns", "ftp", "whois"))


def take(curi: CrawlURI, response: Response, now_ms: int) -> bool:
    """Put a Response on the CrawlURI as its capture. False for a scheme whose wire bytes it does not have."""
    if curi.scheme in OF_THE_WIRE:
        return False
    recorder = curi.recorder = Recorder()
    recorder.response.append(response.body)
    curi.status = response.status
    curi.ended_ms = now_ms
    kind = response.headers.get(b"Content-Type")
    curi.content_type = "application/octet-stream" if kind is None else kind.decode("latin-1")
    curi.content_size = curi.content_length = len(response.body)
    curi.digest = recorder.body_digest
    curi.server_ip = str(response.ip_address) if response.ip_address else None
    return True
