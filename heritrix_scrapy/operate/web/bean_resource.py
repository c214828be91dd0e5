"""The beans of a built job: a tree of them, one of them, and changing a property by the same ``set`` as ever."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import web

from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.jobs.beans import Node, tree
from heritrix_scrapy.operate.jobs.properties import NOT_WRITABLE, NoProperty, Properties, typed
from heritrix_scrapy.operate.web import answers, forms, markup, paths, readable
from heritrix_scrapy.operate.web.asked import ASKED
from heritrix_scrapy.operate.web.job_resource import found
from heritrix_scrapy.operate.web.models import launch_folder
from heritrix_scrapy.settings.defaults import SETTINGS

if TYPE_CHECKING:
    from heritrix_scrapy.operate.jobs.job import EngineJob
    from heritrix_scrapy.operate.web.context import Context


def built_job(context: Context, request: web.Request) -> EngineJob:
    """The job, built from a job file. Raises Failed."""
    job = found(context, request)
    built = job.built if job.standing(ask_it=False).built else None
    if built is None or built.beans is None:
        raise answers.not_found()
    return job


def properties(job: EngineJob, url: str, *, veiled: bool = False) -> Properties:
    """The properties of a job's beans, as they are now. ``veiled``: for those who only look."""
    built, standing = job.built, job.standing()
    assert built is not None
    changed: dict[str, Any] = {}
    if standing.launched:
        try:
            changed = dict(job.perform({"do": "changes"}).get("changes") or {})
        except (ControlError, Refused, StoreError, ConfigurationError, StorageFull):
            """Nothing was changed, as far as anybody can tell."""
    told: dict[str, Any] = dict((standing.told or {}).get("frontier") or {})
    told["finished"] = sum(int(told.get(each) or 0) for each in ("succeeded", "failed", "disregarded", "retried"))
    launch = launch_folder(job, standing) if standing.launched else ""
    return Properties(built, url, changed=changed, told=told, state=str(standing.state), launch=launch, veiled=veiled)


async def get(context: Context, request: web.Request) -> web.StreamResponse:
    """The tree, or what lies at a path."""
    job = await asyncio.to_thread(built_job, context, request)
    segments = request[ASKED].segments
    path = segments[4] if len(segments) > 4 else None
    url = answers.base(request) + paths.address("engine", "job", job.name)
    veiled = not readable.may_steer(request)
    model = await asyncio.to_thread(shown, job, url, path, veiled=veiled)
    return answers.answer(context, request, "beans", model, "beans.html", path=path or "")


def shown(job: EngineJob, url: str, path: str | None, *, veiled: bool = False) -> dict[str, Any]:
    """The model of a page of beans."""
    built = job.built
    assert built is not None
    assert built.beans is not None
    bean: Any = None
    problem: str | None = None
    editable, target = False, None
    if path:
        try:
            hit = properties(job, url, veiled=veiled).found(path)
            bean, editable, target = hit.model, hit.editable, hit.target
        except NoProperty as error:
            problem = str(error)
    return {
        "crawlJobShortName": job.name,
        "crawlJobUrl": f"{url}/",
        "beanPath": path,
        "bean": bean,
        "editable": editable,
        "problem": problem,
        "target": target,
        "allNamedCrawlBeans": nodes(tree(built.beans), f"{url}/beans/"),
    }


def nodes(trees: list[Node], url: str) -> list[dict[str, Any]]:
    """The tree as elements."""
    return [
        {
            "name": each.name,
            "url": url + each.name,
            "class": each.kind,
            "children": nodes(each.children, url) or None,
        }
        for each in trees
    ]


async def post(context: Context, request: web.Request) -> web.StreamResponse:
    """Change a property; without a value only go to its page."""
    job = await asyncio.to_thread(built_job, context, request)
    said = await forms.fields(request)
    path, value = said.get("beanPath"), said.get("newVal")
    if path is None and value is not None:
        raise answers.Failed(500, "beanPath says which property is to be changed")
    if value is not None and path is not None:
        await asyncio.to_thread(change, job, path, value)
    target = paths.address("engine", "job", job.name, "beans", path or "")
    return answers.redirect(context, request, target)


def change(job: EngineJob, path: str, value: str) -> None:
    """Give a property another value, as ``scrapy heritrix set`` does. Raises Failed."""
    try:
        hit = properties(job, "").found(path)
        if not hit.editable or hit.row is None:
            raise NoProperty(f"{NOT_WRITABLE}: {path} cannot be changed")
        values = {hit.row.key: typed(hit.row, value)}
    except NoProperty as error:
        raise answers.Failed(500, str(error)) from None
    try:
        job.perform({"do": "set", "values": values, "remark": "by the bean browser"})
    except (Refused, ConfigurationError) as error:
        raise answers.Failed(500, f"org.springframework.beans.TypeMismatchException: {error}") from None
    except (ControlError, StoreError, StorageFull) as error:
        raise answers.Failed(409, str(error)) from None


async def documentation(context: Context, request: web.Request) -> web.StreamResponse:
    """What each property means, for an editor: ``bean.property`` → words, type and default."""
    rows = {
        row.bean: {"description": row.doc, "type": row.kind, "default": row.default_in("heritrix"), "setting": row.key}
        for row in SETTINGS
        if row.bean
    }
    text = markup.to_json(rows)
    return web.Response(text=text, content_type="application/json", headers={"Vary": answers.VARY})
