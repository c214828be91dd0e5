"""What repeats an earlier fetch, what is asked of the server, and what is remembered."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.archive import cdx
from heritrix_scrapy.archive.cdxj import described
from heritrix_scrapy.archive.content_digest import stripped_digest
from heritrix_scrapy.archive.lookup import CdxServer
from heritrix_scrapy.archive.memory import SCHEMA, History
from heritrix_scrapy.archive.recall import FROM_HISTORY, UNASKED, Recall
from heritrix_scrapy.archive.records import Facts, Form, group
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD, NOT_MODIFIED, Original
from heritrix_scrapy.settings.view import default_view
from heritrix_scrapy.store import MemoryStore, open_store

if TYPE_CHECKING:
    from pathlib import Path

URI = "http://a.example/page"
BODY = b"x" * 2000
NOW = 1308849128574
MODERN, HERITRIX = default_view(), default_view("heritrix")


class Crawl:
    """Fetches in a row, with what is remembered of them."""

    def __init__(self, view: Any = MODERN, *, by_digest: bool = False, by_uri: bool = True) -> None:
        self.view = view
        self.memory = History(MemoryStore())
        self.recall = Recall(self.memory, by_uri=by_uri, by_digest=by_digest)
        self.times = 0

    def fetch(
        self,
        status: int = 200,
        body: bytes = BODY,
        *,
        uri: str = URI,
        headers: dict[str, str] | None = None,
        asked: bool = True,
        mime: str = "text/html",
        written: bool = True,
        chunk: int = 0,
        links: tuple[str, ...] = (),
    ) -> CrawlURI:
        self.times += 1
        curi = CrawlURI(uri)
        curi.settings = self.view
        lines = self.recall.condition(curi) if asked else []
        curi.status, curi.content_type = status, mime
        curi.began_ms, curi.content_length = NOW + self.times * 1000, len(body)
        curi.headers = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        curi.recorder = recorder = Recorder()
        head = f"HTTP/1.1 {status} X\r\n\r\n".encode()
        recorder.request.append(b"GET / HTTP/1.1\r\n" + b"".join(f"{n}: {v}\r\n".encode() for n, v in lines) + b"\r\n")
        recorder.chunked = chunk > 0
        if chunk:
            pieces = [body[at : at + chunk] for at in range(0, len(body), chunk)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        recorder.response.append(head + body)
        recorder.body_at = len(head)
        curi.digest = recorder.body_digest
        self.recall.judge(curi)
        curi.outlinks = [Outlink(link, "L", "a/@href") for link in links]
        self.recall.restore_links(curi)
        if written:
            curi.record_id, curi.warc_file, curi.warc_offset = f"urn:uuid:{self.times}", "A.warc.gz", self.times
        self.recall.keep(curi)
        return curi


def told(curi: CrawlURI) -> dict[str, str]:
    records = group(curi, Form(), lambda: "urn:uuid:new", facts=Facts(revisit=curi.revisit))
    lines = records[0].head.decode().split("\r\n")
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def test_pc_053_a_revisit_never_points_at_a_revisit() -> None:
    crawl = Crawl()
    first, _, third = crawl.fetch(), crawl.fetch(), crawl.fetch()
    assert third.revisit is not None
    assert third.revisit.profile == IDENTICAL_PAYLOAD
    lines = told(third)
    assert lines["WARC-Refers-To"] == f"<{first.record_id}>"
    assert lines["WARC-Refers-To-Date"] == "2011-06-23T17:12:09.574Z"
    assert lines["WARC-Refers-To-Target-URI"] == URI
    assert third.annotations == ["duplicate:digest"]


def test_pc_050_a_304_says_what_it_repeats() -> None:
    crawl = Crawl()
    first = crawl.fetch(headers={"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 2009 00:00:00 GMT"})
    second = crawl.fetch(304, b"", headers={"ETag": '"1"'})
    request = second.recorder.request.read()  # type: ignore[union-attr]
    assert b'If-None-Match: "1"\r\n' in request
    assert b"If-Modified-Since: Thu, 01 Jan 2009 00:00:00 GMT\r\n" in request
    lines = told(second)
    assert lines["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert lines["WARC-Payload-Digest"] == first.digest
    assert lines["WARC-Refers-To-Target-URI"] == URI
    assert lines["WARC-Refers-To-Date"] == "2011-06-23T17:12:09.574Z"
    third = crawl.fetch(304, b"")
    assert third.revisit is not None
    assert third.revisit.refers_to == first.record_id


def test_pc_051_the_digest_of_nothing_is_never_that_of_a_304() -> None:
    crawl = Crawl()
    first = crawl.fetch(headers={"ETag": '"1"'})
    crawl.fetch(304, b"")
    assert [entry.digest for entry in crawl.memory.entries(URI)] == [first.digest] * 2
    assert crawl.fetch(200, b"").revisit is None


def test_pc_052_a_304_that_nobody_asked_for_is_a_response() -> None:
    crawl = Crawl()
    crawl.fetch(headers={"ETag": '"1"'})
    before = crawl.memory.entries(URI)
    curi = crawl.fetch(304, b"", asked=False)
    assert curi.revisit is None
    assert curi.annotations == [UNASKED]
    assert crawl.memory.entries(URI) == before


def test_pc_055_short_bodies_are_stored_again() -> None:
    crawl = Crawl(by_digest=True)
    assert crawl.fetch(302, b"", headers={"Location": "/a"}).revisit is None
    assert crawl.fetch(302, b"", headers={"Location": "/b"}).revisit is None
    old = Crawl(HERITRIX)
    old.fetch(302, b"")
    assert told(old.fetch(302, b"", headers={"Location": "/b"}))["WARC-Type"] == "revisit"


@pytest.mark.parametrize(("other", "same"), [(404, False), (206, True), (200, True)])
def test_pc_056_another_status_is_another_answer(other: int, same: bool) -> None:
    crawl = Crawl(by_digest=True)
    crawl.fetch(200)
    assert (crawl.fetch(other, uri=URI + "/2").revisit is not None) is same
    assert Crawl(default_view(deduplicate_any_status=True)).view.deduplicate_any_status


def test_pc_059_the_history_keeps_file_and_offset() -> None:
    crawl = Crawl(by_digest=True)
    curi = crawl.fetch()
    entry = crawl.memory.entries(URI)[0]
    assert (entry.file, entry.offset) == ("A.warc.gz", 1)
    original = crawl.memory.original(curi.digest or "")
    assert original is not None
    assert (original.file, original.offset, original.uri) == ("A.warc.gz", 1, URI)


@pytest.mark.parametrize("by_digest", [True, False])
def test_pc_022_other_chunks_are_the_same_page(by_digest: bool) -> None:
    crawl = Crawl(by_digest=by_digest, by_uri=not by_digest)
    first, second = crawl.fetch(chunk=2000), crawl.fetch(chunk=200)
    assert first.digest != second.digest
    lines = told(second)
    assert lines["WARC-Type"] == "revisit"
    assert lines["WARC-Payload-Digest"] == first.digest
    old = Crawl(HERITRIX)
    old.fetch(chunk=2000)
    assert old.fetch(chunk=200).revisit is None


def test_types_that_are_stored_each_time() -> None:
    crawl = Crawl(default_view(deduplicate_except=["text/calendar"]))
    crawl.fetch(mime="text/calendar;x")
    assert crawl.fetch(mime="text/calendar").revisit is None
    assert crawl.fetch(mime="text/html").revisit is not None


def test_the_same_content_under_another_uri() -> None:
    crawl = Crawl(by_digest=True, by_uri=False)
    crawl.fetch()
    second = crawl.fetch(uri=URI + "/copy")
    assert told(second)["WARC-Refers-To-Target-URI"] == URI
    original = crawl.memory.original(second.digest or "")
    assert original is not None
    assert original.count == 2


def test_what_was_not_written_is_not_remembered() -> None:
    crawl = Crawl(by_digest=True)
    curi = crawl.fetch(written=False)
    assert crawl.memory.entries(URI) == []
    assert crawl.memory.original(curi.digest or "") is None


def test_an_unchanged_page_keeps_its_links() -> None:
    crawl = Crawl()
    crawl.fetch(headers={"ETag": '"1"'}, links=("http://a.example/b", "http://a.example/c"))
    curi = crawl.fetch(304, b"", links=("http://a.example/c",))
    assert sorted(link.uri for link in curi.outlinks) == ["http://a.example/b", "http://a.example/c"]
    assert FROM_HISTORY in curi.annotations
    old = Crawl(HERITRIX)
    old.fetch(headers={"ETag": '"1"'}, links=("http://a.example/b",))
    assert old.fetch(304, b"").outlinks == []


def test_no_condition_after_an_error_or_for_a_prerequisite() -> None:
    crawl = Crawl()
    crawl.fetch(404, headers={"ETag": '"1"'})
    curi = CrawlURI(URI)
    curi.settings = MODERN
    assert crawl.recall.condition(curi) == []
    old = Crawl(HERITRIX)
    old.fetch(404, headers={"ETag": '"1"'})
    curi.settings, curi.history = HERITRIX, None
    assert old.recall.condition(curi) == [("If-None-Match", '"1"')]
    curi.is_prerequisite = True
    assert old.recall.condition(curi) == []


def test_nothing_is_on_disk_before_the_records_are(tmp_path: Path) -> None:
    store = open_store(tmp_path, schema=SCHEMA)
    memory = History(store)
    recall = Recall(memory, by_uri=True, by_digest=True)
    crawl = Crawl(by_digest=True)
    crawl.memory, crawl.recall = memory, recall
    curi = crawl.fetch()
    assert len(memory.entries(URI)) == 1
    assert len(list(store.range(b"u", b"v"))) == 0
    memory.sync()
    memory.close()
    again = History(open_store(tmp_path, schema=SCHEMA))
    assert again.entries(URI)[0].digest == curi.digest
    assert again.original(curi.digest or "") is not None
    again.close()


def test_heritrix_takes_over_the_headers_of_the_last_answer() -> None:
    crawl = Crawl(HERITRIX)
    crawl.fetch(headers={"ETag": '"1"'})
    crawl.fetch(404, b"gone")
    assert crawl.memory.entries(URI)[0].etag == '"1"'
    second = crawl.fetch(304, b"")
    assert second.revisit is not None
    assert (second.revisit.profile, second.revisit.refers_to_date) == (NOT_MODIFIED, None)


def test_the_digest_of_a_text_makes_no_revisit() -> None:
    crawl = Crawl()
    first = crawl.fetch()
    first.digest = stripped_digest("hello 2020 world", "[0-9]+")
    assert first.digest.startswith("SHA1:")
    assert told(first)["WARC-Payload-Digest"].startswith("sha1:")


CDX = "com,example)/ 20200102030405 http://example.com/ text/html 200 GHN5VKF3TBKNSEZTASOM23BJRTKFFNJK - - 69 98 a.warc"
LOG = (
    "2020-01-02T03:04:06.000Z   200       1234 http://example.com/ - - text/html #007 20200102030405123+45"
    " sha1:GHN5VKF3TBKNSEZTASOM23BJRTKFFNJK - -"
)
CDXJ_LINE = (
    'com,example)/ 20200102030405 {"url": "http://example.com/", "mime": "text/html", "status": "200",'
    ' "digest": "GHN5VKF3TBKNSEZTASOM23BJRTKFFNJK", "length": "690", "offset": "98", "filename": "a.warc.gz"}'
)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("line", [CDX, LOG, CDXJ_LINE])
def test_indexes_and_logs_of_others_are_taken_in(tmp_path: Path, line: str, packed: bool) -> None:
    path = tmp_path / "earlier"
    data = f" CDX N b a m s k r M S V g\n{line}\nnonsense\n".encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    crawl = Crawl(by_digest=True)
    crawl.recall.preload(path)
    [entry] = crawl.memory.entries("http://example.com/")
    assert entry.digest == "sha1:GHN5VKF3TBKNSEZTASOM23BJRTKFFNJK"
    assert entry.began_ms // 1000 == 1577934245
    original = crawl.memory.original(entry.digest)
    assert original is not None
    assert original.uri == "http://example.com/"
    crawl.recall.preload(path)
    assert len(crawl.memory.entries("http://example.com/")) == 1


def test_what_cannot_be_read_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="HERITRIX_HISTORY_PRELOAD"):
        Crawl().recall.preload(tmp_path / "none")


def test_pc_034_brackets_around_a_uri_are_not_part_of_it() -> None:
    class Headers:
        def get_header(self, name: str) -> str | None:
            return {"WARC-Target-URI": "<http://a.example/>", "WARC-Date": "2020-01-02T03:04:05Z"}.get(name)

    class Record:
        rec_type, rec_headers, http_headers = "response", Headers(), None

    told = described(Record())
    assert told is not None
    assert told[0] == "http://a.example/"


def test_a_cdx_server_is_asked_once_and_may_fail() -> None:
    asked: list[str] = []

    def read(address: str, timeout: float) -> str:
        asked.append(address)
        if "broken" in address:
            raise OSError("refused")
        later = CDX.replace("text/html", "warc/revisit").replace("20200102", "20210102")
        return f"{CDX}\n{later}\n" if "%2F1" in address else ""

    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    server = CdxServer("http://cdx.example/?url=$u&from=$s", now_ms=lambda: NOW, read=read, wait=wait)

    async def ask() -> list[Any]:
        return [await server.latest(f"http://a.example/{path}") for path in ("1", "2", "2", "broken", "broken2")]

    found = asyncio.run(ask())
    assert [capture and capture.ms for capture in found] == [1577934245000, None, None, None, None]
    assert (server.asked, server.failed) == (4, 2)
    # three times, and once while it is known to be down
    assert (waited, sum("broken2" in address for address in asked), len(asked)) == ([5, 5], 1, 6)
    assert asked[0] == "http://cdx.example/?url=http%3A%2F%2Fa.example%2F1&from=20101225171208"


def test_header_lines_go_to_the_cdx_server() -> None:
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.headers["Cookie"] == "key=1" else 403)
            self.end_headers()
            self.wfile.write(CDX.encode())

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        template = f"http://127.0.0.1:{listening.server_port}/?url=$u"
        for headers, known in (({"Cookie": "key=1"}, True), ({}, False)):
            server = CdxServer(template, attempts=1, headers=headers, now_ms=lambda: NOW)
            assert (asyncio.run(server.latest("http://a.example/1")) is not None) is known
        listening.shutdown()


def test_what_is_always_written_whole_is_no_repetition() -> None:
    """No revisit record is written of an answer of another scheme than HTTP and FTP."""
    from tests.archive.test_warcfile import captured

    curi = captured("whois://whois.example/x", b"w" * 5000)
    curi.settings = default_view("modern")
    recall = Recall(History(MemoryStore()), by_uri=True, by_digest=True)
    recall.memory.put_original(
        str(curi.digest), Original("whois://whois.example/y", NOW, "urn:uuid:1", status=curi.status)
    )
    recall.judge(curi)
    assert (curi.revisit, curi.annotations) == (None, [])


@pytest.mark.parametrize("row", ['{"url": 7}', '{"url": null}', '{"url": "http://a/", "filename": 7}', "{", "{}", "{7"])
def test_a_line_of_another_index_that_makes_no_sense_is_none(row: str) -> None:
    assert cdx.read(f"a)/ 20200101000000 {row}") is None
