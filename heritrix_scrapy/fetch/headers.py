"""Which header lines does a request carry, and in which order?

Two layouts. The heritrix profile sends Heritrix's lines in Heritrix's order, and takes the request's own as its
custom headers: replaced in place, else appended (Heritrix: FetchHTTPRequest). The modern one lets the request's
own header win, then what the project set for all requests (Scrapy's middlewares have put that on the request),
then ours.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from heritrix_scrapy.model.crawluri import PREREQ_CONTEXT
from heritrix_scrapy.settings.agent import user_agent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.fetch.proxies import Proxy
    from heritrix_scrapy.model.crawluri import CrawlURI

Field = tuple[bytes, bytes]

DEFAULT_PORTS = {"http": "80", "https": "443"}
AJAX_CONTEXT = "a[data-remote='true']/@href"
BODY_METHODS = frozenset(("POST", "PUT", "PATCH"))

# Lines that describe the message as we frame it; a request cannot bring its own.
OURS_ALONE = frozenset((b"content-length", b"transfer-encoding", b"proxy-authorization", b"host"))

# Lines of HTTP/1.1 that say how the connection is used (RFC 9113, 8.2.2).
OF_THE_CONNECTION = frozenset((b"connection", b"proxy-connection", b"keep-alive", b"transfer-encoding", b"upgrade"))

# Lines a Request may carry that have a place of their own in Heritrix's order.
PLACED = frozenset((b"if-modified-since", b"if-none-match", b"cookie", b"authorization"))

_COLON = re.compile(r":\s+")
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2


def compose(
    curi: CrawlURI,
    view: Any,
    *,
    url: str,
    method: str = "GET",
    own: Iterable[Field] = (),
    body: bytes = b"",
    proxy: Proxy | None = None,
) -> list[Field]:
    """The header lines of one request, in order.

    `own`: the request's own (name, values in order), without what the project never chose. `view` gives
    the settings that hold for this URI; `proxy`: an HTTP proxy that is asked in the server's place.
    Raises ValueError for a header that is none.
    """
    mine = [(name, value) for name, value in own if name.lower() not in OURS_ALONE]
    for name, _ in mine:
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header")
    made = (_heritrix if view.profile == "heritrix" else _modern)(curi, view, url, method, mine, body)
    if proxy is not None:
        if view.profile == "heritrix":
            made.insert(0, (b"Proxy-Connection", b"close"))
        if proxy.authorization is not None:
            made.append((b"Proxy-Authorization", proxy.authorization))
    return made


def _heritrix(curi: CrawlURI, view: Any, url: str, method: str, own: list[Field], body: bytes) -> list[Field]:
    placed: dict[bytes, list[Field]] = {}
    custom: dict[bytes, list[bytes]] = {}
    names: dict[bytes, bytes] = {}
    for name, value in own:
        low = name.lower()
        if low in PLACED:
            placed.setdefault(low, []).append((name, value))
        else:
            names.setdefault(low, name)
            custom.setdefault(low, []).append(value)
    lines: list[Field] = []
    if view.accept_compression:
        lines.append((b"Accept-Encoding", encode(view.accept_encoding)))
    lines += _from(view)
    lines += _range(view)
    if view.send_connection_close:
        lines.append((b"Connection", b"Close"))
    if (referer := _referer(curi, view, url)) is not None:
        lines.append((b"Referer", encode(referer)))
    if not curi.is_prerequisite:
        lines += placed.get(b"if-modified-since", ())
        lines += placed.get(b"if-none-match", ())
    lines += accept_lines(view.accept_headers)
    if curi.via_context == AJAX_CONTEXT:
        lines.append((b"X-Requested-With", b"XMLHttpRequest"))
    if body:
        lines.append((b"Content-Length", b"%d" % len(body)))
        if (kind := custom.pop(b"content-type", None)) is not None:
            lines.append((b"Content-Type", kind[-1]))
    lines.append((b"Host", encode(host_of(url))))
    if not view.send_connection_close:
        lines.append((b"Connection", b"Keep-Alive"))
    lines.append((b"User-Agent", encode(curi.user_agent or user_agent(view))))
    lines += placed.get(b"cookie", ())
    lines += placed.get(b"authorization", ())
    for low, values in custom.items():
        place = next((i for i, (name, _) in enumerate(lines) if name.lower() == low), None)
        if place is not None:
            lines[place] = (lines[place][0], values[0])
            values = values[1:]
        lines += ((names[low], value) for value in values)
    return [(name, clean(value)) for name, value in lines]


def _modern(curi: CrawlURI, view: Any, url: str, method: str, own: list[Field], body: bytes) -> list[Field]:
    given: dict[bytes, list[Field]] = {}
    for name, value in own:
        given.setdefault(name.lower(), []).append((name, value))
    if curi.user_agent:
        given[b"user-agent"] = [(b"User-Agent", encode(curi.user_agent))]
    ours: list[Field] = [(b"User-Agent", encode(user_agent(view)))]
    ours += accept_lines(view.accept_headers)
    if view.accept_compression:
        ours.append((b"Accept-Encoding", encode(view.accept_encoding)))
    ours += _from(view)
    ours += _range(view)
    # a spider's Request has the Referer that the project's own policy allows, or none
    if not curi.spider_request and (referer := _referer(curi, view, url)) is not None:
        ours.append((b"Referer", encode(without_user_info(referer))))
    if curi.via_context == AJAX_CONTEXT:
        ours.append((b"X-Requested-With", b"XMLHttpRequest"))
    lines: list[Field] = [(b"Host", encode(host_of(url)))]
    for field in ours:
        lines += given.pop(field[0].lower(), [field])
    for fields in given.values():
        lines += fields
    if body or method in BODY_METHODS:
        lines.append((b"Content-Length", b"%d" % len(body)))
    if view.send_connection_close and b"connection" not in given:
        lines.append((b"Connection", b"close"))
    return [(name, clean(value)) for name, value in lines]


def head(method: str, target: str, fields: Iterable[Field], *, http11: bool) -> bytes:
    """A request's head in HTTP/1, blank line included."""
    out = [encode(f"{method} {target} HTTP/1.{int(http11)}"), b"\r\n"]
    for name, value in fields:
        out += (name, b": ", value, b"\r\n")
    out.append(b"\r\n")
    return b"".join(out)


