"""One job: its page and model, and what is done to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.model.errors import StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError, NotRunning
from heritrix_scrapy.operate.jobs.folder import JobsError
from heritrix_scrapy.operate.jobs.job import JobError
from heritrix_scrapy.operate.web import answers, forms, paths
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.flash import ACK, NACK, Message
from heritrix_scrapy.operate.web.models import job_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from heritrix_scrapy.operate.jobs.job import EngineJob
    from heritrix_scrapy.operate.web.context import Context

NOT_MADE = "Checkpoint not made -- perhaps no progress since last? (see logs)"
WAITING = "waiting for job to finish"
ON = "on"


class Outcome(NamedTuple):
    """``messages``: what is to be told; ``moved``: the name of a job that the client is sent to."""

    messages: list[Message] = []
    moved: str = ""


def found(context: Context, request: web.Request) -> EngineJob:
    """The job that the path names. Raises Failed."""
    job = context.the_engine().job(request[ASKED].segments[2])
    if job is None:
        raise answers.not_found()
    return job


async def get(context: Context, request: web.Request) -> web.StreamResponse:
    """The job's page or model."""
    job = await asyncio.to_thread(found, context, request)
    model = await asyncio.to_thread(job_model, job, answers.base(request))
    more = {"checkpoints": model["checkpointFiles"] or [], "config_links": config_links(model)}
    return answers.answer(context, request, "job", model, "job.html", **more)


def config_links(model: Mapping[str, Any]) -> list[str]:
    """The addresses of the paths that the job's beans name, each once; logs by their pages."""
    newest = "?format=paged&pos=-1&lines=-128&reverse=y"
    urls = {each["url"] + (newest if each["url"].endswith(".log") else "") for each in model["configFiles"] or ()}
    return sorted(urls)


async def post(context: Context, request: web.Request) -> web.StreamResponse:
    """Copy it, or do what ``action`` says."""
    job = await asyncio.to_thread(found, context, request)
    said = await forms.fields(request)
    outcome = await asyncio.to_thread(done, context, job, said)
    where = paths.address("engine", "job", outcome.moved) if outcome.moved else answers.itself(request)
    return answers.redirect(context, request, where, outcome.messages)


def done(context: Context, job: EngineJob, said: dict[str, str]) -> Outcome:
    """Do it. Raises Failed with status 409 for what cannot be done in the state that the job is in."""
    if "copyTo" in said:
        return copied(context, job, said)
    try:
        return acted(job, said)
    except (JobError, Refused) as error:
        raise answers.Failed(409, str(error)) from None
    except NotRunning:
        # it has ended meanwhile
        return Outcome()
    except (ControlError, StoreError, StorageFull) as error:
        raise answers.Failed(503, str(error)) from None


def copied(context: Context, job: EngineJob, said: dict[str, str]) -> Outcome:
    """A copy, as a profile where that is ticked."""
    try:
        made = context.the_engine().copy(job, said["copyTo"], as_profile=said.get("asProfile") == ON)
    except JobsError as error:
        return Outcome([Message(NACK, str(error))])
    return Outcome(moved=made.name)


def acted(job: EngineJob, said: dict[str, str]) -> Outcome:
    """What the job's buttons do; an unknown action is nothing, as in Heritrix. Raises what ``EngineJob`` raises."""
    match said.get("action"):
        case "launch":
            job.launch(said.get("checkpoint", "").strip(), resume=said.get("resume") == ON)
        case "instantiate" | "build":
            job.build()
        case "validate":
            job.validate()
        case "teardown":
            if not job.teardown():
                return Outcome([Message(NACK, WAITING)])
        case "pause" | "unpause" as verb:
            needed(job)
            if job.standing(ask_it=False).running:
                job.steer(verb)
        case "checkpoint":
            needed(job, launched=False)
            return Outcome([checkpointed(job)])
        case "terminate":
            job.terminate()
    return Outcome()


def needed(job: EngineJob, *, launched: bool = True) -> None:
    """Raises JobError of a job that is not built, or not launched."""
    standing = job.standing(ask_it=False)
    if not standing.built:
        raise JobError("the job is not built")
    if launched and not standing.launched:
        raise JobError("the job is not launched")


def checkpointed(job: EngineJob) -> Message:
    """Make a checkpoint of the job's crawl, running or over."""
    standing = job.standing(ask_it=False)
    if not standing.launched:
        return Message(NACK, NOT_MADE)
    answer: dict[str, Any]
    try:
        answer = job.steer("checkpoint") if standing.running else job.perform({"do": "checkpoint"})
    except (Refused, ControlError) as error:
        job.note(f"checkpoint: {error}", "WARNING")
        return Message(NACK, NOT_MADE)
    name = answer.get("checkpoint")
    return Message(ACK, f"Checkpoint {name} saved") if name else Message(NACK, NOT_MADE)
