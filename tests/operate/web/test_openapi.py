"""Is what the API answers what its description says?"""

from __future__ import annotations

import json
from typing import Any

from heritrix_scrapy.operate.web.openapi import description

TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def wrong(value: Any, schema: dict[str, Any], described: dict[str, Any], path: str = "") -> list[str]:
    """What of a value its schema does not say."""
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        every = [wrong(value, each, described, path) for each in schema["oneOf"]]
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
            out += wrong(each, schema["items"], described, f"{path}[{place}]")
    if isinstance(value, dict):
        out += [f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, each in value.items():
            further = schema.get("additionalProperties")
            inner = schema.get("properties", {}).get(name, further)
            out += (
                [f"{path}.{name} is not described"]
                if inner is False
                else wrong(each, inner, described, f"{path}.{name}")
            )
    return out


def test_answers_are_as_described(client):
    described = json.loads(client.get("/engine/openapi.json").text)
    assert described == description()
    client.post("/engine", action="create", createpath="a")
    asked = {"Engine": ["/engine"], "Job": ["/engine/job/a"], "Beans": [], "Script": []}
    for built in (False, True):
        if built:
            client.post("/engine/job/a", action="build")
            asked["Beans"] = ["/engine/job/a/beans", "/engine/job/a/beans/frontier", "/engine/job/a/beans/nosuch"]
            asked["Script"] = ["/engine/job/a/script"]
        for name, paths in asked.items():
            for path in paths:
                told = json.loads(client.get(path, "application/json").text)
                assert wrong(told, {"$ref": f"#/components/schemas/{name}"}, described, name) == []


def test_errors_are_as_described(client):
    described = description()
    for path in ("/engine/job/none", "/engine/nothing"):
        told = json.loads(client.get(path, "application/json").text)
        assert wrong(told, {"$ref": "#/components/schemas/Error"}, described) == []
    answer = client.ask("POST", "/engine/job/none", form={"action": "build"}, headers={"Accept": "application/json"})
    assert json.loads(answer.text)["status"] == 404


def test_a_json_body_is_a_form(client, jobs):
    body = json.dumps({"action": "create", "createpath": "a"}).encode()
    headers = {"Content-Type": "application/json"}
    assert client.ask("POST", "/engine", body=body, headers=headers).status == 303
    assert (jobs / "a").exists()
    for text in (b"[", b"[1]", b'{"action": {}}', b"[" * 100_000, b"\xff"):
        assert client.ask("POST", "/engine", body=text, headers=headers).status == 303


def test_every_path_has_a_resource():
    from heritrix_scrapy.operate.web.dispatch import table_of

    for path, methods in description()["paths"].items():
        table = table_of(path.strip("/").replace("{job}", "a").replace("{path}", "b").split("/"))
        assert table is not None
        assert {each.upper() for each in methods if each != "parameters"} <= set(table)
