"""Where pages lead, under both profiles, beyond what the vectors ask."""

from __future__ import annotations

import pytest

from heritrix_scrapy.extract.ways import heeds_meta_nofollow
from tests.extract.pages import SCRIPTS, extracted, links

A = "a/@href"


@pytest.mark.parametrize(
    ("page", "modern", "heritrix"),
    [
        ('<a title="1 > 0" href=x>', [("L", "/dir/x", A)], []),
        ('<a href="a>b">', [("L", "/dir/a%3Eb", A)], [("L", "/dir/a", A)]),
        ("<a title=don't href=x>can't</a>", [("L", "/dir/x", A)], [("L", "/dir/x", A)]),
        ('<a title="open href=x><a href=y>', [("L", "/dir/y", A)], [("L", "/dir/y", A)]),
        ("<my-tag href=x>", [("L", "/dir/x", "my-tag/@href")], []),
        ("<!---><a href=x><!-- --!><a href=y>-->", [("L", "/dir/x", A), ("L", "/dir/y", A)], []),
        ("<scriptx src=a.js></scriptx><a href=x>", [("E", "/dir/a.js", "scriptx/@src"), ("L", "/dir/x", A)],
         [("E", "/dir/a.js", "scriptx/@src"), ("L", "/dir/x", A)]),
        ("<script>'/x.html'</SCRIPT\n><a href=x>", [("X", "/x.html", "=JS_MISC"), ("L", "/dir/x", A)],
         [("L", "/dir/x", A)]),
        ("<a href=one href=two data-remote='true'>",
         [("L", "/dir/two", A), ("L", "/dir/one", "a[data-remote='true']/@href")],
         [("E", "/dir/two", "a[data-remote='true']/@href"), ("L", "/dir/one", "a[data-remote='true']/@href")]),
        ("<base href=/b/><object codebase=c/ data=d>",
         [("L", "/b/", "base/@href"), ("L", "/b/c/", "object/@codebase"), ("E", "/b/c/d", "object")],
         [("L", "/b/", "base/@href"), ("L", "/b/c/", "object/@codebase"), ("E", "/dir/c/d", "object")]),
        ("<object codebase=/c/ archive='a  b'>",
         [("L", "/c/", "object/@codebase"), ("E", "/c/a", "object"), ("E", "/c/b", "object")],
         [("L", "/c/", "object/@codebase"), ("E", "/c/a", "object"), ("E", "/c/", "object"), ("E", "/c/b", "object")]),
        ("<form action=\"javascript:go('/x.html')\">", [("X", "/x.html", "=JS_MISC")], [("X", "/x.html", "=JS_MISC")]),
        ("<a href='\njavascript:go(\"/x.html\")'>", [("X", "/x.html", "=JS_MISC")],
         [("L", "javascript:go(%22/x.html%22)", A)]),
        # to Heritrix a citation is a reference
        ("<base cite=/b/><a href=x>", [("L", "/b/", "base/@cite"), ("L", "/dir/x", A)],
         [("L", "/b/", "base/@cite"), ("L", "/b/x", A)]),
        ("<a cite=x href=y>", [("L", "/dir/x", "a/@cite"), ("L", "/dir/y", A)],
         [("L", "/dir/y", A), ("L", "/dir/x", "a/@cite")]),
        ("<link cite=x rel=next>", [("L", "/dir/x", "link/@cite")], [("L", "/dir/x", "link/@href")]),
        ("<link cite=x>", [("L", "/dir/x", "link/@cite")], []),
        ("<a href=y cite=x data-remote='true'>",
         [("L", "/dir/x", "a/@cite"), ("L", "/dir/y", "a[data-remote='true']/@href")],
         [("E", "/dir/x", "a[data-remote='true']/@href"), ("L", "/dir/y", "a[data-remote='true']/@href")]),
        # and six characters of a style's tag are its name
        ("<style src=x></style>", [("E", "/dir/x", "style/@src")], [("E", "/dir/x", "style /@src")]),
        ("<object codebase=/c/ data='a%20b'>", [("L", "/c/", "object/@codebase"), ("E", "/c/a%20b", "object")],
         [("L", "/c/", "object/@codebase"), ("E", "/c/a%2520b", "object")]),
    ],
)  # fmt: skip
def test_profiles(page: str, modern: list[tuple[str, str, str]], heritrix: list[tuple[str, str, str]]) -> None:
    assert links(page) == modern
    assert links(page, profile="heritrix") == heritrix


#: Tags for which the standard reader has a short way, and what stops it from taking that.
USUAL = (
    '<p><br/><p class="c"><script>\'/s.html\'</script><style class="c">a{b:url(u.png)}</style>'
    '<a class="c" href="x" rel="nofollow" id="i"><a href="">e</a><a title="&lt;" href="a&amp;b" /><a id="i" name="n">'
    '<a class="c" href="y"title="t"><span class="c" style="d:url(v.png)"><div data-theme="t" data-src="w.png">'
    '<a title="<a href=no>" href="q"><li aria-label="a>b" onclick="f(\'/f.html\')"><svg><use xlink:href="r" />'
    '<form method="post" action="g"><form class="c" action="h"><link rel="icon" title="t" href="k.ico">'
    '<param name="flashvars" value="a=http://b.example/c"><a href="javascript:f(\'/j.html\')"><a href=" z">'
    '<my-tag class="c" src="l"><button type="button" value="/m.html">'
)


