"""Every way a Request can end: what is archived, in which order, what the spider hears, what the log says.

One crawl with one scenario a Request. Captures, ends and callbacks are written down by parts of the project
itself: a capture pipeline, a handler of our signal, the spider.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest

SITE = {
    "www.ends.test": {
        "routes": {
            "/robots.txt": {"status": 404, "body": ""},
            "/redirect": {"redirect": "/redirected"},
            "/redirect_max": {"redirect": "/redirect_max?again"},
            "/hangs": {"stall": True},
            "/e404": {"status": 404, "body": "none"},
            "/big": {"fill": 200_000},
            "/lost": {"length": 5000, "body": "short", "cut": 5},
        },
        "patterns": [[r"/.*", {"body": "<html><title>$&</title><p>page</p></html>"}]],
    },
}


@dataclass(frozen=True)
class Ending:
    """What one scenario must come to; ``log``: statuses of its lines in crawl.log, in order."""

    log: tuple[int, ...]
    archived: int
    called: str = ""  # "callback", "errback" or nothing
    error: str = ""
    items: int = 0
    annotation: str = ""
    path: str = ""


DONE = Ending((200,), 1, "callback", items=1)

ENDINGS: dict[str, Ending] = {
    "ok": DONE,
    "e404": Ending((404,), 1, "errback", "HttpError"),
    "refused": Ending((-2,), 0, "errback", "DownloadConnectionRefusedError"),
    "unknown_host": Ending((-6,), 0, "errback", "CannotResolveHostError"),
    "mw_ignore": Ending((-5002,), 0, "errback", "IgnoreRequest"),
    "mw_error": Ending((-5,), 0, "errback", "RuntimeError", annotation="err=builtins.RuntimeError"),
    "mw_response": Ending((200,), 0, "callback", items=1, annotation="notArchived"),
    "mw_newreq": Ending((-5002, 200), 1, "callback", items=1, annotation="replaced"),
    "mw_same": Ending((-5002, 200), 1, "callback", items=1, annotation="replaced"),
    "resp_ignore": Ending((200,), 1, "errback", "IgnoreRequest"),
    "resp_error": Ending((200,), 1, "errback", "RuntimeError"),
    "resp_newreq": Ending((200, 200), 2, "callback", items=1),
    "redirect": Ending((302,), 1),
    "redirect_max": Ending((302,), 1, "errback", "IgnoreRequest"),
    "cb_exc": Ending((200,), 1, "callback"),
    "gen_exc": Ending((200,), 1, "callback", items=1),
    "item_drop": Ending((200,), 1, "callback"),
    "item_exc": Ending((200,), 1, "callback"),
    "item_slow": DONE,
    "smin_exc": Ending((200,), 1, "errback", "ValueError"),
    "errback_item": Ending((-2,), 0, "errback", "DownloadConnectionRefusedError", items=1),
    "media": DONE,
    "stop_fail": Ending((200,), 1, "errback", "StopDownload"),
    "stop_nofail": DONE,
    "timeout": Ending((-2,), 0, "errback", "DownloadTimeoutError"),
    "badscheme": Ending((-7,), 0, "errback", "NotSupported"),
    "async_slow": DONE,
    "lambda": DONE,
    "yields_own_request": Ending((200, 200), 2, "callback", items=1),
    "close": Ending((200,), 1, "callback"),
}

PARTS = '''
import asyncio, json
from pathlib import Path
from scrapy import Request, signals
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse
from heritrix_scrapy.archive.pipeline import CapturePipeline
from heritrix_scrapy.signals import uri_finished

EVENTS = Path(__file__).parents[1] / "events.jsonl"

def note(what, uri, **more):
    with EVENTS.open("a") as file:
        file.write(json.dumps({"what": what, "uri": uri, **more}) + "\\n")

def scenario(request):
    return request.meta.get("sc") if request is not None else None

class Witness(CapturePipeline):
    """Listed behind the WARC writer: what it sees is written."""
    def process_capture(self, curi):
        if curi.record_id:
            note("archived", curi.uri, status=curi.status)
        return curi

class Ends:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        crawler.signals.connect(made.finished, uri_finished)
        return made
    def finished(self, curi):
        note("finished", curi.uri, status=curi.status)

class UserPipe:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls(); made.crawler = crawler
        return made
    async def process_item(self, item):
        if not isinstance(item, dict):
            note("PIPELINE SAW", type(item).__name__)
            return item
        sc = item["sc"]
        if sc == "item_drop": raise DropItem("dropped")
        if sc == "item_exc": raise ValueError("pipeline")
        if sc == "item_slow": await asyncio.sleep(0.3)
        if sc == "media":
            await self.crawler.engine.download_async(Request(item["base"] + "/media_sub"))
        note("item", item["uri"])
        return item

class Mid:
    def process_request(self, request):
        sc = scenario(request)
        if sc == "mw_ignore": raise IgnoreRequest("x")
        if sc == "mw_error": raise RuntimeError("x")
        if sc == "mw_response": return HtmlResponse(request.url, body=b"<html>cached</html>", request=request)
        if sc == "mw_newreq" and not request.meta.get("again"):
            return request.replace(meta={**request.meta, "again": 1}, dont_filter=True)
        if sc == "mw_same" and not request.meta.get("again"):
            request.meta["again"] = 1
            return request
    def process_response(self, request, response):
        sc = scenario(request)
        if sc == "resp_ignore": raise IgnoreRequest("y")
        if sc == "resp_error": raise RuntimeError("y")
        if sc == "resp_newreq" and not request.meta.get("again"):
            return request.replace(meta={**request.meta, "again": 1}, dont_filter=True)
        return response

class Input:
    def process_spider_input(self, response):
        if scenario(response.request) == "smin_exc": raise ValueError("input")
'''

SPIDER = """
import asyncio
from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, StopDownload
from crawl_project.parts import note, scenario

