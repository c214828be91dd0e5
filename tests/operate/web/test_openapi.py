"""Is what the API answers what its description says?"""

from __future__ import annotations

import json

from heritrix_scrapy.operate.web.openapi import description
from tests.operate.web.described import wrong


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
                assert wrong(told, {"$ref": f"#/components/schemas/{name}"}, name) == []


def test_errors_are_as_described(client):
    for path in ("/engine/job/none", "/engine/nothing"):
        told = json.loads(client.get(path, "application/json").text)
        assert wrong(told, {"$ref": "#/components/schemas/Error"}) == []
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
