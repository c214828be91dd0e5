"""How long has somebody to wait who gave a wrong password? Without a clock of its own, and with bounded memory.

Heritrix lets six seconds pass between two failures, of whoever they are. Here each address has its own time: an
attempt from an address that has just failed is looked at when its turn comes, right or wrong, so that a right one
cannot be told by its speed; one from elsewhere is not held up. At most so many wait, at most so many addresses are
remembered.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from typing import Final

#: Seconds between two failures of one address.
SECONDS: Final = 6.0
#: Attempts of one address that wait, of all addresses, and addresses that are remembered.
WAITING_EACH: Final = 8
WAITING: Final = 64
ADDRESSES: Final = 1024


class Crowded(Exception):
    """Too many wait: the attempt is not looked at. ``seconds``: when to try again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many attempts wait; try again in {seconds:.0f} s")
        self.seconds = seconds


class _Address:
    __slots__ = ("free_at", "waiting")

    def __init__(self) -> None:
        self.free_at = 0.0
        self.waiting = 0


class Delays:
    """Turns of those who fail. Times are seconds of any clock that only goes forward; all are arguments."""

    def __init__(self, seconds: float = SECONDS, *, addresses: int = ADDRESSES) -> None:
        self._seconds = seconds
        self._most = addresses
        self._known: OrderedDict[str, _Address] = OrderedDict()
        self._waiting = 0

    def __len__(self) -> int:
        return len(self._known)

    def wait(self, address: str, now: float) -> float:
        """Seconds until an attempt of an address may be looked at: 0 for one that has not failed. With more than 0,
        ``turn`` has to be called when they are over. Raises Crowded."""
        known = self._known.get(block(address))
        if known is None or known.free_at <= now:
            return 0.0
        seconds = known.free_at - now
        if known.waiting >= WAITING_EACH or self._waiting >= WAITING:
            raise Crowded(seconds)
        known.waiting += 1
        self._waiting += 1
        # whoever comes next waits behind this one
        known.free_at += self._seconds
        return seconds

    def turn(self, address: str) -> None:
        """One that waited is looked at, or has gone."""
        known = self._known.get(block(address))
        if known is not None and known.waiting:
            known.waiting -= 1
        self._waiting = max(self._waiting - 1, 0)

    def failed(self, address: str, now: float) -> None:
        """An attempt was wrong."""
        key = block(address)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Address()
        known.free_at = max(known.free_at, now + self._seconds)
        self._known.move_to_end(key)
        self._forget(now)

    def right(self, address: str) -> None:
        """An attempt was right: the address starts anew, unless others of it wait."""
        key = block(address)
        known = self._known.get(key)
        if known is not None and not known.waiting:
            del self._known[key]

    def _forget(self, now: float) -> None:
        while len(self._known) > self._most:
            for key, each in self._known.items():
                if not each.waiting and (each.free_at <= now or len(self._known) > self._most):
                    del self._known[key]
                    break
            else:
                return


def block(address: str) -> str:
    """Whose time an address shares: an IPv6 address that of its /64, of which one machine has all."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)
