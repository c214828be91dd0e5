"""Does ``scrapy heritrix scope`` tell whether a URI is in, and why?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.commands import scope

if TYPE_CHECKING:
    import pytest


def ask(capsys: pytest.CaptureFixture[str], *uris: str, values: dict[str, Any] | None = None, **options: Any) -> str:
    given = {"via": None, "path": "L", "explain": False, "list": False, "json": False} | options
    project = ScrapySettings({"HERITRIX_SEEDS": ["http://a.example/dir/"], **(values or {})})
    assert scope.run(list(uris), argparse.Namespace(project=project, **given)) == 0
    return capsys.readouterr().out


def test_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "HTTP://A.example/dir/x", "http://b.example/", "http://a.example/dir/").splitlines() == [
        "ACCEPT  1 SurtPrefixedDecideRule  http://a.example/dir/x",
        "REJECT  0 RejectDecideRule  http://b.example/",
        "ACCEPT  1 SurtPrefixedDecideRule  http://a.example/dir/",
    ]


def test_everything_about_one(capsys: pytest.CaptureFixture[str]) -> None:
    sheets = {
        "HERITRIX_SHEETS": {"far": {"HERITRIX_MAX_HOPS": 1}},
        "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(example,a,"], "sheets": ["far"]}],
    }
    text = ask(
        capsys, "http://www.a.example/dir/x", values=sheets, path="LL", via="http://a.example/dir/", explain=True
    )
    assert text.splitlines() == [
        "REJECT  0 RejectDecideRule  http://www.a.example/dir/x",
        "  *  0 REJECT RejectDecideRule",
        "     1 NONE   SurtPrefixedDecideRule",
        "     2 REJECT TooManyHopsDecideRule",
        "     3 NONE   TransclusionDecideRule",
        "     4 NONE   SurtPrefixedDecideRule",
        "     5 NONE   MatchesListRegexDecideRule",
        "     6 NONE   PathologicalPathDecideRule",
        "     7 NONE   TooManyPathSegmentsDecideRule",
        "     8 NONE   PrerequisiteAcceptDecideRule",
        "     9 NONE   SchemeNotInSetDecideRule",
        "    sheets far",
        "    queue  example,a,www,",
        "    key    http://a.example/dir/x",
    ]
    told = json.loads(ask(capsys, "http://a.example/dir/x", json=True))
    assert (told["accepted"], told["rules"][1]["because"]) == (True, "http://(example,a,)/dir/")


def test_a_refusing_line_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """PC-221: the explanation names the prefix that refused, and a plain host takes its subdomains along."""
    values = {"HERITRIX_NEGATIVE_SURTS": ["example.com"], "HERITRIX_SCOPE": "broad"}
    for uri in ("http://example.com/", "http://www.example.com/a"):
        text = ask(capsys, uri, values=values, explain=True)
        assert "  *  4 REJECT SurtPrefixedDecideRule  http://(com,example," in text.splitlines()


def test_the_rules_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    forms = [["TooManyHopsDecideRule", {"max_hops": 3, "id": "far"}], ["HostScope", {"focus_files": False}]]
    text = ask(capsys, values={"HERITRIX_SCOPE": forms}, list=True)
    assert text.splitlines()[:2] == [
        " 0 TooManyHopsDecideRule {'id': 'far', 'max_hops': 3, 'decision': 'REJECT'}",
        " 1 RejectDecideRule",
    ]
    assert "OnSeedsHosts" in text
    assert "'max_link_hops': 25" in text
    listed = json.loads(ask(capsys, values={"HERITRIX_SCOPE": "tests.scope.test_crawl_scopes.NoCalendars"}, json=True))
    assert listed[0][1]["formula"].startswith("(seed or ")


def test_a_scope_of_the_old_kind_names_the_method(capsys: pytest.CaptureFixture[str]) -> None:
    text = ask(capsys, "http://b.example/x.pdf", values={"HERITRIX_SCOPE": "DomainScope"})
    assert text == "ACCEPT  0 DomainScope (additional_focus_accepts)  http://b.example/x.pdf\n"


def test_no_uri(capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(project=ScrapySettings(), via=None, path="L", explain=False, list=False, json=False)
    assert scope.run(["http://"], options) == 1
    assert "heritrix_scrapy: http://: no URI" in capsys.readouterr().err
