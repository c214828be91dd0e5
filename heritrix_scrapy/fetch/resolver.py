"""Which addresses does the DNS give for a name, and what exactly did it say?

`Resolver` asks the configured name servers (UDP, then TCP when the answer was cut), or one over HTTPS, on dnspython. It
tells a name that does not exist or has no address from a look-up that failed, which Heritrix does not; whoever asks
decides what to make of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import dns.asyncresolver
import dns.exception
import dns.message
import dns.name
import dns.nameserver
import dns.rdatatype
import dns.resolver

from heritrix_scrapy.fetch.https_server import HttpsNameserver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TRY_SECONDS = 3.0  # for one server
ALL_SECONDS = 10.0  # for one look-up, every server and retry included
DNS_PORT = 53
HOSTS_FILE = Path("/etc/hosts")
#: Addresses that are kept of one name; an answer has room for thousands.
MOST_ADDRESSES = 32
UNSPECIFIED = frozenset(("0.0.0.0", "::"))


class Answer(Enum):
    ADDRESSES = auto()
    NO_NAME = auto()  # the name does not exist
    NO_ADDRESS = auto()  # it exists, and has none
    FAILED = auto()  # no server gave an answer


class RecordSet(NamedTuple):
    """The set at the end of the alias chain. `owner` ends with a dot; `kind` is A or AAAA; `ttl` in seconds."""

    owner: str
    ttl: int
    kind: str
    addresses: tuple[str, ...]


class Lookup(NamedTuple):
    """What a look-up came to. `server`: address of the name server that answered; `text`: why there is no address;
    `absent_seconds`: how long that holds, by the zone's own word (RFC 2308), 0 where it says nothing."""

    answer: Answer
    sets: tuple[RecordSet, ...] = ()
    server: str = ""
    text: str = ""
    absent_seconds: int = 0

    @property
    def addresses(self) -> list[str]:
        """Those that can be connected to, in the order of the sets."""
        found = [address for each in self.sets for address in each.addresses if address not in UNSPECIFIED]
        return found[:MOST_ADDRESSES]

    @property
    def ttl(self) -> int:
        """Seconds that every set holds."""
        return min((each.ttl for each in self.sets), default=0)


