"""What does the text of a URI say about it?

Rules that look at the URI as a string.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import NONE, REJECT, DecideRule, Decision, PredicatedDecideRule
from heritrix_scrapy.uri.java_regex import java_compile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI

SCHEMES = ("http", "https", "ftp", "dns", "whois", "sftp")


class SchemeNotInSetDecideRule(PredicatedDecideRule):
    """Whether the scheme is none of ``schemes``."""

    default_decision = REJECT
    by_directory = True

    def __init__(self, *, schemes: Iterable[str] = SCHEMES, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.schemes = frozenset(schemes)

    def evaluate(self, curi: CrawlURI) -> Decision:
        return NONE if curi.uri.partition(":")[0] in self.schemes else self.decision


class TooManyPathSegmentsDecideRule(PredicatedDecideRule):
    """Whether the path has more than ``max_path_depth`` slashes. Unset: HERITRIX_MAX_PATH_DEPTH."""

    default_decision = REJECT
    by_directory = True

    def __init__(self, *, max_path_depth: int | None = None, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.max_path_depth = max_path_depth

    def evaluate(self, curi: CrawlURI) -> Decision:
        most = self.max_path_depth
        if most is None:
            most = curi.settings.max_path_depth
        uri = curi.uri
        # all slashes of a URI are more than those of its path: most URIs are settled here
        if uri.count("/") <= most or path_slashes(uri) <= most:
            return NONE
        return self.decision


def path_slashes(uri: str) -> int:
    """Slashes in the path of a URI, without its query; in an opaque URI all of them."""
    rest = uri.partition(":")[2]
    if not rest.startswith("/"):
        return rest.count("/")
    return rest.partition("?")[0].count("/") - (2 if rest.startswith("//") else 0)


class PathologicalPathDecideRule(DecideRule):
    """Rejects a URI in which the same segments follow each other more than ``max_repetitions`` times, as in
    ``/a/b/a/b/a/b/``; 0 and less rejects nothing. Unset: HERITRIX_MAX_REPETITIONS."""

    by_directory = True

    def __init__(self, *, max_repetitions: int | None = None) -> None:
        self.max_repetitions = max_repetitions

    def evaluate(self, curi: CrawlURI) -> Decision:
        repetitions = self.max_repetitions
        if repetitions is None:
            repetitions = curi.settings.max_repetitions
        if repetitions <= 0:
            return NONE
        uri = curi.uri
        return REJECT if pathological(uri[: uri.rfind("/")], repetitions) else NONE


# the links of a page share few directories: a fifth of the price
@lru_cache(maxsize=8192)
def pathological(directory: str, repetitions: int) -> bool:
    """Whether a URI's text up to its last slash repeats segments too often."""
    return repeats(directory.split("/")[1:], repetitions)


def repeats(segments: Sequence[str], repetitions: int) -> bool:
    """Whether some run of segments is followed ``repetitions`` times by its like.

    A run of k segments that is repeated n times makes k*n neighbours at distance k equal, so it covers one of
    the places 0, k*n, 2*k*n ...: only there is looked, which keeps long URIs cheap.
    """
    size = len(segments)
    if size - len(set(segments)) < repetitions:
        return False
    for distance in range(1, size // (repetitions + 1) + 1):
        need = distance * repetitions
        last = size - distance
        for place in range(0, last, need):
            if segments[place] != segments[place + distance]:
                continue
            start = place
            while start and place - start < need and segments[start - 1] == segments[start - 1 + distance]:
                start -= 1
            stop = place + 1
            while stop < last and stop - start < need and segments[stop] == segments[stop + distance]:
                stop += 1
            if stop - start >= need:
                return True
    return False


def compiled(setting: str, pattern: str) -> re.Pattern[str]:
    """An operator's expression, in Java's language. Raises ConfigurationError in the name of the setting."""
    try:
        return java_compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigurationError(setting, pattern, f"not a regular expression: {error}") from None


class MatchesListRegexDecideRule(PredicatedDecideRule):
    """Whether any (``list_logical_or``), or each, of ``regex_list`` matches the whole URI; an empty list never
    does."""

    #: What names the list in a message.
    setting = "HERITRIX_SCOPE"

    def __init__(
        self,
        *,
        regex_list: Sequence[str] = (),
        list_logical_or: bool = True,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.list_logical_or = list_logical_or
        self._list: Sequence[str] = ()
        self._patterns: tuple[re.Pattern[str], ...] = ()
        self.regex_list = regex_list

    @property
    def regex_list(self) -> Sequence[str]:
        return self._list

    @regex_list.setter
    def regex_list(self, value: Sequence[str]) -> None:
        self._patterns = tuple(compiled(self.setting, line) for line in value if line)
        self._list = value

    def matches(self, curi: CrawlURI) -> bool:
        uri = curi.uri
        if not self._patterns:
            return False
        if self.list_logical_or:
            return any(pattern.fullmatch(uri) for pattern in self._patterns)
        return all(pattern.fullmatch(uri) for pattern in self._patterns)


class RejectRegexes(MatchesListRegexDecideRule):
    """MatchesListRegexDecideRule with the list of HERITRIX_REJECT_REGEXES, as it holds for each URI."""

    setting = "HERITRIX_REJECT_REGEXES"
    default_decision = REJECT

    def configure(self, view: Any) -> None:
        self.regex_list = view.reject_regexes

    @property
    def by_directory(self) -> bool:
        return not self.regex_list

    def evaluate(self, curi: CrawlURI) -> Decision:
        wanted = curi.settings.reject_regexes
        if wanted is not self._list:
            self.regex_list = wanted
        return super().evaluate(curi) if wanted else NONE

    @property
    def name(self) -> str:
        return MatchesListRegexDecideRule.__name__
