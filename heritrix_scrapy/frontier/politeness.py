"""How long must a queue rest after a fetch, and before another try?

Plain functions of settings and times (Heritrix: DispositionProcessor.politenessDelayFor,
AbstractFrontier.retryDelayFor). All times in milliseconds.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.status import RUNTIME_EXCEPTION, Retry, lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

logger = logging.getLogger(__name__)

#: Rest of a queue whose URI died before its delay was known.
UNKNOWN_DELAY_MS = 5000


def politeness_delay(
    view: Any, began_ms: int | None, ended_ms: int | None, *, crawl_delay: float | None = None, wait_ms: int = 0
) -> int:
    """Rest after a fetch that lasted from ``began_ms`` to ``ended_ms``; 0 for a URI that was never fetched.

    ``crawl_delay``: seconds that the server's robots.txt asks for, None when it does not say; ``wait_ms``: what
    the host's share of bandwidth asks for (see ``bandwidth_wait``). Factor, least and greatest rest bind in
    this order; only Crawl-delay and bandwidth may exceed the greatest.
    """
    if began_ms is None or ended_ms is None:
        return 0
    delay = int(view.delay_factor * (ended_ms - began_ms))
    least, most = int(view.min_delay_ms), int(view.max_delay_ms)
    if delay < least:
        delay = least
    if delay > most:
        delay = most
    if crawl_delay is not None:
        respected: int = view.respect_crawl_delay_up_to_seconds * 1000
        if delay < respected:
            delay = max(delay, min(int(crawl_delay * 1000), respected))
    return wait_ms if wait_ms > delay else delay


def bandwidth_wait(size: int, kb_per_second: int) -> int:
    """Rest that keeps a host at ``kb_per_second`` KiB a second after ``size`` bytes; 0 without a limit.

    Heritrix makes the host wait for the fetch before this one.
    """
    if kb_per_second <= 0 or size <= 0:
        return 0
    return int(size / (kb_per_second * 1.024))


def retry_delay(view: Any, status: int) -> int:
    """Rest of the queue before the same URI is tried again."""
    return int(view.retry_delay_seconds * 1000) if lookup(status).retry is Retry.LATER else 0


#: Hosts remembered with what they are owed.
OWING = 10_000


class Rest:
    """How long the queue of a finished URI rests. ``crawl_delay``: seconds that robots.txt asks for between two
    fetches from the URI's server, or None."""

    def __init__(self, hosts: Hosts, crawl_delay: Callable[[CrawlURI], float | None] | None, *, heritrix: bool) -> None:
        self._hosts = hosts
        self._crawl_delay = crawl_delay
        self._heritrix = heritrix
        #: Host → until when its share of bandwidth is used up, and how long that was when it was written down.
        self._owed: dict[str, tuple[int, int]] = {}

    def after(self, curi: CrawlURI, now_ms: int) -> int:
        """Rest of the queue after this URI; what the server asked for binds too."""
        view = curi.settings
        delay = curi.delay_ms
        if delay < 0:
            if curi.status == RUNTIME_EXCEPTION:
                delay = UNKNOWN_DELAY_MS
            else:
                delay = politeness_delay(
                    view,
                    curi.began_ms,
                    curi.ended_ms,
                    crawl_delay=self._asked_delay(curi),
                    wait_ms=self._bandwidth(curi, now_ms),
                )
        asked = self.asked(curi, now_ms)
        return asked if asked > delay else delay

    def asked(self, curi: CrawlURI, now_ms: int) -> int:
        """For how long the server still wants to be left alone (Retry-After); 0 in the heritrix profile."""
        if self._heritrix or not curi.uri.startswith("http"):
            return 0
        server = self._hosts.server_of(curi.uri)
        return 0 if server is None else server.pause_left(now_ms)

    def _bandwidth(self, curi: CrawlURI, now_ms: int) -> int:
        """What the share of bandwidth asks for, of all queues of the URI's host together."""
        kb_per_second: int = curi.settings.max_per_host_bandwidth_usage_kb_sec
        if kb_per_second <= 0 or curi.began_ms is None:
            return 0
        host = curi.host
        until, owed = self._owed.get(host, (0, 0))
        # never more than was owed, however the clock may have jumped
        wait = max(0, min(until - now_ms, owed)) + bandwidth_wait(curi.content_size, kb_per_second)
        if len(self._owed) >= OWING:
            self._owed = {name: entry for name, entry in self._owed.items() if entry[0] > now_ms}
        self._owed[host] = (now_ms + wait, wait)
        return wait

    def _asked_delay(self, curi: CrawlURI) -> float | None:
        if self._crawl_delay is None or curi.began_ms is None:
            return None
        try:
            return self._crawl_delay(curi)
        except Exception:
            logger.exception("the crawl delay for %s could not be found", curi.uri)
            return None
