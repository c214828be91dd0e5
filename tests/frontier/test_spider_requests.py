"""What becomes of the redirects of a spider's Requests, and what does the start of the log tell?"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve

SITE = {
    "www.turns.test": {
        "routes": {
            "/robots.txt": {"status": 404},
            "/seed": {"redirect": "/target"},
            "/loop": {"redirect": "/loop?1"},
            "/loop?1": {"redirect": "/loop?2"},
            "/loop?2": {"redirect": "/loop?3"},
            "/away": {"redirect": "${http:off.turns.test}/page"},
            "/refresh": {"body": '<html><meta http-equiv="refresh" content="0;url=/refreshed"></html>'},
            "/own": {"redirect": "/taken"},
        },
        "default": {"body": "page"},
    },
    "off.turns.test": {"routes": {"/robots.txt": {"status": 404}}, "default": {"body": "page"}},
}

SPIDER = """
import scrapy

class Turns(scrapy.Spider):
    name = "turns"
    allowed_domains = ["www.turns.test"]
    custom_settings = {"REDIRECT_MAX_TIMES": 2}

    async def start(self):
        for path in ("/seed", "/loop", "/away", "/refresh"):
            yield scrapy.Request(self.settings["BASE"] + path)
        yield scrapy.Request(self.settings["BASE"] + "/own", meta={"handle_httpstatus_list": [302]})

    def parse(self, response):
        yield {"url": response.url}
"""


@pytest.mark.crawl
@pytest.mark.parametrize("follow", ["all", "embeds"])
def test_a_redirect_is_fetched_once(serve: Serve, run_crawl: RunCrawl, follow: str) -> None:
    web = serve(SITE)
    base = web.url("www.turns.test").rstrip("/")
    settings: dict[str, Any] = {"BASE": base, "HERITRIX_FOLLOW": follow, "DEPTH_LIMIT": 7, "AUTOTHROTTLE_ENABLED": True}
    settings["HERITRIX_SOURCE_TAG_SEEDS"] = True
    crawl = run_crawl(settings, SPIDER, name="turns", web=web)
    assert crawl.returncode == 0, crawl.stderr
    fetched = Counter(row.target for row in web.requests if row.target not in ("/favicon.ico", "/robots.txt"))
    # beyond Scrapy's limit and off the spider's site a target stands in the metadata record only; an answer that the
    # spider takes itself leaves its target to the extractors
    wanted = ["/seed", "/target", "/loop", "/loop?1", "/loop?2", "/away", "/refresh", "/refreshed", "/own", "/taken"]
    assert fetched == Counter(wanted)
    paths = {line.split()[3].removeprefix(base): line.split()[4] for line in crawl.log}
    assert paths["/target"] == paths["/refreshed"] == paths["/taken"] == "R"
    assert paths["/loop?2"] == "RR"
    tags = {line.split()[3].removeprefix(base): line.split()[10].removeprefix(base) for line in crawl.log}
    assert (tags["/seed"], tags["/target"], tags["/loop?2"]) == ("/seed", "/seed", "/loop")
    # the project's own settings: what was carried over, and what has no effect, once each
    assert len(re.findall("DEPTH_LIMIT = 7 is taken as HERITRIX_MAX_HOPS = 7", crawl.stderr)) == 1
    assert len(re.findall("AUTOTHROTTLE_ENABLED has no effect", crawl.stderr)) == 1
    assert "Deprecation" not in crawl.stderr
