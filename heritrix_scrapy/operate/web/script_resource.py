"""The script console. It runs no code; ``script`` says which scripts are recognised."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.jobs.folder import inside
from heritrix_scrapy.operate.jobs.job import JobError
from heritrix_scrapy.operate.jobs.properties import NoProperty
from heritrix_scrapy.operate.web import answers, forms, paths, script
from heritrix_scrapy.operate.web.bean_resource import properties
from heritrix_scrapy.operate.web.job_resource import found
from heritrix_scrapy.operate.web.models import launch_folder

if TYPE_CHECKING:
    from aiohttp import web

    from heritrix_scrapy.operate.jobs.job import EngineJob
    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.script import Asked

#: Names that a listing has at most.
MOST = 100_000


class ScriptFailed(Exception):
    """What the script asks for fails; the text is Java's."""


def built_job(context: Context, request: web.Request) -> EngineJob:
    """The job, built. Raises Failed."""
    job = found(context, request)
    if not job.standing(ask_it=False).built:
        raise answers.Failed(500, "the job is not built")
    return job


async def get(context: Context, request: web.Request) -> web.StreamResponse:
    """The console."""
    job = await asyncio.to_thread(built_job, context, request)
    model = console(job, answers.base(request), {"linesExecuted": 0, "failure": False})
    return answers.answer(context, request, "script", model, "script.html", model_script="", engine="")


async def post(context: Context, request: web.Request) -> web.StreamResponse:
    """Answer a script that is recognised; any other has failed."""
    job = await asyncio.to_thread(built_job, context, request)
    said = await forms.fields(request)
    if "engine" not in said:
        raise answers.Failed(500, "engine says in which language the script is")
    text = said.get("script", "")
    outcome = await asyncio.to_thread(answered, job, said["engine"], text)
    model = console(job, answers.base(request), outcome)
    return answers.answer(context, request, "script", model, "script.html", model_script=text, engine=said["engine"])


def console(job: EngineJob, base: str, outcome: dict[str, Any]) -> dict[str, Any]:
    """The model; fields without a value are left out."""
    return {
        "crawlJobUrl": base + paths.address("engine", "job", job.name) + "/",
        "crawlJobShortName": job.name,
        "availableScriptEngines": [dict(each) for each in script.ENGINES],
        **{key: value for key, value in outcome.items() if key == "script" and value},
        "linesExecuted": outcome["linesExecuted"],
        **{key: value for key, value in outcome.items() if key in ("rawOutput", "htmlOutput", "exception") and value},
        "availableGlobalVariables": [{"variable": name, "description": words} for name, words in script.VARIABLES],
        "failure": outcome["failure"],
        **{key: value for key, value in outcome.items() if key == "stackTrace"},
    }


def answered(job: EngineJob, engine: str, text: str) -> dict[str, Any]:
    """What the script comes to."""
    made: dict[str, Any] = {"script": text}
    failure = ""
    if engine not in [each["engine"] for each in script.ENGINES]:
        failure = script.NO_ENGINE
    else:
        asked = script.recognised(text)
        if asked is None:
            failure = script.NOT_RUN
        else:
            try:
                output = carried_out(job, asked)
            except ScriptFailed as error:
                failure = f"javax.script.ScriptException: {error}"
            else:
                made["htmlOutput" if asked.html else "rawOutput"] = output
    if failure:
        return {**made, "linesExecuted": 0, "exception": failure, "failure": True, "stackTrace": f"{failure}\n"}
    return {**made, "linesExecuted": max(len(text.splitlines()), 1), "failure": False}


def carried_out(job: EngineJob, asked: Asked) -> str:
    """What is printed. Raises ScriptFailed."""
    end = "\n" if asked.newline else ""
    match asked.what:
        case script.EMPTY:
            return ""
        case script.SHORT_NAME:
            return job.name + end
        case script.LAUNCH_ID:
            standing = job.standing(ask_it=False)
            return (launch_folder(job, standing) if standing.launched else "null") + end
        case script.LIST_JOB:
            return "".join(f"{path}\n" for path in below(job.place.folder, asked))
        case script.LIST_FOLDER:
            return "".join(f"{path}\n" for path in listed(job.place.folder, asked.arguments[0]))
        case script.PROPERTY:
            return printed(job, asked.arguments[0]) + end
        case script.DELETE_URIS:
            return (deleted(job, *asked.arguments) + end) if asked.newline else ""
        case script.DELETE_JOB:
            remove(job)
    return ""


def below(folder: Path, asked: Asked) -> list[Path]:
    """What lies below a folder, links not followed."""
    out: list[Path] = []
    for root, _, names in os.walk(folder, topdown=False):
        if asked.files:
            out += [Path(root) / name for name in sorted(names)]
        if asked.folders:
            out.append(Path(root))
        if len(out) > MOST:
            raise ScriptFailed(f"java.lang.OutOfMemoryError: there are more than {MOST} files")
    return out


def listed(folder: Path, name: str) -> list[Path]:
    """The files of a folder in the job's."""
    path = folder / name
    if not inside(folder, path) or not path.is_dir():
        raise ScriptFailed(f"java.io.FileNotFoundException: {path}")
    return sorted(path.iterdir())[:MOST]


def printed(job: EngineJob, path: str) -> str:
    """One property."""
    built = job.built
    if built is None or built.beans is None:
        raise ScriptFailed("the job has no beans")
    try:
        target = properties(job, "").found(path).target
    except NoProperty as error:
        raise ScriptFailed(str(error)) from None
    return f"[{', '.join(map(str, target))}]" if isinstance(target, list) else "null" if target is None else str(target)


def deleted(job: EngineJob, queue: str, uri: str) -> str:
    """How many queued URIs were deleted, by regular expressions of queues and URIs."""
    if not job.standing(ask_it=False).launched:
        raise ScriptFailed("the job was not launched: nothing is queued")
    try:
        answer = job.perform({"do": "delete", "queue": queue, "uri": uri, "remark": "by the script console"})
    except (Refused, ControlError, JobError, ConfigurationError, StoreError, StorageFull) as error:
        raise ScriptFailed(str(error)) from None
    return str(answer.get("deleted", 0))


def remove(job: EngineJob) -> None:
    """Delete the job's folder, as a client's script for that would, unless its crawl runs."""
    if not job.inside:
        raise ScriptFailed("the folder of the job lies elsewhere")
    if job.standing(ask_it=False).running:
        raise ScriptFailed("the crawl of the job runs: terminate it first")
    job.discard()
    shutil.rmtree(job.place.folder, ignore_errors=True)
