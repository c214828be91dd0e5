"""How hop paths and server keys of the model, and hosts of the uri room, answer ``fetch.json``."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.uri.fixup import fix
from heritrix_scrapy.uri.parts import referenced_host

Case = dict[str, Any]


def keys(case: Case) -> tuple[bool, object]:
    uri = fix(case["input"]["uri"], strict=True)
    got = {"serverKey": server_key(uri) or None, "refHost": referenced_host(uri)}
    expected: dict[str, object] = {}
    for kind in ("pinned", "observed"):
        # A pinned sentence says what the test looked at, not a value.
        if isinstance(said := case["expected"].get(kind), dict):
            expected.update(said)
    return all(got[key] == value for key, value in expected.items()), got


def extended(case: Case) -> tuple[bool, object]:
    path = case["input"]["path"] or ""
    got = hops.extend(path, case["input"]["hop"]) if case["input"]["hop"] else path
    expected = case["expected"]
    return got == expected.get("pinned", expected.get("observed")), got


ADAPTERS = {"fetch/server_key": keys, "fetch/hops_path": extended}
