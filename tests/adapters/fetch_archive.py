"""What the step HTTPContentDigest does with the cases of fetch.json."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.archive.content_digest import HTTPContentDigest
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.recorder import Recorder


def http_content_digest(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]["observed"]
    settings = asked.get("settings", {})
    step = HTTPContentDigest()
    step.strip_regex = settings.get("stripRegex", "")
    step.max_size_to_digest = settings.get("maxSizeToDigest", step.max_size_to_digest)
    curi = CrawlURI(asked["url"])
    curi.status, curi.content_type, curi.charset = asked["status"], asked["contentType"], "utf-8"
    curi.recorder = Recorder()
    curi.recorder.response.append(asked["content"].encode())
    curi.content_size = curi.recorder.response.size
    step.process(curi)
    got: dict[str, Any] = {"links": curi.outlinks, "linkExtractionFinished": curi.extracted}
    if curi.digest is not None:
        got["contentDigest"] = curi.digest
    return got == expected, got


ADAPTERS = {"fetch/http_content_digest": http_content_digest}
