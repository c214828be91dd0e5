"""Pages of kinds that other crawlers lost links of."""

from __future__ import annotations

import gzip

import pytest

from heritrix_scrapy.extract import refresh
from heritrix_scrapy.extract.sitemap import entries
from tests.extract.pages import extracted, links

PARTS = [
    ('<video poster="/p.jpg" src="/v.mp4">', [("E", "/p.jpg", "video/@poster"), ("E", "/v.mp4", "video/@src")]),
    ('<svg><image xlink:href="/s.png"/></svg>', [("E", "/s.png", "image/@href")]),
    ('<svg><use href="/t.svg#b"/><use href="#local"/></svg>', [("E", "/t.svg", "use/@href")]),
    ("<link rel=preload as=font href=/f.woff2>", [("E", "/f.woff2", "link[rel='preload']/@href")]),
    ('<link rel="apple-touch-icon" href=/t.png>', [("E", "/t.png", "link[rel='apple-touch-icon']/@href")]),
    ("<link rel=manifest href=/m.json>", [("E", "/m.json", "link[rel='manifest']/@href")]),
    ("<img data-lazy-src=/l.gif>", [("E", "/l.gif", "img/@data-lazy-src")]),
    ("<iframe srcdoc='&lt;img src=/i.gif&gt;'></iframe>", [("E", "/i.gif", "img/@src")]),
    (
        '<applet code=A.class archive="a.jar,b.jar, c.jar">',
        [("E", f"/dir/{name}", "applet") for name in ("A.class", "a.jar", "b.jar", "c.jar")],
    ),
]


@pytest.mark.parametrize(("tag", "wanted"), PARTS)
def test_what_belongs_to_a_page_is_part_of_it(tag: str, wanted: list[tuple[str, str, str]]) -> None:
    found = links(f"<html><body>{tag}")
    assert sorted(found) == sorted(wanted)


def test_heritrix_takes_none_of_it_for_a_part() -> None:
    page = "<html>" + "".join(tag for tag, _ in PARTS[:-1])
    found = links(page, profile="heritrix")
    assert {uri for hop, uri, _ in found if hop == "E"} == {"/v.mp4"}


def test_a_page_in_a_page_has_no_say_about_the_other() -> None:
    inner = "&lt;base href=/other/&gt;&lt;a href=x&gt;&lt;meta name=robots content=nofollow&gt;"
    found = links(f'<html><iframe srcdoc="{inner}"></iframe><a href=y>')
    assert [uri for _, uri, _ in found] == ["/other/", "/dir/x", "/dir/y"]
    deep = "<a href=/deepest>"
    for _ in range(8):
        deep = "<iframe srcdoc='" + deep.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;") + "'>"
    assert links("<html>" + deep) == []


@pytest.mark.parametrize("base", ["javascript:void(0)", "data:text/html,x", "about:blank", "mailto:a@b.example"])
def test_nothing_is_relative_to_a_base_without_a_place(base: str) -> None:
    found = links(f'<html><base href="{base}"><base href="/second/"><a href=x>')
    assert ("L", "/dir/x", "a/@href") in found


def test_a_button_may_send_its_form_elsewhere() -> None:
    get = "<form action=/go><button formaction=/alt>"
    assert [uri for _, uri, _ in links(f"<html>{get}")] == ["/go", "/alt"]
    # what would be posted is not asked for
    assert links("<html><form action=/go method=post><button formaction=/alt>") == []
    assert links("<html><form action=/go method=post><button formmethod=get formaction=/alt>") == [
        ("L", "/alt", "button/@formaction")
    ]
    assert links("<html><form action=/go><input formmethod=POST formaction=/alt>") == [("L", "/go", "form/@action")]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/a", "/a"),
        ("5; URL='/a'", "/a"),
        ('0; url = "/a"', "/a"),
        ("5; /a?x=1", "/a?x=1"),
        ("0,url=/a", "/a"),
        ("0 /a", "/a"),
        (".5;/a", "/a"),
        ("url=/a=b", "/a=b"),
        ("0;url=/o'neil", "/o'neil"),
        ("0;url='/a' ; more", "/a"),
        ("30", None),
        ("0;", None),
        ("0;url=", None),
        ("0;url=''", None),
        ("abc", None),
        ("", None),
    ],
)
def test_where_a_refresh_leads(content: str, target: str | None) -> None:
    assert refresh.target(content) == target


def test_a_refresh_without_the_name_of_its_address() -> None:
    assert links('<html><meta http-equiv=refresh content="5; /n?x=1">') == [("R", "/n?x=1", "meta")]
    found = links("", extractor="ExtractorHTTP", headers={"Refresh": b"0;/n"})
    assert ("R", "/n", "Refresh:") in found


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("gb2312", "gbk", "\u9555"),
        ("iso-8859-1", "cp1252", "\u20ac"),
        ("shift_jis", "cp932", "\u2460"),
        ("euc-kr", "cp949", "\ub620"),
        ("iso-8859-9", "cp1254", "\u0178"),
        ("tis-620", "cp874", "\u20ac"),
        ("big5", "big5hkscs", "\u55f0"),
    ],
)
def test_a_label_means_the_larger_set(label: str, codec: str, text: str) -> None:
    """A character that only the larger set has is no reason to ask for another page."""
    page = f'<html><meta charset={label}><a href="/{text}?q={text}">'.encode(codec)
    (link,) = extracted(page, content_type="text/html", charset=None, extractors=["ExtractorHTML"]).outlinks
    path = "".join(f"%{byte:02X}" for byte in text.encode())
    query = "".join(
        chr(byte)
        if chr(byte).isascii() and chr(byte).isalnum()
        else f"%{byte:02X}"  # a letter that a second byte may be stays one
        for byte in text.encode(codec)
    )
    assert link.uri == f"http://www.example.com/{path}?q={query}"


