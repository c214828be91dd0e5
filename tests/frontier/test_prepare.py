"""Preparation, politeness and the candidate step, where the vectors do not look."""

from __future__ import annotations

import pytest

from heritrix_scrapy.frontier import prepare
from heritrix_scrapy.frontier.candidates import Candidates, follow_embeds
from heritrix_scrapy.frontier.policies import named
from heritrix_scrapy.frontier.policies.cost import WagCostAssignmentPolicy
from heritrix_scrapy.frontier.politeness import bandwidth_wait, politeness_delay, retry_delay
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings import default_view
from tests.frontier.world import UniformSettings


@pytest.mark.parametrize(
    ("path", "given", "depth", "wanted"),
    [
        ("", 2, 0, 2),  # a seed waits behind what was found
        ("L", 3, 0, 1),
        ("LLLL", 3, 0, 1),
        ("LP", 2, 0, 2),  # a prerequisite keeps its lead
        ("P", 0, 3, 0),
        ("L", 3, 2, 1),
        ("LL", 3, 2, 1),
        ("LLL", 3, 2, 3),
        ("", 2, 2, 2),
        ("R", 0, -1, 2),
        ("R", 0, 0, 1),
        ("LE", 3, -1, 2),
        ("LEE", 3, -1, 3),
        ("LP", 3, -1, 3),
        ("12+" + "L" * 49 + "E", 3, -1, 2),
    ],
)
def test_modern_directive(path: str, given: int, depth: int, wanted: int) -> None:
    assert prepare.directive(path, given, depth, 1, heritrix=False) == wanted


@pytest.mark.parametrize(
    "written",
    [
        "Wag",
        "WagCostAssignmentPolicy",
        "org.archive.crawler.frontier.WagCostAssignmentPolicy",
        ["Wag"],
        ["WagCostAssignmentPolicy", {}],
    ],
)
def test_forms_of_a_policy(written: object) -> None:
    made = named.Policies().make(named.COST, default_view(cost_assignment_policy=written))
    assert isinstance(made, WagCostAssignmentPolicy)


def test_unknown_policy() -> None:
    with pytest.raises(ConfigurationError, match="one of Unit, Zero, Wag, AntiCalendar"):
        named.Policies().make(named.COST, default_view(cost_assignment_policy="Dear"))


def test_redirect_without_via_does_no_harm() -> None:
    curi = CrawlURI("http://a.test/", path="R")
    curi.settings = default_view("heritrix")
    prepare.Preparer(prepare.canonicaliser, heritrix=True).prepare(curi)
    assert not curi.forced


def plan(profile: str = "modern", **settings: object) -> prepare.Plan:
    preparer = prepare.Preparer(prepare.canonicaliser, heritrix=profile == "heritrix")
    return preparer.plan(default_view(profile, **settings))


def test_class_key_stays_once_given() -> None:
    curi = CrawlURI("http://a.test/")
    curi.class_key = "elsewhere"
    assert plan().class_key(curi) == "elsewhere"
    assert plan(defer_to_previous=False).class_key(curi) == "test,a,"


@pytest.mark.parametrize(
    ("uri", "modern", "heritrix"),
    [
        ("http://user:pw@www.a.test:8080/x", "test,a,www,#8080@user#pw", "test,a,www,#8080@user#pw"),
        ("http://127.0.0.1:81/", "127.0.0.1#81", "127.0.0.1#81"),
        ("http://[::1]/", "[##1]", "[##1],"),
        ("http://a.test?x=/y", "test,a,", "test,a,"),
        ("dns:a.test", "default...", "default..."),
        ("whois:a.test", "whois...", "whois..."),
    ],
)
def test_queue_of_a_uri(uri: str, modern: str, heritrix: str) -> None:
    assert plan().class_key(CrawlURI(uri)) == modern
    assert plan("heritrix").class_key(CrawlURI(uri)) == heritrix


def test_delays() -> None:
    view = default_view()
    assert politeness_delay(view, None, 5) == 0
    assert politeness_delay(view, 0, 1000) == 5000
    assert politeness_delay(view, 0, 1000, crawl_delay=600) == 300_000
    assert politeness_delay(view, 0, 1000, wait_ms=90_000) == 90_000
    assert bandwidth_wait(10_240, 10) == 1000
    assert bandwidth_wait(10_240, 0) == 0
    assert retry_delay(view, status.CONNECT_FAILED) == 900_000
    assert retry_delay(view, status.DEFERRED) == 0


