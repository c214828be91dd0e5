"""Which resource answers which path? Heritrix's paths, everything below ``/engine``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from aiohttp import web

from heritrix_scrapy.operate.web import (
    answers,
    bean_resource,
    engine_resource,
    file_resource,
    job_resource,
    openapi,
    report_resource,
    script_resource,
)
from heritrix_scrapy.operate.web.asked import ASKED

if TYPE_CHECKING:
    from heritrix_scrapy.operate.web.context import Context

Resource = Callable[["Context", web.Request], Awaitable[web.StreamResponse]]
Table = dict[str, Resource]

ENGINE: Final[Table] = {"GET": engine_resource.get, "POST": engine_resource.post}
JOB: Final[Table] = {"GET": job_resource.get, "POST": job_resource.post}
BEANS: Final[Table] = {"GET": bean_resource.get, "POST": bean_resource.post}
SCRIPT: Final[Table] = {"GET": script_resource.get, "POST": script_resource.post}
REPORT: Final[Table] = {"GET": report_resource.get}
FILES: Final[Table] = {
    "GET": file_resource.get,
    "POST": file_resource.post,
    "PUT": file_resource.put,
    "DELETE": file_resource.delete,
}
LISTING: Final[Table] = {"GET": file_resource.get}
DOCS: Final[Table] = {"GET": bean_resource.documentation}


async def described(context: Context, request: web.Request) -> web.StreamResponse:
    """The description of the API."""
    return web.json_response(openapi.description())


EDIT: Final = ["ui", "edit"]
OPENAPI: Final[Table] = {"GET": described}


def table_of(segments: list[str]) -> Table | None:
    """The resource of a path, by method."""
    match segments:
        case ["engine"] | ["engine", ""]:
            return ENGINE
        case ["engine", "beandoc"]:
            return DOCS
        case ["engine", "openapi.json"]:
            return OPENAPI
        case ["engine", "jobsdir", *_]:
            return LISTING
        case ["engine", "anypath", *_]:
            return FILES
        case ["engine", "job", name] if name:
            return JOB
        case ["engine", "job", _, "script"]:
            return SCRIPT
        case ["engine", "job", _, "beans"]:
            return BEANS
        case ["engine", "job", _, "beans", path] if path:
            return BEANS
        case ["engine", "job", _, "report", name] if name:
            return REPORT
        case ["engine", "job", _, "jobdir", *_]:
            return FILES
    return None


async def dispatch(context: Context, request: web.Request) -> web.StreamResponse:
    """The answer of the resource. Raises Failed."""
    segments = request[ASKED].segments
    if segments == [""]:
        return answers.redirect(context, request, "/engine" if context.engine is not None else "/ui", status=307)
    if segments[:2] == EDIT and request.method == "POST":
        # from the page on which a file is edited
        segments = request[ASKED].segments = segments[2:]
    table = table_of(segments) if context.engine is not None else None
    if table is None:
        raise answers.not_found()
    resource = table.get("GET" if request.method == "HEAD" else request.method)
    if resource is None:
        raise answers.Failed(405)
    return await resource(context, request)
