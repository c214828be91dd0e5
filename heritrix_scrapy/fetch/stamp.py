"""What does an exchange mean for its URI: which status, which marks, which sizes?

Everything here is written onto the CrawlURI and its recorder; nothing is fetched, and no clock is read. How an
`Ending` becomes a status (Heritrix: FetchHTTP.innerProcess; -2 and -3 are its connect-failed and connect-lost):

| ending | modern | heritrix |
|---|---|---|
| COMPLETE | the server's | the server's |
| NO_ANSWER | -2; on a used connection one silent retry | -2 after 3 silent retries |
| UNREADABLE, SILENT | -2 | -2 |
| HEAD | the server's, headerTrunc | -2 |
| DISCONNECTED, BROKEN | the server's, truncated: disconnect | the server's |
| RESET | the server's, truncated: disconnect (without HERITRIX_WARC_WRITE_CUT_BODIES: -3) | -3 |
| TIME, LENGTH | the server's, timeTrunc or lenTrunc | the same |
| ABORTED | the server's, midFetchAbort or stopDownload | the same |
| STOPPED | none: the URI stays in its queue | the same |
| CANCELLED | -7000; what came is archived when whoever cancelled wants it | the same |
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.fetch.decoding import charset_name, header_charset, unsatisfiable_coding
from heritrix_scrapy.fetch.exchange import Ending
from heritrix_scrapy.model import status
from heritrix_scrapy.model.hosts import server_key

if TYPE_CHECKING:
    from heritrix_scrapy.fetch.exchange import Exchange
    from heritrix_scrapy.fetch.wire import Head
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts
    from heritrix_scrapy.model.recorder import Recorder

#: Interrupted in the middle of the body, by the peer or by what it sent.
CUT = frozenset((Ending.DISCONNECTED, Ending.RESET, Ending.BROKEN))

#: Endings behind whose bytes a mark stands: ending → (annotation, WARC reason).
MARKS: dict[Ending, tuple[str, str]] = {
    Ending.ABORTED: ("stopDownload", "unspecified"),
    Ending.CANCELLED: ("cancelled", "unspecified"),
    Ending.TIME: ("timeTrunc", "time"),
    Ending.LENGTH: ("lenTrunc", "length"),
    Ending.HEAD: ("headerTrunc", "length"),
}

#: Seconds that a first 429 without Retry-After stands for; how often that is doubled at most.
FIRST_PAUSE = 60
MOST_DOUBLINGS = 20

_NUMBER = re.compile(r"\d+\Z", re.ASCII)


class Why(Enum):
    """Why a fetch has no answer, in the kinds that Scrapy's users tell apart."""

    FAILED = auto()
    TIMEOUT = auto()
    REFUSED = auto()
    NO_ADDRESS = auto()
    LOST = auto()
    UNSUPPORTED = auto()
    BLOCKED = auto()


class Failure(NamedTuple):
    """A fetch without an answer: the status it ends with, and the error behind it."""

    code: int
    why: Why
    text: str
    cause: BaseException | None = None


def stamp_head(curi: CrawlURI, recorder: Recorder, head: Head, view: Any) -> None:
    """What status line and headers say. Safe to call again for a later try."""
    heritrix = view.profile == "heritrix"
    curi.status = head.status
    curi.headers = head.headers
    curi.reason = head.reason.decode("latin-1")
    curi.http_version = head.version.decode("latin-1")
    kind = curi.header(b"content-type")
    curi.content_type = "unknown" if kind is None else kind.decode("latin-1")
    named, unknown = header_charset(curi.content_type)
    curi.charset = named or charset_name(view.default_encoding)
    if unknown:
        curi.annotate(f"unsatisfiableCharsetInHeader:{unknown}")
    recorder.chunked = head.framing == "chunked"
    coding = curi.header(b"content-encoding")
    if coding:
        recorder.content_encoding = coding.decode("latin-1").strip()
        if unsatisfiable_coding(recorder.content_encoding, heritrix=heritrix):
            curi.annotate(f"unsatisfiableContentEncoding:{recorder.content_encoding}")
    if not heritrix:
        for interim in recorder.interim:
            curi.annotate(f"interim:{interim}")


def heed_retry_after(curi: CrawlURI, hosts: Hosts, longest: float, now_ms: int) -> None:
    """Keep on the server for how long a 429 or 503 asked it to be left alone (RFC 9110, 10.2.3); ``longest`` in
    seconds, 0 heeds none. A 429 that names no time is taken for a minute, and for twice as long each time it comes
    again, until the server has answered in peace for as long."""
    if curi.status not in (429, 503) or not longest:
        return
    text = curi.header(b"retry-after")
    seconds = retry_after(text.decode("latin-1").strip(), now_ms) if text is not None else None
    key = server_key(curi.uri)
    server = hosts.server(key)
    if seconds is None and curi.status == 429:
        pause = min(FIRST_PAUSE * 2**server.refusals, longest)
        calm = now_ms - server.retry_at_ms > pause * 1000
        server.refusals = 1 if calm else min(server.refusals + 1, MOST_DOUBLINGS)
        seconds = FIRST_PAUSE * 2 ** (server.refusals - 1)
    if seconds is not None and seconds > 0:
        server.retry_ms = int(min(seconds, longest) * 1000)
        server.retry_at_ms = now_ms + server.retry_ms
        hosts.server_changed(key)


