"""How the uri room answers ``output.json``."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.uri.surt import surt


def surt_of(case: dict[str, Any]) -> tuple[bool, object]:
    got = surt(case["input"], strict=True)
    return got == case["expected"], got


ADAPTERS = {"output/surt": surt_of}
