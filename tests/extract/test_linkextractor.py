"""The link extractor of callbacks."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.http import HtmlResponse, Response

from heritrix_scrapy.extract import LinkExtractor

PAGE = b"""<a href="/a">a</a><a href="/a#b">again</a><img src=i.png><a href="mailto:x@y.z">m</a>
<a href="/c?\xc3\xa9">c</a><script>var x = "/guess.html"</script>"""


def response() -> HtmlResponse:
    return HtmlResponse("http://h.example/d/", body=PAGE, headers={"Content-Type": "text/html; charset=utf-8"})


def urls(extractor: LinkExtractor) -> list[str]:
    return [link.url for link in extractor.extract_links(response())]


def test_links_in_order_and_once() -> None:
    assert urls(LinkExtractor()) == ["http://h.example/a", "http://h.example/c?%C3%A9"]


def test_hops_and_patterns() -> None:
    assert urls(LinkExtractor(hops="EX")) == ["http://h.example/d/i.png", "http://h.example/guess.html"]
    assert urls(LinkExtractor(allow=r"/c\?")) == ["http://h.example/c?%C3%A9"]
    assert urls(LinkExtractor(deny=[r"/c\?", r"/a$"])) == []
    assert urls(LinkExtractor(hops="X", extract_javascript=False)) == []


def test_what_scrapys_takes() -> None:
    page = (
        b"<base href='/base/'><div id=nav><a href=one>1</a><a href='http://sub.other.example/two.PDF'>2</a></div>"
        b"<p><a href=three>3</a><a href=three>3</a><a href='q?b=1&a=2'>q</a><a href='q?a=2&b=1'>q</a>"
        b"<area href=four></p>"
        b"<link rel=next href=five>"
    )
    html = HtmlResponse("http://h.example/d/", body=page, headers={"Content-Type": "text/html; charset=utf-8"})

    def found(**options: Any) -> list[str]:
        return [link.url.rpartition("/")[2] for link in LinkExtractor(**options).extract_links(html)]

    everything = ["", "one", "two.PDF", "three", "q?b=1&a=2", "q?a=2&b=1", "four", "five"]
    assert found() == everything
    assert found(allow_domains="other.example") == found(allow_domains=["other.example"]) == ["two.PDF"]
    assert found(deny_domains=["h.example"]) == ["two.PDF"]
    assert "two.PDF" not in found(deny_extensions=["pdf"])
    assert found(restrict_xpaths="//div[@id='nav']") == found(restrict_css=["#nav"]) == ["one", "two.PDF"]
    assert found(restrict_css="#nav a", restrict_xpaths=("//area",)) == ["four", "one", "two.PDF"]
    assert LinkExtractor(restrict_css="#nav").extract_links(html)[0].url == "http://h.example/base/one"
    assert LinkExtractor(restrict_css="a").extract_links(Response("http://h.example/x", body=b"<a href=y>")) == []
    assert found(tags=("a", "area"), attrs=("href",)) == everything[1:-1]
    assert found(tags="link") == ["five"]
    assert found(canonicalize=True) == [url for url in everything if url != "q?a=2&b=1"]
    assert found(unique=False).count("three") == 1  # the page's links are a set already
    assert found(process_value=lambda url: url + "!" if url.endswith("one") else None) == ["one!"]
    assert LinkExtractor(allow="x").matches("http://h.example/x")
    assert not LinkExtractor(deny="x").matches("http://h.example/x")
    for wrong in ({"restrict_text": "t"}, {"strip": False}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LinkExtractor(**wrong)  # type: ignore[arg-type]


def test_outlinks_have_hop_and_context() -> None:
    found = LinkExtractor().outlinks(response())
    assert ("E", "img/@src") in [(link.hop, link.context) for link in found]
    assert LinkExtractor().outlinks(Response("http://h.example/x", body=b"\x00")) == []
