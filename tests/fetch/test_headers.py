"""The header lines of a request, in order, in both profiles."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.http import Headers

from heritrix_scrapy import __version__
from heritrix_scrapy.fetch.answer import scrapy_headers
from heritrix_scrapy.fetch.headers import (
    accept_lines,
    compose,
    head,
    host_of,
    own_fields,
    user_agent,
    without_user_info,
)
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view

ACCEPT = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def view(profile: str, **values: Any) -> Any:
    values = {
        "operator_contact_url": "http://crawl.example.org/",
        "user_agent_template": "TestUA/1.0 (+@OPERATOR_CONTACT_URL@)",
        **values,
    }
    return default_view(profile, **values)


def composed(profile: str, url: str = "http://a.example:8080/x", **details: Any) -> list[str]:
    values = {name: details.pop(name) for name in list(details) if name not in ("method", "own", "body", "curi")}
    curi = details.pop("curi", None) or CrawlURI(url, via="http://ref.example.org/from.html?x=1", path="L")
    own = [(name.encode(), value.encode()) for name, value in details.pop("own", ())]
    fields = compose(curi, view(profile, **values), url=url, own=own, **details)
    return [f"{name.decode()}: {value.decode()}" for name, value in fields]


REFERER = "Referer: http://ref.example.org/from.html?x=1"
AGENT = "User-Agent: TestUA/1.0 (+http://crawl.example.org/)"


def test_heritrix_order() -> None:
    assert composed("heritrix", operator_from="op@example.org") == [
        "From: op@example.org",
        "Connection: Close",
        REFERER,
        ACCEPT,
        "Host: a.example:8080",
        AGENT,
    ]


def test_heritrix_order_with_everything() -> None:
    curi = CrawlURI("http://a.example/p", via="http://a.example/", path="L", via_context="a[data-remote='true']/@href")
    assert composed(
        "heritrix",
        "http://a.example/p",
        curi=curi,
        method="POST",
        body=b"a+b=c%26d",
        accept_compression=True,
        send_connection_close=False,
        send_range=True,
        max_length_bytes=50000,
        accept_headers=[ACCEPT, "Accept-Language: de"],
        own=[
            ("Authorization", "Basic x"),
            ("Cookie", "k=v"),
            ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),
            ("If-None-Match", '"e"'),
            ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("Content-Length", "99"),
        ],
    ) == [
        "Accept-Encoding: gzip,deflate",
        "Range: bytes=0-49999",
        "Referer: http://a.example/",
        "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT",
        'If-None-Match: "e"',
        ACCEPT,
        "Accept-Language: de",
        "X-Requested-With: XMLHttpRequest",
        "Content-Length: 9",
        "Content-Type: application/x-www-form-urlencoded; charset=UTF-8",
        "Host: a.example",
        "Connection: Keep-Alive",
        AGENT,
        "Cookie: k=v",
        "Authorization: Basic x",
    ]


def test_heritrix_takes_own_headers_as_custom_ones() -> None:
    lines = composed("heritrix", own=[("Accept", "custom/1"), ("X-Foo", "bar"), ("X-Foo", "baz")])
    assert lines == [
        "Connection: Close",
        REFERER,
        "Accept: custom/1",
        "Host: a.example:8080",
        AGENT,
        "X-Foo: bar",
        "X-Foo: baz",
    ]


def test_heritrix_post_without_body_says_no_length() -> None:
    assert not [line for line in composed("heritrix", method="POST") if line.startswith("Content-Length")]


def test_no_condition_on_a_prerequisite() -> None:
    curi = CrawlURI("http://a.example/robots.txt", path="P")
    curi.is_prerequisite = True
    assert "If-None-Match: e" not in composed("heritrix", curi=curi, own=[("If-None-Match", "e")])


@pytest.mark.parametrize(
    ("via", "context", "url", "referer"),
    [
        ("http://r.example/", "a/@href", "http://a.example/", True),
        ("http://r.example/", "a/@href", "https://a.example/", True),
        ("https://r.example/", "a/@href", "https://a.example/", True),
        ("https://r.example/", "a/@href", "http://a.example/", False),
        ("http://r.example/", "=PREREQ_MISC", "http://a.example/", False),
        (None, None, "http://a.example/", False),
    ],
)
def test_referer(via: str | None, context: str | None, url: str, referer: bool) -> None:
    for profile in ("heritrix", "modern"):
        curi = CrawlURI(url, via=via, via_context=context, path="L")
        assert (f"Referer: {via}" in composed(profile, url, curi=curi)) is referer
        assert f"Referer: {via}" not in composed(profile, url, curi=curi, send_referer=False)


def test_modern_order() -> None:
    assert composed("modern") == [
        "Host: a.example:8080",
        AGENT,
        ACCEPT,
        "Accept-Encoding: gzip, deflate, br, zstd",
        REFERER,
    ]


def test_modern_lets_the_request_win() -> None:
    lines = composed(
        "modern",
        own=[
            ("Accept", "custom/1"),
            ("User-Agent", "mine"),
            ("Accept-Encoding", "identity"),
            ("Referer", "http://x/"),
            ("Cookie", "a=1"),
            ("Connection", "close"),
            ("Host", "other.example"),
            ("Transfer-Encoding", "chunked"),
            ("Proxy-Authorization", "Basic x"),
        ],
        send_connection_close=True,
    )
    assert lines == [
        "Host: a.example:8080",
        "User-Agent: mine",
        "Accept: custom/1",
        "Accept-Encoding: identity",
        "Referer: http://x/",
        "Cookie: a=1",
        "Connection: close",
    ]


def test_modern_lengths() -> None:
    assert "Content-Length: 0" in composed("modern", method="POST")
    assert "Content-Length: 2" in composed("modern", method="DELETE", body=b"ab")
    assert not [line for line in composed("modern") if line.startswith("Content-Length")]


def test_a_spiders_request_has_the_referer_its_project_allows() -> None:
    curi = CrawlURI("http://a.example/", via="http://r.example/", path="L", spider_request=True)
    assert not [line for line in composed("modern", curi=curi) if line.startswith("Referer")]


def test_a_modern_referer_tells_no_secrets() -> None:
    curi = CrawlURI("http://a.example/", via="http://me:pw@r.example/p?q", path="L")
    assert "Referer: http://r.example/p?q" in composed("modern", curi=curi)
    assert "Referer: http://me:pw@r.example/p?q" in composed("heritrix", curi=curi)
    assert without_user_info("http://a@b.example/#f") == "http://b.example/"


def test_masquerade() -> None:
    curi = CrawlURI("http://a.example/", path="L")
    curi.user_agent = "Masque/1"
    for profile in ("modern", "heritrix"):
        assert "User-Agent: Masque/1" in composed(
            profile, curi=curi, own=[("User-Agent", "mine")][: profile == "modern"]
        )


def test_what_nobody_chose_is_not_the_requests_own() -> None:
    headers = Headers({"User-Agent": "default", "Accept-Encoding": "gzip", "X": ["1", "2"]})
    unchosen = {b"user-agent": b"default", b"accept-encoding": b"other"}
    assert own_fields(headers, unchosen) == [(b"Accept-Encoding", b"gzip"), (b"X", b"1"), (b"X", b"2")]


def test_accept_lines_that_split_in_two() -> None:
    assert accept_lines([ACCEPT, "Cookie: a: b", "X:1", "Y: 2"]) == [
        (b"Accept", ACCEPT[8:].encode()),
        (b"Y", b"2"),
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example/", "a.example"),
        ("http://a.example:80/x:1", "a.example"),
        ("https://a.example:443", "a.example"),
        ("https://a.example:80/", "a.example:80"),
        ("http://u:p@a.example:81/?q", "a.example:81"),
        ("http://a.example:/", "a.example"),
        ("http://[::1]/", "[::1]"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_host(url: str, host: str) -> None:
    assert host_of(url) == host


def test_user_agent_takes_the_contact_as_it_is() -> None:
    text = user_agent(default_view(operator_contact_url=r"http://x.example/$1\2"))
    assert text == rf"Mozilla/5.0 (compatible; heritrix/{__version__} +http://x.example/$1\2)"


def test_head() -> None:
    assert head("GET", "/a%20b?q", [(b"A", b"1")], http11=False) == b"GET /a%20b?q HTTP/1.0\r\nA: 1\r\n\r\n"
    assert head("POST", "/", [], http11=True) == b"POST / HTTP/1.1\r\n\r\n"


def test_a_response_has_the_headers_that_scrapy_would_make_of_the_fields() -> None:
    fields = [(b"set-COOKIE", b"a=1"), (b"X-odd_name", b"\xff"), (b"Set-Cookie", b"b=2"), (b"empty", b"")]
    stock = Headers()
    for name, value in fields:
        stock.appendlist(name, value)
    made = scrapy_headers(fields)
    assert type(made) is Headers
    assert made == stock
    assert list(made.items()) == list(stock.items())
    assert made.getlist("SET-cookie") == [b"a=1", b"b=2"]
