"""Blocking before the fetch."""

from __future__ import annotations

from typing import Any

import pytest

from heritrix_scrapy.fetch.preselector import matches, preselect
from heritrix_scrapy.model.crawluri import CrawlURI
from tests.adapters.fetch_preconditions import view_of


def judged(
    uri: str, *, profile: str = "heritrix", prerequisite: bool = False, scope: bool = True, **values: Any
) -> int:
    curi = CrawlURI(uri)
    curi.is_prerequisite = prerequisite
    return preselect(curi, view_of(profile, **values), lambda candidate: scope)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, 0),
        ({"block_all": True}, -5001),
        ({"block_all": True, "allow_by_regex": ".*"}, -5001),
        ({"allow_by_regex": r"http://h\.example/.*"}, 0),
        # the whole URI has to match
        ({"allow_by_regex": r"example"}, -5001),
        ({"block_by_regex": r".*\.gif"}, -5001),
        ({"block_by_regex": r"\.gif"}, 0),
        ({"allow_by_regex": r".*\.gif", "block_by_regex": r".*x.*"}, -5001),
        ({"recheck_scope": True}, 0),
        ({"recheck_scope": True, "scope": False}, -5000),
        # blocked comes before out of scope
        ({"recheck_scope": True, "scope": False, "block_by_regex": ".*"}, -5001),
    ],
)
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_order_of_tests(profile: str, values: dict[str, Any], expected: int) -> None:
    assert judged("http://h.example/x.gif", profile=profile, **values) == expected


@pytest.mark.parametrize(("profile", "expected"), [("modern", 0), ("heritrix", -5001)])
def test_prerequisites_pass_in_the_modern_profile(profile: str, expected: int) -> None:
    assert judged("dns:h.example", profile=profile, block_all=True) == expected
    assert judged("http://h.example/robots.txt", profile=profile, prerequisite=True, block_all=True) == expected
    assert judged("http://h.example/robots.txt", profile=profile, block_all=True) == -5001


def test_character_classes_are_ascii() -> None:
    assert not matches(r"\w+", "é")
    assert matches(r"(?i)ABC", "abc")


def test_expressions_are_javas() -> None:
    assert matches(r"http://\p{Alpha}+\.example/(?<name>.*)", "http://h.example/x")
    assert judged("http://h.example/x.gif", block_by_regex=r".*\.\p{Lower}{3}") == -5001
