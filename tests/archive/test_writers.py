"""Several writers, rules before them, rotation, stores in turn, large bodies, switches and indexes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import zipfile
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.wacz import pack, title_of
from heritrix_scrapy.archive.warcfile import free_bytes
from heritrix_scrapy.commands import warc as warc_command
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.model.revisit import IDENTICAL_PAYLOAD, Revisit
from tests.archive.test_pipeline import captured, pipeline_of

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.model.crawluri import CrawlURI


def records(place: Path) -> list[tuple[str, str, str]]:
    """File, type and URI of each record but warcinfo."""
    out = []
    for path in cdxj.warcs_of(place):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type != "warcinfo":
                    out.append((path.name, record.rec_type, record.rec_headers.get_header("WARC-Target-URI")))
    return out


def headers(place: Path, kind: str) -> Any:
    for path in cdxj.warcs_of(place):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == kind:
                    record.text = record.content_stream().read()
                    return record
    raise AssertionError(f"no {kind} record")


def is_image(curi: CrawlURI) -> bool:
    return curi.content_type.startswith("image/")


def test_each_writer_has_its_own_files_and_rule(tmp_path: Path) -> None:
    writers = [
        ["warc", {"should_process": "pages"}],
        ["warc", {"id": "i", "prefix": "IMG", "dir": str(tmp_path / "img")}],
    ]
    _, crawl = pipeline_of(JOBDIR=str(tmp_path / "job"), HERITRIX_WRITERS=writers)
    crawl.gate = lambda rule: lambda curi: not is_image(curi)
    crawl.archives.clear()
    from heritrix_scrapy.archive.pipeline import WarcWriterPipeline

    pipeline = WarcWriterPipeline.from_crawler(crawl.crawler)
    assert len(crawl.archives) == 2
    page, image = captured("http://a.example/", crawl), captured("http://a.example/i", crawl)
    image.content_type = "image/png"
    for curi in (page, image):
        pipeline.process_item(curi)
    pipeline.close_spider()
    assert {uri for _, kind, uri in records(tmp_path / "job") if kind == "response"} == {"http://a.example/"}
    names = {name for name, _, _ in records(tmp_path / "img")}
    assert len(names) == 1
    assert names.pop().startswith("IMG-")


def test_a_property_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="prefx"):
        pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WRITERS=[["warc", {"prefx": "A"}]])


def test_a_folder_that_cannot_be_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written to"):
        pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WRITERS=[["warc", {"dir": str(tmp_path / "file" / "below")}]])


def test_files_rotate_by_count_and_stores_take_turns(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(
        JOBDIR=str(tmp_path), HERITRIX_WARC_STORE_PATHS=["one", "two"], HERITRIX_WARC_MAX_FILE_CAPTURES=2
    )
    for number in range(6):
        pipeline.process_item(captured(f"http://a.example/{number}", crawl))
    pipeline.close_spider()
    assert [len(cdxj.warcs_of(tmp_path / name)) for name in ("one", "two")] == [2, 1]
    serials = sorted(path.name.split("-")[2] for path in cdxj.warcs_of(tmp_path))
    assert serials == ["00000", "00001", "00002"]


def test_files_rotate_by_age(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_MAX_FILE_AGE_SECONDS=60)
    pipeline.process_item(captured("http://a.example/1", crawl))
    pipeline.files.members[0]._born -= 61
    pipeline.process_item(captured("http://a.example/2", crawl))
    pipeline.close_spider()
    assert len(cdxj.warcs_of(tmp_path)) == 2


def test_a_store_that_cannot_be_used_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_STORE_PATHS=["file/below", "good"])
    pipeline.process_item(captured("http://a.example/", crawl))
    pipeline.close_spider()
    assert len(cdxj.warcs_of(tmp_path / "good")) == 1


def test_no_room_is_told_before_a_byte_is_written(tmp_path: Path) -> None:
    room = (free_bytes(tmp_path) or 0) * 2
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_MIN_FREE_BYTES=room)
    with pytest.raises(StorageFull):
        pipeline.process_item(captured("http://a.example/", crawl))


def test_pc_037_large_bodies_are_written_by_threads_into_whole_files(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_POOL_MAX_ACTIVE=3)
    large = [captured(f"http://a.example/{number}", crawl, bytes([number]) * (5 << 20)) for number in range(5)]
    small = [captured(f"http://a.example/s{number}", crawl) for number in range(10)]

    async def write() -> None:
        waiting = [pipeline.process_item(curi) for curi in large]
        for curi in small:
            later = pipeline.process_item(curi)
            if later is not curi:
                waiting.append(later)
        await asyncio.gather(*waiting)

    asyncio.run(write())
    pipeline.close_spider()
    assert len({curi.warc_file for curi in large}) == 3
    assert all(not warc_command.verify(path)["problems"] for path in cdxj.warcs_of(tmp_path))
    assert len(records(tmp_path)) == 45


def test_switches_and_further_headers(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(
        JOBDIR=str(tmp_path),
        HERITRIX_WARC_WRITE_REQUESTS=False,
        HERITRIX_WARC_WRITE_METADATA=False,
        HERITRIX_WARC_RESPONSE_HEADERS=["X-Crawl: one: two"],
        HERITRIX_WARC_INFO_FIELDS={"isPartOf": "x", "curator": "Me"},
        HERITRIX_WARC_FIRST_SERIAL=41,
        HERITRIX_WARC_NAME_PARTS={"heritrix.pid": 7, "heritrix.hostname": "crawler2"},
    )
    pipeline.process_item(captured("http://a.example/", crawl))
    pipeline.close_spider()
    assert [kind for _, kind, _ in records(tmp_path)] == ["response"]
    assert headers(tmp_path, "response").rec_headers.get_header("X-Crawl") == "one: two"
    assert b"curator: Me\r\n" in headers(tmp_path, "warcinfo").text
    assert cdxj.warcs_of(tmp_path)[0].name.endswith("-00041-7~crawler2~0.warc.gz")


def test_secrets_are_masked(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_REDACT_REQUEST_HEADERS=True)
    curi = captured("http://a.example/", crawl)
    request = curi.recorder.request  # type: ignore[union-attr]
    request.truncate(0)
    request.append(
        b"POST / HTTP/1.1\r\nCookie: sid=1\r\nAuthorization: Basic eA==\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\nuser=me&password=hunter2&x=1"
    )
    pipeline.process_item(curi)
    pipeline.close_spider()
    record = headers(tmp_path, "request")
    assert record.rec_headers.get_header("WARC-Redacted") == "cookie, authorization, password"
    assert record.text == b"user=me&password=[redacted]&x=1"
    assert record.http_headers.get_header("Cookie") == "[redacted]"


def test_identical_digests_can_be_left_out(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_SKIP_IDENTICAL_DIGESTS=True)
    curi = captured("http://a.example/", crawl)
    curi.revisit = Revisit(IDENTICAL_PAYLOAD, curi.digest)
    pipeline.process_item(curi)
    assert (curi.warc_file, curi.annotations) == (None, ["unwritten:identicalDigest"])


@pytest.mark.parametrize(("which", "count"), [("none", 0), ("seeds", 1), ("all", 2)])
def test_pc_227_a_uri_that_gave_no_answer_has_a_record(tmp_path: Path, which: str, count: int) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_FAILURE_RECORDS=which)
    pipeline.process_item(captured("http://a.example/", crawl))
    for seed in (True, False):
        curi = captured("http://b.example/", crawl)
        curi.status, curi.seed, curi.attempts, curi.error_text = -2, seed, 4, "timed out"
        for listener in crawl.before_finish:
            listener(curi)
    pipeline.close_spider()
    found = [row for row in records(tmp_path) if row[2] == "http://b.example/"]
    assert [kind for _, kind, _ in found] == ["metadata"] * count


@pytest.mark.parametrize("kind", ["metadata", "resource"])
def test_items_beside_captures(tmp_path: Path, kind: str) -> None:
    pipeline, crawl = pipeline_of(
        JOBDIR=str(tmp_path), HERITRIX_WARC_ITEM_RECORDS=kind, HERITRIX_WARC_WRITE_METADATA=False
    )
    curi = captured("http://a.example/", crawl)
    pipeline.process_item(curi)
    item = {"url": "http://a.example/", "title": "Ä", "warc_record_id": curi.record_id}
    assert pipeline.process_item(item) is item
    pipeline.close_spider()
    record = headers(tmp_path, kind)
    assert json.loads(record.text)["title"] == "Ä"
    assert record.rec_headers.get_header("WARC-Target-URI") == "urn:item:http://a.example/"
    name = "WARC-Refers-To" if kind == "metadata" else "WARC-Concurrent-To"
    assert record.rec_headers.get_header(name) == f"<{curi.record_id}>"
    assert not any(warc_command.verify(path)["problems"] for path in cdxj.warcs_of(tmp_path))


# -- indexes and packages


@pytest.fixture
def job(tmp_path: Path) -> Path:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path / "job"), HERITRIX_CDXJ=True, HERITRIX_WARC_MAX_FILE_CAPTURES=2)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    for path in ("", "b?z=1&y=220px:298px;0,0px", "a%20b"):
        curi = captured(f"http://www.a.example/{path}", crawl, f"<title>Ä {path}</title>".encode(), head)
        curi.content_type, curi.seed = "text/html; charset=utf-8", not path
        pipeline.process_item(curi)
    image = captured("http://www.a.example/i.png", crawl, b"x", b"HTTP/1.1 404 No\r\nContent-Type: image/png\r\n\r\n")
    image.content_type, image.status, image.path = "image/png", 404, "LE"
    pipeline.process_item(image)
    pipeline.close_spider()
    return tmp_path / "job"


def test_the_index_made_while_crawling_is_that_of_the_file(job: Path) -> None:
    for warc in cdxj.warcs_of(job):
        assert cdxj.index_beside(warc).read_text().splitlines() == cdxj.lines_of(warc)


def test_pc_065_key_is_canonical_and_url_is_exact(job: Path) -> None:
    lines = list(cdxj.merged(cdxj.warcs_of(job)))
    assert lines == sorted(lines)
    line = next(line for line in lines if "220px" in line)
    assert line.startswith("example,a)/b?y=220px:298px;0,0px&z=1 20110623171208 {")
    assert json.loads(line.split(" ", 2)[2])["url"] == "http://www.a.example/b?z=1&y=220px:298px;0,0px"


def test_pc_035_a_blank_in_an_address_is_an_escape(job: Path) -> None:
    assert any('"http://www.a.example/a%20b"' in line for line in cdxj.merged(cdxj.warcs_of(job)))


def test_each_line_names_a_whole_record(job: Path) -> None:
    for line in cdxj.merged(cdxj.warcs_of(job)):
        told = json.loads(line.split(" ", 2)[2])
        warc = next(path for path in cdxj.warcs_of(job) if path.name == told["filename"])
        with warc.open("rb") as file:
            file.seek(int(told["offset"]))
            data = file.read(int(told["length"]))
        part = job / "part.warc.gz"
        part.write_bytes(data)
        with part.open("rb") as file:
            uris = [record.rec_headers.get_header("WARC-Target-URI") for record in ArchiveIterator(file)]
        part.unlink()
        assert uris == [told["url"]]


def test_a_package_has_all_parts_with_their_digests(job: Path, tmp_path: Path) -> None:
    import hashlib

    (job / "logs").mkdir(exist_ok=True)
    (job / "logs" / "crawl.log").write_text("a line\n")
    out = tmp_path / "crawl.wacz"
    pack(job, out)
    with zipfile.ZipFile(out) as file:
        told = json.loads(file.read("datapackage.json"))
        assert told["wacz_version"] == "1.1.1"
        for row in told["resources"]:
            data = file.read(row["path"])
            assert row["hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
            assert row["bytes"] == len(data)
        paths = {row["path"] for row in told["resources"]}
        assert {"indexes/index.cdxj", "pages/pages.jsonl", "logs/crawl.log"} < paths
        digest = json.loads(file.read("datapackage-digest.json"))["hash"]
        assert digest == "sha256:" + hashlib.sha256(file.read("datapackage.json")).hexdigest()
        assert all(
            file.getinfo(path).compress_type == zipfile.ZIP_STORED for path in paths if path.startswith("archive/")
        )
        pages = [json.loads(line) for line in file.read("pages/pages.jsonl").splitlines()]
    assert pages[0]["format"] == "json-pages-1.0"
    assert [page["title"] for page in pages[1:]] == ["Ä", "Ä b?z=1&y=220px:298px;0,0px", "Ä a%20b"]
    assert [page.get("seed", False) for page in pages[1:]] == [True, False, False]


def test_titles() -> None:
    assert (
        title_of("<TITLE lang=x>\n caf\xe9 &amp; co </TITLE>".encode("latin-1"), "text/html; charset=latin1")
        == "café & co"
    )
    assert title_of(b"<p>no title", "text/html") == ""


def test_commands(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from heritrix_scrapy.commands import cdxj as cdxj_command
    from heritrix_scrapy.commands import wacz as wacz_command

    plain = Namespace(json=False)
    assert cdxj_command.run([str(job)], plain) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert cdxj_command.run([str(job / "none")], plain) == 1
    assert wacz_command.run([str(job), str(tmp_path / "x.wacz")], plain) == 0
    assert wacz_command.run([str(tmp_path / "nowhere"), str(tmp_path / "y.wacz")], plain) == 1
    assert not (tmp_path / "y.wacz").exists()
    assert warc_command.run(["verify", str(job)], plain) == 0
    assert warc_command.run(["stats", str(job)], plain) == 0
    assert "status_404=1" in capsys.readouterr().out
    torn = cdxj.warcs_of(job)[0]
    torn.write_bytes(torn.read_bytes()[:-30])
    assert warc_command.run(["verify", str(torn)], plain) == 1
    assert warc_command.run(["repair", str(torn)], plain) == 0
    assert warc_command.run(["verify", str(torn)], plain) == 0


def test_the_command_line_knows_them(job: Path) -> None:
    command = [sys.executable, "-m", "scrapy", "heritrix", "cdxj", str(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 4


SPIDER = """
from scrapy import Request, Spider

