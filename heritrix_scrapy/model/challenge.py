"""What does a server ask a credential for?"""

from __future__ import annotations

import msgspec


class Challenge(msgspec.Struct, array_like=True):
    """What a server asked a credential for (RFC 7235, 2.1). ``scheme``: ``basic`` or ``digest``; ``parameters``:
    names in lower case; ``count``: how often its nonce was used."""

    scheme: str
    realm: str
    parameters: dict[str, str] = {}
    count: int = 0
