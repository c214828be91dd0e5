"""How are the numbers of a crawl written on a page? Plain functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.operate.board import size
from heritrix_scrapy.report.durations import duration

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE: Final = "–"

#: States of queues in the order shown → what they are called.
QUEUES: Final = {
    "in_process": "in process",
    "ready": "ready",
    "snoozed": "snoozed",
    "inactive": "inactive",
    "retired": "retired",
    "exhausted": "exhausted",
}


def count(value: float | None) -> str:
    """``12 345``, with spaces that do not break."""
    return NONE if value is None else f"{value:,.0f}".replace(",", "\u202f")


def rate(value: float | None) -> str:
    """A number a second."""
    if value is None:
        return NONE
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else count(value)


def amount(value: float | None) -> str:
    """Bytes."""
    return NONE if value is None else size(value)


def kib(value: float | None) -> str:
    """KiB a second."""
    return NONE if value is None else f"{size(value * 1024)}/s"


def time(ms: float | None) -> str:
    """A length of time, its two largest units."""
    return NONE if ms is None else duration(int(ms) // 1000 * 1000, 2).replace("0ms", "0s")


def figures(numbers: Mapping[str, Any]) -> dict[str, str]:
    """Every number that changes while one looks, by the name under which the page has it."""
    told = {"state": str(numbers.get("state") or NONE), "reason": str(numbers.get("reason") or "")}
    uris = numbers.get("uris")
    if not uris:
        return told
    rates, fetching, queues = numbers["rates"], numbers["fetching"], numbers["queues"]
    ended = uris["succeeded"] + uris["failed"] + uris["disregarded"]
    disks = numbers.get("disks") or []
    free = min((each["free"] for each in disks), default=None)
    return {
        **told,
        "elapsed": time(numbers.get("elapsed_ms")),
        "ended": count(ended),
        "known": count(ended + uris["queued"]),
        "progress": f"{100 * ended / (ended + uris['queued']):.0f} %" if ended + uris["queued"] else NONE,
        "rate": rate(rates["uris_per_second"]),
        "rate-average": rate(rates["average_uris_per_second"]),
        "kib": kib(rates["kib_per_second"]),
        "kib-average": kib(rates["average_kib_per_second"]),
        "bytes": amount(numbers["bytes"]["total"]),
        "novel": amount(numbers["bytes"]["novel"]),
        "in-flight": count(fetching["in_use"]),
        "slots": count(fetching["slots"]),
        "memory": amount(numbers["memory"]) if numbers["memory"] else NONE,
        "free": amount(free),
        "alerts": count(numbers.get("alerts") or 0),
        **{f"uris-{name}": count(value) for name, value in uris.items()},
        **{f"queues-{name}": count(queues.get(name, 0)) for name in ("known", *QUEUES)},
    }


def tone(state: str) -> str:
    """How a state is coloured: ``good``, ``slow``, ``over`` or ``plain``."""
    return {
        "RUNNING": "good",
        "PAUSED": "slow",
        "PAUSING": "slow",
        "EMPTY": "slow",
        "STOPPING": "slow",
        "FINISHED": "over",
    }.get(state, "plain")
