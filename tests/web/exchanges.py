"""Odd HTTP exchanges as data: what a server writes and when, and what an archival crawler makes of it.

``EXCHANGES`` maps a name to an `Exchange`. ``steps`` are those of `tests.web.declare`: ("send", bytes), ("sleep",
seconds), ("close",), ("reset",), ("hold",), ("endless", bytes). What is recorded is, unless it says otherwise, all that
was sent from the final status line on; `SO_FAR` stands for as much of it as came until a limit ended the fetch.
The answers of `tests.web.corpus` are among them.
"""

from __future__ import annotations

import gzip
import zlib
from typing import Any, NamedTuple

from tests.web.corpus import BROKEN, WHOLE, final
from tests.web.declare import Request, Step, answer

#: Settings with which nothing of this takes long.
QUICK: dict[str, Any] = {"so_timeout_ms": 1500, "timeout_seconds": 2.5}

SO_FAR = b"(so far)"

#: Bytes of heads that are kept (``fetch.wire.MAX_HEAD``).
LARGEST_HEAD = 1 << 20


class Exchange(NamedTuple):
    """``status``: of the crawl; ``recorded``: None where nothing is archived; ``entity``: the body without framing and
    coding, where that is told; ``truncated``: WARC's reason; ``settings``: by attribute of the View; ``row``: of the
    outcome table that it stands for; ``kind``: what the port does instead of answering ("refused", "plain": clear text
    where TLS was asked for, "late": nothing accepts); ``overrun``: bytes come behind the end, which is noted when
    they come with it."""

    steps: tuple[Step, ...]
    status: int
    recorded: bytes | None = None
    annotations: tuple[str, ...] = ()
    truncated: str | None = None
    entity: bytes | None = None
    settings: dict[str, Any] = {}
    method: str = "GET"
    kind: str = ""
    url: str = ""
    overrun: bool = False

    @property
    def sent(self) -> bytes:
        """Everything that the server writes, in one piece."""
        return b"".join(step[1] for step in self.steps if step[0] == "send")


