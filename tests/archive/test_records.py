"""What the records of a group say, in both profiles."""

from __future__ import annotations

import base64
import hashlib
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.archive import anvl
from heritrix_scrapy.archive.alone import Crawler, warcinfo
from heritrix_scrapy.archive.metadata import metadata
from heritrix_scrapy.archive.names import FileNames, Machine, check, interpolate, timestamp17
from heritrix_scrapy.archive.records import (
    Facts,
    Form,
    Revisit,
    group,
    target,
    truncation,
    wanted,
)
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink, TlsFacts
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.recorder import Recorder, base32, sha1_base32, sha1_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1308849128574
HERITRIX = Form(modern=False, version="1.0")
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MACHINE = Machine("crawler.example", "192.0.2.7", 42)


def fetched(uri: str = "http://a.example/", body: bytes = b"abc") -> CrawlURI:
    curi = CrawlURI(uri, path="L", via="http://via.example/")
    curi.status, curi.began_ms, curi.ended_ms, curi.server_ip = 200, NOW, NOW + 7, "192.0.2.1"
    curi.http_version = "HTTP/1.1"
    curi.recorder = Recorder()
    curi.recorder.request.append(b"GET / HTTP/1.1\r\n\r\n")
    curi.recorder.response.append(HEAD + body)
    curi.recorder.body_at = len(HEAD)
    return curi


def headers(curi: CrawlURI, form: Form = Form(), **more: object) -> list[dict[str, str]]:  # noqa: B008
    numbers = count(1)
    records = group(curi, form, lambda: f"urn:uuid:{next(numbers)}", **more)  # type: ignore[arg-type]
    told = []
    for record in records:
        version, *lines = record.head.decode().strip().split("\r\n")
        told.append({"version": version} | dict(line.split(": ", 1) for line in lines))
    return told


def test_the_modern_group_names_protocol_cipher_digests_and_its_warcinfo() -> None:
    curi = fetched("https://a.example/")
    curi.tls = TlsFacts("TLSv1.3", "TLS_AES_128_GCM_SHA256", "ab" * 32)
    curi.digest = "sha1:X"
    response, request, about = headers(curi, warcinfo_id="urn:uuid:0")
    assert response["version"] == "WARC/1.1"
    assert response["WARC-Date"] == "2011-06-23T17:12:08.574Z"
    assert response["WARC-Cipher-Suite"] == "TLS_AES_128_GCM_SHA256"
    assert response["WARC-Payload-Digest"] == "sha1:X"
    assert response["WARC-Block-Digest"] == sha1_base32([HEAD + b"abc"])
    for record in (response, request, about):
        assert record["WARC-Warcinfo-ID"] == "<urn:uuid:0>"
        assert record["WARC-IP-Address"] == "192.0.2.1"
    for record in (request, about):
        assert record["WARC-Concurrent-To"] == response["WARC-Record-ID"] == "<urn:uuid:1>"
    raw = group(curi, Form(), lambda: "urn:uuid:1")[0].head
    assert raw.index(b"WARC-Protocol: http/1.1") < raw.index(b"WARC-Protocol: tls/1.3")
    assert b"tlsCertificateSha256: " + b"ab" * 32 in metadata(curi, Form())
    assert b"tlsCertificate" not in metadata(curi, HERITRIX)


def test_the_heritrix_group_has_nothing_that_heritrix_does_not_write() -> None:
    curi = fetched("https://a.example/")
    curi.tls = TlsFacts("TLSv1.3", "TLS_AES_128_GCM_SHA256", "ab" * 32)
    curi.digest = "sha1:X"
    response, request, about = headers(curi, HERITRIX, warcinfo_id="urn:uuid:0")
    assert list(response) == [
        "version",
        "WARC-Type",
        "WARC-Target-URI",
        "WARC-Date",
        "WARC-Payload-Digest",
        "WARC-IP-Address",
        "WARC-Record-ID",
        "Content-Type",
        "Content-Length",
    ]
    common = ["version", "WARC-Type", "WARC-Target-URI", "WARC-Date", "WARC-Concurrent-To", "WARC-Record-ID"]
    assert list(request) == list(about) == [*common, "Content-Type", "Content-Length"]
    assert response["version"] == "WARC/1.0"
    assert response["WARC-Date"] == "2011-06-23T17:12:08Z"


