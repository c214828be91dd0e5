"""Does the manual have a row for every extractor, with its own properties?"""

from __future__ import annotations

import re
from pathlib import Path

from heritrix_scrapy.extract.order import DEFAULT_ORDER, EXTRACTORS

PAGE = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE, re.MULTILINE))


def test_every_extractor_has_its_row() -> None:
    assert list(ROWS) == list(EXTRACTORS)
    assert f"By default: {', '.join(DEFAULT_ORDER)}." in PAGE


def test_every_property_of_its_own_is_named() -> None:
    for name, kind in EXTRACTORS.items():
        for word in kind.own:
            assert f"`{word}`" in ROWS[name] or "the same" in ROWS[name], (name, word)
