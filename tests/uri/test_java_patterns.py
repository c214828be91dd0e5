"""Do expressions match what they match in Java?

``java_answers.txt`` was printed by ``JavaPatterns.java`` (Java 17) for the tables in ``java_patterns.py``: a line a
pattern, a character a text.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heritrix_scrapy.uri.java_match import Matcher
from heritrix_scrapy.uri.java_regex import java_compile
from tests.uri.java_patterns import PATTERNS, TEXTS

ANSWERS = (Path(__file__).parent / "java_answers.txt").read_text(encoding="ascii").splitlines()


def test_the_tables_are_whole() -> None:
    assert len(PATTERNS) == len(ANSWERS) >= 80
    assert {len(line) for line in ANSWERS if line != "error"} == {len(TEXTS)}


@pytest.mark.parametrize(("pattern", "answers"), list(zip(PATTERNS, ANSWERS, strict=True)), ids=range(len(PATTERNS)))
def test_as_in_java(pattern: str, answers: str) -> None:
    if answers == "error":
        with pytest.raises(re.error):
            Matcher([pattern])
        return
    matcher, compiled = Matcher([pattern]), java_compile(pattern)
    wrong = [
        (text, java, matcher(text), compiled.fullmatch(text) is not None)
        for text, java in zip(TEXTS, answers, strict=True)
        if len({matcher(text), java == "1", compiled.fullmatch(text) is not None}) > 1
    ]
    assert not wrong


def test_all_at_once() -> None:
    """A list of all of them says what they say one by one."""
    usable = [(pattern, answers) for pattern, answers in zip(PATTERNS, ANSWERS, strict=True) if answers != "error"]
    rare = [pattern for pattern, answers in usable if answers.count("1") < 8]
    matcher = Matcher(rare)
    told = dict(usable)
    for place, text in enumerate(TEXTS):
        assert matcher(text) is any(told[pattern][place] == "1" for pattern in rare), text
    assert Matcher([r".*a.*", r".*b.*"]).every("xaxb")
    assert not Matcher([r".*a.*", r"(?=x).*b.*"]).every("axb")
    assert Matcher([r".*a.*", r"(?=x).*b.*"]).every("xab")
    assert not Matcher([]).every("x")
