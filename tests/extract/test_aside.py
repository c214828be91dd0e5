"""Does a document that is read in another process give the same, and what if that process dies?"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.extract import aside
from heritrix_scrapy.extract.aside import Aside
from heritrix_scrapy.extract.order import DEFAULT_ORDER, Extraction
from heritrix_scrapy.extract.ways import TIMEOUT
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import default_view
from tests.extract.pages import fetched

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

PAGE = b"<html><base href=/b/><meta charset=utf-8><a href=x><a href='http://[::'><script>a='/y.html'</script>"


def made(body: bytes, content_type: str = "text/html") -> CrawlURI:
    curi, _ = fetched(body, content_type=content_type, charset=None)
    curi.recorder = Recorder()
    curi.recorder.response.append(b"HTTP/1.1 200 OK\r\n\r\n")
    curi.recorder.body_at = curi.recorder.response.size
    curi.recorder.response.append(body)
    return curi


def told(curi: CrawlURI) -> list[Any]:
    return [getattr(curi, name) for name in aside.TOLD]


def test_the_same_is_found() -> None:
    view = default_view(extract_aside_bytes=10)
    here, there = made(PAGE), made(PAGE)
    Extraction().extract(here, view)
    worker = Aside(DEFAULT_ORDER)
    assert worker.wants(there, view)
    asyncio.run(worker.extract(there, view))
    assert told(there) == told(here)
    assert len(there.outlinks) == 4
    assert there.link_errors
    again = made(PAGE)
    asyncio.run(worker.extract(again, view))
    assert told(again) == told(here)
    worker.close()
    worker.close()


def test_a_worker_that_dies_costs_one_annotation(monkeypatch: pytest.MonkeyPatch) -> None:
    view = default_view(extract_aside_bytes=10)
    worker = Aside(DEFAULT_ORDER)
    curi = made(PAGE)
    asyncio.run(worker.extract(curi, view))
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    # one that has ended is started anew
    curi = made(PAGE)
    asyncio.run(worker.extract(curi, view))
    assert len(curi.outlinks) == 4
    worker.close()
    dead = Aside([["NoSuchExtractor", {}]])
    curi = made(PAGE)
    asyncio.run(dead.extract(curi, view))
    assert (curi.outlinks, len(curi.errors)) == ([], 1)
    assert curi.annotations[0].startswith("err=")
    dead.close()


def test_which_documents_take_the_way() -> None:
    view = default_view(extract_aside_bytes=1600)
    worker = Aside(DEFAULT_ORDER)
    assert not worker.wants(made(b"x" * 1599), view)
    assert worker.wants(made(b"x" * 1600), view)
    assert worker.wants(made(b"x" * 100, "application/pdf"), view)
    assert not worker.wants(made(b"x" * 9999), default_view("heritrix"))
    # and of these only what anybody reads
    order = Extraction()
    assert order.reads(made(PAGE), view)
    assert not order.reads(made(b"x" * 9999, "image/png"), view)
    for own in ("my.Extractor", ["ExtractorHTML", {"should_process": ["X", {}]}], object()):
        assert not Aside([own]).usable


def test_a_document_that_takes_long_is_left_as_it_was() -> None:
    # some 100 ms in 100 KB: nothing that its size would tell
    body = b"<base href=/b/>" + b"".join(b"<a href=../../%d/../\xc3\xa9>" % n for n in range(4000))
    curi = made(body, "text/html; charset=utf-8")
    curi.annotations.append("before")
    before = told(curi)
    worker, order, view = Aside(DEFAULT_ORDER), Extraction(), default_view()
    assert not worker.wants(curi, view)
    assert not order.extract(curi, view, worker.patience(curi, view) / 30)
    assert told(curi) == before
    assert order.extract(curi, view)
    there = made(body, "text/html; charset=utf-8")
    there.annotations.append("before")
    asyncio.run(worker.extract(there, view))
    assert told(there) == told(curi) != before
    worker.close()
    assert worker.patience(curi, default_view("heritrix")) == 0
    assert Aside(["my.Extractor"]).patience(curi, view) == 0


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<a href=../%d>"),
        ("text/html", b"<p style='a:url(%d)'>"),
        ("text/css", b"a{b:url(%d)}"),
        ("text/javascript", b"'/b/%d.html',"),
        ("text/xml", b"<a href='/b/%d.html'/>"),
        ("application/json", b'{"a":"/b/%d.html"},'),
        ("text/xml", b"<url><loc>http://www.example.com/dir/%d</loc></url>"),
        ("application/vnd.apple.mpegurl", b"%d.ts\n"),
        ("application/x-other", b"http://a.example.com/%d "),
    ],
)
def test_every_reader_gives_up_in_time(kind: str, body: bytes) -> None:
    start, end = {
        "text/xml": (b"<?xml version='1.0'?><urlset>" if b"loc" in body else b"<?xml version='1.0'?><r>", b""),
        "application/json": (b"[", b"1]"),
        "application/vnd.apple.mpegurl": (b"#EXTM3U\n", b""),
    }.get(kind, (b"", b""))
    curi = made(start + b"".join(body % n for n in range(2000)) + end, kind)
    readers = ["ExtractorSitemap", *DEFAULT_ORDER, "ExtractorXML", "ExtractorManifest", "ExtractorUniversal"]
    readers.insert(0, "ExtractorJson")
    assert not Extraction(readers).extract(curi, default_view(), 1e-6)
    assert Extraction(readers).extract(curi, default_view(), 60.0)
    assert len(curi.outlinks) > 1000


def test_time_that_is_over_leaves_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "SECONDS", 0.05)
    aside.signal.signal(aside.signal.SIGALRM, aside._alarm)
    body = b"<a href=first>" + b"<a href=x>" * 700_000
    curi = made(body)
    facts = [getattr(curi, key) for key in aside.ASKED]
    names = (curi.uri, curi.path, curi.via, curi.via_context)
    answer = dict(zip(aside.TOLD, aside.read(Extraction(), default_view(), names, facts, body), strict=True))
    assert answer["outlinks"]
    assert TIMEOUT in answer["annotations"]
