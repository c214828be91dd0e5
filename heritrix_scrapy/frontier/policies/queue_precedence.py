"""Which queue comes before others? (spec 11)"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from heritrix_scrapy.frontier.policies.contract import Given, QueuePrecedencePolicy
from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.queue import QueueRecord
    from heritrix_scrapy.model.crawluri import CrawlURI


class BaseQueuePrecedencePolicy(QueuePrecedencePolicy):
    """The same for every queue; sheets make the difference."""

    PROPERTIES: ClassVar[dict[str, str]] = {"base_precedence": "queue_base_precedence"}

    def __init__(self, given: Given) -> None:
        self.base: int = given.value("base_precedence", "queue_base_precedence")

    def precedence(self, queue: QueueRecord, curi: CrawlURI) -> int:
        return self.base


class SuccessCountsQueuePrecedencePolicy(BaseQueuePrecedencePolicy):
    """The base, and 1 for each tier of successes: with ``100,1000`` 1 from 100 on, 2 from 1,100, 3 from 2,100 ..."""

    PROPERTIES: ClassVar[dict[str, str]] = {
        **BaseQueuePrecedencePolicy.PROPERTIES,
        "increment_counts": "increment_counts",
    }

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        written = given.value("increment_counts", "increment_counts")
        self.counts = increments(written)

    def precedence(self, queue: QueueRecord, curi: CrawlURI) -> int:
        return self.base + tiers(queue.tally.successes, self.counts)


class HighestUriQueuePrecedencePolicy(BaseQueuePrecedencePolicy):
    """The base and the lowest precedence of a URI in the queue."""

    by_highest_uri = True


def increments(written: object) -> list[int]:
    """The sizes of the tiers, from ``100,1000`` or a list. Raises ConfigurationError."""
    parts = written.split(",") if isinstance(written, str) else written
    try:
        counts = [int(part) for part in parts]  # type: ignore[attr-defined]
        if not counts or min(counts) < 0:
            raise ValueError
    except (TypeError, ValueError):
        raise ConfigurationError(
            "HERITRIX_INCREMENT_COUNTS", written, "expected whole numbers with commas between them"
        ) from None
    return counts


def tiers(successes: int, counts: list[int]) -> int:
    """How many tiers so many successes fill; the last one repeats, unless it is 0, which means no more tiers."""
    filled = 0
    for count in counts:
        if count == 0 or successes < count:
            return filled
        successes -= count
        filled += 1
    return filled + successes // counts[-1]


CLASSES: tuple[type[BaseQueuePrecedencePolicy], ...] = (
    BaseQueuePrecedencePolicy,
    SuccessCountsQueuePrecedencePolicy,
    HighestUriQueuePrecedencePolicy,
)
