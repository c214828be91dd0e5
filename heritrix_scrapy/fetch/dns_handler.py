"""What does the name system say of this host, as a record for the archive and as addresses for the fetches?

Scrapy's download handler for ``dns``. The Request says ``dns://host/``, the CrawlURI ``dns:host``. The answer's text is
what is archived, and the Host of `model.hosts` learns the addresses (Heritrix: FetchDNS).
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError
from scrapy.http import Headers, Response

from heritrix_scrapy.crawl import Crawl, InFlight
from heritrix_scrapy.fetch.resolver import (
    Answer,
    Lookup,
    RecordSet,
    Resolver,
    has_ipv6_route,
    hosts_file,
    system_lookup,
)
from heritrix_scrapy.fetch.turns import Turns
from heritrix_scrapy.model import status
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.requests import travelling
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.uri.domain import registered_domain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Look-ups that begin at once, those of one zone that are on their way, and seconds until one that has no answer
#: lets the next begin.
PARALLEL = 50
OF_ZONE = 10
PATIENCE = 1.0
#: Seconds that an answer of the operating system holds, which names no time of its own.
SYSTEM_TTL = 6 * 3600
#: Seconds that an address holds at most, whatever its record says (RFC 8767, 4).
LONGEST_TTL = 7 * 86400

_NAME = re.compile(r"[-.:\w]+\Z", re.ASCII)


class DnsDownloadHandler:
    """Download handler for ``dns``."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        view = settings_of(crawler).view
        self._resolver = resolver_of(view)
        self._hosts_file = {} if view.dns_servers or view.dns_over_http_server else hosts_file()
        self._turns = Turns(PARALLEL, OF_ZONE, PATIENCE)
        self._running: dict[tuple[str, bool], asyncio.Task[Lookup]] = {}
        self._ipv6: tuple[float, bool] | None = None
        self._asking: dict[CrawlURI, asyncio.Task[Lookup]] = {}
        self._cancelled: set[CrawlURI] = set()
        self.crawl.before_finish.append(self._settled)
        self.crawl.fetching.append(self)
        self.crawl.abort_fetches.append(self.abort)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def close(self) -> None:
        for task in list(self._running.values()):
            task.cancel()
        self._resolver.close()

    async def download_request(self, request: Request) -> Response:
        """Look one name up. Raises CannotResolveHostError after the CrawlURI was stamped."""
        curi = travelling(request)
        view = settings_of(self.crawler).for_uri(curi)
        heritrix = view.profile == "heritrix"
        name = curi.uri.partition(":")[2].strip("/").lower()
        if not _NAME.match(name):
            self._failed(curi, status.UNFETCHABLE, f"{name!r} is no host name")
        if numeric_address(name) is not None or ":" in name:
            self.crawl.hosts.host(name)  # knows its address already
            curi.status = status.DNS_OK
            self._keep(curi, b"")
            return self._response(request, curi, b"")
        curi.began_ms = self.crawl.clock.now_ms()
        curi.content_type = "text/dns"
        began = time.monotonic()
        local = [] if heritrix else self._hosts_file.get(name, [])
        asks_servers, asks_system = ways(name, view)
        found = Lookup(Answer.FAILED)
        self.crawl.add_stats({"dns/lookups": 1})
        if not local and asks_servers:
            found = await self._found(curi, name, not heritrix and self._has_ipv6())
        request.meta["download_latency"] = time.monotonic() - began
        if not local and found.answer is not Answer.ADDRESSES and asks_system:
            local = await system_lookup(name)
        now = curi.ended_ms = self.crawl.clock.now_ms()
        host = self.crawl.hosts.host(name)
        host.looked_up_ms = now
        if found.answer is not Answer.ADDRESSES and not local:
            # a name that does not exist needs no second try
            host.addresses, host.ttl, host.failures = [], 0 if heritrix else found.absent_seconds, host.failures + 1
            host.final = not heritrix and found.answer in (Answer.NO_NAME, Answer.NO_ADDRESS)
            self.crawl.hosts.host_changed(name)
            if self.crawl.resolved_by_proxy is not None and self.crawl.resolved_by_proxy(curi):
                host.final = True
                curi.status = status.DNS_OK
                curi.annotate("resolvedByProxy")
                self._keep(curi, b"")
                return self._response(request, curi, b"")
            self._failed(curi, status.DOMAIN_UNRESOLVABLE, found.text or f"no address for {name}")
        host.failures, host.final = 0, False
        if local:
            host.addresses, host.ttl = local, SYSTEM_TTL
            curi.status = status.DNS_SYSTEM_OK
            record = b""
        else:
            host.addresses, host.ttl = found.addresses, found.ttl if heritrix else min(found.ttl, LONGEST_TTL)
            curi.status = status.DNS_OK
            curi.server_ip = (self._resolver.first_server if heritrix else found.server) or None
            record = record_text(curi.began_ms, found.sets)
        self.crawl.hosts.host_changed(name)
        self._keep(curi, record)
        return self._response(request, curi, record)

    def abort(self) -> None:
        """Cut off every look-up that is waited for; their URIs stay in their queues."""
        for task in list(self._asking.values()):
            task.cancel()

    def in_flight(self) -> list[InFlight]:
        """Every look-up that is waited for."""
        return [InFlight(curi, "looking the name up", 0) for curi in self._asking]

    def cancel(self, curi: CrawlURI, *, keep: bool) -> bool:
        """End the look-up of a URI with status -7000; False when it is not here."""
        task = self._asking.get(curi)
        if task is None:
            return False
        self._cancelled.add(curi)
        return task.cancel()

    async def _found(self, curi: CrawlURI, name: str, wants_ipv6: bool) -> Lookup:
        """The look-up, unless somebody ends it. Raises DownloadCancelledError then."""
        task = self._asking[curi] = asyncio.ensure_future(self._lookup(name, wants_ipv6=wants_ipv6))
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled() or (current := asyncio.current_task()) is None or current.cancelling():
                raise  # it was not the look-up that somebody ended
            if curi in self._cancelled:
                curi.status, curi.error_text = status.PROCESSING_KILLED, "cancelled by the operator"
            else:
                curi.deferral = "stopped"
            raise DownloadCancelledError(f"the look-up of {name} was ended") from None
        finally:
            del self._asking[curi]
            self._cancelled.discard(curi)

    async def _lookup(self, name: str, *, wants_ipv6: bool) -> Lookup:
        """Ask once for all who want to know at the moment."""
        key = (name, wants_ipv6)
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.ensure_future(self._ask(name, wants_ipv6))
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(task)

    async def _ask(self, name: str, wants_ipv6: bool) -> Lookup:
        async with self._turns.turn(registered_domain(name)):
            return await self._resolver.lookup(name, ("AAAA", "A") if wants_ipv6 else ("A",))

    def _has_ipv6(self) -> bool:
        """Whether this machine reaches IPv6 hosts; looked at anew every minute."""
        now = self.crawl.clock.monotonic()
        if self._ipv6 is None or now - self._ipv6[0] > 60:
            self._ipv6 = (now, has_ipv6_route())
        return self._ipv6[1]

    def _settled(self, curi: CrawlURI) -> None:
        """No try of this look-up is left: the URIs that wait for it need not wait longer."""
        if curi.status == status.DOMAIN_UNRESOLVABLE and curi.scheme == "dns":
            host = self.crawl.hosts.host(curi.host)
            if not host.addresses and not host.final:
                host.final = True
                self.crawl.hosts.host_changed(curi.host)

    def _keep(self, curi: CrawlURI, record: bytes) -> None:
        recorder = curi.recorder = Recorder()
        recorder.response.append(record)
        curi.content_size = curi.content_length = len(record)
        if record:
            curi.digest = recorder.body_digest

    def _failed(self, curi: CrawlURI, code: int, text: str) -> NoReturn:
        curi.status = code
        curi.error_text = text
        error = CannotResolveHostError(text)
        curi.errors.append(("FetchDNS", error))
        raise error

    def _response(self, request: Request, curi: CrawlURI, record: bytes) -> Response:
        return Response(
            url=request.url,
            status=200,
            headers=Headers({"Content-Type": "text/dns"}),
            body=record,
            ip_address=ipaddress.ip_address(curi.server_ip) if curi.server_ip else None,
        )


