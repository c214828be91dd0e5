"""Bugs that people reported to other crawlers: do they stay away from URIs, SURTs, scope and traps here?"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.archive.cdxj import key as cdxj_key
from heritrix_scrapy.extract.likely import is_data
from heritrix_scrapy.frontier.prepare import Preparer, canonicaliser
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope import Decision, from_settings
from heritrix_scrapy.settings import Settings, default_view, read
from heritrix_scrapy.uri.canonical import Canonicaliser
from heritrix_scrapy.uri.fixup import UriError, fix, join
from heritrix_scrapy.uri.prefixes import implied_prefix
from heritrix_scrapy.uri.surt import candidate, surt

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "http://a.example.com/?post=1"


def test_pc_061_a_host_that_begins_with_www_and_digits() -> None:
    key = Canonicaliser()
    for host in ("www57912.com", "www3288.com"):
        assert surt(f"https://{host}/") == f"https://(com,{host.partition('.')[0]},)/"
        assert implied_prefix(f"https://{host}/") == f"http://(com,{host.partition('.')[0]},)/"
        assert key(f"https://{host}/").endswith(host + "/")


def test_pc_063_an_ipv6_host() -> None:
    uri = fix("https://[2001:db8::15]/robots.txt")
    assert (CrawlURI(uri).host, surt(uri)) == ("2001:db8::15", "https://([2001:db8::15])/robots.txt")
    assert surt(fix("http://[2001:db8::15]:8080/")) == "http://([2001:db8::15]:8080)/"


@pytest.mark.parametrize(
    ("case", "base", "text", "wanted"),
    [
        ("PC-068", PAGE, " http://b.example.com/", "http://b.example.com/"),
        ("PC-069", PAGE, "\nhttp://example.com/x\n", "http://example.com/x"),
        ("PC-069", PAGE, "http://exam\tple.com/\nx", "http://example.com/x"),
        ("PC-070", "http://example.com/", "../download/", "http://example.com/download/"),
        ("PC-073", "http://example.com/", "/a%23b", "http://example.com/a%23b"),
        ("PC-085", PAGE, "http://example.com?a=1", "http://example.com/?a=1"),
        ("PC-086", PAGE, "http://example.com/a%2?x=%", "http://example.com/a%2?x=%"),
        ("PC-074", PAGE, "http://[2001:db8::1]:8080/ a", "http://[2001:db8::1]:8080/%20a"),
        ("PC-076", PAGE, "http://b\u00fccher.example:8080/", "http://xn--bcher-kva.example:8080/"),
        ("PC-077", PAGE, "http://xn--ho-hia.example/", "http://xn--ho-hia.example/"),
        ("PC-077", PAGE, "http://xn--fx-3s9cx68e-jpnet.example/", "http://xn--fx-3s9cx68e-jpnet.example/"),
        ("PC-077", PAGE, "http://a\u200bb.example/", "http://ab.example/"),
        ("PC-082", PAGE, "http://my_site.example.com/", "http://my_site.example.com/"),
        ("PC-072", PAGE, "http://example.com/index.php?/a/=/o/", "http://example.com/index.php?/a/=/o/"),
        ("PC-072", PAGE, "http://example.com/index.php?flag", "http://example.com/index.php?flag"),
    ],
)
def test_links_become_the_uri_that_was_meant(case: str, base: str, text: str, wanted: str) -> None:
    assert join(base, text) == wanted, case


def test_pc_075_user_and_password_keep_their_case() -> None:
    assert fix("http://User:PassWord@Example.com/") == "http://User:PassWord@example.com/"


@pytest.mark.parametrize("text", ["http://example.com:99999/", "http://example.com:-1/", "http://example.com:0/"])
def test_pc_079_a_port_out_of_range(text: str) -> None:
    with pytest.raises(UriError):
        fix(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.01:8080/x", "http://127.0.0.1:8080/x"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://[2001:DB8:0::00:1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("http://1.2.3.4.5/", "http://1.2.3.4.5/"),
        ("http://1.2.3.256/", "http://1.2.3.256/"),
        ("http://0xgg/", "http://0xgg/"),
        ("http://site1.2a/", "http://site1.2a/"),
    ],
)
def test_pc_080_one_spelling_for_one_address(text: str, wanted: str) -> None:
    """One name, one queue, one robots.txt, one SURT."""
    assert fix(text) == fix(wanted) == wanted
    assert join("http://other.example/", text) == wanted
    view = default_view()
    queues = set()
    for uri in (text, wanted):
        curi = CrawlURI(fix(uri), path="L")
        curi.settings = view
        Preparer(canonicaliser, heritrix=False).prepare(curi)
        queues.add(curi.class_key)
    assert len(queues) == 1
    assert implied_prefix(text) == implied_prefix(wanted)


def test_pc_064_keys_of_an_index_are_those_of_other_tools() -> None:
    """As pywb makes them."""
    for uri, key in {
        "http://www.example.com:80/a?b=2&a=1": "com,example)/a?a=1&b=2",
        "https://example.com/A/B.html?SID=1#f": "com,example)/a/b.html?sid=1",
        "http://example.com:8080/": "com,example:8080)/",
        "http://192.0.2.1/x": "1,2,0,192)/x",
        "http://www2.example.co.uk/?jsessionid=0123456789abcdef0123456789abcdef": "uk,co,example)/",
    }.items():
        assert cdxj_key(uri) == key


def test_pc_087_a_port_survives_another_scheme() -> None:
    rule = ["RegexRule", {"regex": "http://(.*)", "format": "https://$1"}]
    assert Canonicaliser([rule])("http://example.com:8080/") == "https://example.com:8080/"
    # both schemes are one place, and its port is part of it
    assert (
        candidate("https://example.com:8080/") == candidate("http://example.com:8080/") == "http://(com,example,:8080)/"
    )
    view = default_view(canonicalization_rules=[rule])
    made = Preparer(canonicaliser, heritrix=False)
    for uri in ("http://example.com:8080/", "https://example.com:8080/"):
        curi = CrawlURI(uri, path="L")
        curi.settings = view
        made.prepare(curi)
        assert (curi.uri, curi.canonical) == (uri, "https://example.com:8080/")


def test_pc_088_a_data_uri_is_no_link() -> None:
    assert is_data("data:image/png;base64,AAAA/9j/")


@pytest.mark.parametrize(
    "tail",
    [
        "?PHPSESSID=0123456789abcdef0123456789abcdef",
        "?CFID=1&CFTOKEN=2",
        "?jsessionid=0123456789ABCDEF0123456789ABCDEF",
    ],
)
def test_pc_091_one_key_for_all_sessions(tail: str) -> None:
    assert Canonicaliser()("http://example.com/a" + tail) == "http://example.com/a"


def scope_with(seed: str, name: str = "default", **values: object):  # type: ignore[no-untyped-def]
    view = default_view(scope=name, **values)
    scope = from_settings(Settings(view))
    list(announce([seed], [scope], view))
    return scope


@pytest.mark.parametrize("name", ["default", "host", "domain"])
def test_pc_097_a_seed_that_redirects_to_a_public_suffix_opens_it_not(name: str) -> None:
    scope = scope_with("http://example.com/", name)
    scope.seed_found(CrawlURI("http://com/", path="R", via="http://example.com/", seed=True))
    scope.seed_found(CrawlURI("http://co.uk/", path="R", via="http://example.com/", seed=True))
    assert not scope.accepts(CrawlURI("http://other.com/", path="L"))
    assert not scope.accepts(CrawlURI("http://other.co.uk/", path="L"))


def test_pc_098_the_source_tag_is_the_seed_not_its_key() -> None:
    view = default_view(source_tag_seeds=True)
    seed = next(announce(["http://WWW.Example.com/A"], [], view))
    assert (seed.uri, seed.source_tag) == ("http://www.example.com/A", "http://WWW.Example.com/A")


def test_pc_099_a_seed_with_a_fragment() -> None:
    scope = scope_with("http://example.com/app#/page1", "page")
    assert fix("http://example.com/app#/page1") == "http://example.com/app"
    assert scope.accepts(CrawlURI("http://cdn.test/app.js", path="E"))
    assert not scope.accepts(CrawlURI("http://example.com/other", path="L"))


def test_pc_229_lists_by_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path starts at the project's folder, from wherever in it the crawl is started."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "surts.txt").write_text("+http://(com,listed,\n")
    (tmp_path / "project" / "spiders").mkdir(parents=True)
    (tmp_path / "project" / "scrapy.cfg").write_text("[settings]\n")
    contact = {"HERITRIX_OPERATOR_CONTACT_URL": "https://a.example/"}
    lists = {
        "HERITRIX_SURTS": "../shared/surts.txt",
        "HERITRIX_SCOPE": ["acceptSurts", ["SurtPrefixedDecideRule", {"surts_source": "../shared/surts.txt"}]],
    }
    for folder in ("project", "project/spiders"):
        monkeypatch.chdir(tmp_path / folder)
        scope = from_settings(read(ScrapySettings(contact | lists)))
        for rule in scope.sequence.rules:
            assert rule.evaluate(CrawlURI("http://www.listed.com/", path="L")) is Decision.ACCEPT
        with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path / "project" / "none.txt"))):
            read(ScrapySettings(contact | {"HERITRIX_SURTS": "none.txt"}))


def test_pc_090_a_parameter_that_repeats_ends_with_the_length_and_the_hops() -> None:
    scope = scope_with("http://example.com/")
    pages = ["http://example.com/?q=" + "&q=" * count for count in range(40)]
    accepted = [scope.accepts(CrawlURI(uri, path="L" * count)) for count, uri in enumerate(pages, 1)]
    assert accepted == [True] * 20 + [False] * 20


def test_pc_102_parts_of_parts_of_a_page_end_with_the_hops() -> None:
    scope = scope_with("http://example.com/")
    taken = [scope.accepts(CrawlURI(f"http://img.test/{n}", path="E" * n)) for n in range(1, 6)]
    assert taken == [True, True, False, False, False]


def test_pc_104_a_slash_loop() -> None:
    scope = scope_with("http://example.com/")
    taken = [scope.accepts(CrawlURI("http://example.com/a" + "/" * n, path="L")) for n in range(1, 8)]
    assert taken == [True, True, True, False, False, False, False]
    assert scope.decide(CrawlURI("http://example.com/a/////", path="L")).rule == "PathologicalPathDecideRule"


@pytest.mark.parametrize("pattern", ["(a+)+$", "http://h/(a+)+$", r"http://h/(?=a)(a+)+$", r"http://h/(a)(a|\1)+b"])
def test_pc_107_an_expression_that_explodes(pattern: str) -> None:
    view = default_view(scope=[["MatchesRegexDecideRule", {"regex": pattern}]])
    scope = from_settings(Settings(view))
    began = time.process_time()
    assert not scope.accepts(CrawlURI("http://h/" + "a" * 40 + "!", path="L"))
    assert time.process_time() - began < 5


def test_pc_221_no_prerequisite_goes_to_a_host_that_is_refused_whole() -> None:
    """A prerequisite is only asked for by a URI that scope took."""
    scope = scope_with("http://a.example/", negative_surts=["example.com"])
    for uri in ("http://example.com/", "http://www.example.com/a"):
        assert not scope.accepts(CrawlURI(uri, path="E", via="http://a.example/"))