class Ends(Spider):
    name = "ends"
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stop, signals.bytes_received)
        return spider
    def stop(self, request, data, spider):
        if scenario(request) == "stop_fail": raise StopDownload(fail=True)
        if scenario(request) == "stop_nofail": raise StopDownload(fail=False)
    async def start(self):
        base = self.settings["BASE"]
        for sc in self.settings.getlist("SCENARIOS"):
            url = base + "/" + sc
            meta = {"sc": sc}
            if sc in ("refused", "errback_item"): url = "http://127.0.0.1:1/" + sc
            if sc == "unknown_host": url = "http://nowhere.invalid/"
            if sc == "badscheme": url = "gopher://127.0.0.1/badscheme"
            if sc == "timeout":
                url = base + "/hangs"
                meta["download_timeout"] = 0.5
            if sc == "redirect_max": meta["redirect_times"] = 20
            callback = getattr(self, "parse_" + sc, self.parse)
            if sc == "lambda": callback = lambda response: self.parse(response)
            # the last one ends the crawl: behind what the others give back to the queue
            priority = -10 if sc == "close" else 0
            yield Request(
                url, meta=meta, callback=callback, errback=self.failed, dont_filter=True, priority=priority
            )
    def item(self, response):
        return {"sc": response.meta["sc"], "uri": response.url, "base": self.settings["BASE"]}
    def parse(self, response):
        note("callback", response.url)
        if response.meta["sc"] == "cb_exc": raise ValueError("callback")
        return [self.item(response)]
    def parse_gen_exc(self, response):
        note("callback", response.url)
        yield self.item(response)
        raise ValueError("generator")
    async def parse_async_slow(self, response):
        await asyncio.sleep(0.6)
        note("callback", response.url)
        yield self.item(response)
    def parse_yields_own_request(self, response):
        if response.meta.get("again"):
            note("callback", response.url)
            yield self.item(response)
            return
        response.request.meta["again"] = 1
        yield response.request
    async def parse_close(self, response):
        note("callback", response.url)
        await asyncio.sleep(2.0)
        raise CloseSpider("enough")
        yield
    def failed(self, failure):
        note("errback", failure.request.url, mro=[c.__name__ for c in failure.type.__mro__])
        if failure.request.meta["sc"] == "errback_item":
            yield {"sc": "errback_item", "uri": failure.request.url, "base": ""}
