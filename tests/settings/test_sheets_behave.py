"""What does a sheet change? Each setting that a sheet may override is tried where a sheet lies and where none does.

A setting that is made overridable needs a scenario in the module of its room below ``scenarios``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.scope import from_settings
from heritrix_scrapy.scope.rule import DecideRule, Decision
from heritrix_scrapy.settings import Settings, read
from heritrix_scrapy.settings.defaults import SETTINGS
from tests.settings.scenarios import (
    WITH,
    WITHOUT,
    Scenario,
    archive,
    before,
    extract,
    fetch,
    frontier,
    operate,
    schemes,
    scope,
)

if TYPE_CHECKING:
    from heritrix_scrapy.model.crawluri import CrawlURI

ROOMS: tuple[dict[str, Scenario], ...] = (
    scope.SCENARIOS,
    frontier.SCENARIOS,
    before.SCENARIOS,
    fetch.SCENARIOS,
    schemes.SCENARIOS,
    extract.SCENARIOS,
    archive.SCENARIOS,
    operate.SCENARIOS,
)
SCENARIOS = {name: scenario for room in ROOMS for name, scenario in room.items()}
OVERRIDABLE = [row.name for row in SETTINGS if row.overridable]

HOW = (
    "has no scenario. Add a row `NAME: Scenario(value, outcome)` to a module of tests/settings/scenarios, where `value`"
    " is what a sheet says and `outcome(settings, host)` tells what then happens to a URI of that host: what a part"
    " makes of it, not the value read"
)


class OfTheHost(DecideRule):
    """Takes what lies on the host that the sheet is for, or is needed for a page of it."""

    def evaluate(self, curi: CrawlURI) -> Decision:
        return Decision.ACCEPT if WITH in f"{curi.uri} {curi.via}" else Decision.NONE


ASSOCIATIONS: list[dict[str, Any]] = [{"surt_prefixes": ["http://(example,with,"]}, {"rules": [[OfTheHost, {}]]}]


def settings_of(scenario: Scenario, **sheets: Any) -> Settings:
    contact = {"HERITRIX_OPERATOR_CONTACT_URL": "https://operator.example/"}
    settings = read(ScrapySettings(contact | scenario.others | sheets))
    from_settings(settings)  # the scope makes the rules of associations
    return settings


@pytest.mark.parametrize("name", OVERRIDABLE)
def test_a_sheet_changes_what_happens(name: str) -> None:
    scenario = SCENARIOS.get(name)
    assert scenario is not None, f"HERITRIX_{name} {HOW}"
    outcome = scenario.outcome
    sheets = {"HERITRIX_SHEETS": {"s": {f"HERITRIX_{name}": scenario.value}}}
    without = outcome(settings_of(scenario), WITHOUT)
    for association in ASSOCIATIONS[: 1 if scenario.slow else None]:
        laid = settings_of(scenario, **sheets, HERITRIX_SHEET_ASSOCIATIONS=[{**association, "sheets": ["s"]}])
        assert outcome(laid, WITH) != without
    assert outcome(laid, WITHOUT) == without
    assert outcome(settings_of(scenario), WITH) == without, "the scenario's two hosts differ without any sheet"


def test_every_scenario_is_of_a_setting_that_a_sheet_may_override() -> None:
    assert SCENARIOS.keys() <= set(OVERRIDABLE)
    assert len(SCENARIOS) == sum(map(len, ROOMS))
