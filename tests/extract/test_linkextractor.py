"""The link extractor of callbacks."""

from __future__ import annotations

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


def test_outlinks_have_hop_and_context() -> None:
    found = LinkExtractor().outlinks(response())
    assert ("E", "img/@src") in [(link.hop, link.context) for link in found]
    assert LinkExtractor().outlinks(Response("http://h.example/x", body=b"\x00")) == []
