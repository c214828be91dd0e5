"""Do the links of a page lead to the files of the mirror, and does everything else stay as it was?"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.archive.browse import Links
from heritrix_scrapy.archive.mirror_pipeline import MirrorWriterPipeline
from heritrix_scrapy.model.errors import ConfigurationError
from tests.archive.test_pipeline import captured, pipeline_of

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "http://a.example/dir/page"
HERE = "a.example/dir/page~.html"
THERE = {
    PAGE: HERE,
    "http://a.example/": "a.example/index.html",
    "http://a.example/s.css": "a.example/s.css",
    "http://a.example/p?x=1&y=2": "a.example/p@x_1_y_2~0011.html",
    "http://b.example/i%20j.png": "b.example/i%20j.png",
    "http://a.example/dir/%C3%BC": "a.example/dir/%C3%BC~.html",
    "http://c.example/base/x.png": "c.example/base/x.png",
}


def page(body: str | bytes, *, css: bool = False) -> str:
    links = Links(PAGE, HERE, THERE.get)
    raw = body if isinstance(body, bytes) else body.encode()
    return (links.css(raw) if css else links.html(raw)).decode()


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        ('<a href="/">x</a>', '<a href="../index.html">x</a>'),
        ("<a href=/ >x", '<a href="../index.html" >x'),
        ("<a class=k href='/s.css#f'>", "<a class=k href='../s.css#f'>"),
        ('<a HREF="/p?x=1&amp;y=2">', '<a HREF="../p@x_1_y_2~0011.html">'),
        ('<a href="/gone">', '<a href="http://a.example/gone">'),
        ('<a href="http://else.example/?a=1&b=2">', '<a href="http://else.example/?a=1&amp;b=2">'),
        ('<img src="http://b.example/i j.png">', '<img src="../../b.example/i%2520j.png">'),
        ('<a href="\u00fc">', '<a href="%25C3%25BC~.html">'),
        ('<a href="page">', '<a href="page~.html">'),
        ('<img srcset="/ 1x, /gone 2x">', '<img srcset="../index.html 1x, http://a.example/gone 2x">'),
        ('<img srcset="/,/s.css 2x">', '<img srcset="http://a.example/,/s.css 2x">'),
        (
            '<base href="http://c.example/base/"><img src="x.png">',
            '<base href=""><img src="../../c.example/base/x.png">',
        ),
        ('<meta http-equiv=Refresh content="0; url=/">', '<meta http-equiv=Refresh content="0; url=../index.html">'),
        ('<meta name=x content="0; url=/">', '<meta name=x content="0; url=/">'),
        ("<p style=\"background: url('/s.css')\">", "<p style=\"background: url('../s.css')\">"),
        ("<style>@import '/s.css';</style>", "<style>@import '../s.css';</style>"),
        ("<script>a = '<a href=\"/\">'</script>", "<script>a = '<a href=\"/\">'</script>"),
        ('<!-- <a href="/"> --><a href="/">', '<!-- <a href="/"> --><a href="../index.html">'),
        ('<a href="#top"><a href="mailto:x"><a href="data:,">', '<a href="#top"><a href="mailto:x"><a href="data:,">'),
        ('<a href="http://[">', '<a href="http://[">'),
        ('<input data="/"><object data="/">', '<input data="/"><object data="../index.html">'),
        ("a < b <3 </p>", "a < b <3 </p>"),
        ('<a href="/', '<a href="/'),
    ],
)
def test_addresses_of_a_page(written: str, rewritten: str) -> None:
    assert page(written) == rewritten


def test_addresses_of_a_style_sheet() -> None:
    assert page("a{b:url( /s.css )}", css=True) == "a{b:url( ../s.css )}"
    assert (
        page('@import "/gone";b{c:url("data:,x")}', css=True) == '@import "http://a.example/gone";b{c:url("data:,x")}'
    )


def test_a_page_in_utf_16_stays() -> None:
    body = '<a href="/">'.encode("utf-16")
    assert Links(PAGE, HERE, THERE.get).html(body) == body


@given(st.binary(max_size=300))
def test_what_has_no_address_stays_byte_by_byte(body: bytes) -> None:
    if not re.search(rb"=|url|import", body, re.IGNORECASE):
        assert Links(PAGE, HERE, THERE.get).html(body) == body


@given(st.text("<>\"=' hrefsc/ax!-\n", max_size=200))
def test_broken_markup_ends(body: str) -> None:
    Links(PAGE, HERE, THERE.get).html(body.encode())


def test_many_tags_take_no_longer_each() -> None:
    body = b'<a href="' * 50_000
    assert len(Links(PAGE, HERE, THERE.get).html(body)) >= len(body)


def mirrored(tmp_path: Path, **more: Any) -> tuple[MirrorWriterPipeline, Any]:
    listed = [["mirror", {"browse": "browse", **more}]]
    _, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WRITERS=listed)
    return MirrorWriterPipeline.from_crawler(crawl.crawler), crawl


def keep(pipeline: MirrorWriterPipeline, crawl: Any, uri: str, body: bytes, kind: str) -> None:
    curi = captured(uri, crawl, body, b"HTTP/1.1 200 OK\r\nContent-Type: " + kind.encode() + b"\r\n\r\n")
    curi.content_type, curi.content_length = kind, len(body)
    pipeline.process_item(curi)


def test_a_tree_beside_the_mirror(tmp_path: Path) -> None:
    pages = {
        "http://a.example/": b'<a href="b?q=1">b</a><link rel=stylesheet href=/x/s.css><a href="/later">',
        "http://a.example/b?q=1": b'<a href="./">home</a>',
        "http://a.example/x/s.css": b"i{background:url(../i.png)}",
        "http://a.example/i.png": b"\x89PNG",
    }
    kinds = {"": "text/html", "b?q=1": "text/html; charset=utf-8", "s.css": "text/css", "i.png": "image/png"}
    pipeline, crawl = mirrored(tmp_path)
    for uri, body in pages.items():
        keep(pipeline, crawl, uri, body, kinds[uri.rpartition("/")[2]])
    asyncio.run(pipeline.close_spider())
    assert crawl.crawler.stats.get_value("heritrix/mirror/rewritten") == 3
    assert (tmp_path / "mirror" / "a.example" / "index.html").read_bytes() == pages["http://a.example/"]
    tree = tmp_path / "browse"
    home = (tree / "a.example" / "index.html").read_text()
    found = [unquote(urljoin("file:///a.example/index.html", link)) for link in re.findall(r'href="([^"]*)"', home)]
    assert [(tree / link.removeprefix("file:///")).is_file() for link in found[:2]] == [True, True]
    assert found[2] == "http://a.example/later"
    assert "url(../i.png)" in (tree / "a.example" / "x" / "s.css").read_text()
    assert (tree / "a.example" / "i.png").samefile(tmp_path / "mirror" / "a.example" / "i.png")

    # the crawl goes on: what was missing is there now
    pipeline, crawl = mirrored(tmp_path)
    keep(pipeline, crawl, "http://a.example/later", b"x", "text/html")
    asyncio.run(pipeline.close_spider())
    assert 'href="later~.html"' in (tree / "a.example" / "index.html").read_text()
    assert list(tree.rglob("*.part")) == []


@pytest.mark.parametrize("properties", [{"browse": "mirror/x"}, {"raw": True}, {"browse": "mirror"}])
def test_a_tree_that_cannot_be(tmp_path: Path, properties: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="browse"):
        mirrored(tmp_path, **properties)
