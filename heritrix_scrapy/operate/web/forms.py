"""What does the body of a request say? Forms, or JSON objects of the same fields; of bounded size, in bounded time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from heritrix_scrapy.operate.web.answers import Failed

if TYPE_CHECKING:
    from aiohttp import web

#: Bytes of a form; of a file that is sent.
FORM: Final = 4 << 20
FILE: Final = 64 << 20
#: Seconds in which a form has to come, and a part of a file.
SECONDS: Final = 30.0


async def fields(request: web.Request) -> dict[str, str]:
    """The fields of a form, the first value of each; none of a body that is no form. Raises Failed, TimeoutError."""
    kind = request.content_type
    if kind == "application/x-www-form-urlencoded":
        async with asyncio.timeout(SECONDS):
            said = await request.post()
        return {name: value for name, value in reversed(list(said.items())) if isinstance(value, str)}
    if kind == "application/json" and request.can_read_body:
        async with asyncio.timeout(SECONDS):
            text = await request.read()
        try:
            made = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        if not isinstance(made, dict):
            return {}
        return {str(name): _word(value) for name, value in made.items() if isinstance(value, str | int | float | bool)}
    return {}


def _word(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


async def body(request: web.Request, most: int = FILE) -> bytes:
    """The whole body. Raises Failed for one that is too long, TimeoutError for one that does not come."""
    if (request.content_length or 0) > most:
        raise Failed(413, f"at most {most} bytes")
    parts: list[bytes] = []
    size = 0
    while True:
        async with asyncio.timeout(SECONDS):
            part = await request.content.readany()
        if not part:
            return b"".join(parts)
        size += len(part)
        if size > most:
            raise Failed(413, f"at most {most} bytes")
        parts.append(part)
