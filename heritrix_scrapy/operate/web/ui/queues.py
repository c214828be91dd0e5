"""The pages of queues: a list of them, page by page, and one with its next URIs."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.model.status import lookup
from heritrix_scrapy.operate.web.ui import words
from heritrix_scrapy.operate.web.ui.frame import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Subject

#: Queues of a page, and URIs of a queue's.
QUEUES: Final = 100
URIS: Final = 50
#: Seconds after which a page is not filled any further: each answer takes a few milliseconds, and may end in between.
PATIENCE: Final = 0.12

STATES: Final = tuple(state.name for state in State)


async def listing(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """Queues in the order of their names. ``state``, ``name``: only those in it, and whose names contain that;
    ``marker``: where an earlier page ended."""
    state, name = request.query.get("state", ""), request.query.get("name", "")[:200]
    marker = request.query.get("marker", "")
    asked = {"do": "queues", "state": state if state in STATES else "", "queue": containing(name)}
    found: list[Mapping[str, Any]] = []
    following: str | None = marker
    answer: Mapping[str, Any] = {}
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while True:
        answer = await subject.do({**asked, "marker": following or "", "limit": QUEUES - len(found)})
        found += answer["queues"]
        following = answer["marker"]
        if not following or len(found) >= QUEUES or loop.time() > end:
            break
        await asyncio.sleep(0)
    return shown(
        context,
        request,
        subject,
        "ui/queues.html",
        "queues",
        queues=found,
        following=following,
        state=state,
        name=name,
        states=STATES,
        longest=answer["longest"],
        words=words,
        began=bool(marker),
    )


async def one(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """A queue: how it stands, what it waits for, which URIs come next."""
    name, marker = request.query.get("name", ""), request.query.get("marker", "")
    found, answer = await subject.do_all(
        {"do": "queues", "queue_name": name},
        {"do": "urls", "queue_name": name, "marker": marker, "limit": URIS},
    )
    [queue] = found["queues"]
    return shown(
        context,
        request,
        subject,
        "ui/queue.html",
        "queues",
        queue=queue,
        exact=re.escape(name),
        uris=answer["urls"],
        following=answer["marker"],
        words=words,
        last=lookup(queue["last status"]).label if queue.get("last status") else "",
    )


def containing(text: str) -> str:
    """An expression for names that contain a text."""
    return f".*{re.escape(text)}.*" if text else ""
