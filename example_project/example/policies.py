"""Policies of the project's own: which queue, at what cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.policies import CostAssignmentPolicy

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI


class ByDepth(CostAssignmentPolicy):
    """What lies deep costs more: a budget reaches further at the top of a site."""

    def cost_of(self, curi: CrawlURI) -> int:
        return 1 + curi.path_query.count("/") // 3