def test_what_windows_1252_does_not_have_stays_a_control_character() -> None:
    page = b'<html><meta charset=latin1><a href="/\x81">'
    (link,) = extracted(page, content_type="text/html", charset=None, extractors=["ExtractorHTML"]).outlinks
    assert link.uri == "http://www.example.com/%C2%81"


@pytest.mark.parametrize(
    ("sheet", "content_type"),
    [
        ('@charset "windows-1251"; a{background:url(\u043f.png)}'.encode("cp1251"), "text/css"),
        ("a{background:url(\u043f.png)}".encode("utf-8-sig"), "text/css"),
        ("a{background:url(\u043f.png)}".encode(), "text/css"),
        ('@charset "utf-16"; a{background:url(\u043f.png)}'.encode(), "text/css"),
    ],
)
def test_a_sheet_says_what_it_is_written_in(sheet: bytes, content_type: str) -> None:
    about = {"content_type": content_type, "charset": None, "url": "http://www.example.com/s.css"}
    curi = extracted(sheet, extractors=["ExtractorCSS"], **about)
    assert [link.uri for link in curi.outlinks] == ["http://www.example.com/%D0%BF.png"]
    assert extracted(sheet, extractors=["ExtractorCSS"], profile="heritrix", **about).annotations == []


def test_the_header_of_a_sheet_comes_before_its_rule() -> None:
    sheet = '@charset "windows-1251"; a{background:url(\u00e9.png)}'.encode()
    about = {"content_type": "text/css; charset=utf-8", "url": "http://www.example.com/s.css"}
    curi = extracted(sheet, extractors=["ExtractorCSS"], charset="UTF-8", **about)
    assert [link.uri for link in curi.outlinks] == ["http://www.example.com/%C3%A9.png"]


def _sitemap(encoding: str, *addresses: str) -> str:
    urls = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    return f'<?xml version="1.0" encoding="{encoding}"?>\n<urlset>{urls}</urlset>'


WRITTEN = ("http://e.example/a?x=1&amp;y=2&z", "http://e.example/b")
MEANT = ["http://e.example/a?x=1&y=2&z", "http://e.example/b"]


@pytest.mark.parametrize(
    "data",
    [
        _sitemap("UTF-16", *WRITTEN).encode("utf-16"),
        _sitemap("UTF-16", *WRITTEN).encode("utf-16-be"),
        _sitemap("UTF-16", *WRITTEN).encode(),
        _sitemap("Shift_JIS", *WRITTEN).encode(),
        _sitemap("no-such-set", *WRITTEN).encode(),
        _sitemap("UTF-8", *WRITTEN).replace("z<", "z\x0b<").encode(),
        _sitemap("UTF-8", *WRITTEN).replace("</url><url>", "</loc></url><url>").encode(),
        gzip.compress(_sitemap("UTF-8", *WRITTEN)[:90].encode())
        + gzip.compress(_sitemap("UTF-8", *WRITTEN)[90:].encode()),
    ],
    ids=["utf-16", "utf-16be", "no-utf-16", "two-bytes", "unknown", "control", "broken", "two-streams"],
)
def test_a_sitemap_is_read_however_it_is_written(data: bytes) -> None:
    assert [entry.text for entry in entries(data, lenient=True)] == MEANT


def test_letters_of_a_sitemap_in_other_sets() -> None:
    for encoding, codec, letter in (("GB2312", "gbk", "\u9555"), ("windows-1251", "cp1251", "\u043f")):
        data = _sitemap(encoding, f"http://e.example/{letter}").encode(codec)
        assert [entry.text for entry in entries(data, lenient=True)] == [f"http://e.example/{letter}"]
    # a letter that is not what the document says it is in is left as the byte it is
    data = _sitemap("UTF-8", "http://e.example/\u00e9", "http://e.example/b").encode("latin-1")
    assert [entry.text for entry in entries(data, lenient=True)] == ["http://e.example/%E9", "http://e.example/b"]


def test_what_is_behind_the_break_of_an_index_is_an_index() -> None:
    data = (
        b"<sitemapindex><sitemap><loc>http://e.example/1</loc></sitemap><x></y><sitemap><loc>http://e.example/2</loc>"
    )
    found = [(entry.text, entry.is_index) for entry in entries(data, lenient=True)]
    assert found == [("http://e.example/1", True), ("http://e.example/2", True)]
    # what is no sitemap is none behind its break either
    assert entries(b"<html><p></b><loc>http://e.example/2</loc>", lenient=True) == []
