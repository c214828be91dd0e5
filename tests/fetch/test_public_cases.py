"""Faults that users of other crawlers reported: HTTP answers. Each test names its case."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from typing import TYPE_CHECKING, Any

import brotli
import pytest
import zstandard
from scrapy.http import Response

from heritrix_scrapy.fetch.headers import compose
from heritrix_scrapy.fetch.stamp import heed_retry_after
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import MemoryStore
from tests.extract.pages import extracted
from tests.fetch.loopback import Server, Talk, fetch, handler_of, make_crawler, run
from tests.frontier.world import end, make

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.core import Frontier
    from tests.conftest import RunCrawl, Serve


def ask(answer: Any, *, internal: bool = False, **values: Any) -> tuple[Any, CrawlURI]:
    async def work() -> Any:
        async with Server(answer) as server, handler_of(make_crawler(**values)) as handler:
            return await fetch(handler, server.url(), internal=internal)

    found: tuple[Any, CrawlURI] = run(work())
    return found


def answer(*lines: str, body: bytes = b"", status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join([status, *lines, "", ""]).encode("latin-1") + body


def recorded(curi: CrawlURI) -> bytes:
    assert curi.recorder is not None
    return curi.recorder.response.read()


def test_a_header_name_that_is_none_is_kept() -> None:
    """PC-138"""
    said = answer("\xe2\x80\x98access-control-allow-origin\xe2\x80\x99: *", "Content-Length: 2", body=b"ok")
    response, curi = ask(said)
    assert (response.status, response.body, recorded(curi)) == (200, b"ok", said)


def test_a_status_line_without_a_reason() -> None:
    """PC-139"""
    response, curi = ask(answer("Location: /b", "Content-Length: 0", status="HTTP/1.1 301"))
    assert (response.status, response.headers["Location"], curi.status) == (301, b"/b", 301)


def test_a_nul_in_a_length() -> None:
    """PC-141"""
    response, curi = ask(answer("Content-Length: 12\0", body=b"twelve bytes"))
    assert (response.body, curi.status) == (b"twelve bytes", 200)


def test_more_body_than_the_length_says() -> None:
    """PC-142"""
    response, curi = ask(answer("Content-Length: 5", body=b"five!" + b"x" * 45))
    assert (response.body, curi.annotations) == (b"five!", ["overrun"])
    assert recorded(curi).endswith(b"\r\n\r\nfive!")


def test_lines_without_a_colon_and_folded_ones() -> None:
    """PC-143"""
    said = b"HTTP/1.1 200 OK\nFoo bar\nX: a\n  b\nContent-Length: 2\n\nok"
    response, curi = ask(said)
    assert (response.headers["X"], response.body, recorded(curi)) == (b"a b", b"ok", said)


def test_chunk_sizes_are_archived_and_nobody_else_sees_them() -> None:
    """PC-144"""
    said = answer("Content-Type: text/html", "Transfer-Encoding: chunked", body=b"e\r\n<a href=/next>\r\n0\r\n\r\n")
    response, curi = ask(said)
    assert response.body == b"<a href=/next>"
    assert recorded(curi) == said
    assert curi.recorder is not None
    assert curi.recorder.entity(100) == b"<a href=/next>"


BOMB = b"\0" * (40 << 20)
PACKED = {
    "gzip": lambda: gzip.compress(BOMB),
    "deflate": lambda: zlib.compress(BOMB),
    "br": lambda: brotli.compress(BOMB, quality=3),
    "zstd": lambda: zstandard.compress(BOMB),
}


@pytest.mark.parametrize("coding", PACKED)
def test_a_bomb_is_bounded_whatever_its_coding(coding: str) -> None:
    """PC-148"""
    body = PACKED[coding]()
    said = answer(f"Content-Encoding: {coding}", f"Content-Length: {len(body)}", body=body)
    response, curi = ask(said, internal=True)
    assert curi.recorder is not None
    assert curi.recorder.is_bomb or len(body) * 250 >= len(response.body)
    assert len(response.body) <= 8 << 20
    assert recorded(curi) == said


def test_a_redirect_that_says_gzip_and_is_not() -> None:
    """PC-149"""
    said = answer("Location: /b", "Content-Encoding: gzip", status="HTTP/1.1 302 Found", body=b"moved")
    response, curi = ask(said, internal=True)
    assert (response.status, curi.status, response.headers["Location"]) == (302, 302, b"/b")
    assert curi.recorder is not None
    assert curi.recorder.entity(100) == b"moved"


def test_links_of_a_gzip_body_that_was_cut() -> None:
    """PC-150"""
    whole = gzip.compress(b"<a href=/first>1</a>" + b"".join(b"<p>%d</p>" % number for number in range(5000)))
    response, curi = ask(
        answer("Content-Type: text/html", "Content-Encoding: gzip", body=whole[: len(whole) // 2]), internal=True
    )
    assert response.body.startswith(b"<a href=/first>1</a>")
    assert curi.recorder is not None
    links = extracted(curi.recorder.entity(1 << 20), url="http://h.example/").outlinks
    assert "http://h.example/first" in [link.uri for link in links]


@pytest.mark.parametrize("size", [0, 2_000_000])
def test_a_401_without_a_challenge(size: int) -> None:
    """PC-151"""
    response, curi = ask(answer(f"Content-Length: {size}", status="HTTP/1.1 401 No", body=b"x" * size))
    assert (response.status, curi.status, curi.content_length) == (401, 401, size)
    (error,) = curi.errors
    assert "Missing auth challenge headers" in str(error[1])


def test_the_default_port_is_not_in_host() -> None:
    """PC-152"""
    lines = dict(compose(CrawlURI("http://example.com/"), default_view(), url="http://example.com:80/"))
    assert lines[b"Host"] == b"example.com"


def test_no_referer_from_https_to_http() -> None:
    """PC-153"""
    for profile in ("modern", "heritrix"):
        for via, told in (("https://secret.example/", False), ("http://open.example/", True)):
            curi = CrawlURI("http://example.com/", via=via, path="L")
            lines = dict(compose(curi, default_view(profile), url=curi.uri))
            assert (b"Referer" in lines) is told


def refuse(frontier: Frontier, hosts: Hosts, now_ms: int, *headers: tuple[bytes, bytes], most: int = 86400) -> CrawlURI:
    """The next URI is answered with 429, and what the answer says is heeded as a fetch does."""
    curi = frontier.next(now_ms)
    assert curi is not None
    curi.status, curi.headers = 429, list(headers)
    heed_retry_after(curi, hosts, most, now_ms)
    end(frontier, curi, 429, now_ms)
    return curi


@pytest.mark.parametrize(("asked", "most", "seconds"), [(120, 86400, 120), (120, 60, 60), (10**9, 600, 600)])
def test_retry_after_rests_the_whole_queue_and_costs_no_try(asked: int, most: int, seconds: int) -> None:
    """PC-154: whether the answer is kept is HERITRIX_WARC_WRITER_SHOULD_PROCESS_RULE's to say, as for any other."""
    hosts = Hosts(lambda key: None)
    frontier, clock, log = make(MemoryStore(), hosts=hosts, max_retries=5, retry_after_max_seconds=most)
    frontier.add([seed("http://h.example/a"), seed("http://h.example/b")])
    for tries in range(3):
        refuse(frontier, hosts, clock.now, (b"Retry-After", b"%d" % asked), most=most)
        assert hosts.server("h.example").retry_at_ms == clock.now + seconds * 1000
        assert frontier.next(clock.now + seconds * 1000 - 1) is None  # /b too
        clock.now += seconds * 1000
        assert len(log.ends) == tries + 1  # each answer has its line
    curi = frontier.next(clock.now)
    assert curi is not None
    assert (curi.uri, curi.attempts) == ("http://h.example/a", 0)
    end(frontier, curi, 200, clock.now)
    assert [code for uri, code, _ in log.ends if uri.endswith("/a")] == [429, 429, 429, 200]


