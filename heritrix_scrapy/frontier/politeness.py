"""How long must a queue rest after a fetch, and before another try?

Plain functions of settings and times (Heritrix: DispositionProcessor.politenessDelayFor,
AbstractFrontier.retryDelayFor). All times in milliseconds.
"""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model.status import Retry, lookup

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
    delay = min(max(delay, int(view.min_delay_ms)), int(view.max_delay_ms))
    respected: int = view.respect_crawl_delay_up_to_seconds * 1000
    if crawl_delay is not None and delay < respected:
        delay = max(delay, min(int(crawl_delay * 1000), respected))
    return max(delay, wait_ms)


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
