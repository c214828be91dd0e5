"""What does the JSON side of the API look like? An OpenAPI 3.1 description, made of tables."""

from __future__ import annotations

from typing import Any, Final

from heritrix_scrapy.model.version import VERSION
from heritrix_scrapy.operate.web.accept import JSON
from heritrix_scrapy.operate.web.models import QUEUES, READIED

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "number"}
COUNT: Final = {"type": "integer"}
TRUTH: Final = {"type": "boolean"}


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    """Such a value, or null."""
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"oneOf": [schema, {"type": "null"}]}


def listed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def record(properties: dict[str, Any], *, optional: tuple[str, ...] = (), open_: bool = False) -> dict[str, Any]:
    """An object with these properties; ``optional``: those that may be missing; ``open_``: further ones may come."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": COUNT if open_ else False,
    }


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


STATES: Final = ("NASCENT", "PREPARING", "RUNNING", "EMPTY", "PAUSING", "PAUSED", "STOPPING", "FINISHED")
ACTIONS: Final = ("build", "launch", "pause", "unpause", "checkpoint", "terminate", "teardown")
STATE: Final = {"type": "string", "enum": list(STATES)}

SHORT: Final = {
    "shortName": TEXT,
    "url": TEXT,
    "isProfile": TRUTH,
    "launchCount": COUNT,
    "lastLaunch": maybe(TEXT),
    "hasApplicationContext": TRUTH,
    "statusDescription": TEXT,
    "isLaunchInfoPartial": TRUTH,
    "primaryConfig": TEXT,
    "primaryConfigUrl": TEXT,
    "crawlControllerState": STATE,
    "crawlExitStatus": TEXT,
    "key": TEXT,
}
SIZES: Final = (
    "dupByHash",
    "dupByHashCount",
    "novel",
    "novelCount",
    "notModified",
    "notModifiedCount",
    "total",
    "totalCount",
    "sizeOnDisk",
)


def schemas() -> dict[str, Any]:
    """The objects of the answers."""
    uris = ("downloadedUriCount", "queuedUriCount", "totalUriCount", "futureUriCount")
    file = {"key": TEXT, "name": TEXT, "path": TEXT, "url": TEXT, "editable": TRUTH}
    optional = (
        "crawlControllerState",
        "crawlExitStatus",
        "checkpointName",
        "alertLogFilePath",
        "alertLogFileUrl",
        "crawlLogFilePath",
        "crawlLogFileUrl",
    )
    job = {
        "shortName": TEXT,
        "crawlControllerState": STATE,
        "crawlExitStatus": TEXT,
        "statusDescription": TEXT,
        "availableActions": listed({"type": "string", "enum": list(ACTIONS)}),
        "launchCount": COUNT,
        "lastLaunch": maybe(TEXT),
        "isProfile": TRUTH,
        "primaryConfig": TEXT,
        "primaryConfigUrl": TEXT,
        "url": TEXT,
        "jobLogTail": maybe(listed(TEXT)),
        "uriTotalsReport": maybe(record(dict.fromkeys(uris, COUNT))),
        "sizeTotalsReport": record(dict.fromkeys(SIZES, COUNT), open_=True),
        "rateReport": maybe(
            record(
                {
                    "currentDocsPerSecond": NUMBER,
                    "averageDocsPerSecond": maybe(NUMBER),
                    "currentKiBPerSec": COUNT,
                    "averageKiBPerSec": COUNT,
                }
            )
        ),
        "loadReport": maybe(
            record(
                {
                    "busyThreads": COUNT,
                    "totalThreads": COUNT,
                    "congestionRatio": maybe(NUMBER),
                    "averageQueueDepth": COUNT,
                    "deepestQueueDepth": COUNT,
                }
            )
        ),
        "elapsedReport": maybe(record({"elapsedMilliseconds": COUNT, "elapsedPretty": TEXT})),
        "threadReport": maybe(record({"toeCount": COUNT, "steps": listed(TEXT), "processors": listed(TEXT)})),
        "frontierReport": maybe(record({**dict.fromkeys((*QUEUES, READIED), COUNT), "lastReachedState": TEXT})),
        "crawlLogTail": maybe(listed(TEXT)),
        "configFiles": maybe(listed(record(file))),
        "isLaunchInfoPartial": TRUTH,
        "isRunning": TRUTH,
        "isLaunchable": TRUTH,
        "hasApplicationContext": TRUTH,
        "alertCount": COUNT,
        "checkpointName": TEXT,
        "checkpointFiles": maybe(listed(TEXT)),
        "alertLogFilePath": TEXT,
        "alertLogFileUrl": TEXT,
        "crawlLogFilePath": TEXT,
        "crawlLogFileUrl": TEXT,
        "reports": maybe(listed(record({"className": TEXT, "shortName": TEXT}))),
        "heapReport": ref("Heap"),
    }
    node = {"name": TEXT, "url": TEXT, "class": TEXT, "children": maybe(listed(ref("Node")))}
    script = {
        "crawlJobUrl": TEXT,
        "crawlJobShortName": TEXT,
        "availableScriptEngines": listed(record({"engine": TEXT, "language": TEXT})),
        "script": TEXT,
        "linesExecuted": COUNT,
        "rawOutput": TEXT,
        "htmlOutput": TEXT,
        "exception": TEXT,
        "availableGlobalVariables": listed(record({"variable": TEXT, "description": TEXT})),
        "failure": TRUTH,
        "stackTrace": TEXT,
    }
    return {
        "Heap": record({"usedBytes": COUNT, "totalBytes": COUNT, "maxBytes": COUNT}),
        "JobInList": record(SHORT, optional=("crawlControllerState", "crawlExitStatus")),
        "Engine": record(
            {
                "heritrixVersion": TEXT,
                "heapReport": ref("Heap"),
                "jobsDir": TEXT,
                "jobsDirUrl": TEXT,
                "availableActions": listed(TEXT),
                "jobs": listed(ref("JobInList")),
            }
        ),
        "Job": record(job, optional=optional),
        "Node": record(node),
        "Beans": record(
            {
                "crawlJobShortName": TEXT,
                "crawlJobUrl": TEXT,
                "beanPath": maybe(TEXT),
                "bean": {},
                "editable": TRUTH,
                "problem": maybe(TEXT),
                "target": {},
                "allNamedCrawlBeans": listed(ref("Node")),
            }
        ),
        "Script": record(script, optional=("script", "rawOutput", "htmlOutput", "exception", "stackTrace")),
        "Documentation": {
            "type": "object",
            "properties": {},
            "additionalProperties": record({"description": TEXT, "type": TEXT, "default": {}, "setting": TEXT}),
        },
        "Description": {"type": "object", "properties": {"openapi": TEXT}, "required": ["openapi"]},
        "Error": record({"status": COUNT, "error": TEXT}),
    }


def description() -> dict[str, Any]:
    """The whole description."""
    engine_form = {
        "action": {"type": "string", "enum": ["rescan", "create", "add", "gc", "exit java process"]},
        "createpath": TEXT,
        "profile": TEXT,
        "addpath": TEXT,
        "im_sure": {"type": "string", "enum": ["on"]},
    }
    job_form = {
        "action": {"type": "string", "enum": ["validate", "instantiate", *ACTIONS]},
        "checkpoint": TEXT,
        "resume": {"type": "string", "enum": ["on"]},
        "copyTo": TEXT,
        "asProfile": {"type": "string", "enum": ["on", "off"]},
    }
    name = [{"name": "job", "in": "path", "required": True, "schema": TEXT}]
    bean = [*name, {"name": "path", "in": "path", "required": True, "schema": TEXT}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Archival crawls: the engine's API", "version": VERSION, "description": ABOUT},
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "digest": {"type": "http", "scheme": "digest"},
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
        "security": [{"digest": []}, {"basic": []}],
        "paths": {
            "/engine": {"get": shown("Engine"), "post": asked("Do something to the engine.", engine_form)},
            "/engine/beandoc": {"get": shown("Documentation")},
            "/engine/openapi.json": {"get": shown("Description")},
            "/engine/job/{job}": {
                "parameters": name,
                "get": shown("Job"),
                "post": asked("Do something to the job, or copy it.", job_form),
            },
            "/engine/job/{job}/beans": {
                "parameters": name,
                "get": shown("Beans"),
                "post": asked("Change a property of the built job.", {"beanPath": TEXT, "newVal": TEXT}),
            },
            "/engine/job/{job}/beans/{path}": {"parameters": bean, "get": shown("Beans")},
            "/engine/job/{job}/script": {
                "parameters": name,
                "get": shown("Script"),
                "post": {**shown("Script"), "requestBody": body({"engine": TEXT, "script": TEXT})},
            },
        },
    }


ABOUT: Final = (
    "Every answer is JSON where Accept names application/json, XML or HTML otherwise. Bodies of requests are forms or"
    " JSON objects of the same fields. An action answers 303 to the page that shows what came of it."
)


def shown(schema: str) -> dict[str, Any]:
    """A GET."""
    good = {"description": schema, "content": {JSON: {"schema": ref(schema)}}}
    return {"summary": schema, "responses": {"200": good, **errors("401", "404")}}


def asked(words: str, fields: dict[str, Any]) -> dict[str, Any]:
    """A POST."""
    moved = {"description": "Done, or why not is in the next page's message and the job's log."}
    return {
        "summary": words,
        "requestBody": body(fields),
        "responses": {"303": moved, **errors("401", "403", "404", "409")},
    }


def body(fields: dict[str, Any]) -> dict[str, Any]:
    form = {"type": "object", "properties": fields}
    return {"content": {"application/x-www-form-urlencoded": {"schema": form}, JSON: {"schema": form}}}


MEANING: Final = {
    "401": "Nobody has logged in.",
    "403": "The login may not, or another site's page sent it.",
    "404": "There is no such job, or it is not built.",
    "409": "The job's state does not allow it.",
    "default": "The request comes to nothing; the words say why.",
}


def errors(*codes: str) -> dict[str, Any]:
    return {
        code: {"description": MEANING[code], "content": {JSON: {"schema": ref("Error")}}}
        for code in (*codes, "default")
    }
