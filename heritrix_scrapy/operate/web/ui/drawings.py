"""What was drawn a moment ago is shown to everyone who asks soon after; with bounded memory.

However many look, a crawl pays for one drawing in each while. The while grows with the time that a drawing takes, so
that a crawl which is hard pressed, whose turns come late, is bothered less. Without a clock of its own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

#: Seconds for which a drawing is good at least and at most, and how often the time that it took goes into it.
LEAST: Final = 4.0
MOST: Final = 60.0
RARELY: Final = 25.0
#: Drawings that are kept.
KEPT: Final = 64


class _Drawing:
    __slots__ = ("good_until", "lock", "made")

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self.good_until = float("-inf")
        self.lock = asyncio.Lock()


class Drawings:
    """Drawings by what they show and for whom. ``now``: seconds, a clock that only goes forward."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._kept: OrderedDict[Hashable, _Drawing] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    async def of(self, key: Hashable, draw: Callable[[], Awaitable[dict[str, str]]]) -> dict[str, str]:
        """The drawing of a key, made now if there is none that is good. Whoever asks meanwhile waits for it."""
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = _Drawing()
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        async with kept.lock:
            began = self._now()
            if began >= kept.good_until:
                kept.made = await draw()
                took = self._now() - began
                kept.good_until = began + min(max(LEAST, RARELY * took), MOST)
        return kept.made

    def forget(self) -> None:
        """Something was done: nothing that is there is good."""
        self._kept.clear()
