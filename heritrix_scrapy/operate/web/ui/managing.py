"""The page of a job as an engine has it: build, launch, tear down, copy, its files and what its log says.

What an engine does with a job, ``EngineJob`` does; here it is asked for, and told what came of it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.jobs.folder import JobsError
from heritrix_scrapy.operate.jobs.remarks import WRONG
from heritrix_scrapy.operate.numbers import newest
from heritrix_scrapy.operate.web import answers, forms, paths, readable
from heritrix_scrapy.operate.web.flash import ACK, NACK, Message
from heritrix_scrapy.operate.web.ui.editing import editable
from heritrix_scrapy.operate.web.ui.frame import shown
from heritrix_scrapy.operate.web.ui.steering import sure
from heritrix_scrapy.operate.web.ui.subject import actions
from heritrix_scrapy.operate.web.ui.words import tone

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Job

#: Lines of the job's log.
LINES: Final = 15

#: What is said before a deed that cannot be taken back.
EFFECTS: Final = {
    "teardown": (
        "Tear the running crawl down?",
        ["The crawl ends: what is in flight gets its grace time, what is queued stays queued.", "Then it is put away."],
    )
}


async def page(context: Context, request: web.Request, subject: Job) -> web.StreamResponse:
    """The page."""
    told = await asyncio.to_thread(_told, subject)
    told["files"] = [(name, readable.may_see(request, name)) for name in told["files"]]
    return shown(context, request, subject, "ui/manage.html", "manage", tone=tone(told["state"]), **told)


def _told(subject: Job) -> dict[str, Any]:
    job = subject.job
    standing = job.standing(ask_it=False)
    return {
        "words": "Profile" if job.place.is_profile else standing.status,
        "state": standing.state or "",
        "running": standing.running,
        "actions": actions(standing, profile=job.place.is_profile),
        "built": standing.built,
        "launched": standing.launched,
        "profile": job.place.is_profile,
        "project": job.place.is_project,
        "remarks": job.remarks,
        "wrong": any(each.level == WRONG for each in job.remarks),
        "checkpoints": job.checkpoints(),
        "resumable": standing.record.launches > 0 and not standing.running,
        "launches": standing.record.launches,
        "files": list(editable(job.place)),
        "log": newest(job.jobdir / "job.log", LINES),
    }


async def deed(context: Context, request: web.Request, subject: Job) -> web.StreamResponse:
    """Do what ``action`` says. Raises Refused and JobError."""
    said = await forms.fields(request)
    action = said.get("action", "")
    here = subject.base + "/job"
    if action == "copy":
        return await _copied(context, request, subject, said)
    if action not in _DEEDS:
        raise Refused(f"there is no action {action!r}")
    if action in EFFECTS and said.get("sure") != "yes" and await asyncio.to_thread(_runs, subject):
        question, effects = EFFECTS[action]
        return sure(context, request, subject, here, said, question, effects)
    message, target = await asyncio.to_thread(_DEEDS[action], subject, said)
    return answers.redirect(context, request, subject.base + target, [message])


def _runs(subject: Job) -> bool:
    return subject.job.standing(ask_it=False).running


def _build(subject: Job, said: dict[str, str]) -> tuple[Message, str]:
    if subject.job.rebuild():
        return Message(ACK, "It is built, and can be launched."), "/job"
    return Message(NACK, f"It is not fit to be launched: {_why(subject)}"), "/job"


def _launch(subject: Job, said: dict[str, str]) -> tuple[Message, str]:
    job = subject.job
    job.complaints = []
    if not job.standing(ask_it=False).built and not job.rebuild():
        return Message(NACK, f"It was not launched: {_why(subject)}"), "/job"
    if job.launch(said.get("checkpoint", "").strip(), resume=said.get("resume") == "on"):
        state = job.standing(ask_it=False).state
        paused = " It begins paused: unpause it." if state == "PAUSED" else ""
        return Message(ACK, f"The crawl is launched.{paused}"), ""
    return Message(NACK, f"It was not launched: {_why(subject)}"), "/job"


def _teardown(subject: Job, said: dict[str, str]) -> tuple[Message, str]:
    if subject.job.teardown():
        return Message(ACK, "It is put away: it can be built and launched anew."), "/job"
    return Message(ACK, "The crawl ends; then it is put away."), "/job"


_DEEDS: Final = {"build": _build, "launch": _launch, "teardown": _teardown}


def _why(subject: Job) -> str:
    """What is wrong, the first of it."""
    wrong = [str(each) for each in subject.job.remarks if each.level == WRONG] or subject.job.complaints
    more = f" ({len(wrong) - 1} more below)" if len(wrong) > 1 else ""
    return (wrong[0] if wrong else "its log says why") + more


async def _copied(context: Context, request: web.Request, subject: Job, said: dict[str, str]) -> web.StreamResponse:
    name, as_profile = said.get("name", "").strip(), said.get("as_profile") == "on"
    try:
        made = await asyncio.to_thread(context.the_engine().copy, subject.job, name, as_profile=as_profile)
    except JobsError as error:
        return answers.redirect(context, request, subject.base + "/job", [Message(NACK, str(error))])
    target = paths.address("ui", "job", made.name) + "/job"
    return answers.redirect(context, request, target, [Message(ACK, f"It is a copy of {subject.name}.")])
