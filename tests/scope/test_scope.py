"""Does HERITRIX_SCOPE become the scope that was meant, and does the spider's output go through it?"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import Settings as ScrapySettings
from scrapy.statscollectors import MemoryStatsCollector

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.crawluri import CrawlURI, pack, unpack
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.requests import bind, lookup
from heritrix_scrapy.scope import DecideRule, Decision, Scope, from_settings, scope_of
from heritrix_scrapy.scope.middleware import ScopeMiddleware, judge_spider_request
from heritrix_scrapy.settings import Settings, default_view, read, settings_of

if TYPE_CHECKING:
    from pathlib import Path

SEED = "http://www.a.example/dir/"
CONTACT = "https://example.org/crawl"


def scope(view: Any = None, *, explicit: tuple[str, ...] = (), **values: Any) -> Scope:
    made = from_settings(Settings(view or default_view(**values), explicit=frozenset(explicit)))
    made.seed_added(SEED, SEED)
    return made


def linked(uri: str, path: str = "L") -> CrawlURI:
    return CrawlURI(uri, path=path, via=SEED)


class OwnRule(DecideRule):
    """A rule of a user's own."""

    def __init__(self, ending: str = ".txt") -> None:
        self.ending = ending
        self.crawler: Crawler | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, **properties: Any) -> OwnRule:
        made = cls(**properties)
        made.crawler = crawler
        return made

    def evaluate(self, curi: CrawlURI) -> Decision:
        return Decision.ACCEPT if curi.uri.endswith(self.ending) else Decision.NONE


class Loose:
    """No subclass, but it has the method."""

    def evaluate(self, curi: CrawlURI) -> Decision:
        return Decision.ACCEPT


class Broken:
    def evaluate(self, curi: CrawlURI) -> Decision:
        raise RuntimeError("no answer")


HERE = __name__


def test_the_default_scope_says_why() -> None:
    default = scope()
    verdict = default.decide(linked(SEED + "x"))
    assert (verdict.accepted, verdict.rule, verdict.index) == (True, "SurtPrefixedDecideRule", 1)
    verdict = default.decide(linked("http://b.example/"))
    assert (verdict.accepted, verdict.rule, verdict.index) == (False, "RejectDecideRule", 0)
    icon = linked("http://b.example/favicon.ico", "I")
    assert default.accepts(icon)
    assert icon.settings is not None


def test_lists_of_the_default_scope() -> None:
    default = scope(
        surts=["+b.example"], negative_surts=["http://www.a.example/dir/no/"], reject_regexes=[r".*\.zip", ""]
    )
    assert default.accepts(linked("http://x.b.example/"))
    assert not default.accepts(linked(SEED + "no/x"))
    assert default.decide(linked(SEED + "no/x")).index == 4
    verdict = default.decide(linked(SEED + "x.zip"))
    assert (verdict.index, verdict.rule) == (5, "MatchesListRegexDecideRule")
    elsewhere = linked(SEED + "x.zip")
    elsewhere.settings = default_view(reject_regexes=[])
    assert default.accepts(elsewhere)


def test_forms_of_rules() -> None:
    listed = scope(
        scope=[
            ["RejectDecideRule", {}],
            ["acceptSurts", {"also_check_via": True, "id": "mine"}],
            ["TooManyHopsDecideRule", {"max_hops": 1, "enabled": False}],
            [f"{HERE}.OwnRule", {"ending": ".pdf"}],
            [f"{HERE}.Loose", {"should_process": "RejectDecideRule", "id": "gated"}],
            ["DecideRuleSequence", {"rules": ["SeedAcceptDecideRule"]}],
        ],
        surts=["http://(example,c,"],
    )  # fmt: skip
    assert listed.accepts(linked(SEED + "x"))
    assert listed.accepts(linked("http://b.example/"))
    assert listed.accepts(linked("http://c.example/"))
    rules = listed.sequence.rules
    assert [rule.name for rule in rules][3:5] == ["OwnRule", "Loose"]
    assert (rules[1].id, rules[4].id) == ("mine", "gated")
    far = CrawlURI("http://b.example/x.pdf", path="LL")
    assert listed.decide(far).rule == "OwnRule"


