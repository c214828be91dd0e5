"""The WARC pipeline as Scrapy builds, opens and closes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.test import get_crawler
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive.pipeline import CapturePipeline, WarcWriterPipeline
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1308849128574
CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "http://operator.example/", "TELNETCONSOLE_ENABLED": False}


def pipeline_of(**settings: Any) -> tuple[WarcWriterPipeline, Crawl]:
    crawler = get_crawler(settings_dict=CONTACT | settings)
    pipeline = crawler.settings and WarcWriterPipeline.from_crawler(crawler)
    return pipeline, Crawl.of(crawler)


def captured(uri: str, crawl: Crawl, body: bytes = b"hello", head: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> CrawlURI:
    curi = CrawlURI(uri, path="L", via="http://a.example/")
    curi.settings = settings_of(crawl.crawler).for_uri(curi)
    curi.status, curi.began_ms, curi.ended_ms = 200, NOW, NOW + 1
    curi.recorder = Recorder()
    curi.recorder.request.append(b"GET / HTTP/1.1\r\n\r\n")
    curi.recorder.response.append(head + body)
    curi.recorder.body_at = len(head)
    curi.digest = curi.recorder.body_digest
    return curi


def test_a_capture_says_where_it_lies(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    assert crawl.archives == [pipeline.files]
    assert not (tmp_path / "warcs").exists()
    curis = [captured(f"http://a.example/{n}", crawl) for n in range(3)]
    for curi in curis:
        assert pipeline.process_item(curi) is curi
    name = curis[0].warc_file
    assert name is not None
    assert (tmp_path / "warcs" / (name + ".open")).stat().st_size == pipeline.files.flush()[name]
    pipeline.files.sync()
    pipeline.close_spider()
    assert pipeline.files.length(name) == (tmp_path / "warcs" / name).stat().st_size
    for curi in curis:
        assert curi.extra_info == {"warcFilename": name, "warcFileOffset": curi.warc_offset}
        with (tmp_path / "warcs" / name).open("rb") as stream:
            stream.seek(curi.warc_offset)
            record = next(iter(ArchiveIterator(stream)))
            assert record.rec_headers["WARC-Record-ID"] == f"<{curi.record_id}>"
            assert record.rec_headers["WARC-Target-URI"] == curi.uri
    stats = crawl.crawler.stats
    assert stats is not None
    assert stats.get_value("heritrix/warc/response/num_records") == 3
    assert stats.get_value("heritrix/warc/totals/num_records") == 10
    assert stats.get_value("heritrix/warc/totals/size_on_disk") == (tmp_path / "warcs" / name).stat().st_size


def test_items_of_the_project_pass_untouched() -> None:
    pipeline, _ = pipeline_of()
    for item in ({"a": 1}, [1], None, "text"):
        assert pipeline.process_item(item) is item


def test_without_a_jobdir_files_go_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pipeline, crawl = pipeline_of()
    pipeline.process_item(curi := captured("http://a.example/", crawl))
    pipeline.close_spider()
    assert [path.name for path in tmp_path.iterdir()] == [curi.warc_file]


def test_a_look_at_a_page_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pipeline, crawl = pipeline_of(HERITRIX_WARC_DIR=str(tmp_path / "never"))
    crawl.looking = True
    pipeline.process_item(captured("http://a.example/", crawl))
    pipeline.close_spider()
    assert list(tmp_path.iterdir()) == []


def test_settings_reach_the_files(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(
        HERITRIX_WARC_DIR=str(tmp_path / "deep" / "down"),
        HERITRIX_WARC_PREFIX="NL",
        HERITRIX_WARC_COMPRESS=False,
        HERITRIX_WARC_WRITE_REQUESTS=False,
        HERITRIX_WARC_MAX_FILE_SIZE_BYTES=100,
        HERITRIX_PROFILE="heritrix",
    )
    for n in range(3):
        pipeline.process_item(captured(f"http://a.example/{n}", crawl))
    pipeline.close_spider()
    files = sorted((tmp_path / "deep" / "down").iterdir())
    assert len(files) == 3
    for path in files:
        assert path.name.startswith("NL-")
        assert path.suffix == ".warc"
        assert path.read_bytes().startswith(b"WARC/1.0\r\n")
        with path.open("rb") as stream:
            assert [r.rec_type for r in ArchiveIterator(stream)] == ["warcinfo", "response", "metadata"]


def test_what_is_not_to_be_written_leaves_no_file(tmp_path: Path) -> None:
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    curi = captured("http://a.example/", crawl)
    curi.status = -9998
    pipeline.process_item(curi)
    pipeline.close_spider()
    assert curi.extra_info == {}
    assert not (tmp_path / "warcs").exists()


def test_a_pipeline_of_captures_has_to_say_how_it_keeps_them() -> None:
    crawler = get_crawler(settings_dict=CONTACT)
    with pytest.raises(TypeError, match="process_capture"):
        CapturePipeline.from_crawler(crawler)


def crash(pipeline: WarcWriterPipeline) -> None:
    """What the kernel does to the files of a process that is killed."""
    os.close(pipeline.files.members[0]._fd)
    pipeline.files.members[0]._fd = -1


def test_a_crawl_that_starts_again_closes_what_was_left_open(tmp_path: Path) -> None:
    first, crawl = pipeline_of(JOBDIR=str(tmp_path))
    first.process_item(curi := captured("http://a.example/", crawl))
    crash(first)
    again, _ = pipeline_of(JOBDIR=str(tmp_path))
    again.open_spider()
    assert [path.name for path in (tmp_path / "warcs").iterdir()] == [curi.warc_file]
    again.close_spider()


def test_in_a_folder_of_many_only_our_own_files_are_repaired(tmp_path: Path) -> None:
    (tmp_path / "X-1.warc.open").write_bytes(b"WARC/1.0\r\nsoftware: Heritrix/3.13.0\r\n\r\n")
    (tmp_path / "X-2.warc.gz.open").write_bytes(b"\x1f\x8bnothing")
    (tmp_path / "X-3.warc.gz.open").touch()
    first, crawl = pipeline_of(HERITRIX_WARC_DIR=str(tmp_path))
    first.process_item(curi := captured("http://a.example/", crawl))
    crash(first)
    again, _ = pipeline_of(HERITRIX_WARC_DIR=str(tmp_path))
    again.open_spider()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        str(curi.warc_file),
        "X-1.warc.open",
        "X-2.warc.gz.open",
        "X-3.warc.gz.open",
    ]
