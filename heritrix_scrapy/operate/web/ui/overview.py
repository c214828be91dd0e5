"""The page of all jobs of an engine, and where new ones begin."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.operate.jobs.folder import NEW_PROJECT, STOCK, JobsError
from heritrix_scrapy.operate.web import answers, forms, paths
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.auth import OPERATOR
from heritrix_scrapy.operate.web.flash import ACK, NACK, Message
from heritrix_scrapy.operate.web.ui.words import tone

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.jobs.job import EngineJob
    from heritrix_scrapy.operate.web.context import Context

#: Of what a new job can be made → in words.
SOURCES: Final = (
    (STOCK, "A Heritrix job: crawler-beans.cxml with the usual settings"),
    (NEW_PROJECT, "A Scrapy project: settings.py with every setting as a comment"),
)


async def jobs(context: Context, request: web.Request) -> web.StreamResponse:
    """Every job with its state, those that run first."""
    made, profiles = await asyncio.to_thread(lambda: (rows(context), context.the_engine().folder.profiles()))
    return answers.page(
        context,
        request,
        "ui/jobs.html",
        jobs=made,
        sources=[*SOURCES, *((each, f"Like the profile {each}") for each in profiles if each != STOCK)],
        may=request[ASKED].role == OPERATOR,
    )


async def create(context: Context, request: web.Request) -> web.StreamResponse:
    """A new job, or one that lies there already. ``name``, ``source``, ``text``; or ``path`` of a folder to take in."""
    said = await forms.fields(request)
    engine = context.the_engine()
    name = said.get("name", "").strip()

    def made() -> EngineJob:
        if "path" in said:
            return engine.add(said["path"].strip())
        return engine.create(name, said.get("source"), said.get("text", "").replace("\r\n", "\n"))

    try:
        job = await asyncio.to_thread(made)
    except JobsError as error:
        return answers.redirect(context, request, "/ui", [Message(NACK, str(error))])
    where = paths.address("ui", "job", job.name)
    if "path" in said:
        return answers.redirect(context, request, where + "/job", [Message(ACK, f"{job.name} is taken in.")])
    told = "Its settings follow: say what it needs, and save them."
    return answers.redirect(context, request, where + "/edit", [Message(ACK, f"{job.name} is made. {told}")])


def rows(context: Context) -> list[dict[str, Any]]:
    """``name``, ``page`` and ``path`` of each job, its ``words`` and ``tone``, and how often it was launched."""
    made = []
    for job in context.the_engine().jobs():
        standing = job.standing(ask_it=False)
        words = "Profile" if job.place.is_profile else standing.status
        made.append(
            {
                "name": job.name,
                "page": paths.address("ui", "job", job.name),
                "path": paths.address("ui", "job", job.name) + "/job",
                "words": words,
                "tone": tone(standing.state or ""),
                "running": standing.running,
                "launches": standing.record.launches,
            }
        )
    return sorted(made, key=lambda row: not row["running"])
