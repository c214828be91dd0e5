"""The page of all jobs of an engine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.operate.web import answers, paths
from heritrix_scrapy.operate.web.ui.words import tone

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.web.context import Context


async def jobs(context: Context, request: web.Request) -> web.StreamResponse:
    """Every job with its state, those that run first."""
    return answers.page(context, request, "ui/jobs.html", jobs=await asyncio.to_thread(rows, context))


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
                "path": paths.address("engine", "job", job.name),
                "words": words,
                "tone": tone(standing.state or ""),
                "running": standing.running,
                "launches": standing.record.launches,
            }
        )
    return sorted(made, key=lambda row: not row["running"])
