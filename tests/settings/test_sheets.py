"""Do sheets lie over the right URIs, in the right order, and does every setting that they may change change?"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings as ScrapySettings

import heritrix_scrapy
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope import Scope, from_settings
from heritrix_scrapy.settings import Settings, default_view, read
from heritrix_scrapy.settings.defaults import SETTINGS
from heritrix_scrapy.settings.sheets import Sheets

CONTACT = {"HERITRIX_OPERATOR_CONTACT_URL": "https://operator.example/"}

Associations = list[dict[str, Any]]


def laid(sheets: dict[str, Any], associations: Associations, **values: Any) -> Settings:
    return read(
        ScrapySettings(CONTACT | {"HERITRIX_SHEETS": sheets, "HERITRIX_SHEET_ASSOCIATIONS": associations} | values)
    )


def at(uri: str, path: str = "L", via: str | None = None) -> CrawlURI:
    return CrawlURI(uri, path=path, via=via)


def test_without_sheets_one_view_holds() -> None:
    settings = read(ScrapySettings(CONTACT))
    assert settings.uniform
    assert settings.for_uri(at("http://a.example/")) is settings.view


def test_longer_prefixes_and_then_rules_are_stronger() -> None:
    settings = laid(
        {
            "site": {"HERITRIX_MAX_HOPS": 1, "HERITRIX_MIN_DELAY_MS": 1, "HERITRIX_SEND_REFERER": False},
            "folder": {"HERITRIX_MAX_HOPS": 2, "HERITRIX_MIN_DELAY_MS": 2},
            "late": {"HERITRIX_MAX_HOPS": 4},
            "early": {"HERITRIX_MAX_HOPS": 3, "HERITRIX_MIN_DELAY_MS": 3},
        },
        [
            {"rules": [["MatchesRegexDecideRule", {"regex": r".*\.pdf"}]], "order": 2, "sheets": ["late"]},
            {"rules": ["RejectDecideRule", ["MatchesRegexDecideRule", {"regex": ".*/x.*"}]], "sheets": ["early"]},
            {"surt_prefixes": ["http://(example,a,www,)/dir/"], "sheets": ["folder"]},
            {"surt_prefixes": ["http://(example,a,"], "sheets": "site"},
        ],
    )
    from_settings(settings)
    assert not settings.uniform

    def seen(uri: str) -> tuple[int, int, bool]:
        view = settings.for_uri(at(uri))
        return view.max_hops, view.min_delay_ms, view.send_referer

    assert seen("http://b.other/") == (20, 3000, True)
    assert seen("http://www.a.example/") == (1, 1, False)
    assert seen("https://www.a.example/dir/y") == (2, 2, False)
    assert seen("http://www.a.example/dir/x.pdf") == (4, 3, False)
    assert seen("http://www.a.example/dir") == (1, 1, False)
    assert settings.for_uri(at("http://www.a.example/1")) is settings.for_uri(at("http://www.a.example/2"))


def test_a_prerequisite_follows_the_page_that_needs_it() -> None:
    settings = laid(
        {"s": {"HERITRIX_MAX_RETRIES": 1}}, [{"surt_prefixes": ["http://(example,a,)/deep/"], "sheets": ["s"]}]
    )
    assert settings.for_uri(at("dns:a.example", "LP", "http://a.example/deep/x")).max_retries == 1
    assert settings.for_uri(at("dns:a.example", "LP", "http://a.example/")).max_retries == 30


@pytest.mark.parametrize("uri", ["http://www.example.com/x", "https://example.com/", "http://example.com:8080/"])
def test_pc_225_an_association_holds_for_both_schemes(uri: str) -> None:
    """PC-225."""
    sheets = {"s": {"HERITRIX_MAX_RETRIES": 1}}
    for prefix in ("https://(com,example,", "http://(com,example,", "HTTPS://(COM,EXAMPLE,"):
        settings = laid(sheets, [{"surt_prefixes": [prefix], "sheets": ["s"]}])
        assert settings.for_uri(at(uri)).max_retries == 1
    literal = laid(sheets, [{"surt_prefixes": ["https://(com,example,"], "sheets": ["s"]}], HERITRIX_PROFILE="heritrix")
    assert literal.for_uri(at(uri)).max_retries == 30


def test_a_property_of_one_rule() -> None:
    settings = laid(
        {
            "shallow": {"HERITRIX_SCOPE[2].max_hops": 1},
            "deep": {"HERITRIX_SCOPE[far].max_hops": "7", "HERITRIX_SCOPE[tooManyHops].enabled": False},
            "pictures": {"HERITRIX_SCOPE[kinds].use_preset": "images", "HERITRIX_SCOPE[inner].regex": ".*never.*"},
        },
        [
            {"surt_prefixes": ["http://(example,a,shallow,"], "sheets": ["shallow"]},
            {"surt_prefixes": ["http://(example,a,deep,"], "sheets": ["deep"]},
            {"surt_prefixes": ["http://(example,a,pic,"], "sheets": ["pictures"]},
        ],
        HERITRIX_SCOPE=[
            "RejectDecideRule",
            "acceptSurts",
            "tooManyHops",
            ["TooManyHopsDecideRule", {"id": "far", "max_hops": 5}],
            ["MatchesFilePatternDecideRule", {"id": "kinds", "use_preset": "AUDIO", "decision": "REJECT"}],
            [
                "DecideRuleSequence",
                {"rules": [["MatchesRegexDecideRule", {"id": "inner", "regex": ".*out.*", "decision": "REJECT"}]]},
            ],
        ],
    )
    scope = from_settings(settings)
    scope.non_seed_line("+http://(example,a,")

    def farthest(host: str) -> int:
        return max(hops for hops in range(30) if scope.accepts(at(f"http://{host}/x", "L" * hops)))

    assert farthest("a.example") == 5
    assert farthest("shallow.a.example") == 1
    assert farthest("deep.a.example") == 7
    assert not scope.accepts(at("http://a.example/x.mp3"))
    assert scope.accepts(at("http://pic.a.example/x.mp3"))
    assert not scope.accepts(at("http://pic.a.example/x.gif"))
    assert not scope.accepts(at("http://a.example/out"))
    assert scope.accepts(at("http://pic.a.example/out"))
    scope.non_seed_line("+http://(example,late,")
    assert scope.accepts(at("http://late.example/"))


def test_one_rule_without_a_sheet() -> None:
    settings = read(ScrapySettings(CONTACT | {"HERITRIX_SCOPE[2].max_hops": "1"}))
    assert settings.uniform
    scope = from_settings(settings)
    scope.seed_added("http://a.example/", "http://a.example/")
    assert scope.accepts(at("http://a.example/x", "L"))
    assert not scope.accepts(at("http://a.example/x", "LL"))


def test_an_entry_of_a_list() -> None:
    settings = laid(
        {"www": {"HERITRIX_CANONICALIZATION_RULES[StripWWWNRule].enabled": False}},
        [{"surt_prefixes": ["http://(example,"], "sheets": ["www"]}],
    )
    changed = settings.for_uri(at("http://a.example/")).canonicalization_rules
    assert [name for name, properties in changed if properties] == ["StripWWWNRule"]
    assert all(not properties for _, properties in settings.view.canonicalization_rules)


@pytest.mark.parametrize(
    ("sheets", "associations", "words"),
    [
        ({"s": 3}, [], "expected {setting: value}"),
        ({"s": {"HERITRIX_MAXHOPS": 3}}, [], "did you mean HERITRIX_MAX_HOPS"),
        ({"s": {"HERITRIX_WARC_PREFIX": "x"}}, [], "a sheet cannot change"),
        ({"s": {"HERITRIX_MAX_HOPS": "many"}}, [], "expected a whole number"),
        ({"s": {"HERITRIX_SCOPE[99].max_hops": 1}}, [], "no such rule"),
        ({"s": {"HERITRIX_SCOPE[tooManyHops].colour": 1}}, [], "no property colour"),
        ({"s": {"HERITRIX_SCOPE[tooManyHops].max_hops": "many"}}, [], "expected a whole number"),
        ({"s": {"HERITRIX_SCOPE[2].decision": "MAYBE"}}, [], "MAYBE"),
        ({"s": {"HERITRIX_CANONICALIZATION_RULES[9].enabled": False}}, [], "no such entry"),
        ({}, [{"surt_prefixes": ["http://(a,"], "sheets": ["none"]}], "there is no sheet"),
        ({"s": {}}, [{"surt_prefixes": ["example.com"], "sheets": ["s"]}], "expected a SURT prefix"),
        ({"s": {}}, [{"sheets": ["s"]}], "surt_prefixes or rules"),
        ({"s": {}}, [{"rules": [["NoRule", {}]], "sheets": ["s"]}], "no such rule"),
        ({"s": {}}, [{"rules": [], "order": "first", "sheets": ["s"]}], "whole number"),
        ({"s": {}}, [{"prefixes": [], "sheets": ["s"]}], "expected {"),
    ],
)
def test_mistakes_end_the_start(sheets: dict[str, Any], associations: Associations, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        from_settings(laid(sheets, associations))


class Fails:
    def evaluate(self, curi: CrawlURI) -> object:
        raise RuntimeError("no answer")


def test_a_rule_that_fails_skips_its_association(caplog: pytest.LogCaptureFixture) -> None:
    settings = laid({"s": {"HERITRIX_MAX_HOPS": 1}}, [{"rules": [Fails()], "sheets": ["s"]}])
    from_settings(settings)
    assert settings.for_uri(at("http://a.example/")).max_hops == 20
    assert "the rules of a sheet association failed on http://a.example/" in caplog.text


PREFIXES = ["http://(", "http://(a,", "http://(a,b,", "http://(a,b,)/", "http://(a,b,)/x/", "http://(b,", "dns:"]


@given(
    st.lists(st.sampled_from(PREFIXES), unique=True),
    st.sampled_from(["b.a", "c.b.a", "a", "b"]),
    st.sampled_from(["/", "/x/", "/x/y", "/y"]),
)
def test_prefixes_against_a_plain_search(prefixes: list[str], host: str, path: str) -> None:
    view = default_view("heritrix")
    sheets = Sheets(
        {prefix: {} for prefix in PREFIXES},
        [{"surt_prefixes": [prefix], "sheets": [prefix]} for prefix in prefixes],
        view,
        strict=True,
    )
    form = "http://(" + "".join(label + "," for label in reversed(host.split("."))) + ")" + path
    wanted = tuple(sorted((prefix for prefix in prefixes if form.startswith(prefix)), key=len))
    for _ in range(2):
        assert sheets.names(at(f"http://{host}{path}")) == wanted


def test_sheets_that_are_wrong_together_do_not_end_the_crawl(caplog: pytest.LogCaptureFixture) -> None:
    settings = laid(
        {
            "few": {"HERITRIX_CANONICALIZATION_RULES": ["LowercaseRule"]},
            "slip": {"HERITRIX_CANONICALIZATION_RULES[FixupQueryString].id": "q", "HERITRIX_MAX_HOPS": 3},
        },
        [{"surt_prefixes": ["http://(example,"], "sheets": ["few", "slip"]}],
    )
    for _ in range(2):
        view = settings.for_uri(at("http://a.example/"))
        assert (view.canonicalization_rules, view.max_hops) == ([["LowercaseRule", {}]], 3)
    assert [record.getMessage() for record in caplog.records] == [
        "sheets few, slip: HERITRIX_CANONICALIZATION_RULES[FixupQueryString].id has no effect: there is no such entry"
    ]


# -- every setting that a sheet may change (what it changes: ``test_sheets_behave``) ----------------------------


#: Where a setting that a sheet may change is read for no URI: (file, attribute) → why.
FOR_NO_URI = {
    ("frontier/core.py", "preference_depth_hops"): "the order of all queues is laid down when the store is made",
    ("settings/agent.py", "operator_contact_url"): "Scrapy's own USER_AGENT",
    ("archive/pipeline.py", "robots_policy"): "the warcinfo record tells of the crawl",
    ("archive/pipeline.py", "operator_from"): "the warcinfo record tells of the crawl",
}


def test_no_part_reads_for_one_uri_what_holds_where_no_sheet_applies() -> None:
    """What a sheet may change is read from the View of a URI, never from the View without sheets."""
    changeable = {row.attribute for row in SETTINGS if row.overridable}
    package = Path(heritrix_scrapy.__file__).parent
    found = set()
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in changeable and base_view(node.value):
                found.add((str(path.relative_to(package)), node.attr))
    assert found - set(FOR_NO_URI) == set()


def base_view(node: ast.expr) -> bool:
    """``settings.view``, ``self._settings.view`` and ``self._view``: the View where no sheet applies."""
    if not isinstance(node, ast.Attribute):
        return False
    of = node.value
    name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
    return node.attr == "_view" or (node.attr == "view" and name.endswith("settings"))


def test_scope_reads_the_view_of_each_uri() -> None:
    settings = laid(
        {
            "s": {
                "HERITRIX_MAX_HOPS": 1,
                "HERITRIX_MAX_TRANS_HOPS": 1,
                "HERITRIX_MAX_SPECULATIVE_HOPS": 0,
                "HERITRIX_MAX_REPETITIONS": 1,
                "HERITRIX_MAX_PATH_DEPTH": 3,
                "HERITRIX_REJECT_REGEXES": [r".*\.zip"],
            }
        },
        [{"surt_prefixes": ["http://(example,a,"], "sheets": ["s"]}],
    )
    scope: Scope = from_settings(settings)
    for seed in ("http://a.example/", "http://b.example/"):
        scope.seed_added(seed, seed)
    for path, tail in (("LL", "x"), ("L", "x/y/z/w/"), ("L", "x/x/z"), ("L", "x.zip")):
        assert not scope.accepts(at("http://a.example/" + tail, path)), tail
        assert scope.accepts(at("http://b.example/" + tail, path)), tail