def resolver_of(view: Any) -> Resolver:
    """Asks the servers that the settings name. Raises ConfigurationError."""
    try:
        servers = Resolver(view.dns_servers)
        if not view.dns_over_http_server:
            return servers
    except ValueError as error:
        raise ConfigurationError("HERITRIX_DNS_SERVERS", view.dns_servers, str(error)) from error
    try:
        return Resolver(view.dns_servers, over_https=view.dns_over_http_server)
    except ValueError as error:
        raise ConfigurationError("HERITRIX_DNS_OVER_HTTP_SERVER", view.dns_over_http_server, str(error)) from error


def ways(name: str, view: Any) -> tuple[bool, bool]:
    """Who is asked for a name: the name servers, and, where they give no address, the operating system (Heritrix:
    FetchDNS.innerProcess)."""
    asks_servers = not view.disable_java_dns_resolves
    return asks_servers, bool(view.accept_non_dns_resolves or not asks_servers or name == "localhost")


def record_text(began_ms: int, sets: Iterable[RecordSet]) -> bytes:
    """The archived text of a look-up (Heritrix: FetchDNS.getDNSRecord).

    A line with 14 digits of UTC time, then one line a record: owner, tabs up to the third column, ttl, class, type and
    address.
    """
    lines = [time.strftime("%Y%m%d%H%M%S", time.gmtime(began_ms // 1000))]
    for each in sets:
        tabs = "\t" * (1 + (len(each.owner) < 16) + (len(each.owner) < 8))
        lines += (f"{each.owner}{tabs}{each.ttl}\tIN\t{each.kind}\t{address}" for address in each.addresses)
    return ("\n".join(lines) + "\n").encode("utf-8")
