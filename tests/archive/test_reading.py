"""Files that others wrote, that are being written, or that are torn: no command of ours falls over them."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import zipfile
from typing import TYPE_CHECKING, Any

import brotli
import pytest
import zstandard
from scrapy import Request
from scrapy.settings import Settings
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from heritrix_scrapy.archive import cdxj, reading
from heritrix_scrapy.archive.replay import Index, NotArchived, ReplayDownloadHandler, read
from heritrix_scrapy.archive.wacz import pack, pages
from heritrix_scrapy.commands import warc as warc_command
from heritrix_scrapy.model.errors import ConfigurationError
from tests.archive.test_pipeline import captured, pipeline_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAGE = b"<title>kept</title>" * 50
CODED = {"br": brotli.compress, "zstd": zstandard.ZstdCompressor().compress, "gzip": gzip.compress, "x-own": bytes}


def archive(place: Path, count: int = 3) -> Any:
    """An open pipeline with a page in each coding and some bytes that are none."""
    pipeline, crawl = pipeline_of(JOBDIR=str(place))
    for coding, compress in CODED.items():
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\r\n".encode()
        pipeline.process_item(captured(f"http://a.example/{coding}", crawl, compress(PAGE), head))
    for number in range(count):
        pipeline.process_item(captured(f"http://a.example/{number}", crawl, os.urandom(400)))
    return pipeline, crawl


class Crawler:
    def __init__(self, files: Sequence[Path], **more: Any) -> None:
        self.settings = Settings({"HERITRIX_REPLAY": [str(file) for file in files], **more})


def ask(handler: ReplayDownloadHandler, url: str, **options: Any) -> Any:
    work = handler.download_request(Request(url, **options))
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something")


def test_bodies_in_every_coding_come_decoded(tmp_path: Path) -> None:
    """warcio 1.8 fails over Brotli 1.2 and does not know zstd."""
    pipeline, _ = archive(tmp_path)
    pipeline.close_spider()
    handler = ReplayDownloadHandler(Crawler([tmp_path]))  # type: ignore[arg-type]
    for coding in CODED:
        answer = ask(handler, f"http://a.example/{coding}")
        assert answer.body == PAGE
        assert ("Content-Encoding" in answer.headers) is (coding == "x-own")
    assert ask(handler, "http://a.example/br", method="HEAD").body == b""
    small = ReplayDownloadHandler(Crawler([tmp_path], DOWNLOAD_MAXSIZE=100))  # type: ignore[arg-type]
    with pytest.raises(NotArchived, match="more than 100"):
        ask(small, "http://a.example/br")


def test_a_running_crawl_can_be_packed(tmp_path: Path) -> None:
    pipeline, crawl = archive(tmp_path / "job")
    torn = pipeline.files.members[0]
    os.write(torn._fd, b"\x1f\x8b\x08 the beginning of a record")
    size = torn._position
    out = tmp_path / "now.wacz"
    pack(tmp_path / "job", out)
    with zipfile.ZipFile(out) as package:
        [name] = [name for name in package.namelist() if name.startswith("archive/")]
        assert name.endswith(".warc.gz")
        assert package.getinfo(name).file_size == size
        rows = [json.loads(line.split(" ", 2)[2]) for line in package.read("indexes/index.cdxj").decode().splitlines()]
        assert all(int(row["offset"]) + int(row["length"]) <= size for row in rows)
        (tmp_path / "out.warc.gz").write_bytes(package.read(name))
        listed = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()]
    assert warc_command.verify(tmp_path / "out.warc.gz")["problems"] == []
    assert [row["title"] for row in listed[1:4]] == ["kept"] * 3
    os.ftruncate(torn._fd, size)
    os.lseek(torn._fd, size, os.SEEK_SET)
    pipeline.process_item(captured("http://a.example/later", crawl))
    pipeline.close_spider()


def test_a_file_that_is_closed_while_it_is_packed_is_found(tmp_path: Path) -> None:
    pipeline, _ = archive(tmp_path)
    [path] = cdxj.warcs_of(tmp_path)
    where = reading.extent(path)
    pipeline.close_spider()
    assert not path.exists()
    assert sum(map(len, where.chunks())) == where.size
    assert len(cdxj.lines_in(where)) == len(CODED) + 3


def test_a_torn_file_gives_what_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from argparse import Namespace

    pipeline, _ = archive(tmp_path)
    pipeline.close_spider()
    [path] = cdxj.warcs_of(tmp_path)
    lines = cdxj.lines_of(path)
    data = path.read_bytes()
    last = max(int(json.loads(line.split(" ", 2)[2])["offset"]) for line in lines)
    path.write_bytes(data[: last + 40])
    assert len(cdxj.lines_of(path)) == len(lines) - 1
    handler = ReplayDownloadHandler(Crawler([path]))  # type: ignore[arg-type]
    assert ask(handler, "http://a.example/0").status == 200
    with pytest.raises(NotArchived):
        ask(handler, "http://a.example/2")
    plain = Namespace(json=False)
    assert warc_command.run(["stats", str(path)], plain) == 0
    assert warc_command.run(["verify", str(path)], plain) == 1
    assert warc_command.run(["repair", str(path)], plain) == 0
    assert warc_command.run(["verify", str(path)], plain) == 0
    assert path.read_bytes() + path.with_name(path.name + ".cut").read_bytes() == data[: last + 40]
    capsys.readouterr()


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(n, marks=pytest.mark.long) for n in range(40, 400))])
def test_damaged_files_are_told_of(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    pipeline, _ = archive(tmp_path / "job")
    pipeline.close_spider()
    data = cdxj.warcs_of(tmp_path / "job")[0].read_bytes()
    broken = bytearray(data if seed % 2 else gzip.decompress(data))
    for _ in range(source.randrange(1, 6)):
        at = source.randrange(len(broken))
        how = source.randrange(3)
        if how == 0:
            broken[at] = source.randrange(256)
        elif how == 1:
            broken[at : at + source.randrange(50)] = source.randbytes(source.randrange(20))
        else:
            del broken[max(at, 1) :]
    path = tmp_path / ("x.damaged.warc.gz" if seed % 2 else "x.damaged.warc")
    path.write_bytes(broken)
    warc_command.verify(path)
    warc_command.stats(path)
    list(pages([reading.extent(path)]))
    for rows in Index([path])._by_key.values():
        for row in rows:
            try:
                read(row, 1 << 20)
            except NotArchived as error:
                assert "cannot be read" in str(error)  # noqa: PT017 - either is right
    warc_command.mend(path)


def other_package(place: Path) -> Path:
    """A WACZ file as another program makes it: a compressed index, a revisit that names its original by date."""
    warc = io.BytesIO()
    writer = WARCWriter(warc, gzip=True, warc_version="1.1")
    url, date = "http://b.example/", "2024-01-02T03:04:05Z"
    status = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    for when, kind in ((date, "response"), ("2025-01-02T03:04:05Z", "revisit")):
        headers = {"WARC-Date": when}
        if kind == "revisit":
            record = writer.create_revisit_record(
                url, "sha1:OTHER", url, date, http_headers=status, warc_headers_dict=headers
            )
        else:
            record = writer.create_warc_record(
                url, kind, io.BytesIO(PAGE), http_headers=status, warc_headers_dict=headers
            )
        writer.write_record(record)
    path = place / "b.damaged.warc.gz"
    path.write_bytes(warc.getvalue())
    lines = "".join(f"{line}\n" for line in cdxj.lines_of(path))
    out = place / "other.wacz"
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("archive/" + path.name, path.read_bytes())
        package.writestr("indexes/index.cdx.gz", gzip.compress(lines.encode()))
        package.writestr("indexes/index.idx", "!meta 0 {}\n")
    return out


def test_packages_of_other_programs(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    other_package(tmp_path / "in")
    (tmp_path / "in" / "b.damaged.warc.gz").unlink()
    handler = ReplayDownloadHandler(Crawler([tmp_path / "in"]))  # type: ignore[arg-type]
    answer = ask(handler, "http://b.example/")
    assert answer.body == PAGE
    assert ask(handler, "http://b.example/", meta={"replay_date": "2024"}).body == PAGE


def test_what_is_no_package_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "x.wacz").write_bytes(b"nothing")
    with pytest.raises(SystemExit, match="cannot be read"):
        ReplayDownloadHandler(Crawler([tmp_path / "x.wacz"]))  # type: ignore[arg-type]


def resource(uri: bytes, date: bytes = b"2020-01-02T03:04:05Z") -> bytes:
    top = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: " + uri + b"\r\nWARC-Date: " + date
    return top + b"\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"


def test_one_odd_address_does_not_cost_the_index_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "damaged.warc"
    odd = [b"http://a:b:c/", b"http://[::1", b"http://a.example:99999999/\xff", b"urn:x", b"//"]
    path.write_bytes(b"".join(map(resource, [b"http://a.example/", *odd, b"http://b.example/"])))
    keys = [line.split(" ")[0] for line in cdxj.lines_of(path)]
    assert len(keys) == 7
    assert {"example,a)/", "example,b)/", "http://a:b:c/"} <= set(keys)
    assert Index([path]).find("http://b.example/") is not None
    assert Index([path]).find("http://x:y:z/") is None
    pack(tmp_path, tmp_path / "odd.wacz")
    assert Index([tmp_path / "odd.wacz"]).find("http://a:b:c/") is not None


@pytest.mark.parametrize(
    ("date", "stamp"),
    [
        (b"2020", "20200101000000"),
        (b"2020-05", "20200501000000"),
        (b"2020-05-06T07:08Z", "20200506070800"),
        (b"2020-05-06T07:08:09.123456789Z", "20200506070809"),
        (b"yesterday", None),
        (b"", None),
        ("٢٠٢٠".encode(), None),
    ],
)
def test_dates_may_be_short_and_what_has_none_has_no_line(tmp_path: Path, date: bytes, stamp: str | None) -> None:
    path = tmp_path / "damaged.warc"
    path.write_bytes(resource(b"http://a.example/", date))
    assert [line.split(" ")[1] for line in cdxj.lines_of(path)] == ([stamp] if stamp else [])
    found = Index([path]).find("http://a.example/", "2020")
    assert (found.stamp if found else None) == stamp


def test_lines_that_cannot_be_read_cost_no_others_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "damaged.warc").write_bytes(resource(b"http://a.example/"))
    [good] = cdxj.lines_of(tmp_path / "damaged.warc")
    told = json.loads(good.split(" ", 2)[2])
    bad: list[Any] = [{**told, key: value} for key in ("filename", "offset") for value in ([], {}, "x", None)]
    bad += [{**told, "digest": 7}, {key: told[key] for key in told if key != "offset"}]
    lines = [f"com,x)/ 20200101000000 {json.dumps(row)}" for row in bad]
    lines += ["com,x)/ never " + json.dumps(told), "com,x)/ 20200101000000 {", "", "com,x)/", good]
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as package:
        package.write(tmp_path / "damaged.warc", "archive/damaged.warc")
        package.writestr("indexes/index.cdxj", "\n".join(lines))
    index = Index([tmp_path / "a.wacz"])
    assert index.find("http://a.example/") is not None
    assert index.find("http://x.com/") is None


def damage(name: str, package: bytes) -> bytes:
    if name == "locked":
        data = bytearray(package)
        for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            place = -1
            while (place := data.find(mark, place + 1)) >= 0:
                data[place + at] |= 1
        return bytes(data)
    if name == "of an unknown kind":
        return package.replace(b"\x08\x00", b"\x63\x00")
    return package[: len(package) // 2]


@pytest.mark.parametrize("how", ["locked", "of an unknown kind", "cut"])
def test_packages_that_cannot_be_opened_are_told_of_in_words(tmp_path: Path, how: str) -> None:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("indexes/index.cdxj", "com,x)/ 20200101000000 {}\n" * 50)
    (tmp_path / "a.wacz").write_bytes(damage(how, stored.getvalue()))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ReplayDownloadHandler(Crawler([tmp_path / "a.wacz"]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "indexed"),
    [
        ("text/html", "text/html"),
        (" text/html ;charset=utf-8", "text/html"),
        ("te xt;x", "te"),
        (";charset=utf-8", "unk"),
        ("", "unk"),
    ],
)
def test_a_media_type_in_an_index_ends_at_a_blank(written: str, indexed: str) -> None:
    """As the indexers of the community cut it."""
    assert cdxj.type_of(written) == indexed
