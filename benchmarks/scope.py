#!/usr/bin/env python3
"""What does it cost to decide whether a link joins the crawl, beside Scrapy's own filters?

    python benchmarks/scope.py

Prints microseconds of CPU time a link: the default scope over the links of typical pages, with sheets, Scrapy's
OffsiteMiddleware and LinkExtractor(allow=...) for the same decision; lists of expressions; a large list of SURT
prefixes, its loading time and memory.
"""

from __future__ import annotations

import random
import re
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.test import get_crawler

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import from_settings
from heritrix_scrapy.settings import Settings, default_view, read
from heritrix_scrapy.uri.java_match import Matcher
from heritrix_scrapy.uri.prefixes import SurtPrefixSet

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES, LINKS = 1000, 40


def links(seed: int = 7) -> list[tuple[str, str]]:
    """(URI, hop path): pages of a site, their parts, and links that lead elsewhere."""
    choose = random.Random(seed)
    out = []
    for page in range(PAGES):
        host = f"www.site{page % 50}.example"
        for number in range(LINKS):
            where = choose.random()
            if where < 0.6:
                out.append((f"http://{host}/section{choose.randrange(30)}/page{choose.randrange(5000)}.html", "LLL"))
            elif where < 0.85:
                out.append((f"http://{host}/static/img{choose.randrange(300)}.png", "LLLE"))
            else:
                out.append((f"http://other{choose.randrange(400)}.example/x/{number}?id={number}", "LLL"))
    return out


def cost(work: Callable[[], Any], count: int) -> float:
    """Microseconds of CPU time for one of ``count``; the best of three."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best / count * 1e6


def said(name: str, microseconds: float) -> None:
    print(f"{name:58} {microseconds:8.2f} µs   {1e6 / microseconds:12,.0f} /s")


def decisions(settings: Settings, found: list[tuple[str, str]]) -> float:
    scope = from_settings(settings)
    for site in range(50):
        scope.seed_added(f"http://www.site{site}.example/", f"http://www.site{site}.example/")
    curis = [CrawlURI(uri, path=path, via="http://www.site1.example/") for uri, path in found]

    def decide() -> None:
        for curi in curis:
            curi.settings = settings.for_uri(curi)
            scope.accepts(curi)
            curi.settings = None

    return cost(decide, len(curis))


def scrapy_offsite(found: list[tuple[str, str]]) -> float:
    class Pages(Spider):
        name = "pages"
        allowed_domains = [f"www.site{site}.example" for site in range(50)]

    crawler = get_crawler(Pages)
    spider = crawler._create_spider("pages")
    middleware = OffsiteMiddleware(crawler)
    middleware.spider_opened(spider)
    requests = [Request(uri) for uri, _ in found]
    return cost(lambda: [middleware.should_follow(request, spider) for request in requests], len(requests))


def scrapy_allow(found: list[tuple[str, str]], count: int) -> float:
    patterns = [re.compile(rf"http://www\.site{number}\.example/") for number in range(count)]
    uris = [uri for uri, _ in found]
    return cost(lambda: [any(pattern.search(uri) for pattern in patterns) for uri in uris], len(uris))


def main() -> None:
    found = links()
    said("default scope", decisions(Settings(default_view()), found))
    sheets = {"HERITRIX_SHEETS": {"s": {"HERITRIX_MAX_HOPS": 5}}}
    sheets["HERITRIX_SHEET_ASSOCIATIONS"] = [{"surt_prefixes": ["http://(example,site1,"], "sheets": ["s"]}]  # type: ignore[assignment]
    contact = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.example/"}
    said("default scope with sheets", decisions(read(ScrapySettings(contact | sheets)), found))
    said("Scrapy: OffsiteMiddleware, 50 domains", scrapy_offsite(found))
    said("Scrapy: LinkExtractor(allow=...), 50 expressions", scrapy_allow(found, 50))
    for count in (1, 72, 541):
        matcher = Matcher([rf".*/trap{number}/.*\?.*sort=\d+" for number in range(count)])
        uris = [uri for uri, _ in found[:5000]]
        said(f"list of {count} expressions", cost(lambda uris=uris, matcher=matcher: [matcher(u) for u in uris], 5000))
    choose = random.Random(5)
    words = ["".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=choose.randint(1, 7))) for _ in range(400)]
    matcher = Matcher([f".*{choose.choice(words)}.*{choose.choice(words)}.*w.*" for _ in range(541)])
    said("list of 541 hostile expressions", cost(lambda: [matcher(u) for u in uris], 5000))
    lines = 1_000_000
    text = [f"http://(example,d{number:07},www,)/" for number in range(lines)]
    random.Random(3).shuffle(text)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    prefixes = SurtPrefixSet()
    prefixes.import_literals("\n".join(text))
    spent = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{lines:,} SURT prefixes: loaded in {spent:.1f} s, {(after - before) / 1024:.0f} MB more at the peak")
    uris = [f"http://www.d{number * 37 % (2 * lines):07}.example/a/b" for number in range(20_000)]
    said("a look-up among them", cost(lambda: [prefixes.covers(uri) for uri in uris], len(uris)))


if __name__ == "__main__":
    main()
