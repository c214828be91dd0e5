"""How is the crawl getting on, in the few numbers that one wants to see again and again?

A small part of the status, quick to make, for subscriptions and live views: nothing is read from the store, and of
the disks only how much room they have.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.report import crawled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.crawl import InFlight
    from heritrix_scrapy.operate.disk import Room

#: Milliseconds that the busiest hosts are counted over at least; at most twice as long where somebody keeps asking.
BACK_MS = 30_000
#: Hosts told, and kept apart in that time.
HOSTS = 10
KEPT = 10_000

#: Counters of the frontier that are told, and what they are called.
URIS = {
    "succeeded": "succeeded",
    "failed": "failed",
    "disregarded": "disregarded",
    "retried": "retried",
    "discovered": "discovered",
    "queued": "queued",
    "in process": "in_process",
    "to be fetched again": "future",
}


class Busiest:
    """From which hosts did most URIs come to their end within the last half a minute or so?"""

    def __init__(self) -> None:
        self._now: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._since: int | None = None

    def count(self, host: str) -> None:
        """A URI of that host has come to its end."""
        if len(self._now) < KEPT or host in self._now:
            self._now[host] += 1

    def hosts(self, now_ms: int) -> list[dict[str, Any]]:
        """``host`` and ``uris``, most first."""
        if self._since is None:
            self._since = now_ms
        elif now_ms - self._since >= BACK_MS:
            self._before, self._now, self._since = self._now, Counter(), now_ms
        return [{"host": host, "uris": count} for host, count in (self._before + self._now).most_common(HOSTS)]


def glance(
    told: Mapping[str, Any],
    frontier: Mapping[str, Any],
    tallies: Mapping[str, int],
    *,
    flights: Iterable[InFlight],
    slots: int,
    current: tuple[float, float] | None,
    hosts: list[dict[str, Any]],
    rooms: Iterable[Room],
    memory_mib: int,
) -> dict[str, Any]:
    """``told``: state and times; ``frontier``: its status; ``current``: URIs and KiB a second now, None for not yet
    known. Sizes are in bytes."""
    table = crawled.of_counters(tallies)
    size = crawled.total_bytes(table)
    seconds = (told.get("elapsed_ms") or 0) / 1000
    steps = Counter(flight.step for flight in flights)
    succeeded = frontier.get("succeeded", 0)
    return {
        **{name: told.get(name) for name in ("state", "end", "reason", "elapsed_ms", "alerts")},
        "uris": {ours: frontier.get(theirs, 0) for theirs, ours in URIS.items()},
        "queues": {name.replace(" ", "_"): count for name, count in (frontier.get("queues") or {}).items()},
        "bytes": {"total": size, "novel": table.get("novel", 0)},
        "rates": {
            "uris_per_second": None if current is None else round(current[0], 2),
            "kib_per_second": None if current is None else round(current[1], 1),
            "average_uris_per_second": round(succeeded / seconds, 2) if seconds else None,
            "average_kib_per_second": round(size / 1024 / seconds, 1) if seconds else None,
        },
        "fetching": {"slots": slots, "in_use": sum(steps.values()), "steps": dict(steps)},
        "hosts": hosts,
        "disks": [{"path": str(room.path), "free": room.usable, "total": room.total} for room in rooms],
        "memory": memory_mib * 1024 * 1024,
    }
