"""What is known of a host's addresses, and of a server's robots.txt and manners?

The fetch room writes it, frontier and report read it, the store keeps it. Host = a name; server = an authority
with its scheme's port (Heritrix: CrawlHost, CrawlServer, DefaultServerCache).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.model.challenge import Challenge  # noqa: TC001 (a field of Server)
from heritrix_scrapy.model.crawluri import authority_of, host_of
from heritrix_scrapy.model.tally import NEVER, SCHEDULED, Counts, Tally, nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from heritrix_scrapy.model.crawluri import CrawlURI

#: What the keys of hosts begin with, and those of servers.
HOSTS = b"hh"
SERVERS = b"hs"

#: Rows of what was queued since the Hosts' own rows were written: host → URIs, one row a batch.
ARRIVED = b"hA"
#: Batches after which the Hosts' rows follow, and hosts after which they do anyway.
ARRIVALS = 50
ARRIVED_HOSTS = 5_000
#: Hosts whose rows follow with one batch.
COUNTED = 200
#: Key of a source's counters, and what is found there.
SOURCE = b"hu"
COUNTS = Counts
_NUMERIC = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\Z", re.ASCII)


class Province(msgspec.Struct, array_like=True):
    """A part of the web with one login form: how often it was sent, and how often seen (Heritrix:
    FormLoginProcessor)."""

    attempts: int = 0
    seen: int = 0


class Host(msgspec.Struct, array_like=True, gc=False):
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
    counts: Counts = msgspec.field(default_factory=nothing)
    guess_hits: int = 0
    guess_misses: int = 0

    @property
    def tally(self) -> Tally:
        """What is counted of it."""
        return Tally(self.counts)


class Server(msgspec.Struct, array_like=True):
    """``robots``: text of robots.txt (None: everything is allowed, or nothing known yet); ``robots_fetched_ms``:
    -1 never; ``robots_valid``: whether ``robots`` may be relied on; ``robots_tries``: failed fetches so far;
    ``robots_error``: class of the exception that ended the last of them; ``robots_again_ms``: when it may be tried
    again; ``robots_from``: where the last redirect of it leads, the ``robots_redirects``-th in a row;
    ``challenges``: those that a credential answered, so that it can be shown unasked; ``logins``: login addresses
    whose form was accepted;
    ``retry_at_ms``: until when the server asked to be left alone; ``connection_errors``: in a row;
    ``refusals``: 429 without a time, one after the other; ``retry_ms``: how long the pause until ``retry_at_ms`` was
    when it was asked for."""

    robots: str | None = None
    robots_fetched_ms: int = NEVER
    robots_valid: bool = False
    robots_tries: int = 0
    retry_at_ms: int = 0
    connection_errors: int = 0
    counts: Counts = msgspec.field(default_factory=nothing)
    robots_error: str | None = None
    robots_again_ms: int = 0
    robots_from: str | None = None
    robots_redirects: int = 0
    challenges: list[Challenge] = []
    logins: list[str] = []
    refusals: int = 0
    retry_ms: int = 0

    @property
    def tally(self) -> Tally:
        """What is counted of it."""
        return Tally(self.counts)

    def pause_left(self, now_ms: int) -> int:
        """Milliseconds for which the server still wants to be left alone: never more than it asked for, however the
        clock has been set meanwhile."""
        if self.retry_at_ms <= now_ms:
            return 0
        left = self.retry_at_ms - now_ms
        if left > self.retry_ms > 0:
            left = self.retry_ms
            self.retry_at_ms = now_ms + left
        return left


class Inquiry(msgspec.Struct, array_like=True):
    """What whois knows: of a name the server that its answer referred to (``referral``: ``host`` or ``host:port``), of
    a ``whois://`` URI when it was asked (``ended_ms``: -1 never) and whether no answer came (``failed``)."""

    referral: str = ""
    ended_ms: int = NEVER
    failed: bool = False


def server_key(uri: str) -> str:
    """The server a fixed-up URI is fetched from: its authority without user info, and ``:443`` behind an
    https authority without a port; the name of a ``dns:`` URI (Heritrix: CrawlServer.getServerKey)."""
    behind = uri.find(":") + 1
    if not uri.startswith("//", behind):
        # an opaque URI is its own server when it looks like a host name
        rest = uri[behind:]
        return rest if re.fullmatch(r"[-_\w.:]+", rest, re.ASCII) else ""
    authority = authority_of(uri).rpartition("@")[2]
    if uri.startswith("https:") and not re.search(r":\d+\Z", authority):
        return authority + ":443"
    return authority


