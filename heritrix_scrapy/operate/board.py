"""What does one see who watches a crawl? What its events come to, as rows of text and as one line.

Knows no terminal. What servers and pages have said may stand in it, so that nothing unprintable gets through.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.operate.joblog import one_line
from heritrix_scrapy.report.durations import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: What a watcher subscribes to, besides the numbers.
ALERTS = "alerts.log"
SHOWN_ALERTS = 3
SHOWN_HOSTS = 5
#: Queues in these states are told, in this order.
STATES = ("in_process", "ready", "snoozed", "inactive", "retired", "exhausted")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def subscription(every: float) -> dict[str, Any]:
    """The request of a watcher that wants numbers so often, in seconds."""
    events = ["state_changed", "crawl_paused", "crawl_resumed", "checkpointed"]
    return {"events": events, "numbers": every, "logs": [ALERTS], "lines": SHOWN_ALERTS}


def size(count: float) -> str:
    """Bytes in words: ``1.5 GiB``."""
    for unit in _UNITS[:-1]:
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"


class Board:
    """The latest of everything. ``hear(event)`` takes the events of a subscription."""

    def __init__(self) -> None:
        self.numbers: Mapping[str, Any] = {}
        self.state = ""
        self.jobdir = ""
        self.end = ""
        self.reason = ""
        self.alerts: deque[str] = deque(maxlen=SHOWN_ALERTS)

    def hear(self, event: Mapping[str, Any]) -> str | None:
        """Take an event in. What is worth a line of its own comes back as one."""
        name = event.get("event")
        if name in ("hello", "end", "state_changed"):
            self.state = str(event.get("state") or self.state)
            self.end = str(event.get("end") or self.end)
        if name == "hello":
            self.jobdir, self.reason = one_line(str(event.get("jobdir") or "")), _text(event.get("reason"))
        elif name == "numbers":
            self.numbers, self.state = event, str(event.get("state") or self.state)
            self.reason = _text(event.get("reason"))
        elif name == "crawl_paused":
            self.reason = _text(event.get("reason"))
            return f"paused: {self.reason}"
        elif name == "crawl_resumed":
            self.reason = ""
            return "the crawl goes on"
        elif name == "checkpointed":
            return f"checkpoint {_text(event.get('name'))}"
        elif name == "log":
            lines = [one_line(line) for line in event["lines"]]
            self.alerts.extend(lines)
            return "\n".join(lines)
        elif name == "end":
            return f"{self.state or 'FINISHED'}: {self.end}"
        return None

    @property
    def done(self) -> tuple[int, int]:
        """URIs that have come to their end, and all that there are."""
        uris = self.numbers.get("uris") or {}
        ended = sum(uris.get(each, 0) for each in ("succeeded", "failed", "disregarded"))
        return ended, ended + uris.get("queued", 0)

    def line(self) -> str:
        """The numbers in one line."""
        if not self.numbers:
            return f"{self.state} {self.jobdir}".rstrip()
        numbers, (ended, known) = self.numbers, self.done
        uris, rates, fetching = numbers["uris"], numbers["rates"], numbers["fetching"]
        parts = [
            self.state + (f" ({self.reason})" if self.reason else ""),
            duration(numbers.get("elapsed_ms") or 0, 2),
            f"{ended} of {known} URIs, {uris['failed']} failed",
            f"{_rate(rates['uris_per_second'])} URIs/s",
            f"{_rate(rates['kib_per_second'])} KiB/s",
            size(numbers["bytes"]["total"]),
            f"{fetching['in_use']}/{fetching['slots']} in flight",
            f"{numbers.get('alerts') or 0} alerts",
        ]
        return ", ".join(parts)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Name and text of each row."""
        yield self.state or "-", self.reason or self.jobdir
        numbers = self.numbers
        if not numbers:
            return
        uris, rates, fetching = numbers["uris"], numbers["rates"], numbers["fetching"]
        ended, known = self.done
        yield (
            "URIs",
            f"{ended} of {known}: {uris['succeeded']} fetched, {uris['failed']} failed,"
            f" {uris['disregarded']} disregarded; {uris['retried']} retries"
            + (f"; {uris['future']} to be fetched again" if uris.get("future") else ""),
        )
        yield (
            "rate",
            f"{_rate(rates['uris_per_second'])} URIs/s ({_rate(rates['average_uris_per_second'])} on average),"
            f" {_rate(rates['kib_per_second'])} KiB/s ({_rate(rates['average_kib_per_second'])})",
        )
        yield "data", f"{size(numbers['bytes']['total'])}, {size(numbers['bytes']['novel'])} of it new"
        queues = numbers["queues"]
        states = (f"{queues[each]} {each.replace('_', ' ')}" for each in STATES if queues.get(each))
        yield "queues", f"{queues.get('known', 0)}: " + (", ".join(states) or "none")
        steps = ", ".join(f"{count} {_text(step)}" for step, count in fetching["steps"].items())
        yield "in flight", f"{fetching['in_use']} of {fetching['slots']}" + (f": {steps}" if steps else "")
        hosts = ", ".join(f"{_text(each['host'])} ({each['uris']})" for each in numbers["hosts"][:SHOWN_HOSTS])
        yield "top hosts", hosts or "-"
        yield (
            "disk",
            ", ".join(f"{size(each['free'])} free of {size(each['total'])}" for each in numbers["disks"]) or "-",
        )
        yield "memory", size(numbers["memory"])
        yield "alerts", str(numbers.get("alerts") or 0)
        for alert in self.alerts:
            yield "", alert


def _text(value: Any) -> str:
    return one_line(str(value or ""))


def _rate(value: float | None) -> str:
    return "-" if value is None else str(value)