class Resolver:
    """Asks `servers` (each "host", "host:port" or "[v6]:port"), or the system's when there are none; with `over_https`
    the one at that URL instead. Raises ValueError for what is no server."""

    def __init__(
        self,
        servers: Sequence[str] = (),
        *,
        over_https: str = "",
        try_seconds: float = TRY_SECONDS,
        all_seconds: float = ALL_SECONDS,
    ):
        try:
            self._asker = dns.asyncresolver.Resolver(configure=not servers)
        except dns.resolver.NoResolverConfiguration:
            self._asker = dns.asyncresolver.Resolver(configure=False)
        if servers:
            self._asker.nameservers = [
                dns.nameserver.Do53Nameserver(host, port) for host, port in map(server_address, servers)
            ]
        self._asker.timeout = try_seconds
        self._asker.lifetime = all_seconds
        self._asker.cache = None
        #: Address of the first configured name server, though it is another that is asked; empty when there is none.
        self.first_server = self._first_server()
        self._over_https = HttpsNameserver(over_https) if over_https else None
        if self._over_https is not None:
            self._asker.nameservers = [self._over_https]

    def close(self) -> None:
        """Let go of open connections."""
        if self._over_https is not None:
            self._over_https.close()

    def _first_server(self) -> str:
        for server in self._asker.nameservers:
            return server if isinstance(server, str) else str(server.answer_nameserver())
        return ""

    async def lookup(self, name: str, kinds: Sequence[str] = ("A",)) -> Lookup:
        """Look a name up, all kinds at once; sets come in the order of `kinds`. Never raises for what the DNS says."""
        if not self._asker.nameservers:
            return Lookup(Answer.FAILED, text="no name server is configured")
        found = await asyncio.gather(*(self._ask(name, kind) for kind in kinds))
        sets = tuple(each for lookup in found for each in lookup.sets)
        if any(lookup.addresses for lookup in found):
            return Lookup(Answer.ADDRESSES, sets, next(lookup.server for lookup in found if lookup.sets))
        # a failure of one kind leaves the question open; NO_NAME holds for all kinds alike
        for answer in (Answer.NO_NAME, Answer.FAILED, Answer.NO_ADDRESS):
            for lookup in found:
                if lookup.answer is answer:
                    return lookup._replace(sets=sets)
        return Lookup(Answer.NO_ADDRESS, sets, found[0].server, "only unspecified addresses")

    async def _ask(self, name: str, kind: str) -> Lookup:
        try:
            answer = await self._asker.resolve(
                dns.name.from_text(name, dns.name.root), kind, raise_on_no_answer=False, search=False
            )
        except dns.resolver.NXDOMAIN as error:
            replies = error.kwargs.get("responses") or {}
            held = min((absent_seconds(reply) for reply in replies.values()), default=0)
            return Lookup(Answer.NO_NAME, text=str(error), absent_seconds=held)
        except (dns.resolver.YXDOMAIN, dns.name.LabelTooLong, dns.name.NameTooLong, dns.name.EmptyLabel) as error:
            return Lookup(Answer.NO_NAME, text=f"{name}: {error}")
        except (dns.exception.DNSException, OSError) as error:
            return Lookup(Answer.FAILED, text=str(error) or type(error).__name__)
        server = str(answer.nameserver or "")
        if answer.rrset is None:
            held = absent_seconds(answer.response)
            return Lookup(Answer.NO_ADDRESS, (), server, f"{name} has no {kind} record", held)
        addresses = tuple(record.address for record in answer.rrset)
        found = RecordSet(answer.rrset.name.to_text(), answer.rrset.ttl, kind, addresses)
        usable = any(address not in UNSPECIFIED for address in addresses)
        return Lookup(
            Answer.ADDRESSES if usable else Answer.NO_ADDRESS, (found,), server, f"{name} has no usable {kind}"
        )


def absent_seconds(reply: dns.message.Message) -> int:
    """How long a zone says that something does not exist (RFC 2308, 5); 0 where it does not say."""
    for each in reply.authority:
        if each.rdtype == dns.rdatatype.SOA and each:
            return int(max(0, min(each.ttl, each[0].minimum)))
    return 0


def server_address(text: str) -> tuple[str, int]:
    """Address and port of a name server written "host", "host:port", or "[v6]:port".

    A host that is a name is looked up by the system, once. Raises ValueError.
    """
    host, port = text.strip(), DNS_PORT
    if host.startswith("["):
        host, _, rest = host[1:].partition("]")
        if rest:
            port = int(rest.removeprefix(":"))
    elif host.count(":") == 1:
        host, _, digits = host.partition(":")
        port = int(digits)
    try:
        return str(ipaddress.ip_address(host)), port
    except ValueError:
        pass
    try:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0][4][0]), port
    except OSError as error:
        raise ValueError(f"{text!r} is no name server: {error}") from error


def hosts_file(path: Path = HOSTS_FILE) -> dict[str, list[str]]:
    """Name → addresses, as the system's hosts file says; empty when there is none."""
    names: dict[str, list[str]] = {}
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return names
    for line in text.splitlines():
        address, *aliases = line.partition("#")[0].split() or [""]
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(address.partition("%")[0])
            for alias in aliases:
                known = names.setdefault(alias.lower().rstrip("."), [])
                if address not in known:
                    known.append(address)
    return names


async def system_lookup(name: str) -> list[str]:
    """Addresses that the operating system gives, in its order; empty when it gives none. ``localhost`` is there also
    where no hosts file says so (RFC 6761, 6.3)."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ["127.0.0.1"] if name.rstrip(".").lower() == "localhost" else []
    return [address for address in _unique(str(entry[4][0]) for entry in found) if address not in UNSPECIFIED]


def has_ipv6_route() -> bool:
    """Whether a packet to a global IPv6 address would have a way out; nothing is sent."""
    if not socket.has_ipv6:
        return False
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(("2001:4860:4860::8888", DNS_PORT))
    except OSError:
        return False
    return True


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
