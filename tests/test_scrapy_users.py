"""Does an ordinary spider give the same items, feed and statistics with and without the add-on?

The spider uses what Scrapy's users use: callbacks, items, a pipeline, a feed, cb_kwargs, errbacks, redirects,
retries, cookies, POSTs, a media pipeline. Its site crosses hosts, and pages are reached by callback and by
extractor in both orders.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from tests.crawls import Project
from tests.web import running


def page(*links: str, extra: str = "", asked: tuple[str, ...] = ()) -> dict[str, Any]:
    anchors = "".join(f'<a href="{link}">l</a>' for link in links)
    others = "".join(f'<b data-ask="{link}"></b>' for link in asked)
    return {"body": f"<html><title>$0</title><body>{anchors}{others}{extra}</body></html>"}


SITE = {
    "one.users.test": {
        "routes": {
            "/": page(
                "/early",
                "/late",
                "/both",
                "${http:two.users.test}/",
                "${http:off.users.test}/",
                asked=("/late", "/both", "/flaky", "/broken", "/moved", "/gone", "/cookie", "/chain/1"),
            ),
            "/early": page("/deep/1", "/both", asked=("/deep/1", "/deep/2")),
            "/late": page("/early", "/deep/2", extra='<img src="/pic.png"><script>var u = "/from/script";</script>'),
            "/both": page("/late"),
            "/deep/1": page("/deep/3"),
            "/deep/2": page("/deep/1", "/deep/3", asked=("/deep/3",)),
            "/deep/3": page("/"),
            "/flaky": {
                "cases": [{"if": {"nth_from": 3}, "then": page("/")}],
                "status": 503,
                "body": "busy",
            },
            "/broken": {"status": 503, "body": "always busy"},
            "/moved": {"redirect": "/moved/again"},
            "/moved/again": {"redirect": "${http:two.users.test}/landed", "status": 301},
            "/gone": {"status": 410, "body": "gone"},
            "/cookie": {"headers": [["Set-Cookie", "taste=sweet; Path=/"]], "redirect": "/cookie/check"},
            "/cookie/check": {
                "cases": [{"if": {"cookie_has": "taste=sweet"}, "then": {"body": "<title>sweet</title>"}}],
                "body": "<title>none</title>",
            },
            "/form": {
                "cases": [
                    {"if": {"body_has": "q=first"}, "then": {"body": "<title>first</title>"}},
                    {"if": {"body_has": "q=second"}, "then": {"body": "<title>second</title>"}},
                ],
                "body": "<title>neither</title>",
            },
            "/pic.png": {"type": "image/png", "body": "not really a picture"},
            "/file.bin": {"type": "application/octet-stream", "body": "a file"},
            "/chain/1": page(asked=("/chain/2",)),
            "/chain/2": page(asked=("/chain/3",)),
            "/chain/3": page(),
            "/zipped": {"body": "<title>zipped</title>", "encode": "gzip"},
        },
    },
    "two.users.test": {
        "routes": {
            "/": page("${http:one.users.test}/early", "/page", asked=("${http:one.users.test}/early", "/page")),
            "/page": page("/"),
            "/landed": page(),
        },
    },
    "off.users.test": {"routes": {"/": page()}},
}

SPIDER = """
from scrapy import FormRequest, Request, Spider
from scrapy.http import TextResponse

class Users(Spider):
    name = "users"
    custom_settings = {"RETRY_TIMES": 2}

    async def start(self):
        base = self.settings["ONE"]
        yield Request(base + "/", self.parse_page, cb_kwargs={"depth": 0}, dont_filter=True)
        yield Request(base + "/early", self.parse_page, cb_kwargs={"depth": 0})
        for word in ("first", "second"):
            yield FormRequest(base + "/form", formdata={"q": word}, callback=self.parse_form, cb_kwargs={"word": word})
        yield Request(base + "/early", self.parse_page, cb_kwargs={"depth": 9}, dont_filter=True)
        yield Request(base + "/zipped", self.parse_form, cb_kwargs={"word": "zipped"}, priority=5, flags=["mine"])
        yield Request(base + "/gone", self.parse_gone, meta={"handle_httpstatus_list": [410]}, dont_filter=True)
        yield Request("http://127.0.0.1:1/refused", self.parse_page, errback=self.failed, cb_kwargs={"depth": 0})
        yield Request(self.settings["OFF"] + "/", self.parse_page, cb_kwargs={"depth": 0})

    def parse_page(self, response, depth):
        yield {
            "kind": "page", "url": response.url, "depth": depth, "status": response.status,
            "hops": response.meta.get("redirect_times", 0), "retries": response.meta.get("retry_times", 0),
            "came": response.meta.get("came"), "body": len(response.body), "type": type(response).__name__,
            "file_urls": [self.settings["ONE"] + "/file.bin"] if depth == 0 else [],
        }
        for address in response.css("b::attr(data-ask)").getall():
            yield response.follow(
                address, self.parse_page, errback=self.failed, cb_kwargs={"depth": depth + 1},
                meta={"came": response.url},
            )

    def parse_form(self, response, word):
        title = response.css("title::text").get()
        yield {"kind": "form", "word": word, "title": title, "flags": response.request.flags}

    def parse_gone(self, response):
        yield {"kind": "gone", "status": response.status}

    def failed(self, failure):
        response = getattr(failure.value, "response", None)
        yield {
            "kind": "failed", "url": failure.request.url, "error": failure.type.__name__,
            "status": getattr(response, "status", None), "retries": failure.request.meta.get("retry_times", 0),
        }
