"""Which addresses are fetched from at this moment, which rest, and who comes next at each?

Many names may lead to one machine. With ``HERITRIX_POLITENESS_PER_ADDRESS`` the queues of such names take turns: one
fetch at a time from an address, and the rest after it binds all of them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.hosts import Hosts

#: A queue whose turn has not come looks again after so long, in case nobody calls it.
LOOK_AGAIN_MS = 30_000
#: The queue that is next has so long to come before others may.
GRACE_MS = 1000
#: Addresses remembered before those that nobody waits for are forgotten.
REMEMBERED = 10_000


class Address:
    """``holder``: the queue whose URI is being fetched; ``free_ms``: when the address has rested; ``rest_ms``: for how
    long it was to rest; ``waiting``: queues in the order in which they asked; ``called``: the one whose turn it is
    then."""

    __slots__ = ("called", "free_ms", "holder", "rest_ms", "waiting")

    def __init__(self) -> None:
        self.holder: str | None = None
        self.free_ms = self.rest_ms = 0
        self.called: str | None = None
        self.waiting: deque[str] = deque()


class Addresses:
    """The addresses that queues share. Nothing is stored: a queue that waits is snoozed, which is."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self._addresses: dict[str, Address] = {}
        #: Queue → the address it fetches from.
        self._held: dict[str, Address] = {}

    def claim(self, curi: CrawlURI, class_key: str, now_ms: int) -> int:
        """Take the address of a URI's host for its queue. 0 when it is taken, or not known; else until when the queue
        has to wait before it asks again."""
        if not curi.uri.startswith(("http://", "https://", "ftp://")):
            return 0
        known = self.hosts.host(curi.host).addresses
        if not known:
            return 0
        address = self._addresses.get(known[0])
        if address is None:
            if len(self._addresses) >= REMEMBERED:
                self._forget(now_ms)
            address = self._addresses[known[0]] = Address()
        # never longer than it was to rest, however the clock has been set meanwhile
        address.free_ms = min(address.free_ms, now_ms + address.rest_ms)
        if address.holder is not None:
            return self._wait(address, class_key, now_ms + LOOK_AGAIN_MS)
        if now_ms < address.free_ms:
            if address.called in (None, class_key):
                address.called = class_key
                return address.free_ms
            return self._wait(address, class_key, now_ms + LOOK_AGAIN_MS)
        if address.called not in (None, class_key) and now_ms < address.free_ms + GRACE_MS:
            return self._wait(address, class_key, address.free_ms + GRACE_MS)
        address.holder, address.called = class_key, None
        if class_key in address.waiting:
            address.waiting.remove(class_key)
        self._held[class_key] = address
        return 0

    @staticmethod
    def _wait(address: Address, class_key: str, until_ms: int) -> int:
        if class_key not in address.waiting:
            address.waiting.append(class_key)
        return until_ms

    def release(self, class_key: str, delay_ms: int, now_ms: int) -> tuple[str, int] | None:
        """The URI of a queue came back; its address rests. The queue that is next, and when it may come."""
        address = self._held.pop(class_key, None)
        if address is None:
            return None
        address.holder = None
        address.rest_ms = max(delay_ms, 0)
        address.free_ms = now_ms + address.rest_ms
        if not address.waiting:
            return None
        address.called = address.waiting.popleft()
        return address.called, address.free_ms

    def _forget(self, now_ms: int) -> None:
        for name, address in list(self._addresses.items()):
            if address.holder is None and not address.waiting and address.free_ms + GRACE_MS <= now_ms:
                del self._addresses[name]