def test_a_429_that_names_no_time_pauses_longer_each_time() -> None:
    """PC-155: for as long, the queue rests; what it was is forgotten once the server has answered in peace."""
    hosts = Hosts(lambda key: None)
    frontier, clock, log = make(MemoryStore(), hosts=hosts, max_retries=30, retry_after_max_seconds=600)
    frontier.add([seed("http://h.example/a")])
    pauses = []
    for _ in range(5):
        refuse(frontier, hosts, clock.now, most=600)
        wake = frontier.next_wake()
        assert wake is not None
        pauses.append((wake - clock.now) // 1000)
        assert frontier.next(wake - 1) is None
        clock.now = wake
    assert pauses == [60, 120, 240, 480, 600]
    clock.now += 3_600_000
    refuse(frontier, hosts, clock.now, most=600)
    assert frontier.next_wake() == clock.now + 60_000
    # not heeded: an answer like any other, and the end of its URI
    clock.now += 60_000
    refuse(frontier, hosts, clock.now, most=0)
    assert not frontier.alive()
    assert [code for _, code, _ in log.ends] == [429] * 7


def test_an_answer_that_drips_for_ever_ends() -> None:
    """PC-158"""

    async def drip(talk: Talk) -> None:
        await talk.say(answer("Content-Type: text/html"))
        while True:
            await talk.say(b"x")
            await asyncio.sleep(0.05)

    response, curi = ask(drip, internal=True, timeout_seconds=0.5)
    assert isinstance(response, Response)
    assert (curi.status, curi.annotations) == (200, ["timeTrunc"])


TARGETS = ("sbn", "bn", "cut", "x", "chain", "last")
BUSY = {"status": 503, "headers": [["Retry-After", "1"]], "body": "later"}


@pytest.mark.crawl
def test_redirects_that_come_again(serve: Serve, run_crawl: RunCrawl) -> None:
    """PC-093, PC-095, PC-096"""
    page = {"body": "<html><title>page</title></html>"}
    web = serve(
        {
            "r.test": {
                "routes": {
                    "/robots.txt": {"status": 404},
                    "/favicon.ico": {"status": 404},
                    "/": {
                        "body": "".join(f"<a href=/{name}>1</a>" for name in ("sbn", "bn", "cut", "x", "chain", "last"))
                    },
                    "/sbn": page,
                    "/bn": {"redirect": "/sbn", "cases": [{"if": {"nth": 1}, "then": BUSY}]},
                    "/cut": {"redirect": "/sbn", "cases": [{"if": {"nth": 1}, "then": {"close_now": True}}]},
                    "/x": {"redirect": "/x"},
                    "/chain": {"redirect": "/sbn"},
                    "/last": page,
                }
            }
        }
    )
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url("r.test")]}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    asked = web.asked("r.test")
    assert asked.count("GET /sbn") == 1  # the target of a redirect is a URI like any other
    assert asked.count("GET /x") == 1  # its target is known: the loop is none
    assert crawl.statuses[web.url("r.test", "/bn")] == [503, 302]
    for path, status in (("/sbn", 200), ("/cut", 302), ("/x", 302), ("/chain", 302), ("/last", 200)):
        assert crawl.statuses[web.url("r.test", path)] == [status]


