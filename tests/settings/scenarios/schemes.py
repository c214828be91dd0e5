"""Scenarios of name look-ups, FTP and whois."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.fetch import ftp, whois
from heritrix_scrapy.fetch.dns_handler import ways
from heritrix_scrapy.fetch.preconditions import is_wanted
from heritrix_scrapy.model.crawluri import CrawlURI
from tests.settings.scenarios import Scenario, at, plain

if TYPE_CHECKING:
    from heritrix_scrapy.settings import Settings


def login(settings: Settings, host: str) -> Any:
    """Whom an FTP server is told."""
    return ftp.login(f"ftp://{host}/x", at(settings, host).settings)


def links(settings: Settings, host: str) -> str:
    """What a directory leads to."""
    return plain(ftp.found(f"ftp://{host}/dir", [b"name"], at(settings, host).settings), host)


def questions(settings: Settings, host: str) -> int:
    """How many questions whois is asked because of a page."""
    return len(whois.inferred(f"http://{host}/", ["192.0.2.1"], at(settings, host).settings))


def fetched(settings: Settings, host: str) -> bool:
    """Whether a URI of another scheme is fetched."""
    return is_wanted(CrawlURI(f"ftp://{host}/x", path="L"), at(settings, host).settings)


def who_is_asked(settings: Settings, host: str) -> Any:
    """Who is asked for the address of a host."""
    return ways("name.example", at(settings, host).settings)


SCENARIOS = {
    "DISABLE_JAVA_DNS_RESOLVES": Scenario(True, who_is_asked),
    "FETCH_FTP": Scenario(False, fetched),
    "FTP_USERNAME": Scenario("other", login),
    "FTP_PASSWORD": Scenario("other", login),
    "FTP_EXTRACT_FROM_DIRS": Scenario(False, links),
    "FTP_EXTRACT_PARENT": Scenario(False, links),
    "FETCH_WHOIS": Scenario(True, questions),
}
