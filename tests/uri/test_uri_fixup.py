"""Is every text repaired the same way, whichever way it takes, and once and for all?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.uri import fixup
from heritrix_scrapy.uri.dots import remove, remove_leniently
from heritrix_scrapy.uri.fixup import MAX_LENGTH, UriError, fix, join, split

PIECES = st.sampled_from(
    [
        *("http://", "https://", "HTTP://", "ftp://", "file:///", "mailto:", "dns:", "1a:", "//", "/", "\\"),
        *("..", ".", "../", "./", "/../", "/./", "/.", "a", "b", "a.com", "A.com", "www.", "_", "-", "80", "443"),
        *("?", "#", ":", "@", "%", "%20", "%2e", "|", "&", ";", "[", "]", "::1", "<", ">", "'", "{", "~", "+", " "),
        *("\u00a0", "\t", "\u00e9", "\u00df", "\u2028", "\u0130", "\U0001f600", "\ud800", "\u3002"),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=8).map("".join),
    st.builds(
        lambda head, tail: head + "".join(tail),
        st.sampled_from(["http://a.com", "https://b.org:443/x", "http://x.y.z:8080/"]),
        st.lists(PIECES, max_size=6),
    ),
    st.text(max_size=20),
)
BASES = st.sampled_from(
    [
        *("http://www.example.com/dir/page.html?q=1", "http://a.com/", "https://s.com/a/b", "ftp://a.com/x/"),
        *("dns:h", "http://u:p@h.com:81/a/b/c?x/y", "file:///a/b"),
    ]
)


def outcome(call: object, *arguments: object, **options: object) -> object:
    try:
        return call(*arguments, **options)  # type: ignore[operator]
    except UriError:
        return UriError


@settings(max_examples=400)
@given(TEXTS, st.booleans())
def test_the_short_way_of_fix_is_the_long_one(text: str, strict: bool) -> None:
    assert outcome(fix, text, strict=strict) == outcome(fixup._fix, text, "utf-8", strict)


@settings(max_examples=400)
@given(BASES, TEXTS, st.booleans())
def test_the_short_way_of_join_is_the_long_one(base: str, text: str, strict: bool) -> None:
    assert outcome(join, base, text, strict=strict) == outcome(fixup._join, base, text, "utf-8", strict)


@settings(max_examples=400)
@given(BASES, TEXTS)
def test_what_is_fixed_stays(base: str, text: str) -> None:
    for uri in (outcome(fix, text), outcome(join, base, text)):
        if isinstance(uri, str):
            assert fix(uri) == uri
            assert uri.isascii()
            assert "#" not in uri
            assert len(uri) <= MAX_LENGTH


@given(st.lists(st.sampled_from(["a", "b", ".", "..", "", "..."]), max_size=8).map(lambda parts: "/" + "/".join(parts)))
def test_no_dot_segment_is_left(path: str) -> None:
    clean = remove(path)
    assert clean.startswith("/")
    assert not {".", ".."} & set(clean.split("/"))
    assert remove(clean) == clean


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b/c/./../../g", "/a/g"),
        ("/a//../b", "/a/b"),
        ("/..", "/"),
        ("/.", "/"),
        ("/a/..", "/"),
        ("/../../../a/../b", "/b"),
        ("/a/.../b", "/a/.../b"),
        ("/a/b/..", "/a/"),
    ],
)
def test_dots_as_the_standard_says(path: str, expected: str) -> None:
    assert remove(path) == expected


def test_dots_as_heritrix_leaves_them() -> None:
    assert remove_leniently("/../../a/../b") == "/a/../b"
    assert remove_leniently("/./../../a/../b") == "/a/../b"


@pytest.mark.parametrize(
    ("text", "modern"),
    [
        ("http://.example.com/", "http://example.com/"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("HTTP:///a.com/", "http://a.com/"),
        ("http://foo_bar.r\u00e4k.org/", "http://foo_bar.xn--rk-via.org/"),
        ("http://r\u00e4k.org./", "http://xn--rk-via.org/"),
        ("http://a.com/../../../a/../b", "http://a.com/b"),
        ("file:///x/../y", "file:///y"),
    ],
)
def test_repairs_that_heritrix_does_not_make(text: str, modern: str) -> None:
    assert fix(text) == modern
    assert outcome(fix, text, strict=True) != modern


@pytest.mark.parametrize(
    "text",
    ["http://[::1", "http://[::1]x/", "http://a..com/", "http://[::1]:0/", "http://a b/", "http://u@/", "http://:80/"],
)
def test_what_is_beyond_repair(text: str) -> None:
    with pytest.raises(UriError):
        fix(text)


@pytest.mark.parametrize("strict", [True, False])
def test_length_is_counted_before_and_after(strict: bool) -> None:
    room = MAX_LENGTH - len("http://a.b/")
    assert len(fix("http://a.b/" + "x" * room, strict=strict)) == MAX_LENGTH
    long = [
        "http://a.b/" + "x" * (room + 1),
        "http://a.b/" + "\u00e9" * 400,
        "http://a.b/" + "\U00010300" * (room // 2 + 1),
        "http://a.b?" + "x" * room,
        "http://a.b/#" + "x" * room,
    ]
    for text in long:
        with pytest.raises(UriError):
            fix(text, strict=strict)
        with pytest.raises(UriError):
            join("http://a.b/", text, strict=strict)
    with pytest.raises(UriError):
        join("http://a.b/", "x" * (room + 1), strict=strict)
    assert join("http://a.b/", "//c.d/#" + "x" * (MAX_LENGTH - 8), strict=strict) == "http://c.d/"


def test_charset() -> None:
    assert fix("http://a.com/\u00e9?\u00e9", "iso-8859-1") == "http://a.com/%E9?%E9"
    assert fix("http://a.com/\u0416", "iso-8859-1") == "http://a.com/%3F"
    assert fix("http://a.com/\u00e9", "no-such-charset") == "http://a.com/%C3%A9"
    assert join("http://a.com/x/", "\u00e9", "iso-8859-1") == "http://a.com/x/%E9"


def test_parts_are_put_together_again() -> None:
    for uri in ("http://u@h.com:81/a?b", "dns:x.com", "mailto:a@b.c", "file:///x", "http://a.com/?"):
        assert str(split(uri)) == uri


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("http://fa\u00df.de/", "http://xn--fa-hia.de/"),
        ("http://FA\u1e9e.de/", "http://xn--fa-hia.de/"),
        ("http://\u0392\u03cc\u03bb\u03bf\u03c2.example/", "http://xn--nxasmm1c.example/"),
        ("http://\U0001f984.ws/", "http://xn--3s9h.ws/"),
        ("http://i\u2764\ufe0f.ws/", "http://xn--i-7iq.ws/"),
        ("http://B\u00dccher.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_names_of_hosts_as_browsers_read_them(text: str, wanted: str) -> None:
    assert fix(text) == join("http://e.com/", text) == wanted
    assert fix(wanted) == wanted


@pytest.mark.parametrize(
    "text", ["http://a\u2028b.example/", "http://a\ue000b.example/", "http://\U0001f984\u2067.ws/"]
)
def test_names_that_no_host_has(text: str) -> None:
    with pytest.raises(UriError):
        fix(text)


@pytest.mark.parametrize(
    ("base", "text", "wanted"),
    [
        ("http://e.com/a", "https:/www.example.com/x", "https://www.example.com/x"),
        ("http://e.com/a", "https:www.example.com", "https://www.example.com/"),
        ("https://e.com/a", "http:/www.example.com:8080/x?y", "http://www.example.com:8080/x?y"),
        # of the page's own kind it is a path
        ("http://e.com/a/b", "http:/www.example.com/x", "http://e.com/www.example.com/x"),
        ("http://e.com/a/b", "http:x.html", "http://e.com/a/x.html"),
    ],
)
def test_one_slash_behind_another_scheme(base: str, text: str, wanted: str) -> None:
    assert join(base, text) == wanted


def test_one_slash_and_no_host() -> None:
    for text in ("https:/x", "https:", "https:x/y.z"):
        with pytest.raises(UriError):
            join("http://e.com/", text)
