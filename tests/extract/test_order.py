"""Who reads which document, in which order, and what an extractor's failure costs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.extractor import ContentExtractor
from heritrix_scrapy.extract.order import DEFAULT_ORDER, EXTRACTORS, NOT_BUILT, REFUSED, Extraction
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import default_view
from tests.extract.pages import SCRIPTS, extracted, fetched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ICON = "http://www.example.com/favicon.ico"


class Hyphens:
    """An extractor of a project's own: takes any page and finds one thing in it, its own way."""

    def applies(self, curi: CrawlURI) -> bool:
        return curi.content_type.startswith("text/")

    def extract(self, document: Document) -> Iterator[Outlink]:
        for word in document.text.split():
            if word.startswith("see-"):
                yield Outlink(f"http://words.example/{word[4:]}", "X", "hyphens")
        document.link("relative", "X", "hyphens")


class Broken:
    def applies(self, curi: CrawlURI) -> bool:
        return True

    def extract(self, document: Document) -> Iterable[Outlink]:
        document.link("before", "L", "broken")
        raise RuntimeError("cannot")


def test_the_first_content_extractor_takes_the_document() -> None:
    page = "<a href=x><style>a{b:url(y)}</style>"
    about: dict[str, Any] = {"url": "http://www.example.com/a.css"}
    once = extracted(page, extractors=["ExtractorHTML", "ExtractorCSS"], **about)
    assert [link.uri for link in once.outlinks] == ["http://www.example.com/x", "http://www.example.com/y"]
    sheet_first = extracted(page, extractors=["ExtractorCSS", "ExtractorHTML"], **about)
    assert [link.hop for link in sheet_first.outlinks] == ["E"]
    both = extracted(
        page, extractors=["ExtractorCSS", "ExtractorHTML"], settings={"extract_independently": True}, **about
    )
    assert [link.hop for link in both.outlinks] == ["E", "L"]


@pytest.mark.parametrize(
    ("about", "uris"),
    [
        ({"status": 404}, ["x", "icon"]),
        ({"status": 500}, ["x", "icon"]),
        ({"status": 404, "settings": {"extract404s": False}}, ["icon"]),
        ({"status": -2}, []),
        ({"content_type": "image/png"}, ["icon"]),
        ({"content_type": "image/png", "url": "http://www.example.com/a.PNG?x.html"}, ["icon"]),
        ({"url": "http://www.example.com/a.png"}, ["icon"]),
        ({"url": "http://www.example.com/a.png", "settings": {"ignore_unexpected_html": False}}, ["x", "icon"]),
        ({"url": "ftp://www.example.com/dir/a"}, ["x"]),
    ],
)
def test_which_documents(about: dict[str, Any], uris: list[str]) -> None:
    got = [link.uri for link in extracted("<a href=/x>", **about).outlinks]
    names = {"icon": ICON, "x": "x"}
    assert sorted(uri if uri == ICON else uri[-1] for uri in got) == sorted(names[uri] for uri in uris)


def test_headers() -> None:
    headers = {
        "Location": "/\xe9".encode(),
        "content-location": b"other",
        "Refresh": b"0; url='/r'",
    }
    got = extracted("", extractors=["ExtractorHTTP"], headers=headers, settings={"infer_paths": ["/feed"]})
    assert [(link.hop, link.uri[22:], link.context) for link in got.outlinks] == [
        ("R", "/%C3%A9", "Location:"),
        ("I", "/dir/other", "=INFERRED_MISC"),
        ("R", "/r", "Refresh:"),
        ("I", "/favicon.ico", "=INFERRED_MISC"),
        ("I", "/feed", "=INFERRED_MISC"),
    ]
    assert not got.extracted


def test_more_links_than_allowed_are_counted() -> None:
    page = "<a href=1><a href=1><a href=2><a href=3><a href=3><a href='data:,x'>"
    got = extracted(page, extractors=["ExtractorHTML"], settings={"max_outlinks": 2})
    assert len(got.outlinks) == 2
    assert (got.discarded_outlinks, got.annotations) == (2, ["dol:2"])
    page = "<a href=1><script type=x>a='/2.html'</script>"
    for profile, count in (("modern", 1), ("heritrix", 2)):
        got = extracted(page, profile=profile, extractors=["ExtractorHTML", SCRIPTS], settings={"max_outlinks": 1})
        assert got.annotations == [f"dol:{count}"]


