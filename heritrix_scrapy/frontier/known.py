"""Has this text been met before, answered without the store where that is possible?

Asking the store costs twenty times as much as a look into a table that fits into memory, whatever the size of the
crawl. Each URI has one place in the table, by its hash; a later one takes it over. So the answer is "seen", "new", or
"ask the store", never wrong: a place that nobody ever took belongs to no seen URI. The table is not kept on disk; a
process that goes on with a crawl learns from the store's answers, and cannot say "new".
"""

from __future__ import annotations

from mmap import mmap

#: Places: 16 MB, of which the system gives what is used.
SIZE = 1 << 21
MASK = SIZE - 1

#: Nobody has taken the place; somebody has, of whom no more is known.
FREE, TAKEN = 0, 1


class Known:
    """``places``: xxh3 of a text → the same, when that text is its own canonical form and has been seen, else ``FREE``
    or ``TAKEN``; ``complete``: whether every seen URI has taken its place."""

    __slots__ = ("complete", "places")

    def __init__(self) -> None:
        self.clear()

    def take(self, row: bytes) -> None:
        """A URI joined the seen, under this row (see ``keys.seen``)."""
        place = int.from_bytes(row[4:], "big") & MASK
        if self.places[place] == FREE:
            self.places[place] = TAKEN

    def forget(self, row: bytes) -> None:
        """A URI is no longer among the seen."""
        place = int.from_bytes(row[4:], "big") & MASK
        if self.places[place] != FREE:
            self.places[place] = TAKEN

    def clear(self) -> None:
        """Nothing is known: at the start, and when canonical forms are made in another way from now on."""
        self.places = memoryview(mmap(-1, 8 * SIZE)).cast("Q")
        self.complete = False
