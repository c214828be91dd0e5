"""What can a site declare, and which bytes does a declaration come to?

A site is a mapping of host name (or ``*.name``) to a host:

==============  =====================================================================================
routes          exact request target, or ``METHOD target`` -> response
patterns        list of [regex on the whole target, response]; ``$1`` is a group, ``$+1`` that number
                plus one, ``$&`` the target
default         response for everything else (404)
listen          False: the port is refused
tls             fault of the TLS port: "off" refused, "plain" answers in clear text, "reset", "stall"
ip, ips         addresses (else each host gets one of its own); ``aaaa`` list of IPv6 addresses
dns, cname ...  see ``dns.py``
==============  =====================================================================================

A response is a mapping (a callable that is given the `Request` may return it); all keys are optional:

========================  ===========================================================================
status, version, reason   number or whole text ("200 Fine"); reason "" leaves the phrase out
headers                   list of [name, value]; a plain string is a raw header line
type                      Content-Type (text/html; None: no such header)
body, charset             text or list of lines; or ``b64``; or ``bytes`` (Python only)
fill, tail                n more bytes of filler; text after it
encode                    gzip, deflate, deflate-raw; ``encode_header`` False hides it
chunks                    size, or {size or sizes, extension, trailers, fault}; faults: "size" (no number),
                          "missing-crlf", "no-end", "huge" (a size that no body can have)
length                    Content-Length: number, text, False (none, the connection ends the body)
redirect                  Location, status 302 unless given
etag, last_modified       answers 304 by itself
interim                   list of raw 1xx heads sent first
eol                       line end of the head ("\\n" for sloppy servers)
connection                Connection header; "close" also closes
wire, wire64              the whole answer as latin-1 text, or base64
------------------------  ---------------------------------------------------------------------------
delay                     seconds before the answer
drip                      [n, seconds]: the body n bytes at a time (``drip_head``: the head too)
cut, reset_after,         after n body bytes: close, reset, go silent
stall_after
close_now, reset_now,     the same, before the first byte
stall
hold_open                 the connection stays open after the body, whatever was promised
endless                   body repeated until the client goes away
------------------------  ---------------------------------------------------------------------------
cases                     [{"if": {...}, "then": response}], the first that holds: method, body_has,
                          cookie_has, header_has [name, part], basic "user:password", nth, nth_from
                          (counted per host and target), generation
gens                      {"2": changes} by generation number (`Web.generation`)
========================  ===========================================================================

Texts may hold ``${http:HOST}`` and ``${https:HOST}`` (scheme, host and port), ``${PORT}``, ``${TLS_PORT}``.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

Declaration = Mapping[str, Any]
Site = Mapping[str, Declaration]

NOT_FOUND: Declaration = {"status": 404, "body": "<html><title>404</title><p>No such page.</html>"}

# What an answer is played back from: ("send", bytes), ("sleep", seconds), ("endless", bytes), ("hold",),
# ("reset",), ("close",), ("keep",). The last step says what becomes of the connection.
Step = tuple[Any, ...]


@dataclass
class Request:
    """One request as the server read it."""

    raw: bytes
    method: str = ""
    target: str = ""
    version: str = "HTTP/0.9"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @classmethod
    def parse(cls, raw: bytes) -> Request:
        head, _, body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        parts = first.split(" ")
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers.setdefault(name.strip().lower(), value.strip())
        version = parts[2] if len(parts) > 2 else "HTTP/0.9"
        return cls(raw, parts[0], parts[1] if len(parts) > 1 else "", version, headers, body)

    @property
    def host(self) -> str:
        """The name of the Host header, without its port."""
        return re.sub(r":\d*$", "", self.headers.get("host", "")).lower()


def fill_in(value: Any, names: Callable[[str], str]) -> Any:
    """*value* with each ``${name}`` in its texts replaced, at any depth."""
    if isinstance(value, str):
        return re.sub(r"\$\{([^}]+)\}", lambda found: names(found[1]), value) if "${" in value else value
    if isinstance(value, Mapping):
        return {fill_in(key, names): fill_in(part, names) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [fill_in(part, names) for part in value]
    return value


def route(host: Declaration, request: Request) -> tuple[Any, re.Match[str] | None]:
    """The declaration for this request, with the match of the pattern that led to it."""
    routes = host.get("routes", {})
    for key in (f"{request.method} {request.target}", request.target):
        if key in routes:
            return routes[key], None
    for pattern, declared in host.get("patterns", ()):
        match = re.fullmatch(pattern, request.target)
        if match:
            return declared, match
    return host.get("default", NOT_FOUND), None


# ------------------------------------------------------------------------------------------ choice

CONDITIONS: dict[str, Callable[[Any, Request, int, int], bool]] = {
    "method": lambda want, request, count, generation: request.method == want,
    "body_has": lambda want, request, count, generation: want.encode() in request.body,
    "cookie_has": lambda want, request, count, generation: want in request.headers.get("cookie", ""),
    "header_has": lambda want, request, count, generation: (
        want[0].lower() in request.headers and want[1] in request.headers[want[0].lower()]
    ),
    "basic": lambda want, request, count, generation: (
        request.headers.get("authorization", "") == "Basic " + base64.b64encode(want.encode()).decode()
    ),
    "nth": lambda want, request, count, generation: count == want,
    "nth_from": lambda want, request, count, generation: count >= want,
    "generation": lambda want, request, count, generation: generation == want,
}


def choose(declared: Any, request: Request, count: int, generation: int) -> Declaration:
    """Follow callables, ``gens`` and ``cases`` to one flat response. *count*: how often asked, from 1."""
    while True:
        if callable(declared):
            declared = declared(request)
        changes = declared.get("gens", {}).get(str(generation))
        if changes is not None:
            declared = {**{key: value for key, value in declared.items() if key != "gens"}, **changes}
        for case in declared.get("cases", ()):
            if all(CONDITIONS[key](want, request, count, generation) for key, want in case["if"].items()):
                declared = case["then"]
                break
        else:
            return declared  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------ bytes


def templated(text: str, match: re.Match[str] | None) -> str:
    if match is None:
        return text

    def one(found: re.Match[str]) -> str:
        if found[0] == "$&":
            return match[0]
        group = match[int(found[0][-1])]
        return str(int(group) + 1) if found[0][1] == "+" else group

    return re.sub(r"\$\+?[1-9]|\$&", one, text)


def body_of(declared: Declaration, match: re.Match[str] | None) -> bytes:
    """The entity before any coding."""
    if "bytes" in declared:
        body = bytes(declared["bytes"])
    elif "b64" in declared:
        body = base64.b64decode(declared["b64"])
    else:
        text = declared.get("body", "")
        text = text if isinstance(text, str) else "\n".join(text)
        body = templated(text, match).encode(declared.get("charset", "utf-8"), "surrogateescape")
    if "fill" in declared:
        unit = b"0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ\n"
        body += (unit * (declared["fill"] // len(unit) + 1))[: declared["fill"]]
    return body + str(declared.get("tail", "")).encode()


def encoded(body: bytes, coding: str) -> bytes:
    """Content coding with fixed time stamps, so that the same site gives the same bytes."""
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = raw.compress(body) + raw.flush()
    if coding in ("gzip", "x-gzip"):
        return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + packed + struct.pack("<II", zlib.crc32(body), len(body) & 0xFFFFFFFF)
    if coding == "deflate":
        return b"\x78\x9c" + packed + struct.pack(">I", zlib.adler32(body))
    if coding == "deflate-raw":
        return packed
    raise ValueError(f"unknown coding {coding!r}")


def chunked(body: bytes, plan: int | Mapping[str, Any]) -> bytes:
    """*body* in chunks of the planned sizes (the last size repeats), with the planned fault."""
    plan = {"size": plan} if isinstance(plan, int) else plan
    sizes = list(plan.get("sizes", [plan.get("size", 4096)]))
    extension, fault = plan.get("extension", ""), plan.get("fault")
    out, at = [], 0
    while at < len(body):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        part = body[at : at + size]
        label = f"{len(part):x}"
        if at and fault == "size":
            label = "zz"
        elif at and fault == "huge":
            label = "f" * 15
        out.append(f"{label}{extension}\r\n".encode() + part + (b"" if at and fault == "missing-crlf" else b"\r\n"))
        at += size
    if fault != "no-end":
        trailers = "".join(f"{line}\r\n" for line in plan.get("trailers", ()))
        out.append(f"0\r\n{trailers}\r\n".encode())
    return b"".join(out)


def status_text(status: int | str, reason: str | None) -> str:
    if isinstance(status, str):
        return status
    if reason is None:
        try:
            reason = HTTPStatus(status).phrase
        except ValueError:
            reason = "Unknown"
    return f"{status} {reason}" if reason else str(status)


def message(declared: Declaration, request: Request, match: re.Match[str] | None) -> tuple[bytes, bytes]:
    """(head, body as sent) before any fault of the wire."""
    body = body_of(declared, match)
    headers = list(declared.get("headers", ()))
    status: int | str = declared.get("status", 302 if "redirect" in declared else 200)
    if "redirect" in declared:
        headers.append(["Location", templated(declared["redirect"], match)])
    tag, modified = declared.get("etag"), declared.get("last_modified")
    if tag:
        headers.append(["ETag", tag])
    if modified:
        headers.append(["Last-Modified", modified])
    asked = request.headers
    if (tag and asked.get("if-none-match") == tag) or (
        modified and not tag and asked.get("if-modified-since") == modified
    ):
        status = 304
    bodyless = str(status)[:3] in ("204", "304")
    if bodyless:
        body = b""
    else:
        named = {line[0].lower() for line in headers if not isinstance(line, str)}
        kind = declared.get("type", "text/html" if body or "redirect" not in declared else None)
        if kind and "content-type" not in named:
            headers.append(["Content-Type", kind])
        if "encode" in declared:
            body = encoded(body, declared["encode"])
            if declared.get("encode_header", True):
                headers.append(["Content-Encoding", declared["encode"].removesuffix("-raw")])
        if "chunks" in declared:
            headers.append(["Transfer-Encoding", "chunked"])
            body = chunked(body, declared["chunks"])
    length = declared.get("length", len(body) if not bodyless and "chunks" not in declared else False)
    if length is not False and "endless" not in declared:
        headers.append(["Content-Length", str(length)])
    if declared.get("connection"):
        headers.append(["Connection", declared["connection"]])
    eol = declared.get("eol", "\r\n")
    lines = [f"{declared.get('version', 'HTTP/1.1')} {status_text(status, declared.get('reason'))}"]
    lines += [line if isinstance(line, str) else f"{line[0]}: {line[1]}" for line in headers]
    head = "".join(line + eol for line in [*lines, ""]).encode(declared.get("head_charset", "utf-8"), "surrogateescape")
    return head, b"" if request.method == "HEAD" else body


def keeps(declared: Declaration, request: Request) -> bool:
    """Whether the connection may serve another request after this answer."""
    wish = request.headers.get("connection", "").lower()
    chunks = declared.get("chunks")
    # A body that ends before it promised to is closed after; `hold_open` is for the server that goes on waiting.
    framed = "fault" not in chunks if isinstance(chunks, Mapping) else chunks or "length" not in declared
    return bool(
        framed
        and "close" not in str(declared.get("connection", "")).lower()
        and "wire" not in declared
        and "wire64" not in declared
        and wish != "close"
        and (request.version == "HTTP/1.1" or wish == "keep-alive")
        and declared.get("version", "HTTP/1.1") == "HTTP/1.1"
    )


def answer(declared: Declaration, request: Request, match: re.Match[str] | None = None) -> list[Step]:
    """The steps that play this response."""
    steps: list[Step] = []
    if "delay" in declared:
        steps.append(("sleep", declared["delay"]))
    for key, step in (("close_now", "close"), ("reset_now", "reset"), ("stall", "hold")):
        if declared.get(key):
            return [*steps, (step,)]
    for head in declared.get("interim", ()):
        steps.append(("send", head.encode("latin-1")))
    if "wire64" in declared:
        head, body = base64.b64decode(declared["wire64"]), b""
    elif "wire" in declared:
        head, body = declared["wire"].encode("latin-1"), b""
    else:
        head, body = message(declared, request, match)
    end = next((key for key in ("cut", "reset_after", "stall_after") if key in declared), None)
    if end:
        body = body[: declared[end]]
    if "drip" in declared:
        size, pause = declared["drip"]
        whole = head + body if declared.get("drip_head") else body
        if not declared.get("drip_head"):
            steps.append(("send", head))
        for at in range(0, len(whole), size):
            steps += [("send", whole[at : at + size]), ("sleep", pause)]
    else:
        steps.append(("send", head + body))
    if "endless" in declared:
        return [*steps, ("endless", str(declared["endless"]).encode())]
    if end:
        return [*steps, {"cut": ("close",), "reset_after": ("reset",), "stall_after": ("hold",)}[end]]
    if declared.get("hold_open"):
        return [*steps, ("hold",)]
    return [*steps, ("keep",) if keeps(declared, request) else ("close",)]
