"""What does a sheet change? For each setting that a sheet may override: a small scenario, in the module of its room,
whose outcome differs where the sheet lies.

``value`` is what the sheet says; ``outcome`` tells, from the settings of a crawl and a host, what happens there: what
a part made of a URI, an answer or a page, never the value read. ``others`` are settings of the whole crawl that the
scenario needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from heritrix_scrapy.model.crawluri import CrawlURI

if TYPE_CHECKING:
    from heritrix_scrapy.settings import Settings

#: The sheet lies on the first host and not on the second.
WITH, WITHOUT = "with.example", "without.example"

Outcome: TypeAlias = Callable[["Settings", str], Any]


class Scenario:
    """How the effect of one setting comes to be seen. ``slow``: it takes its time, and is not tried more often than
    it must."""

    def __init__(self, value: Any, outcome: Outcome, *, slow: bool = False, **others: Any) -> None:
        self.value = value
        self.outcome = outcome
        self.slow = slow
        self.others = {f"HERITRIX_{name}": other for name, other in others.items()}


def at(settings: Settings, host: str, tail: str = "x", path: str = "L", **more: Any) -> CrawlURI:
    """A URI of the host, with the settings that hold for it."""
    more.setdefault("via", f"http://{host}/from")
    curi = CrawlURI(f"http://{host}/{tail}", path=path, **more)
    settings.for_uri(curi)
    return curi


def plain(told: object, host: str) -> str:
    """What is told, without the host that it is told of."""
    return str(told).replace(host.partition(".")[0], "site")
