"""Files of records: whole, readable by others, never torn, repaired after a crash."""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import signal
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from heritrix_scrapy.archive.alone import Crawler, warcinfo
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.records import Form, Record, group
from heritrix_scrapy.archive.repair import repair
from heritrix_scrapy.archive.warcfile import WarcFiles
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1308849128574
MACHINE = Machine("crawler.example", "192.0.2.7", 42)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


class Ids:
    """Record ids that count."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self) -> str:
        return f"urn:uuid:00000000-0000-4000-8000-{next(self._numbers):012d}"


def files_in(place: Path, *, form: Form | None = None, compress: bool = True, limit: int = -1) -> WarcFiles:
    written = form or Form()
    names = FileNames(compress=compress, machine=MACHINE, now_ms=lambda: NOW)
    ids = Ids()

    def opening(name: str) -> Record:
        return warcinfo(Crawler("test/1", machine=MACHINE), written, name, NOW, ids())

    return WarcFiles(lambda: place, names, opening, compress=compress, limit=limit, follow=names.follow)


def captured(uri: str, body: bytes, head: bytes = HEAD, *, memory: int = 512 * 1024) -> CrawlURI:
    curi = CrawlURI(uri, path="L", via="http://a.example/")
    curi.status, curi.began_ms, curi.ended_ms = 200, NOW, NOW + 12
    curi.server_ip, curi.content_type, curi.http_version = "192.0.2.1", "text/html", "HTTP/1.1"
    curi.recorder = recorder = Recorder()
    recorder.response._limit = memory
    recorder.request.append(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
    recorder.response.append(head)
    recorder.body_at = len(head)
    recorder.response.append(body)
    curi.digest = recorder.body_digest
    curi.outlinks = [Outlink("http://a.example/b", "L", "a/@href")]
    return curi


def put(files: WarcFiles, curi: CrawlURI, ids: Ids, form: Form | None = None) -> tuple[str, int]:
    return files.append(group(curi, form or Form(), ids, warcinfo_id=files.prepare()))


def blocks(path: Path) -> list[tuple[str, str, bytes]]:
    """Type, URI and block of each record, as FastWARC reads them."""
    with path.open("rb") as stream:
        return [
            (r.headers.get("WARC-Type"), r.headers.get("WARC-Target-URI") or "", r.reader.read())
            for r in FastIterator(stream, parse_http=False)
        ]


def check(path: Path) -> None:
    """``warcio check`` on one file."""

    class Said(Checker):
        bad = 0

        def _output_record(self, *args: object) -> None:  # pragma: no cover - only when a digest is wrong
            Said.bad += 1

    class Command:
        inputs = (str(path),)
        verbose = False

    checker = Checker(Command())
    checker.process_all()
    assert checker.exit_value == 0, path
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()


@pytest.mark.parametrize("form", [Form(), Form(modern=False, version="1.0")], ids=["modern", "heritrix"])
@pytest.mark.parametrize("compress", [True, False])
def test_readers_read_what_was_recorded(tmp_path: Path, form: Form, compress: bool) -> None:
    files, ids = files_in(tmp_path, form=form, compress=compress), Ids()
    bodies = {f"http://a.example/{n}": os.urandom(n * 997) + b"text" * n for n in range(30)}
    for uri, body in bodies.items():
        put(files, captured(uri, body), ids, form)
    name = next(iter(files.flush()))
    assert (tmp_path / (name + ".open")).exists()
    files.close()
    path = tmp_path / name
    assert [p.name for p in tmp_path.iterdir()] == [name]
    check(path)
    read = blocks(path)
    assert [kind for kind, _, _ in read] == ["warcinfo", *["response", "request", "metadata"] * 30]
    assert {uri: block for kind, uri, block in read if kind == "response"} == {
        uri: HEAD + body for uri, body in bodies.items()
    }


@pytest.mark.parametrize("body", [b"5\r\nhello\r\n0\r\n\r\n", b"5;x=1\nhello\r\n00\r\nTrailer: x\r\n\r\n", b"zz\r\n"])
def test_a_chunked_answer_is_verified_by_others(tmp_path: Path, body: bytes) -> None:
    files = files_in(tmp_path)
    curi = captured("http://a.example/", body, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert curi.recorder is not None
    curi.recorder.chunked = True
    name, _ = put(files, curi, Ids())
    files.close()
    check(tmp_path / name)
    with (tmp_path / name).open("rb") as stream:
        verified = [
            record.verify_payload_digest()
            for record in FastIterator(stream)
            if record.headers.get("WARC-Type") == "response"
        ]
    assert verified == [True]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    head=st.binary(max_size=200),
    body=st.binary(max_size=3000),
    repeat=st.sampled_from([1, 1, 1, 700]),
    mime=st.sampled_from(["text/html", "image/png", "unknown", 'a/b; c="\r\n d"', "\x00"]),
    uri=st.text(max_size=40),
    memory=st.sampled_from([16, 512 * 1024]),
    modern=st.booleans(),
)
def test_blocks_are_the_recorded_bytes(
    tmp_path: Path, head: bytes, body: bytes, repeat: int, mime: str, uri: str, memory: int, modern: bool
) -> None:
    place = tmp_path / os.urandom(8).hex()
    form = Form(modern=modern, version="1.1" if modern else "1.0")
    files = files_in(place, form=form)
    curi = captured("http://a.example/" + uri, body * repeat, head, memory=memory)
    curi.content_type = mime
    name, offset = put(files, curi, Ids(), form)
    files.close()
    read = blocks(place / name)
    assert [kind for kind, _, _ in read] == ["warcinfo", "response", "request", "metadata"]
    assert read[1][2] == head + body * repeat
    with (place / name).open("rb") as stream:
        stream.seek(offset)
        first = next(iter(ArchiveIterator(io.BytesIO(stream.read()), no_record_parse=True)))
        assert first.rec_headers.get_header("WARC-Type") == "response"
        assert first.content_stream().read() == head + body * repeat
    shutil.rmtree(place)


def test_a_body_larger_than_memory_is_streamed(tmp_path: Path) -> None:
    body = os.urandom(1 << 20) * 5
    for mime in ("text/html", "video/mp4"):
        place = tmp_path / mime.replace("/", "-")
        files = files_in(place)
        curi = captured("http://a.example/big", body)
        curi.content_type = mime
        records = group(curi, Form(), Ids(), warcinfo_id=files.prepare())
        assert not isinstance(records[0].block, bytes)
        name, _ = files.append(records)
        files.close()
        check(place / name)
        assert blocks(place / name)[1][2] == HEAD + body


def test_files_rotate_between_groups(tmp_path: Path) -> None:
    files, ids = files_in(tmp_path, limit=4000), Ids()
    places = [put(files, captured(f"http://a.example/{n}", os.urandom(1500)), ids) for n in range(12)]
    grown = files.flush()
    files.close()
    assert len({name for name, _ in places}) == len(grown) > 2
    for name, length in grown.items():
        assert (tmp_path / name).stat().st_size == length == files.length(name)
        check(tmp_path / name)
        assert blocks(tmp_path / name)[0][0] == "warcinfo"
    assert sorted(grown) == [name for name, _ in dict.fromkeys((n, 0) for n, _ in places)]
    assert [name.split("-")[2] for name in sorted(grown)] == [f"{n:05d}" for n in range(len(grown))]


def test_a_copy_at_any_byte_is_repaired(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for compress in (True, False):
        place = tmp_path / str(compress)
        files, ids = files_in(place, compress=compress), Ids()
        ends = []
        for n in range(4):
            put(files, captured(f"http://a.example/{n}", b"<p>" + os.urandom(300)), ids)
            ends.append(files.length(next(iter(files.flush()))))
        name = next(place.glob("*.open"))
        whole = name.read_bytes()
        sizes = set(range(0, ends[0], 7)) | set(range(ends[0], len(whole), 13)) | {*ends}
        for size in sorted(sizes):
            torn = tmp_path / "torn" / name.name
            torn.parent.mkdir(exist_ok=True)
            torn.write_bytes(whole[:size])
            caplog.clear()
            closed = repair(torn)
            assert caplog.records
            if closed is None:
                assert not list(torn.parent.iterdir())
                continue
            assert closed.name + ".open" == name.name
            cut = closed.read_bytes()
            assert whole.startswith(cut)
            assert len(cut) >= max([end for end in ends if end <= size], default=0)
            kinds = [kind for kind, _, _ in blocks(closed)]
            assert kinds[0] == "warcinfo"
            assert kinds == ["warcinfo", *["response", "request", "metadata"] * 4][: len(kinds)]
            closed.unlink()
        files.close()


def test_what_follows_zeros_or_rubbish_is_cut(tmp_path: Path) -> None:
    files, ids = files_in(tmp_path), Ids()
    put(files, captured("http://a.example/", b"x" * 100), ids)
    path = next(tmp_path.glob("*.open"))
    data = path.read_bytes()
    for tail in (b"\0" * 4096, b"rubbish", data[:40], b"\x1f\x8b\x08"):
        torn = tmp_path / "torn" / path.name
        torn.parent.mkdir(exist_ok=True)
        torn.write_bytes(data + tail)
        closed = repair(torn)
        assert closed is not None
        assert closed.read_bytes() == data
        closed.unlink()
    files.close()


def test_a_stored_warc_inside_a_body_does_not_mislead_the_repair(tmp_path: Path) -> None:
    inner = files_in(tmp_path / "inner")
    name, _ = put(inner, captured("http://a.example/", b"in"), Ids())
    inner.close()
    outer, ids = files_in(tmp_path / "outer"), Ids()
    put(outer, captured("http://a.example/1", b"one"), ids)
    keep = outer.length(next(iter(outer.flush())))
    curi = captured("http://a.example/w.warc.gz", (tmp_path / "inner" / name).read_bytes() + os.urandom(5000))
    curi.content_type = "application/gzip"
    put(outer, curi, ids)
    path = next((tmp_path / "outer").glob("*.open"))
    torn = tmp_path / path.name
    torn.write_bytes(path.read_bytes()[: keep + 3000])
    closed = repair(torn)
    assert closed is not None
    assert closed.stat().st_size == keep
    outer.close()


def test_the_next_writer_repairs_what_a_crash_left(tmp_path: Path) -> None:
    files, ids = files_in(tmp_path), Ids()
    first, _ = put(files, captured("http://a.example/", b"x"), ids)
    length = files.flush()[first]
    os.close(files._fd)
    files._fd = -1
    with (tmp_path / (first + ".open")).open("ab") as file:
        file.write(b"torn")
    again = files_in(tmp_path)
    assert again.length(first) == length
    second, _ = put(again, captured("http://a.example/2", b"y"), Ids())
    again.close()
    assert second != first
    assert second.split("-")[2] == "00001"
    for path in tmp_path.iterdir():
        check(path)


def test_a_file_in_use_is_left_alone(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    name, _ = put(files, captured("http://a.example/", b"x"), Ids())
    other = files_in(tmp_path)
    assert other.length(name) > 0
    assert (tmp_path / (name + ".open")).exists()
    files.close()


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file of this process grows beyond ``size`` bytes meanwhile; what pytest itself prints to would not either."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


class TestFullDisk:
    """A size limit of the process stands in for the disk: the system refuses in the middle of a write."""

    def test_a_group_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        files, ids = files_in(tmp_path), Ids()
        name, _ = put(files, captured("http://a.example/1", os.urandom(1000)), ids)
        size = files.flush()[name]
        large = captured("http://a.example/2", os.urandom(3_000_000))
        with pytest.raises(StorageFull) as caught, limited(size + 100_000):
            put(files, large, ids)
        assert caught.value.cause.errno == errno.EFBIG  # type: ignore[union-attr]
        assert files.length(name) == size
        assert files.flush() == {}
        again, offset = put(files, captured("http://a.example/3", b"there is room"), ids)
        assert (again, offset) == (name, size)
        files.close()
        check(tmp_path / name)
        assert [uri for kind, uri, _ in blocks(tmp_path / name) if kind == "response"] == [
            "http://a.example/1",
            "http://a.example/3",
        ]

    def test_a_file_that_cannot_begin_leaves_nothing(self, tmp_path: Path) -> None:
        files = files_in(tmp_path)
        with pytest.raises(StorageFull), limited(10):
            files.prepare()
        assert list(tmp_path.iterdir()) == []

    def test_no_file_can_follow_and_nothing_is_lost(self, tmp_path: Path) -> None:
        """A full disk at the very moment when the next file begins: the folder is told of, and no number is used up."""
        names = FileNames(machine=MACHINE, now_ms=lambda: NOW)
        files = WarcFiles(
            lambda: tmp_path,
            names,
            lambda name: warcinfo(Crawler("t"), Form(), name, NOW, "urn:uuid:1"),
            groups=1,
            unused=names.unused,
        )
        ids = Ids()
        first, _ = put(files, captured("http://a.example/1", b"1"), ids)
        told = set()
        for _ in range(3):
            with pytest.raises(StorageFull) as caught, limited(10):
                put(files, captured("http://a.example/2", b"2"), ids)
            told.add(caught.value.path)
            assert caught.value.cause.errno == errno.EFBIG  # type: ignore[union-attr]
        assert told == {str(tmp_path)}
        assert [path.name for path in tmp_path.iterdir()] == [first]
        second, _ = put(files, captured("http://a.example/2", b"2"), ids)
        files.close()
        assert [name.split("-")[2] for name in (first, second)] == ["00000", "00001"]
        for name in (first, second):
            check(tmp_path / name)


def test_a_block_that_comes_short_takes_the_group_back(tmp_path: Path) -> None:
    files, ids = files_in(tmp_path), Ids()
    name, _ = put(files, captured("http://a.example/1", b"1"), ids)
    size = files.flush()[name]

    curi = captured("http://a.example/2", os.urandom(2_000_000))
    records = group(curi, Form(), ids)
    assert curi.recorder is not None
    curi.recorder.response.truncate(1_500_000)
    with pytest.raises(ValueError, match="lacks"):
        files.append(records)
    assert files.length(name) == size
    files.close()


def test_records_stand_in_the_file_whose_warcinfo_they_name(tmp_path: Path) -> None:
    """Though the file has become too old between the two: then the next group begins a new one."""
    now, ids = [0.0], Ids()
    names = FileNames(machine=MACHINE, now_ms=lambda: NOW)
    files = WarcFiles(
        lambda: tmp_path,
        names,
        lambda name: warcinfo(Crawler("t"), Form(), name, NOW, ids()),
        age=10,
        monotonic=lambda: now[0],
    )
    first, _ = put(files, captured("http://a.example/1", b"1"), ids)
    head = files.prepare()
    now[0] = 11.0
    same, _ = files.append(group(captured("http://a.example/2", b"2"), Form(), ids, warcinfo_id=head))
    later, _ = put(files, captured("http://a.example/3", b"3"), ids)
    files.close()

    assert (first == same, first == later) == (True, False)
    for name in (first, later):
        with (tmp_path / name).open("rb") as stream:
            opening, *rest = [dict(r.headers) for r in FastIterator(stream, parse_http=False)]
        assert {r["WARC-Warcinfo-ID"] for r in rest} == {opening["WARC-Record-ID"]}


def test_names_never_repeat_even_without_time_and_serial(tmp_path: Path) -> None:
    for _ in range(3):
        names = FileNames("${prefix}", "X", machine=MACHINE, now_ms=lambda: NOW)
        files = WarcFiles(lambda: tmp_path, names, lambda name: warcinfo(Crawler("t"), Form(), name, NOW, "urn:uuid:1"))
        put(files, captured("http://a.example/", b"x"), Ids())
        files.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X-2.warc.gz", "X-3.warc.gz", "X.warc.gz"]