@pytest.mark.parametrize(
    ("notes", "truncated", "ours", "theirs"),
    [
        ([], [], None, None),
        (["lenTrunc", "timeTrunc"], [], "time", "time"),
        (["lenTrunc"], ["length"], "length", "length"),
        (["headerTrunc"], [], "length", "long-headers"),
        (["midFetchAbort"], [], "unspecified", None),
        ([], ["disconnect"], "disconnect", None),
    ],
)
def test_why_bytes_are_missing(notes: list[str], truncated: list[str], ours: str | None, theirs: str | None) -> None:
    curi = fetched()
    curi.annotations = notes
    curi.recorder.truncated = truncated  # type: ignore[union-attr]
    assert (truncation(curi, modern=True), truncation(curi, modern=False)) == (ours, theirs)
    assert headers(curi)[0].get("WARC-Truncated") == ours


def test_dns_is_a_resource_unless_heritrix_calls_it_a_response() -> None:
    curi = fetched("dns:a.example", b"")
    curi.content_type = "text/dns"
    assert [row["WARC-Type"] for row in headers(curi)] == ["resource"]
    assert [row["WARC-Type"] for row in headers(curi, HERITRIX)] == ["response"]


def test_requests_and_metadata_can_be_left_out() -> None:
    assert [r["WARC-Type"] for r in headers(fetched(), Form(requests=False, metadata=False))] == ["response"]


def test_a_scheme_of_the_users_own_is_a_resource() -> None:
    curi = fetched("gopher://a.example/1", b"text")
    assert wanted(curi)
    assert not wanted(curi, modern=False)
    assert [row["WARC-Type"] for row in headers(curi)] == ["resource", "metadata"]


@pytest.mark.parametrize("status", [0, -1, -2, -3, -4, -5, -6, -50, -61, -404, -5000, -5003, -9998])
def test_what_did_not_answer_is_not_written(status: int) -> None:
    curi = fetched()
    curi.status = status
    assert not wanted(curi)


def test_what_left_no_bytes_is_not_written() -> None:
    curi = fetched("dns:a.example")
    curi.status = 1
    curi.recorder = Recorder()
    assert not wanted(curi)
    curi.recorder = None
    assert not wanted(curi)


def test_a_modern_revisit_says_what_it_repeats() -> None:
    same = Facts(revisit=Revisit("identical-payload-digest", "sha1:Y"))
    assert b"".join(group(fetched(), Form(), lambda: "urn:uuid:1", facts=same)[0].pieces()) == HEAD
    revisit = Revisit("server-not-modified", "sha1:Y", "urn:uuid:9", "2011-01-02T03:04:05Z", "http://a.example/", '"e"')
    curi = fetched()
    curi.headers, curi.reason = [(b"ETag", b'"e"')], "Not Modified"
    [first, *_, last] = group(curi, Form(), lambda: "urn:uuid:1", facts=Facts(revisit=revisit))
    text = first.head.decode()
    assert b"".join(first.pieces()) == b""
    assert b'\r\nhttp-status: 200 Not Modified\r\nhttp-header: ETag: "e"\r\n' in b"".join(last.pieces())
    assert "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n" in text
    assert "WARC-Refers-To: <urn:uuid:9>" in text
    assert "WARC-Refers-To-Target-URI: http://a.example/" in text
    assert "WARC-Truncated" not in text
    assert "WARC-Etag" not in text


