"""Do the scopes of Heritrix 1.x say what their formula says, and the same as the lists of rules they are printed as?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings as ScrapySettings

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.scope import CrawlScope, DomainScope, Scope, from_settings
from heritrix_scrapy.settings import Settings, default_view, read

SEEDS = ("http://www.a.example/dir/index.html", "http://b.example")

#: scope → (URI, hop path, whether it is in), with the seeds above.
TABLE: dict[str, list[tuple[str, str, bool]]] = {
    "BroadScope": [
        ("http://z.example/", "L", True),
        ("ftp://z.example/", "LLLL", True),
        ("mailto:x", "L", True),
        ("http://z.example/", "L" * 25, True),
        ("http://z.example/", "L" * 26, False),
        ("http://z.example/", "L" * 25 + "E" * 9, True),
    ],
    "DomainScope": [
        ("http://a.example/", "L", True),
        ("https://www3.a.example:8080/x", "L", True),
        ("http://deep.sub.a.example/", "L", True),
        ("http://b.example/anything", "L", True),
        ("http://sub.b.example/", "L", True),
        ("http://xa.example/", "L", False),
        ("http://example/", "L", False),
        ("dns:a.example", "L", True),
        ("mailto:a.example", "L", False),
        ("http://z.example/x.pdf", "L", True),
        ("http://z.example/x.PDF", "L", True),
        ("http://z.example/x.svg", "L", False),
        ("http://z.example/x.pdf?y", "L", False),
        ("http://z.example/", "E", True),
        ("http://z.example/", "LEEEEE", True),
        ("http://z.example/", "LEEEEEE", False),
        ("http://z.example/", "LRRRRR", True),
        ("http://z.example/", "LRRRRRR", False),
        ("http://z.example/", "LX", True),
        ("http://z.example/", "LXX", False),
        ("http://z.example/robots.txt", "LEEEEEEP", True),
        ("http://a.example/", "L" * 26, False),
    ],
    "HostScope": [
        ("http://www.a.example/", "L", True),
        ("https://www.a.example:8080/x", "L", True),
        ("http://a.example/", "L", False),
        ("http://sub.b.example/", "L", False),
        ("http://b.example/x", "LL", True),
        ("http://z.example/x.gif", "L", True),
        ("http://z.example/", "LI", True),
    ],
    "PathScope": [
        ("http://www.a.example/dir/x", "L", True),
        ("http://www.a.example/dirt", "L", True),
        ("http://www.a.example/%64ir/x", "L", True),
        ("http://www.a.example/other/", "L", False),
        ("http://b.example/anything/at/all", "L", True),
        ("http://sub.b.example/", "L", False),
        ("http://z.example/x.mp3", "L", True),
        ("http://z.example/", "LE", True),
    ],
    "SurtPrefixScope": [
        ("http://www.a.example/dir/x", "L", True),
        ("http://www.a.example/dirt", "L", False),
        ("http://b.example/x", "L", True),
        ("http://sub.b.example/x", "L", True),
        ("ftp://b.example/x", "L", False),
        ("http://z.example/x.doc", "L", True),
        ("http://z.example/", "LRE", True),
    ],
}


def made(scope: Any, **values: Any) -> Scope:
    found = from_settings(Settings(default_view(scope=scope, **values)))
    for seed in SEEDS:
        found.seed_added(seed if seed.count("/") > 2 else seed + "/", seed)
    return found


def at(uri: str, path: str = "L", via: str | None = None, *, seed: bool = False) -> CrawlURI:
    return CrawlURI(uri, path=path, via=via, seed=seed)


@pytest.mark.parametrize("name", TABLE)
def test_truth_table(name: str) -> None:
    scope = made(name)
    for uri, path, wanted in TABLE[name]:
        assert scope.accepts(at(uri, path)) is wanted, (uri, path)
        assert scope.decide(at(uri, path)).accepted is wanted


def test_seeds_are_judged() -> None:
    scope = made([["DomainScope", {"exclude_filters": [["MatchesRegexDecideRule", {"regex": ".*calendar.*"}]]}]])
    assert scope.judges_seeds
    assert not made("default").judges_seeds
    assert scope.accepts(at("http://z.example/", "", seed=True))
    assert not scope.accepts(at("http://z.example/calendar", "", seed=True))
    assert not scope.accepts(at("http://b.example/calendar"))


def test_what_settled_it() -> None:
    scope = made("DomainScope")
    said = {
        uri: scope.decide(at(uri, path, seed=seed)).why
        for uri, path, seed in (
            ("http://a.example/", "L", False),
            ("http://z.example/x.pdf", "L", False),
            ("http://z.example/e", "LE", False),
            ("http://z.example/s", "", True),
            ("http://z.example/no", "L", False),
            ("http://a.example/far", "L" * 30, False),
        )
    }
    assert said == {
        "http://a.example/": "focus_accepts",
        "http://z.example/x.pdf": "additional_focus_accepts",
        "http://z.example/e": "transitive_accepts",
        "http://z.example/s": "seed",
        "http://z.example/no": "",
        "http://a.example/far": "exclude_accepts",
    }


def test_limits_and_surts() -> None:
    scope = made([["SurtPrefixScope", {
        "surts_source": ["http://(example,c,"],
        "also_check_via": True,
        "focus_files": False,
        "max_trans_hops": 1,
        "max_link_hops": 2,
        "max_embed_hops": 0,
    }]])  # fmt: skip
    assert scope.accepts(at("http://c.example/"))
    assert scope.accepts(at("http://z.example/", via="http://c.example/"))
    assert not scope.accepts(at("http://z.example/x.pdf"))
    assert scope.accepts(at("http://z.example/", "LR"))
    assert not scope.accepts(at("http://z.example/", "LRR"))
    assert not scope.accepts(at("http://z.example/", "LE"))
    assert not scope.accepts(at("http://c.example/", "LLL"))


class NoCalendars(DomainScope):
    """The seeds' domains, PDF files from anywhere, no calendars."""

    def additional_focus_accepts(self, curi: CrawlURI) -> bool:
        return curi.uri.endswith(".pdf")

    def exclude_accepts(self, curi: CrawlURI) -> bool:
        return "/calendar/" in curi.uri or super().exclude_accepts(curi)


