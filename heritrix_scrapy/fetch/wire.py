"""What do these bytes of a server say, in HTTP/1.x, 1.0, 0.9 or something near it?

`WireReader` takes bytes as they come and gives events; it holds no socket, no clock, no recording. It keeps
three rules:

1. Every byte belongs to exactly one place: before the final head, in the head, in the body, or behind the end.
   Offsets in the events count from the first byte fed, so that whoever records can cut the stream without
   searching it again.
2. The events do not depend on how the stream was split, but for the cuts between `Body` events.
3. What a browser would show is read, however wrong (LF alone, folded lines, lines without a colon, no reason
   phrase, ICY, HTTP/0.9, two lengths). What cannot be read is a `Fault` that names its `Flaw`; judging it is
   left to the caller.

Framing follows RFC 9112, section 6.3, with these leniences: a coding list that names chunked anywhere is
chunked; lengths that contradict each other are bounded by the largest and may end at any of them; a length that
is no number, or is negative, means "until the connection closes".
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

MAX_HEAD = 1 << 20  # bytes of heads, interim ones included (Heritrix: RecordingInputStream, 1 MB)
MAX_SLOP = 4096  # bytes looked through for a status line before an answer is called HTTP/0.9
MAX_CHUNK_LINE = 16384
MAX_TRAILERS = 65536


class Flaw(Enum):
    """Why an answer cannot be read on."""

    NO_RESPONSE = "closed before a response"
    HEAD_CUT = "closed inside the header block"
    HEAD_TOO_LARGE = "header block too large"
    NOT_HTTP = "not an HTTP status line"
    BAD_CHUNK = "chunk framing broken"
    BODY_CUT = "closed before the end of the body"


class Interim(NamedTuple):
    """An informational response (1xx but 101) before the final one."""

    status: int


class Head(NamedTuple):
    """The final status line and headers.

    `before` holds the bytes that came ahead of the status line (interim responses, blank lines, slop), `raw`
    the head itself, blank line included. `framing` is one of "none", "length", "chunked", "close"; `length`
    counts bytes where it is known. `bad_length` is the text of a Content-Length that is no number, `malformed`
    the number of lines without a colon. `complete` is false when the connection closed inside the block.
    """

    version: bytes
    status: int
    reason: bytes
    headers: list[tuple[bytes, bytes]]
    raw: bytes
    before: bytes
    framing: str
    length: int | None
    keep_alive: bool
    bad_length: bytes | None = None
    malformed: int = 0
    complete: bool = True


class Body(NamedTuple):
    """Bytes of the entity, chunk framing removed, content coding untouched."""

    data: bytes


class Trailers(NamedTuple):
    """Fields behind the last chunk."""

    headers: list[tuple[bytes, bytes]]


class End(NamedTuple):
    """The message is whole; `at` is the offset behind its last byte."""

    at: int


class Fault(NamedTuple):
    """The message cannot be read on."""

    flaw: Flaw
    text: str


Event = Interim | Head | Body | Trailers | End | Fault


class State(Enum):
    START = auto()  # ahead of a status line
    SLOP = auto()  # something else came first
    HEAD = auto()
    LENGTH = auto()
    CLOSE = auto()  # the body ends with the connection
    CHUNK_SIZE = auto()
    CHUNK_DATA = auto()
    CHUNK_END = auto()
    TRAILERS = auto()
    DONE = auto()  # further bytes are behind the end
    BROKEN = auto()


# What the end of the stream means. START, SLOP and HEAD depend on what was buffered: see `WireReader.eof`.
AT_EOF: dict[State, Flaw | None] = {
    State.LENGTH: Flaw.BODY_CUT,
    State.CLOSE: None,
    State.CHUNK_SIZE: Flaw.BODY_CUT,
    State.CHUNK_DATA: Flaw.BODY_CUT,
    State.CHUNK_END: Flaw.BODY_CUT,
    State.TRAILERS: None,  # every chunk was there
}

# A final head's framing → where reading goes on.
AFTER_HEAD: dict[str, State] = {
    "none": State.DONE,
    "length": State.LENGTH,
    "close": State.CLOSE,
    "chunked": State.CHUNK_SIZE,
}

BODILESS = frozenset((101, 204, 304))
_BLANK_LINE = re.compile(rb"\n\r?\n")
_STATUS_LINE = re.compile(rb"(HTTP/\d+(?:\.\d+)?|ICY)[ \t]+(\d{3,4})(?:[ \t]+(.*))?$", re.IGNORECASE)
_SLOPPY_STATUS_LINE = re.compile(rb"^HTTP/\d", re.MULTILINE | re.IGNORECASE)
_LONG = re.compile(rb"[+-]?[0-9]+$")
_HEX = re.compile(rb"[0-9A-Fa-f]{1,16}$")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})\r\n")
#: A length beyond is none to Heritrix, where it is a long.
LARGEST_LENGTH = (1 << 63) - 1


def parse_fields(lines: list[bytes]) -> tuple[list[tuple[bytes, bytes]], int]:
    """Split header lines into (name, value) pairs, in order; also return how many lines had no colon.

    A line that begins with a space or tab continues the value before it (RFC 9112, 5.2), joined by one space.
    """
    fields: list[tuple[bytes, bytes]] = []
    malformed = 0
    for line in lines:
        if line[:1] in (b" ", b"\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, (value + b" " + line.strip(b" \t\r")).strip(b" "))
            continue
        name, colon, value = line.partition(b":")
        if not colon:
            malformed += bool(line.strip(b" \t\r"))
            continue
        fields.append((name.strip(b" \t"), value.strip(b" \t\r")))
    return fields, malformed


class _NotHTTP(ValueError):
    pass


def parse_status_line(line: bytes) -> tuple[bytes, int, bytes]:
    """Return version, status and reason ("" when there is none).

    The status may have four digits (Heritrix reads any number); 000 to 099 is not one.
    """
    found = _STATUS_LINE.match(line.rstrip(b"\r"))
    if found is None or int(found[2]) < 100:
        raise _NotHTTP(line[:200].decode("latin-1"))
    return found[1].upper(), int(found[2]), (found[3] or b"").strip()


def _number(text: bytes) -> int | None:
    """The number that a text is, None for what is none. One beyond what anybody could send is the largest."""
    if _LONG.match(text) is None:
        return None
    digits = text.lstrip(b"+-0") or b"0"
    value = int(digits) if len(digits) <= 18 else LARGEST_LENGTH
    return -value if text.startswith(b"-") else value


def _lengths(fields: list[tuple[bytes, bytes]]) -> tuple[list[int], bytes | None]:
    """The usable Content-Length values, and the text of one that is no number, or too large to be a length.

    Heritrix: FetchHTTP reads the text up to a NUL, trimmed, ignores it when empty, and calls anything but one
    number an error.
    """
    values: list[int] = []
    bad: bytes | None = None
    for name, value in fields:
        if len(name) != 14 or name.lower() != b"content-length":
            continue
        text = value.partition(b"\0")[0].strip()
        if not text:
            continue
        whole = _number(text)
        if whole is None or whole == LARGEST_LENGTH:
            bad = text
        for part in text.split(b","):
            number = _number(part.strip())
            if number is None:
                return [], bad
            values.append(number)
    if any(value < 0 for value in values):
        return [], bad
    return values, bad


class WireReader:
    """Reads one response. `method` is the request's: a HEAD request's answer has no body."""

    __slots__ = (
        "_before",
        "_buffer",
        "_ends",
        "_fed",
        "_left",
        "_method",
        "_searched",
        "_taken",
        "_trailer_lines",
        "_trailer_size",
        "state",
    )

    def __init__(self, method: str = "GET") -> None:
        self.state = State.START
        self._method = method
        self._buffer = bytearray()
        self._before = bytearray()
        self._searched = 0
        self._fed = 0
        self._left = 0  # bytes still to come of the body or chunk
        self._taken = 0  # body bytes taken where the length was given
        self._ends: tuple[int, ...] = ()
        self._trailer_lines: list[bytes] = []
        self._trailer_size = 0

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes of the stream; return what they complete."""
        self._fed += len(data)
        events: list[Event] = []
        state = self.state
        if state is State.LENGTH:
            self._length(data, events)
        elif state is State.CLOSE:
            events.append(Body(data))
        elif state is not State.DONE and state is not State.BROKEN:
            self._buffer += data
            self._walk(events)
        return events

    def eof(self) -> list[Event]:
        """The stream has ended; return what that completes or breaks. Nothing when the message was whole or
        broken before."""
        events: list[Event] = []
        if self.state is State.SLOP:
            self._old_style(events)
            self._walk(events)
        if self.state in (State.DONE, State.BROKEN):
            return events
        if self.state in (State.START, State.HEAD):
            self._cut_head(events)
        elif (flaw := AT_EOF[self.state]) is None or self._taken in self._ends:
            self._finish(self._fed, events)
        else:
            self._break(flaw, f"{self._left} bytes missing" if self._left else "the last chunk is missing", events)
        return events

    # The parts below each take what they can from the buffer and say by the state where reading goes on.

    def _walk(self, events: list[Event]) -> None:
        while True:
            state = self.state
            if state is State.START:
                more = self._start()
            elif state is State.SLOP:
                more = self._slop(events)
            elif state is State.HEAD:
                more = self._head(events)
            elif state is State.CHUNK_DATA:
                more = self._chunk_data(events)
            elif state is State.CHUNK_SIZE:
                more = self._chunk_size(events)
            elif state is State.CHUNK_END:
                more = self._chunk_end(events)
            elif state is State.TRAILERS:
                more = self._trailers(events)
            else:
                rest = bytes(self._buffer)
                self._buffer.clear()
                if rest and state is State.LENGTH:
                    self._length(rest, events)
                elif rest and state is State.CLOSE:
                    events.append(Body(rest))
                return
            if not more:
                return

    def _start(self) -> bool:
        buffer = self._buffer
        blank = len(buffer) - len(buffer.lstrip(b"\r\n"))
        if blank:
            self._before += buffer[:blank]
            del buffer[:blank]
        if not buffer:
            return False
        begin = bytes(buffer[:5]).upper()
        if begin == b"HTTP/" or begin.startswith(b"ICY "):
            self.state = State.HEAD
            self._searched = 0
            return True
        if b"HTTP/".startswith(begin) or b"ICY ".startswith(begin):
            return False
        self.state = State.SLOP
        return True

    def _slop(self, events: list[Event]) -> bool:
        buffer = self._buffer
        window = bytes(buffer[:MAX_SLOP])
        found = _SLOPPY_STATUS_LINE.search(window)
        if found is not None:
            self._before += buffer[: found.start()]
            del buffer[: found.start()]
            self.state = State.HEAD
            self._searched = 0
            return True
        if len(buffer) < MAX_SLOP:
            return False
        self._old_style(events)
        return True

    def _old_style(self, events: list[Event]) -> None:
        """No status line anywhere: HTTP/0.9, where everything is the body."""
        before = bytes(self._before)
        self._before.clear()
        events.append(Head(b"HTTP/0.9", 200, b"", [], b"", before, "close", None, False))
        self.state = State.CLOSE

    def _head(self, events: list[Event]) -> bool:
        buffer = self._buffer
        found = _BLANK_LINE.search(buffer, max(0, self._searched - 2))
        if found is None:
            self._searched = len(buffer)
            if len(self._before) + len(buffer) > MAX_HEAD:
                return self._cut_large_head(events)
            return False
        end = found.end()
        raw = bytes(buffer[:end])
        if len(self._before) + end > MAX_HEAD:
            return self._cut_large_head(events)
        del buffer[:end]
        return self._read_head(raw, raw[: found.start()].split(b"\n"), True, events)

    def _read_head(self, raw: bytes, lines: list[bytes], complete: bool, events: list[Event]) -> bool:
        try:
            version, status, reason = parse_status_line(lines[0])
        except _NotHTTP as error:
            return self._break(Flaw.NOT_HTTP, str(error), events)
        if status < 200 and status != 101:
            events.append(Interim(status))
            self._before += raw
            self.state = State.START
            return True
        fields, malformed = parse_fields(lines[1:])
        lengths, bad_length = _lengths(fields)
        codings: list[bytes] = []
        connection: list[bytes] = []
        for name, value in fields:
            if len(name) == 17 and name.lower() == b"transfer-encoding":
                codings += [part.partition(b";")[0].strip().lower() for part in value.split(b",")]
            elif len(name) == 10 and name.lower() == b"connection":
                connection += [part.strip().lower() for part in value.split(b",")]
        length: int | None = None
        if self._method == "HEAD" or status in BODILESS:
            framing = "none"
        elif b"chunked" in codings:
            framing = "chunked"
        elif lengths and not any(coding not in (b"", b"identity") for coding in codings):
            length = max(lengths)
            framing = "length" if length else "none"
        else:
            framing = "close"
        ambiguous = len(set(lengths)) > 1 or bad_length is not None
        modern = version.startswith(b"HTTP/") and version not in (b"HTTP/1.0", b"HTTP/0.9")
        keep_alive = (
            complete
            and framing != "close"
            and not ambiguous
            and (b"close" not in connection if modern else b"keep-alive" in connection)
        )
        before = bytes(self._before)
        self._before.clear()
        events.append(
            Head(
                version,
                status,
                reason,
                fields,
                raw,
                before,
                framing,
                length,
                keep_alive,
                bad_length,
                malformed,
                complete,
            )
        )
        self.state = AFTER_HEAD[framing]
        if framing == "length":
            self._left = length or 0
            self._ends = tuple(lengths)
        elif framing == "none" and complete:
            self._finish(self._fed - len(self._buffer), events)
        return True

    def _cut_large_head(self, events: list[Event]) -> bool:
        """Give the lines that are whole within the limit, and break off: where the limit lies does not depend on how
        the stream was split."""
        raw = bytes(self._buffer[: max(MAX_HEAD - len(self._before), 0)])
        lines = raw.split(b"\n")[:-1]
        self._buffer.clear()
        if lines:
            self._read_head(raw, lines, False, events)
        if self.state is State.BROKEN:
            return True
        return self._break(Flaw.HEAD_TOO_LARGE, f"no end after {MAX_HEAD} bytes", events)

    def _cut_head(self, events: list[Event]) -> None:
        raw = bytes(self._buffer)
        if not raw:
            self._break(Flaw.NO_RESPONSE, "no bytes" if not self._fed else "no final status line", events)
            return
        lines = raw.split(b"\n")
        undecided = self.state is State.START
        if undecided or len(lines) < 2:
            self._break(Flaw.HEAD_CUT, raw[:200].decode("latin-1"), events)
            return
        self._buffer.clear()
        self._read_head(raw, lines[:-1], False, events)
        if self.state is State.START:
            self._break(Flaw.NO_RESPONSE, "no final status line", events)
        elif self.state is not State.BROKEN:
            self._break(Flaw.HEAD_CUT, "no blank line", events)

    def _length(self, data: bytes, events: list[Event]) -> None:
        left = self._left
        if len(data) < left:
            self._left = left - len(data)
            self._taken += len(data)
            events.append(Body(data))
            return
        extra = len(data) - left
        events.append(Body(data[:left] if extra else data))
        self._left = 0
        self._finish(self._fed - extra, events)

    def _line(self, limit: int, events: list[Event]) -> bytes | None:
        buffer = self._buffer
        at = buffer.find(b"\n", 0, limit)
        if at < 0:
            if len(buffer) >= limit:
                self._break(Flaw.BAD_CHUNK, f"a line of more than {limit} bytes", events)
            return None
        line = bytes(buffer[:at])
        del buffer[: at + 1]
        return line

    def _chunk_size(self, events: list[Event]) -> bool:
        self._whole_chunks(events)
        line = self._line(MAX_CHUNK_LINE, events)
        if line is None:
            return False
        text = line.partition(b";")[0].strip()
        if _HEX.match(text) is None:
            return self._break(Flaw.BAD_CHUNK, f"size {line[:40]!r}", events)
        self._left = int(text, 16)
        self.state = State.CHUNK_DATA if self._left else State.TRAILERS
        return True

    def _whole_chunks(self, events: list[Event]) -> None:
        """Take the chunks that are there from size to line end, as one: a server may send a million of one byte."""
        buffer, at = self._buffer, 0
        parts: list[bytes] = []
        while (size := _SIZE.match(buffer, at)) is not None:
            begin = size.end()
            end = begin + int(size[1], 16)
            if end == begin or buffer[end : end + 2] != b"\r\n":
                break
            parts.append(bytes(buffer[begin:end]))
            at = end + 2
        if parts:
            del buffer[:at]
            events.append(Body(b"".join(parts)))

    def _chunk_data(self, events: list[Event]) -> bool:
        buffer = self._buffer
        if not buffer:
            return False
        data = bytes(buffer[: self._left])
        del buffer[: len(data)]
        self._left -= len(data)
        events.append(Body(data))
        if self._left:
            return False
        self.state = State.CHUNK_END
        return True

    def _chunk_end(self, events: list[Event]) -> bool:
        buffer = self._buffer
        if not buffer:
            return False
        if buffer[0] == 0x0A:
            del buffer[:1]
        elif buffer[0] != 0x0D:
            return self._break(Flaw.BAD_CHUNK, "no line end behind the data", events)
        elif len(buffer) < 2:
            return False
        elif buffer[1] != 0x0A:
            return self._break(Flaw.BAD_CHUNK, "no line end behind the data", events)
        else:
            del buffer[:2]
        self.state = State.CHUNK_SIZE
        return True

    def _trailers(self, events: list[Event]) -> bool:
        line = self._line(MAX_TRAILERS - self._trailer_size, events)
        if line is None:
            return False
        if line.strip(b"\r"):
            self._trailer_lines.append(line)
            self._trailer_size += len(line) + 1
            return True
        if self._trailer_lines:
            events.append(Trailers(parse_fields(self._trailer_lines)[0]))
        self._finish(self._fed - len(self._buffer), events)
        return True

    def _finish(self, at: int, events: list[Event]) -> None:
        self.state = State.DONE
        events.append(End(at))

    def _break(self, flaw: Flaw, text: str, events: list[Event]) -> bool:
        self.state = State.BROKEN
        events.append(Fault(flaw, text))
        return True
