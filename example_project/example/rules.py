"""A rule of scope of the project's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.scope import DecideRule, Decision

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI


class NoPrintVersions(DecideRule):
    """Leaves out the versions of pages that are made for printing."""

    def evaluate(self, curi: CrawlURI) -> Decision:
        return Decision.REJECT if curi.uri.endswith("?print=1") else Decision.NONE