def test_nothing_that_a_server_sends_breaks_a_header() -> None:
    curi = fetched("http://a.example/a b\r\nX: y\u2028")
    curi.content_type = "text/dns;\r\n evil: 1\x00"
    curi.server_ip = "1\r\n2"
    for record in group(curi, Form(), lambda: "urn:uuid:1", facts=Facts(response_headers=["A: b\r\nWARC-Type: x"])):
        for row in record.head.decode().strip().split("\r\n")[1:]:
            assert row[0] == " " or row.partition(":")[0].replace("-", "").isalnum()
    assert target("http://a/ \n\xa0") == "http://a/%20%0A%C2%A0"


def test_metadata_of_a_seed_and_of_a_forced_uri() -> None:
    curi = CrawlURI("http://a.example/", seed=True, path="", via="http://x.example/", source_tag="tag")
    curi.outlinks = [Outlink("http://b.example/", "L", "a/@href")]
    curi.annotations = ["usingCharsetInHTML:utf-8", "inconsistentCharsetInHTML:a:b", "other:1"]
    lines = metadata(curi, Form()).decode().split("\r\n")
    assert lines == [
        "seed:",
        "charsetForLinkExtraction: UTF-8",
        "usingCharsetInHTML: utf-8",
        "inconsistentCharsetInHTML: a:b",
        "outlink: http://b.example/ L a/@href",
        "",
        "",
    ]
    forced = CrawlURI("http://a.example/robots.txt", path="P", via="http://a.example/", forced=True)
    forced.began_ms, forced.ended_ms = 5, 3
    assert metadata(forced, Form()).decode().split("\r\n")[:3] == [
        "force-fetch:",
        "via: http://a.example/",
        "hopsFromSeed: P",
    ]
    assert b"fetchTimeMs" not in metadata(forced, Form())


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_warcinfo(version: str) -> None:
    who = Crawler("software/1", "agent", "robotsTxtOnly", "", "publisher", job="job", mail="a@b", machine=MACHINE)
    record = warcinfo(who, Form(version=version), "name.warc.gz", NOW, "urn:uuid:1")
    fields = anvl.parse(b"".join(record.pieces()).decode())
    assert [name for name, _ in fields] == [
        "software",
        "ip",
        "hostname",
        "format",
        "conformsTo",
        "publisher",
        "isPartOf",
        "robots",
        "http-header-user-agent",
        "http-header-from",
    ]
    assert dict(fields)["format"] == f"WARC File Format {version}"
    assert dict(fields)["robots"] == "robotstxtonly"
    assert b"WARC-Filename: name.warc.gz\r\n" in record.head


def test_names_count_on_behind_what_is_there() -> None:
    names = FileNames("${prefix}-${timestamp14}-${serialno}-x", "A.B", machine=MACHINE, now_ms=lambda: NOW)
    names.follow(["A.B-20110623171208-00041-x.warc.gz.open", "A.B-20110623171208-00007-x.warc", "AxB-1-99999-x.warc"])
    assert names() == "A.B-20110623171208-00042-x.warc.gz"


def test_time_stamps_never_repeat() -> None:
    names = FileNames(machine=MACHINE, now_ms=lambda: NOW)
    made = [names() for _ in range(20)]
    assert len({name.split("-")[1] for name in made}) == 20
    assert made[0] == f"WEB-{timestamp17(NOW)}-00000-42~crawler.example~0.warc.gz"


@pytest.mark.parametrize("form", ["timestamp14", "timestamp17"])
def test_time_stamps_never_repeat_in_either_form(form: str) -> None:
    names = FileNames(f"${{{form}}}", machine=MACHINE, now_ms=lambda: NOW)
    assert names() == f"{timestamp17(NOW)[: int(form[-2:])]}.warc.gz"
    assert len({names() for _ in range(20)}) == 20


def test_interpolation_ends() -> None:
    assert interpolate("${a}", {"a": "${a}x"}).startswith("${a}")


@pytest.mark.parametrize(("template", "prefix"), [("a/b", "p"), ("${prefix}", "../x"), ("a b", "p"), ("${none}", "p")])
def test_names_that_cannot_be(template: str, prefix: str) -> None:
    with pytest.raises(ConfigurationError):
        check(template, prefix)


