"""What people found wrong in the archives of other crawlers: each case by its id."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.records import Form, group
from heritrix_scrapy.commands.warc import verify
from heritrix_scrapy.model.recorder import sha1_base32
from tests.archive.test_pipeline import captured, pipeline_of

if TYPE_CHECKING:
    from pathlib import Path

HOST = "odd.test"
PATHS = ("chunked", "zipped", "order", "bytes", "title", "one", "two", "cut", "long", "slow")
CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
BYTES = "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\xcf\xf0\xe8.txt\r\nContent-Length: 1\r\n\r\nx"
SITE: dict[str, Any] = {
    HOST: {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "".join(f"<a href=/{path}>x</a>" for path in PATHS)},
            "/chunked": {"wire": CHUNKED},
            "/zipped": {"body": "z" * 3000, "encode": "gzip", "chunks": 100},
            "/order": {"wire": "HTTP/1.1 200 OK\r\nZ: 1\r\nA: 2\r\nM: 3\r\nContent-Length: 0\r\n\r\n"},
            "/bytes": {"wire": BYTES},
            "/title": {"wire": "HTTP/1.1 200 OK\r\nX-Title: caf\xe9\r\nContent-Length: 0\r\n\r\n"},
            "/one": {"wire": "HTTP/1.1 302 \r\nLocation: /t1\r\nContent-Length: 0\r\n\r\n"},
            "/two": {"wire": "HTTP/1.1 302\r\nLocation: /t2\r\nContent-Length: 0\r\n\r\n"},
            "/t1": {"body": "one"},
            "/t2": {"body": "two"},
            "/cut": {"fill": 100_000, "cut": 50_000},
            "/long": {"fill": 500_000},
            "/slow": {"fill": 1000, "drip": [10, 0.5]},
        }
    }
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One crawl of all of them: path → (record headers, block) of its response."""
    from tests.crawls import Project
    from tests.web.thread import running

    folder = tmp_path_factory.mktemp("odd")
    with running(SITE) as web:
        seed = web.url(HOST)
        settings = {
            "HERITRIX_SEEDS": [seed],
            "HERITRIX_DNS_SERVERS": [web.dns],
            "HERITRIX_MAX_LENGTH_BYTES": 200_000,
            "HERITRIX_TIMEOUT_SECONDS": 3,
            "HERITRIX_MAX_RETRIES": 1,
        }
        crawl = Project(folder, settings).run()
    assert crawl.returncode == 0, crawl.stderr
    found = {}
    for path in crawl.warcs:
        assert verify(path)["problems"] == []
        with path.open("rb") as file:
            for record in FastIterator(file, parse_http=False):
                if record.headers.get("WARC-Type") == "response":
                    name = record.headers["WARC-Target-URI"].removeprefix(seed)
                    found[name] = (dict(record.headers), record.reader.read())
    return found


def payload(block: bytes) -> bytes:
    return block.partition(b"\r\n\r\n")[2]


@pytest.mark.crawl
def test_pc_021_chunks_are_kept_as_received(archive: Any) -> None:
    headers, block = archive["chunked"]
    assert block == CHUNKED.encode()
    assert headers["WARC-Payload-Digest"] == sha1_base32([payload(block)])


@pytest.mark.crawl
def test_pc_023_content_coding_is_part_of_the_payload(archive: Any) -> None:
    _, block = archive["zipped"]
    assert b"Content-Encoding: gzip" in block
    assert b"Transfer-Encoding: chunked" in block
    assert payload(block)[4:6] == b"\x1f\x8b"


@pytest.mark.crawl
def test_pc_024_a_block_is_what_its_head_says(archive: Any) -> None:
    for _, block in archive.values():
        chunked = b"transfer-encoding: chunked" in block.lower().partition(b"\r\n\r\n")[0]
        assert chunked is payload(block).endswith(b"0\r\n\r\n")


@pytest.mark.crawl
def test_pc_028_the_order_of_headers_stays(archive: Any) -> None:
    assert b"\r\nZ: 1\r\nA: 2\r\nM: 3\r\n" in archive["order"][1]


