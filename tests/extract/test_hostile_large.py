"""Do the largest documents that mean harm cost no more than two seconds?"""

from __future__ import annotations

import asyncio
import resource
import time
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.extract.aside import Aside
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import default_view
from tests.extract.pages import extracted, fetched

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 1_000_000


#: Name → content type, and how the body is made.
DOCUMENTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "50 MB of one attribute": ("text/html", lambda: b"<a href='" + b"a" * 50 * MEGABYTE + b"'>"),
    "50 MB of quotes": ("text/html", lambda: b"<a href=" + b"='\"" * (50 * MEGABYTE // 3) + b">"),
    "100,000 nested tags": ("text/html", lambda: b"<div><a href=x>" * 100_000),
    "1,000,000 links": ("text/html", lambda: b"".join(b"<a href=/%d>" % n for n in range(1_000_000))),
    "NUL bytes": ("text/html", lambda: b"<a href=x>\0" * MEGABYTE),
    "broken UTF-16": ("text/html; charset=utf-16", lambda: b"\xff\xfe<\0\xd8\xd8" * MEGABYTE),
    "a script of 20 MB on one line": ("application/javascript", lambda: b"a='b/c.html';" * (20 * MEGABYTE // 13)),
    "XML of 20 MB": ("text/xml", lambda: b"<a b='c/d.html'>e</a>" * MEGABYTE),
    "JSON of 20 MB": ("application/json", lambda: b"[" + b'{"a":"/b/c.html"},' * MEGABYTE + b"1]"),
}


ORDER = ("ExtractorHTML", "ExtractorXML", "ExtractorJson", "ExtractorJS", "ExtractorUniversal")


@pytest.mark.long
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_largest_documents(name: str) -> None:
    content_type, make = DOCUMENTS[name]
    body = make()
    charset = "UTF-16" if "utf-16" in content_type else "UTF-8"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    got = extracted(body, extractors=ORDER, content_type=content_type, charset=charset)
    spent = time.process_time() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{name}: {spent:.2f} s, {grown:.0f} MB, {len(got.outlinks)} links")
    assert spent < 2.0
    assert grown < 400
    assert got.extracted


@pytest.mark.long
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_loop_wakes_in_time_while_a_large_document_is_read(name: str) -> None:
    content_type, make = DOCUMENTS[name]
    body = make()
    curi, _ = fetched(body, content_type=content_type)
    curi.recorder = Recorder()
    curi.recorder.response.append(body)
    worker = Aside(ORDER)
    late: list[float] = []

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            late.append(time.perf_counter() - began - 0.005)

    async def read() -> None:
        watcher = asyncio.create_task(watch())
        assert worker.wants(curi, default_view())
        await worker.extract(curi, default_view())
        watcher.cancel()

    asyncio.run(read())
    worker.close()
    late.sort()
    p99 = late[len(late) * 99 // 100]
    print(f"{name}: p99 {p99 * 1000:.1f} ms, most {late[-1] * 1000:.1f} ms of {len(late)}")
    assert p99 < 0.02
