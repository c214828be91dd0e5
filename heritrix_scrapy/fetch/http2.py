"""What does a server say over HTTP/2, put as an HTTP/1.1 exchange?

`Link` is one connection (the protocol is the h2 library's); `Http2Exchange` is one request on it, one at a time.
There is no text on the wire to record, so request and answer are written down in the form of HTTP/1.1: status and
headers in the order received, the body without framing, no Transfer-Encoding (Heritrix: FetchHTTP2).
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from heritrix_scrapy.fetch.exchange import Ending, Exchange
from heritrix_scrapy.fetch.headers import encode
from heritrix_scrapy.fetch.wire import MAX_HEAD, Body, End, Event, Fault, Flaw, Head, Interim, Trailers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.fetch.connect import Connection

    Field = tuple[bytes, bytes]

#: Of heads that came over HTTP/2.
VERSION = b"HTTP/2"

#: Bytes that a server may send ahead of our acknowledgement.
WINDOW = 4 << 20

#: Bytes of a frame's head: length, type, flags, stream (RFC 9113, 4.1).
FRAME_HEAD = 9
_PADDED = 0x8
_STATUS = re.compile(rb"[1-9][0-9]{2}")
_LENGTH = re.compile(rb"[0-9]{1,18}")

_S = h2.settings.SettingCodes


class Link:
    """The HTTP/2 side of one connection. While idle it is the connection's sink: settings and pings are answered,
    anything else ends it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._buffer = bytearray()
        self.protocol = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=True, header_encoding=None, validate_inbound_headers=False)
        )
        # set before the first frame: no push, and headers as large as an HTTP/1.1 head may be
        self.protocol.local_settings = h2.settings.Settings(
            client=True,
            initial_values={_S.ENABLE_PUSH: 0, _S.INITIAL_WINDOW_SIZE: WINDOW, _S.MAX_HEADER_LIST_SIZE: MAX_HEAD},
        )
        self.protocol.decoder.max_header_list_size = MAX_HEAD
        self.protocol.initiate_connection()
        self.protocol.increment_flow_control_window(WINDOW)

    def frames(self, data: bytes) -> Iterator[bytes]:
        """Whole frames of what has come: taken one by one, since h2 forgets what stood before a broken one."""
        self._buffer += data
        while len(self._buffer) >= FRAME_HEAD:
            size = FRAME_HEAD + int.from_bytes(self._buffer[:3], "big")
            if size > FRAME_HEAD + self.protocol.max_inbound_frame_size:
                size = len(self._buffer)  # h2 refuses it by its head
            if len(self._buffer) < size:
                return
            frame = bytes(self._buffer[:size])
            del self._buffer[:size]
            yield frame

    def flush(self) -> None:
        """Send what the protocol has to say."""
        transport = self.connection.transport
        data = self.protocol.data_to_send()
        if data and transport is not None and not transport.is_closing():
            transport.write(data)

    def received(self, data: bytes) -> None:
        try:
            events = [event for frame in self.frames(data) for event in self.protocol.receive_data(frame)]
        except h2.exceptions.ProtocolError:
            self.connection.abort()
            return
        self.flush()
        if any(isinstance(event, h2.events.ConnectionTerminated) for event in events):
            self.connection.abort()

    def closed(self, error: Exception | None) -> None:
        """The server let go of an idle connection."""