class Titles(Spider):
    name = "titles"

    async def start(self):
        for path in ("", "b?z=1&y=220px:298px;0,0px", "none"):
            yield Request("http://www.a.example/" + path, errback=self.failed)

    def parse(self, response):
        print("GOT", response.status, response.css("title::text").get(), response.meta["replay_date"])

    def failed(self, failure):
        print("FAILED", failure.type.__name__)
"""


@pytest.mark.crawl
@pytest.mark.parametrize("packed", [False, True])
def test_a_spider_runs_over_the_archive(job: Path, tmp_path: Path, project: Any, packed: bool) -> None:
    place = job
    if packed:
        place = tmp_path / "x.wacz"
        pack(job, place)
    crawl = project({"HERITRIX_REPLAY": [str(place)]}, SPIDER).run(name="titles", jobdir=None)
    assert crawl.returncode == 0, crawl.stderr
    assert sorted(line for line in crawl.stdout.splitlines() if line.startswith(("GOT", "FAILED"))) == [
        "FAILED NotArchived",
        "GOT 200 Ä  20110623171208",
        "GOT 200 Ä b?z=1&y=220px:298px;0,0px 20110623171208",
    ]


# -- what goes wrong while it is written


def test_items_and_failures_wait_for_a_free_file(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(
        JOBDIR=str(tmp_path), HERITRIX_WARC_ITEM_RECORDS="resource", HERITRIX_WARC_FAILURE_RECORDS="all"
    )
    [files] = pipeline.files.members
    files.busy = True
    pipeline.process_item({"url": "http://a.example/", "title": "x"})
    curi = captured("http://b.example/", crawl)
    curi.status = -2
    for listener in crawl.before_finish:
        listener(curi)
    assert cdxj.warcs_of(tmp_path) == []
    files.busy = False
    pipeline.process_item(captured("http://a.example/", crawl))
    pipeline.close_spider()
    assert sorted(kind for _, kind, _ in records(tmp_path)) == [
        "metadata",
        "metadata",
        "request",
        "resource",
        "response",
    ]


def test_an_item_that_found_no_room_is_written_when_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_ITEM_RECORDS="metadata")
    with monkeypatch.context() as patch:
        patch.setattr("heritrix_scrapy.archive.warcfile.free_bytes", lambda place: 0)
        pipeline.process_item({"url": "http://a.example/"})
    assert crawl.bridge.pause_reason is not None
    pipeline.close_spider()
    assert [kind for _, kind, _ in records(tmp_path)] == ["metadata"]


def test_a_cancelled_write_leaves_its_file_to_the_thread(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    large = captured("http://a.example/large", crawl, b"x" * (5 << 20))

    async def write() -> None:
        work = asyncio.ensure_future(pipeline.process_item(large))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert pipeline.files.members[0].busy
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not pipeline.files.members[0].busy

    asyncio.run(write())
    pipeline.process_item(captured("http://a.example/small", crawl))
    pipeline.close_spider()
    assert [uri for _, kind, uri in records(tmp_path) if kind == "response"] == [
        "http://a.example/large",
        "http://a.example/small",
    ]


def test_a_full_store_is_left_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_STORE_PATHS=["one", "two"])
    room = {"one": 1 << 40, "two": 1 << 40}
    monkeypatch.setattr("heritrix_scrapy.archive.warcfile.free_bytes", lambda place: room[place.name])
    pipeline.process_item(captured("http://a.example/1", crawl))
    room["one"] = 0
    pipeline.process_item(captured("http://a.example/2", crawl))
    pipeline.files.members[0]._unchecked = 1 << 40
    pipeline.process_item(captured("http://a.example/3", crawl))
    room["two"] = 0
    pipeline.files.members[0]._unchecked = 1 << 40
    with pytest.raises(StorageFull):
        pipeline.process_item(captured("http://a.example/4", crawl))
    room["one"] = 1 << 40
    pipeline.process_item(captured("http://a.example/4", crawl))
    pipeline.close_spider()
    where = [(path.parent.name, len(cdxj.lines_of(path))) for path in cdxj.warcs_of(tmp_path)]
    assert sorted(where) == [("one", 1), ("one", 2), ("two", 1)]


def test_a_file_that_was_deleted_is_followed_by_another(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    pipeline.process_item(captured("http://a.example/1", crawl))
    cdxj.warcs_of(tmp_path)[0].unlink()
    with pytest.raises(StorageFull, match="deleted"):
        pipeline.process_item(captured("http://a.example/2", crawl))
    pipeline.process_item(captured("http://a.example/2", crawl))
    pipeline.close_spider()
    assert [uri for _, kind, uri in records(tmp_path) if kind == "response"] == ["http://a.example/2"]


def test_processes_share_a_folder_and_a_name(tmp_path: Path) -> None:
    shared = {"HERITRIX_WARC_DIR": str(tmp_path / "warcs"), "HERITRIX_WARC_TEMPLATE": "${prefix}.warcs"}
    made = [pipeline_of(JOBDIR=str(tmp_path / str(number)), **shared) for number in range(3)]
    for pipeline, crawl in made:
        pipeline.open_spider()
        pipeline.process_item(captured("http://a.example/", crawl))
    for pipeline, _ in made:
        pipeline.close_spider()
    assert sorted(path.name for path in (tmp_path / "warcs").iterdir()) == [
        "WEB.warcs-2.warc.gz",
        "WEB.warcs-3.warc.gz",
        "WEB.warcs.warc.gz",
    ]


def test_what_cannot_be_repaired_does_not_keep_a_crawl_from_starting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "warcs" / "WEB-1.warc.gz.open").mkdir(parents=True)
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    pipeline.open_spider()
    assert "cannot be closed" in caplog.text
    pipeline.process_item(captured("http://a.example/", crawl))
    pipeline.close_spider()


def test_old_files_are_closed_while_nothing_comes(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_MAX_FILE_AGE_SECONDS=60)
    pipeline.process_item(captured("http://a.example/1", crawl))
    pipeline.files.members[0]._born -= 61
    pipeline.files.sync()
    assert [path.name.endswith(".gz") for path in cdxj.warcs_of(tmp_path)] == [True]


def test_a_name_that_no_disk_takes_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="at most"):
        pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_PREFIX="x" * 300)


def test_secrets_are_masked_however_they_are_sent() -> None:
    from heritrix_scrapy.archive.redaction import redacted

    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    parts = part % (b"password", b"hunter2") + part % (b"n", b"1") + b"--b--\r\n"
    for mime, body in (
        (b"multipart/form-data; boundary=b", parts),
        (b"application/json", b'{"user": "me", "password": "hunter2\\"x", "n": 1}'),
        (b"application/x-www-form-urlencoded", b"n=1&user_passwd=hunter2"),
    ):
        request = b"POST / HTTP/1.1\r\nCookie: a=hunter2;\r\n b=hunter2\r\nContent-Type: " + mime + b"\r\n\r\n" + body
        masked, names = redacted(request)
        assert b"hunter2" not in masked
        assert masked.count(b"[redacted]") == len(names) == 2
        assert b"1" in masked


def test_secrets_in_large_requests_are_masked(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_REDACT_REQUEST_HEADERS=True)
    curi = captured("http://a.example/", crawl)
    request = curi.recorder.request  # type: ignore[union-attr]
    request.truncate(0)
    request.append(b"POST / HTTP/1.1\r\nCookie: hunter2\r\n\r\n" + b"x" * (3 << 20))
    pipeline.process_item(curi)
    pipeline.close_spider()
    assert headers(tmp_path, "request").http_headers.get_header("Cookie") == "[redacted]"
