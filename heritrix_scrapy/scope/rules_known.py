"""What does the crawl know of a URI from elsewhere: its address, its country, its queue, its last fetch?

Rules that ask what is known of hosts, the frontier, and the fetch history (``HERITRIX_FETCH_HISTORY``). Made with the
crawler (``from_crawler``); without one they know only what stands on the URI.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.regexes import RegexDecideRule
from heritrix_scrapy.scope.rule import REJECT, Decision, PredicatedDecideRule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI


DAY = 86_400


def address_of(curi: CrawlURI, crawl: Crawl | None) -> str | None:
    """The address that the URI was fetched from, else the first one known of its host."""
    if curi.server_ip:
        return curi.server_ip
    if crawl is None or not curi.host:
        return None
    known = crawl.hosts.host(curi.host).addresses
    return known[0] if known else None


def _parsed(address: str) -> Any:
    try:
        return ipaddress.ip_address(address.strip())
    except ValueError:
        return address.strip()


class OfCrawl(PredicatedDecideRule):
    """A rule that asks the crawl that it is made with."""

    _crawl: Crawl | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, **properties: Any) -> Self:
        rule = cls(**properties)
        rule._crawl = Crawl.of(crawler)
        return rule


class IpAddressSetDecideRule(OfCrawl):
    """Whether the address of the URI's host is one of ``ip_addresses``; an unknown address is not. With
    HERITRIX_RECHECK_SCOPE it is asked again once the address is known."""

    def __init__(self, *, ip_addresses: Iterable[str] = (), decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.ip_addresses = ip_addresses

    @property
    def ip_addresses(self) -> Iterable[str]:
        return self._written

    @ip_addresses.setter
    def ip_addresses(self, value: Iterable[str]) -> None:
        self._written = tuple(value)
        self._addresses = frozenset(_parsed(address) for address in self._written)

    def matches(self, curi: CrawlURI) -> bool:
        address = address_of(curi, self._crawl)
        return address is not None and _parsed(address) in self._addresses


class ExternalGeoLocationDecideRule(OfCrawl):
    """Whether the country of the URI's host is one of ``country_codes``. ``lookup``: an object, or the dotted path
    of a class, with ``country(address)`` that gives a code or None; without it, and for a host without a known
    address, the rule does not apply."""

    read_once = frozenset({"lookup"}).union(PredicatedDecideRule.read_once)

    def __init__(
        self, *, lookup: Any = None, country_codes: Iterable[str] = (), decision: Decision | str | None = None
    ) -> None:
        super().__init__(decision=decision)
        self.lookup = lookup
        self.country_codes = frozenset(country_codes)
        self._known: dict[str, str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, **properties: Any) -> Self:
        from scrapy.utils.misc import build_from_crawler, load_object

        rule = super().from_crawler(crawler, **properties)
        if isinstance(rule.lookup, str):
            rule.lookup = build_from_crawler(load_object(rule.lookup), crawler)
        return rule

    def matches(self, curi: CrawlURI) -> bool:
        if self.lookup is None:
            return False
        address = address_of(curi, self._crawl)
        if address is None:
            return False
        if address not in self._known:
            if len(self._known) >= 100_000:
                self._known.clear()
            self._known[address] = self.lookup.country(address) or "--"
        return self._known[address] in self.country_codes


class ClassKeyMatchesRegexDecideRule(OfCrawl, RegexDecideRule):
    """Whether ``regex`` matches the whole name of the queue that the URI would wait in (``org,example,www,``)."""

    def __init__(self, *, regex: str = ".", decision: Decision | str | None = None) -> None:
        super().__init__(regex=regex, decision=decision)

    def text(self, curi: CrawlURI) -> str:
        ask = None if self._crawl is None else self._crawl.class_key
        return curi.class_key or (ask(curi) if ask is not None else "")


class RecentlySeenDecideRule(OfCrawl):
    """Whether the URI was fetched less than ``interval_seconds`` ago, by the fetch history, which
    HERITRIX_FETCH_HISTORY keeps. What another URI needs first (robots.txt) never was."""

    default_decision = REJECT

    def __init__(self, *, interval_seconds: int = DAY, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.interval_seconds = interval_seconds

    def configure(self, view: Any) -> None:
        if not view.fetch_history:
            raise ConfigurationError("HERITRIX_FETCH_HISTORY", False, "expected True: RecentlySeenDecideRule asks it")

    def matches(self, curi: CrawlURI) -> bool:
        crawl = self._crawl
        if crawl is None or crawl.recall is None or curi.path[-1:] == hops.PREREQ:
            return False
        last = crawl.recall.last_fetch_ms(curi.uri)
        return last is not None and crawl.clock.now_ms() - last < self.interval_seconds * 1000
