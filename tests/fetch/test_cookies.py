"""Cookies: which are taken, which are shown, and how they stand in a file."""

from __future__ import annotations

from typing import Any

import pytest

from heritrix_scrapy.fetch import cookie_file
from heritrix_scrapy.fetch.cookies import Cookie, CookieStore, cookie_date, default_path, header, parse, path_matches

NOW = 1_750_000_000_000


def taken(line: str, host: str = "www.h.example", path: str = "/a/b", **options: Any) -> Cookie | None:
    return parse(line, host, path, NOW, **options)


def made(line: str, host: str = "www.h.example", path: str = "/a/b", **options: Any) -> Cookie:
    cookie = taken(line, host, path, **options)
    assert cookie is not None
    return cookie


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Fri, 01 Jan 2038 00:00:00 GMT", 2145916800),
        ("Wed, 01-Jan-38 00:00:00 GMT", 2145916800),
        ("Sun Nov  6 08:49:37 1994", 784111777),
        ("06 nov 94 8:49:37", 784111777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("someday", None),
        ("01 Jan 2038", None),
        ("32 Jan 2038 00:00:00", None),
        ("01 Jan 1600 00:00:00", None),
        ("", None),
    ],
)
def test_dates(text: str, seconds: int | None) -> None:
    assert cookie_date(text) == (None if seconds is None else seconds * 1000)


def test_paths() -> None:
    assert [default_path(path) for path in ("/", "/a", "/a/", "/a/b", "x")] == ["/", "/", "/a", "/a", "/"]
    assert [path_matches(path, "/sub") for path in ("/sub", "/sub/x", "/subway", "/")] == [True, True, False, False]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("line", ["", "bare", "=16", ";", "x", "n=v; Domain=other.example"])
def test_what_is_no_cookie(line: str, strict: bool) -> None:
    assert taken(line, strict=strict) is None


