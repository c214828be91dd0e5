"""Recorded bytes: the same in memory and in a file, and whole when the disk refuses."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.model.recorder import CHUNK, Spool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.mark.parametrize("seed", range(8))
def test_reads_give_what_was_added(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    spool, wanted = Spool(limit=source.choice((0, 16, 5000)), directory=str(tmp_path)), bytearray()
    for _ in range(60):
        piece = source.randbytes(source.choice((0, 1, 30, 3000, CHUNK + 1)))
        spool.append(source.choice((bytes, bytearray, memoryview))(piece))
        wanted += piece
        if source.random() < 0.2:
            cut = source.randrange(len(wanted) + 2)
            spool.truncate(cut)
            del wanted[cut:]
        start, stop = source.randrange(len(wanted) + 2), source.randrange(len(wanted) + 2)
        assert spool.read(start, stop) == wanted[start:stop]
        assert b"".join(spool.chunks(start)) == wanted[start:]
        assert spool.size == len(wanted)
    assert not spool.in_memory
    spool.close()
    assert (spool.size, spool.read(), list(tmp_path.iterdir())) == (0, b"", [])


@pytest.fixture
def full() -> Iterator[None]:
    """No file of this process grows beyond 100,000 bytes; the system takes what fits and refuses the rest."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("first", [1000, 90_000])
def test_what_the_disk_refuses_is_told_at_once_and_not_there(tmp_path: Path, full: None, first: int) -> None:
    spool = Spool(limit=50_000, directory=str(tmp_path))
    begun = os.urandom(first)
    spool.append(begun)
    for _ in range(2):
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            spool.append(os.urandom(200_000))
        assert spool.size == first
        assert spool.read() == begun
    spool.append(b"there is room for this")
    assert spool.read() == begun + b"there is room for this"
    spool.close()
