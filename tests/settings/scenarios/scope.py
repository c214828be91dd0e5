"""Scenarios of the settings of scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.candidates import may_be_promoted, outlinks_wanted, redirects_promote
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import from_settings
from tests.settings.scenarios import WITH, WITHOUT, Outcome, Scenario, at

if TYPE_CHECKING:
    from heritrix_scrapy.settings import Settings


def taken(tail: str, path: str) -> Outcome:
    """Whether scope takes a URI."""

    def outcome(settings: Settings, host: str) -> bool:
        scope = from_settings(settings)
        for seed in (WITH, WITHOUT):
            scope.non_seed_line("+" + seed)
        return scope.accepts(at(settings, host, tail, path))

    return outcome


def transcluded(path: str) -> Outcome:
    """Whether scope takes a part of a page that lies elsewhere."""
    return lambda settings, host: from_settings(settings).accepts(at(settings, host, "x", path))


def promoted(settings: Settings, host: str) -> bool:
    return redirects_promote(at(settings, host, "", "", seed=True))


def top_promoted(settings: Settings, host: str) -> bool:
    return may_be_promoted(CrawlURI("http://com/", path="R"), at(settings, host).settings)


def followed(settings: Settings, host: str) -> bool:
    return outlinks_wanted(404, process_error_outlinks=at(settings, host).settings.process_error_outlinks)


SCENARIOS = {
    "SEEDS_REDIRECT_NEW_SEEDS": Scenario(False, promoted),
    "SEEDS_REDIRECT_NEW_SEEDS_ALLOW_TLDS": Scenario(False, top_promoted),
    "PROCESS_ERROR_OUTLINKS": Scenario(True, followed),
    "REJECT_REGEXES": Scenario([".*x"], taken("x", "L")),
    "MAX_HOPS": Scenario(1, taken("x", "LL")),
    "MAX_TRANS_HOPS": Scenario(1, transcluded("LEE")),
    "MAX_SPECULATIVE_HOPS": Scenario(0, transcluded("LX")),
    "MAX_REPETITIONS": Scenario(1, taken("a/a/x", "L")),
    "MAX_PATH_DEPTH": Scenario(1, taken("a/x", "L")),
}
