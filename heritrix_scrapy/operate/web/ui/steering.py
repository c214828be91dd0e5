"""Steering from the page: what a deed would do is shown before it is done.

A form that is sent without ``sure`` is counted or checked, and answered with a page that says what would come of it;
that page's form says ``sure``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.web import answers, forms, readable
from heritrix_scrapy.operate.web.flash import ACK, NACK, Message
from heritrix_scrapy.operate.web.ui import deeds, names
from heritrix_scrapy.operate.web.ui.frame import shown
from heritrix_scrapy.operate.web.ui.subject import TROUBLE
from heritrix_scrapy.settings.defaults import GROUPS
from heritrix_scrapy.settings.secrets import told

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Subject

#: What an address can fill in.
FIELDS: Final = ("uri", "queue", "name", "value", "host", "lines")
#: Characters of them that are kept after a mistake.
KEPT: Final = 4000
#: Button → the word for what was asked.
STATES: Final = {
    "pause": "The crawl pauses",
    "unpause": "The crawl goes on",
    "checkpoint": "Checkpoint",
    "terminate": "The crawl ends",
}


async def state(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """Pause, unpause, checkpoint, terminate; the last is asked for twice."""
    said = await forms.fields(request)
    verb = said.get("action", "")
    if verb not in STATES:
        raise Refused(f"there is no action {verb!r}")
    if verb == "terminate" and said.get("sure") != "yes":
        effects = ["The crawl ends: what is in flight gets its grace time, what is queued stays queued."]
        return sure(context, request, subject, subject.base + "/state", said, "Terminate the crawl?", effects)
    answer = await subject.do({"do": verb})
    text = STATES[verb] + "."
    kind = ACK
    if verb == "checkpoint":
        made = answer.get("checkpoint")
        kind = ACK if made else NACK
        text = f"Checkpoint {made} is made." if made else f"No checkpoint was made: {answer.get('reason')}."
    return answers.redirect(context, request, subject.base, [Message(kind, text)])


async def page(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """All that can be done, each as a form, filled in with what the address says of ``FIELDS``."""
    given = {name: request.query.get(name, "") for name in FIELDS}
    setting = names.of(given["name"]) if given["name"] else None
    return shown(
        context,
        request,
        subject,
        "ui/steer.html",
        "steer",
        given=given,
        setting=setting,
        names=list(names.names()),
        running=(await subject.numbers())["running"],
    )


def again(subject: Subject, said: dict[str, str]) -> str:
    """The address of the page of forms, filled in as they were."""
    query = urlencode({name: said[name] for name in FIELDS if said.get(name)})
    return f"{subject.base}/steer" + (f"?{query}" if query and len(query) < KEPT else "")


async def settings(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """Every setting with what it is now; who only looks is not told what may be a password within a value."""
    wanted = request.query.get("find", "").strip()
    values = (await subject.do({"do": "settings"}))["settings"]
    changed = (await subject.do({"do": "changes"}))["changes"]
    if not readable.may_steer(request):
        values = {name: told(name, value) for name, value in values.items()}
    groups = []
    for group in GROUPS:
        rows = [
            {"setting": row, "name": row.key, "value": values.get(row.name), "changed": row.key in changed}
            for row in group.rows
            if wanted.lower() in (row.key + row.doc).lower()
        ]
        if rows:
            groups.append({"title": group.title, "rows": rows})
    return shown(context, request, subject, "ui/settings.html", "settings", groups=groups, find=wanted)


async def deed(context: Context, request: web.Request, subject: Subject) -> web.StreamResponse:
    """Count, or do."""
    said = await forms.fields(request)
    wanted = deeds.DEEDS.get(said.get("deed", ""))
    if wanted is None:
        raise Refused(f"there is no deed {said.get('deed', '')!r}")
    try:
        if said.get("sure") != "yes":
            effects = await wanted.foresee(subject, said)
            return sure(context, request, subject, subject.base + "/steer", said, wanted.question, effects)
        text = await wanted.do(subject, said)
    except TROUBLE as error:
        return answers.redirect(context, request, again(subject, said), [Message(NACK, str(error))])
    return answers.redirect(context, request, subject.base + "/steer", [Message(ACK, text)])


def sure(
    context: Context,
    request: web.Request,
    subject: Subject,
    action: str,
    said: dict[str, str],
    question: str,
    effects: list[str],
) -> web.StreamResponse:
    """The page that asks whether somebody is sure. ``effects``: what would come of it."""
    kept: dict[str, Any] = {name: value for name, value in said.items() if name not in ("csrf", "sure")}
    return shown(
        context,
        request,
        subject,
        "ui/sure.html",
        "steer",
        action=action,
        said=kept,
        question=question,
        effects=effects,
    )
