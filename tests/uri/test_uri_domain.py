"""Who was a host name assigned to, what are the parts of a URI, and what does a seeds text say?"""

from __future__ import annotations

import socket

import pytest  # noqa: TC002  (fixtures are named by their types)

from heritrix_scrapy.uri import parts
from heritrix_scrapy.uri.domain import (
    SuffixList,
    assignment_level,
    assignment_level_of,
    public_suffixes,
    reduce_surt,
    registered_domain,
)
from heritrix_scrapy.uri.seed_lines import SeedLine, seed_lines


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    public_suffixes.cache_clear()
    assert public_suffixes().is_suffix("co.uk")


def test_levels() -> None:
    assert assignment_level("uk,co,bbc,www,") == "uk,co,bbc,"
    assert assignment_level("cn,xn--55qx5d,a,b,") == "cn,xn--55qx5d,a,"
    assert assignment_level("cn,xn--55qx5d,a,b,", strict=True) == "cn,xn--55qx5d,"
    assert assignment_level("zzz,example,www,:81") == "zzz,example,"
    assert assignment_level("localhost,") == "localhost,"
    # a listed suffix may have letters of its own; what is only under a wildcard or unknown has Heritrix's
    assert assignment_level("\u516c\u53f8,b,www,", strict=True) == "\u516c\u53f8,b,"
    assert assignment_level("\u9999,b,www,", strict=True) == "\u9999,b,www,"
    assert assignment_level("ck,\u516c\u53f8,a,www,", strict=True) == "ck,\u516c\u53f8,a,www,"
    assert registered_domain("WWW.bbc.co.uk.") == "bbc.co.uk"
    assert registered_domain("1.2.3.4") == "1.2.3.4"
    assert registered_domain("localhost") == "localhost"


def test_levels_of_uris() -> None:
    assert assignment_level_of("https://a.example.com:81/x") == "com,example,"
    assert assignment_level_of("http://u:p@www.bbc.co.uk/") == "uk,co,bbc,"
    assert assignment_level_of("http://1.2.3.4:81/") == "1.2.3.4:81"
    assert assignment_level_of("http://[::1]/") == "[::1]"
    assert assignment_level_of("dns:www.a.com") == "com,a,"
    assert assignment_level_of("dns:www.a.com", strict=True) == "dns:www.a.com"


def test_a_list_of_ones_own() -> None:
    suffixes = SuffixList(["fm", "com.fm", "*.fk", "!city.fk", "\u4f8b.test"])
    assert reduce_surt("fk,foo,bar,baz,", suffixes) == "fk,foo,bar,"
    assert reduce_surt("fk,city,bar,baz,", suffixes) == "fk,city,"
    assert reduce_surt("fm,com,", suffixes) == "fm,com,"
    assert reduce_surt("test,xn--fsq,a,b,", suffixes) == "test,xn--fsq,a,"
    assert suffixes.is_suffix("a.fk")
    assert not suffixes.is_suffix("a.b.fk")
    assert suffixes.is_top("FK")
    assert not suffixes.is_top("example")


def test_parts() -> None:
    uri = "http://u:p@www3.a.com:81/x/y.gif?q"
    assert parts.userinfo(uri) == "u:p"
    assert parts.host(uri) == "www3.a.com"
    assert parts.port(uri) == 81
    assert parts.host_basename(uri) == "a.com"
    assert parts.authority_without_userinfo(uri) == "www3.a.com:81"
    assert parts.host("http://[::1]:81/") == "[::1]"
    assert parts.port("http://[::1]:81/") == 81
    assert parts.port("http://a.com/") == -1
    assert parts.host("dns:a.com") is None
    assert parts.userinfo("dns:a.com") is None
    assert parts.referenced_host("dns:a.com?b") == "a.com"
    assert parts.referenced_host("mailto:a@b.c") is None
    assert parts.host_basename("mailto:a@b.c") is None
    assert parts.decoded("/a%20b+c%zz") == "/a b+c%zz"
    assert parts.decoded("/a%20b+c", strict=True) == "/a b c"
    assert parts.unicode_host("http://xn--x-4ga.dk/") == "http://\u00f8x.dk/"
    assert parts.unicode_host("http://xn--\u00f8.dk/") == "http://xn--\u00f8.dk/"
    assert parts.unicode_host("dns:x") == "dns:x"


def test_seed_lines() -> None:
    text = "\ufeffa.com # first\r\n\r\n#b.com\n-http://(org,y,\rtwo words\n\u00b2.com\nbad..com\n[::1]"
    assert list(seed_lines(text)) == [
        SeedLine("a.com", "http://a.com/"),
        SeedLine("-http://(org,y,", None),
        SeedLine("two words", None, words=True),
        SeedLine("\u00b2.com", None),
        SeedLine("http://bad..com", None),
        SeedLine("[::1]", None),
    ]
