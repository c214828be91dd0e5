"""How is an answer written as JSON without holding up the crawl? In pieces, with a turn for others between them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

#: Seconds of writing in one turn of the loop.
SLICE: Final = 0.001
#: Members of what is written in one piece, and characters of a text.
AT_ONCE: Final = 16
LETTERS: Final = 1 << 15


async def encoded(answer: Mapping[str, Any]) -> bytes:
    """The object as ``json.dumps(answer, default=str)`` has it."""
    parts = []
    end = time.monotonic() + SLICE
    for piece in pieces(answer):
        parts.append(piece)
        if time.monotonic() >= end:
            await asyncio.sleep(0)
            end = time.monotonic() + SLICE
    return "".join(parts).encode()


def pieces(value: Any) -> Iterator[str]:
    """The parts of a value's text: some small members of it at once, larger ones each in its own parts."""
    if isinstance(value, str) and len(value) > LETTERS:
        yield '"'
        for start in range(0, len(value), LETTERS):
            yield json.dumps(value[start : start + LETTERS])[1:-1]
        yield '"'
    elif isinstance(value, dict) and value:
        mark = "{"
        for some, large in _runs(value.items(), lambda item: item[1]):
            # a name that is no text is written as one, as ever
            yield mark + (json.dumps(dict(some), default=str)[1:-1] if some else json.dumps({large[0]: 0})[1:-2])
            if large is not None:
                yield from pieces(large[1])
            mark = ", "
        yield "}"
    elif isinstance(value, list | tuple) and value:
        mark = "["
        for some, large in _runs(value, lambda each: each):
            yield mark + (json.dumps(some, default=str)[1:-1] if some else "")
            if large is not None:
                yield from pieces(large)
            mark = ", "
        yield "]"
    else:
        yield json.dumps(value, default=str)


def _runs(members: Iterable[Any], value: Callable[[Any], Any]) -> Iterator[tuple[list[Any], Any]]:
    """Some members that are small, or one that is large, in their order."""
    some: list[Any] = []
    for member in members:
        each = value(member)
        large = isinstance(each, dict | list | tuple) or (isinstance(each, str) and len(each) > LETTERS // AT_ONCE)
        if some and (large or len(some) >= AT_ONCE):
            yield some, None
            some = []
        if large:
            yield [], member
        else:
            some.append(member)
    if some:
        yield some, None
