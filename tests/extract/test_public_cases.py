"""Do the mistakes that people reported to other crawlers happen here?

Each test names the report it comes from by its number among the public cases.
"""

from __future__ import annotations

import gzip
import time

import pytest

from heritrix_scrapy.extract.sitemap import IS_SITEMAP
from tests.extract.pages import extracted, links

DIR = "/dir/"


def found(page: str | bytes, **about: object) -> list[tuple[str, str]]:
    return [(hop, uri) for hop, uri, _ in links(page, **about)]  # type: ignore[arg-type]


@pytest.mark.parametrize("quotes", ["=", '="', "='", "=\"'"])
def test_pc_108_a_huge_attribute_costs_no_more_than_its_size(quotes: str) -> None:
    page = "<a href=before><div data-x='" + quotes * (1_000_000 // len(quotes)) + "'><a href=after>"
    began = time.process_time()
    assert ("L", "/dir/before") in found(page)
    assert time.process_time() - began < 1.0


def test_pc_177_srcset_in_capitals() -> None:
    assert found("<IMG SRCSET='a.jpg 1x, b.jpg 2x'>") == [("E", "/dir/a.jpg"), ("E", "/dir/b.jpg")]


def test_pc_178_commas_inside_the_addresses_of_a_srcset() -> None:
    page = "<img srcset='/i,w_1/a.jpg 1x, /i,w_2/a.jpg 2x'>"
    assert found(page) == [("E", "/i,w_1/a.jpg"), ("E", "/i,w_2/a.jpg")]


def test_pc_180_a_relative_base() -> None:
    assert found("<base href='/sub/'><a href=x>") == [("L", "/sub/"), ("L", "/sub/x")]


def test_pc_182_the_first_base_holds_for_all_that_is_found() -> None:
    page = (
        "<base href='http://b.example.com/'><base href='http://c.example.com/'><a href=x><img src=y>"
        "<style>p{background:url(z)}</style><script>a='q/w.html'</script>"
    )
    assert {uri for _, uri in found(page)} == {
        "http://b.example.com/",
        "http://c.example.com/",
        *(f"http://b.example.com/{name}" for name in ("x", "y", "z", "q/w.html")),
    }


def test_pc_183_attributes_of_a_refresh_in_any_order() -> None:
    assert found("<meta content='0;url=/n' http-equiv='Refresh'>") == [("R", "/n")]


@pytest.mark.parametrize("content", ["abc", ""])
def test_pc_185_a_broken_refresh_leads_nowhere(content: str) -> None:
    assert found(f"<meta http-equiv=refresh content='{content}'><a href=x>") == [("L", "/dir/x")]


@pytest.mark.parametrize(
    ("rel", "hop"), [("stylesheet", "E"), ("icon", "E"), ("next", "L"), ("alternate", "L"), ("canonical", "L")]
)
def test_pc_186_a_links_rel_decides_over_its_hop(rel: str, hop: str) -> None:
    assert found(f"<link rel={rel} href=/x>") == [(hop, "/x")]


def test_pc_187_what_is_cited_is_a_link() -> None:
    assert found("<blockquote cite='/src'>") == [("L", "/src")]


def test_pc_189_names_of_a_tag_manager_are_no_addresses() -> None:
    page = "<script>w[l].push({'gtm.start': new Date().getTime(), event:'gtm.js'}); a='e.target.value'</script>"
    assert found(page) == []


def test_pc_190_names_that_require_takes_are_no_addresses() -> None:
    assert found("<script>t('./ReactComponent'); t('../lib/y'); u='/real/page.html'</script>") == [
        ("X", "/real/page.html")
    ]


def test_pc_191_a_long_attribute_is_read_whole() -> None:
    # longer than a URI may be here, so told as no URI instead of cut to another one
    target = "/" + "a" * 3000
    got = extracted(f"<a href='{target}'><img srcset='{'/i.png 1x, ' * 400}/j.png 2x'>", extractors=["ExtractorHTML"])
    assert [link.uri[-6:] for link in got.outlinks] == ["/i.png", "/j.png"]
    assert [text for text, _ in got.link_errors] == [target]


def test_pc_193_a_byte_order_mark_speaks_before_the_header() -> None:
    page = "<a href='/é'>".encode("utf-8-sig")
    about = {"content_type": "text/html; charset=windows-1251", "charset": "windows-1251"}
    assert found(page, **about) == [("L", "/%C3%A9")]


def test_pc_194_a_charset_in_a_mistyped_meta_is_found() -> None:
    page = "<meta httpequiv='ContentType' content='text/html; charset=gbk'><a href='/中'>".encode("gbk")
    assert found(page, content_type="text/html", charset=None) == [("L", "/%E4%B8%AD")]


def test_pc_195_bytes_in_no_declared_charset() -> None:
    page = "<p>日本語のページです。ご覧ください。</p><a href='/日本?q=日本'>".encode("shift_jis")
    got = extracted(page, extractors=["ExtractorHTML"], content_type="text/html", charset=None)
    assert [link.uri[22:] for link in got.outlinks] == ["/%E6%97%A5%E6%9C%AC?q=%93%FA%96%7B"]
    assert got.annotations == ["detectedCharset:Shift_JIS"]


def test_pc_197_cdata_in_xml() -> None:
    about = {"extractor": "ExtractorXML", "content_type": "text/xml", "url": "http://www.example.com/a.xml"}
    page = "<x><loc><![CDATA[http://example.com/a?b&c]]></loc><loc><![CDATA[ http://example.com/d?e&amp;f ]]></loc></x>"
    assert found(page, **about) == [("X", "http://example.com/a?b&c"), ("X", "http://example.com/d?e&amp;f")]


URLSET = "<urlset{}><url><loc>http://www.example.com/a</loc></url></urlset>"


def sitemap(body: str | bytes, **about: object) -> list[tuple[str, str]]:
    given = {"extractor": "ExtractorSitemap", "content_type": "text/plain", "annotations": [IS_SITEMAP], **about}
    return found(body, **given)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_pc_198_a_sitemap_gzipped_over(times: int) -> None:
    body = URLSET.format("").encode()
    for _ in range(times):
        body = gzip.compress(body)
    assert sitemap(body) == [("M", "/a")]


def test_pc_199_a_blank_line_before_the_declaration() -> None:
    body = "\n<?xml version='1.0'?>" + URLSET.format("")
    assert sitemap(body) == [("M", "/a")]
    assert sitemap(body, annotations=[], content_type="text/xml") == [("M", "/a")]


@pytest.mark.parametrize(
    "attributes",
    [
        " xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'",
        " xmlns='https://www.sitemaps.org/schemas/sitemap/0.9/'",
        " xmlns=' http://www.sitemaps.org/schemas/sitemap/0.9'",
        " xmlns:x='y'",
    ],
)
def test_pc_201_namespaces_and_blanks(attributes: str) -> None:
    assert sitemap("  " + URLSET.format(attributes).replace("<loc>", "<loc> \n ")) == [("M", "/a")]


def test_pc_202_an_index_of_indexes() -> None:
    body = "<sitemapindex><sitemap><loc>http://www.example.com/b.xml</loc></sitemap></sitemapindex>"
    about = {"content_type": "text/xml", "annotations": [IS_SITEMAP], "extractors": ["ExtractorSitemap"]}
    got = extracted(body, **about)  # type: ignore[arg-type]
    (link,) = got.outlinks
    assert (link.hop, got.child(link).annotations) == ("M", [IS_SITEMAP])
    deep = extracted(body, path="PMMMMM", **about)  # type: ignore[arg-type]
    assert (deep.outlinks, deep.annotations) == ([], [IS_SITEMAP, "sitemapTooDeep"])
