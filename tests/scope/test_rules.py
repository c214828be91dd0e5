"""Do the rules say what they should, at a price that a hostile URI cannot raise?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import (
    ACCEPT,
    NONE,
    REJECT,
    AcceptDecideRule,
    DecideRule,
    Decision,
    PredicatedDecideRule,
    RejectDecideRule,
)
from heritrix_scrapy.scope.rules_hops import TooManyHopsDecideRule, TransclusionDecideRule, tail
from heritrix_scrapy.scope.rules_surt import NotSurtPrefixedDecideRule, SurtPrefixedDecideRule
from heritrix_scrapy.scope.rules_text import (
    MatchesListRegexDecideRule,
    PathologicalPathDecideRule,
    SchemeNotInSetDecideRule,
    path_slashes,
    repeats,
)
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.settings import default_view

if TYPE_CHECKING:
    from pathlib import Path

VIEW = default_view()
HERITRIX = default_view("heritrix")


def curi(uri: str = "http://a.example/", path: str = "", view: Any = VIEW, **more: Any) -> CrawlURI:
    made = CrawlURI(uri, path=path, **more)
    made.settings = view
    return made


class Says(DecideRule):
    """Says one thing, and may claim to say only that."""

    def __init__(self, said: Decision, only: bool) -> None:
        self.said, self._only = said, only

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.said

    @property
    def only(self) -> Decision | None:
        return self.said if self._only else None


def walked_forwards(rules: list[DecideRule], uri: CrawlURI) -> tuple[Decision, int]:
    """Heritrix's own walk: from the front, leaving out what could only repeat the result so far."""
    result, index = NONE, -1
    for place, rule in enumerate(rules):
        if rule.only is result and result is not NONE:
            continue
        said = rule.evaluate(uri)
        if said is not NONE:
            result, index = said, place
    return result, index


@given(st.lists(st.builds(Says, st.sampled_from(Decision), st.booleans()), max_size=8))
def test_a_sequence_walked_from_behind_says_what_it_says_from_the_front(rules: list[DecideRule]) -> None:
    sequence = DecideRuleSequence(rules)
    uri = curi()
    assert sequence.decide(uri) == walked_forwards(rules, uri)
    assert sequence.evaluate(uri) is sequence.decide(uri)[0]


def test_disabled_and_gated_rules_say_nothing() -> None:
    rejecting = RejectDecideRule()
    sequence = DecideRuleSequence([AcceptDecideRule(), rejecting])
    assert sequence.decide(curi()) == (REJECT, 1)
    rejecting.should_process = RejectDecideRule()
    assert sequence.decide(curi()) == (ACCEPT, 0)
    assert sequence.evaluate(curi()) is ACCEPT
    rejecting.should_process = DecideRuleSequence()
    assert sequence.evaluate(curi()) is REJECT
    rejecting.enabled = False
    assert sequence.decide(curi()) == (ACCEPT, 0)
    assert sequence.evaluate(curi()) is ACCEPT


def test_a_rule_that_returns_nothing_says_nothing() -> None:
    class Silent(DecideRule):
        def evaluate(self, curi: CrawlURI) -> Decision:
            return None  # type: ignore[return-value]

    sequence = DecideRuleSequence([AcceptDecideRule(), Silent()])
    assert sequence.evaluate(curi()) is ACCEPT
    assert sequence.decide(curi()) == (ACCEPT, 0)


def test_a_sequence_in_a_sequence_is_one_rule() -> None:
    inner = DecideRuleSequence([AcceptDecideRule(), AcceptDecideRule()])
    assert DecideRuleSequence([AcceptDecideRule(), inner]).decide(curi()) == (ACCEPT, 1)


def test_rules_without_their_method_say_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"evaluate\(curi\)"):
        DecideRule().evaluate(curi())
    with pytest.raises(TypeError, match=r"matches\(curi\)"):
        PredicatedDecideRule().evaluate(curi())


