"""Is it the same page, but for the parts that change with each look: dates, counters, session ids?

A step for ``HERITRIX_STEPS`` (``after_fetch``) that gives a text the digest of what is left of it (Heritrix:
HTTPContentDigest). Such a digest says ``SHA1:`` where that of the bytes says ``sha1:``; it stands in the crawl log,
and in the modern profile never in a WARC record nor for a repetition, as the bytes are not the same.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

SCHEME = "SHA1:"


class HTTPContentDigest:
    """``strip_regex``: what is taken for a blank; ``max_size_to_digest``: longer answers are left alone, -1 none. A
    subclass sets both for its crawl."""

    strip_regex = ""
    max_size_to_digest = 1024 * 1024

    def process(self, curi: CrawlURI) -> None:
        """Replace the digest of a text."""
        recorder = curi.recorder
        if recorder is None or curi.status <= 0 or not curi.content_type.startswith("text"):
            return
        if 0 <= self.max_size_to_digest < curi.content_size:
            return
        data = recorder.entity(recorder.response.size * 50 + 4096)
        try:
            text = data.decode(curi.charset or "latin-1", "replace")
        except LookupError:
            text = data.decode("latin-1")
        curi.digest = stripped_digest(text, self.strip_regex)


def stripped_digest(text: str, strip_regex: str = "") -> str:
    """``SHA1:BASE32`` of a text, each match of the expression taken for one blank."""
    if strip_regex:
        text = re.sub(strip_regex, " ", text)
    digest = hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return SCHEME + base64.b32encode(digest).decode("ascii")
