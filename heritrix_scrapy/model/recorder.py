"""What exactly went over the wire, and what does it hold once framing and coding are taken off?

A Recorder keeps the request as sent and the response from its final status line on, byte for byte. Beyond
512 KiB a spool moves to an unlinked temporary file (Heritrix: RecordingInputStream, ReplayCharSequence).
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import tempfile
import zlib
from typing import IO, TYPE_CHECKING

import brotli
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Note = Callable[[str], None]

#: Bytes a spool keeps in memory before it moves to a file.
MEMORY_LIMIT = 512 * 1024
CHUNK = 64 * 1024
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
#: Bytes looked through for the end of a chunk's size line; the wire reader gives up there too.
MAX_CHUNK_LINE = 16 * 1024
#: A coded body may stand for so many bytes at least, for so many times its own size beyond that, and for no more
#: than the last. Text packs 10 times, a page of one repeated line 200 times.
BOMB_FREE = 4 << 20
BOMB_RATIO = 250
BOMB_MOST = 1 << 30
#: Largest window of a zstd stream (RFC 9659: what every HTTP client has to take, and no server may exceed).
ZSTD_WINDOW = 8 << 20


class Spool:
    """Bytes that grow at the end and are read anywhere."""

    __slots__ = ("_buffer", "_directory", "_file", "_limit", "size")

    def __init__(self, limit: int = MEMORY_LIMIT, directory: str | None = None) -> None:
        self._buffer = bytearray()
        self._file: IO[bytes] | None = None
        self._limit = limit
        self._directory = directory
        self.size = 0

    def append(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes at the end. Raises OSError when the disk refuses; the spool then is as before."""
        size = self.size + len(data)
        if self._file is None:
            if size <= self._limit:
                self._buffer += data
            else:
                # unbuffered: a disk that is full says so here, and no byte is copied on its way
                file = tempfile.TemporaryFile(buffering=0, prefix="heritrix-", dir=self._directory)  # noqa: SIM115
                try:
                    _write(file.fileno(), self._buffer, 0)
                    _write(file.fileno(), data, self.size)
                except BaseException:
                    file.close()
                    raise
                self._file, self._buffer = file, bytearray()
        else:
            _write(self._file.fileno(), data, self.size)
        self.size = size

    def truncate(self, size: int) -> None:
        """Drop what stands beyond ``size`` bytes."""
        if size >= self.size:
            return
        self.size = size
        if self._file is None:
            del self._buffer[size:]
        else:
            self._file.truncate(size)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """The bytes from ``start`` to before ``stop`` (default: the end)."""
        stop = self.size if stop is None else min(stop, self.size)
        if start >= stop:
            return b""
        if self._file is None:
            with memoryview(self._buffer) as view:
                return bytes(view[start:stop])
        return _read(self._file.fileno(), start, stop)

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The same bytes in pieces of at most 64 KiB."""
        stop = self.size if stop is None else min(stop, self.size)
        while start < stop:
            piece = self.read(start, min(start + CHUNK, stop))
            if not piece:
                return
            yield piece
            start += len(piece)

    @property
    def in_memory(self) -> bool:
        return self._file is None

    def close(self) -> None:
        """Let go of the memory or the file; the spool is empty afterwards."""
        self._buffer = bytearray()
        self.size = 0
        if self._file is not None:
            self._file.close()
            self._file = None


def _write(fd: int, data: bytes | bytearray | memoryview, offset: int) -> None:
    """All of it; the system may take less at a time."""
    done = os.pwrite(fd, data, offset)
    if done < len(data):
        with memoryview(data) as view:
            while done < len(view):
                done += os.pwrite(fd, view[done:], offset + done)


def _read(fd: int, start: int, stop: int) -> bytes:
    """From ``start`` to before ``stop``, or to the end of the file; the system gives at most 2 GiB at a time."""
    data = os.pread(fd, stop - start, start)
    if 0 < len(data) < stop - start:
        pieces = [data]
        while data:
            start += len(data)
            pieces.append(data := os.pread(fd, stop - start, start))
        return b"".join(pieces)
    return data


class Recorder:
    """One exchange. ``body_at``: where in ``response`` the head ends; ``truncated``: WARC reasons why bytes are
    missing (``time``, ``length``, ``disconnect``, ``unspecified``); ``interim``: statuses of 1xx answers that
    came before; ``chunked`` and ``content_encoding`` as the head said; ``conversation``: what was said on a control
    connection (FTP), None where there is none; ``reply``: its last reply's first line; ``spoilt``: what was wrong
    with framing or coding of the body, None as long as nobody read it, or nothing was."""

    __slots__ = (
        "_digest",
        "_entity",
        "body_at",
        "chunked",
        "content_encoding",
        "conversation",
        "interim",
        "is_bomb",
        "reply",
        "request",
        "response",
        "spoilt",
        "truncated",
    )

    def __init__(self, directory: str | None = None) -> None:
        self.request = Spool(directory=directory)
        self.response = Spool(directory=directory)
        self.body_at = 0
        self.truncated: list[str] = []
        self.interim: list[int] = []
        self.chunked = False
        self.content_encoding: str | None = None
        self.is_bomb = False
        self.conversation: str | None = None
        self.reply: str | None = None
        self.spoilt: str | None = None
        self._digest: str | None = None
        self._entity: tuple[int, bool, bytes] | None = None

    @property
    def body_size(self) -> int:
        """Raw bytes after the head: chunk framing and content coding included."""
        return max(self.response.size - self.body_at, 0)

    @property
    def body_digest(self) -> str:
        """``sha1:`` and Base32 over the raw bytes after the head; reads the whole body once."""
        if self._digest is None:
            few = self.body_size <= CHUNK
            self._digest = (
                sha1_of(self.response.read(self.body_at)) if few else sha1_base32(self.response.chunks(self.body_at))
            )
        return self._digest

    def entity(self, limit: int, *, decoded: bool = True) -> bytes:
        """At most ``limit`` bytes of the body without chunk framing and, if asked, without content coding.

        Coding that is unknown or broken from its first byte on leaves the coded bytes; a stream that breaks
        off gives what could be decoded.
        """
        kept = self._entity
        if kept is not None and kept[0] >= limit and kept[1] is decoded:
            return kept[2][:limit] if len(kept[2]) > limit else kept[2]
        data = self._read_entity(limit, decoded)
        self._entity = (limit, decoded, data)
        return data

    def _read_entity(self, limit: int, decoded: bool) -> bytes:
        codings = content_codings(self.content_encoding) if decoded else []
        if not self.chunked and not codings:
            return self.response.read(self.body_at, self.body_at + limit)
        return take(self.decoded() if decoded else self.pieces(), limit)

    def pieces(self) -> Iterable[bytes]:
        """The body without chunk framing, piece by piece."""
        pieces = self.response.chunks(self.body_at)
        return dechunk(pieces, self._spoilt) if self.chunked else pieces

    def decoded(self) -> Iterable[bytes]:
        """The body without chunk framing and content coding, piece by piece, as ``entity`` gives its beginning."""
        codings = content_codings(self.content_encoding)
        return self._bounded(decode(self.pieces(), codings, self._spoilt)) if codings else self.pieces()

    def _spoilt(self, text: str) -> None:
        self.spoilt = self.spoilt or text

    def _bounded(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """No more than a body of this size can be meant to hold."""
        most = min(max(BOMB_FREE, self.body_size * BOMB_RATIO), BOMB_MOST)
        for piece in pieces:
            most -= len(piece)
            if most < 0:
                self.is_bomb = True
                return
            yield piece

    def close(self) -> None:
        self.request.close()
        self.response.close()
        self._entity = None


#: Ten bits → two characters of Base32 (RFC 4648, 6).
_PAIRS = tuple(first + second for first in BASE32 for second in BASE32)
_GROUPS = struct.Struct(">BIBIBIBI").unpack


def base32(digest: bytes) -> str:
    """20 bytes in Base32: the standard library's way takes three times as long, and a page has four of them."""
    a, b, c, d, e, f, g, h = _GROUPS(digest)
    two = _PAIRS
    return (
        f"{two[a << 2 | b >> 30]}{two[b >> 20 & 1023]}{two[b >> 10 & 1023]}{two[b & 1023]}"
        f"{two[c << 2 | d >> 30]}{two[d >> 20 & 1023]}{two[d >> 10 & 1023]}{two[d & 1023]}"
        f"{two[e << 2 | f >> 30]}{two[f >> 20 & 1023]}{two[f >> 10 & 1023]}{two[f & 1023]}"
        f"{two[g << 2 | h >> 30]}{two[h >> 20 & 1023]}{two[h >> 10 & 1023]}{two[h & 1023]}"
    )


