"""For how long has the crawl run, pauses left out?

Downtime between two launches counts as a pause (Heritrix: StatisticsTracker.getCrawlElapsedTime). No clock of its
own: seconds that only grow are handed in.
"""

from __future__ import annotations


class Elapsed:
    """``ran_ms``: what earlier launches of the same crawl ran."""

    def __init__(self, ran_ms: int = 0) -> None:
        self._ran_ms = ran_ms
        self._since: float | None = None

    def go(self, now: float) -> None:
        """It runs from now on."""
        if self._since is None:
            self._since = now

    def halt(self, now: float) -> None:
        """It pauses, or is over."""
        self._ran_ms, self._since = self.ms(now), None

    def ms(self, now: float) -> int:
        """Milliseconds that it has run."""
        return self._ran_ms + (0 if self._since is None else max(int((now - self._since) * 1000), 0))