class Http2Exchange(Exchange):
    """One request over HTTP/2."""

    def send(self, method: str, target: str, fields: Iterable[Field], body: bytes) -> None:
        """Send the request and listen. ``fields``: its lines as HTTP/1.1 has them, without those of the
        connection."""
        connection = self.connection
        link = connection.link
        assert link is not None
        self._link = link
        self._body = memoryview(body)
        self._listen()
        lines = [(name.lower(), value) for name, value in fields]
        pseudo = [
            (b":method", method.encode("ascii")),
            (b":scheme", b"https"),
            (b":authority", next((value for name, value in lines if name == b"host"), b"")),
            (b":path", encode(target)),
        ]
        lines = [line for line in lines if line[0] != b"host"]
        try:
            self._stream = link.protocol.get_next_available_stream_id()
            link.protocol.send_headers(self._stream, pseudo + lines, end_stream=not body)
            self._send_body()
        except h2.exceptions.H2Error as error:
            self._broken(str(error))
        link.flush()

    def _send_body(self) -> None:
        """As much of the request's body as the server takes at the moment."""
        protocol = self._link.protocol
        while self._body:
            room = min(protocol.local_flow_control_window(self._stream), protocol.max_outbound_frame_size)
            if room <= 0:
                return
            piece, self._body = self._body[:room], self._body[room:]
            protocol.send_data(self._stream, bytes(piece), end_stream=not self._body)

    # -- the connection's side ------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        self._heard(data)
        try:
            for frame in self._link.frames(data):
                self._take_frame(frame)
            if self.ending is None:
                self._send_body()
            self._link.flush()
            self._keep_pace()
        except Exception as error:
            self._fail(error)

    def _take_frame(self, frame: bytes) -> None:
        try:
            said = self._link.protocol.receive_data(frame)
        except h2.exceptions.InvalidBodyLengthError as error:
            # the frame is dropped with it: its bytes were sent nevertheless
            if self.ending is None and self._record(body := payload(frame)):
                self._take([Body(body)])
            self._broken(str(error))
        except h2.exceptions.ProtocolError as error:
            self._broken(str(error) or type(error).__name__)
        else:
            for event in said:
                if self.ending is None:
                    self._hear(event)

    def closed(self, error: Exception | None) -> None:
        if self.ending is None:
            self.error = error
            self._broken("the connection was closed" if error is None else str(error))

    # -- what the protocol says -----------------------------------------------------------------------------

    def _hear(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.ConnectionTerminated):
            self._link.connection.is_closed = True  # no further request on it
            if event.last_stream_id is not None and event.last_stream_id < self._stream:
                self._broken("the server goes away")
            return
        if getattr(event, "stream_id", self._stream) != self._stream:
            return
        if isinstance(event, (h2.events.InformationalResponseReceived, h2.events.ResponseReceived)):
            code = status_of(event.headers)
            if code is None:
                self._broken("no status of HTTP")
            elif isinstance(event, h2.events.InformationalResponseReceived):
                self._take_head([Interim(code)])
            else:
                self._take_head([head_of(event.headers)])
        elif isinstance(event, h2.events.DataReceived):
            self._link.protocol.acknowledge_received_data(event.flow_controlled_length, self._stream)
            if event.data and self._record(event.data):
                self._take([Body(event.data)])
        elif isinstance(event, h2.events.TrailersReceived):
            self._take([Trailers(list(event.headers))])
        elif isinstance(event, h2.events.StreamEnded):
            self._take([End(self.fed)])
        elif isinstance(event, h2.events.StreamReset):
            if event.error_code == h2.errors.ErrorCodes.HTTP_1_1_REQUIRED:
                self.wants_http11 = True
            self._broken(f"the server reset the stream ({event.error_code!s})")

    def _take_head(self, events: list[Event]) -> None:
        self._begin(events, events[0].raw if isinstance(events[0], Head) else b"")

    def _broken(self, text: str) -> None:
        if self.ending is not None:
            return
        self.connection.is_closed = True
        self.fault = Fault(Flaw.NO_RESPONSE if self.head is None else Flaw.BODY_CUT, text)
        if self.head is None:
            self._end(Ending.NO_ANSWER)
        else:
            self._end(Ending.RESET if self.error is not None else Ending.DISCONNECTED)

    def _detach(self) -> None:
        super()._detach()
        if self.connection.sink is None and not self.connection.is_closed:
            self.connection.sink = self._link


def status_of(headers: Iterable[Field]) -> int | None:
    """The number in ``:status``; None for what is none (RFC 9113, 8.3.2): small ones mean something else here."""
    value = next((value for name, value in headers if name == b":status"), b"")
    return int(value) if _STATUS.fullmatch(value) else None


def head_of(headers: Iterable[Field]) -> Head:
    """Status and headers as the head of an HTTP/1.1 answer."""
    headers = list(headers)
    code = status_of(headers) or 0
    fields: list[Field] = []
    length: int | None = None
    for name, value in headers:
        if not name.startswith(b":") and name.lower() != b"transfer-encoding":
            fields.append((bytes(name), bytes(value)))
            if name == b"content-length" and _LENGTH.fullmatch(value):
                length = int(value)
    reason = reason_of(code)
    lines = [b"HTTP/1.1 %d %s" % (code, reason), *(name + b": " + value for name, value in fields)]
    raw = b"".join(line.replace(b"\r", b" ").replace(b"\n", b" ") + b"\r\n" for line in lines) + b"\r\n"
    framing = "close" if length is None else "length"
    return Head(VERSION, code, reason, fields, raw, b"", framing, length, True)


def payload(frame: bytes) -> bytes:
    """The data of a DATA frame."""
    data = frame[FRAME_HEAD:]
    if frame[4] & _PADDED and data:
        return data[1 : len(data) - data[0]]
    return data


def reason_of(code: int) -> bytes:
    """The usual words for a status; HTTP/2 sends none."""
    try:
        return HTTPStatus(code).phrase.encode("ascii")
    except ValueError:
        return b""
