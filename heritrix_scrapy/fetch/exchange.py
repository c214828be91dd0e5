"""What came back over one connection for one request, and how did it end?

An `Exchange` stands between a connection and a `WireReader`: it records the bytes, keeps the limits, and names
the `Ending`. What an ending means for the status is told by `stamp`. Limits never throw received bytes away.
"""

from __future__ import annotations

import asyncio
import errno
import math
import re
import tempfile
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from heritrix_scrapy.fetch.connect import open_files_limit
from heritrix_scrapy.fetch.wire import Body, End, Event, Fault, Flaw, Head, Interim, WireReader
from heritrix_scrapy.model.errors import HeritrixError, StorageFull, TooManyFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.fetch.connect import Connection
    from heritrix_scrapy.model.recorder import Recorder


class Ending(Enum):
    COMPLETE = auto()
    NO_ANSWER = auto()  # the connection ended before the final head was whole
    UNREADABLE = auto()  # what came is no HTTP, or its head is too large
    SILENT = auto()  # a timeout before the final head was whole
    DISCONNECTED = auto()  # the peer closed before the end of the body
    RESET = auto()  # the connection broke inside the body
    BROKEN = auto()  # chunk framing broken; all bytes up to the close are recorded
    TIME = auto()  # a timeout inside the body
    LENGTH = auto()  # a size limit
    HEAD = auto()  # the size limit of heads: what came until then is all there is
    ABORTED = auto()  # whoever looks at the head or the data wants no more
    STOPPED = auto()  # the crawl stops
    CANCELLED = auto()  # the operator wants this fetch to end


class Limits(NamedTuple):
    """Zero means no limit. `total` and `idle` in seconds; `size` bounds the recorded bytes, head included,
    `entity` the bytes of the entity; `rate` is in bytes per millisecond. With `patient`, an idle body is waited
    for until `total`."""

    total: float
    idle: float
    size: int = 0
    entity: int = 0
    rate: int = 0
    patient: bool = False


_BLANK_LINE = re.compile(rb"\n\r?\n")


