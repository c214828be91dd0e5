"""Fetches through HTTP and SOCKS5 proxies that really stand between, and what is said to them."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.fetch.proxies import HTTP, SOCKS5, Proxy, ProxyRefused, http_tunnel, of_request, parse, socks5
from heritrix_scrapy.settings import default_view
from tests.fetch.loopback import TLS, Server, fetch, handler_of, make_crawler, run
from tests.web.proxy import Proxy as ProxyServer

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"
NAMES = {"nowhere.example": "127.0.0.1"}


def through(
    kind: str,
    *,
    scheme: str = "http",
    host: str = "nowhere.example",
    user: str = "",
    wants: str | None = None,
    profile: str = "modern",
    meta: bool = False,
    again: bool = False,
    **values: Any,
) -> tuple[Any, CrawlURI, Server, ProxyServer]:
    """One fetch through a proxy. ``user``: what we say; ``wants``: what it asks for, when that is another."""
    context = None
    if scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")

    async def work() -> Any:
        proxy = ProxyServer(NAMES, user=user if wants is None else wants)
        async with proxy, Server(HELLO, keep=True, tls=context) as server:
            name, _, password = user.partition(":")
            asked: dict[str, Any] = {}
            if meta:
                asked["meta"] = {"proxy": f"{kind}://{user + '@' if user else ''}127.0.0.1:{proxy.port}"}
            elif kind == HTTP:
                values.update(http_proxy_host="127.0.0.1", http_proxy_port=proxy.port)
                values.update(http_proxy_user=name, http_proxy_password=password)
            else:
                values.update(socks_proxy_host="127.0.0.1", socks_proxy_port=proxy.port)
                values.update(socks_proxy_username=name, socks_proxy_password=password)
            async with handler_of(make_crawler(profile, **values)) as handler:
                for _ in range(1 + again):
                    outcome, curi = await fetch(handler, server.url("/a?b", scheme, host), **asked)
                return outcome, curi, server, proxy

    found: tuple[Any, CrawlURI, Server, ProxyServer] = run(work())
    return found


@pytest.mark.parametrize("meta", [False, True], ids=["settings", "request"])
@pytest.mark.parametrize("user", ["", "me:p w"])
def test_http_proxy_is_asked_with_the_absolute_uri(user: str, meta: bool) -> None:
    response, curi, server, proxy = through(
        HTTP, user=user.replace(" ", "%20") if meta else user, meta=meta, wants=user
    )
    assert (response.status, response.body) == (200, b"hello")
    assert proxy.asked == [f"GET http://nowhere.example:{server.port}/a?b HTTP/1.1"]
    assert (b"\r\nProxy-Authorization: Basic " in proxy.heads[0]) is bool(user)
    assert f"Host: nowhere.example:{server.port}\r\n".encode() in proxy.heads[0]
    assert curi.recorder is not None
    assert curi.recorder.request.read() == proxy.heads[0]
    assert curi.recorder.response.read() == HELLO
    assert curi.server_ip == "127.0.0.1"


def test_heritrix_tells_the_proxy_to_close() -> None:
    _, _, _, proxy = through(HTTP, profile="heritrix")
    assert proxy.heads[0].split(b"\r\n")[1] == b"Proxy-Connection: close"


@pytest.mark.parametrize("user", ["", "me:pw"])
def test_https_goes_through_a_tunnel_that_is_not_recorded(user: str) -> None:
    response, curi, server, proxy = through(HTTP, scheme="https", user=user, again=True)
    assert (response.status, response.body) == (200, b"hello")
    assert proxy.asked == [f"CONNECT nowhere.example:{server.port} HTTP/1.1"]  # the second used it again
    assert server.requests[0].startswith(b"GET /a?b HTTP/1.1\r\n")
    assert b"Proxy-" not in server.requests[0]
    assert curi.recorder is not None
    assert curi.recorder.request.read() == server.requests[1]
    assert curi.tls is not None


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("user", ["", "me:pw"])
def test_socks(scheme: str, user: str) -> None:
    response, _, server, proxy = through(SOCKS5, scheme=scheme, user=user)
    assert (response.status, response.body) == (200, b"hello")
    assert proxy.asked == [f"SOCKS nowhere.example:{server.port}"]
    assert server.requests[0].startswith(b"GET /a?b HTTP/1.1\r\n")


def test_socks_is_told_the_address_that_is_known() -> None:
    response, _, server, proxy = through(SOCKS5, host="127.0.0.1")
    assert response.status == 200
    assert proxy.asked == [f"SOCKS 127.0.0.1:{server.port}"]


@pytest.mark.parametrize(("kind", "scheme"), [(HTTP, "https"), (SOCKS5, "http")])
def test_a_proxy_that_refuses_is_a_failed_connection(kind: str, scheme: str) -> None:
    error, curi, server, _ = through(kind, scheme=scheme, user="me:wrong", wants="me:right")
    assert (curi.status, server.requests) == (-2, [])
    assert "407" in str(error) or "refused user and password" in str(error)


def test_what_an_http_proxy_answers_itself_is_the_answer() -> None:
    response, curi, server, _ = through(HTTP, user="me:wrong", wants="me:right")
    assert (response.status, curi.status, server.requests) == (407, 407, [])


def test_a_proxy_that_cannot_be_used_is_never_gone_round() -> None:
    async def work() -> Any:
        async with Server(HELLO) as server, handler_of(make_crawler()) as handler:
            error, curi = await fetch(handler, server.url(), meta={"proxy": "quic://127.0.0.1:1"})
            return error, curi, server.requests

    error, curi, requests = run(work())
    assert "scheme" in str(error)
    assert (curi.status, requests) == (-7, [])


def test_a_proxy_that_says_nothing_is_given_up() -> None:
    async def work() -> Any:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        crawler = make_crawler(socks_proxy_host="127.0.0.1", socks_proxy_port=port, so_timeout_ms=150)
        async with handler_of(crawler) as handler:
            found = await fetch(handler, "http://nowhere.example/")
        server.close()
        return found

    error, curi = run(work())
    assert "took longer" in str(error)
    assert curi.status == -2


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://p.example:3128", Proxy(HTTP, "p.example", 3128)),
        ("p.example:3128", Proxy(HTTP, "p.example", 3128)),
        ("http://u%40x:p%3Aw@p.example", Proxy(HTTP, "p.example", 8080, "u@x", "p:w")),
        ("socks5h://[::1]", Proxy(SOCKS5, "::1", 1080)),
    ],
)
def test_urls(url: str, expected: Proxy) -> None:
    assert parse(url) == expected


def test_the_proxy_of_a_request() -> None:
    view = default_view(http_proxy_host="ours.example", http_proxy_port=1, http_proxy_user="u")
    ours = Proxy(HTTP, "ours.example", 1, "u")
    assert of_request({}, None, view) == ours
    assert of_request({"proxy": None}, None, view) is None
    assert of_request({"proxy": "http://ours.example:1"}, None, view) == ours
    # Scrapy moves user and password into a header
    other = of_request({"proxy": "http://other.example:1"}, b"Basic bWU6cHc=", view)
    assert other == Proxy(HTTP, "other.example", 1, "me", "pw")


def told(talk: Any, pieces: list[bytes]) -> bool:
    """Whether the talk came to its end; raises what it raises."""
    next(talk)
    try:
        for piece in pieces:
            talk.send(piece)
    except StopIteration:
        return True
    return False


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 403 No\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nearly", b"SSH-2.0\n\n", b"x" * 70000],
    ids=["403", "early bytes", "not HTTP", "no end"],
)
def test_tunnels_that_are_none(answer: bytes) -> None:
    with pytest.raises(ProxyRefused):
        told(http_tunnel(Proxy(HTTP, "p", 1), "h.example", 443), [answer])


def test_talks_take_their_answer_in_any_split() -> None:
    tunnel = b"HTTP/1.0 200 OK\r\nVia: x\r\n\r\n"
    assert told(http_tunnel(Proxy(HTTP, "p", 1), "::1", 443), [bytes((byte,)) for byte in tunnel])
    socks = b"\x05\x02\x01\x00\x05\x00\x00\x03\x04name\x00\x50"
    assert told(socks5(Proxy(SOCKS5, "p", 1, "u", "w"), "h.example", 80, None), [bytes((byte,)) for byte in socks])


@pytest.mark.parametrize(
    "answer",
    [b"\x04\x00", b"\x05\xff", b"\x05\x00" + b"\x05\x05\x00\x01" + b"\0" * 6, b"\x05\x00\x05\x00\x00\x09\x01", b"HTTP"],
)
def test_socks_answers_that_refuse(answer: bytes) -> None:
    with pytest.raises(ProxyRefused):
        told(socks5(Proxy(SOCKS5, "p", 1), "h.example", 80, None), [bytes((byte,)) for byte in answer])
