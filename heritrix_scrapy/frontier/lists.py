"""Which queues wait, for what, and which comes first?

Class keys only: the queues themselves may be in the store. A key whose queue has moved on meanwhile is dropped
when it is met.
"""

from __future__ import annotations

from collections import Counter, deque
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Lists:
    """``ready``: may emit now, first come first served; ``tiers``: the inactive ones by precedence, each first
    come first served, no tier empty; ``snoozed``: heap of (wake time, class key); ``retired``: in the order of
    their retirement."""

    def __init__(self) -> None:
        self.ready: deque[str] = deque()
        self.tiers: dict[int, deque[str]] = {}
        #: Every precedence that a queue has had, for the report.
        self.ever: set[int] = set()
        self.snoozed: list[tuple[int, str]] = []
        self.retired: deque[str] = deque()
        #: Entries of tiers whose queue was retired meanwhile: should it come back, it must not have its old place.
        self._left: Counter[tuple[int, str]] = Counter()

    def best(self) -> int | None:
        """Lowest precedence with an inactive queue."""
        return min(self.tiers, default=None)

    def deactivate(self, class_key: str, precedence: int) -> None:
        """To the tail of its tier."""
        tier = self.tiers.get(precedence)
        if tier is None:
            tier = self.tiers[precedence] = deque()
            self.ever.add(precedence)
        tier.append(class_key)

    def poll(self, precedence: int) -> str | None:
        """Take the first of a tier; None when it has left its place."""
        tier = self.tiers[precedence]
        class_key = tier.popleft()
        if not tier:
            del self.tiers[precedence]
        if self._left and (entry := (precedence, class_key)) in self._left:
            self._left[entry] -= 1
            if not self._left[entry]:
                del self._left[entry]
            return None
        return class_key

    def leave(self, class_key: str, precedence: int) -> None:
        """An inactive queue is none any more; its entry goes when it is met."""
        self._left[precedence, class_key] += 1

    def snooze(self, class_key: str, wake_ms: int) -> None:
        """Until ``wake_ms``."""
        heappush(self.snoozed, (wake_ms, class_key))

    def due(self, now_ms: int) -> tuple[int, str] | None:
        """Take the next whose time has come."""
        if self.snoozed and self.snoozed[0][0] <= now_ms:
            return heappop(self.snoozed)
        return None

    def next_wake(self) -> int | None:
        """When the next wakes."""
        return self.snoozed[0][0] if self.snoozed else None

    def take_snoozed(self) -> list[tuple[int, str]]:
        """All snoozed ones, by wake time; none stay."""
        taken, self.snoozed = sorted(self.snoozed), []
        return taken

    def first_snoozed(self, limit: int) -> list[tuple[int, str]]:
        """Those that wake first; they stay. Looks at no more of the heap than it has to."""
        heap = self.snoozed
        found: list[tuple[int, str]] = []
        edge = [(*heap[0], 0)] if heap else []
        while edge and len(found) < limit:
            wake_ms, class_key, at = heappop(edge)
            found.append((wake_ms, class_key))
            for child in (2 * at + 1, 2 * at + 2):
                if child < len(heap):
                    heappush(edge, (*heap[child], child))
        return found

    def take_retired(self) -> list[str]:
        """All retired ones; none stay."""
        taken = list(self.retired)
        self.retired.clear()
        return taken

    def restore(
        self, tiers: Iterable[tuple[int, list[str]]], snoozed: list[tuple[int, str]], retired: list[str]
    ) -> None:
        """Fill the lists on opening. ``tiers``: a precedence, and the class keys of its queues in their order."""
        for precedence, class_keys in tiers:
            self.tiers[precedence] = deque(class_keys)
            self.ever.add(precedence)
        self.snoozed = snoozed
        heapify(self.snoozed)
        self.retired.extend(retired)
