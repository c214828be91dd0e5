"""The two downloader middlewares, with an engine that the test plays."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.middleware import NotFetched, PreconditionMiddleware, PreselectorMiddleware
from heritrix_scrapy.fetch.robots import note_robots
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.requests import bind, lookup
from tests.adapters.fetch_preconditions import NOW, note_failure, note_lookup, view_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

PAGE = "http://h.example/p"
FORBID = b"User-agent: *\nDisallow: /p\n"


class Source:
    """Settings without a project."""

    def __init__(self, view: Any) -> None:
        self.view = view
        self.profile = view.profile

    def for_uri(self, curi: CrawlURI) -> Any:
        curi.settings = self.view
        return self.view


class Engine:
    """Answers prerequisites as the chain would leave them. ``robots``: status and body; ``resolves``: names."""

    def __init__(self, crawler: Crawler, *, resolves: bool = True, robots: tuple[int, bytes] = (404, b"")) -> None:
        self.crawl = Crawl.of(crawler)
        self.middleware = PreconditionMiddleware.from_crawler(crawler)
        self.resolves = resolves
        self.robots = robots
        self.asked: list[str] = []

    async def download_async(self, request: Request) -> None:
        assert await ensure_awaitable(self.middleware.process_request(request)) is None
        curi = lookup(request)
        assert curi is not None
        self.asked.append(curi.uri)
        await asyncio.sleep(0)
        if curi.uri.startswith("dns:"):
            host = self.crawl.hosts.host(curi.uri[4:])
            if self.resolves:
                note_lookup(host, ["192.0.2.1"], 60, NOW)
                return
            note_failure(host, NOW, final=False)
            raise OSError("no such name")
        curi.status = self.robots[0]
        curi.recorder = Recorder()
        curi.recorder.response.append(self.robots[1])
        note_robots(self.crawl.hosts, curi, NOW, curi.settings)


def crawler_of(profile: str = "modern", scrapy: dict[str, Any] | None = None, **values: Any) -> Crawler:
    crawler = get_crawler(settings_dict={"HTTPPROXY_ENABLED": False, **(scrapy or {})})
    crawl: Any = Crawl.of(crawler)
    crawl.settings = Source(view_of(profile, operator_contact_url="http://operator.example/", **values))
    crawl.clock = SimpleNamespace(now_ms=lambda: NOW, monotonic=lambda: 0.0)
    crawl.decide = lambda curi: True
    return crawler


def engine_of(crawler: Crawler, **options: Any) -> Engine:
    engine = Engine(crawler, **options)
    crawler.engine = engine  # type: ignore[assignment]
    return engine


def queued(request: Request, *, spider: bool = False) -> CrawlURI:
    """The CrawlURI of a Request that has a place in the frontier."""
    curi = CrawlURI(request.url, spider_request=spider)
    curi.class_key = "example,h,"
    bind(request, curi)
    return curi


def passes(middleware: PreconditionMiddleware, *requests: Request) -> list[Any]:
    async def one(request: Request) -> Any:
        return await ensure_awaitable(middleware.process_request(request))

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*map(one, requests))

    return asyncio.run(all_at_once())


@pytest.mark.parametrize("spider", [False, True])
def test_a_request_of_the_frontier_goes_back_to_its_place(spider: bool) -> None:
    crawler = crawler_of()
    middleware = PreconditionMiddleware.from_crawler(crawler)
    request = Request(PAGE)
    curi = queued(request, spider=spider)
    hosts = Crawl.of(crawler).hosts

    assert passes(middleware, request)[0] is request
    assert (curi.status, curi.prerequisite, curi.deferral) == (-50, "dns:h.example", "prerequisite")

    note_lookup(hosts.host("h.example"), ["192.0.2.1"], 60, NOW)
    curi.reset_attempt()
    assert passes(middleware, request)[0] is request
    assert curi.prerequisite == "http://h.example/robots.txt"

    hosts.server("h.example").robots_fetched_ms = NOW
    hosts.server("h.example").robots_valid = True
    curi.reset_attempt()
    assert passes(middleware, request) == [None]
    assert (curi.status, curi.server_ip) == (0, "192.0.2.1")


def test_a_download_outside_the_frontier_fetches_its_prerequisites_once() -> None:
    crawler = crawler_of()
    engine = engine_of(crawler)
    requests = [Request(f"http://h.example/{n}.png") for n in range(5)]
    assert passes(engine.middleware, *requests) == [None] * 5
    assert engine.asked == ["dns:h.example", "http://h.example/robots.txt"]
    curi = lookup(requests[0])
    assert curi is not None
    assert (curi.path, curi.server_ip, curi.status) == ("E", "192.0.2.1", 0)


def test_what_is_fetched_first_is_a_prerequisite_of_its_page() -> None:
    crawler = crawler_of()
    engine = engine_of(crawler)
    seen: list[CrawlURI] = []
    download = engine.download_async

    async def watched(request: Request) -> None:
        curi = lookup(request)
        assert curi is not None
        seen.append(curi)
        assert not request.meta.get("heritrix")
        await download(request)

    engine.download_async = watched  # type: ignore[method-assign]
    passes(engine.middleware, Request(PAGE))
    assert [(curi.uri, curi.path, curi.via, curi.is_prerequisite) for curi in seen] == [
        ("dns:h.example", "EP", PAGE, True),
        ("http://h.example/robots.txt", "EP", PAGE, True),
    ]


def test_robots_txt_forbids_a_spider_as_in_stock_scrapy() -> None:
    crawler = crawler_of()
    engine = engine_of(crawler, robots=(200, FORBID))
    with pytest.raises(IgnoreRequest, match=r"Forbidden by robots\.txt") as caught:
        passes(engine.middleware, Request(PAGE))
    assert isinstance(caught.value, NotFetched)
    assert caught.value.status == -9998
    assert crawler.stats is not None
    assert crawler.stats.get_value("robotstxt/forbidden") == 1
    assert passes(engine.middleware, Request(PAGE, meta={"dont_obey_robotstxt": True})) == [None]
    assert passes(engine.middleware, Request("http://h.example/other")) == [None]


def test_only_a_spider_may_leave_robots_txt_out() -> None:
    crawler = crawler_of()
    engine = engine_of(crawler, robots=(200, FORBID))
    passes(engine.middleware, Request("http://h.example/other"))
    request = Request(PAGE, meta={"dont_obey_robotstxt": True})
    curi = queued(request)
    with pytest.raises(NotFetched):
        passes(engine.middleware, request)
    assert (curi.status, curi.error_text) == (-9998, "robots.txt exclusion")


@pytest.mark.parametrize(
    ("profile", "agent", "setting", "allowed"),
    [
        ("modern", "special/1.0", None, False),
        ("modern", "special/1.0", "other", True),
        ("modern", None, "special", False),
        ("modern", None, None, True),
        ("heritrix", "special/1.0", None, True),
    ],
)
def test_whose_rules_hold(profile: str, agent: str | None, setting: str | None, allowed: bool) -> None:
    crawler = crawler_of(profile, {"ROBOTSTXT_USER_AGENT": setting})
    engine = engine_of(crawler, robots=(200, b"User-agent: special\nDisallow: /\n"))
    request = Request(PAGE, headers={"User-Agent": agent} if agent else {})
    if allowed:
        assert passes(engine.middleware, request) == [None]
    else:
        with pytest.raises(NotFetched):
            passes(engine.middleware, request)


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_name_that_does_not_resolve_ends_a_download(profile: str) -> None:
    crawler = crawler_of(profile)
    engine = engine_of(crawler, resolves=False)
    request = Request(PAGE)
    with pytest.raises(CannotResolveHostError, match=r"h\.example"):
        passes(engine.middleware, request)
    curi = lookup(request)
    assert curi is not None
    assert curi.status == -6
    assert engine.asked == ["dns:h.example"]


def test_a_uri_of_ours_without_an_address_is_not_fetched() -> None:
    crawler = crawler_of("heritrix")
    note_failure(Crawl.of(crawler).hosts.host("h.example"), NOW, final=True)
    request = Request(PAGE)
    curi = queued(request)
    with pytest.raises(NotFetched):
        passes(PreconditionMiddleware.from_crawler(crawler), request)
    assert (curi.status, curi.error_text) == (-6, "no address for the host")


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_robots_txt_that_fails_ends_a_download(profile: str) -> None:
    crawler = crawler_of(profile)
    engine = engine_of(crawler, robots=(-2, b""))
    with pytest.raises(NotFetched) as caught:
        passes(engine.middleware, Request(PAGE))
    assert caught.value.status == -61
    assert engine.asked == ["dns:h.example", "http://h.example/robots.txt"]


def test_a_proxy_that_cannot_be_used_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    crawler = crawler_of()
    middleware = PreconditionMiddleware.from_crawler(crawler)
    for _ in range(2):
        request = Request(PAGE, meta={"proxy": "ftp://proxy.example:3128"})
        with pytest.raises(NotFetched, match="proxy"):
            passes(middleware, request)
        curi = lookup(request)
        assert curi is not None
        assert curi.status == -7
    assert len([record for record in caplog.records if "proxy" in record.getMessage()]) == 1


def test_the_proxy_of_the_environment_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    engine = engine_of(crawler_of(scrapy={"HTTPPROXY_ENABLED": True}))
    chosen, inside, none = Request(PAGE), Request("http://inside.example/"), Request(PAGE, meta={"proxy": None})
    for request in (chosen, inside, none):
        passes(engine.middleware, request)
    assert chosen.meta["proxy"] == "http://proxy.example:3128"
    assert "proxy" not in inside.meta
    assert none.meta["proxy"] is None


def test_a_host_without_an_address_is_left_to_the_proxy() -> None:
    crawler = crawler_of(socks_proxy_host="127.0.0.1", socks_proxy_port=9)
    engine = engine_of(crawler)
    host = Crawl.of(crawler).hosts.host("h.example")
    host.looked_up_ms, host.final = Crawl.of(crawler).clock.now_ms(), True
    request = Request(PAGE)
    passes(engine.middleware, request)
    assert request.meta["proxy"] == "socks5://127.0.0.1:9"
    curi = lookup(request)
    assert curi is not None
    assert curi.status == 0


def test_a_host_with_private_addresses_only_is_refused_before_its_robots_txt() -> None:
    crawler = crawler_of(refuse_private_addresses=True)
    host = Crawl.of(crawler).hosts.host("h.example")
    host.looked_up_ms, host.addresses = Crawl.of(crawler).clock.now_ms(), ["10.0.0.1"]
    request = Request(PAGE)
    with pytest.raises(NotFetched, match="HERITRIX_REFUSE_PRIVATE_ADDRESSES"):
        passes(PreconditionMiddleware.from_crawler(crawler), request)
    curi = lookup(request)
    assert curi is not None
    assert curi.status == -5001


def test_what_no_server_answers_is_left_to_scrapy() -> None:
    crawler = crawler_of(block_all=True)
    request = Request("data:,text")
    PreselectorMiddleware.from_crawler(crawler).process_request(request)
    assert passes(PreconditionMiddleware.from_crawler(crawler), request) == [None]


def test_preselector() -> None:
    crawler = crawler_of(block_by_regex=".*private.*", recheck_scope=True)
    middleware = PreselectorMiddleware.from_crawler(crawler)
    request = Request("http://h.example/private")
    curi = queued(request)
    with pytest.raises(NotFetched, match="blocked by"):
        middleware.process_request(request)
    assert curi.status == -5001
    public, spiders = Request("http://h.example/public"), Request("http://h.example/spiders")
    queued(public)
    queued(spiders, spider=True)
    middleware.process_request(public)
    crawl: Any = Crawl.of(crawler)
    crawl.decide = lambda candidate: False
    with pytest.raises(NotFetched, match="no longer in scope"):
        middleware.process_request(public)
    # scope never judged it, so it is not asked now
    middleware.process_request(spiders)
    crawl.decide = None
    middleware.process_request(public)


@pytest.mark.parametrize(("uri", "delay"), [(PAGE, 4.0), ("http://other.example/", None), ("mailto:a@h.example", None)])
def test_crawl_delay_is_offered_to_the_frontier(uri: str, delay: float | None) -> None:
    crawler = crawler_of()
    crawl: Any = Crawl.of(crawler)
    crawl.hosts.server("h.example").robots = "User-agent: *\nCrawl-delay: 4\n"
    PreconditionMiddleware.from_crawler(crawler)
    assert crawl.crawl_delay(CrawlURI(uri)) == delay


BY_NAME = b"""User-agent: *
Disallow: /
Crawl-delay: 1

User-agent: named
Disallow:
Crawl-delay: 2

User-agent: special
Disallow:
Crawl-delay: 3

User-agent: spider
Disallow:
Crawl-delay: 4
"""
MASKED = ["firstNamed", {"candidate_user_agents": ["special"]}]


@pytest.mark.parametrize(
    ("agent", "values", "delay"),
    [
        (None, {"robots_user_agent": "named"}, 2.0),
        (None, {"robots_policy": MASKED}, 3.0),
        (None, {"robots_policy": MASKED, "robots_user_agent": "named"}, 2.0),
        ("spider/1.0", {}, 4.0),
        ("spider/1.0", {"robots_user_agent": "named"}, 2.0),
    ],
)
def test_the_group_that_lets_a_uri_in_says_how_long_it_rests(
    agent: str | None, values: dict[str, Any], delay: float
) -> None:
    crawler = crawler_of(**values)
    crawl = Crawl.of(crawler)
    engine = engine_of(crawler, robots=(200, BY_NAME))
    request = Request(PAGE, headers={"User-Agent": agent} if agent else None)
    assert passes(engine.middleware, request) == [None]
    curi = lookup(request)
    assert curi is not None
    assert crawl.crawl_delay is not None
    assert crawl.crawl_delay(curi) == delay