def test_a_scope_of_ones_own() -> None:
    scope = made(f"{__name__}.NoCalendars")
    assert scope.accepts(at("http://www.b.example/x"))
    assert scope.accepts(at("http://z.example/x.pdf"))
    assert not scope.accepts(at("http://z.example/x.doc"))
    assert not scope.accepts(at("http://b.example/calendar/2026"))
    rule = scope.sequence.rules[0]
    assert isinstance(rule, CrawlScope)
    assert rule.formula() == (
        "(seed or _Classic.focus_accepts or NoCalendars.additional_focus_accepts or _Classic.transitive_accepts)"
        " and not NoCalendars.exclude_accepts"
    )
    assert rule.as_rules() is None


def test_a_sheet_over_a_scope() -> None:
    laid = read(ScrapySettings({
        "HERITRIX_OPERATOR_CONTACT_URL": "https://a.example/",
        "HERITRIX_SCOPE": "DomainScope",
        "HERITRIX_SHEETS": {"s": {"HERITRIX_SCOPE[0].max_link_hops": 1, "HERITRIX_SCOPE[0].max_trans_hops": 1}},
        "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(example,a,", "http://(example,z,"], "sheets": "s"}],
    }))  # fmt: skip
    scope = from_settings(laid)
    for seed in ("http://a.example/", "http://b.example/"):
        scope.seed_added(seed, seed)
    assert not scope.accepts(at("http://a.example/", "LL"))
    assert scope.accepts(at("http://b.example/", "LL"))
    assert scope.accepts(at("http://z.example/", "LE"))
    assert not scope.accepts(at("http://z.example/", "LEE"))
    assert scope.accepts(at("http://y.example/", "LEE"))


def test_every_limit_by_sheet() -> None:
    limits = {"max_speculative_hops": 0, "max_referral_hops": 0, "max_embed_hops": 0, "focus_files": False}
    sheet = {f"HERITRIX_SCOPE[0].{name}": value for name, value in limits.items()}
    laid = read(
        ScrapySettings(
            {
                "HERITRIX_OPERATOR_CONTACT_URL": "https://a.example/",
                "HERITRIX_SCOPE": [["SurtPrefixScope", {"exclude_filters": [["HasViaDecideRule", {"id": "via"}]]}]],
                "HERITRIX_SHEETS": {
                    "s": sheet | {"HERITRIX_SCOPE[0].also_check_via": True},
                    "open": {"HERITRIX_SCOPE[via].enabled": False},
                },
                "HERITRIX_SHEET_ASSOCIATIONS": [
                    {"surt_prefixes": ["http://(example,z,"], "sheets": "s"},
                    {"surt_prefixes": ["http://(example,"], "sheets": "open"},
                ],
            }
        )
    )
    scope = from_settings(laid)
    scope.seed_added("http://a.example/", "http://a.example/")
    for path, tail in (("X", ""), ("R", ""), ("E", ""), ("L", "x.pdf")):
        assert scope.accepts(at("http://y.example/" + tail, path))
        assert not scope.accepts(at("http://z.example/" + tail, path))
    for host, wanted in (("y", False), ("z", True)):
        assert scope.accepts(CrawlURI(f"http://{host}.example/", path="L", via="http://a.example/")) is wanted


def test_a_filter_excludes_what_it_applies_to() -> None:
    """The rules that stand for 1.x filters say REJECT by themselves; as filters they exclude."""
    filters: list[Any] = [
        "PathologicalPathDecideRule",
        ["TooManyPathSegmentsDecideRule", {"max_path_depth": 3}],
        ["MatchesRegexDecideRule", {"regex": ".*calendar.*"}],
        ["DecideRuleSequence", {"rules": ["RejectDecideRule", ["MatchesRegexDecideRule", {"regex": ".*zip"}]]}],
    ]
    scope = made([["BroadScope", {"exclude_filters": filters}]])
    assert scope.accepts(at("http://a.example/x"))
    for tail in ("a/a/a/a/", "a/b/c/d", "calendar", "x.zip"):
        assert not scope.accepts(at("http://a.example/" + tail)), tail


PATHS = st.text("LEXRPIM", max_size=9) | st.just("L" * 26)
HOSTS = st.sampled_from(["www.a.example", "a.example", "b.example", "x.b.example", "z.example"])
TAILS = st.sampled_from(["/", "/dir/x", "/dirt", "/x.pdf", "/x.JPG", "/a/calendar/b"])


@pytest.mark.parametrize("name", TABLE)
@settings(max_examples=60, deadline=None)
@given(PATHS, HOSTS, TAILS, st.booleans())
def test_the_printed_list_of_rules_says_the_same(name: str, path: str, host: str, tail: str, excluding: bool) -> None:
    exclude: list[Any] = [["MatchesRegexDecideRule", {"regex": ".*calendar.*"}], "PathologicalPathDecideRule"]
    exclude = exclude if excluding else []
    scope = made([[name, {"exclude_filters": exclude}]])
    rule = scope.sequence.rules[0]
    assert isinstance(rule, CrawlScope)
    listed = made(rule.as_rules())
    curi = at(f"http://{host}{tail}", path)
    assert scope.accepts(curi) is listed.accepts(curi)
