"""Does a sheet with a value that no part can use end the start, and not a fetch in the middle of the crawl?"""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from heritrix_scrapy.chain import ChainMiddleware
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.access_middleware import AccessMiddleware
from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.guards import LimitExtension
from heritrix_scrapy.scope.scope import scope_of
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Clock

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "https://operator.example/", "LOG_LEVEL": "ERROR"}


def start(sheet: dict[str, Any], **others: Any) -> None:
    """Make the parts that read settings, in Scrapy's order."""
    laid = {
        "HERITRIX_SHEETS": {"s": sheet},
        "HERITRIX_SHEET_ASSOCIATIONS": [{"rules": ["AcceptDecideRule"], "sheets": ["s"]}],
    }
    crawler = get_crawler(settings_dict=CONTACT | laid | others)
    settings = settings_of(crawler)
    AccessMiddleware.from_crawler(crawler)
    ChainMiddleware.from_crawler(crawler)
    scope = scope_of(crawler)
    LimitExtension.from_crawler(crawler)
    Frontier(MemoryStore(), settings, decide=scope.accepts, hosts=Crawl.of(crawler).hosts, clock=Clock())


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("QUEUE_ASSIGNMENT_POLICY", "Nope", "expected one of"),
        ("QUEUE_ASSIGNMENT_POLICY", "no.such.Policy", "no.such"),
        ("COST_ASSIGNMENT_POLICY", "Nope", "expected one of"),
        ("URI_PRECEDENCE_POLICY", ["Hops", {"nope": 1}], "no such property"),
        ("QUEUE_PRECEDENCE_POLICY", "Nope", "expected one of"),
        ("DEFAULT_URI_PRECEDENCE_POLICY", "Nope", "expected one of"),
        ("DEFAULT_URI_PRECEDENCE_POLICY", "Preloaded", "expected another policy"),
        ("INCREMENT_COUNTS", "many", "whole numbers"),
        ("PRELOAD_SOURCE", ["http://a.example/ high"], "a whole number"),
        ("CANONICALIZATION_RULES", ["Nope"], "Nope"),
        ("CANONICALIZATION_RULES[LowercaseRule].nope", 1, "nope"),
        ("EXTRACTORS[ExtractorHTML].nope", 1, "nope"),
        ("EXTRACTORS[ExtractorHTML].should_process", "NopeDecideRule", "no such rule"),
        ("SHOULD_FETCH_BODY_RULE", "NopeDecideRule", "no such rule"),
        ("ROBOTS_POLICY", "nope", "expected one of|no such robots policy"),
        ("ROBOTS_POLICY", "no.such.Policy", "cannot be loaded"),
        ("ROBOTS_POLICY", ["ignore", {"nope": 1}], "no property nope"),
        ("AVAILABLE_ROBOTS_POLICIES", {"mine": "nope"}, "no such robots policy"),
        ("CREDENTIALS", [["Nope", {}]], "Nope"),
        ("QUOTAS", [{"nope": 1}], "nope"),
        ("REJECT_REGEXES", ["("], "expression"),
        ("BLOCK_BY_REGEX", "(", "expression"),
        ("DEDUPLICATE_EXCEPT", ["("], "expression"),
        ("WARC_RESPONSE_HEADERS", ["no header"], "Name: value"),
        ("ACCEPT_HEADERS", ["no header"], "Name: value"),
        ("OPERATOR_CONTACT_URL", "nobody", "http"),
        ("OPERATOR_CONTACT_URL", "", "http"),
        ("USER_AGENT_TEMPLATE", "me", "OPERATOR_CONTACT_URL"),
    ],
)
def test_a_sheet_that_cannot_be_ends_the_start(name: str, value: Any, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        start({f"HERITRIX_{name}": value})


def test_one_that_can_be_does_not() -> None:
    start({"HERITRIX_COST_ASSIGNMENT_POLICY": "Wag", "HERITRIX_ROBOTS_POLICY": "ignore"})


@pytest.mark.parametrize(
    ("name", "value"),
    [("DEDUPLICATE_EXCEPT", ["("]), ("ACCEPT_HEADERS", ["no header"]), ("WARC_RESPONSE_HEADERS", ["no header"])],
)
def test_nor_can_it_be_for_the_whole_crawl(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name):
        start({}, **{f"HERITRIX_{name}": value})
