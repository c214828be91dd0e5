"""Does a document that is read in another process give the same, and what if that process dies?"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.extract import aside
from heritrix_scrapy.extract.aside import Aside
from heritrix_scrapy.extract.order import DEFAULT_ORDER, Extraction
from heritrix_scrapy.extract.ways import TIMEOUT
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import default_view
from tests.extract.pages import fetched

if TYPE_CHECKING:
    import pytest

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
