"""Is a digest's nonce ours, how old is it, and was it used with this count before? Without a clock of its own.

A nonce carries its time, signed, and is not kept until somebody has used it rightly. From then on its counts are: each
is good once, in any order that lies close together, as those of several connections come (RFC 7616 3.4, 5.5). The
table has bounds: nonces that were made before one which has fallen out of it are good no more.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds for which a nonce is good; after that the client is told that it is stale.
SECONDS: Final = 300
#: How far a count may lie behind the highest one.
BEHIND: Final = 256
#: Nonces whose counts are kept.
MOST: Final = 1024


class Nonces:
    """Nonces of one server. ``now``: seconds, any clock that only goes forward; ``secret``: signs them."""

    def __init__(self, now: Callable[[], float], secret: bytes | None = None, *, most: int = MOST) -> None:
        self._now = now
        self._secret = secret or secrets.token_bytes(32)
        self._most = most
        #: Nonce → its highest count, and which of those up to it were used, the highest as the lowest bit.
        self._used: OrderedDict[str, tuple[int, int]] = OrderedDict()
        #: Time of the youngest nonce that has fallen out of the table, in milliseconds.
        self._forgotten = -1

    def __len__(self) -> int:
        return len(self._used)

    def make(self) -> str:
        """A new one."""
        said = f"{format(int(self._now() * 1000), 'x')}:{secrets.token_hex(8)}"
        return f"{said}:{self._sign(said)}"

    def _sign(self, said: str) -> str:
        return hmac.new(self._secret, said.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:32]

    def age(self, nonce: str) -> float | None:
        """Seconds since a nonce was made; None when it is not ours."""
        said, _, signature = nonce.rpartition(":")
        if not hmac.compare_digest(signature.encode("utf-8", "surrogateescape"), self._sign(said).encode()):
            return None
        return self._now() - _made(nonce) / 1000

    def use(self, nonce: str, count: int) -> bool:
        """Take down that a nonce of ours, which is not too old, was used with a count; False when it was before, or
        when nobody can tell any more."""
        known = self._used.get(nonce)
        if known is None:
            if count < 1 or _made(nonce) <= self._forgotten:
                return False
            self._used[nonce] = count, 1
            self._forget()
            return True
        highest, seen = known
        if count > highest:
            kept = (1 << BEHIND) - 1
            self._used[nonce] = count, ((seen << min(count - highest, BEHIND)) & kept) | 1
            return True
        bit = 1 << (highest - count) if highest - count < BEHIND else 0
        if count < 1 or not bit or seen & bit:
            return False
        self._used[nonce] = highest, seen | bit
        return True

    def _forget(self) -> None:
        """Let go of those that are too old, and of the first ones where there are too many."""
        oldest = (self._now() - SECONDS) * 1000
        while self._used:
            made = _made(next(iter(self._used)))
            if made >= oldest and len(self._used) <= self._most:
                return
            self._used.popitem(last=False)
            self._forgotten = max(self._forgotten, made)


def _made(nonce: str) -> int:
    """When a nonce of ours was made, in milliseconds of the server's clock."""
    return int(nonce.partition(":")[0], 16)