"""

PIPELINE = """
from scrapy.exceptions import DropItem

class Check:
    def process_item(self, item):
        if item.get("url", "").endswith("/deep/2"):
            raise DropItem("not wanted")
        item["checked"] = True
        return item
"""

RESOLVER = """
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import succeed

ADDRESSES = {ADDRESSES!r}

class Names(CachingThreadedResolver):
    def getHostByName(self, name, timeout=None):
        return succeed(ADDRESSES.get(name, name))
"""

COUNTED = (
    "item_scraped_count",
    "item_dropped_count",
    "item_dropped_reasons_count/DropItem",
    "file_count",
    "retry/count",
)

NAMES = ("one", "two", "off")


def crawl(folder, addon: bool, follow: str | None = None) -> tuple[Counter[str], Counter[str], dict[str, Any], Any]:
    """Items seen by the feed, by the pipeline's counts; each run on a server of its own."""
    with running(SITE) as web:
        hosts = {name: f"{name}.users.test" for name in NAMES}
        bases = {name: web.url(host).rstrip("/") for name, host in hosts.items()}
        resolver = RESOLVER.format(ADDRESSES={host: web.host(host)["ips"][0] for host in hosts.values()})
        settings: dict[str, Any] = {
            "ONE": bases["one"],
            "OFF": bases["off"],
            "ITEM_PIPELINES": {"crawl_project.check.Check": 300, "scrapy.pipelines.files.FilesPipeline": 200},
            "FILES_STORE": str(folder / "files"),
            "FEEDS": {str(folder / "feed.jsonl"): {"format": "jsonlines", "overwrite": True}},
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "INFO",
        }
        if not addon:
            settings["TWISTED_DNS_RESOLVER"] = "crawl_project.resolver.Names"
        else:
            settings |= {"HERITRIX_FOLLOW": follow, "HERITRIX_MAX_RETRIES": 1, "HERITRIX_DNS_SERVERS": [web.dns]}
        spider = SPIDER + f"\n    allowed_domains = {[hosts['one'], hosts['two'], '127.0.0.1']!r}\n"
        modules = {"check": PIPELINE, "resolver": resolver}
        project = Project(folder, settings, spider, addon=addon, defaults=addon, modules=modules)
        result = project.run(name="users", timeout=90)
        assert result.returncode == 0, result.stderr[-4000:]
        assert result.stats["finish_reason"] == "finished"
        text = re.sub(r"full/[0-9a-f]{40}", "full/<name>", (folder / "feed.jsonl").read_text())
        for name, base in bases.items():
            text = text.replace(base, f"<{name}>")
        entries = Counter(json.dumps(json.loads(line), sort_keys=True) for line in text.splitlines())
        requests = Counter((row.host, row.method, row.target) for row in web.requests)
        return entries, requests, {name: result.stats.get(name) for name in COUNTED}, result


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    return crawl(tmp_path_factory.mktemp("stock"), addon=False)


@pytest.mark.crawl
@pytest.mark.parametrize("follow", ["all", "embeds", "none"])
def test_the_same_items_with_the_add_on(stock, tmp_path, follow):
    entries, _, counted, _ = stock
    got, _, got_counted, result = crawl(tmp_path, addon=True, follow=follow)
    assert sum(entries.values()) > 15
    assert got == entries
    assert got_counted == counted
    # every page that gave an item is in the archive
    logged = {line.split()[3].rpartition(":")[2].partition("/")[2] for line in result.log}
    assert {"early", "late", "flaky", "moved", "moved/again", "landed", "form", "file.bin"} <= logged
    # what a pipeline fetched is part of the page whose item named it
    pages = {line.split()[3] for line in result.log}
    [file] = [line.split() for line in result.log if line.split()[3].endswith("/file.bin")]
    assert file[4].endswith("E")
    assert file[5] in pages


@pytest.mark.crawl
def test_follow_says_what_is_crawled_besides(tmp_path):
    targets = {}
    for follow in ("all", "embeds", "none"):
        folder = tmp_path / follow
        folder.mkdir()
        _, requests, _, _ = crawl(folder, addon=True, follow=follow)
        targets[follow] = {target for _, _, target in requests}
    assert "/pic.png" in targets["embeds"]
    assert "/pic.png" in targets["all"]
    assert "/pic.png" not in targets["none"]
    assert targets["none"] < targets["embeds"] <= targets["all"]
