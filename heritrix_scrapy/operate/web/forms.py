"""What does the body of a request say? Forms, or JSON objects of the same fields; of bounded size, in bounded time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from aiohttp import web

from heritrix_scrapy.operate.web.answers import Failed

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes of a form; of a file that is sent; of a form of somebody who has not logged in.
FORM: Final = 4 << 20
FILE: Final = 64 << 20
LOGIN: Final = 16 << 10
#: Fields of a form.
FIELDS: Final = 1000
#: Bytes of a form that are read in one turn of the loop; longer ones are read in a thread.
AT_ONCE: Final = 16 << 10
#: Seconds in which a form has to come, and a part of a file; and the whole file.
SECONDS: Final = 30.0
LONGEST: Final = 900.0

SAID: Final = web.RequestKey("said", dict[str, str])

URLENCODED: Final = "application/x-www-form-urlencoded"


async def fields(request: web.Request, most: int = FORM) -> dict[str, str]:
    """The fields of a form, the first value of each; none of a body that is no form. The body is read once, whoever
    asks first. ``most``: bytes. Raises Failed, TimeoutError."""
    if SAID not in request:
        request[SAID] = await _read(request, most)
    return request[SAID]


async def _read(request: web.Request, most: int) -> dict[str, str]:
    kinds: dict[str, Callable[[bytes, str], dict[str, str]]] = {URLENCODED: _form, "application/json": _object}
    read = kinds.get(request.content_type)
    if read is None or not request.can_read_body:
        return {}
    async with asyncio.timeout(SECONDS):
        data = await body(request, most)
    charset = request.charset or "utf-8"
    return read(data, charset) if len(data) <= AT_ONCE else await asyncio.to_thread(read, data, charset)


def _form(data: bytes, charset: str) -> dict[str, str]:
    try:
        text = data.decode(charset, "replace")
        said = parse_qsl(
            text.rstrip(), keep_blank_values=True, encoding=charset, errors="replace", max_num_fields=FIELDS
        )
    except LookupError:
        raise Failed(415, f"there is no charset {charset}") from None
    except ValueError as error:
        raise Failed(413, str(error)) from None
    return dict(reversed(said))


def _object(data: bytes, charset: str) -> dict[str, str]:
    try:
        made = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(made, dict):
        return {}
    return {str(name): _word(value) for name, value in made.items() if isinstance(value, str | int | float | bool)}


def _word(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


async def body(request: web.Request, most: int = FILE) -> bytes:
    """The whole body. Raises Failed for one that is too long, TimeoutError for one that does not come."""
    if (request.content_length or 0) > most:
        raise Failed(413, f"at most {most} bytes")
    parts: list[bytes] = []
    size = 0
    async with asyncio.timeout(LONGEST):
        while True:
            async with asyncio.timeout(SECONDS):
                part = await request.content.readany()
            if not part:
                return b"".join(parts)
            size += len(part)
            if size > most:
                raise Failed(413, f"at most {most} bytes")
            parts.append(part)