PAGE = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "spider", "kind", "hop", "followed"),
    [
        ("L", True, PAGE, "E", True),
        ("L", True, PAGE, "I", True),
        ("L", True, PAGE, "R", True),
        ("L", True, PAGE, "X", True),
        ("L", True, PAGE, "L", False),
        ("L", True, PAGE, "M", False),
        ("L", True, PAGE, "S", False),
        ("LE", False, "text/css", "X", True),
        ("LE", False, "text/css", "E", True),
        ("LE", False, "application/javascript", "X", True),
        ("LE", False, "application/pdf", "X", False),
        ("LE", False, PAGE, "R", True),
        ("LL", False, PAGE, "R", False),
    ],
)
def test_follow_embeds(path: str, spider: bool, kind: str, hop: str, followed: bool) -> None:
    parent = CrawlURI("http://a.test/", path=path, spider_request=spider)
    parent.content_type = kind
    assert follow_embeds(parent, Outlink("http://b.test/", hop, "")) is followed


def candidates(decide: object = None, **settings: object) -> tuple[Candidates, UniformSettings]:
    source = UniformSettings(default_view(**{"follow": "all", **settings}))
    preparer = prepare.Preparer(prepare.canonicaliser, heritrix=False)
    return Candidates(decide or (lambda curi: True), source, preparer), source  # type: ignore[arg-type]


def fetched(source: UniformSettings, links: list[Outlink], **identity: object) -> CrawlURI:
    parent = CrawlURI("http://a.test/", **identity)  # type: ignore[arg-type]
    parent.status, parent.settings, parent.outlinks = 200, source.view, links
    return parent


@pytest.mark.parametrize(("path", "promoted"), [("", True), ("RRR", True), ("RRRR", False)])
def test_redirect_of_a_seed_becomes_a_seed(path: str, promoted: bool) -> None:
    judged, source = candidates()
    parent = fetched(source, [Outlink("http://b.test/", "R", "Location:")], seed=True, path=path)
    [(child, _)] = judged.judge(parent)
    assert child.seed is promoted
    assert child.forced is promoted
    assert child.directive == 2


def test_no_promotion_when_it_is_switched_off() -> None:
    judged, source = candidates(seeds_redirect_new_seeds=False)
    [(child, _)] = judged.judge(fetched(source, [Outlink("http://b.test/", "R", "")], seed=True))
    assert not child.seed


@pytest.mark.parametrize(("target", "promoted"), [("http://com/", False), ("http://b.com/", True)])
def test_no_promotion_of_a_top_level_domain(target: str, promoted: bool) -> None:
    judged, source = candidates(seeds_redirect_new_seeds_allow_tlds=False)
    [(child, _)] = judged.judge(fetched(source, [Outlink(target, "R", "")], seed=True))
    assert child.seed is promoted


def test_a_rule_that_raises_costs_its_link_only(caplog: pytest.LogCaptureFixture) -> None:
    def decide(curi: CrawlURI) -> bool:
        if "bad" in curi.uri:
            raise ValueError("a rule of the user's")
        return True

    judged, source = candidates(decide)
    links = [Outlink(f"http://b.test/{name}", "L", "") for name in ("1", "bad", "2")]
    parent = fetched(source, links)
    assert [child.uri for child, _ in judged.judge(parent)] == ["http://b.test/1", "http://b.test/2"]
    # the page's errors go to nonfatal-errors.log, and are counted
    [(where, error)] = parent.errors
    assert where == "judging http://b.test/bad"
    assert isinstance(error, ValueError)
    assert judged.take_rejected() == 1
    assert "http://b.test/bad could not be judged" in caplog.text


def test_refused_prerequisite() -> None:
    judged, source = candidates(lambda curi: False)
    parent = fetched(source, [])
    parent.prerequisite = "dns:a.test"
    assert judged.prerequisite(parent) is None
    assert parent.status == status.PREREQUISITE_UNSCHEDULABLE