def test_own_extractors_and_failures() -> None:
    got = extracted("see-this <a href=x>", extractors=[Broken, Hyphens(), "ExtractorHTML"])
    assert [link.context for link in got.outlinks] == ["broken", "hyphens", "hyphens", "a/@href"]
    assert got.annotations == ["err=builtins.RuntimeError"]
    (name, error) = got.errors[0]
    assert (name, str(error)) == ("Broken", "cannot")


def test_names_in_the_settings(caplog: pytest.LogCaptureFixture) -> None:
    made: list[tuple[str, dict[str, Any]]] = []

    def load(path: str, properties: Any) -> Any:
        made.append((path, dict(properties)))
        return Hyphens()

    with caplog.at_level(logging.INFO, "heritrix_scrapy.extract.order"):
        order = Extraction([*DEFAULT_ORDER, *NOT_BUILT, ["my.Hyphens", {"n": 1}]], load=load)
    assert order.names == [*DEFAULT_ORDER, "Hyphens"]
    assert made == [("my.Hyphens", {"n": 1})]
    assert all(name in line for name in NOT_BUILT for line in caplog.messages)
    assert not set(EXTRACTORS) & (NOT_BUILT | set(REFUSED))
    for refused, word in (("ExtractorYoutubeDL", "robots.txt"), ("HTTPContentDigest", "HERITRIX_STEPS")):
        with pytest.raises(ConfigurationError, match=word):
            Extraction([refused])
    for wrong in (
        ["NoSuch"],
        [["ExtractorHTML", 1]],
        [object()],
        [["ExtractorHTML", {"should_process": "x"}]],
        [["ExtractorCSS", {"infer_paths": []}]],
    ):
        with pytest.raises(ConfigurationError):
            Extraction(wrong)


def test_properties_and_gates_of_one_extractor() -> None:
    page = "<a href=x><input value=/y.html>"

    def count(*entries: Any) -> int:
        return len(extracted(page, extractors=entries).outlinks)

    assert count("ExtractorHTML") == 2
    assert count(["ExtractorHTML", {"extract_value_attributes": False}]) == 1
    assert count(["ExtractorHTML", {"enabled": False}]) == 0
    assert count(["ExtractorHTML", {"should_process": lambda curi: curi.status == 404}]) == 0
    gates: list[Any] = []

    def gate(value: Any) -> Any:
        gates.append(value)
        return lambda curi: False

    order = Extraction([["ExtractorHTML", {"should_process": ["RejectDecideRule", {}], "id": "a"}]], gate=gate)
    curi, body = fetched(page)
    order.read(Document(curi, default_view(), lambda limit: body))
    assert (curi.outlinks, gates) == ([], [["RejectDecideRule", {}]])


def test_settings_that_change_between_uris_are_heeded() -> None:
    order = Extraction(["ExtractorHTML"])
    found = []
    for values in ({}, {"extract_value_attributes": False}, {}):
        curi, body = fetched("<input value=/y.html>")
        order.read(Document(curi, default_view(**values), lambda limit, body=body: body))
        found.append(len(curi.outlinks))
    assert found == [1, 0, 1]


def test_the_recorder_gives_the_entity() -> None:
    curi, _ = fetched()
    curi.recorder = Recorder()
    curi.recorder.response.append(b"HTTP/1.1 200 OK\r\n\r\n")
    curi.recorder.body_at = curi.recorder.response.size
    curi.recorder.chunked = True
    curi.recorder.response.append(b"c\r\n<a href=x><a\r\n8\r\n href=y>\r\n0\r\n\r\n".replace(b"c\r\n<", b"c\r\n<"))
    curi.content_length = curi.recorder.body_size
    Extraction(["ExtractorHTML"]).extract(curi, default_view())
    assert [link.uri[-1] for link in curi.outlinks] == ["x", "y"]


#: Content extractors that leave the document to others, or take it only once they could read it.
LATE = {
    "ExtractorRobotsTxt",
    "ExtractorSitemap",
    "ExtractorPDF",
    "ExtractorPDFContent",
    "ExtractorDOC",
    "ExtractorOffice",
    "ExtractorJson",
    "TrapSuppressExtractor",
}


def test_every_built_extractor_says_what_it_takes() -> None:
    for name, kind in EXTRACTORS.items():
        assert kind.__name__ == name
        assert kind.claims == (issubclass(kind, ContentExtractor) and name not in LATE)
