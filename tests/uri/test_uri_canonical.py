"""Which differences make another page, and which do not?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.settings import default_view
from heritrix_scrapy.uri.canonical import (
    DEFAULT_RULES,
    MODERN_RULES,
    SPARING_PLAIN,
    Canonicaliser,
    CanonicalizationRule,
    make_rule,
)
from heritrix_scrapy.uri.java_regex import expand, java_compile

ID = "0123456789abcdefghijklmnopqrstuv"


def test_default_chain() -> None:
    key = Canonicaliser()
    assert key("http://WWW2.a.com/X?jsessionid=" + ID) == "http://a.com/x"
    assert key("http://u:p@a.com/x?cfid=1&cftoken=2&c=d") == "http://a.com/x?c=d"
    assert key("http://www.a.com/") == "http://www.a.com/"


@given(st.lists(st.sampled_from(["?", "&", "sid=" + ID, "x=1", "www.", "@", "/", "//", "CFID=1&CFTOKEN=2", "A"])))
def test_a_guard_never_hides_a_match(pieces: list[str]) -> None:
    text = "http://a.com/" + "".join(pieces)
    for form in (r"(?i)^(.+)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$",):
        found = java_compile(form).fullmatch(text)
        if found:
            assert make_rule("StripSessionIDs").canonicalize(text) != text
    assert Canonicaliser()(text).islower()


def test_forms_of_a_rule() -> None:
    class Own(CanonicalizationRule):
        def canonicalize(self, text: str) -> str:
            return text[::-1]

    key = Canonicaliser(
        [
            "org.archive.modules.canonicalize.LowercaseRule",
            ["RegexRule", {"regex": "(.*)\\?.*", "format": "$1", "id": "noQuery"}],
            ["StripWWWRule", {"enabled": False}],
            Own(),
        ]
    )
    assert key("http://www.A.com/x?y") == "x/moc.a.www//:ptth"
    assert len(key.rules) == 4


@pytest.mark.parametrize(
    "form", ["NoSuchRule", ["LowercaseRule", {"rule": 1}], ["RegexRule", {"regex": "(a)", "format": "$2"}]]
)
def test_a_wrong_rule_is_refused(form: object) -> None:
    with pytest.raises(ValueError, match=r"rule|group"):
        make_rule(form)  # type: ignore[arg-type]


def test_a_settings_value_has_one_chain() -> None:
    rules = list(DEFAULT_RULES)
    assert Canonicaliser.of(rules) is Canonicaliser.of(rules)
    assert Canonicaliser.of(list(rules)) is not Canonicaliser.of(rules)


@pytest.mark.parametrize(
    ("pattern", "matches", "other"),
    [
        (r"x(?i)y|z", ["xy", "xY", "Z"], ["Xy"]),
        (r"(a(?i)b|c)d", ["aBd", "Cd"], ["ABd", "aBD"]),
        (r"(?i:a)b", ["Ab"], ["AB"]),
        (r"\p{Alpha}[\p{Digit}x]\z", ["a1", "ax"], ["11"]),
        (r"[a-c[x-z]]", ["b", "y"], ["d"]),
        (r"\Qa.b\E.", ["a.bc"], ["axbc", "a.b\r"]),
        (r"(?s)a.", ["a\n"], ["a"]),
        (r"(?<name>a)", ["a"], ["b"]),
        (r"\w\d\/", ["a1/"], ["\u00e91/"]),
        (r"a++b", ["aab"], ["b"]),
        (r"[a-z&&[^bc]]", ["a", "z"], ["b", "-", "A"]),
        (r"[a-d&&c-f]", ["c", "d"], ["b", "e"]),
        (r"[a[^b]]", ["a", "c"], ["b"]),
        (r"[^a-c[x]]", ["d"], ["a", "x"]),
        (r"[\w&&[^\d_]]+", ["ab"], ["a1", "_"]),
        (r"\u0041\x42", ["AB"], ["ab"]),
        (r"[]a]", ["]", "a"], ["b"]),
        (r"(?<x>a)\k<x>", ["aa"], ["ab"]),
        (r"\P{Alpha}[^\P{Digit}]", ["-1"], ["a1", "--"]),
    ],
)
def test_java_expressions(pattern: str, matches: list[str], other: list[str]) -> None:
    compiled = java_compile(pattern)
    assert [text for text in matches if not compiled.fullmatch(text)] == []
    assert [text for text in other if compiled.fullmatch(text)] == []


@pytest.mark.parametrize("pattern", [r"\G", r"\p{Nonsense}", "[a", "(", "[a&&"])
def test_expressions_that_are_refused(pattern: str) -> None:
    with pytest.raises(re.error):
        java_compile(pattern)


def test_replacements() -> None:
    pattern = java_compile("(?<first>a)(b)?")
    found = pattern.fullmatch("a")
    assert found
    assert expand(r"${first}-$2-$10-\$1", pattern)(found) == "a--a0-$1"
    for wrong in ("$3", "${other}", "$"):
        with pytest.raises(ValueError, match="group"):
            expand(wrong, pattern)


@given(
    st.sampled_from(["http://", "https://"]),
    st.sampled_from(["a.test", "w.test", "ww.a.test:8080", "awww.test", "[::1]"]),
    st.text(st.sampled_from("abcdgijopsnuwx0123456789/.,;:&+~_%-!*'()#"), max_size=60)
    | st.sampled_from(
        ["jsessionid", "phpsessid", "sid", "aspsessionidabcdefgh", "cfid&cftoken", "//", "www.x/y", "&&"]
    ),
)
def test_what_is_plain_is_its_own_key(scheme: str, host: str, path: str) -> None:
    text = f"{scheme}{host}/{path}"
    for rule in SPARING_PLAIN:
        assert rule().canonicalize(text) == text


def test_only_chains_of_sparing_rules_spare_what_is_plain() -> None:
    assert Canonicaliser().spares_plain
    assert not Canonicaliser([*DEFAULT_RULES, "StripExtraSlashes"]).spares_plain
    assert not Canonicaliser([*DEFAULT_RULES, ["RegexRule", {"regex": "(.*)/x", "format": "$1"}]]).spares_plain


@pytest.mark.parametrize(
    ("uri", "key"),
    [
        ("http://e.com/a;jsessionid=AAAA", "http://e.com/a"),
        ("http://e.com/a;jsessionid=AB12.node1?x=1", "http://e.com/a?x=1"),
        ("http://e.com/a;JSESSIONID=AB/b", "http://e.com/a/b"),
        ("http://e.com/(S(lit3py55t21z5v55vlm25s55))/o.aspx", "http://e.com/o.aspx"),
        ("http://e.com/(A(abc)S(def)F(x))/o.aspx", "http://e.com/o.aspx"),
        ("http://e.com/?PHPSESSID=abcdefghijklmnopqrstuvwxyz&x=1", "http://e.com/?x=1"),
        ("http://e.com/a?x=1&phpsessid=abc", "http://e.com/a?x=1"),
        ("http://e.com/a?PHPSESSID=abc", "http://e.com/a"),
        ("http://e.com/a?ASPSESSIONIDABCDEFGH=xx&y", "http://e.com/a?y"),
        # these are other pages
        ("http://e.com/wiki/a_(album)/x", "http://e.com/wiki/a_(album)/x"),
        ("http://e.com/(some)/x", "http://e.com/(some)/x"),
        ("http://e.com/a?session=1&sid=42", "http://e.com/a?session=1&sid=42"),
        ("http://e.com/a;v=1?x", "http://e.com/a;v=1?x"),
        ("http://e.com/a?next=/b;jsession", "http://e.com/a?next=/b;jsession"),
    ],
)
def test_sessions_of_any_length_and_place(uri: str, key: str) -> None:
    assert Canonicaliser(MODERN_RULES)(uri) == key
    assert default_view().canonicalization_rules == [[name, {}] for name in MODERN_RULES]
    assert default_view("heritrix").canonicalization_rules == [[name, {}] for name in DEFAULT_RULES]