def retry_after(text: str, now_ms: int) -> float | None:
    """Seconds to wait that a Retry-After value says, from now on; None when it says nothing."""
    if _NUMBER.match(text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
        return until.timestamp() - now_ms / 1000
    except (TypeError, ValueError, OverflowError):
        return None


def refuses(head: Head, view: Any, size_limit: int) -> bool:
    """Heads that Heritrix's HTTP library takes for no answer."""
    return view.profile == "heritrix" and (
        not head.version.startswith(b"HTTP/")
        or head.version == b"HTTP/0.9"
        or head.malformed > 0
        or repeats(head, view, size_limit)
    )


def repeats(head: Head | None, view: Any, size_limit: int) -> bool:
    """Heads behind which it goes on looking for an answer, finds none, and asks again."""
    if head is None or view.profile != "heritrix":
        return False
    return head.status < 200 or bool(size_limit and len(head.raw) > size_limit)


def stamp(
    curi: CrawlURI,
    exchange: Exchange,
    view: Any,
    *,
    now_ms: int,
    url: str,
    waited: float,
    size_limit: int,
    body_unwanted: bool = False,
) -> Failure | None:
    """Write what the exchange came to onto the URI; return why there is no answer, when there is none.

    ``waited``: seconds that were waited for a head at most; ``body_unwanted``: the body rule ended it.
    """
    recorder, connection, head, ending = exchange.recorder, exchange.connection, exchange.head, exchange.ending
    curi.server_ip = connection.address or curi.server_ip
    curi.tls = connection.tls
    if ending is Ending.SILENT:
        text = f"Getting {url} took longer than {waited} seconds."
        return Failure(status.CONNECT_FAILED, Why.TIMEOUT, text)
    no_answer = ending in (Ending.NO_ANSWER, Ending.UNREADABLE) or head is None
    if no_answer or (ending is Ending.HEAD and view.profile == "heritrix"):
        fault = exchange.fault
        text = str(exchange.error or (f"{fault.flaw.value}: {fault.text}" if fault else ending and ending.name))
        return Failure(status.CONNECT_FAILED, Why.FAILED, text, exchange.error)
    assert head is not None
    if refuses(head, view, size_limit):
        return Failure(status.CONNECT_FAILED, Why.FAILED, "malformed response")
    if view.profile == "heritrix" and head.bad_length is not None:
        text = f"Content-Length {head.bad_length.decode('latin-1')!r} is no number"
        return Failure(status.CONNECT_LOST, Why.FAILED, text)
    curi.ended_ms = now_ms
    if ending is Ending.RESET and not view.warc_write_cut_bodies:
        return Failure(status.CONNECT_LOST, Why.LOST, str(exchange.error), exchange.error)
    if ending is Ending.ABORTED and body_unwanted:
        curi.annotate("midFetchAbort")
        recorder.response.truncate(recorder.body_at)
        recorder.truncated.append("unspecified")
    elif ending in MARKS:
        note, reason = MARKS[ending]
        curi.annotate(note)
        recorder.truncated.append(reason)
    elif ending in (Ending.DISCONNECTED, Ending.RESET) and view.profile != "heritrix":
        recorder.truncated.append("disconnect")
    if curi.status == 401 and curi.header(b"www-authenticate") is None:
        curi.errors.append(
            ("FetchHTTP", f"Missing auth challenge headers for uri with response status 401: {curi.uri}")
        )
    if exchange.overrun and view.profile != "heritrix":
        curi.annotate("overrun")
    curi.content_size = recorder.response.size
    curi.content_length = recorder.body_size
    curi.digest = recorder.body_digest if view.digest_content else None
    return None


def stamp_failure(curi: CrawlURI, failure: Failure, view: Any, now_ms: int) -> None:
    """A fetch without an answer, written onto its URI."""
    heritrix = view.profile == "heritrix"
    curi.status = failure.code
    curi.error_text = failure.text
    curi.errors.append(("FetchHTTP", failure.cause or failure.text))
    curi.digest = None
    if failure.code != status.CONNECT_LOST:
        curi.content_type = "unknown"
        curi.headers = []
    if failure.code in (status.CONNECT_FAILED, status.CONNECT_LOST):
        # Heritrix counts one byte for an answer that failed, and no end of the fetch unless a body was being read
        curi.content_size = curi.content_length = 1 if heritrix else 0
        if not heritrix:
            curi.ended_ms = now_ms
