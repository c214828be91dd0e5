"""Verdicts that are remembered by directory and hop path: are they those that the rules would give?"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope.rule import ACCEPT, NONE, Decision, decides_by_directory
from heritrix_scrapy.scope.rules_hops import TooManyHopsDecideRule
from heritrix_scrapy.scope.rules_surt import NotSurtPrefixedDecideRule, SurtPrefixedDecideRule
from heritrix_scrapy.scope.scope import Scope, from_settings
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.settings import Settings, default_view


def settings_of(**values: Any) -> Settings:
    return Settings(default_view(operator_contact_url="http://operator.test/", **values))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"surts": ["http://(test,elsewhere,)/d"]},
        {"surts": ["http://(test,elsewhere,)/dir/"], "max_hops": 2},
        {"negative_surts": ["+http://(test,a,)/dir/"]},
        {"reject_regexes": [".*y.*"]},
        {"max_path_depth": 2},
    ],
    ids=str,
)
def test_they_are_what_the_rules_say(values: dict[str, Any]) -> None:
    settings = settings_of(**values)
    remembering, asking = from_settings(settings), from_settings(settings)
    asking._uniform = False
    for scope in (remembering, asking):
        scope.seed_added("http://a.test/")
        scope.seed_added("http://b.test/dir/")
        scope.seeds_read()
    random = Random(7)
    for _ in range(3000):
        uri = random.choice(
            ["http://a.test", "http://b.test", "https://b.test", "http://elsewhere.test", "ftp://a.test"]
        ) + random.choice(["/", "/x", "/dir/", "/dir/y", "/d", "/r/r/r/r/r", "/x?q=/1/2/3/4", "/dir?"])
        path = "".join(random.choices("LLERX", k=random.randrange(5)))
        curi = CrawlURI(uri, path=path, seed=random.random() < 0.1)
        answer = asking.accepts(curi)
        assert remembering.accepts(curi) is answer
        if not curi.seed:
            assert remembering.recall(uri, path) in (answer, None)


def test_a_new_seed_is_heeded() -> None:
    scope = from_settings(settings_of())
    scope.seeds_read()
    curi = CrawlURI("http://late.test/page", path="L")
    assert not scope.accepts(curi)
    scope.seed_found(CrawlURI("http://late.test/", seed=True))
    assert scope.accepts(curi)


class Fickle(TooManyHopsDecideRule):
    """Looks at more than the rule it is derived from."""

    def evaluate(self, curi: CrawlURI) -> Decision:
        return ACCEPT if curi.uri.endswith("yes") else NONE


def test_a_rule_of_ones_own_is_asked_each_time() -> None:
    assert not decides_by_directory(Fickle())
    assert decides_by_directory(TooManyHopsDecideRule())
    settings = settings_of()
    scope = Scope(DecideRuleSequence([Fickle()]), settings.for_uri, settings.view, uniform=True)
    said = [scope.accepts(CrawlURI(f"http://a.test/{name}", path="L")) for name in ("yes", "no", "yes")]
    assert said == [True, False, True]


def test_prefixes_that_end_inside_a_name_are_compared_each_time() -> None:
    view = default_view()
    for prefix, by_directory in (
        ("+http://(test,a,)/dir/", True),
        ("+http://(test,", True),
        ("+http://(test,a,)/di", False),
    ):
        for kind in (SurtPrefixedDecideRule, NotSurtPrefixedDecideRule):
            rule = kind(surts_source=[prefix, "+http://(org,"], decision="REJECT")
            rule.configure(view)
            assert decides_by_directory(rule) is by_directory
    via = SurtPrefixedDecideRule(also_check_via=True)
    via.configure(view)
    assert not decides_by_directory(via)
