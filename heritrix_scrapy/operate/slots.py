"""Do all slots of a crawl wait, and for whom?

A crawl whose slots are taken by servers that say nothing looks as if it did nothing. ``slots`` tells what each fetch
waits for; it reads no clock.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.crawl import InFlight

#: Hosts that are named, those with most slots first.
NAMED = 10
#: What a fetch does that does not wait.
RECEIVING = "receiving"


def slots(flights: Iterable[InFlight], limit: int, now_ms: int) -> dict[str, Any]:
    """``limit``: fetches at once. ``waiting``: those without a byte of an answer yet, by host; ``longest_s``: how long
    the oldest of them has waited; ``all_wait``: no slot is free, and none receives."""
    found = list(flights)
    waiting = [flight for flight in found if flight.step != RECEIVING]
    hosts = Counter(flight.curi.host for flight in waiting)
    oldest = min((flight.curi.began_ms or now_ms for flight in waiting), default=now_ms)
    all_wait = len(waiting) >= limit
    named = ", ".join(f"{host} ({count})" for host, count in hosts.most_common(NAMED))
    others = len(hosts) - NAMED
    answer: dict[str, Any] = {
        "slots": limit,
        "in_use": len(found),
        "waiting": len(waiting),
        "longest_s": (now_ms - oldest) // 1000,
        "all_wait": all_wait,
        "waits_for": dict(hosts.most_common(NAMED)),
    }
    if all_wait:
        answer["reason"] = f"all {limit} slots wait: for {named}" + (f" and {others} other hosts" if others > 0 else "")
    return answer
