"""Does the operator block this URI, now that its turn has come?

Heritrix: Preselector.innerProcessResult. Judged again at each fetch, since settings may have changed while the
URI waited in its queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import status
from heritrix_scrapy.uri.java_match import matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.crawluri import CrawlURI


def preselect(curi: CrawlURI, view: Any, in_scope: Callable[[CrawlURI], bool]) -> int:
    """0, or the status that ends the URI without a fetch: -5001 blocked, -5000 out of scope.

    A prerequisite (an address, robots.txt) is judged only with ``HERITRIX_PRESELECT_PREREQUISITES``: blocked,
    every URI that needs it would be deferred until its tries are used up.
    """
    if not (view.block_all or view.allow_by_regex or view.block_by_regex or view.recheck_scope):
        return 0
    if not view.preselect_prerequisites and (curi.is_prerequisite or curi.uri.startswith("dns:")):
        return 0
    if view.block_all:
        return status.BLOCKED_BY_USER
    if view.allow_by_regex and not matches(view.allow_by_regex, curi.uri):
        return status.BLOCKED_BY_USER
    if view.block_by_regex and matches(view.block_by_regex, curi.uri):
        return status.BLOCKED_BY_USER
    if view.recheck_scope and not in_scope(curi):
        return status.OUT_OF_SCOPE
    return 0


def matches(expression: str, text: str) -> bool:
    """Whether an operator's expression, in Java's language, matches the whole text."""
    return matcher(expression)(text)
