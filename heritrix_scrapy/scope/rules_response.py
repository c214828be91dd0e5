"""What does the answer to a URI say about it?

Rules that look at status, content type, sizes, digest and annotations. They belong before a part that works on a
fetched URI (``should_process`` of extractors, writers and steps). In the scope every URI is still unfetched: status
0, content type ``unknown``, no body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from heritrix_scrapy.scope.regexes import RegexDecideRule, compiled, expressions, watched_list
from heritrix_scrapy.scope.rule import ACCEPT, NONE, REJECT, DecideRule, Decision, PredicatedDecideRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.settings.files import WatchedFile

LONGEST = 2**63 - 1

#: Heritrix reads a Content-Length as a 32-bit number, and cuts sizes to one.
_INT = 2**31


class ContentTypeMatchesRegexDecideRule(RegexDecideRule):
    """Whether ``regex`` matches the whole content type, parameters included; ``unknown`` before the fetch."""

    looks_at_response = True

    def text(self, curi: CrawlURI) -> str:
        return curi.content_type


class ContentTypeNotMatchesRegexDecideRule(ContentTypeMatchesRegexDecideRule):
    """Whether ``regex`` does not match the whole content type; so before the fetch as well."""

    negated = True


class FetchStatusMatchesRegexDecideRule(RegexDecideRule):
    """Whether ``regex`` matches the status as a decimal number: ``404``, ``-5000``, ``0`` before the fetch."""

    looks_at_response = True

    def text(self, curi: CrawlURI) -> str:
        return str(curi.status)


class FetchStatusNotMatchesRegexDecideRule(FetchStatusMatchesRegexDecideRule):
    """Whether ``regex`` does not match the status as a decimal number."""

    negated = True


class FetchStatusDecideRule(PredicatedDecideRule):
    """Whether the status is one of ``status_codes``."""

    looks_at_response = True

    def __init__(self, *, status_codes: Iterable[int] = (), decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.status_codes = frozenset(int(code) for code in status_codes)

    def matches(self, curi: CrawlURI) -> bool:
        return curi.status in self.status_codes


class MatchesStatusCodeDecideRule(PredicatedDecideRule):
    """Whether the status lies between ``lower_bound`` and ``upper_bound``, both included."""

    looks_at_response = True

    def __init__(self, *, lower_bound: int = 0, upper_bound: int = 600, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def matches(self, curi: CrawlURI) -> bool:
        return self.lower_bound <= curi.status <= self.upper_bound


class NotMatchesStatusCodeDecideRule(PredicatedDecideRule):
    """Whether the status lies outside ``lower_bound`` and ``upper_bound``. The bounds count as outside, as in
    Heritrix, unless ``inclusive`` says that they belong to the range."""

    looks_at_response = True

    def __init__(
        self,
        *,
        lower_bound: int = 0,
        upper_bound: int = 600,
        inclusive: bool = False,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.inclusive = inclusive

    def matches(self, curi: CrawlURI) -> bool:
        if self.inclusive:
            return not self.lower_bound <= curi.status <= self.upper_bound
        return curi.status <= self.lower_bound or curi.status >= self.upper_bound


class ContentLengthDecideRule(DecideRule):
    """Accepts a body shorter than ``content_length_threshold`` bytes and rejects any other; before the fetch there
    are 0 bytes."""

    looks_at_response = True

    def __init__(self, *, content_length_threshold: int = LONGEST) -> None:
        self.content_length_threshold = content_length_threshold

    def evaluate(self, curi: CrawlURI) -> Decision:
        return ACCEPT if max(curi.content_length, 0) < self.content_length_threshold else REJECT


class ResponseContentLengthDecideRule(PredicatedDecideRule):
    """Whether a fetch was begun and its body has from ``lower_bound`` to ``upper_bound`` bytes."""

    looks_at_response = True

    def __init__(
        self, *, lower_bound: int = 0, upper_bound: int = LONGEST, decision: Decision | str | None = None
    ) -> None:
        super().__init__(decision=decision)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def matches(self, curi: CrawlURI) -> bool:
        if curi.began_ms is None or curi.recorder is None:
            return False
        return self.lower_bound <= curi.recorder.body_size <= self.upper_bound


class _ResourceLength(PredicatedDecideRule):
    """Compares a length with ``content_length_threshold``: with ``use_header_length`` what Content-Length says
    (unknown: the rule does not apply), else the bytes received."""

    looks_at_response = True

    def __init__(
        self,
        *,
        use_header_length: bool = True,
        content_length_threshold: int = -1,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.use_header_length = use_header_length
        self.content_length_threshold = content_length_threshold
        self._narrow = False

    def configure(self, view: object) -> None:
        self._narrow = getattr(view, "profile", "") == "heritrix"

    def length(self, curi: CrawlURI) -> int | None:
        """Bytes; None when the rule does not apply."""
        if not self.use_header_length:
            size = curi.content_size
            return (size + _INT) % (2 * _INT) - _INT if self._narrow else size
        written = curi.header(b"content-length")
        try:
            length = int(written.decode("latin-1")) if written is not None else None
        except ValueError:
            return None
        if length is not None and self._narrow and not -_INT <= length < _INT:
            return None
        return length


class ResourceNoLongerThanDecideRule(_ResourceLength):
    """Whether the length is below ``content_length_threshold``: the header's with ``use_header_length``, else that of
    what was received. In the default, -1, never."""

    def matches(self, curi: CrawlURI) -> bool:
        length = self.length(curi)
        return length is not None and length < self.content_length_threshold


class ResourceLongerThanDecideRule(_ResourceLength):
    """Whether the length is above ``content_length_threshold``: the header's with ``use_header_length``, else that of
    what was received."""

    def matches(self, curi: CrawlURI) -> bool:
        length = self.length(curi)
        return length is not None and length > self.content_length_threshold


class IdenticalDigestDecideRule(PredicatedDecideRule):
    """Whether the content is known by its digest already: the URI is annotated ``duplicate:digest``."""

    looks_at_response = True
    default_decision: ClassVar[Decision] = REJECT

    def matches(self, curi: CrawlURI) -> bool:
        return "duplicate:digest" in curi.annotations


class AnnotationMatchesListRegexDecideRule(PredicatedDecideRule):
    """Whether any annotation of the URI is matched as a whole by one (``list_logical_or``), or by each, of
    ``regex_list``."""

    looks_at_response = True

    def __init__(
        self,
        *,
        regex_list: Sequence[str] = (),
        list_logical_or: bool = True,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.list_logical_or = list_logical_or
        self.regex_list = regex_list

    @property
    def regex_list(self) -> Sequence[str]:
        return self._list

    @regex_list.setter
    def regex_list(self, value: Sequence[str]) -> None:
        self._matcher = compiled("HERITRIX_SCOPE", expressions(value))
        self._list = value

    def files(self) -> list[WatchedFile]:
        return watched_list(self)

    def evaluate(self, curi: CrawlURI) -> Decision:
        matches = self._matcher if self.list_logical_or else self._matcher.every
        return self.decision if any(matches(text) for text in curi.annotations) else NONE
