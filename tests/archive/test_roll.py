"""Does a job know which WARC files it has written, also where it goes on without them?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.archive.roll import Roll, missing
from heritrix_scrapy.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

HOST = "many.test"
PAGES = 60


def test_each_writer_has_its_own_number(tmp_path: Path) -> None:
    store = MemoryStore()
    one, other = Roll(lambda: store, "0"), Roll(lambda: store, "viral")
    assert (one.serial(), other.serial()) == (0, 0)
    one.add("A-00000.warc.gz", tmp_path, 1)
    one.add("A-00001.warc.gz", tmp_path, 2)
    other.add("B-00007.warc", tmp_path, 8)
    assert (one.serial(), other.serial()) == (2, 8)
    assert Roll(lambda: None, "0").serial() == 0
    Roll(lambda: None, "0").add("C.warc", tmp_path, 3)


def test_files_are_missed_that_are_neither_open_nor_closed(tmp_path: Path) -> None:
    store = MemoryStore()
    roll = Roll(lambda: store, "0")
    assert missing(store) is None
    (tmp_path / "job" / "warcs").mkdir(parents=True)
    for serial, ending in enumerate(("", ".open", None)):
        name = f"W-{serial}.warc.gz"
        roll.add(name, tmp_path / "job" / "warcs", serial + 1)
        if ending is not None:
            (tmp_path / "job" / "warcs" / (name + ending)).touch()
    assert missing(store) == (1, 3, tmp_path / "job" / "warcs" / "W-2.warc.gz")
    (tmp_path / "job" / "warcs" / "W-2.warc.gz").touch()
    assert missing(store) is None
    (tmp_path / "job").rename(tmp_path / "elsewhere")
    assert missing(store, (tmp_path / "job", tmp_path / "elsewhere")) is None
    assert missing(store, (tmp_path / "other", tmp_path / "elsewhere")) is not None


def serials(folder: Path) -> list[int]:
    return sorted(int(re.findall(r"-(\d{5})-", path.name)[0]) for path in folder.glob("*.warc.gz"))


@pytest.mark.long
@pytest.mark.crawl
def test_a_job_goes_on_counting_wherever_it_goes_on(serve: Any, project: Any, tmp_path: Path) -> None:
    links = "".join(f"<a href=/{number}>x</a>" for number in range(PAGES))
    web = serve(
        {
            HOST: {
                "routes": {"/robots.txt": {"status": 404}, "/": {"body": links}},
                "default": {"body": "page", "delay": 0.1},
            }
        }
    )
    made = project(
        {
            "HERITRIX_SEEDS": [web.url(HOST)],
            "HERITRIX_FOLLOW": "all",
            "HERITRIX_WARC_MAX_FILE_CAPTURES": 4,
            "HERITRIX_CHECKPOINT_ON_SHUTDOWN": True,
        },
        web=web,
    )
    first = made.run("-s", "HERITRIX_MAX_DOCUMENTS_DOWNLOAD=8", "-s", "CONCURRENT_REQUESTS=1")
    assert first.returncode == 0, first.stderr
    before = serials(first.jobdir / "warcs")
    assert len(before) > 1
    gone = min((first.jobdir / "warcs").iterdir())
    gone.unlink()

    other = tmp_path / "other"
    begun = ["-s", f"HERITRIX_CHECKPOINT={first.jobdir}", "-s", "CONCURRENT_REQUESTS=1"]
    second = made.run(*begun, "-s", "HERITRIX_MAX_DOCUMENTS_DOWNLOAD=36", jobdir=other)
    assert second.returncode == 0, second.stderr
    after = serials(other / "warcs")
    assert len(after) > 1
    assert after == list(range(before[-1] + 1, before[-1] + 1 + len(after)))
    assert f"1 of the {len(before)} WARC files" in second.stderr
    assert str(gone) in second.stderr

    (other / "warcs").rename(tmp_path / "taken away")
    third = made.run(jobdir=other)
    assert third.returncode == 0, third.stderr
    assert serials(other / "warcs")[0] == after[-1] + 1
    assert "are not where they were written" not in third.stderr
