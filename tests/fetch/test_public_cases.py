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
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import default_view
from tests.extract.pages import extracted
from tests.fetch.loopback import Server, Talk, fetch, handler_of, make_crawler, run

if TYPE_CHECKING:
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


def test_retry_after_is_capped_and_holds_for_the_server() -> None:
    """PC-154"""
    hosts, curi = Hosts(lambda key: None), CrawlURI("http://h.example/a")
    curi.status, curi.headers = 429, [(b"Retry-After", b"120")]
    heed_retry_after(curi, hosts, 86400, 1000)
    assert hosts.server("h.example").retry_at_ms == 121_000
    heed_retry_after(curi, hosts, 60, 1000)
    assert hosts.server("h.example").retry_at_ms == 61_000


def test_a_429_that_names_no_time_pauses_longer_each_time() -> None:
    """PC-155"""
    hosts, curi = Hosts(lambda key: None), CrawlURI("http://h.example/a")
    curi.status, now, pauses = 429, 10_000_000, []
    for _ in range(5):
        heed_retry_after(curi, hosts, 600, now)
        at = hosts.server("h.example").retry_at_ms
        pauses.append((at - now) // 1000)
        now = at + 1000
    assert pauses == [60, 120, 240, 480, 600]
    heed_retry_after(curi, hosts, 600, now + 3_600_000)
    assert hosts.server("h.example").retry_at_ms == now + 3_660_000
    heed_retry_after(curi, hosts, 0, now + 9_000_000)
    assert hosts.server("h.example").retry_at_ms == now + 3_660_000


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
                    "/": {"body": "".join(f"<a href=/{name}>1</a>" for name in ("sbn", "bn", "x", "chain", "last"))},
                    "/sbn": page,
                    "/bn": {"redirect": "/sbn", "cases": [{"if": {"nth": 1}, "then": {"close_now": True}}]},
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
    for path, status in (("/sbn", 200), ("/bn", 302), ("/x", 302), ("/chain", 302), ("/last", 200)):
        assert crawl.statuses[web.url("r.test", path)] == [status]
