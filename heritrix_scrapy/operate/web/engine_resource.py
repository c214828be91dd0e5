"""The engine: which jobs there are, new ones, and its end."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

from heritrix_scrapy.operate.jobs.folder import JobsError
from heritrix_scrapy.operate.web import answers, forms
from heritrix_scrapy.operate.web.flash import ACK, NACK, Message
from heritrix_scrapy.operate.web.models import engine_model

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context

EXIT = "exit java process"
#: Seconds between the answer and the end.
LEAVE = 1.0


async def get(context: Context, request: web.Request) -> web.StreamResponse:
    """The engine's page or model."""
    engine = context.the_engine()
    model = await asyncio.to_thread(engine_model, engine, answers.base(request))
    return answers.answer(context, request, "engine", model, "engine.html")


async def post(context: Context, request: web.Request) -> web.StreamResponse:
    """Do what ``action`` says; an unknown one is nothing, as in Heritrix."""
    said = await forms.fields(request)
    messages = await asyncio.to_thread(done, context, said)
    if said.get("action") == EXIT and any(each.kind == ACK for each in messages):
        asyncio.get_running_loop().call_later(LEAVE, context.leave.set)
    return answers.redirect(context, request, answers.itself(request), messages)


def done(context: Context, said: dict[str, str]) -> list[Message]:
    """Do it; what is to be told."""
    engine = context.the_engine()
    match said.get("action"):
        case "rescan":
            engine.rescan()
        case "gc":
            gc.collect()
        case "create":
            name = said.get("createpath")
            profile = said.get("profile")
            if profile not in engine.folder.profiles():
                # an unknown field to Heritrix 3.13, which makes the job of its own profile
                profile = None
            return _told(lambda: engine.create(name, profile), f"Created new crawl job: {name}")
        case "add":
            path = said.get("addpath")
            return _told(lambda: engine.add(path), f"Added crawl job: '{path}'")
        case "exit java process":
            return leave(context, said)
    return []


def _told(run: object, words: str) -> list[Message]:
    try:
        run()  # type: ignore[operator]
    except JobsError as error:
        return [Message(NACK, str(error))]
    return [Message(ACK, words)]


def leave(context: Context, said: dict[str, str]) -> list[Message]:
    """Whether the engine may end: it is sure, and each built job is named."""
    if said.get("im_sure") != "on":
        return [Message(NACK, 'You must tick "I\'m sure" to trigger exit')]
    held = [job for job in context.the_engine().held() if said.get(f"ignore__{job.name}") != "on"]
    if held:
        return [Message(NACK, f"Job '{job.name}' still «{job.standing(ask_it=False).status}»") for job in held]
    return [Message(ACK, "Shutting down ... bye")]
