"""Does text order follow domain order, and does a prefix cover what it says?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.uri.prefixes import (
    SurtPrefixSet,
    implied_prefix,
    prefixes_of,
    seed_prefix,
    to_domain,
    to_host,
)
from heritrix_scrapy.uri.surt import _whole, authority_part, candidate, surt

AUTHORITIES = st.lists(
    st.sampled_from(
        ["a", "B", ".", "1", "2.3", ":", "80", "@", "u:p", "?", "[::1]", "/", " ", ")", "\u0130", "\u03a3"]
    ),
    max_size=6,
).map("".join)


@given(
    st.sampled_from(["http://", "HTTPS://", "svn+ssh://", "dns:", "ftp://"]), AUTHORITIES, AUTHORITIES, st.booleans()
)
def test_the_remembered_head_gives_the_whole(scheme: str, authority: str, rest: str, strict: bool) -> None:
    for uri in (f"{scheme}{authority}/{rest}", f"{scheme}{authority}"):
        assert surt(uri, strict=strict) == _whole(uri, strict)


@given(st.lists(st.sampled_from(["a", "b", "www", "x1"]), min_size=1, max_size=4), st.sampled_from(["", ":81"]))
def test_host_and_surt_tell_the_same(labels: list[str], port: str) -> None:
    form = surt(f"http://{'.'.join(labels)}{port}/P?Q")
    assert form == f"http://({','.join(reversed(labels))},{port})/p?q"


def test_an_ipv6_address_is_no_name() -> None:
    assert surt("http://[2001:db8::1]:81/x") == "http://([2001:db8::1]:81)/x"
    assert surt("http://[::1]/", strict=True) == "http://([::1],)/"


def test_candidates() -> None:
    assert candidate("https://u:p@a.com/X") == "http://(com,a,)/x"
    assert candidate("https://u:p@a.com/X", strict=True) == "http://(com,a,@u:p)/x"
    assert candidate("http://a.com/x@y") == "http://(com,a,)/x@y"
    assert authority_part("http://(com,a,:81)/x") == "com,a,:81"
    assert authority_part("dns:a.com") == "dns:a.com"


@given(st.lists(st.text("ab", max_size=5)), st.text("ab", max_size=6))
def test_prefix_search_against_the_obvious(keys: list[str], text: str) -> None:
    keys = sorted(set(keys))
    expected = [key for key in keys if text.startswith(key)]
    assert prefixes_of(keys, text) == expected
    found = SurtPrefixSet(keys)
    assert found.contains_prefix_of(text) == bool(expected)
    members = list(found)
    assert members == sorted(members)
    assert not [one for one in members for other in members if one != other and one.startswith(other)]


def test_an_open_address_covers_one_address() -> None:
    modern, heritrix = SurtPrefixSet(), SurtPrefixSet(strict=True)
    for prefixes in (modern, heritrix):
        prefixes.add_plain("1.2.3.4")
        assert prefixes.covers("http://1.2.3.4/x")
        assert prefixes.covers("http://1.2.3.4:8080/x")
    assert not modern.covers("http://1.2.3.45/")
    assert heritrix.covers("http://1.2.3.45/")


def test_literals() -> None:
    modern, heritrix = SurtPrefixSet(), SurtPrefixSet(strict=True)
    for prefixes in (modern, heritrix):
        assert prefixes.add_directive("https://(com,A,")
        assert not prefixes.add_directive("  ")
    assert modern.covers("https://a.com/")
    assert not heritrix.covers("https://a.com/")
    modern.add_directive("http://b.com/x(y)/")
    assert modern.covers("http://b.com/x(y)/z")


def test_a_seed_covers_what_it_says() -> None:
    assert seed_prefix("http://a.com", "http://a.com/") == "http://(com,a,"
    assert seed_prefix("http://a.com/", "http://a.com/") == "http://(com,a,)/"
    assert seed_prefix("http://a.com", "http://a.com/", "fixed_up") == "http://(com,a,)/"
    assert seed_prefix("", "http://a.com/") == "http://(com,a,)/"


@pytest.mark.parametrize(
    ("prefix", "domain", "heritrix"),
    [
        ("http://(com,www,)/", "http://(com,www,", "http://(com,"),
        ("http://(com,example,awww,)/", "http://(com,example,awww,", "http://(com,example,a"),
        ("http://(org,archive,www,)/a/", "http://(org,archive,", "http://(org,archive,"),
    ],
)
def test_widening_to_a_domain(prefix: str, domain: str, heritrix: str) -> None:
    assert to_domain(prefix) == domain
    assert to_domain(prefix, strict=True) == heritrix


def test_an_address_is_a_host() -> None:
    assert to_host("http://(127.0.0.1") == "http://(127.0.0.1)"
    assert to_host("http://([::1]") == "http://([::1])"
    assert to_host("http://(127.0.0.1", strict=True) == "http://(127.0.0.1,)"
    assert to_host("http://(com,a") == "http://(com,a,)"


def test_import_conversion_and_dump() -> None:
    prefixes = SurtPrefixSet()
    prefixes.import_mixed("# seeds\nwww.a.com/x/\n+http://(org,b,\ntwo words\n")
    assert prefixes.dump() == "http://(com,a,www,)/x/\nhttp://(org,b,\n"
    assert list(prefixes.converted("domains")) == ["http://(com,a,", "http://(org,b,"]
    assert list(prefixes.converted("hosts")) == ["http://(com,a,www,)", "http://(org,b,)"]
    assert "http://(org,b," in prefixes
    assert len(prefixes) == 2
    assert implied_prefix("user:pw@a.com") == "user:pw@a.com"