def sha1_base32(pieces: Iterable[bytes]) -> str:
    """``sha1:`` and the digest in Base32, as WARC records and crawl logs write it."""
    digest = hashlib.sha1(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return "sha1:" + base32(digest.digest())


def sha1_of(data: bytes) -> str:
    """``sha1_base32`` of bytes that are in one piece."""
    return "sha1:" + base32(hashlib.sha1(data, usedforsecurity=False).digest())


def take(pieces: Iterable[bytes], limit: int) -> bytes:
    """The first ``limit`` bytes of a stream of pieces."""
    out = bytearray()
    for piece in pieces:
        out += piece
        if len(out) >= limit:
            del out[limit:]
            break
    return bytes(out)


_SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\Z")


def _silent(text: str) -> None:
    """Nobody wants to know what was wrong."""


def dechunk(pieces: Iterable[bytes], note: Note = _silent) -> Iterator[bytes]:
    """The data of a chunked body (RFC 9112, 7.1). What follows a broken size line is handed on as it is. ``note``: told
    what was wrong."""
    buffer = bytearray()
    left = 0
    source = iter(pieces)
    state = "size"
    while True:
        if state == "data":
            if not buffer:
                piece = next(source, None)
                if piece is None:
                    # it was cut off, which is noted as such
                    return
                buffer += piece
            got = bytes(buffer[:left])
            del buffer[:left]
            left -= len(got)
            yield got
            if left == 0:
                state = "end"
            continue
        end = buffer.find(b"\n")
        if end < 0 and len(buffer) <= MAX_CHUNK_LINE:
            piece = next(source, None)
            if piece is None:
                note("the chunked body ends before its last chunk")
                return
            buffer += piece
            continue
        if state == "end" and end >= 0:
            if buffer[:end].strip(b" \t\r"):
                note("no line end behind a chunk")
            del buffer[: end + 1]
            state = "size"
            continue
        match = _SIZE_LINE.match(bytes(buffer[:end])) if end >= 0 else None
        if match is None:
            note(f"not the size of a chunk: {bytes(buffer[: min(end, 40)])!r}")
            yield bytes(buffer)
            yield from source
            return
        del buffer[: end + 1]
        left = int(match[1], 16)
        if left == 0:
            return
        state = "data"


#: Content codings that can be taken off; those of no effect map to None.
CODINGS: dict[str, str | None] = {
    "gzip": "gzip",
    "x-gzip": "gzip",
    "deflate": "deflate",
    "br": "br",
    "zstd": "zstd",
    "identity": None,
    "none": None,
}


def content_codings(value: str | None) -> list[str]:
    """The codings of a Content-Encoding value in the order they were applied; empty when one is unknown."""
    names: list[str] = []
    for part in (value or "").lower().split(","):
        name = part.strip()
        if not name:
            continue
        if name not in CODINGS:
            return []
        coding = CODINGS[name]
        if coding is not None:
            names.append(coding)
    return names


def decode(pieces: Iterable[bytes], codings: list[str], note: Note = _silent) -> Iterator[bytes]:
    """Take content codings off a stream, the last applied first. What comes out comes in pieces of about 64 KiB,
    however many bytes one of the stream stands for: a kilobyte may stand for a gigabyte. ``note``: told where a stream
    that had begun well breaks off."""
    for coding in reversed(codings):
        pieces = _DECODERS[coding](pieces, note)
    return iter(pieces)


def _inflate(pieces: Iterable[bytes], wbits: int, note: Note) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(wbits)
    started = False
    source = iter(pieces)
    for piece in source:
        data = piece
        while data:
            try:
                out = decompressor.decompress(data, CHUNK)
            except zlib.error as error:
                if started:
                    note(f"the packed body is broken: {error}")
                else:
                    yield data
                    yield from source
                return
            if out:
                started = True
                yield out
            if decompressor.eof:
                data = decompressor.unused_data
                if not data.strip(b"\0") or wbits != 31:
                    return
                decompressor = zlib.decompressobj(wbits)
            else:
                data = decompressor.unconsumed_tail
    out = decompressor.flush()
    if started or out:
        note("the packed body ends before its end")
    if out:
        yield out


def _gzip(pieces: Iterable[bytes], note: Note) -> Iterator[bytes]:
    return _inflate(pieces, 31, note)


def _deflate(pieces: Iterable[bytes], note: Note) -> Iterator[bytes]:
    """Both meanings of ``deflate`` that servers give it: with zlib's wrapper (RFC 1950) and without."""
    source = iter(pieces)
    head = b""
    for piece in source:
        head += piece
        if len(head) >= 2:
            break
    wrapped = len(head) >= 2 and head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
    return _inflate(_chain(head, source), 15 if wrapped else -15, note)


def _brotli(pieces: Iterable[bytes], note: Note) -> Iterator[bytes]:
    decompressor = brotli.Decompressor()
    started = False
    source = iter(pieces)
    for piece in source:
        data = piece
        while True:
            try:
                out = decompressor.process(data, output_buffer_limit=CHUNK)
            except brotli.error as error:
                if started:
                    note(f"the packed body is broken: {error}")
                else:
                    yield piece
                    yield from source
                return
            if out:
                started = True
                yield out
            if decompressor.is_finished():
                return
            if decompressor.can_accept_more_data() and not out:
                break
            data = b""
    if started:
        note("the packed body ends before its end")


class _Source:
    """Pieces as a file. ``taken``: what was read, as long as it is few and ``taken`` is not None."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)
        self.taken: list[bytes] | None = []

    def read(self, size: int = -1) -> bytes:
        piece = next(self.pieces, b"")
        if self.taken is not None:
            self.taken.append(piece)
            if len(self.taken) > 4:
                self.taken = None
        return piece


def _zstd(pieces: Iterable[bytes], note: Note) -> Iterator[bytes]:
    source = _Source(pieces)
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    reader = decompressor.stream_reader(source, read_size=CHUNK, read_across_frames=True)  # type: ignore[arg-type]
    while True:
        try:
            out = reader.read1(CHUNK)
        except zstandard.ZstdError as error:
            if source.taken is not None:
                yield from source.taken
                yield from source.pieces
            else:
                note(f"the packed body is broken: {error}")
            return
        if not out:
            return
        source.taken = None
        yield out


def _chain(head: bytes, source: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from source


_DECODERS = {"gzip": _gzip, "deflate": _deflate, "br": _brotli, "zstd": _zstd}