class Exchange:
    """One request's answer. Await `done`, then read the other attributes.

    `on_head(head)` and `on_data(data)` may return True for "no more"; the latter is called with entity bytes
    only when given. `whole_stream`: record what came before the final status line too, and count the body from
    the first blank line on.
    """

    def __init__(
        self,
        connection: Connection,
        recorder: Recorder,
        method: str,
        limits: Limits,
        *,
        on_head: Callable[[Head], bool],
        on_data: Callable[[bytes], bool] | None = None,
        whole_stream: bool = False,
        began: float | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.connection = connection
        self.recorder = recorder
        self.limits = limits
        self.done: asyncio.Future[Ending] = self._loop.create_future()
        self.head: Head | None = None
        self.ending: Ending | None = None
        self.fault: Fault | None = None
        self.error: Exception | None = None
        self.entity_size = 0
        self.fed = 0
        self.reusable = False
        self.overrun = 0  # bytes that came behind the end of the answer
        self.wants_http11 = False  # the server does not answer this request over HTTP/2
        self._reader = WireReader(method)
        self._on_head = on_head
        self._on_data = on_data
        self._whole_stream = whole_stream
        self._early = b""
        self._began = self._loop.time() if began is None else began
        self._last = self._began
        self._body_began = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._paused = False

    def start(self, request: bytes) -> None:
        """Send the request and listen."""
        self._listen()
        assert self.connection.transport is not None
        self.connection.transport.write(request)

    def _listen(self) -> None:
        connection = self.connection
        connection.sink = self
        connection.uses += 1
        self._last = self._loop.time()
        self._timer = self._loop.call_later(self._next_look(), self._look)

    # -- the connection's side ------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        self._heard(data)
        try:
            if self.head is not None:
                if self._record(data):
                    self._take(self._reader.feed(data))
            else:
                events = self._reader.feed(data)
                if not self._begin(events, data):
                    self._early += data
            self._keep_pace()
        except Exception as error:
            self._fail(error)

    def _heard(self, data: bytes) -> None:
        self._last = self._loop.time()
        self.fed += len(data)

    def _keep_pace(self) -> None:
        limits = self.limits
        if limits.rate and self.head is not None:
            self._slow_down()
        if limits.patient and limits.total and self._last >= self._began + limits.total and self.ending is None:
            self._late()

    def closed(self, error: Exception | None) -> None:
        if self.ending is not None:
            return
        self.error = error
        if self.fault is not None:
            self._end(Ending.BROKEN)
        elif error is not None:
            self._end(Ending.NO_ANSWER if self.head is None else Ending.RESET)
        else:
            try:
                events = self._reader.eof()
                if self.head is not None or not self._begin(events, b""):
                    self._take(events)
            except Exception as failure:
                self._fail(failure)

    # -- what the reader says -------------------------------------------------------------------------------

    def _begin(self, events: list[Event], data: bytes) -> bool:
        """Look for the final head among the events; True when it was there (or nothing more is awaited)."""
        for i, event in enumerate(events):
            if isinstance(event, Head):
                self.head = event
                self._body_began = self._loop.time()
                rest = self._record_head(event, self._early + data if self._early else data)
                self._early = b""
                behind = events[i + 1 :]
                if self._on_head(event):
                    self._end(Ending.ABORTED)
                elif behind and isinstance(behind[0], Fault) and behind[0].flaw is Flaw.HEAD_TOO_LARGE:
                    self._flawed(behind[0])  # what follows belongs to the head still
                elif not rest or self._record(rest):
                    self._take(behind)
                return True
            if isinstance(event, Interim):
                self.recorder.interim.append(event.status)
            else:
                self._take(events[i:])
                return True
        return False

    def _record_head(self, head: Head, stream: bytes) -> bytes:
        """Keep the head; return what came behind it."""
        recorder = self.recorder
        rest = stream[len(head.before) + len(head.raw) :]
        if self._whole_stream:
            block = head.before + head.raw
            found = _BLANK_LINE.search(block)
            recorder.body_at = found.end() if found is not None else 0
        else:
            block = head.raw
            recorder.body_at = len(block)
        recorder.response.append(block)
        return rest

    def _record(self, data: bytes) -> bool:
        """Keep the bytes; False when a limit ended the exchange."""
        response = self.recorder.response
        if self.limits.size:
            # one byte beyond the limit is kept (Heritrix: RecordingOutputStream.checkLimits)
            room = max(self.limits.size + 1 - response.size, 0)
            if len(data) >= room:
                response.append(data[:room])
                self._end(Ending.LENGTH)
                return False
        response.append(data)
        return True

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if self.ending is not None:
                return
            if isinstance(event, Body):
                self.entity_size += len(event.data)
                if self._on_data is not None and self._on_data(event.data):
                    self._end(Ending.ABORTED)
                elif self.limits.entity and self.entity_size > self.limits.entity:
                    self._end(Ending.LENGTH)
            elif isinstance(event, End):
                head = self.head
                self.overrun = self.fed - event.at
                self.reusable = head is not None and head.keep_alive and not self.overrun
                if self.overrun and not self._whole_stream:
                    # whether it came in the same read is chance: it is no part of the answer
                    self.recorder.response.truncate(self.recorder.response.size - self.overrun)
                self._end(Ending.COMPLETE)
            elif isinstance(event, Fault):
                self._flawed(event)

    def _flawed(self, fault: Fault) -> None:
        self.fault = fault
        if fault.flaw is Flaw.BAD_CHUNK:
            return  # go on recording what the server sends
        if fault.flaw is Flaw.HEAD_TOO_LARGE:
            self._end(Ending.UNREADABLE if self.head is None else Ending.HEAD)
        elif fault.flaw is Flaw.NOT_HTTP:
            self._end(Ending.UNREADABLE)
        elif self.head is None:
            self._end(Ending.NO_ANSWER)
        else:
            self._end(Ending.DISCONNECTED)

    # -- limits ---------------------------------------------------------------------------------------------

    def _next_look(self) -> float:
        """Seconds until a limit could be reached, as things stand."""
        due = min(self._total_at(), self._idle_at(), self._loop.time() + 3600)
        return max(due - self._loop.time(), 0.001)

    def _total_at(self) -> float:
        limits = self.limits
        if not limits.total:
            return math.inf
        at = self._began + limits.total
        if limits.patient and limits.idle and self.head is not None and at > self._last:
            # Heritrix looks at the clock when a read returns: with bytes, or after its own timeout
            return self._last + math.ceil((at - self._last) / limits.idle) * limits.idle
        return at

    def _idle_at(self) -> float:
        limits = self.limits
        if not limits.idle or (limits.patient and self.head is not None):
            return math.inf
        return self._last + limits.idle

    def _look(self) -> None:
        self._timer = None
        if self.ending is not None:
            return
        if self._loop.time() >= min(self._total_at(), self._idle_at()):
            self._late()
        else:
            self._timer = self._loop.call_later(self._next_look(), self._look)

    def _late(self) -> None:
        if self.head is None:
            self._end(Ending.SILENT)
        else:
            self._end(Ending.BROKEN if self.fault is not None else Ending.TIME)

    def _slow_down(self) -> None:
        """Pause reading while more has come than the rate allows since the head."""
        wait = self.owed()
        transport = self.connection.transport
        if wait > 0.005 and self.ending is None and transport is not None and not transport.is_closing():
            self._paused = True
            transport.pause_reading()
            self._loop.call_later(wait, self._go_on)

    def owed(self) -> float:
        """Seconds by which what has come is ahead of the rate."""
        if not self.limits.rate or self.head is None:
            return 0.0
        allowed_at = self._body_began + self.recorder.response.size / (self.limits.rate * 1000)
        return max(allowed_at - self._loop.time(), 0.0)

    def _go_on(self) -> None:
        transport = self.connection.transport
        if self._paused and transport is not None and not transport.is_closing():
            self._paused = False
            self._last = self._loop.time()
            transport.resume_reading()

    # -- the end --------------------------------------------------------------------------------------------

    def _end(self, ending: Ending) -> None:
        if self.ending is not None:
            return
        self.ending = ending
        self._detach()
        if not self.done.done():
            self.done.set_result(ending)

    def _fail(self, error: Exception) -> None:
        """A defect of ours, or the spool takes no more."""
        if isinstance(error, OSError):
            error = _refused(self.fed, error)
        self.ending = Ending.ABORTED
        self._detach()
        self.connection.abort()
        if not self.done.done():
            self.done.set_exception(error)

    def _detach(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._go_on()
        if self.connection.sink is self:
            self.connection.sink = None
        # whoever listened holds this exchange: a ring that only the collector of garbage would find
        self._on_head, self._on_data = _nobody, None

    def stop(self, ending: Ending = Ending.STOPPED) -> None:
        """What is not there yet is not awaited: the crawl stops, or the operator cancels."""
        self._end(ending)

    def cancel(self) -> None:
        """Nobody waits for the answer any more."""
        self.ending = self.ending or Ending.STOPPED
        self._detach()
        self.connection.abort()


def _nobody(_: Head) -> bool:
    return False


def _refused(size: int, error: OSError) -> HeritrixError:
    """Why the spool took no more."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        # which is no full disk: nothing has to be made room for
        return TooManyFiles(open_files_limit(), error)
    return StorageFull(tempfile.gettempdir(), size, error, of="the response spool")
