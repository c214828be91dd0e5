"""Records whose length does not fit into 32 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.records import Form, group
from heritrix_scrapy.archive.repair import whole_records
from heritrix_scrapy.commands.warc import verify
from tests.archive.test_warcfile import Ids, captured, files_in

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (1 << 32) + 4097


@pytest.mark.long
def test_a_record_of_more_than_four_gigabytes(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    curi = captured("http://a.example/huge", b"", memory=16)
    recorder = curi.recorder
    assert recorder is not None
    spool = recorder.response
    assert spool._file is not None
    # holes: nothing of it lies on the disk
    spool._file.truncate(SIZE)
    spool.size = SIZE
    recorder._digest = None
    curi.digest = recorder.body_digest
    files.append(group(curi, Form(), Ids(), warcinfo_id=files.prepare()))
    files.append(group(captured("http://a.example/after", b"x"), Form(), Ids(), warcinfo_id=files.prepare()))
    files.close()
    [path] = tmp_path.iterdir()
    assert verify(path)["problems"] == []
    assert whole_records(path) == (path.stat().st_size, 7)
    assert len(cdxj.lines_of(path)) == 2
    for reader in (ArchiveIterator, FastIterator):
        with path.open("rb") as file:
            lengths = []
            for record in reader(file):
                get = record.rec_headers.get_header if reader is ArchiveIterator else record.headers.get
                lengths.append(int(get("Content-Length")))
        assert lengths.count(SIZE) == 1
        assert len(lengths) == 7
    path.unlink()