def numeric_address(host: str) -> str | None:
    """The address that a host of four digit groups is, or None. Groups beyond 255 wrap, as in Heritrix."""
    if not _NUMERIC.match(host):
        return None
    return ".".join(str(int(group) & 0xFF) for group in host.split("."))


def counted_under(uri: str) -> str:
    """The name of the host that a URI is counted under; empty for one without."""
    if "://" not in uri:
        return uri.partition(":")[0] + ":"
    slash = uri.find("/", 8)
    return _host(uri[:slash]) if slash > 0 else host_of(uri)


@lru_cache(4096)
def _host(beginning: str) -> str:
    """Host of what has that scheme and authority: URIs of one host come one after the other."""
    return host_of(beginning)


@lru_cache(4096)
def _source_key(tag: str) -> bytes:
    return SOURCE + tag.encode("utf-8", "surrogatepass")


#: Key and row of a URI's host, key and row of its server, and the name that the host is counted under.
Place = tuple[bytes, Host, bytes, Server, str]


class Hosts:
    """Every Host, Server and Inquiry in use, read from the store when first asked for and written back by ``drain``.

    ``get``: key → row or None, the store's. Keeps at most ``capacity`` unchanged objects in memory, with at most
    ``budget`` characters of robots.txt between them; the text has a row of its own, written when it changes.
    """

    def __init__(
        self, get: Callable[[bytes], bytes | None], *, capacity: int = 20_000, budget: int = 16_000_000
    ) -> None:
        self._get = get
        self._capacity = capacity
        self._budget = budget
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._changed: dict[bytes, Any] = {}
        self._places: dict[str, Place] = {}
        self._last = ""
        self._last_place: Place | None = None
        #: Texts as they stand in the store, of the Servers in memory, and their characters.
        self._texts: dict[bytes, str | None] = {}
        self._size = 0
        #: Whether all objects in memory but the newest are still to be written, so that none can be forgotten.
        self._all_changed = False
        #: URIs queued of each host: since the last batch (see ``arrive``), and in rows of their own that no Host has
        #: counted yet.
        self.arrived: dict[str, int] = {}
        self._waiting: dict[str, int] = {}
        self._arrivals: list[bytes] = []
        #: The same in rows whose turn to be counted has come, no more than ``COUNTED`` hosts in each.
        self._parts: list[tuple[bytes, dict[str, int]]] = []
        self._dropped: list[bytes] = []
        self._arrival = 0
        #: What else is kept beside hosts: each gives its changed rows.
        self.others: list[Callable[[], list[tuple[bytes, bytes]]]] = []

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

    def province(self, name: str) -> Province:
        """The Province of that SURT prefix."""
        found: Province = self._find(b"hp" + name.encode("utf-8", "surrogatepass"), Province)
        return found

    def host_changed(self, name: str) -> None:
        """Have the Host written with the next batch."""
        self._mark(b"hh" + name.encode("utf-8", "surrogatepass"))

    def server_changed(self, key: str) -> None:
        """Have the Server written with the next batch."""
        self._mark(b"hs" + key.encode("utf-8", "surrogatepass"))

    def province_changed(self, name: str) -> None:
        """Have the Province written with the next batch."""
        self._mark(b"hp" + name.encode("utf-8", "surrogatepass"))

    def tallies_of(self, curi: CrawlURI) -> list[Counts]:
        """The counters of the host, the server and the source that a URI is of, to be changed now. All ``dns:`` URIs
        are of one host (Heritrix: ServerCache)."""
        changed, uri, tag = self._changed, curi.uri, curi.source_tag
        place = self._last_place if uri is self._last else self._place_of(uri)
        if place is None:
            found = []
        else:
            of_host, host, of_server, server, _ = place
            changed[of_host], changed[of_server] = host, server
            found = [host.counts, server.counts]
        if tag:
            of_source = _source_key(tag)
            source = changed.get(of_source)
            if source is None:
                source = changed[of_source] = self._find(of_source, COUNTS)
            found.append(source)
        return found

    def name_of(self, uri: str) -> str:
        """The name of the host that a URI is counted under; empty for one without."""
        place = self._last_place if uri is self._last else self._place_of(uri)
        return counted_under(uri) if place is None else place[4]

    def server_of(self, uri: str) -> Server | None:
        """The Server that a URI is on."""
        place = self._last_place if uri is self._last else self._place_of(uri)
        return None if place is None else place[3]

    def _place_of(self, uri: str) -> Place | None:
        """Where a URI is; None for a URI without a host. Remembered by scheme and authority, until anything is
        forgotten, and as what was asked for last, where callers look first."""
        slash = uri.find("/", 8)
        authority = uri[:slash] if slash > 0 else ""
        place = self._places.get(authority) or self._look_up(uri, authority)
        self._last, self._last_place = uri, place
        return place

    def _look_up(self, uri: str, authority: str) -> Place | None:
        name, key = counted_under(uri), server_key(uri)
        if not name or not key:
            return None
        of_host = HOSTS + name.encode("utf-8", "surrogatepass")
        of_server = SERVERS + key.encode("utf-8", "surrogatepass")
        server: Server = self._find(of_server, Server)
        host: Host = self._find(of_host, Host)
        place = of_host, host, of_server, server, name
        # looking for one may have had the other forgotten
        self._kept.setdefault(of_server, server)
        if authority.startswith(("http://", "https://")):
            self._places[authority] = place
        return place

    def scheduled(self, name: str) -> Tally:
        """The counters of the host of that name, to be changed now."""
        return Tally(self._changing(name))

    def _changing(self, name: str) -> Counts:
        key = HOSTS + name.encode("utf-8", "surrogatepass")
        host = self._changed.get(key)
        if host is None:
            host = self._changed[key] = self.host(name)
        counts: Counts = host.counts
        return counts

    def arrive(self, name: str, count: int = 1) -> None:
        """URIs of a host were queued. A page has links to many hosts, so what they come to is one row of the batch,
        and the Hosts count it some batches later."""
        self.arrived[name] = self.arrived.get(name, 0) + count

    def load_arrivals(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """On opening: the store's rows from ``ARRIVED`` on."""
        for key, row in rows:
            self._arrivals.append(key)
            self._arrival = int.from_bytes(key[len(ARRIVED) :], "big")
            for name, count in msgspec.msgpack.decode(row, type=dict[str, int]).items():
                self._waiting[name] = self._waiting.get(name, 0) + count

    def count_arrivals(self) -> None:
        """Have the next batch write what was queued into the Hosts' own rows."""
        self._count_parts(len(self._parts))
        for counts in (self._waiting, self.arrived):
            self._count(counts)
            counts.clear()
        self._dropped += self._arrivals
        self._arrivals.clear()

    def _count(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            self._changing(name)[SCHEDULED] += count

    def _count_parts(self, number: int) -> None:
        for _ in range(number):
            key, counts = self._parts.pop()
            self._count(counts)
            self._dropped.append(key)

    def _part(self, rows: list[tuple[bytes, bytes]]) -> None:
        """What was queued of many hosts gets rows that can be counted one by one, in the place of those it has."""
        for name, count in self.arrived.items():
            self._waiting[name] = self._waiting.get(name, 0) + count
        self.arrived.clear()
        waiting = list(self._waiting.items())
        self._waiting.clear()
        self._dropped += self._arrivals
        self._arrivals.clear()
        for at in range(0, len(waiting), COUNTED):
            counts = dict(waiting[at : at + COUNTED])
            rows.append((self._next_arrival(), _encoder.encode(counts)))
            self._parts.append((rows[-1][0], counts))

    def _next_arrival(self) -> bytes:
        self._arrival += 1
        return ARRIVED + self._arrival.to_bytes(8, "big")

    def take_dropped(self) -> list[bytes]:
        """Keys of rows that go with the batch that ``drain`` gave its rows for."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def all_hosts(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[str, Host]]:
        """Every Host by name, of the store's ``rows`` from ``HOSTS`` on and of what is to be written."""
        waiting = {key: value for key, value in list(self._changed.items()) if key.startswith(HOSTS)}
        queued = dict(self._waiting)
        for counts in (self.arrived, *[part for _, part in self._parts]):
            for name, count in list(counts.items()):
                queued[name] = queued.get(name, 0) + count
        for key, row in rows:
            value = waiting.pop(key, None) or msgspec.msgpack.decode(row, type=Host)
            name = key[2:].decode("utf-8", "surrogatepass")
            yield name, _with_arrived(value, queued.pop(name, 0))
        for key, value in waiting.items():
            name = key[2:].decode("utf-8", "surrogatepass")
            yield name, _with_arrived(value, queued.pop(name, 0))
        for name, count in queued.items():
            yield name, _with_arrived(Host(), count)

    def source(self, tag: str) -> Tally:
        """The counters of what came from one seed."""
        return Tally(self._find(SOURCE + tag.encode("utf-8", "surrogatepass"), COUNTS))

    def source_changed(self, tag: str) -> None:
        """Have the counters of a source written with the next batch."""
        self._mark(SOURCE + tag.encode("utf-8", "surrogatepass"))

    def servers_of(self, host: str, known: Iterable[bytes]) -> list[str]:
        """Keys of a host's servers, by port; ``known``: keys of rows that the store holds."""
        found = {host, f"{host}:443"}
        for row in (*known, *self._kept):
            key = row[2:].decode("utf-8", "surrogatepass")
            if row.startswith(b"hs") and key.rpartition(":")[0] == host:
                found.add(key)
        return sorted(found)

    def drain(self) -> list[tuple[bytes, bytes]]:
        """Rows changed since the last call, for the write batch."""
        rows: list[tuple[bytes, bytes]] = []
        if self._parts:
            # as many as come, so that they do not grow
            self._count_parts(min(len(self._parts), 1 + len(self.arrived) // COUNTED))
        elif len(self._arrivals) >= ARRIVALS or len(self._waiting) >= ARRIVED_HOSTS:
            if len(self._waiting) + len(self.arrived) <= 2 * COUNTED:
                self.count_arrivals()
            else:
                self._part(rows)
        if self.arrived:
            key = self._next_arrival()
            rows.append((key, _encoder.encode(self.arrived)))
            self._arrivals.append(key)
            for name, count in self.arrived.items():
                self._waiting[name] = self._waiting.get(name, 0) + count
            self.arrived.clear()
        changed = self._changed
        if len(self._kept) > self._capacity // 2:
            # ``tallies_of`` finds its rows without looking here; who was asked for last matters when some must go
            for key in changed:
                self._kept.move_to_end(key)
        texts = [(key, value, value.robots) for key, value in changed.items() if type(value) is Server]
        try:
            for key, server, text in texts:
                if text is not None or key in self._texts:
                    self._put_text(key, text, rows)
                if text is not None:
                    # the row says only that there is one
                    server.robots = ""
            rows += zip(changed, map(_encoder.encode, changed.values()), strict=True)
        finally:
            for _, server, text in texts:
                if text is not None:
                    server.robots = text
        self._changed.clear()
        if self._all_changed:
            self._all_changed = False
            self._shrink(b"")
        for other in self.others:
            rows += other()
        return rows

    def _put_text(self, key: bytes, text: str | None, rows: list[tuple[bytes, bytes]]) -> None:
        """A row for the text of a server's robots.txt, if it is another."""
        stored = self._texts.get(key)
        if text is not stored and text != stored:
            rows.append((_text_key(key), b"" if text is None else text.encode("utf-8", "surrogatepass")))
            self._size += len(text or "") - len(stored or "")
            self._texts[key] = text

    def _mark(self, key: bytes) -> None:
        if (value := self._kept.get(key)) is not None:
            self._changed[key] = value

    def _find(self, key: bytes, kind: Any) -> Any:
        value: Any = self._kept.get(key)
        if value is not None:
            self._kept.move_to_end(key)
            return value
        row = self._get(key)
        if row is not None:
            value = msgspec.msgpack.decode(row, type=kind)
        else:
            value = nothing() if kind is COUNTS else kind()
        if kind is Server and value.robots is not None:
            text = self._get(_text_key(key))
            value.robots = "" if text is None else text.decode("utf-8", "surrogatepass")
            self._texts[key] = value.robots
            self._size += len(value.robots)
        self._kept[key] = value
        if (len(self._kept) > self._capacity or self._size > self._budget) and not self._all_changed:
            self._shrink(key)
        return value

    def _shrink(self, newest: bytes) -> None:
        """Forget down to nine tenths, those not asked for longest first, and more until the texts fit."""
        self._places.clear()
        self._last = ""
        count = max(len(self._kept) - self._capacity * 9 // 10, 1)
        for old in list(self._kept):
            if count <= 0 and self._size <= self._budget:
                return
            if old not in self._changed and old != newest:
                del self._kept[old]
                self._size -= len(self._texts.pop(old, None) or "")
                count -= 1
        # until the next batch it would only look at all of them again
        self._all_changed = True


def _text_key(key: bytes) -> bytes:
    return b"ht" + key[2:]


_encoder = msgspec.msgpack.Encoder()


def _with_arrived(host: Host, count: int) -> Host:
    """A Host as it is with what was queued and not counted yet; the one that is kept stays."""
    if not count:
        return host
    counts = host.counts.copy()
    counts[SCHEDULED] += count
    return msgspec.structs.replace(host, counts=counts)
