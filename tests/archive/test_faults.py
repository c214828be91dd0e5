"""A disk that refuses at any byte, and a process that ends at any byte: nothing that was reported is lost, every
file can be read. Each round prints its seed."""

from __future__ import annotations

import errno
import os
import random
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.archive.names import FileNames, Machine
from heritrix_scrapy.archive.records import Crawler, Form, warcinfo
from heritrix_scrapy.archive.warcfile import WarcFiles
from heritrix_scrapy.commands.warc import verify
from heritrix_scrapy.model.errors import StorageFull
from tests.archive.test_warcfile import Ids, captured, put

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1308849128574
ROUNDS = [*range(5), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(5, 100))]


class Faulty(WarcFiles):
    """Files on a disk that takes ``room`` bytes, and then what is freed."""

    room = 10**9

    def _put(self, pending: list[bytes]) -> int:
        data = b"".join(pending)
        pending.clear()
        taken = data[: max(self.room, 0)]
        os.write(self._fd, taken)
        self.room -= len(taken)
        if len(taken) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(data)


def files_in(place: Path) -> Faulty:
    names = FileNames(machine=Machine("h", "", 1), now_ms=lambda: NOW)
    ids = Ids()
    return Faulty(
        lambda: place,
        names,
        lambda name: warcinfo(Crawler("t"), Form(), name, NOW, ids()),
        limit=6000,
        follow=names.follow,
    )


@pytest.mark.parametrize("seed", ROUNDS)
def test_round(tmp_path: Path, seed: int) -> None:
    print("seed", seed)
    source = random.Random(seed)
    reported: set[str] = set()
    refused = 0
    number = 0
    for _ in range(4):  # lives of the process
        files = files_in(tmp_path)
        files.repair()
        for _ in range(source.randrange(1, 8)):
            files.room = source.choice((10**9, 10**9, source.randrange(3000)))
            number += 1
            uri = f"http://a.example/{seed}/{number}"
            try:
                put(files, captured(uri, source.randbytes(source.randrange(2500))), Ids())
                reported.add(uri)
            except StorageFull:
                refused += 1
        if files._fd >= 0:
            # killed in the middle of a group
            os.write(files._fd, source.randbytes(source.randrange(300)))
            os.close(files._fd)
    files_in(tmp_path).repair()
    found = set()
    for path in cdxj.warcs_of(tmp_path):
        assert path.name.endswith(".warc.gz")
        assert verify(path)["problems"] == []
        found |= {line.split('"url": "')[1].split('"')[0] for line in cdxj.lines_of(path)}
    assert reported == found
    assert number == len(reported) + refused
