"""Does each preset take what its name says?"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope import Scope, from_settings
from heritrix_scrapy.scope.factory import PRESETS, Factory
from heritrix_scrapy.settings import Settings, default_view

SEED = "http://www.a.co.uk/dir/"

#: (URI, hop path) → the presets that take it, with the seed above.
TAKEN: dict[tuple[str, str], str] = {
    ("http://www.a.co.uk/dir/x", "L"): "default path host domain broad",
    ("http://www.a.co.uk/", "L"): "host domain broad",
    ("http://x.a.co.uk/", "L"): "domain broad",
    ("http://b.co.uk/", "L"): "broad",
    ("http://b.co.uk/x.png", "E"): "default page path host domain broad",
    ("http://b.co.uk/x.png", "LE"): "default page path host domain broad",
    ("http://b.co.uk/x.png", "EEE"): "broad",
    ("http://b.co.uk/", "R"): "default page path host domain broad",
    ("dns:b.co.uk", "LP"): "default page path host domain broad",
    ("http://www.a.co.uk/dir/x", "L" * 21): "",
    ("http://www.a.co.uk/dir/x/x/x/", "L"): "",
    ("mailto:a@a.co.uk", "L"): "",
}


def made(name: Any, **values: Any) -> Scope:
    scope = from_settings(Settings(default_view(scope=name, **values)))
    scope.seed_added(SEED, SEED)
    return scope


@pytest.mark.parametrize("name", PRESETS)
def test_what_a_preset_takes(name: str) -> None:
    scope = made(name)
    for (uri, path), presets in TAKEN.items():
        assert scope.accepts(CrawlURI(uri, path=path, via=SEED)) is (name in presets.split()), (uri, path)


def test_a_seed_without_a_path_is_a_host_for_host_and_path() -> None:
    for name, subdomains in (("default", True), ("path", False), ("host", False), ("domain", True)):
        scope = from_settings(Settings(default_view(scope=name)))
        scope.seed_added("http://a.example/", "a.example")
        assert scope.accepts(CrawlURI("http://a.example/x", path="L"))
        assert scope.accepts(CrawlURI("http://sub.a.example/x", path="L")) is subdomains


@pytest.mark.parametrize("name", ["default", "path", "host", "domain"])
def test_more_and_fewer_places(name: str, caplog: pytest.LogCaptureFixture) -> None:
    view = default_view(scope=name, surts=["http://(example,more,"], negative_surts=["http://(example,more,no,"])
    scope = from_settings(Settings(view, explicit=frozenset({"SURTS", "NEGATIVE_SURTS"})))
    assert scope.accepts(CrawlURI("http://x.more.example/", path="L"))
    assert not scope.accepts(CrawlURI("http://no.more.example/", path="L"))
    assert not caplog.records


def test_response_rules_belong_elsewhere(caplog: pytest.LogCaptureFixture) -> None:
    forms = ["AcceptDecideRule", ["DecideRuleSequence", {"rules": [["FetchStatusDecideRule", {"status_codes": [0]}]]}]]
    with pytest.raises(ConfigurationError, match=r"FetchStatusDecideRule looks at the answer.*as_unfetched"):
        made(forms)
    with caplog.at_level(logging.INFO):
        assert made(forms, scope_response_rules="as_unfetched").accepts(CrawlURI("http://b.example/", path="L"))
    assert [record.getMessage()[:56] for record in caplog.records] == [
        "HERITRIX_SCOPE: FetchStatusDecideRule looks at the answe"
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ScriptedDecideRule", "a rule of your own"),
        ("ExpressionDecideRule", "a rule of your own"),
        ("org.archive.modules.deciderules.ScriptedDecideRule", "scripts are not run"),
        ("DecideRuleSequenceWithAMQPFeed", "HERITRIX_SCOPE_LOG_TO_FILE"),
        ("ScopePlusOneDecideRule", "also_check_via"),
    ],
)
def test_rules_that_are_refused_by_name(name: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Factory().rule([name, {}])


def test_other_names_of_rules() -> None:
    assert Factory().rule("org.archive.modules.deciderules.TooManyHopsDecideRule").name == "TooManyHopsDecideRule"
    assert Factory().rule("ExceedsDocumentLengthThresholdDecideRule").name == "ResourceLongerThanDecideRule"


def test_refusals_are_counted_by_rule() -> None:
    scope = made("default")
    for path in ("L", "L" * 30):
        scope.accepts(CrawlURI(SEED + "x", path=path))
        scope.accepts(CrawlURI("http://b.example/", path=path))
    assert scope.take_refusals() == {
        "scope/rejected/TooManyHopsDecideRule": 2,
        "scope/rejected/RejectDecideRule": 1,
    }
    assert scope.take_refusals() == {}


def test_the_log_of_the_scope() -> None:
    lines: list[tuple[str, str]] = []
    view = default_view(
        scope_log_to_file=True, scope_log_extra_info=True, candidate_scoper_log_to_file=True, scope=["HasViaDecideRule"]
    )
    inner = from_settings(Settings(view)).sequence
    scope = Scope(inner, lambda curi: view, view, log=lambda name, line: lines.append((name, line)))
    assert scope.accepts(CrawlURI("http://b.example/x", path="L", via=SEED, source_tag="tag"))
    assert not scope.accepts(CrawlURI("dns:b.example", path="P"))
    assert lines == [
        (
            "scope.log",
            '0 HasViaDecideRule ACCEPT http://b.example/x {"hopPath":"L","via":"http://www.a.co.uk/dir/","seed":"tag",'
            '"host":"b.example"}',
        ),
        ("candidateScoper.log", "ACCEPT http://b.example/x"),
        ("scope.log", '-1 - NONE dns:b.example {"hopPath":"P","host":"dns:"}'),
        ("candidateScoper.log", "REJECT dns:b.example"),
    ]


def test_dumps_lie_where_the_launch_lies(tmp_path: Path) -> None:
    from heritrix_scrapy.crawl import JobDir
    from heritrix_scrapy.scope.scope import placed

    class Job:
        jobdir = JobDir(tmp_path, temporary=False)

    job: Any = Job()
    assert placed(job, "${launchId}/surts.dump") == tmp_path / "surts.dump"
    job.jobdir.launch = "20260101000000"
    assert placed(job, "${launchId}/surts.dump") == tmp_path / "20260101000000" / "surts.dump"
    assert placed(job, "x/surts.dump") == tmp_path / "x" / "surts.dump"
    assert placed(job, "/elsewhere/x") == Path("/elsewhere/x")


def test_without_a_crawl_nothing_is_dumped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heritrix profile's dumps lie in the launch's folder, and there is none; a path that is whole stands."""
    monkeypatch.chdir(tmp_path)
    from_settings(Settings(default_view("heritrix"))).seeds_read()
    assert not list(tmp_path.iterdir())
    rule = ["SurtPrefixedDecideRule", {"surts_dump_file": str(tmp_path / "surts.dump")}]
    from_settings(Settings(default_view("heritrix", scope=[rule]))).seeds_read()
    assert [path.name for path in tmp_path.iterdir()] == ["surts.dump"]