SEGMENTS = st.lists(st.sampled_from(["a", "b", ""]), max_size=14)


@given(SEGMENTS, st.integers(1, 4))
@settings(max_examples=400)
def test_repeated_segments_are_found_as_the_expression_finds_them(segments: list[str], repetitions: int) -> None:
    uri = "x/" + "".join(segment + "/" for segment in segments) + "end"
    expression = re.compile(rf".*?/(.*?/)\1{{{repetitions},}}.*")
    assert repeats(uri.split("/")[1:-1], repetitions) == bool(expression.fullmatch(uri))


def test_a_hostile_path_is_cheap() -> None:
    compared = 0

    class Counted(str):
        __hash__ = str.__hash__

        def __ne__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__ne__(self, other)

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    # a square-free word on three letters: every comparison nearly succeeds, none does
    word = "a"
    while len(word) < 4000:
        word = "".join({"a": "abc", "b": "ac", "c": "b"}[letter] for letter in word)
    segments = [Counted(letter) for letter in word]
    assert not repeats(segments, 2)
    assert compared < 60 * len(segments)


@pytest.mark.parametrize(
    ("uri", "slashes"),
    [
        ("http://a.example/", 1),
        ("http://a.example", 0),
        ("http://a.example/b/c?d/e", 2),
        ("http://a.example//", 2),
        ("mailto:a/b?c/d", 2),
        ("dns:a.example", 0),
        ("file:/a/b", 2),
    ],
)
def test_slashes_of_the_path(uri: str, slashes: int) -> None:
    assert path_slashes(uri) == slashes


def test_numbers_follow_the_setting_unless_given() -> None:
    far = curi(path="LLL", view=default_view(max_hops=2))
    assert TooManyHopsDecideRule().evaluate(far) is REJECT
    assert TooManyHopsDecideRule(max_hops=3).evaluate(far) is NONE
    assert TooManyHopsDecideRule(max_hops=0, decision="NONE").evaluate(far) is NONE
    guess = curi(path="LXX", view=default_view(max_speculative_hops=2))
    assert TransclusionDecideRule().evaluate(guess) is ACCEPT
    twice = curi("http://a.example/b/b/c", view=default_view(max_repetitions=1))
    assert PathologicalPathDecideRule().evaluate(twice) is REJECT
    assert PathologicalPathDecideRule(max_repetitions=0).evaluate(twice) is NONE


def test_the_counter_of_a_long_path_counts_in_heritrix_only() -> None:
    path = "100+" + "R" * 50
    modern, heritrix = TransclusionDecideRule(), TransclusionDecideRule()
    modern.configure(VIEW)
    heritrix.configure(HERITRIX)
    assert modern.evaluate(curi(path=path)) is ACCEPT
    assert heritrix.evaluate(curi(path=path, view=HERITRIX)) is NONE
    assert tail(path, "L") == "R" * 50
    assert tail(path, "L", counter=True) == path
    assert tail("1+" + "R" * 49 + "L", "LM", counter=True) == ""


def test_schemes() -> None:
    assert SchemeNotInSetDecideRule().evaluate(curi("gopher://a.example/")) is REJECT
    assert SchemeNotInSetDecideRule(schemes=["gopher"]).evaluate(curi("gopher://a.example/")) is NONE


def test_lists_of_expressions() -> None:
    uri = curi("http://a.example/b.pdf?x")
    assert MatchesListRegexDecideRule().evaluate(uri) is NONE
    one = [r"http.*(?i)\.PDF.*", r"nothing"]
    assert MatchesListRegexDecideRule(regex_list=one).evaluate(uri) is ACCEPT
    assert MatchesListRegexDecideRule(regex_list=one, list_logical_or=False).evaluate(uri) is NONE
    assert MatchesListRegexDecideRule(regex_list=[r".*pdf"], decision="REJECT").evaluate(uri) is NONE
    with pytest.raises(ConfigurationError, match="not a regular expression"):
        MatchesListRegexDecideRule(regex_list=["("])


