"""What was the last action's message to the one who asked? Shown once, by cookie (Heritrix: Flash); bounded."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

COOKIE: Final = "flashdrop"
MOST: Final = 100
#: Messages that one cookie may name.
EACH: Final = 10

ACK, NACK, ADVISORY = "ACK", "NACK", "ADVISORY"


class Message(NamedTuple):
    """``kind``: ACK, NACK or ADVISORY."""

    kind: str
    text: str


class Flashes:
    """Messages that were not shown yet."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Message] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def drop(self, message: Message) -> str:
        """Keep a message; its id."""
        number = secrets.token_hex(8)
        self._held[number] = message
        while len(self._held) > MOST:
            self._held.popitem(last=False)
        return number

    def pick(self, cookie: str | None) -> list[Message]:
        """The messages that a cookie names; they are gone then."""
        found = (self._held.pop(each, None) for each in _ids(cookie))
        return [message for message in found if message is not None]


def cookie_of(before: str | None, numbers: Iterable[str]) -> str:
    """The cookie's value with further ids."""
    return ".".join([*_ids(before), *numbers][-EACH:])


def _ids(cookie: str | None) -> list[str]:
    return [each for each in (cookie or "")[:1024].split(".") if each][:EACH]
