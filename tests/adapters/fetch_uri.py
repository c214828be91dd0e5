"""How hop paths of the model answer ``fetch.json``."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model import hops

Case = dict[str, Any]


def extended(case: Case) -> tuple[bool, object]:
    path = case["input"]["path"] or ""
    got = hops.extend(path, case["input"]["hop"]) if case["input"]["hop"] else path
    expected = case["expected"]
    return got == expected.get("pinned", expected.get("observed")), got


ADAPTERS = {"fetch/hops_path": extended}