def surt_rule(view: Any = VIEW, **properties: Any) -> SurtPrefixedDecideRule:
    rule = SurtPrefixedDecideRule(**properties)
    rule.configure(view)
    return rule


def test_a_seed_as_written_covers_its_subdomains_and_fixed_up_its_host() -> None:
    below = curi("http://www.a.example/x")
    for view, covered in ((VIEW, ACCEPT), (HERITRIX, NONE)):
        rule = surt_rule(view)
        rule.seed_added("http://a.example/", "http://a.example")
        assert rule.evaluate(below) is covered
    rule = surt_rule()
    rule.seed_added("http://a.example/", "http://a.example/")
    assert rule.evaluate(below) is NONE


def test_prefixes_from_lists_files_and_lines(tmp_path: Path) -> None:
    file = tmp_path / "surts.txt"
    file.write_text("# known\n+http://(example,b,\nc.example/\n")
    for source in (
        str(file),
        file,
        ["ConfigPath", {"path": str(file)}],
        file.read_text(),
        file.read_text().split("\n"),
    ):
        rule = surt_rule(surts_source=source)
        assert list(rule.prefixes) == ["http://(example,b,", "http://(example,c,)/"]
    assert surt_rule(surts_source_file=str(file)).evaluate(curi("https://x.b.example/")) is ACCEPT
    with pytest.raises(ConfigurationError, match="cannot be read"):
        surt_rule(surts_source=str(tmp_path / "none"))


def test_lines_go_to_the_rules_of_their_decision(tmp_path: Path) -> None:
    accepting, rejecting = surt_rule(), surt_rule(decision="REJECT", seeds_as_surt_prefixes=False)
    assert accepting.non_seed_line("+b.example")
    assert not accepting.non_seed_line("-b.example")
    assert rejecting.non_seed_line("-c.example")
    assert not surt_rule(decision="NONE").non_seed_line("+b.example")
    rejecting.seed_added("http://d.example/", "d.example")
    assert list(rejecting.prefixes) == ["http://(example,c,"]
    accepting.surts_dump_file = tmp_path / "deep" / "surts.dump"
    accepting.seeds_read()
    assert accepting.surts_dump_file.read_text() == "http://(example,b,\n"


def test_via_counts_when_asked() -> None:
    off = curi("http://b.example/", via="http://a.example/x")
    for cls, said in ((SurtPrefixedDecideRule, ACCEPT), (NotSurtPrefixedDecideRule, NONE)):
        rule = cls(also_check_via=True)
        rule.configure(VIEW)
        rule.seed_added("http://a.example/", "")
        assert rule.evaluate(off) is said
        rule.also_check_via = False
        assert rule.evaluate(off) is not said


class Gives(DecideRule):
    """A rule of a user's own that gives what it should not."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def evaluate(self, curi: CrawlURI) -> Any:
        return self.answer


@pytest.mark.parametrize("answer", [True, False, "ACCEPT", 1])
def test_an_answer_that_is_no_decision_is_a_mistake_that_is_told(answer: Any) -> None:
    page = curi()
    sequence = DecideRuleSequence([AcceptDecideRule(), Gives(answer)])
    for ask in (sequence.evaluate, sequence.decide):
        with pytest.raises(TypeError, match=r"Gives\.evaluate gave"):
            ask(page)
    assert DecideRuleSequence([AcceptDecideRule(), Gives(None)]).evaluate(page) is Decision.ACCEPT


def test_a_list_of_thousands_of_like_minded_rules() -> None:
    rules: list[DecideRule] = [RejectDecideRule(), *(AcceptDecideRule() for _ in range(5000))]
    assert DecideRuleSequence(rules).decide(CrawlURI("http://a.example/")) == (Decision.ACCEPT, 1)
