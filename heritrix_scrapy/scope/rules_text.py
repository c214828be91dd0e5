"""What does the text of a URI say about it?

Rules that look at the URI as a string.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.scope.regexes import RegexDecideRule, compiled, expressions, watched_list
from heritrix_scrapy.scope.rule import NONE, REJECT, DecideRule, Decision, PredicatedDecideRule, no_path
from heritrix_scrapy.settings.files import FileLines, WatchedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.uri.java_match import Matcher

SCHEMES = ("http", "https", "ftp", "dns", "whois", "sftp")


class SchemeNotInSetDecideRule(PredicatedDecideRule):
    """Whether the scheme is none of ``schemes``."""

    default_decision = REJECT
    by_directory = True
    of_path = no_path

    def __init__(self, *, schemes: Iterable[str] = SCHEMES, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.schemes = frozenset(schemes)

    def evaluate(self, curi: CrawlURI) -> Decision:
        return NONE if curi.uri.partition(":")[0] in self.schemes else self.decision


class TooManyPathSegmentsDecideRule(PredicatedDecideRule):
    """Whether the path has more than ``max_path_depth`` slashes. Unset: HERITRIX_MAX_PATH_DEPTH."""

    default_decision = REJECT
    by_directory = True
    of_path = no_path

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
    of_path = no_path

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


class MatchesRegexDecideRule(RegexDecideRule):
    """Whether ``regex`` matches the whole URI."""

    def text(self, curi: CrawlURI) -> str:
        return curi.uri


class NotMatchesRegexDecideRule(MatchesRegexDecideRule):
    """Whether ``regex`` does not match the whole URI."""

    negated = True


class MatchesListRegexDecideRule(PredicatedDecideRule):
    """Whether any (``list_logical_or``), or each, of ``regex_list`` matches the whole URI; an empty list never does.
    The list may come from a file: ``["ConfigPath", {"path": …}]``. An expression that takes longer than
    ``timeout_per_regex_seconds`` (0: a second) does not match."""

    negated: ClassVar[bool] = False

    #: What names the list in a message.
    setting: ClassVar[str] = "HERITRIX_SCOPE"

    def __init__(
        self,
        *,
        regex_list: Sequence[str] = (),
        list_logical_or: bool = True,
        timeout_per_regex_seconds: int = 0,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.list_logical_or = list_logical_or
        self._seconds = timeout_per_regex_seconds
        self._list: Sequence[str] = ()
        self.regex_list = regex_list

    @property
    def timeout_per_regex_seconds(self) -> int:
        return self._seconds

    @timeout_per_regex_seconds.setter
    def timeout_per_regex_seconds(self, value: int) -> None:
        self._seconds = value
        self.regex_list = self._list

    @property
    def regex_list(self) -> Sequence[str]:
        return self._list

    @regex_list.setter
    def regex_list(self, value: Sequence[str]) -> None:
        self._matcher = compiled(self.setting, expressions(value), seconds=self._seconds)
        self._list = value

    def files(self) -> list[WatchedFile]:
        return watched_list(self)

    def matches(self, curi: CrawlURI) -> bool:
        matcher = self._matcher
        if not matcher.patterns:
            return False
        return matcher(curi.uri) if self.list_logical_or else matcher.every(curi.uri)

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self.matches(curi) is not self.negated else NONE


class NotMatchesListRegexDecideRule(MatchesListRegexDecideRule):
    """Whether not any (``list_logical_or``), or not each, of ``regex_list`` matches the whole URI; with an empty list
    always."""

    negated = True


class RejectRegexes(MatchesListRegexDecideRule):
    """MatchesListRegexDecideRule with the list of HERITRIX_REJECT_REGEXES, as it holds for each URI."""

    setting = "HERITRIX_REJECT_REGEXES"
    default_decision = REJECT

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int, tuple[Sequence[str], Matcher]] = {}
        #: The lists of the settings and of every sheet.
        self.lists: list[Sequence[str]] = []

    def configure(self, view: Any) -> None:
        self.regex_list = view.reject_regexes

    def files(self) -> list[WatchedFile]:
        return [
            WatchedFile(lines.path, lines.mark, partial(self._read_again, lines))
            for lines in self.lists
            if isinstance(lines, FileLines)
        ]

    def read_lists(self) -> None:
        """Raises ConfigurationError for a list of a sheet that cannot be."""
        for wanted in self.lists:
            self._of(wanted)

    def _of(self, wanted: Sequence[str]) -> Matcher:
        # one Matcher for each combination of sheets; the list is kept, so that its id stays its own
        known = self._known.get(id(wanted))
        if known is None:
            known = self._known[id(wanted)] = (wanted, compiled(self.setting, expressions(wanted)))
        return known[1]

    def _read_again(self, lines: FileLines, text: str) -> None:
        fresh = text.splitlines()
        made = compiled(self.setting, expressions(fresh))
        # the list stays the same object, by which the settings of a URI name it
        lines[:] = fresh
        if lines is self._list:
            self._matcher = made
        self._known[id(lines)] = lines, made

    @property
    def by_directory(self) -> bool:
        return not self.regex_list

    of_path = no_path

    def evaluate(self, curi: CrawlURI) -> Decision:
        wanted = curi.settings.reject_regexes
        if not wanted:
            return NONE
        if wanted is not self._list:
            return self.decision if self._of(wanted)(curi.uri) else NONE
        return super().evaluate(curi)

    @property
    def name(self) -> str:
        return MatchesListRegexDecideRule.__name__


#: Endings of files, by what is in them.
# fmt: off
FILES: dict[str, tuple[str, ...]] = {
    "IMAGES": ("bmp", "gif", "jpg", "jpeg", "png", "svg", "tif", "tiff"),
    "AUDIO": (
        "aac", "aif", "aiff", "m3u", "m4a", "mid", "midi", "mp2", "mp3", "mp4", "mpa", "ogg", "ra", "ram", "wav", "wma",
    ),
    "VIDEO": ("asf", "asx", "avi", "flv", "mov", "mp4", "mpeg", "mpg", "qt", "ram", "rm", "smil", "wmv"),
    "MISC": ("doc", "pdf", "ppt", "swf"),
}
# fmt: on
FILES["ALL"] = tuple(sorted({ending for endings in FILES.values() for ending in endings}))

#: Means the rule's own expression.
CUSTOM = "CUSTOM"


class MatchesFilePatternDecideRule(PredicatedDecideRule):
    """Whether the URI ends like a file of some kind: ``use_preset`` is IMAGES, AUDIO, VIDEO, MISC, ALL of these, or
    CUSTOM for what ``regex`` matches as a whole."""

    negated: ClassVar[bool] = False

    def __init__(self, *, use_preset: str = "ALL", regex: str = ".", decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.use_preset = use_preset
        self.regex = regex

    @property
    def use_preset(self) -> str:
        return self._preset

    @use_preset.setter
    def use_preset(self, value: str) -> None:
        value = str(value).upper()
        if value not in FILES and value != CUSTOM:
            raise ValueError(f"use_preset is one of {', '.join(FILES)} or {CUSTOM}")
        self._preset = value
        self._endings = tuple("." + ending for ending in FILES.get(value, ()))

    @property
    def regex(self) -> str:
        return self._regex

    @regex.setter
    def regex(self, value: str) -> None:
        self._matcher = compiled("HERITRIX_SCOPE", [value])
        self._regex = value

    def matches(self, curi: CrawlURI) -> bool:
        if self._preset == CUSTOM:
            return self._matcher(curi.uri)
        # the longest ending has four letters and a dot
        return curi.uri[-5:].lower().endswith(self._endings)

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self.matches(curi) is not self.negated else NONE


class NotMatchesFilePatternDecideRule(MatchesFilePatternDecideRule):
    """Whether the URI does not end like a file of that kind."""

    negated = True
