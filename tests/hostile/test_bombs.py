"""Does a body that stands for far more than it is cost only what is read of it?"""

from __future__ import annotations

import tracemalloc
import zlib

import brotli
import pytest
import zstandard

from heritrix_scrapy.model.recorder import CHUNK, MAX_CHUNK_LINE, Recorder, dechunk, decode
from tests.extract.pages import extracted

LIMIT = 1 << 20
PIECE = b"<p>and on it goes " * 4096


def packed(compressor, times: int) -> bytes:
    """*times* pieces, coded by an object with ``compress`` and ``flush``."""
    out = [compressor.compress(PIECE) for _ in range(times)]
    return b"".join([*out, compressor.flush()])


class Brotli:
    def __init__(self) -> None:
        self._compressor = brotli.Compressor(quality=5)
        self.compress = self._compressor.process
        self.flush = self._compressor.finish


BOMBS = {
    "gzip": lambda: zlib.compressobj(9, zlib.DEFLATED, 31),
    "deflate": lambda: zlib.compressobj(9),
    "br": Brotli,
    "zstd": lambda: zstandard.ZstdCompressor().compressobj(),
}


@pytest.mark.parametrize("coding", BOMBS)
def test_a_bomb_is_taken_apart_in_small_pieces(coding):
    bomb = packed(BOMBS[coding](), 200)
    assert len(bomb) < len(PIECE) * 2
    pieces = list(decode([bomb], [coding]))
    assert b"".join(pieces) == PIECE * 200
    assert max(map(len, pieces)) <= 4 * CHUNK


@pytest.mark.parametrize("coding", BOMBS)
def test_only_what_is_read_of_a_bomb_is_in_memory(coding):
    recorder = Recorder()
    recorder.content_encoding = coding
    recorder.response.append(packed(BOMBS[coding](), 1000))
    tracemalloc.start()
    try:
        assert len(recorder.entity(LIMIT)) == LIMIT
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()
        recorder.close()


@pytest.mark.parametrize("coding", BOMBS)
def test_what_only_says_that_it_is_coded_stays(coding):
    assert b"".join(decode([b"<p>not ", b"coded"], [coding])) == b"<p>not coded"


@pytest.mark.parametrize("coding", BOMBS)
def test_what_a_broken_stream_gave_before_it_broke_is_read(coding):
    whole = packed(BOMBS[coding](), 20)
    out = b"".join(decode([whole[: len(whole) * 3 // 4]], [coding]))
    assert (PIECE * 20).startswith(out)


@pytest.mark.parametrize("coding", BOMBS)
def test_a_coded_stream_may_come_byte_by_byte(coding):
    whole = packed(BOMBS[coding](), 2)
    assert b"".join(decode((whole[at : at + 1] for at in range(len(whole))), [coding])) == PIECE * 2


def test_bombs_in_bombs():
    inner = packed(BOMBS["br"](), 200)
    outer = zlib.compress(inner)
    pieces = list(decode([outer], ["br", "deflate"]))
    assert b"".join(pieces) == PIECE * 200


def test_a_size_line_without_end_is_not_looked_through_again_and_again():
    taken = 0

    def endless():
        nonlocal taken
        for _ in range(5000):
            taken += 1
            yield b"a" * 1024

    out = dechunk(endless())
    first = next(out)
    assert len(first) <= MAX_CHUNK_LINE + 1024
    assert taken <= MAX_CHUNK_LINE // 1024 + 2
    assert len(first) + sum(map(len, out)) == 5000 * 1024


def test_data_that_runs_over_its_chunk_without_end_is_not_gathered():
    out = dechunk([b"3\r\nabc", *[b"x" * 1024] * 5000])
    assert next(out) == b"abc"
    assert len(next(out)) <= MAX_CHUNK_LINE + 1024


@pytest.mark.parametrize("unit", ["<p>aaaa ", "<div><span>", "<b>", 'x<i class="a">'])
def test_a_page_of_nothing_but_tags_costs_little_more_than_itself(unit):
    page = unit * (LIMIT // len(unit)) + '<a href="/end">'
    tracemalloc.start()
    try:
        curi = extracted(page)
        assert tracemalloc.get_traced_memory()[1] < 12 * LIMIT
    finally:
        tracemalloc.stop()
    assert "http://www.example.com/end" in [link.uri for link in curi.outlinks]
