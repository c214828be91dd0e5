"""Is a JSON answer what the description of the API says of its path and status?"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from heritrix_scrapy.operate.web.openapi import description

TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}

#: The page's own JSON, which only its script reads; files of jobs.
UNDESCRIBED = re.compile(r"/ui\b|/engine/(anypath|jobsdir)/|/engine/job/[^/]+/jobdir/|.*/{2}")


@cache
def described() -> dict[str, Any]:
    return description()


def fitting(method: str, target: str, status: int, text: str) -> list[str]:
    """What of a JSON answer the description does not say. ``target``: of the request."""
    path = target.partition("?")[0].rstrip("/")
    if UNDESCRIBED.match(path):
        return []
    name = f"{method} {path} {status}"
    if status >= 400:
        # that of an address that nothing answers is described as any other
        schema: dict[str, Any] | None = {"$ref": "#/components/schemas/Error"}
    else:
        schema = schema_of(method, path, status)
    if schema is None:
        return [f"{name} is not described"]
    return wrong(json.loads(text), schema, name)


def schema_of(method: str, path: str, status: int) -> dict[str, Any] | None:
    """The schema of an answer."""
    for template, methods in described()["paths"].items():
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path):
            answer = methods.get(method.lower(), {}).get("responses", {}).get(str(status), {})
            found: dict[str, Any] | None = answer.get("content", {}).get("application/json", {}).get("schema")
            if found is not None:
                return found
    return None


def wrong(value: Any, schema: dict[str, Any], path: str = "") -> list[str]:
    """What of a value its schema does not say."""
    if "$ref" in schema:
        schema = described()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        every = [wrong(value, each, path) for each in schema["oneOf"]]
        return [] if [] in every else every[0]
    if not schema:
        return []
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    fits = {
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        **{name: isinstance(value, kind) for name, kind in TYPES.items()},
    }
    if not any(fits[each] for each in allowed):
        return [f"{path}: {value!r} is no {allowed}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    out: list[str] = []
    if isinstance(value, list):
        for place, each in enumerate(value):
            out += wrong(each, schema["items"], f"{path}[{place}]")
    if isinstance(value, dict):
        out += [f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if inner is False:
                out.append(f"{path}.{name} is not described")
            elif isinstance(inner, dict):
                out += wrong(each, inner, f"{path}.{name}")
    return out
