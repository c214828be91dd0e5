"""What the scripts of institutions read out of names and places of WARC files, a test for each rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.archive.names import FileNames, Machine
from tests.archive.test_pipeline import captured, pipeline_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1308849128574


def names(count: int = 1, **options: Any) -> list[str]:
    give = FileNames(machine=Machine("crawler1.example.org", "", 4242), now_ms=lambda: NOW, **options)
    return [give() for _ in range(count)]


def test_growing_files_end_in_open_and_lose_it(tmp_path: Path) -> None:
    """NLA Bamboo, NetarchiveSuite, Web Curator Tool, Bitextor: ``.warc.gz.open`` until it is whole."""
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    pipeline.process_item(captured("http://a.example/", crawl))
    assert [path.name.endswith(".warc.gz.open") for path in (tmp_path / "warcs").iterdir()] == [True]
    pipeline.close_spider()
    assert [path.name.endswith(".warc.gz") for path in (tmp_path / "warcs").iterdir()] == [True]


def test_the_time_is_seventeen_digits_between_hyphens() -> None:
    """UKWA hdfs_layout takes the first such group that begins with 1 or 2."""
    [name] = names()
    found = re.search(r"-([12]\d{16})-", name)
    assert found is not None
    assert found[1] == "20110623171208574"


@pytest.mark.parametrize("prefix", ["WEB", "123-45", "BL"])
def test_the_prefix_comes_first(prefix: str) -> None:
    """NetarchiveSuite: names begin with job and harvest, or the job fails; Web Curator Tool, UKWA: a name there."""
    assert names(prefix=prefix)[0].startswith(f"{prefix}-")


def test_process_host_and_port_come_last() -> None:
    """draintasker's scheme ``{PID}~{fqdn}~{port}``."""
    assert re.search(r"-(\d+)~([\w.]+)~(\d+)\.warc\.gz\Z", names()[0]) is not None


def test_draintasker_knows_the_ending() -> None:
    for compress in (True, False):
        assert re.match(r".*\.w?arc(\.gz)?$", names(compress=compress)[0]) is not None


def test_serial_numbers_grow_and_names_differ() -> None:
    """draintasker: first and last serial make an item's name; SolrWayback: no name twice in all collections."""
    found = names(3)
    assert [name.split("-")[2] for name in found] == ["00000", "00001", "00002"]
    assert len(set(found)) == 3
    assert len({name.split("-")[1] for name in found}) == 3


def test_nothing_but_warcs_lies_in_their_folder(tmp_path: Path) -> None:
    """pandas4, Bamboo: all else in a job is an artefact."""
    pipeline, crawl = pipeline_of(JOBDIR=str(tmp_path))
    pipeline.process_item(captured("http://a.example/", crawl))
    pipeline.close_spider()
    assert all(".warc" in path.name for path in (tmp_path / "warcs").iterdir())
