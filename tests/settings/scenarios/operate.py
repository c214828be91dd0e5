"""Scenarios of limits: what becomes of a URI whose host has had some, in a crawl that has run for a while."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.utils.test import get_crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.operate.guards import LimitExtension
from tests.settings.scenarios import Scenario, at

if TYPE_CHECKING:
    from heritrix_scrapy.settings import Settings

HOUR = 3_600_000


def limited(settings: Settings, host: str) -> Any:
    """Status and annotations of a URI of the host, and whether the crawl is paused then."""
    crawler = get_crawler(settings_dict={"LOG_LEVEL": "CRITICAL"})
    crawl = Crawl.of(crawler)
    crawl.settings = settings
    crawl.life = SimpleNamespace(ran_ms=lambda: HOUR)  # type: ignore[assignment]
    LimitExtension(crawler)
    crawl.hosts.host(host).tally.successes = 5
    curi = at(settings, host)
    return crawl.check_limits("before_preselector", curi), curi.status, curi.annotations, list(crawl.bridge.pauses)


SCENARIOS = {
    "QUOTAS": Scenario([{"host_max_fetch_successes": 5, "force_retire": False}], limited),
    "RUNTIME_SECONDS": Scenario(60, limited),
    "RUNTIME_EXPIRATION_OPERATION": Scenario("BLOCK_URIS", limited, RUNTIME_SECONDS=60),
}
