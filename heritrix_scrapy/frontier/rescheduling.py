"""When is a URI that has ended to be fetched again?

After a fixed time (Heritrix: ReschedulingProcessor), or when a policy of the user's own says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import hops

if TYPE_CHECKING:
    from heritrix_scrapy.crawl import Clock, SettingsSource
    from heritrix_scrapy.model.crawluri import CrawlURI


class ReschedulingPolicy(ABC):
    """A policy of the user's own, named by ``HERITRIX_RESCHEDULING_POLICY``."""

    @abstractmethod
    def next_fetch(self, curi: CrawlURI, now_ms: int, settings: Any) -> int | None:
        """When, in milliseconds since the epoch, a URI that ends now is to be fetched again; None: never."""


class Rescheduling:
    """Told of each URI that ends, before it is logged. What a step has asked for stands."""

    def __init__(self, settings: SettingsSource, clock: Clock, policy: ReschedulingPolicy | None = None) -> None:
        self._for_uri = settings.for_uri
        self._clock = clock
        self._policy = policy

    def __call__(self, curi: CrawlURI) -> None:
        if curi.reschedule_at > 0 or curi.is_prerequisite or curi.path[-1:] == hops.PREREQ:
            return
        view, now = self._for_uri(curi), self._clock.now_ms()
        if self._policy is not None:
            curi.reschedule_at = self._policy.next_fetch(curi, now, view) or -1
        elif view.reschedule_delay_seconds > 0:
            curi.reschedule_at = now + int(view.reschedule_delay_seconds * 1000)


def wanted(settings: SettingsSource) -> bool:
    """Whether any URI may have to be fetched again."""
    view = settings.view
    return bool(view.rescheduling_policy) or view.reschedule_delay_seconds > 0 or not settings.uniform
