"""What is known of a host's addresses, and of a server's robots.txt and manners?

The fetch room writes it, frontier and report read it, the store keeps it. Host = a name; server = an authority
with its scheme's port (Heritrix: CrawlHost, CrawlServer, DefaultServerCache).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.model.crawluri import authority_of

if TYPE_CHECKING:
    from collections.abc import Callable

NEVER = -1
_NUMERIC = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\Z", re.ASCII)


class Tally(msgspec.Struct, array_like=True):
    """Counters kept for a host, a server and a queue alike (Heritrix: FetchStats)."""

    scheduled: int = 0
    successes: int = 0
    failures: int = 0
    disregards: int = 0
    responses: int = 0
    robots_denials: int = 0
    success_bytes: int = 0
    total_bytes: int = 0
    nonresponses: int = 0
    last_success_ms: int = NEVER


class Host(msgspec.Struct, array_like=True):
    """``addresses``: textual, in the order to try; ``looked_up_ms``: when (-1 never); ``ttl``: seconds, -1 never
    expires (a numeric host); ``failures``: failed look-ups in a row; ``final``: the last one settled that there
    is no address (no try is left); ``guess_hits``, ``guess_misses``: answers to guesses from scripts that found
    something, and that did not."""

    addresses: list[str] = []
    looked_up_ms: int = NEVER
    ttl: int = 0
    failures: int = 0
    final: bool = False
    next_emit_ms: int = 0
    tally: Tally = msgspec.field(default_factory=Tally)
    guess_hits: int = 0
    guess_misses: int = 0


class Server(msgspec.Struct, array_like=True):
    """``robots``: text of robots.txt (None: everything is allowed, or nothing known yet); ``robots_fetched_ms``:
    -1 never; ``robots_valid``: whether ``robots`` may be relied on; ``robots_tries``: failed fetches so far;
    ``robots_error``: class of the exception that ended the last of them;
    ``retry_at_ms``: until when the server asked to be left alone; ``connection_errors``: in a row."""

    robots: str | None = None
    robots_fetched_ms: int = NEVER
    robots_valid: bool = False
    robots_tries: int = 0
    retry_at_ms: int = 0
    connection_errors: int = 0
    tally: Tally = msgspec.field(default_factory=Tally)
    robots_error: str | None = None


class Inquiry(msgspec.Struct, array_like=True):
    """What whois knows: of a name the server that its answer referred to (``referral``: ``host`` or ``host:port``), of
    a ``whois://`` URI when it was asked (``ended_ms``: -1 never) and whether no answer came (``failed``)."""

    referral: str = ""
    ended_ms: int = NEVER
    failed: bool = False


def server_key(uri: str) -> str:
    """The server a fixed-up URI is fetched from: its authority without user info, and ``:443`` behind an
    https authority without a port; the name of a ``dns:`` URI (Heritrix: CrawlServer.getServerKey)."""
    authority = authority_of(uri).rpartition("@")[2]
    if not authority and not uri.partition(":")[2].startswith("//"):
        # an opaque URI is its own server when it looks like a host name
        rest = uri.partition(":")[2]
        return rest if re.fullmatch(r"[-_\w.:]+", rest, re.ASCII) else ""
    if uri.startswith("https:") and not re.search(r":\d+\Z", authority):
        return authority + ":443"
    return authority


def numeric_address(host: str) -> str | None:
    """The address that a host of four digit groups is, or None. Groups beyond 255 wrap, as in Heritrix."""
    if not _NUMERIC.match(host):
        return None
    return ".".join(str(int(group) & 0xFF) for group in host.split("."))


class Hosts:
    """Every Host, Server and Inquiry in use, read from the store when first asked for and written back by ``drain``.

    ``get``: key → row or None, the store's. Keeps at most ``capacity`` unchanged objects in memory.
    """

    def __init__(self, get: Callable[[bytes], bytes | None], *, capacity: int = 20_000) -> None:
        self._get = get
        self._capacity = capacity
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._changed: dict[bytes, Any] = {}

    def host(self, name: str) -> Host:
        """The Host of that name; a numeric one knows its address from the start."""
        key = b"hh" + name.encode("utf-8", "surrogatepass")
        found: Host = self._find(key, Host)
        if found.looked_up_ms == NEVER:
            address = numeric_address(name)
            if address is None and ":" in name:
                address = name
            if address is not None:
                found.addresses, found.ttl, found.looked_up_ms = [address], NEVER, 0
        return found

    def server(self, key: str) -> Server:
        """The Server of that key (see ``server_key``)."""
        found: Server = self._find(b"hs" + key.encode("utf-8", "surrogatepass"), Server)
        return found

    def inquiry(self, key: str) -> Inquiry:
        """What whois knows of a name, or of a ``whois://`` URI."""
        found: Inquiry = self._find(b"hw" + key.encode("utf-8", "surrogatepass"), Inquiry)
        return found

    def inquiry_changed(self, key: str) -> None:
        """Have the Inquiry written with the next batch."""
        self._mark(b"hw" + key.encode("utf-8", "surrogatepass"))

    def host_changed(self, name: str) -> None:
        """Have the Host written with the next batch."""
        self._mark(b"hh" + name.encode("utf-8", "surrogatepass"))

    def server_changed(self, key: str) -> None:
        """Have the Server written with the next batch."""
        self._mark(b"hs" + key.encode("utf-8", "surrogatepass"))

    def drain(self) -> list[tuple[bytes, bytes]]:
        """Rows changed since the last call, for the write batch."""
        if not self._changed:
            return []
        rows = [(key, _encoder.encode(value)) for key, value in self._changed.items()]
        self._changed.clear()
        return rows

    def _mark(self, key: bytes) -> None:
        if (value := self._kept.get(key)) is not None:
            self._changed[key] = value

    def _find(self, key: bytes, kind: type) -> Any:
        value = self._kept.get(key)
        if value is not None:
            self._kept.move_to_end(key)
            return value
        row = self._get(key)
        value = kind() if row is None else msgspec.msgpack.decode(row, type=kind)
        self._kept[key] = value
        if len(self._kept) > self._capacity:
            for old in list(self._kept)[: self._capacity // 10]:
                if old not in self._changed:
                    del self._kept[old]
        return value


_encoder = msgspec.msgpack.Encoder()
