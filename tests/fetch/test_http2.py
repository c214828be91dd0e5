"""HTTP/2 against a real server: how an exchange is written down, and how it can end."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import Response

from tests.fetch.loopback import Server, fetch, handler_of, make_crawler, run
from tests.web.http2 import Http2Server

if TYPE_CHECKING:
    import h2.connection

    from heritrix_scrapy.model.crawluri import CrawlURI
    from tests.web.http2 import Script

HTML = [(b":status", b"200"), (b"content-type", b"text/html"), (b"x-a", b"1"), (b"x-a", b"2")]


def hello(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
    protocol.send_headers(stream, HTML)
    protocol.send_data(stream, b"hel")
    protocol.send_data(stream, b"lo", end_stream=True)


def ask(
    script: Script, *, times: int = 1, profile: str = "modern", request: dict[str, Any] | None = None, **values: Any
) -> tuple[Any, CrawlURI, Http2Server]:
    async def work() -> Any:
        values.setdefault("send_connection_close", False)
        async with Http2Server(script) as server, handler_of(make_crawler(profile, http2=True, **values)) as handler:
            for _ in range(times):
                outcome, curi = await fetch(handler, server.url("/a?b"), **(request or {}))
            return outcome, curi, server

    found: tuple[Any, CrawlURI, Http2Server] = run(work())
    return found


def recorded(curi: CrawlURI) -> tuple[bytes, bytes]:
    assert curi.recorder is not None
    return curi.recorder.request.read(), curi.recorder.response.read()


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_an_exchange_is_written_down_as_http11(profile: str) -> None:
    response, curi, server = ask(hello, profile=profile)
    assert (response.status, response.body, response.protocol) == (200, b"hello", "h2")
    request, answer = recorded(curi)
    assert answer == b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx-a: 1\r\nx-a: 2\r\n\r\nhello"
    assert request.startswith(b"GET /a?b HTTP/1.1\r\n")
    assert b"connection" not in request.lower()
    assert curi.recorder is not None
    assert answer[curi.recorder.body_at :] == b"hello"
    assert (curi.status, curi.content_length, curi.annotations) == (200, 5, ["h2"])
    assert curi.tls is not None
    head, _ = server.requests[0]
    assert head[b":path"] == b"/a?b"
    assert head[b":authority"] == b"127.0.0.1:%d" % server.port
    assert b"host" not in head
    for line in request.split(b"\r\n")[1:-2]:
        name, _, value = line.partition(b": ")
        assert name == b"Host" or head[name.lower()] == value


def test_a_connection_serves_the_next_request() -> None:
    _, curi, server = ask(hello, times=3)
    assert (curi.status, server.connections, len(server.requests)) == (200, 1, 3)


def test_a_large_body_is_sent_and_received_within_the_windows() -> None:
    sent = b"x" * 300_000

    def echo(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
        protocol.send_headers(stream, HTML)
        size = len(server.requests[-1][1])
        for at in range(0, size, 16_000):
            protocol.send_data(stream, server.requests[-1][1][at : at + 16_000], end_stream=at + 16_000 >= size)

    response, curi, server = ask(echo, request={"method": "POST", "body": sent})
    assert server.requests[0][1] == sent
    assert response.body == sent
    assert recorded(curi)[0].endswith(b"\r\n\r\n" + sent)


def test_interim_answers_trailers_codings() -> None:
    packed = gzip.compress(b"<p>hello")

    def say(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
        protocol.send_headers(stream, [(b":status", b"103"), (b"link", b"</a>")])
        protocol.send_headers(stream, [*HTML, (b"content-encoding", b"gzip"), (b"transfer-encoding", b"chunked")])
        protocol.send_data(stream, packed)
        protocol.send_headers(stream, [(b"x-sum", b"1")], end_stream=True)

    _, curi, _ = ask(say)
    _, answer = recorded(curi)
    assert answer.endswith(b"\r\ncontent-encoding: gzip\r\n\r\n" + packed)
    assert curi.annotations == ["h2", "interim:103"]
    assert curi.recorder is not None
    assert curi.recorder.entity(100) == b"<p>hello"


def test_head_and_empty_answers_end_at_once() -> None:
    def say(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
        protocol.send_headers(stream, [(b":status", b"299"), (b"content-length", b"500")], end_stream=True)

    response, curi, server = ask(say, times=2, request={"method": "HEAD"})
    assert (response.status, response.body, server.connections) == (299, b"", 1)
    assert recorded(curi)[1] == b"HTTP/1.1 299 \r\ncontent-length: 500\r\n\r\n"


def reset_before(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
    protocol.reset_stream(stream, 2)


def go_away(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
    protocol.close_connection(last_stream_id=0)


def hang_up(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
    server.hang_up = True


@pytest.mark.parametrize("script", [reset_before, go_away, hang_up])
def test_no_answer(script: Script) -> None:
    error, curi, _ = ask(script)
    assert not isinstance(error, Response)
    assert (curi.status, curi.annotations) == (-2, [])


def reset_within(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
    protocol.send_headers(stream, HTML)
    protocol.send_data(stream, b"hel")
    protocol.reset_stream(stream, 2)


def short(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
    protocol.send_headers(stream, [*HTML, (b"content-length", b"9")])
    protocol.send_data(stream, b"hel", end_stream=True)


@pytest.mark.parametrize("script", [reset_within, short])
def test_a_body_that_is_cut_is_kept(script: Script) -> None:
    response, curi, _ = ask(script, request={"meta": {"download_fail_on_dataloss": False}})
    assert (response.status, response.body, response.flags) == (200, b"hel", ["dataloss"])
    assert recorded(curi)[1].endswith(b"\r\n\r\nhel")
    assert curi.recorder is not None
    assert curi.recorder.truncated == ["disconnect"]


@pytest.mark.parametrize("code", [b"0", b"1", b"99", b"1x", b"2001", b"9" * 5000, b"", None])
def test_no_status(code: bytes | None) -> None:
    """One that is none must not pass for a status of the crawl's own: 1 is a name that was looked up."""

    def say(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
        protocol.send_headers(stream, [*([] if code is None else [(b":status", code)]), (b"x", b"y")], end_stream=True)

    error, curi, _ = ask(say)
    assert not isinstance(error, Response)
    assert curi.status == -2


def test_framing_of_http11_is_not_written_down() -> None:
    def say(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
        protocol.send_headers(stream, [*HTML, (b"Transfer-Encoding", b"chunked"), (b"x-b", b"1\r\nEvil: 1")])
        protocol.send_data(stream, b"5\r\nhello\r\n", end_stream=True)

    _, curi, _ = ask(say)
    _, answer = recorded(curi)
    assert b"chunked" not in answer
    assert b"\r\nEvil" not in answer
    assert answer.endswith(b"\r\n\r\n5\r\nhello\r\n")


def test_limits_hold() -> None:
    def much(server: Http2Server, protocol: h2.connection.H2Connection, stream: int) -> None:
        protocol.send_headers(stream, HTML)
        protocol.send_data(stream, b"x" * 10_000)

    _, curi, _ = ask(much, request={"meta": {"heritrix": "internal"}}, max_length_bytes=5000)
    assert curi.annotations == ["h2", "lenTrunc"]
    assert curi.content_size == 5001
    _, curi, _ = ask(much, request={"meta": {"heritrix": "internal"}}, so_timeout_ms=150)
    assert curi.annotations == ["h2", "timeTrunc"]
    assert curi.content_length == 10_000


def test_http11_is_spoken_where_the_server_wants_it() -> None:
    response, curi, server = ask(lambda server, protocol, stream: protocol.reset_stream(stream, 0xD))
    assert (response.status, response.body, curi.annotations) == (200, b"plain", [])
    assert len(server.plain) == 1
    assert recorded(curi)[0] == server.plain[0]


def test_plain_http_is_never_http2() -> None:
    async def work() -> Any:
        empty = Server(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        async with empty as server, handler_of(make_crawler(http2=True)) as handler:
            return await fetch(handler, server.url())

    response, curi = run(work())
    assert (response.status, response.protocol, curi.annotations) == (200, "HTTP/1.1", [])
