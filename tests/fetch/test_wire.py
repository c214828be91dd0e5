"""The wire reader: what it makes of every odd answer, in any split of the stream."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.fetch.wire import (
    MAX_HEAD,
    MAX_SLOP,
    Body,
    End,
    Event,
    Fault,
    Flaw,
    Head,
    Interim,
    Trailers,
    WireReader,
)

GZIPPED = gzip.compress(b"hello gzip " * 20, mtime=0)


def chunked(*parts: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    framed = b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts)
    return framed + b"0\r\n" + trailer + b"\r\n"


def ok(headers: bytes, body: bytes = b"", line: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return line + b"\r\n" + headers + b"\r\n" + body


# name → stream, status, entity, flaw
ODD: dict[str, tuple[bytes, int | None, bytes, Flaw | None]] = {
    "length": (ok(b"Content-Length: 5\r\n", b"hello"), 200, b"hello", None),
    "case, duplicates, folding, latin-1": (
        ok(
            b"server: x\r\nSET-Cookie: a=1\r\nX-Fold: a\r\n  b\r\nSet-cookie: b=2\r\nX-L: caf\xe9\r\n"
            b"Content-length: 5\r\n",
            b"hello",
        ),
        200,
        b"hello",
        None,
    ),
    "chunked": (ok(b"Transfer-Encoding: chunked\r\n", chunked(b"a", b"bc" * 50)), 200, b"a" + b"bc" * 50, None),
    "chunked, gzip, extension, trailer": (
        ok(
            b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n",
            chunked(GZIPPED[:10], GZIPPED[10:], extension=b";foo=bar", trailer=b"X-T: 1\r\n"),
        ),
        200,
        GZIPPED,
        None,
    ),
    "chunk size with zeros, capitals and spaces": (
        ok(b"Transfer-Encoding: Chunked\r\n", b"000A \r\n0123456789\r\n0\r\n\r\n"),
        200,
        b"0123456789",
        None,
    ),
    "chunks with LF alone": (ok(b"Transfer-Encoding: chunked\r\n", b"5\nhello\n0\n\n"), 200, b"hello", None),
    "chunked without the last blank line": (
        ok(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n"),
        200,
        b"hello",
        None,
    ),
    "bad chunk size": (
        ok(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\nZZ\r\nx"),
        200,
        b"hello",
        Flaw.BAD_CHUNK,
    ),
    "negative chunk size": (
        ok(b"Transfer-Encoding: chunked\r\n", b"-5\r\nhello\r\n0\r\n\r\n"),
        200,
        b"",
        Flaw.BAD_CHUNK,
    ),
    "empty chunk size": (ok(b"Transfer-Encoding: chunked\r\n", b"\r\nhello\r\n"), 200, b"", Flaw.BAD_CHUNK),
    "no line end behind a chunk": (
        ok(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello5\r\nworld\r\n0\r\n\r\n"),
        200,
        b"hello",
        Flaw.BAD_CHUNK,
    ),
    "chunked, cut in a chunk": (
        ok(b"Transfer-Encoding: chunked\r\n", b"64\r\nhello"),
        200,
        b"hello",
        Flaw.BODY_CUT,
    ),
    "chunked, cut between chunks": (
        ok(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n"),
        200,
        b"hello",
        Flaw.BODY_CUT,
    ),
    "until close": (ok(b"Content-Type: text/plain\r\n", b"to the end"), 200, b"to the end", None),
    "LF alone": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", 200, b"hi", None),
    "LF and CRLF mixed": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nhi", 200, b"hi", None),
    "line without a colon": (ok(b"GarbageLine\r\nContent-Length: 2\r\n", b"hi"), 200, b"hi", None),
    "no headers": (b"HTTP/1.1 200 OK\r\n\r\nx", 200, b"x", None),
    "HTTP/0.9": (b"<html>no status line</html>", 200, b"<html>no status line</html>", None),
    "HTTP/0.9, long": (b"<p>" * MAX_SLOP, 200, b"<p>" * MAX_SLOP, None),
    "slop before the status line": (b"garbage\r\n" + ok(b"Content-Length: 2\r\n", b"ok"), 200, b"ok", None),
    "blank lines first": (b"\r\n\r\n" + ok(b"Content-Length: 2\r\n", b"ok"), 200, b"ok", None),
    "length too big": (ok(b"Content-Length: 50\r\n", b"short"), 200, b"short", Flaw.BODY_CUT),
    "length too small": (ok(b"Content-Length: 2\r\n", b"hi there extra"), 200, b"hi", None),
    "length zero": (ok(b"Content-Length: 0\r\n"), 200, b"", None),
    "length no number": (ok(b"Content-Length: abc\r\n", b"hi"), 200, b"hi", None),
    "length negative": (ok(b"Content-Length: -1\r\n", b"hi"), 200, b"hi", None),
    "length empty": (ok(b"Content-Length:\r\n", b"hi"), 200, b"hi", None),
    "length with NUL": (ok(b"Content-Length: 2\0junk\r\n", b"hi!"), 200, b"hi", None),
    "length twice the same": (ok(b"Content-Length: 2, 2\r\n", b"hi"), 200, b"hi", None),
    "two lengths, the smaller sent": (
        ok(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"hi"),
        200,
        b"hi",
        None,
    ),
    "two lengths, the larger sent": (
        ok(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"hi!"),
        200,
        b"hi!",
        None,
    ),
    "two lengths, neither sent": (
        ok(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"h"),
        200,
        b"h",
        Flaw.BODY_CUT,
    ),
    "length and chunked": (
        ok(b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunked(b"hello")),
        200,
        b"hello",
        None,
    ),
    "transfer coding identity": (
        ok(b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n", b"hi"),
        200,
        b"hi",
        None,
    ),
    "interim": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        + ok(b"Content-Length: 2\r\n", b"hi"),
        200,
        b"hi",
        None,
    ),
    "switching protocols": (ok(b"", line=b"HTTP/1.1 101 Switching"), 101, b"", None),
    "no reason": (ok(b"Content-Length: 2\r\n", b"hi", b"HTTP/1.1 200"), 200, b"hi", None),
    "ICY": (ok(b"Content-Length: 2\r\n", b"hi", b"ICY 200 OK"), 200, b"hi", None),
    "status 204": (ok(b"X: 1\r\n", line=b"HTTP/1.1 204 No Content"), 204, b"", None),
    "status 304": (ok(b"Content-Length: 500\r\n", line=b"HTTP/1.1 304 Not Modified"), 304, b"", None),
    "status 999": (ok(b"Content-Length: 2\r\n", b"no", b"HTTP/1.1 999 Denied"), 999, b"no", None),
    "status 2000": (ok(b"Content-Length: 2\r\n", b"no", b"HTTP/1.1 2000 Huge"), 2000, b"no", None),
    "status 000": (ok(b"", line=b"HTTP/1.1 000 Zero"), None, b"", Flaw.NOT_HTTP),
    "status in words": (ok(b"", line=b"HTTP/1.1 OK 200"), None, b"", Flaw.NOT_HTTP),
    "status negative": (ok(b"", line=b"HTTP/1.1 -1 Neg"), None, b"", Flaw.NOT_HTTP),
    "version in letters": (ok(b"", line=b"HTTP/x.y 200 OK"), None, b"", Flaw.NOT_HTTP),
    "space before the colon": (ok(b"X-A : 1\r\nContent-Length : 2\r\n", b"hi"), 200, b"hi", None),
    "long header": (ok(b"X: " + b"a" * 20000 + b"\r\nContent-Length: 2\r\n", b"hi"), 200, b"hi", None),
    "nothing": (b"", None, b"", Flaw.NO_RESPONSE),
    "blank lines only": (b"\r\n\r\n", None, b"", Flaw.NO_RESPONSE),
    "interim only": (b"HTTP/1.1 100 Continue\r\n\r\n", None, b"", Flaw.NO_RESPONSE),
    "cut in the status line": (b"HTTP/1.1 20", None, b"", Flaw.HEAD_CUT),
    "cut in the headers": (b"HTTP/1.1 200 OK\r\nX-A: 1\r\nConte", 200, b"", Flaw.HEAD_CUT),
}


def read(stream: bytes, cuts: list[int] | None = None, method: str = "GET") -> list[Event]:
    reader = WireReader(method)
    events: list[Event] = []
    start = 0
    for cut in [*sorted(cuts or []), len(stream)]:
        if cut > start:
            events += reader.feed(stream[start:cut])
            start = cut
    return events + reader.eof()


def joined(events: list[Event]) -> list[Event]:
    """Neighbouring bodies as one, empty ones dropped."""
    result: list[Event] = []
    for event in events:
        if isinstance(event, Body):
            if result and isinstance(result[-1], Body):
                result[-1] = Body(result[-1].data + event.data)
                continue
            if not event.data:
                continue
        result.append(event)
    return result


def only(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("name", ODD)
def test_odd_answers(name: str) -> None:
    stream, status, entity, flaw = ODD[name]
    events = read(stream)
    heads = only(events, Head)
    assert [head.status for head in heads] == ([] if status is None else [status])
    assert b"".join(event.data for event in only(events, Body)) == entity
    assert [fault.flaw for fault in only(events, Fault)] == ([] if flaw is None else [flaw])
    assert len(only(events, End)) == (flaw is None)


@pytest.mark.parametrize("name", [name for name in ODD if len(ODD[name][0]) < 600])
def test_byte_by_byte_gives_the_same(name: str) -> None:
    stream = ODD[name][0]
    assert joined(read(stream, list(range(len(stream))))) == joined(read(stream))


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(ODD)), data=st.data())
def test_any_split_gives_the_same(name: str, data: st.DataObject) -> None:
    stream = ODD[name][0]
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert joined(read(stream, cuts)) == joined(read(stream))


@settings(max_examples=300, deadline=None)
@given(
    stream=st.lists(
        st.sampled_from(
            b"HTTP/1.1 200 OK|HTTP/1.1 100 C|\r\n|\n|\r|Content-Length: 3|:| |Transfer-Encoding: chunked".split(b"|")
            + b"3 abc 0 ;x HTT - X:y ICY".split()
        ),
        max_size=24,
    ).map(b"".join),
    data=st.data(),
)
def test_any_stream_in_any_split_gives_the_same(stream: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    whole = joined(read(stream))
    assert joined(read(stream, cuts)) == whole
    assert len(only(whole, End)) + len(only(whole, Fault)) == 1


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(noise: bytes) -> None:
    read(noise)
    read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + noise)


def test_every_byte_has_its_place() -> None:
    stream = ODD["interim"][0] + b"behind"
    events = read(stream)
    (head,) = only(events, Head)
    (end,) = only(events, End)
    body = b"".join(event.data for event in only(events, Body))
    assert head.before + head.raw + body + stream[end.at :] == stream
    assert stream[end.at :] == b"behind"
    assert [event.status for event in only(events, Interim)] == [100, 103]


def test_fields_keep_order_case_and_doubles() -> None:
    (head,) = only(read(ODD["case, duplicates, folding, latin-1"][0]), Head)
    assert head.headers == [
        (b"server", b"x"),
        (b"SET-Cookie", b"a=1"),
        (b"X-Fold", b"a b"),
        (b"Set-cookie", b"b=2"),
        (b"X-L", b"caf\xe9"),
        (b"Content-length", b"5"),
    ]


def test_trailers_and_oddities_are_told() -> None:
    events = read(ODD["chunked, gzip, extension, trailer"][0])
    assert only(events, Trailers) == [Trailers([(b"X-T", b"1")])]
    (head,) = only(read(ODD["line without a colon"][0]), Head)
    assert head.malformed == 1
    (head,) = only(read(ODD["length no number"][0]), Head)
    assert head.bad_length == b"abc"
    assert head.framing == "close"
    (head,) = only(read(ODD["length twice the same"][0]), Head)
    assert head.bad_length == b"2, 2"
    assert head.length == 2
    (head,) = only(read(ODD["cut in the headers"][0]), Head)
    assert not head.complete
    assert head.headers == [(b"X-A", b"1")]


def test_head_request_has_no_body() -> None:
    events = read(ok(b"Content-Length: 5\r\n"), method="HEAD")
    (head,) = only(events, Head)
    assert head.framing == "none"
    assert only(events, End) == [End(len(head.raw))]


@pytest.mark.parametrize(
    ("line", "headers", "kept"),
    [
        (b"HTTP/1.1 200 OK", b"Content-Length: 0\r\n", True),
        (b"HTTP/1.1 200 OK", b"Content-Length: 0\r\nConnection: Close\r\n", False),
        (b"HTTP/1.0 200 OK", b"Content-Length: 0\r\n", False),
        (b"HTTP/1.0 200 OK", b"Content-Length: 0\r\nConnection: x, Keep-Alive\r\n", True),
        (b"HTTP/1.1 200 OK", b"", False),
        (b"HTTP/1.1 200 OK", b"Content-Length: 0\r\nContent-Length: 1\r\n", False),
        (b"ICY 200 OK", b"Content-Length: 0\r\n", False),
    ],
)
def test_keep_alive(line: bytes, headers: bytes, kept: bool) -> None:
    (head,) = only(read(ok(headers, line=line)), Head)
    assert head.keep_alive is kept


def test_too_large_a_head() -> None:
    reader = WireReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\n") == []
    events: list[Event] = []
    for _ in range(MAX_HEAD // 65536 + 1):
        events += reader.feed(b"X: " + b"a" * 65531 + b"\r\n")
    assert [fault.flaw for fault in only(events, Fault)] == [Flaw.HEAD_TOO_LARGE]
    assert reader.eof() == []


def test_endless_interims_end() -> None:
    reader = WireReader()
    events: list[Event] = []
    for _ in range(40):
        events += reader.feed(b"HTTP/1.1 102 Processing\r\n\r\n" * 2000)
    assert [fault.flaw for fault in only(events, Fault)] == [Flaw.HEAD_TOO_LARGE]


def test_a_million_chunks_of_one_byte_are_read_as_fast_as_they_come() -> None:
    """Whoever sends them must not hold up the fetches beside."""
    reader = WireReader()
    reader.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    events = [event for _ in range(20) for event in reader.feed(b"1\r\nx\r\n" * 10_000)]
    assert b"".join(event.data for event in events if isinstance(event, Body)) == b"x" * 200_000
    assert len(events) <= 40


@pytest.mark.parametrize(
    ("text", "framing", "bad"),
    [(b"9" * 19, "length", True), (b"9" * 100_000, "length", True), (b"-" + b"9" * 5000, "close", False)],
)
def test_numbers_that_nobody_could_send(text: bytes, framing: str, bad: bool) -> None:
    (head, *_) = WireReader().feed(b"HTTP/1.1 200 OK\r\nContent-Length: " + text + b"\r\n\r\nabc")
    assert isinstance(head, Head)
    assert (head.framing, head.bad_length is not None) == (framing, bad)
