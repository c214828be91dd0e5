"""What does a URI cost its queue? Heritrix's four answers (spec 4.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from heritrix_scrapy.frontier.policies.contract import CostAssignmentPolicy, Given

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI


class ShippedCost(CostAssignmentPolicy):
    """``fixed``: what every URI costs, where all cost the same."""

    PROPERTIES: ClassVar[dict[str, str]] = {}
    fixed: int | None = None

    def __init__(self, given: Given) -> None: ...


class UnitCostAssignmentPolicy(ShippedCost):
    """Every URI costs 1."""

    fixed = 1

    def cost_of(self, curi: CrawlURI) -> int:
        return 1


class ZeroCostAssignmentPolicy(ShippedCost):
    """No URI costs anything: budgets never end."""

    fixed = 0

    def cost_of(self, curi: CrawlURI) -> int:
        return 0


class WagCostAssignmentPolicy(ShippedCost):
    """1; 2 with a query; 3 when the page it was found on begins with the URI up to its query."""

    def cost_of(self, curi: CrawlURI) -> int:
        page, mark, _ = curi.uri.partition("?")
        if not mark:
            return 1
        return 3 if curi.via is not None and curi.via.startswith(page) else 2


_CALENDAR = re.compile(
    r"calendar|year|month|day|date|viewcal|event|yr=|calendrier|jour|\D19\d\d\D|\D20\d\d\D", re.IGNORECASE | re.ASCII
)


class AntiCalendarCostAssignmentPolicy(ShippedCost):
    """1; 2 for what looks like a page of a calendar, by its words or a year."""

    def cost_of(self, curi: CrawlURI) -> int:
        return 2 if _CALENDAR.search(curi.uri) else 1


CLASSES: tuple[type[ShippedCost], ...] = (
    UnitCostAssignmentPolicy,
    ZeroCostAssignmentPolicy,
    WagCostAssignmentPolicy,
    AntiCalendarCostAssignmentPolicy,
)
