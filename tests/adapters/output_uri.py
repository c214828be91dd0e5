"""How the uri room, and hop paths of the model, answer ``output.json``."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.uri.surt import surt


def surt_of(case: dict[str, Any]) -> tuple[bool, object]:
    got = surt(case["input"], strict=True)
    return got == case["expected"], got


def extended(case: dict[str, Any]) -> tuple[bool, object]:
    path, hop = case["input"]
    got = hops.extend(path or "", hop) if hop else path or ""
    return got == case["expected"], got


ADAPTERS = {"output/surt": surt_of, "output/hops_path": extended}