@pytest.mark.crawl
def test_pc_029_pc_030_bytes_that_are_no_text_stay(archive: Any) -> None:
    assert b"filename=\xcf\xf0\xe8.txt" in archive["bytes"][1]
    assert b"X-Title: caf\xe9\r\n" in archive["title"][1]


@pytest.mark.crawl
def test_pc_031_a_status_line_without_reason(archive: Any) -> None:
    assert archive["one"][1].startswith(b"HTTP/1.1 302 \r\n")
    assert archive["two"][1].startswith(b"HTTP/1.1 302\r\n")
    assert {"t1", "t2"} <= archive.keys()


@pytest.mark.crawl
def test_pc_041_pc_042_pc_043_what_was_cut_is_kept_and_says_why(archive: Any) -> None:
    assert {name: archive[name][0]["WARC-Truncated"] for name in ("cut", "long", "slow")} == {
        "cut": "disconnect",
        "long": "length",
        "slow": "time",
    }
    assert len(payload(archive["cut"][1])) == 50_000
    assert 199_000 < len(archive["long"][1]) < 210_000


# -- files


def test_pc_032_a_record_ends_with_two_line_ends(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_COMPRESS=False)
    for number in range(3):
        pipeline.process_item(captured(f"http://a.example/{number}", crawl, b"x\0"))
    pipeline.close_spider()
    data = cdxj.warcs_of(tmp_path)[0].read_bytes()
    assert data.endswith(b"\r\n\r\n")
    assert data.count(b"\r\n\r\nWARC/1.1\r\n") == 9
    assert b"\0\r\n\r\nWARC" in data


def test_pc_036_a_torn_file_is_cut_back_when_the_crawl_starts_again(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    pipeline.process_item(captured("http://a.example/", crawl))
    os.write(pipeline.files.members[0]._fd, b"\x1f\x8b torn")
    assert cdxj.warcs_of(tmp_path)[0].name.endswith(".open")
    os.close(pipeline.files.members[0]._fd)
    again, _ = pipeline_of(JOBDIR=str(tmp_path))
    again.open_spider()
    [path] = cdxj.warcs_of(tmp_path)
    assert path.name.endswith(".warc.gz")
    assert verify(path)["problems"] == []


def test_pc_038_each_file_begins_with_what_made_it(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WARC_MAX_FILE_CAPTURES=1)
    for number in range(4):
        pipeline.process_item(captured(f"http://a.example/{number}", crawl))
    pipeline.close_spider()
    paths = cdxj.warcs_of(tmp_path)
    assert len(paths) == 4
    for path in paths:
        with path.open("rb") as file:
            first, *others = [record.rec_headers for record in ArchiveIterator(file)]
        assert first.get_header("WARC-Type") == "warcinfo"
        assert first.get_header("WARC-Filename") == path.name
        assert {headers.get_header("WARC-Warcinfo-ID") for headers in others} == {first.get_header("WARC-Record-ID")}


@pytest.mark.parametrize(("profile", "files"), [("modern", 2), ("heritrix", 1)])
def test_pc_039_the_limit_is_looked_at_before_a_capture(tmp_path: Path, profile: str, files: int) -> None:
    pipeline, crawl = pipeline_of(
        JOBDIR=str(tmp_path), HERITRIX_WARC_MAX_FILE_SIZE_BYTES=1_000_000, HERITRIX_PROFILE=profile
    )
    for number in range(2):
        pipeline.process_item(captured(f"http://a.example/{number}", crawl, os.urandom(900_000)))
    pipeline.close_spider()
    assert len([path for path in tmp_path.rglob("*.warc.gz") if path.is_file()]) == files


def test_pc_044_pc_046_pc_047_address_and_protocol_on_each_record(tmp_path: Path) -> None:
    _, crawl = pipeline_of(JOBDIR=str(tmp_path))
    curi = captured("https://a.example/", crawl)
    curi.server_ip = "2001:db8::1"
    curi.annotate("h2")
    heads = [record.head.decode() for record in group(curi, Form(), lambda: "urn:uuid:1")]
    assert all("WARC-IP-Address: 2001:db8::1\r\n" in head for head in heads)
    assert "WARC-Protocol: h2\r\n" in heads[0]
    assert heads[0].startswith("WARC/1.1\r\n")