def without_connection_lines(fields: Iterable[Field]) -> list[Field]:
    """The lines of a request that goes over HTTP/2: those that say how an HTTP/1 connection is used are not sent."""
    return [field for field in fields if field[0].lower() not in OF_THE_CONNECTION]


def own_fields(headers: dict[bytes, list[bytes]], defaults: Mapping[bytes, bytes | None]) -> list[Field]:
    """A Request's headers as fields, without those that only a default put there.

    `headers` is Scrapy's Headers (name → values); `defaults`: lower-case name → the value that nobody chose.
    """
    fields: list[Field] = []
    for name, values in dict.items(headers):  # which Headers are: their own items() looks up each name again
        for value in values:
            if value is not None and defaults.get(name.lower()) != value:
                fields.append((name, value))
    return fields


def accept_lines(lines: Iterable[str]) -> list[Field]:
    """The lines that split into exactly a name and a value at a colon and blanks; Heritrix drops the others."""
    return list(_split(tuple(lines)))


@lru_cache(maxsize=64)
def _split(lines: tuple[str, ...]) -> tuple[Field, ...]:
    fields: list[Field] = []
    for line in lines:
        parts = _COLON.split(line)
        if len(parts) == 2 and parts[0]:
            fields.append((encode(parts[0]), encode(parts[1])))
    return tuple(fields)


def _from(view: Any) -> list[Field]:
    return [(b"From", encode(view.operator_from))] if (view.operator_from or "").strip() else []


def _range(view: Any) -> list[Field]:
    if not (view.send_range and view.max_length_bytes > 0):
        return []
    return [(b"Range", b"bytes=0-%d" % (view.max_length_bytes - 1))]


def _referer(curi: CrawlURI, view: Any, url: str) -> str | None:
    if not (view.send_referer and curi.via) or curi.via_context == PREREQ_CONTEXT:
        return None
    if curi.via.startswith("https:") and url.startswith("http:"):
        return None
    return curi.via


def without_user_info(uri: str) -> str:
    """The URI as a Referer may carry it: no user info, no fragment (RFC 9110, 10.1.3)."""
    if "@" not in uri and "#" not in uri:
        return uri
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))


def host_of(url: str) -> str:
    """The Host value: authority without user info, without the scheme's own port."""
    scheme, _, rest = url.partition("://")
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2]
    host, colon, port = authority.rpartition(":")
    if colon and (not port or port == DEFAULT_PORTS.get(scheme)) and not host.endswith(":"):
        return host
    return authority


def encode(text: str) -> bytes:
    """Header text as bytes: latin-1, else UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def clean(value: bytes) -> bytes:
    """A value that cannot break out of its line."""
    if b"\r" in value or b"\n" in value:
        return b" ".join(value.split())
    return value