@pytest.mark.parametrize("settings", [{}, {"obey_rel_nofollow": True}])
def test_the_short_way_finds_what_the_long_one_does(settings: dict[str, bool]) -> None:
    short = links(USUAL, settings=settings)
    assert ("L", "/dir/x", A) in short or settings
    assert {"/f.html", "/j.html", "/s.html", "/dir/q", "/dir/r", "/dir/y", "/dir/l"} < {uri for _, uri, _ in short}
    # an attribute that is nowhere idle, and names in capitals, take it
    for name in ("p", "br", "a", "span", "div", "li", "form", "link", "param", "button", "use", "my-tag"):
        capitals = USUAL.replace(f"<{name} ", f"<{name.upper()} ")
        assert links(capitals, settings=settings) == short
        assert links(USUAL.replace(f"<{name} ", f"<{name} x=1 "), settings=settings) == short


def test_values_as_long_as_allowed_and_longer() -> None:
    fits, longer = "x" * 2048, "x" * 2049
    assert [uri for _, uri, _ in links(f"<img srcset='{fits[:-3]} 1x'>")] == [f"/dir/{fits[:-3]}"]
    for profile in ("modern", "heritrix"):
        assert links(
            f"<a href='{longer}'><a href={longer}><a href=ok>",
            profile=profile,
            settings={"max_attribute_val_length": 2048},
        ) == [("L", "/dir/ok", A)]


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_unclosed_values_and_tags(profile: str) -> None:
    assert links("<a href='x>", profile=profile) == [("L", "/dir/x", A)]
    assert links("<a href='x", profile=profile) == []
    assert links("<input value='/x.html\n>", profile=profile) == (
        [("L", "/x.html", "input/@value")] if profile == "heritrix" else []
    )


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_meta(profile: str) -> None:
    page = "<meta http-equiv=Refresh content=\"0;URL='/next'\"><meta http-equiv=refresh content=5>"
    assert links(page, profile=profile) == [("R", "/next", "meta")]
    stop = "<a href=a><meta name=robots content='noindex, NoFollow'><a href=b>"
    assert links(stop, profile=profile) == [("L", "/dir/a", A)]
    both = [("L", "/dir/a", A), ("L", "/dir/b", A)]
    assert links(stop, profile=profile, settings={"robots_policy": "ignore"}) == both
    deaf = ["custom", {"obey_meta_robots_nofollow": False}]
    assert links(stop, profile=profile, settings={"robots_policy": deaf}) == both
    assert heeds_meta_nofollow("mine")
    assert not heeds_meta_nofollow("mine", {"mine": deaf})
    assert not heeds_meta_nofollow("mine", {"map": {"mine": deaf}})
    assert heeds_meta_nofollow("mine", {"mine": ["firstNamed", {}]})


def test_base_is_kept_and_the_charset_found() -> None:
    curi = extracted("<base href='/a/'><base href='/b/'><a href=x>", content_type="text/html")
    assert curi.base == "http://www.example.com/a/"
    curi = extracted("<meta charset=koi8-r><a href='/я'>".encode("koi8-r"), content_type="text/html", charset=None)
    assert (curi.charset, curi.annotations) == ("KOI8-R", ["usingCharsetInHTML:KOI8-R"])
    assert curi.outlinks[-1].uri.endswith("/%D1%8F")
    curi = extracted(b"\xef\xbb\xbf<a href='/\xc3\xa9'>", content_type="text/html", charset=None)
    assert curi.outlinks[-1].uri.endswith("/%C3%A9")


def test_bad_references_are_noted_and_the_page_goes_on() -> None:
    curi = extracted("<a href='http://a:b/'><a href=x>", extractors=["ExtractorHTML"])
    assert [link.uri for link in curi.outlinks] == ["http://www.example.com/dir/x"]
    assert [text for text, _ in curi.link_errors] == ["http://a:b/"]


def test_form_offsets_and_attribute_case() -> None:
    assert links("<FORM ACTION='/f' METHOD=Post><IMG\tSRC = 'a.gif'>") == [("E", "/dir/a.gif", "img/@src")]


def test_text_that_is_not_ours_to_split() -> None:
    assert links("<img srcset=' , a.png 1x, b.png(x,y) 2x ,c.png,'>") == [
        ("E", "/dir/a.png", "img/@srcset"),
        ("E", "/dir/b.png(x,y)", "img/@srcset"),
        ("E", "/dir/c.png", "img/@srcset"),
    ]


def test_what_heritrix_counts_and_logs_twice() -> None:
    """A script element with attributes is read twice; links are kept once, what is dropped or no URI shows it."""
    page = "<script type=x>a='/a.html'; b='/b.html'; c='http://a.b:x/c.html'</script>"
    scripts = ["ExtractorHTML", SCRIPTS]
    curi = extracted(page, profile="heritrix", settings={"max_outlinks": 1}, extractors=scripts)
    assert curi.annotations == ["dol:5"]
    curi = extracted(page, profile="heritrix", extractors=scripts)
    assert [text for text, _ in curi.link_errors] == ["http://a.b:x/c.html"] * 2


@pytest.mark.parametrize("name", ["utf-", "utf", "utf--8", "utf-8 ", "utf-8;", "cp65001"])
def test_names_that_are_no_character_set_to_java(name: str) -> None:
    page = f'<meta charset="{name}"><a href="\u00e9">'
    curi = extracted(page, profile="heritrix", charset=None, content_type="text/html")
    assert [link.uri for link in curi.outlinks if link.hop == "L"] == ["http://www.example.com/dir/%C3%83%C2%A9"]
