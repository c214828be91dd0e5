"""The page of a crawl, and what keeps it up to date.

The page stands by itself. A browser with JavaScript gets the numbers and the lines of crawl.log as events, and fetches
the tables again now and then. Each table is drawn in a turn of its own, so that none holds up the crawl.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from markupsafe import Markup

from heritrix_scrapy.operate.closer import NOTHING
from heritrix_scrapy.operate.control import ControlError, NotRunning
from heritrix_scrapy.operate.web import markup, pages
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.auth import OPERATOR
from heritrix_scrapy.operate.web.guard import SAFE
from heritrix_scrapy.operate.web.ui import words
from heritrix_scrapy.operate.web.ui.frame import shown
from heritrix_scrapy.operate.web.ui.plot import plot
from heritrix_scrapy.operate.web.ui.subject import TROUBLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Subject

#: The tables of the page, each a template.
PARTS: Final = (
    "buttons",
    "plot",
    "holding",
    "uris",
    "queues",
    "flights",
    "hosts",
    "refusals",
    "limits",
    "room",
    "alerts",
)
#: Lines of crawl.log that stand there at first, and alerts.
LINES: Final = 20
ALERTS: Final = 5
#: Stands in what is drawn for all in place of a session's token; nobody can know it beforehand.
CSRF: Final = secrets.token_hex(32)
#: Characters of a filter.
LONGEST: Final = 200

#: Seconds between two times the numbers; after which an answer of events ends and the browser asks anew, so that one
#: whose login is over hears no more.
EVERY: Final = 2.0
#: Seconds between two looks at the log, and lines that are told each time.
LOOK: Final = 1.0
TOLD: Final = 60
LASTS: Final = 600.0
#: Milliseconds after which a browser asks anew.
RETRY: Final = 3000


async def page(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """The whole page. ``filter``: words that lines of the log have to contain."""
    wanted = request.query.get("filter", "")[:LONGEST]
    numbers = await subject.numbers()
    return shown(
        context,
        request,
        subject,
        "ui/job.html",
        "job",
        numbers=numbers,
        figures=words.figures(numbers),
        tone=words.tone(str(numbers.get("state"))),
        parts=await drawn(context, request, subject, numbers),
        lines=await lines(subject, "crawl.log", LINES, wanted),
        filter=wanted,
    )


async def fragment(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """The tables only, as JSON: name → HTML."""
    numbers = await subject.numbers()
    made = await drawn(context, request, subject, numbers)
    answer = {"parts": made, "figures": words.figures(numbers), "tone": words.tone(str(numbers.get("state")))}
    return web.json_response(answer, headers={"Cache-Control": "no-store"})


async def drawn(context: Context, request: web.Request, subject: Subject, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Each part as HTML; drawn for all who may see the same."""
    session, may = request[ASKED].session, request[ASKED].role == OPERATOR
    key = (
        subject.base,
        may,
        session is None,
        numbers["running"],
        numbers.get("state"),
        tuple(numbers.get("actions") or ()),
    )
    made = await context.drawings.of(key, lambda: draw(subject, numbers, may=may, csrf="" if session is None else CSRF))
    csrf = "" if session is None else session.csrf
    return {name: Markup(html.replace(CSRF, csrf)) for name, html in made.items()}


async def draw(subject: Subject, numbers: Mapping[str, Any], *, may: bool, csrf: str) -> dict[str, str]:
    """Each part as HTML. ``may``: for those who may steer; ``csrf``: what stands in its forms."""
    detail: Mapping[str, Any] = NOTHING
    moments: list[list[int]] = []
    if numbers["running"]:
        try:
            detail = await subject.do({"do": "detail"})
            moments = (await subject.do({"do": "course"}))["moments"]
        except ControlError:
            """It has just ended."""
    alerts = await lines(subject, "alerts.log", ALERTS)
    given = {
        "subject": subject,
        "numbers": numbers,
        "figures": words.figures(numbers),
        "detail": detail,
        "alerts": alerts[::-1],
        "words": words,
        "actions": subject.buttons(numbers),
        "may": may,
        "csrf": csrf,
    }
    made = {}
    for name in PARTS:
        await asyncio.sleep(0)
        more = {"plot": plot(moments)} if name == "plot" else {}
        made[name] = await pages.drawn(f"ui/part_{name}.html", **given, **more)
    return made


async def lines(subject: Subject, log: str, count: int, wanted: str = "") -> list[str]:
    """The last lines of a log; none where there is none."""
    try:
        return list(
            (await subject.do({"do": "tail", "log": log, "lines": count, "filter": re.escape(wanted)}))["lines"]
        )
    except TROUBLE:
        return []


async def events(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """What happens from now on, as server-sent events: ``numbers``, ``log``, ``changed``, ``end``."""
    wanted = request.query.get("filter", "")[:LONGEST]
    asked = {"do": "subscribe", "numbers": EVERY, "logs": {"crawl.log": re.escape(wanted)}, "look": LOOK}
    try:
        heard = await subject.subscribe(asked)
    except NotRunning:
        # 204 tells a browser not to ask again
        return web.Response(status=204)
    headers = {**SAFE, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = web.StreamResponse(headers=headers)
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    await response.prepare(request)
    if request.method == "HEAD":
        heard.close()
        return response
    try:
        async with asyncio.timeout(LASTS):
            await response.write(f"retry: {RETRY}\n\n".encode())
            async for event in heard:
                # what is told is made in one turn, written in another, and the next looked for in a third
                await asyncio.sleep(0)
                if (told := text_of(event)) is not None:
                    await response.write(told)
                    await asyncio.sleep(0)
    except (TimeoutError, ConnectionError):
        """The browser asks anew, if it is still there."""
    finally:
        heard.close()
    return response


def text_of(event: Mapping[str, Any]) -> bytes | None:
    """An event as it is sent; None for one that the page has no use for."""
    name = event["event"]
    data: Any
    if name == "numbers":
        data = {"figures": words.figures(event), "tone": words.tone(str(event.get("state")))}
    elif name == "log":
        data = {"lines": [markup.ILLEGAL.sub("", line) for line in event["lines"][-TOLD:]]}
    elif name in ("hello", "missed"):
        return None
    elif name == "end":
        data = {}
    else:
        name, data = "changed", {}
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
