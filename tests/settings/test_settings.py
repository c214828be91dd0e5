"""Is each mistake one clear line, and does each setting come out as the rooms read it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings
from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings import default_view, read
from heritrix_scrapy.settings.defaults import BY_NAME, SETTINGS
from heritrix_scrapy.settings.reference import settings_reference
from heritrix_scrapy.settings.validate import GATE, KINDS, check
from heritrix_scrapy.settings.view import Settings

CONTACT = "https://example.org/crawl"


def settings(priority: str = "project", **values: Any) -> BaseSettings:
    made = ScrapySettings({"HERITRIX_OPERATOR_CONTACT_URL": CONTACT})
    for name, value in values.items():
        made.set(name, value, priority)
    return made


def refused(**values: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read(settings(**values))
    assert isinstance(caught.value, SystemExit)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_table_is_sound() -> None:
    assert len(BY_NAME) == len(SETTINGS)
    for row in SETTINGS:
        assert row.kind in KINDS, row.name
        assert row.doc.endswith("."), row.name
        for profile in ("modern", "heritrix"):
            default = row.default_in(profile)
            assert check(row, default) == default, row.name
        assert bool(row.choices) == (row.kind == "choice"), row.name


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"HERITRIX_OPERATOR_CONTACT_URL": ""}, "expected an http:// or https:// address"),
        ({"HERITRIX_OPERATOR_CONTACT_URL": "example.org"}, "expected an http:// or https:// address"),
        ({"HERITRIX_OPERATOR_CONTACT_URL": 7}, "expected a text"),
        ({"HERITRIX_OPERATOR_FROM": "nobody"}, "expected an e-mail address"),
        ({"HERITRIX_USER_AGENT_TEMPLATE": "me"}, "@OPERATOR_CONTACT_URL@"),
        ({"HERITRIX_PROFILE": "legacy"}, "expected one of modern, heritrix"),
        ({"HERITRIX_MAX_HOPS": "many"}, "expected a whole number"),
        ({"HERITRIX_MAX_HOPS": -1}, "at least 0"),
        ({"HERITRIX_MAX_HOPS": True}, "expected a whole number"),
        ({"HERITRIX_MIN_DELAY_MS": 1.5}, "expected a whole number (ms)"),
        ({"HERITRIX_DELAY_FACTOR": "nan"}, "expected a number"),
        ({"HERITRIX_USE_HTTP11": "maybe"}, "expected True or False"),
        ({"HERITRIX_FOLLOW": "some"}, "expected one of all, embeds, none"),
        ({"HERITRIX_ROBOTS_POLICY": "rude"}, "expected one of obey"),
        ({"HERITRIX_BLOCK_BY_REGEX": "("}, "not a regular expression"),
        ({"HERITRIX_SEEDS": 5}, "expected a list of lines"),
        ({"HERITRIX_SEEDS": "/nowhere/seeds.txt"}, "a file that can be read"),
        ({"HERITRIX_EXTRACTORS": [3]}, "[name, {property: value}]"),
        ({"HERITRIX_ACCEPT_HEADERS": "[1"}, "not valid JSON"),
        ({"HERITRIX_MAXHOPS": 3}, "did you mean HERITRIX_MAX_HOPS?"),
        ({"HERITRIX_QQQQQQQ": 3}, "no such setting"),
        ({"DOWNLOAD_DELAY": "slow"}, "DOWNLOAD_DELAY = 'slow': expected a number"),
    ],
)
def test_mistakes_are_one_line(values: dict[str, Any], words: str) -> None:
    text = refused(**values)
    assert words in text
    assert next(iter(values)) in text


def test_no_contact_url_is_asked_for_where_nothing_is_kept() -> None:
    made = read(settings(HERITRIX_OPERATOR_CONTACT_URL=""), contact_required=False)
    assert made.view.operator_contact_url == ""
    with pytest.raises(ConfigurationError):
        read(settings(HERITRIX_OPERATOR_CONTACT_URL="ftp://x"), contact_required=False)


def test_defaults_of_both_profiles() -> None:
    modern, heritrix = read(settings()).view, read(settings(HERITRIX_PROFILE="heritrix")).view
    assert (modern.use_http11, heritrix.use_http11) == (True, False)
    assert (modern.warc_version, heritrix.warc_version) == ("1.1", "1.0")
    assert (modern.delay_factor, heritrix.delay_factor) == (5.0, 5.0)
    assert heritrix.profile == "heritrix"


def test_what_the_operator_gives_wins_over_the_profile() -> None:
    view = read(settings(HERITRIX_PROFILE="heritrix", HERITRIX_USE_HTTP11=True)).view
    assert view.use_http11 is True


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("DELAY_FACTOR", "0", 0),
        ("DELAY_FACTOR", 0.0, 0.0),
        ("MAX_HOPS", "3", 3),
        ("USE_HTTP11", "False", False),
        ("SEEDS", "http://a.example/\nhttp://b.example/", ["http://a.example/", "http://b.example/"]),
        ("SEEDS", "http://a.example/", ["http://a.example/"]),
        ("SURTS", '["http://(org,example,"]', ["http://(org,example,"]),
        ("DNS_SERVERS", "127.0.0.1:53, ::1", ["127.0.0.1:53", "::1"]),
        ("DNS_SERVERS", "192.0.2.1,192.0.2.2", ["192.0.2.1", "192.0.2.2"]),
        ("ACCEPT_HEADERS", "Accept: text/html, image/png", ["Accept: text/html, image/png"]),
        ("EXTRACTORS", "ExtractorHTTP,ExtractorHTML", [["ExtractorHTTP", {}], ["ExtractorHTML", {}]]),
        ("EXTRACTORS", ["ExtractorJS", ["a.B", {"id": "x"}]], [["ExtractorJS", {}], ["a.B", {"id": "x"}]]),
        ("QUEUE_ASSIGNMENT_POLICY", "SurtAuthorityQueueAssignmentPolicy", "SurtAuthority"),
        ("COST_ASSIGNMENT_POLICY", "UnitCostAssignmentPolicy", "Unit"),
        ("QUEUE_PRECEDENCE_POLICY", ["BaseQueuePrecedencePolicy", {"base": 2}], ["Base", {"base": 2}]),
        ("QUEUE_PRECEDENCE_POLICY", ["BaseQueuePrecedencePolicy", {}], "Base"),
        ("SCOPE", '[["RejectDecideRule", {}]]', [["RejectDecideRule", {}]]),
        ("SCOPE", ["RejectDecideRule", ["acceptSurts", {}]], [["RejectDecideRule", {}], ["acceptSurts", {}]]),
        ("SCOPE", "default", "default"),
        ("SCOPE", "my.scope.Scope", "my.scope.Scope"),
        ("WARC_DIR", ["ConfigPath", {"path": "x"}], Path("x")),
        ("ROBOTS_POLICY", "robotstxtonly", "robotsTxtOnly"),
        ("CALLBACK", None, None),
    ],
)  # fmt: skip
def test_forms(name: str, text: Any, value: Any) -> None:
    assert check(BY_NAME[name], text) == value


def test_lines_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.example/\n# note\n")
    for written in (str(file), file):
        seeds = read(settings(HERITRIX_SEEDS=written)).view.seeds
        assert list(seeds) == list(seeds) == ["http://a.example/", "# note"]
        assert read(settings(HERITRIX_SURTS=written)).view.surts == ["http://a.example/", "# note"]


def test_the_projects_own_settings_speak() -> None:
    made = read(
        settings(
            ROBOTSTXT_OBEY=False,
            DOWNLOAD_DELAY=0.5,
            DOWNLOAD_TIMEOUT=30,
            DOWNLOAD_MAXSIZE=1000,
            RETRY_TIMES=4,
            USER_AGENT="me",
            COOKIES_ENABLED=False,
            CONCURRENT_REQUESTS=8,
            DEPTH_LIMIT=3,
            DEFAULT_REQUEST_HEADERS={"X": "y"},
            AUTOTHROTTLE_ENABLED=True,
        )
    )
    view = made.view
    assert view.robots_policy == "ignore"
    assert (view.delay_factor, view.min_delay_ms, view.max_delay_ms) == (0.0, 500, 500)
    assert view.timeout_seconds == 30
    assert view.max_length_bytes == 1000
    assert view.max_retries == 5
    assert view.user_agent_template == "me"
    assert view.ignore_cookies is True
    assert view.max_toe_threads == 8
    assert view.max_hops == 3
    assert len(made.lines) == 11
    assert any(line.startswith("AUTOTHROTTLE_ENABLED has no effect") for line in made.lines)


def test_ours_wins_over_the_projects_and_says_so() -> None:
    made = read(settings(DOWNLOAD_DELAY=1, HERITRIX_MIN_DELAY_MS=7, HERITRIX_MAX_DELAY_MS=7, HERITRIX_DELAY_FACTOR=0))
    assert made.view.min_delay_ms == 7
    assert "gives way to" in made.lines[0]


def test_what_nobody_set_is_not_a_choice() -> None:
    made = read(settings("addon", DOWNLOAD_TIMEOUT=0, USER_AGENT="ours", CONCURRENT_REQUESTS=25))
    assert made.lines == ()
    assert made.view.timeout_seconds == 1200
    assert made.view.user_agent_template.startswith("Mozilla/5.0 (compatible; heritrix/")


def test_no_retries() -> None:
    assert read(settings(RETRY_ENABLED=False)).view.max_retries == 1
    assert read(settings(RETRY_ENABLED=False, RETRY_TIMES=5)).view.max_retries == 1
    assert read(settings(RETRY_ENABLED=False, HERITRIX_PROFILE="heritrix")).view.max_retries == 3


def test_a_rule_before_a_part_that_asks_none_is_refused() -> None:
    assert "no such setting" in refused(HERITRIX_FETCH_HTTP_SHOULD_PROCESS_RULE=["RejectDecideRule", {}])


def test_rules_before_parts() -> None:
    made = read(
        settings(
            HERITRIX_EXTRACTOR_JS_SHOULD_PROCESS_RULE=["AcceptDecideRule", {}],
            HERITRIX_EXTRACTOR_HTML_SHOULD_PROCESS_RULE='["FetchStatusDecideRule", {"status_codes": [200]}]',
        )
    )
    assert not made.lines
    assert made.gates == {
        "EXTRACTOR_JS": ["AcceptDecideRule", {}],
        "EXTRACTOR_HTML": ["FetchStatusDecideRule", {"status_codes": [200]}],
    }
    assert "expected a name" in refused(HERITRIX_EXTRACTOR_JS_SHOULD_PROCESS_RULE=3)


def test_spider_requests_follow_scope() -> None:
    assert read(settings()).view.scope_spider_requests is False
    assert read(settings(HERITRIX_SCOPE="default")).view.scope_spider_requests is True
    assert (
        read(settings(HERITRIX_SCOPE="default", HERITRIX_SCOPE_SPIDER_REQUESTS=False)).view.scope_spider_requests
        is False
    )


def test_view_is_shared_and_carried() -> None:
    made = Settings(default_view("heritrix", max_hops=3))
    curi = CrawlURI("http://a.example/")
    assert made.for_uri(curi) is made.view
    assert curi.settings is made.view
    assert made.view.max_hops == 3
    other = made.view.replace({"MAX_HOPS": 4})
    assert (other.max_hops, made.view.max_hops) == (4, 3)
    curi.settings = other
    assert made.for_uri(curi) is other
    with pytest.raises(KeyError):
        made.view.replace({"MAXHOPS": 4})


def test_reference_has_every_setting() -> None:
    text = settings_reference()
    for row in SETTINGS:
        assert row.key in text


def test_every_name_in_the_golden_jobs_is_valid() -> None:
    root = Path(__file__).parents[2].parent / "shared" / "golden" / "sites"
    for file in root.glob("*/jobs/*/job.json"):
        names = json.loads(file.read_text())["settings"]
        for name in names:
            short = name.removeprefix("HERITRIX_")
            if short == name:
                continue  # one of Scrapy's
            assert short in BY_NAME or GATE.fullmatch(short), name


@pytest.mark.parametrize("name", ["HERITRIX_CREDENTIALS", "HERITRIX_FORM_LOGIN"])
def test_no_message_tells_a_password(name: str) -> None:
    assert "s3cret" not in refused(**{name: [["s3cret", "s3cret", 7]]})
