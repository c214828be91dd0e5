"""Who may look a name up next, so that a zone whose servers are dead keeps nobody else waiting?"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Turns:
    """At most ``total`` look-ups begin at once, and at most ``of_zone`` of one zone are on their way. A look-up that
    has no answer after ``patience`` seconds gives its turn back and goes on beside the others, so that slow zones hold
    up none but themselves."""

    def __init__(self, total: int, of_zone: int, patience: float) -> None:
        self._total = asyncio.Semaphore(total)
        self._of_zone = of_zone
        self._patience = patience
        self._zones: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, zone: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it while the block lasts."""
        own = self._zones.get(zone)
        if own is None:
            own = self._zones[zone] = asyncio.Semaphore(self._of_zone)
        async with own:
            await self._total.acquire()
            has_it = True

            def give_back() -> None:
                nonlocal has_it
                if has_it:
                    has_it = False
                    self._total.release()

            timer = asyncio.get_running_loop().call_later(self._patience, give_back)
            try:
                yield
            finally:
                timer.cancel()
                give_back()