ASKS = """
from scrapy import Request, Spider

class Asks(Spider):
    name = "asks"
    async def start(self):
        yield Request(self.settings["BASE"] + "/sbn", self.parse)
    def parse(self, response):
        yield {"path": response.url.partition("test")[2].partition("/")[2]}
        if response.url.endswith("/sbn"):
            yield Request(self.settings["BASE"] + "/bn", self.parse)
"""


@pytest.mark.crawl
def test_a_spiders_retry_and_redirect_fetch_the_target_once(serve: Serve, run_crawl: RunCrawl) -> None:
    """PC-093: by Scrapy's own middlewares."""
    busy = {"redirect": "/sbn", "cases": [{"if": {"nth": 1}, "then": {"status": 503, "body": "later"}}]}
    web = serve({"r.test": {"routes": {"/robots.txt": {"status": 404}, "/sbn": {"body": "there"}, "/bn": busy}}})
    crawl = run_crawl({"BASE": web.url("r.test", "")}, ASKS, name="asks", web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert [line for line in web.asked("r.test") if "bn" in line] == ["GET /sbn", "GET /bn", "GET /bn"]
    assert crawl.statuses[web.url("r.test", "/sbn")] == [200]
    assert crawl.statuses[web.url("r.test", "/bn")] == [302]
    assert crawl.stats["retry/count"] == 1
