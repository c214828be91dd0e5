"""The HTTP handler against real sockets: bytes both ways, endings, limits, what a spider gets."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import ipaddress
import socket
import ssl
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import HtmlResponse, Response, TextResponse

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.hosts import server_key
from tests.fetch.loopback import TLS, Server, Talk, fetch, handler_of, make_crawler, run
from tests.fetch.test_wire import ODD, chunked

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import CrawlURI

HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"


def ask(
    script: Any,
    *,
    profile: str = "modern",
    settings: dict[str, Any] | None = None,
    keep: bool = False,
    path: str = "/",
    prepare: Callable[[Any], None] | None = None,
    request: dict[str, Any] | None = None,
    **values: Any,
) -> tuple[Any, CrawlURI, Server]:
    """One fetch of one server."""

    async def work() -> tuple[Any, CrawlURI, Server]:
        crawler = make_crawler(profile, settings, **values)
        if prepare is not None:
            prepare(crawler)
        async with Server(script, keep=keep) as server, handler_of(crawler) as handler:
            outcome, curi = await fetch(handler, server.url(path), **(request or {}))
            return outcome, curi, server

    return run(work())


def recorded(curi: CrawlURI) -> bytes:
    assert curi.recorder is not None
    return curi.recorder.response.read()


def test_plain_answer() -> None:
    response, curi, server = ask(HELLO, path="/a?b=c#d")
    assert isinstance(response, HtmlResponse)
    assert (response.status, response.body, response.protocol) == (200, b"hello", "HTTP/1.1")
    assert response.url == server.url("/a?b=c")
    assert response.ip_address == ipaddress.ip_address("127.0.0.1")
    assert recorded(curi) == HELLO
    assert curi.recorder is not None
    assert curi.recorder.request.read() == server.requests[0]
    assert server.requests[0].startswith(b"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:")
    assert curi.recorder.body_at == len(HELLO) - 5
    assert (curi.status, curi.content_type, curi.content_size, curi.content_length) == (200, "text/html", len(HELLO), 5)
    assert curi.digest == "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"
    assert (curi.server_ip, curi.reason, curi.http_version, curi.method) == ("127.0.0.1", "OK", "HTTP/1.1", "GET")
    assert curi.began_ms is not None
    assert curi.ended_ms is not None
    assert curi.ended_ms >= curi.began_ms
    assert curi.annotations == []
    assert response.request is None


@pytest.mark.parametrize("name", [name for name, case in ODD.items() if case[1] is not None])
def test_every_odd_answer_is_recorded_from_its_final_status_line_on(name: str) -> None:
    stream, code, entity, flaw = ODD[name]

    async def say(talk: Talk) -> None:
        await talk.say(stream[:7], stream[7:])

    outcome, curi, _ = ask(say, request={"meta": {"download_fail_on_dataloss": False}})
    assert isinstance(outcome, Response), outcome
    assert (outcome.status, curi.status, outcome.body) == (code, code, entity)
    start = 0 if curi.http_version == "HTTP/0.9" else stream.rindex(b"ICY" if b"ICY" in stream else b"HTTP/1.1")
    stop = len(stream) if "overrun" not in curi.annotations else stream.index(b"\r\n\r\n") + 4 + len(entity)
    assert recorded(curi) == stream[start:stop]
    assert curi.recorder is not None
    cut = flaw is not None and flaw.name in ("BODY_CUT", "HEAD_CUT")
    assert curi.recorder.truncated == (["disconnect"] if cut else [])
    assert ("dataloss" in outcome.flags) is (flaw is not None)


def test_headers_as_stock_gives_them() -> None:
    response, curi, _ = ask(ODD["case, duplicates, folding, latin-1"][0])
    assert response.headers.getlist("Set-Cookie") == [b"a=1", b"b=2"]
    assert response.headers["X-L"] == b"caf\xe9"
    assert response.headers["X-Fold"] == b"a b"
    assert [name for name, _ in curi.headers][:2] == [b"server", b"SET-Cookie"]


def test_interim_answers_are_annotations() -> None:
    _, curi, _ = ask(ODD["interim"][0])
    assert curi.annotations == ["interim:100", "interim:103"]
    assert curi.recorder is not None
    assert curi.recorder.interim == [100, 103]


def test_coded_body_is_left_to_scrapy() -> None:
    coded = gzip.compress(b"hi", mtime=0)
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(coded), coded)
    response, curi, _ = ask(answer)
    assert response.body == coded
    assert curi.recorder is not None
    assert curi.recorder.content_encoding == "gzip"
    assert curi.recorder.entity(100) == b"hi"


def test_post_sends_the_body_once() -> None:
    response, curi, server = ask(HELLO, request={"method": "POST", "body": b"a=1", "headers": {"X-Mine": "x"}})
    assert response.status == 200
    (sent,) = server.requests
    assert sent.startswith(b"POST / HTTP/1.1\r\n")
    assert sent.endswith(b"\r\n\r\na=1")
    assert b"\r\nContent-Length: 3\r\n" in sent
    assert b"\r\nX-Mine: x\r\n" in sent
    assert curi.method == "POST"


def test_head_has_no_body() -> None:
    response, curi, _ = ask(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", keep=True, request={"method": "HEAD"})
    assert response.body == b""
    assert curi.content_length == 0


# -- endings -------------------------------------------------------------------------------------------------


async def stall_in_body(talk: Talk) -> None:
    await talk.say(HELLO[:-2])
    await talk.hang()


async def stall_in_head(talk: Talk) -> None:
    await talk.say(HELLO[:20])
    await talk.hang()


async def reset_in_body(talk: Talk) -> None:
    await talk.say(HELLO[:-2])
    await asyncio.sleep(0.05)
    talk.reset()


async def reset_at_once(talk: Talk) -> None:
    talk.reset()


def test_refused() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"

        async def work() -> Any:
            async with handler_of(make_crawler()) as handler:
                return await fetch(handler, url)

        error, curi = run(work())
    assert isinstance(error, DownloadConnectionRefusedError)
    assert (curi.status, curi.content_size, curi.recorder) == (-2, 0, None)
    assert curi.errors
    assert curi.ended_ms is not None


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (b"", DownloadFailedError),
        (reset_at_once, DownloadFailedError),
        (stall_in_head, DownloadTimeoutError),
        *((ODD[name][0], DownloadFailedError) for name in ("status in words", "version in letters", "interim only")),
    ],
)
def test_no_answer(script: Any, kind: type[Exception]) -> None:
    error, curi, server = ask(script, so_timeout_ms=100)
    assert type(error) is kind
    assert (curi.status, curi.content_type, curi.content_size, curi.digest) == (-2, "unknown", 0, None)
    assert server.connections == 1
    assert curi.ended_ms is not None


@pytest.mark.parametrize(
    ("script", "connections"),
    [
        (b"", 4),
        (reset_at_once, 4),
        (stall_in_head, 1),
        (ODD["switching protocols"][0], 4),
        *((ODD[name][0], 1) for name in ("status in words", "ICY", "HTTP/0.9", "line without a colon")),
    ],
)
def test_no_answer_as_heritrix_takes_it(script: Any, connections: int) -> None:
    error, curi, server = ask(script, profile="heritrix", so_timeout_ms=100)
    assert isinstance(error, Exception)
    assert (curi.status, curi.content_size, curi.content_length, curi.ended_ms) == (-2, 1, 1, None)
    assert server.connections == connections


def test_heritrix_repeats_until_there_is_an_answer() -> None:
    response, curi, server = ask([reset_at_once, b"", HELLO], profile="heritrix")
    assert response.status == 200
    assert server.connections == 3
    assert recorded(curi) == HELLO


@pytest.mark.parametrize("script", [HELLO[:-2], reset_in_body])
def test_cut_body_is_kept(script: Any) -> None:
    error, curi, _ = ask(script)
    assert isinstance(error, ResponseDataLossError)
    assert (curi.status, curi.content_length) == (200, 3)
    assert recorded(curi) == HELLO[:-2]
    assert curi.recorder is not None
    assert curi.recorder.truncated == ["disconnect"]
    response, _, _ = ask(script, request={"internal": True})
    assert response.body == b"hel"


def test_cut_body_as_heritrix_takes_it() -> None:
    response, curi, _ = ask(HELLO[:-2], profile="heritrix", request={"internal": True})
    assert (response.status, curi.status, curi.annotations) == (200, 200, [])
    assert curi.recorder is not None
    assert curi.recorder.truncated == []
    error, curi, server = ask(reset_in_body, profile="heritrix")
    assert isinstance(error, ResponseDataLossError)
    assert (curi.status, curi.content_type, curi.content_size, server.connections) == (-3, "text/html", 1, 1)
    assert curi.ended_ms is not None


def test_cut_body_that_is_not_wanted() -> None:
    error, curi, _ = ask(reset_in_body, warc_write_cut_bodies=False)
    assert isinstance(error, ResponseDataLossError)
    assert (curi.status, curi.content_size) == (-3, 0)


def test_idle_body_ends_with_what_came() -> None:
    response, curi, _ = ask(stall_in_body, so_timeout_ms=100, request={"internal": True})
    assert (response.body, curi.status, curi.annotations) == (b"hel", 200, ["timeTrunc"])
    assert curi.recorder is not None
    assert curi.recorder.truncated == ["time"]
    error, curi, _ = ask(stall_in_body, so_timeout_ms=100)
    assert isinstance(error, ResponseDataLossError)
    assert curi.status == 200


def test_heritrix_waits_for_an_idle_body_until_the_total() -> None:
    response, curi, _ = ask(
        stall_in_body, profile="heritrix", so_timeout_ms=100, timeout_seconds=0.5, request={"internal": True}
    )
    assert response.status == 200
    assert curi.annotations == ["timeTrunc"]
    assert curi.ended_ms is not None
    assert curi.began_ms is not None
    assert curi.ended_ms - curi.began_ms >= 450


def test_timeout_of_a_spider() -> None:
    error, curi, _ = ask(stall_in_body, request={"meta": {"download_timeout": 0.2}})
    assert isinstance(error, DownloadTimeoutError)
    assert (curi.status, curi.annotations) == (200, ["timeTrunc"])
    error, curi, _ = ask(stall_in_head, request={"meta": {"download_timeout": 0.2}})
    assert isinstance(error, DownloadTimeoutError)
    assert curi.status == -2


BIG = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"b" * 20000


def test_size_limit_counts_the_head_and_keeps_one_byte_more() -> None:
    for profile in ("modern", "heritrix"):
        response, curi, _ = ask(BIG, profile=profile, max_length_bytes=10000, request={"internal": True})
        assert response.status == 200
        assert (curi.content_size, curi.annotations) == (10001, ["lenTrunc"])
        assert curi.recorder is not None
        assert curi.recorder.truncated == ["length"]
        assert len(response.body) == curi.content_length
    _, curi, _ = ask(BIG, max_length_bytes=len(BIG), request={"internal": True})
    assert curi.annotations == []


def test_maxsize_of_a_spider_is_a_cancelled_download() -> None:
    error, curi, _ = ask(BIG, request={"meta": {"download_maxsize": 1000}})
    assert isinstance(error, DownloadCancelledError)
    assert (curi.status, curi.annotations) == (200, ["lenTrunc"])
    assert curi.content_length >= 1001
    response, curi, _ = ask(BIG, request={"meta": {"download_maxsize": 20000}})
    assert len(response.body) == 20000
    response, curi, _ = ask(BIG, request={"internal": True, "meta": {"download_maxsize": 10}})
    assert len(response.body) == 20000


def test_slow_enough() -> None:
    body = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"s" * 60000

    async def drip(talk: Talk) -> None:
        for start in range(0, len(body), 6000):
            await talk.say(body[start : start + 6000])

    response, curi, _ = ask(drip, max_fetch_kb_sec=200)
    assert len(response.body) == 60000
    assert curi.ended_ms is not None
    assert curi.began_ms is not None
    assert curi.ended_ms - curi.began_ms >= 150


@pytest.mark.parametrize("fail", [True, False])
@pytest.mark.parametrize("signal", [signals.headers_received, signals.bytes_received])
def test_stop_download(signal: object, fail: bool) -> None:
    seen: list[dict[str, Any]] = []

    def stop(**details: Any) -> None:
        seen.append(details)
        raise StopDownload(fail=fail)

    outcome, curi, _ = ask(stall_in_body, prepare=lambda crawler: crawler.signals.connect(stop, signal, weak=False))
    assert len(seen) == 1
    if fail:
        assert isinstance(outcome, StopDownload)
        outcome = outcome.response
    assert outcome.status == 200
    assert outcome.flags == ["download_stopped"]
    assert outcome.body == (b"" if signal is signals.headers_received else b"hel")
    assert (curi.status, curi.annotations) == (200, ["stopDownload"])
    assert curi.recorder is not None
    assert curi.recorder.truncated == ["unspecified"]
    if signal is signals.headers_received:
        assert seen[0]["body_length"] == 5
        assert seen[0]["headers"]["Content-Type"] == b"text/html"
    else:
        assert seen[0]["data"] == b"hel"


def test_cut_off_by_a_stop() -> None:
    for script in (stall_in_body, stall_in_head):

        async def work(script: Any = script) -> Any:
            crawler = make_crawler()
            async with Server(script) as server, handler_of(crawler) as handler:
                task = asyncio.ensure_future(fetch(handler, server.url()))
                while not server.requests:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.05)
                for abort in handler.crawl.abort_fetches:
                    abort()
                return await task

        error, curi = run(work())
        assert isinstance(error, DownloadCancelledError)
        assert (curi.status, curi.deferral, curi.recorder) == (0, "stopped", None)


# -- connections ---------------------------------------------------------------------------------------------


def test_connections_are_kept_and_bounded_by_time() -> None:
    async def work() -> None:
        async with Server(HELLO, keep=True) as server, handler_of(make_crawler(keep_alive_seconds=0.1)) as handler:
            for _ in range(3):
                response, _ = await fetch(handler, server.url())
                assert isinstance(response, Response)
            assert server.connections == 1
            assert len(handler.pool) == 1
            while len(handler.pool):
                await asyncio.sleep(0.02)
            await fetch(handler, server.url())
            assert server.connections == 2
            await fetch(handler, server.url(), method="POST", body=b"x")
            assert server.connections == 3

    run(work())


def test_heritrix_closes_each_connection() -> None:
    async def work() -> None:
        async with Server(HELLO, keep=True) as server, handler_of(make_crawler("heritrix")) as handler:
            for _ in range(2):
                await fetch(handler, server.url())
            assert server.connections == 2
            assert b"\r\nConnection: Close\r\n" in server.requests[0]

    run(work())


def test_a_connection_the_server_dropped_is_replaced_once() -> None:
    async def close_on_second(talk: Talk) -> None:
        if talk.server.connections == 1 and len(talk.server.requests) > 1:
            talk.writer.close()
        else:
            await talk.say(HELLO)

    async def work() -> None:
        async with Server(close_on_second, keep=True) as server, handler_of(make_crawler()) as handler:
            await fetch(handler, server.url())
            response, curi = await fetch(handler, server.url())
            assert isinstance(response, Response)
            assert recorded(curi) == HELLO
            assert (server.connections, len(server.requests)) == (2, 3)

    run(work())


def test_bytes_behind_the_answer_end_the_connection() -> None:
    async def work() -> None:
        async with Server(HELLO + b"more", keep=True) as server, handler_of(make_crawler()) as handler:
            response, curi = await fetch(handler, server.url())
            assert isinstance(response, Response)
            assert response.body == b"hello"
            assert recorded(curi) == HELLO
            assert curi.annotations == ["overrun"]
            assert len(handler.pool) == 0

    run(work())


def test_pinned_address_and_the_next_one() -> None:
    async def work() -> None:
        for profile, code in (("modern", 200), ("heritrix", -2)):
            crawler = make_crawler(profile)
            async with Server(HELLO) as server, handler_of(crawler) as handler:
                host = handler.crawl.hosts.host("pinned.example")
                host.addresses, host.looked_up_ms, host.ttl = ["127.0.0.9", "127.0.0.1"], 1, 60
                _, curi = await fetch(handler, server.url(host="pinned.example"))
                assert curi.status == code
                if code == 200:
                    assert curi.server_ip == "127.0.0.1"
                    assert b"\r\nHost: pinned.example:" in server.requests[0]

    run(work())


def test_a_host_without_address() -> None:
    async def work() -> None:
        crawler = make_crawler()
        async with handler_of(crawler) as handler:
            handler.crawl.hosts.host("gone.example").looked_up_ms = 1
            error, curi = await fetch(handler, "http://gone.example/")
            assert isinstance(error, CannotResolveHostError)
            assert curi.status == -6

    run(work())


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example"])
def test_a_name_that_cannot_be_sent(host: str) -> None:
    async def work() -> None:
        async with Server(HELLO) as server, handler_of(make_crawler()) as handler:
            known = handler.crawl.hosts.host(host)
            known.addresses, known.looked_up_ms = ["127.0.0.1"], 1
            error, curi = await fetch(handler, server.url(scheme="https", host=host))
            assert isinstance(error, DownloadFailedError)
            assert curi.status == -7

    run(work())


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = next(TLS.glob("*cert*"))
    key = next(TLS.glob("*key*"))
    context.load_cert_chain(certificate, key)
    return context


def test_tls_facts_and_name() -> None:
    names: list[str | None] = []
    context = server_context()
    context.sni_callback = lambda _socket, name, _context: names.append(name)

    async def work() -> Any:
        async with Server(HELLO, keep=True, tls=context) as server, handler_of(make_crawler()) as handler:
            host = handler.crawl.hosts.host("self-signed.example")
            host.addresses, host.looked_up_ms = ["127.0.0.1"], 1
            first = await fetch(handler, server.url(scheme="https", host="self-signed.example"))
            second = await fetch(handler, server.url(scheme="https", host="self-signed.example"))
            assert server.connections == 1
            return first, second

    for response, curi in run(work()):
        assert isinstance(response, HtmlResponse)
        assert recorded(curi) == HELLO
        assert curi.tls is not None
        assert curi.tls.version.startswith("TLSv1.")
        assert curi.tls.cipher
        der = response.certificate.dump(2)
        assert hashlib.sha256(der).hexdigest() == curi.tls.certificate
    assert names == ["self-signed.example"]


def test_tls_is_verified_when_asked() -> None:
    async def work() -> None:
        crawler = make_crawler(ssl_trust_level="NORMAL")
        async with Server(HELLO, tls=server_context()) as server, handler_of(crawler) as handler:
            error, curi = await fetch(handler, server.url(scheme="https"))
            assert isinstance(error, DownloadFailedError)
            assert "certificate" in str(error)
            assert curi.status == -2

    run(work())


def test_bind_address() -> None:
    peers: list[str] = []

    async def note(talk: Talk) -> None:
        peers.append(talk.writer.get_extra_info("peername")[0])
        await talk.say(HELLO)

    ask(note, request={"meta": {"bindaddress": "127.0.0.7"}})
    ask(note, settings={"DOWNLOAD_BIND_ADDRESS": ("127.0.0.8", 0)})
    assert peers == ["127.0.0.7", "127.0.0.8"]


# -- what is told of it --------------------------------------------------------------------------------------


def test_retry_after_is_kept_on_the_server() -> None:
    answer = b"HTTP/1.1 503 Wait\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"
    for profile, waits in (("modern", True), ("heritrix", False)):

        async def work(profile: str = profile) -> Any:
            crawler = make_crawler(profile)
            async with Server(answer) as server, handler_of(crawler) as handler:
                _, curi = await fetch(handler, server.url())
                return curi, handler.crawl.hosts.server(server_key(curi.uri)).retry_at_ms

        curi, until = run(work())
        assert curi.status == 503
        assert (curi.began_ms + 119_000 < until < curi.began_ms + 130_000) if waits else until == 0


@pytest.mark.parametrize(
    ("kind", "charset", "note"),
    [
        ("text/plain;charset=cp1251", "windows-1251", None),
        ("text/html; Charset='utf8'", "UTF-8", None),
        ("text/html; charset=latin1", "ISO-8859-1", None),
        ("text/html; charset=bogus", "ISO-8859-1", "unsatisfiableCharsetInHeader:bogus"),
        ("text/html", "ISO-8859-1", None),
    ],
)
def test_charset_of_the_header(kind: str, charset: str, note: str | None) -> None:
    _, curi, _ = ask(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 0\r\n\r\n" % kind.encode())
    assert curi.charset == charset
    assert curi.annotations == ([note] if note else [])


@pytest.mark.parametrize(
    ("coding", "modern", "heritrix"),
    [
        ("gzip", False, False),
        ("br", False, True),
        ("gzip, br", False, True),
        ("zork", True, True),
        ("None", False, False),
    ],
)
def test_codings_that_cannot_be_taken_off(coding: str, modern: bool, heritrix: bool) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 0\r\n\r\n" % coding.encode()
    for profile, noted in (("modern", modern), ("heritrix", heritrix)):
        _, curi, _ = ask(answer, profile=profile)
        assert curi.annotations == ([f"unsatisfiableContentEncoding:{coding}"] if noted else [])


def test_bad_length_under_heritrix() -> None:
    error, curi, _ = ask(ODD["length no number"][0], profile="heritrix")
    assert isinstance(error, DownloadFailedError)
    assert (curi.status, curi.ended_ms) == (-3, None)


def test_heritrix_counts_what_comes_first_as_part_of_the_record() -> None:
    stream = ODD["interim"][0]
    _, curi, _ = ask(stream, profile="heritrix")
    assert recorded(curi) == stream
    assert curi.recorder is not None
    assert curi.recorder.body_at == stream.index(b"\r\n\r\n") + 4
    assert curi.annotations == []


def test_a_request_nobody_knows_gets_a_crawl_uri() -> None:
    from scrapy import Request

    from heritrix_scrapy.requests import lookup

    async def work() -> None:
        async with Server(HELLO) as server, handler_of(make_crawler()) as handler:
            request = Request(server.url())
            assert isinstance(await handler.download_request(request), TextResponse)
            curi = lookup(request)
            assert curi is not None
            assert recorded(curi) == HELLO
            assert request.meta["download_latency"] > 0

    run(work())


def test_a_spool_that_cannot_be_written(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file" / "below"))
    body = b"b" * 600_000
    error, curi, _ = ask(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert isinstance(error, StorageFull)
    assert (curi.status, curi.deferral, curi.recorder) == (0, "storage", None)


def test_a_large_body_is_whole_on_disk() -> None:
    body = bytes(range(256)) * 8000
    pieces = [body[start : start + 100_001] for start in range(0, len(body), 100_001)]
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(*pieces)
    response, curi, _ = ask(answer)
    assert response.body == body
    assert recorded(curi) == answer
    assert curi.recorder is not None
    assert not curi.recorder.response.in_memory


def test_connections_used_again_are_counted() -> None:
    async def work() -> Any:
        crawler = make_crawler(send_connection_close=False)
        async with Server(HELLO, keep=True) as server, handler_of(crawler) as handler:
            for _ in range(3):
                await fetch(handler, server.url())
            return crawler.stats.get_value("heritrix/fetch/connections_reused"), server.connections

    assert run(work()) == (2, 1)


def test_a_host_of_another_name_is_not_sent_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> list[bytes]:
        async with Server(HELLO, keep=True) as server, handler_of(make_crawler()) as handler:
            for host in (f"127.0.0.1:{server.port}", "other.example", "other.example"):
                await fetch(handler, server.url(), headers={"Host": host})
            return [line for head in server.requests for line in head.split(b"\r\n") if line.startswith(b"Host")]

    assert {line.partition(b":")[2].strip().partition(b":")[0] for line in run(work())} == {b"127.0.0.1"}
    assert len([record for record in caplog.records if "Host header" in record.getMessage()]) == 1
