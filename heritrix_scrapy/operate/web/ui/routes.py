"""Which address shows what? All below ``/ui``: one crawl there, or each job of an engine below ``/ui/job/NAME``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeAlias

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import NotRunning
from heritrix_scrapy.operate.jobs.job import JobError
from heritrix_scrapy.operate.web import answers
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.flash import NACK, Message
from heritrix_scrapy.operate.web.ui import editing, live, looking, managing, names, overview, queues, steering
from heritrix_scrapy.operate.web.ui.frame import shown
from heritrix_scrapy.operate.web.ui.subject import TROUBLE, Job

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.ui.subject import Subject

    Page = Callable[[Context, web.Request, Subject], Awaitable[web.StreamResponse]]

#: Path below the crawl's own → page.
LOOKING: Final[dict[str, Page]] = {
    "": live.page,
    "/parts": live.fragment,
    "/events": live.events,
    "/queues": queues.listing,
    "/queue": queues.one,
    "/log": looking.log,
    "/reports": looking.reports,
    "/report": looking.report,
    "/why": looking.why,
    "/steer": steering.page,
    "/settings": steering.settings,
}
DOING: Final[dict[str, Page]] = {"/state": steering.state, "/steer": steering.deed}
#: The same for jobs of an engine only.
JobPage: TypeAlias = "Callable[[Context, web.Request, Job], Awaitable[web.StreamResponse]]"
OF_JOBS: Final[dict[tuple[str, str], JobPage]] = {
    ("GET", "/job"): managing.page,
    ("POST", "/job"): managing.deed,
    ("GET", "/edit"): editing.page,
    ("POST", "/edit"): editing.deed,
}


def add(app: web.Application, context: Context) -> None:
    """Add the routes."""
    known: dict[str, Job] = {}

    async def subject_of(request: web.Request) -> Subject:
        if context.engine is None:
            if context.subject is None:
                raise answers.not_found()
            return context.subject
        name = request[ASKED].segments[2]
        job = await asyncio.to_thread(context.engine.job, name)
        if job is None:
            known.pop(name, None)
            raise answers.not_found()
        if name not in known or known[name].job is not job:
            known[name] = Job(job)
        return known[name]

    def bound(
        page: Callable[..., Awaitable[web.StreamResponse]],
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handler(request: web.Request) -> web.StreamResponse:
            subject = await subject_of(request)
            try:
                return await page(context, request, subject)
            except TROUBLE as error:
                return trouble(context, request, subject, error)

        return handler

    prefix = "/ui"
    if context.engine is not None:
        prefix = "/ui/job/{job}"

        async def jobs(request: web.Request) -> web.StreamResponse:
            return await overview.jobs(context, request)

        async def create(request: web.Request) -> web.StreamResponse:
            return await overview.create(context, request)

        app.router.add_get("/ui", jobs)
        app.router.add_post("/ui", create)
        for (method, path), job_page in OF_JOBS.items():
            app.router.add_route(method, prefix + path, bound(job_page))
    for path, shown_page in (("/ui/names", names.page), ("/ui/names.json", names.data)):
        app.router.add_get(path, _plain(context, shown_page))
    for path, page in LOOKING.items():
        app.router.add_get(prefix + path, bound(page))
    for path, page in DOING.items():
        app.router.add_post(prefix + path, bound(page))


def _plain(
    context: Context, page: Callable[[Context, web.Request], Awaitable[web.StreamResponse]]
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handler(request: web.Request) -> web.StreamResponse:
        return await page(context, request)

    return handler


def trouble(context: Context, request: web.Request, subject: Subject, error: BaseException) -> web.StreamResponse:
    """A page that says what went wrong; after a form the page that the form was on, with the reason."""
    words = str(error) or type(error).__name__
    if request.method == "POST":
        return answers.redirect(context, request, back(request, subject), [Message(NACK, words)])
    status = 409 if isinstance(error, Refused | JobError | NotRunning) else 503
    return shown(context, request, subject, "ui/trouble.html", "", status=status, words=words)


def back(request: web.Request, subject: Subject) -> str:
    """The page that a form was on."""
    last = request.path.rpartition("/")[2]
    return subject.base + (f"/{last}" if last in ("job", "edit") else "")