def test_attributes() -> None:
    cookie = taken("n=v; Path=/x; Secure; HttpOnly; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
    assert cookie == Cookie("n", "v", "www.h.example", "/x", True, True, True, NOW + 60_000)
    assert made("n=v; Path=relative").path == "/a"
    assert made("n=v; Path=relative", strict=True).path == "relative"
    assert made("n=v; Max-Age=0").expires_ms == 0
    assert made("n=v; Max-Age=" + "9" * 400).expires_ms is not None
    assert taken("n=v; Expires=someday", strict=True) is None
    assert made("n=v; Expires=someday").expires_ms is None
    assert taken("n=" + "v" * 5000) is None
    assert taken("n\x01=v") is None


def test_values_in_quotes() -> None:
    strict, modern = taken('n="14  x\\";y"; Path=/', strict=True), taken('n="14 x"')
    assert strict is not None
    assert (strict.value, header([strict], strict=True)) == ('14  x";y', 'n="14  x\\";y"')
    assert modern is not None
    assert header([modern]) == 'n="14 x"'


@pytest.mark.parametrize("strict", [False, True])
def test_domains_pc_170(strict: bool) -> None:
    """PC-170: without Domain, whatever else is odd, a cookie is for its host alone."""
    store = CookieStore(strict=strict)
    cookie = taken("n=v; Domain; Path; ;; Version=1; Port=80", "a.example.co.uk", strict=strict)
    assert cookie is not None
    store.add(cookie, NOW)
    for host in ("b.example.co.uk", "example.co.uk", "x.a.example.co.uk", "co.uk", "other.example"):
        assert store.shown(host, "/a/x", NOW, secure=True) == []
    assert store.shown("a.example.co.uk", "/a/x", NOW, secure=False) == [cookie]


@pytest.mark.parametrize("domain", ["com", "co.uk", ".com", "github.io", "uk"])
@pytest.mark.parametrize("strict", [False, True])
def test_public_suffixes_are_refused_pc_172(domain: str, strict: bool) -> None:
    """PC-172: no cookie for everybody below a public suffix."""
    assert taken(f"n=v; Domain={domain}", "www.example." + domain.lstrip("."), strict=strict) is None


def test_suffixes_without_a_list() -> None:
    assert taken("n=v; Domain=example") is None
    assert not made("n=v; Domain=example", strict=True).host_only
    assert made("n=v; Domain=localhost", "localhost").host_only
    assert made("n=v; Domain=10.0.0.1", "10.0.0.1").host_only
    assert taken("n=v; Domain=0.0.1", "10.0.0.1") is None
    assert made("n=v; Domain=github.io", "github.io").host_only


def test_order_and_age() -> None:
    store = CookieStore()
    for at, line in enumerate(("b=1; Path=/", "a=2; Path=/a/b", "c=3; Path=/; Max-Age=5", "b=4; Path=/")):
        store.add(made(line), NOW + at)
    assert header(store.shown("www.h.example", "/a/b/c", NOW + 9, secure=False)) == "a=2; b=4; c=3"
    assert header(store.shown("www.h.example", "/a/b/c", NOW + 5000, secure=False)) == "a=2; b=4"
    gone = made("a=; Path=/a/b; Max-Age=0")
    assert store.add(gone, NOW + 5000)
    assert not store.add(gone, NOW + 5000)
    assert header(store.shown("www.h.example", "/a/b/c", NOW + 5000, secure=False)) == "b=4"


def test_cap() -> None:
    for strict, kept in ((True, "n0"), (False, "n49")):
        store = CookieStore(strict=strict)
        for number in range(60):
            store.add(Cookie(f"n{number}", "v", "h.example"), NOW + number)
        names = [cookie.name for cookie in store.of_rows([], NOW)]
        assert len(names) == 50
        assert kept in names
        assert store.add(Cookie("n49", "", "h.example", expires_ms=0), NOW) is not strict


def test_rows_survive_and_memory_is_bounded() -> None:
    rows: dict[bytes, bytes] = {}
    store = CookieStore(rows.get, capacity=20)
    for number in range(100):
        store.add(Cookie("n", str(number), f"h{number}.example"), NOW, jar="'one'" if number % 2 else "")
        rows.update(store.drain())
    assert len(list(store)) <= 21
    later = CookieStore(rows.get)
    assert header(later.shown("h8.example", "/", NOW, secure=False)) == "n=8"
    assert header(later.shown("h9.example", "/", NOW, secure=False)) == ""
    assert header(later.shown("h9.example", "/", NOW, secure=False, jar="'one'")) == "n=9"
    assert len(later.of_rows(rows.items(), NOW)) == 50


@pytest.mark.parametrize(
    ("line", "strict", "expected"),
    [
        (".h.example\tTRUE\t/\tFALSE\t10\tn\tv", False, Cookie("n", "v", "h.example", "/", False, expires_ms=10_000)),
        (".h.example\tTRUE\t/\tFALSE\t10\tn\tv", True, Cookie("n", "v", "h.example", "/", True, expires_ms=10_000)),
        ("h.example\tFALSE\t/\tTRUE\t0\tn\tv", False, Cookie("n", "v", "h.example", "/", True, True)),
        ("h.example\tFALSE\t/\tTRUE\t0\tn\tv", True, Cookie("n", "v", "h.example", "/", True, True, expires_ms=0)),
        ("h.example\tFALSE\t/\ttrue\t-1\tn\t", False, Cookie("n", "", "h.example", "/", True, True)),
        ("#HttpOnly_h.example\tFALSE\t/\tFALSE\t0\tn\tv", False, Cookie("n", "v", "h.example", http_only=True)),
        ("#HttpOnly_h.example\tFALSE\t/\tFALSE\t0\tn\tv", True, None),
        ("# comment", False, None),
        ("  ", True, None),
    ],
)
def test_lines(line: str, strict: bool, expected: Cookie | None) -> None:
    assert cookie_file.read_line(line, strict=strict) == expected


@pytest.mark.parametrize("line", ["broken line", "a\tTRUE\t/\tFALSE\tsoon\tn\tv", "a\tb\tc\td\te\tf\tg\th"])
def test_bad_lines(line: str) -> None:
    with pytest.raises(cookie_file.BadLine):
        cookie_file.read_line(line)
    with pytest.raises(cookie_file.BadLine):
        cookie_file.read_line("h.example\tTRUE\t/\tFALSE\t-1\tn\t", strict=True)


def test_files_round_trip() -> None:
    listed = [
        Cookie("a", "1", "h.example", "/", False, expires_ms=NOW),
        Cookie("b", "", "www.h.example", "/x", True, True, True),
    ]
    text = cookie_file.write(listed)
    assert [cookie for _, cookie in cookie_file.read(text.splitlines())] == listed


def test_bytes_that_are_no_text_are_kept_and_shown_as_they_came() -> None:
    """A row holds them too: what a server sets must not keep the crawl from being written."""
    rows: dict[bytes, bytes] = {}
    line = b"n\xe9=caf\xe9 \xc3\xa9; Path=/p\xff".decode("utf-8", "surrogateescape")
    for text in (line, "plain=1"):
        store = CookieStore(rows.get)
        cookie = parse(text, "h.example", "/", NOW)
        assert cookie is not None
        assert store.add(cookie, NOW)
        rows.update(store.drain())
    shown = CookieStore(rows.get).shown("h.example", line.partition("Path=")[2], NOW, secure=False)
    assert header(shown).encode("utf-8", "surrogateescape") == b"n\xe9=caf\xe9 \xc3\xa9; plain=1"
