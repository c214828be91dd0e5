"""Which queue fetches what several queues need first?

The one that asked first: an address that http and port 8080 of a host both need, the robots.txt of a site that is
spread over parallel queues. The others sleep until it has come (Heritrix has each queue fetch its own). All this is in
memory: after a restart a sleeping queue wakes by its time and asks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.states import ACTIVE, State

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.ledger import Ledger
    from heritrix_scrapy.frontier.queues import Queues
    from heritrix_scrapy.model.crawluri import CrawlURI

#: A queue that nobody woke asks again after so long: the other's URI may have been deleted.
LOOK_AGAIN_MS = 60_000
#: Prerequisites remembered; beyond that they are fetched by each queue.
REMEMBERED = 50_000


class Siblings:
    """Prerequisites that wait in queues, and who waits for them in others."""

    def __init__(self, ledger: Ledger, queues: Queues) -> None:
        self._ledger = ledger
        self._queues = queues
        #: Prerequisite → class key and row of the one that is queued.
        self._queued: dict[str, tuple[str, bytes]] = {}
        #: Prerequisite → class keys of the queues that sleep until it has come.
        self._waiting: dict[str, set[str]] = {}
        #: Class key → what it sleeps for, and until when.
        self._asleep: dict[str, tuple[str, int]] = {}

    def queued(self, child: CrawlURI) -> None:
        """A prerequisite has its place in a queue."""
        assert child.queue_key is not None
        if len(self._queued) >= REMEMBERED:
            self._queued.clear()
        self._queued[child.uri] = (child.class_key, child.queue_key)

    def fetched_elsewhere(self, curi: CrawlURI) -> bool:
        """Whether another queue, one that works, is about to fetch what this URI needs. One that is a prerequisite
        itself waits for addresses only, so that no two can wait for each other."""
        uri = curi.prerequisite or ""
        place = self._queued.get(uri)
        if place is None or place[0] == curi.class_key or (curi.is_prerequisite and not uri.startswith("dns:")):
            return False
        queue = self._queues.get(place[0])
        if queue is None or queue.retiring or State(queue.record.state) not in (*ACTIVE, State.SNOOZED):
            return False
        if self._ledger.get(place[1]) is None:
            del self._queued[uri]
            return False
        return True

    def wait(self, curi: CrawlURI, now_ms: int) -> int:
        """Its queue is to sleep; for how long at most."""
        assert curi.prerequisite is not None
        self._waiting.setdefault(curi.prerequisite, set()).add(curi.class_key)
        self._asleep[curi.class_key] = (curi.prerequisite, now_ms + LOOK_AGAIN_MS)
        return LOOK_AGAIN_MS

    def ended(self, uri: str) -> None:
        """A URI has come to its end: whoever slept for it wakes, unless it sleeps for something else by now."""
        if self._queued.pop(uri, None) is None and uri not in self._waiting:
            return
        for class_key in sorted(self._waiting.pop(uri, ())):
            _, wake_ms = self._asleep.pop(class_key, ("", -1))
            queue = self._queues.get(class_key)
            if queue is not None and queue.record.wake_ms == wake_ms:
                self._queues.wake_now(queue)

    def waits_for(self, class_key: str, wake_ms: int) -> str | None:
        """What a sleeping queue waits for and which queue fetches it, in words; None when it sleeps for another
        reason."""
        uri, until = self._asleep.get(class_key, ("", -1))
        if until != wake_ms:
            return None
        other = self._queued.get(uri)
        return uri if other is None else f"{uri}, which queue {other[0]} fetches"
