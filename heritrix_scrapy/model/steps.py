"""What may a step of the user's own do to a URI, and when is it asked?

A step is a class named by dotted path in the settings, made by ``from_crawler`` if it has one. It may read
everything on the CrawlURI, add or drop outlinks, set the status (-4000, -4001, -4002 and -5002 are kept for
it), annotations and extra info, ask for a later fetch (``reschedule_at``) and retire the queue (``retire``).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Statuses that no part of ours ever sets.
KEPT_FOR_STEPS = frozenset({-4000, -4001, -4002, -5002})


class Point(Enum):
    """Where in the life of a URI a step is asked."""

    BEFORE_FETCH = "before_fetch"
    AFTER_FETCH = "after_fetch"
    AFTER_EXTRACT = "after_extract"
    DISPOSITION = "disposition"


class Step(Protocol):
    """A step of the user's own, at one of the four points."""

    def process(self, curi: CrawlURI) -> Awaitable[None] | None:
        """Look at the URI and change what a step may change. A status set before the fetch ends the URI
        without one. An exception ends it as -5, with its text in runtime-errors.log."""
