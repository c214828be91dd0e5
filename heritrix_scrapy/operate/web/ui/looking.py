"""The pages for looking closer: logs, reports, and why a URI is fetched or not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.web import answers, readable
from heritrix_scrapy.operate.web.ui.frame import shown
from heritrix_scrapy.report.logs import NAMES
from heritrix_scrapy.report.reports import REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Subject

LINES: Final = (50, 200, 1000)
#: Reports that the frontier writes in slices, by its own names.
SLICED: Final = {"frontier-summary": "summary", "frontier-nonempty": "nonempty"}
#: One is a picture, which stands on the crawl's own page.
TEXTS: Final = tuple(name for name in REPORTS if name != "course")
LOGS: Final = tuple(dict.fromkeys(("crawl.log", "alerts.log", "job.log", *NAMES)))


async def log(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """The last lines of a log, the newest first. ``filter``: what they have to contain."""
    name, wanted = request.query.get("name", "crawl.log"), request.query.get("filter", "")[:200]
    count = int(asked) if (asked := request.query.get("lines", "")).isdecimal() and len(asked) < 6 else LINES[0]
    if not readable.may_steer(request) and not readable.log(name):
        raise answers.Failed(403, f"{name} is no log of the crawl: only who may steer is shown it")
    missing, found = "", []
    try:
        answer = await subject.do(
            {"do": "tail", "log": name, "lines": min(count, LINES[-1]), "filter": re.escape(wanted)}
        )
        found = list(answer["lines"])[::-1]
    except Refused as error:
        missing = str(error)
    return shown(
        context,
        request,
        subject,
        "ui/log.html",
        "log",
        name=name,
        filter=wanted,
        count=count,
        counts=LINES,
        logs=LOGS,
        lines=found,
        missing=missing,
    )


async def reports(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """Which reports there are."""
    return shown(context, request, subject, "ui/reports.html", "reports", reports=TEXTS, name="", text="")


async def report(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """A report, made now."""
    name = request.query.get("name", "")
    asked: Mapping[str, Any] = {"do": "report", "name": name}
    if name in SLICED:
        asked = {"do": "queue_report", "kind": SLICED[name]}
    answer = await subject.do(asked)
    text = answer.get("text") or f"The report is long: it lies in {answer.get('path')}"
    return shown(context, request, subject, "ui/reports.html", "reports", reports=TEXTS, name=name, text=text)


async def why(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """Why a URI is fetched, not, or not yet. ``uri``; ``via``: where it would be found."""
    uri, via = request.query.get("uri", "").strip(), request.query.get("via", "").strip()
    told: Mapping[str, Any] = {}
    refused = ""
    if uri:
        try:
            told = await subject.do({"do": "why", "uri": uri, "via": via})
        except Refused as error:
            refused = str(error)
    return shown(context, request, subject, "ui/why.html", "why", uri=uri, via=via, told=told, refused=refused)