"""

SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": False,
    "HERITRIX_FETCH_ROBOTS": "unless_ignored",
    "HERITRIX_FOLLOW": "none",
    "HERITRIX_STOP_GRACE_SECONDS": 5,
    "RETRY_ENABLED": False,
    "HERITRIX_MAX_RETRIES": 1,
    "ITEM_PIPELINES": {"crawl_project.parts.Witness": 1, "crawl_project.parts.UserPipe": 300},
    "EXTENSIONS": {"crawl_project.parts.Ends": 0},
    "DOWNLOADER_MIDDLEWARES": {"crawl_project.parts.Mid": 450},
    "SPIDER_MIDDLEWARES": {"crawl_project.parts.Input": 500},
}


@dataclass
class Seen:
    events: list[dict[str, Any]]
    log: dict[str, list[list[str]]]
    stats: dict[str, Any]
    stderr: str

    def of(self, uri: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["uri"] == uri]


def uri_of(base: str, name: str) -> str:
    return {
        "refused": "http://127.0.0.1:1/refused",
        "errback_item": "http://127.0.0.1:1/errback_item",
        "unknown_host": "http://nowhere.invalid/",
        "badscheme": "gopher://127.0.0.1/badscheme",
        "timeout": base + "/hangs",
    }.get(name, f"{base}/{name}")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    from tests.crawls import Project
    from tests.web import running

    folder = tmp_path_factory.mktemp("endings")
    with running(SITE) as web:
        base = web.url("www.ends.test").rstrip("/")
        project = Project(
            folder,
            {
                **SETTINGS,
                "BASE": base,
                "SCENARIOS": list(ENDINGS),
                "HERITRIX_DNS_SERVERS": [web.dns],
                "FEEDS": {str(folder / "feed.jsonl"): {"format": "jsonlines"}},
            },
            SPIDER,
            modules={"parts": PARTS},
        )
        crawl = project.run(name="ends", timeout=60)
    assert crawl.returncode == 0, crawl.stderr[-4000:]
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    log = defaultdict(list)
    for line in crawl.log:
        fields = line.split()
        log[fields[3]].append(fields)
    seen = Seen(events, log, crawl.stats, crawl.stderr)
    seen.base = base  # type: ignore[attr-defined]
    seen.feed = (folder / "feed.jsonl").read_text().splitlines()  # type: ignore[attr-defined]
    return seen


@pytest.mark.crawl
@pytest.mark.parametrize("name", ENDINGS)
def test_ending(seen, name):
    ending = ENDINGS[name]
    uri = uri_of(seen.base, name)
    events = seen.of(uri)
    whats = [event["what"] for event in events]
    assert tuple(int(fields[1]) for fields in seen.log[uri]) == ending.log
    assert whats.count("archived") == ending.archived, whats
    assert whats.count("finished") == len(ending.log), whats
    if ending.archived:
        first, last = whats.index("archived"), len(whats) - 1 - whats[::-1].index("archived")
        assert last < len(whats) - 1 - whats[::-1].index("finished"), "archived after the engine let go"
        if ending.called in whats:
            assert first < whats.index(ending.called), "called before the capture was on disk"
    assert whats.count("callback") == (ending.called == "callback"), whats
    assert whats.count("errback") == (ending.called == "errback"), whats
    assert whats.count("item") == ending.items, whats
    if ending.error:
        error = next(event for event in events if event["what"] == "errback")
        assert ending.error in error["mro"]
    if ending.annotation:
        assert any(ending.annotation in fields[11].split(",") for fields in seen.log[uri])


@pytest.mark.crawl
def test_what_a_pipeline_downloads_is_archived_and_logged_outside_the_queues(seen):
    uri = seen.base + "/media_sub"
    assert [event["what"] for event in seen.of(uri)] == ["archived", "finished"]
    ((_, status, _, _, path, *_),) = seen.log[uri]
    assert (status, path) == ("200", "E")


@pytest.mark.crawl
def test_the_redirect_target_is_a_uri_of_its_own(seen):
    uri = seen.base + "/redirected"
    assert [event["what"] for event in seen.of(uri)] == ["archived", "callback", "item", "finished"]
    ((_, status, _, _, path, via, *_),) = seen.log[uri]
    assert (status, path, via) == ("200", "R", seen.base + "/redirect")


@pytest.mark.crawl
def test_captures_do_not_reach_the_users_side(seen):
    assert not [event for event in seen.events if event["what"] == "PIPELINE SAW"]
    items = sum(event["what"] == "item" for event in seen.events)
    assert seen.stats["item_scraped_count"] == items == len(seen.feed)
    assert seen.stats["item_dropped_count"] == 1


@pytest.mark.crawl
def test_the_crawl_ends_for_the_reason_the_spider_gave(seen):
    assert seen.stats["finish_reason"] == "enough"


REFUSER = """
from scrapy import signals
from scrapy.exceptions import IgnoreRequest

class Refuser:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        crawler.signals.connect(made.scheduled, signals.request_scheduled)
        return made
    def scheduled(self, request, spider):
        if not request.meta.get("is_start_request"):
            raise IgnoreRequest("nothing more")
"""

ASKER = """
from scrapy import Request, Spider

class Asker(Spider):
    name = "asker"
    async def start(self):
        yield Request(self.settings["BASE"] + "/first", self.parse)
    def parse(self, response):
        yield {"url": response.url}
        yield response.follow("/second", self.parse)
"""


@pytest.mark.crawl
def test_a_handler_that_refuses_every_request_stops_none_of_our_bookkeeping(serve, run_crawl):
    """It refuses what is given back for a prerequisite too, and the marker of released URIs."""
    web = serve(SITE)
    base = web.url("www.ends.test").rstrip("/")
    crawl = run_crawl(
        {"BASE": base, "EXTENSIONS": {"crawl_project.refuser.Refuser": 0}},
        ASKER,
        name="asker",
        web=web,
        modules={"refuser": REFUSER},
        timeout=60,
    )
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.stats["finish_reason"] == "finished"
    assert crawl.stats["item_scraped_count"] == 1
    assert crawl.statuses[base + "/first"] == [200]
    assert crawl.statuses[base + "/robots.txt"] == [404]
    assert base + "/second" not in crawl.statuses