def test_a_rule_object_and_a_class_stand_for_themselves() -> None:
    rule = OwnRule(".gif")
    assert scope(scope=[rule]).sequence.rules == [rule]
    assert scope(scope=OwnRule).accepts(linked("http://b.example/x.txt"))
    assert scope(scope=f"{HERE}.OwnRule").accepts(linked("http://b.example/x.txt"))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("everything", "expected one of default, page, path, host, domain, broad, BroadScope"),
        ("no.such.Rule", "cannot be imported"),
        ("json.dumps", r"evaluate\(curi\)"),
        ([["NoSuchDecideRule", {}]], "no such rule; available: AcceptDecideRule"),
        ([["TooManyHopsDecideRule", {"hops": 3}]], "cannot be built"),
        ([["TooManyHopsDecideRule", {"decision": "MAYBE"}]], "cannot be built"),
        ([["acceptSurts", {"colour": 1}]], "has no property colour"),
        ([7], "expected the name of a rule"),
    ],
)
def test_mistakes_are_one_line(wanted: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        scope(scope=wanted)
    assert "HERITRIX_SCOPE" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_that_no_rule_reads_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        scope(scope=[["acceptSurts", {}]], explicit=("SCOPE", "SURTS", "REJECT_REGEXES"))
    assert [record.getMessage() for record in caplog.records] == [
        "HERITRIX_REJECT_REGEXES has no effect: listRegexFilterOut is not in HERITRIX_SCOPE"
    ]


def test_lines_and_dump_reach_every_rule(tmp_path: Path) -> None:
    nested = scope(
        scope=[
            ["DecideRuleSequence", {"rules": [["SurtPrefixedDecideRule", {"surts_dump_file": str(tmp_path / "d")}]]}]
        ]
    )
    assert nested.non_seed_line("+b.example")
    assert not nested.non_seed_line("*b.example")
    assert nested.accepts(linked("http://b.example/"))
    nested.seeds_read()
    assert (tmp_path / "d").read_text() == "http://(example,a,www,)/dir/\nhttp://(example,b,\n"


# -- the spider's Requests --------------------------------------------------------------------------------------


class Pages(Spider):
    name = "pages"


def crawler(**values: Any) -> Crawler:
    made = Crawler(Pages, ScrapySettings({"HERITRIX_OPERATOR_CONTACT_URL": CONTACT, **values}))
    made.spider = Pages()
    made.stats = MemoryStatsCollector(made)
    settings_of(made)
    return made


def output(made: Crawler, response: Response, *items: Any) -> list[Any]:
    async def results() -> Any:
        for item in items:
            yield item

    async def collect() -> list[Any]:
        middleware = ScopeMiddleware.from_crawler(made)
        return [item async for item in middleware.process_spider_output(response, results())]

    return asyncio.run(collect())


def answered(url: str = SEED, path: str = "L") -> Response:
    request = Request(url)
    parent = CrawlURI(url, path=path, source_tag="tag")
    parent.heritable = {"k": 1}
    bind(request, parent)
    return Response(url, request=request)


def test_a_yielded_request_knows_where_it_comes_from() -> None:
    request = Request("http://B.example/x#part")
    assert output(crawler(), answered(), {"item": 1}, request) == [{"item": 1}, request]
    curi = lookup(request)
    assert curi is not None
    assert (curi.uri, curi.path, curi.via) == ("http://b.example/x", "LL", SEED)
    assert curi.spider_request
    assert not curi.seed
    assert (curi.source_tag, curi.heritable) == ("tag", {"k": 1})


def test_a_response_that_no_crawl_knows_is_a_start() -> None:
    request = Request("http://b.example/")
    output(crawler(), Response("http://c.example/"), request)
    curi = lookup(request)
    assert curi is not None
    assert (curi.path, curi.via) == ("L", "http://c.example/")


def test_the_request_of_the_response_keeps_its_curi() -> None:
    response = answered()
    assert response.request is not None
    before = lookup(response.request)
    assert output(crawler(), response, response.request) == [response.request]
    assert lookup(response.request) is before


def test_scope_is_asked_only_where_the_project_set_it() -> None:
    inside, outside = Request(SEED + "x"), Request("http://b.example/")
    assert output(crawler(), answered(), inside, outside) == [inside, outside]
    for values in ({"HERITRIX_SCOPE": "default"}, {"HERITRIX_SCOPE_SPIDER_REQUESTS": True}):
        made = crawler(**values)
        scope_of(made).seed_added(SEED, SEED)
        inside, outside = Request(SEED + "x"), Request("http://b.example/")
        assert output(made, answered(), inside, outside) == [inside]
        assert lookup(outside) is None
        assert made.stats is not None
        assert made.stats.get_value("heritrix/scope/refused_spider_requests") == 1


def test_seeds_of_the_spider_are_not_judged_but_widen_the_scope() -> None:
    made = crawler(HERITRIX_SCOPE="default")
    crawl = Crawl.of(made)
    assert not judge_spider_request(crawl, linked("http://b.example/x"))
    assert judge_spider_request(crawl, CrawlURI("http://b.example/", seed=True))
    assert judge_spider_request(crawl, linked("http://b.example/x"))


def test_a_rule_that_fails_refuses_and_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    made = crawler(HERITRIX_SCOPE=[f"{HERE}.Broken"])
    assert not judge_spider_request(Crawl.of(made), linked("http://b.example/"))
    assert made.stats is not None
    assert made.stats.get_value("heritrix/scope/errors") == 1
    assert "the scope failed on http://b.example/" in caplog.text


def test_looking_commands_refuse_nothing() -> None:
    made = crawler(HERITRIX_SCOPE="default")
    Crawl.of(made).looking = True
    assert judge_spider_request(Crawl.of(made), linked("http://b.example/"))


def test_one_scope_a_crawler_with_its_rules_made_from_it() -> None:
    made = crawler(HERITRIX_SCOPE=[f"{HERE}.OwnRule"])
    assert scope_of(made) is scope_of(made)
    rule = scope_of(made).sequence.rules[0]
    assert isinstance(rule, OwnRule)
    assert rule.crawler is made


def test_golden_lists_of_this_version_can_be_read() -> None:
    listed = read(
        ScrapySettings(
            {
                "HERITRIX_OPERATOR_CONTACT_URL": CONTACT,
                "HERITRIX_SCOPE": [["RejectDecideRule", {}], ["acceptSurts", {}], ["SchemeNotInSetDecideRule", {}]],
            }
        )
    )
    assert len(from_settings(listed).sequence.rules) == 3


PATHS = st.text("LEXRIP", max_size=60)
URIS = st.sampled_from(
    [SEED + "x", "http://b.example/", "http://www.a.example/other", SEED + "a/b/c.pdf", "dns:b.example"]
)


@given(URIS, PATHS, st.integers(0, 30))
def test_more_hops_never_take_less(uri: str, path: str, limit: int) -> None:
    """The default scope is monotone in HERITRIX_MAX_HOPS, and in the hops of transcluded parts."""
    few, more = scope(max_hops=limit), scope(max_hops=limit + 1)
    assert few.accepts(linked(uri, path)) <= more.accepts(linked(uri, path))
    few, more = scope(max_trans_hops=limit), scope(max_trans_hops=limit + 1)
    assert few.accepts(linked(uri, path)) <= more.accepts(linked(uri, path))


def test_the_deciding_rule_is_noted_and_kept_in_the_store() -> None:
    noting = scope(log_extra_info=True)
    uri = linked("http://www.a.example/dir/x")
    assert noting.accepts(uri)
    assert unpack(pack(uri)).extra_info == {"scopeDecision": "ACCEPT by rule #1 SurtPrefixedDecideRule"}
    plain = linked("http://www.a.example/dir/x")
    assert scope().accepts(plain)
    assert unpack(pack(plain)).extra_info == {}
