"""The reports of a job."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.jobs.job import JobError
from heritrix_scrapy.operate.web import answers, paths
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.job_resource import found
from heritrix_scrapy.operate.web.models import REPORTS

if TYPE_CHECKING:
    from heritrix_scrapy.operate.jobs.job import EngineJob
    from heritrix_scrapy.operate.web.context import Context

NOTHING = "there is nothing to report: the job was not launched\n"


async def get(context: Context, request: web.Request) -> web.StreamResponse:
    """Have a report made, and send the client to its file."""
    job = await asyncio.to_thread(found, context, request)
    name = request[ASKED].segments[4]
    path = await asyncio.to_thread(made, job, name)
    if path is None:
        return web.Response(text=NOTHING, content_type="text/plain", headers={"Vary": answers.VARY})
    inside = path.relative_to(job.place.folder)
    target = paths.address("engine", "job", job.name, "jobdir", *inside.parts)
    response = answers.redirect(context, request, f"{target}?m={path.stat().st_mtime_ns // 1_000_000}")
    response.content_type = "text/plain"
    return response


def made(job: EngineJob, name: str) -> Path | None:
    """The file of a report, made now; None of a job that was not launched. Raises Failed."""
    standing = job.standing(ask_it=False)
    if not standing.built:
        raise answers.Failed(500, "the job is not built")
    if name not in REPORTS:
        raise answers.Failed(500, f"there is no report {name}; there are: {', '.join(REPORTS)}")
    if not standing.launched:
        return None
    request: dict[str, Any] = {"do": "report", "name": name}
    try:
        answer = job.steer("report", name=name) if standing.running else job.perform(request)
    except (ControlError, Refused, JobError, ConfigurationError, StoreError, StorageFull) as error:
        raise answers.Failed(500, str(error)) from None
    path = Path(str(answer["path"]))
    launch = job.jobdir / "latest"
    if launch.is_symlink() and path.is_relative_to(launch):
        path = launch.resolve() / path.relative_to(launch)
    if not path.is_relative_to(job.place.folder):
        raise answers.Failed(500, f"the report lies at {path}")
    return path
