"""Which are the longest queues, without looking at all of them?

A set of at most n names with their counts (Heritrix: TopNSet). It hears of each change of a queue's count.
"""

from __future__ import annotations


class Largest:
    """The ``size`` names with the largest counts among those heard of. An update replaces the count of a member; a
    newcomer is admitted while there is room, or when it is at least as large as the smallest, which goes."""

    __slots__ = ("_counts", "least", "size")

    def __init__(self, size: int = 20) -> None:
        self.size = size
        self._counts: dict[str, int] = {}
        #: Nobody below it is a member or admitted; it may lag behind the smallest count, never run ahead.
        self.least = -1

    def update(self, name: str, count: int) -> None:
        """The count of a name is now this."""
        counts = self._counts
        if name in counts:
            counts[name] = count
            if count < self.least:
                self.least = count
            return
        if len(counts) < self.size:
            counts[name] = count
            return
        if count < self.least or not counts:
            return
        smallest = min(counts, key=counts.__getitem__)
        self.least = counts[smallest]
        if count >= self.least:
            del counts[smallest]
            counts[name] = count
            self.least = min(counts.values())

    def meet(self, name: str, count: int) -> None:
        """The same for one of very many, where of equals any will do."""
        if count > self.least or name in self._counts or len(self._counts) < self.size:
            self.update(name, count)

    def __contains__(self, name: str) -> bool:
        return name in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def descending(self) -> list[tuple[str, int]]:
        """Names and counts, the largest first."""
        return sorted(self._counts.items(), key=lambda row: (-row[1], row[0]))