def head(*lines: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join((status, *lines, "", "")).encode("latin-1")


def says(data: bytes, status: int = 200, end: str = "close", *, skip: int = 0, **rest: Any) -> Exchange:
    """One answer in one piece, recorded from ``skip`` on."""
    rest.setdefault("recorded", data[skip:])
    return Exchange((("send", data), (end,)), status, **rest)


HTML = "Content-Type: text/html"
NAMED = 'Content-Disposition: attachment; filename="\xe9t\xe9.html"'
PACKED = gzip.compress(b"<p>packed " * 300, mtime=0)
CHUNKED = "Transfer-Encoding: chunked"
BODY = b"<p>0123456789</p>\n" * 40


def _declared() -> dict[str, Exchange]:
    """The whole answers of the corpus."""
    found = {}
    for path, declared in WHOLE.items():
        steps = tuple(answer(declared, Request(b"", "GET", path, "HTTP/1.1", {"connection": "close"})))
        sent = b"".join(step[1] for step in steps if step[0] == "send")
        kept = final(sent)
        interim = tuple(
            f"interim:{part[9:12].decode()}" for part in sent[: len(sent) - len(kept)].split(b"\r\n\r\n")[:-1]
        )
        found[path[1:]] = Exchange(steps, int(kept[9:12]), kept, interim)
    return found


def _broken() -> dict[str, Exchange]:
    """Those that end before they promised to."""
    found = {}
    for path, declared in BROKEN.items():
        steps = tuple(answer(declared, Request(b"", "GET", path, "HTTP/1.1", {"connection": "close"})))
        sent = b"".join(step[1] for step in steps if step[0] == "send")
        if path == "/head-cut":
            found["head-cut-in-a-name"] = Exchange(steps, 200, sent, truncated="disconnect")
        else:
            fault = declared.get("chunks", {}).get("fault") in ("size", "missing-crlf")
            found[path[1:]] = Exchange(steps, 200, sent, truncated=None if fault else "disconnect")
    return found


WIRE: dict[str, Exchange] = {
    # -- nothing that could be archived (each row of the outcome table that ends as -2)
    "close-now": Exchange((("close",),), -2),
    "reset-now": Exchange((("reset",),), -2),
    "stall": Exchange((("hold",),), -2, settings=QUICK),
    "stall-in-head": Exchange((("send", b"HTTP/1.1 200 OK\r\nConte"), ("hold",)), -2, settings=QUICK),
    "reset-in-head": Exchange((("send", b"HTTP/1.1 200 OK\r\nConte"), ("sleep", 0.05), ("reset",)), -2),
    "blank-lines-only": Exchange((("send", b"\r\n\r\n\r\n"), ("close",)), -2),
    "interim-only": Exchange((("send", head(status="HTTP/1.1 100 Continue")), ("close",)), -2),
    "status-line-cut": Exchange((("send", b"HTTP/1.1 20"), ("close",)), -2),
    "status-000": Exchange((("send", head(HTML, status="HTTP/1.1 000 None") + BODY), ("close",)), -2),
    "status-text": Exchange((("send", head(HTML, status="HTTP/1.1 OK 200") + BODY), ("close",)), -2),
    "refused": Exchange((), -2, kind="refused"),
    "unknown-host": Exchange((), -6, kind="unknown host", url="http://unknown.test/"),
    "tls-in-clear": Exchange((), -2, kind="plain"),
    "tls-stall": Exchange((), -2, kind="late", settings=QUICK),
    "no-host": Exchange((), -7, kind="no request", url="http:///nothing"),
    "method-is-none": Exchange((), -7, kind="no request", method="GET /x HTTP/1.0\r\nX"),
    # -- ends in the body
    "stall-in-body": says(
        head(HTML, "Content-Length: 900") + BODY[:600],
        end="hold",
        annotations=("timeTrunc",),
        truncated="time",
        settings=QUICK,
    ),
    "drip-beyond-the-time": Exchange(
        (("send", head(HTML)), *((("send", b"<p>drip"), ("sleep", 0.3)) * 10), ("hold",)),
        200,
        SO_FAR,
        ("timeTrunc",),
        truncated="time",
        settings=QUICK,
    ),
    "reset-in-chunk": Exchange(
        (("send", head(HTML, CHUNKED) + b"ff\r\n<p>cut"), ("sleep", 0.05), ("reset",)),
        200,
        head(HTML, CHUNKED) + b"ff\r\n<p>cut",
        truncated="disconnect",
    ),
    "longer-than-the-limit": says(
        head(HTML, "Content-Length: 720") + BODY,
        recorded=(head(HTML, "Content-Length: 720") + BODY)[:501],
        annotations=("lenTrunc",),
        truncated="length",
        settings={"max_length_bytes": 500},
    ),
    "limit-within-the-head": says(
        head(HTML, "X-Long: " + "v" * 900) + BODY,
        recorded=head(HTML, "X-Long: " + "v" * 900),
        annotations=("lenTrunc",),
        truncated="length",
        settings={"max_length_bytes": 300},
    ),
    "body-not-wanted": says(
        head(HTML, "Content-Length: 720") + BODY,
        recorded=head(HTML, "Content-Length: 720"),
        annotations=("midFetchAbort",),
        truncated="unspecified",
        settings={"should_fetch_body_rule": ["RejectDecideRule", {}]},
    ),
    "endless": Exchange(
        (("send", head(HTML)), ("endless", BODY)),
        200,
        SO_FAR,
        ("lenTrunc",),
        truncated="length",
        settings={"max_length_bytes": 20_000},
    ),
    # -- lengths that lie
    "length-no-number": says(head(HTML, "Content-Length: many") + BODY),
    "length-negative": says(head(HTML, "Content-Length: -1") + BODY),
    "length-nul": says(head(HTML, "Content-Length: 720\0") + BODY),
    "length-empty": says(head(HTML, "Content-Length:") + BODY),
    "length-twice-the-same": says(head(HTML, "Content-Length: 720", "content-length: 720") + BODY),
    "length-twice-different": says(head(HTML, "Content-Length: 10", "Content-Length: 720") + BODY),
    "length-list": says(head(HTML, "Content-Length: 720, 720") + BODY),
    "length-beyond-64-bits": says(
        head(HTML, "Content-Length: 99999999999999999999999") + BODY,
        truncated="disconnect",
    ),
    "length-of-five-thousand-digits": says(
        head(HTML, "Content-Length: " + "9" * 5000) + BODY,
        truncated="disconnect",
    ),
    "length-of-five-thousand-zeros": says(head(HTML, "Content-Length: " + "0" * 5000 + "720") + BODY, end="hold"),
    "length-too-small": says(
        head(HTML, "Content-Length: 5") + BODY,
        recorded=head(HTML, "Content-Length: 5") + BODY[:5],
        overrun=True,
    ),
    "length-zero-then-held": says(head(HTML, "Content-Length: 0"), end="hold"),
    # -- chunks
    "chunk-negative": says(head(HTML, CHUNKED) + b"5\r\nhello\r\n-5\r\nrest"),
    "chunk-size-with-blanks": says(head(HTML, CHUNKED) + b" 5 \r\nhello\r\n 0 \r\n\r\n", entity=b"hello"),
    "chunks-of-one-byte": says(head(HTML, CHUNKED) + b"1\r\nx\r\n" * 9000 + b"0\r\n\r\n", entity=b"x" * 9000),
    "chunk-lf-only": says(head(HTML, CHUNKED) + b"5\nhello\n0\n\n", entity=b"hello"),
    "chunk-end-held": says(head(HTML, CHUNKED) + b"5\r\nhello\r\n0\r\n\r\n", end="hold", entity=b"hello"),
    "chunk-end-without-blank-line": says(head(HTML, CHUNKED) + b"5\r\nhello\r\n0\r\n", entity=b"hello"),
    "chunked-in-http10": says(
        head(HTML, CHUNKED, status="HTTP/1.0 200 OK") + b"5\r\nhello\r\n0\r\n\r\n", entity=b"hello"
    ),
    "chunked-named-and-not": says(head(HTML, CHUNKED) + BODY),
    "chunked-among-codings": says(
        head(HTML, "Transfer-Encoding: gzip, chunked") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(PACKED), PACKED)
    ),
    "chunk-behind-the-last": says(
        head(HTML, CHUNKED) + b"5\r\nhello\r\n0\r\n\r\nmore",
        recorded=head(HTML, CHUNKED) + b"5\r\nhello\r\n0\r\n\r\n",
        entity=b"hello",
        overrun=True,
    ),
    # -- codings
    "gzip-twice": says(
        head(HTML, "Content-Encoding: gzip, gzip") + gzip.compress(PACKED, mtime=0), entity=b"<p>packed " * 300
    ),
    "gzip-of-two-members": says(head(HTML, "Content-Encoding: gzip") + PACKED + PACKED, entity=b"<p>packed " * 600),
    "gzip-with-a-tail": says(head(HTML, "Content-Encoding: x-gzip") + PACKED + b"\0\0\0", entity=b"<p>packed " * 300),
    "deflate-with-its-head": says(head(HTML, "Content-Encoding: Deflate") + zlib.compress(BODY), entity=BODY),
    "coding-unknown": says(
        head(HTML, "Content-Encoding: rot13") + BODY, annotations=("unsatisfiableContentEncoding:rot13",), entity=BODY
    ),
    "coding-identity": says(head(HTML, "Content-Encoding: identity") + BODY, entity=BODY),
    "charset-unknown": says(
        head("Content-Type: text/html; charset=bogus") + BODY, annotations=("unsatisfiableCharsetInHeader:bogus",)
    ),
    # -- heads
    "icy": says(head(HTML, status="ICY 200 OK") + BODY),
    "http09": says(BODY),
    "http2-named": says(head(HTML, status="HTTP/2 200") + BODY),
    "version-lower-case": says(head(HTML, status="http/1.1 200 ok") + BODY),
    "status-four-digits": says(head(HTML, status="HTTP/1.1 1000 Odd") + BODY, 1000),
    "status-between-tabs": says(head(HTML, status="HTTP/1.1\t200\tFine") + BODY),
    "slop-ahead": says(b"debug: 1\r\n" + head(HTML) + BODY, skip=10),
    "blank-lines-ahead": says(b"\r\n\n" + head(HTML) + BODY, skip=3),
    "head-cut-at-a-line": says(b"HTTP/1.1 200 OK\r\n" + HTML.encode() + b"\r\n", truncated="disconnect"),
    "name-illegal": says(head(HTML, "\x93access-control\x94: *", "X(1): y") + BODY),
    "name-empty": says(head(HTML, ": nothing in front") + BODY),
    "value-with-nul": says(head(HTML, "X-Nul: a\0b") + BODY),
    "type-twice": says(head("Content-Type: text/plain", HTML) + BODY),
    "disposition-latin1": says(head(HTML, NAMED) + BODY),
    "fold-at-the-start": says(b"HTTP/1.1 200 OK\r\n folded\r\nX: 1\r\n\r\n" + BODY),
    "cr-only-in-head": says(b"HTTP/1.1 200 OK\r\nX: a\rb\r\n" + HTML.encode() + b"\r\n\r\n" + BODY),
    "mixed-line-ends": says(b"HTTP/1.1 200 OK\n" + HTML.encode() + b"\r\nX: 1\n\r\n" + BODY),
    "head-beyond-a-megabyte": says(
        head(HTML, *(f"X-{number}: " + "v" * 1000 for number in range(1100))) + BODY,
        recorded=(head(HTML, *(f"X-{number}: " + "v" * 1000 for number in range(1100))) + BODY)[:LARGEST_HEAD],
        annotations=("headerTrunc",),
        truncated="length",
    ),
    "ten-thousand-headers": says(head(HTML, *(f"X-{number}: 1" for number in range(10_000))) + BODY),
    "upgrade": says(
        head("Upgrade: websocket", "Connection: Upgrade", status="HTTP/1.1 101 Switching Protocols"),
        101,
    ),
    "many-interim": says(
        head(status="HTTP/1.1 102 Processing") * 30 + head(HTML, "Content-Length: 720") + BODY,
        skip=len(head(status="HTTP/1.1 102 Processing")) * 30,
        annotations=("interim:102",),
    ),
    "interim-with-a-length": says(
        head("Content-Length: 9", status="HTTP/1.1 103 Early Hints") + head(HTML, "Content-Length: 720") + BODY,
        skip=len(head("Content-Length: 9", status="HTTP/1.1 103 Early Hints")),
        annotations=("interim:103",),
    ),
    # -- when it comes
    "slow-start": Exchange((("sleep", 0.15), ("send", head(HTML, "Content-Length: 720") + BODY), ("close",)), 200),
    "byte-by-byte-head": Exchange(
        (*((("send", bytes((byte,))) for byte in head(HTML, "Content-Length: 720"))), ("send", BODY), ("close",)), 200
    ),
    "answer-then-reset": Exchange(
        (("send", head(HTML, "Content-Length: 720") + BODY), ("sleep", 0.05), ("reset",)), 200
    ),
    "close-without-length-reset": Exchange(
        (("send", head(HTML) + BODY), ("sleep", 0.05), ("reset",)), 200, truncated="disconnect"
    ),
    # -- answers that have no body
    "head-with-length": says(head(HTML, "Content-Length: 720"), method="HEAD", end="hold"),
    "205": says(head("Content-Length: 0", status="HTTP/1.1 205 Reset Content"), 205, end="hold"),
    "304-chunked": says(head(CHUNKED, status="HTTP/1.1 304 Not Modified"), 304, end="hold"),
    # -- redirects and refusals: only ever recorded here
    "redirect-no-location": says(head("Content-Length: 0", status="HTTP/1.1 302 Found"), 302),
    "redirect-to-itself": says(
        head("Location: /redirect-to-itself", "Content-Length: 0", status="HTTP/1.1 302 Found"), 302
    ),
    "redirect-breaks-the-line": says(
        head("Location: /a%0d%0aX: b c", "Content-Length: 0", status="HTTP/1.1 301"),
        301,
    ),
    "redirect-says-gzip": says(
        head("Location: /x", "Content-Encoding: gzip", HTML, status="HTTP/1.1 302 Found") + BODY, 302, entity=BODY
    ),
    "401-no-challenge": says(head("Content-Length: 0", status="HTTP/1.1 401 Unauthorized"), 401),
    "407-of-a-server": says(
        head("Proxy-Authenticate: Basic realm=x", "Content-Length: 0", status="HTTP/1.1 407 No"), 407
    ),
    "503-retry-after": says(head("Retry-After: 120", "Content-Length: 0", status="HTTP/1.1 503 Busy"), 503),
}


def _filled(found: dict[str, Exchange]) -> dict[str, Exchange]:
    """What is recorded where nothing else is said: all that was sent."""
    filled = {}
    for name, each in found.items():
        filled[name] = each._replace(recorded=each.sent) if each.recorded is None and each.status > 0 else each
    return filled


EXCHANGES: dict[str, Exchange] = _filled({**_declared(), **_broken(), **WIRE})
