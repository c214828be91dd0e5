"""How does a rule ask whether an operator's expression matches a whole text?

Expressions are Java's, and no answer takes for ever (``uri.java_match``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import NONE, Decision, PredicatedDecideRule
from heritrix_scrapy.settings.files import FileLines, WatchedFile
from heritrix_scrapy.uri.java_match import Matcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI

#: What a text that is no expression raises when it is made one.
FAULTS = (re.error, OverflowError, RecursionError, TypeError)


def compiled(setting: str, patterns: Sequence[str], *, seconds: float = 0) -> Matcher:
    """An operator's expressions. Raises ConfigurationError in the name of the setting."""
    try:
        return Matcher(patterns, seconds=seconds)
    except FAULTS:
        for pattern in patterns:
            try:
                Matcher([pattern])
            except FAULTS as error:
                raise ConfigurationError(setting, pattern, f"not a regular expression: {error}") from None
        raise


def expressions(lines: Iterable[str]) -> list[str]:
    """The expressions of a list: its lines, without empty ones."""
    return [line for line in lines if line]


def watched_list(rule: Any) -> list[WatchedFile]:
    """The file of a rule's ``regex_list``, where it comes from one."""
    lines = rule.regex_list
    if not isinstance(lines, FileLines):
        return []

    def take(text: str) -> None:
        rule.regex_list = FileLines(lines.path, lines.mark, text.splitlines())

    return [WatchedFile(lines.path, lines.mark, take)]


class RegexDecideRule(PredicatedDecideRule):
    """Whether ``regex`` matches the whole of some text about the URI."""

    #: Whether the rule applies where the expression does not match.
    negated: ClassVar[bool] = False

    def __init__(self, *, regex: str = ".", decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.regex = regex

    @property
    def regex(self) -> str:
        return self._regex

    @regex.setter
    def regex(self, value: str) -> None:
        self._matches = compiled("HERITRIX_SCOPE", [value])
        self._regex = value

    def text(self, curi: CrawlURI) -> str:
        """The text that is looked at."""
        raise TypeError(f"{type(self).__name__} has no text(curi)")

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self._matches(self.text(curi)) is not self.negated else NONE