@pytest.mark.parametrize("modern", [True, False])
def test_what_was_said_to_an_ftp_server_stands_in_the_group(tmp_path: Path, modern: bool) -> None:
    """The handler puts it on the recorder; the writer makes a metadata record of it and has the reply in the other."""
    from tests.archive.test_pipeline import captured as capture
    from tests.archive.test_pipeline import pipeline_of
    from tests.archive.test_warcfile import blocks

    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_PROFILE="modern" if modern else "heritrix")
    curi = capture("ftp://ftp.example/file", crawl, b"file", b"")
    curi.status, curi.content_type = 226, "application/octet-stream"
    recorder = curi.recorder
    assert recorder is not None
    recorder.request.truncate(0)
    recorder.conversation, recorder.reply = "220 hello\r\nUSER anonymous\r\n", "226 done"
    pipeline.process_item(curi)
    pipeline.close_spider()
    [path] = [path for path in tmp_path.rglob("*.warc.gz") if path.is_file()]
    found = blocks(path)[1:]
    assert [kind for kind, _, _ in found] == ["metadata", "resource" if modern else "response", "metadata"]
    assert found[0][2] == b"220 hello\r\nUSER anonymous\r\n"
    assert found[1][2] == b"file"
    assert b"ftpFetchStatus: 226 done\r\n" in found[2][2]


def test_an_answer_of_a_handler_of_ones_own_is_a_resource(tmp_path: Path) -> None:
    from tests.archive.test_pipeline import captured as capture
    from tests.archive.test_pipeline import pipeline_of
    from tests.archive.test_warcfile import blocks, check

    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    curi = capture("gemini://a.example/", crawl, b"# page", b"")
    curi.content_type = "text/gemini"
    pipeline.process_item(curi)
    pipeline.close_spider()
    [path] = tmp_path.rglob("*.warc.gz")
    check(path)
    assert [(kind, block) for kind, _, block in blocks(path)][1] == ("resource", b"# page")
    assert [kind for kind, _, _ in blocks(path)] == ["warcinfo", "resource", "metadata"]


def test_no_name_leaves_its_folder_whatever_the_machine_is_called() -> None:
    for hostname in ("a/b", "../../x", "a b", "h\n"):
        name = FileNames(machine=Machine(hostname, "", 1), now_ms=lambda: 5)()
        assert not set(name) & set("/ \n")


def test_a_name_that_no_file_can_have_is_refused() -> None:
    for template, prefix in (("\ud800", "WEB"), ("${prefix}", "\ud800")):
        with pytest.raises(ConfigurationError):
            check(template, prefix)
    check("${prefix}", "\udcff")  # a byte of the command line that is no UTF-8


@given(st.binary(min_size=20, max_size=20))
def test_base32_is_that_of_everybody_else(digest: bytes) -> None:
    assert base32(digest) == base64.b32encode(digest).decode()


@given(st.binary(max_size=300))
def test_a_digest_is_the_same_however_it_is_taken(data: bytes) -> None:
    recorder = Recorder()
    recorder.response.append(b"HEAD" + data)
    recorder.body_at = 4
    hashed = "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()
    assert {recorder.body_digest, sha1_of(data), sha1_base32([data[:7], data[7:]])} == {hashed}


def test_one_link_that_cannot_be_written_does_not_cost_the_others() -> None:
    curi = CrawlURI("http://a.example/")
    curi.outlinks = [
        Outlink("http://a.example/1", "L", "a/@href"),
        Outlink("http://a.example/\x00", "L", "a/@href"),
        Outlink("http://a.example/3", "X", "a\r\nb"),
    ]
    rows = metadata(curi, Form()).split(b"\r\n")
    assert rows[-5:] == [
        b"outlink: http://a.example/1 L a/@href",
        b"outlink: http://a.example/3 X a",
        b" b",
        b"",
        b"",
    ]
