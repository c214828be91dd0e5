"""What do the steps that led to a URI say about it?

Rules that look at the hop path, at the via, and at the seed at its beginning.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model import hops
from heritrix_scrapy.scope.regexes import RegexDecideRule
from heritrix_scrapy.scope.rule import ACCEPT, NONE, REJECT, DecideRule, Decision, PredicatedDecideRule
from heritrix_scrapy.uri.domain import assignment_level_of
from heritrix_scrapy.uri.parts import decoded, host_basename, split

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from heritrix_scrapy.model.crawluri import CrawlURI


def tail(path: str, stops: str, *, counter: bool = False) -> str:
    """The part of a hop path behind the last of ``stops``.

    ``counter``: the digits and the plus sign of a path longer than is shown count as hops when no stop is
    shown, as in Heritrix.
    """
    if not counter and "+" in path:
        path = path.partition("+")[2]
    return path[1 + max(path.rfind(stop) for stop in stops) :]


class TooManyHopsDecideRule(PredicatedDecideRule):
    """Whether the path has more than ``max_hops`` hops, of all kinds. Unset: HERITRIX_MAX_HOPS."""

    default_decision = REJECT
    by_directory = True

    def __init__(self, *, max_hops: int | None = None, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.max_hops = max_hops

    def of_path(self, path: str, view: Any) -> Hashable:
        return self._too_long(path, view)

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self._too_long(curi.path, curi.settings) else NONE

    def _too_long(self, path: str, view: Any) -> bool:
        most = self.max_hops
        if most is None:
            most = view.max_hops
        length = len(path) if len(path) <= hops.MAX_SHOWN else hops.length(path)
        return bool(length > most)


@lru_cache(maxsize=8192)
def transcluded(path: str, max_trans: int, max_speculative: int, counter: bool) -> bool:
    """Whether the path ends in hops that bring in parts of a page, and not too many of them: at least one hop
    behind the last L, S or M; redirects are free; X hops are counted twice over."""
    behind = tail(path, "LSM", counter=counter)
    return (
        bool(behind)
        and behind.count(hops.SPECULATIVE) <= max_speculative
        and len(behind) - behind.count(hops.REFER) <= max_trans
    )


class TransclusionDecideRule(PredicatedDecideRule):
    """Whether the URI is part of a page, a redirect's target or the like, a few hops away from its last link.

    ``max_trans_hops``: hops other than R; ``max_speculative_hops``: how many of them may be X. Unset: the
    settings of these names.
    """

    by_directory = True

    def __init__(
        self,
        *,
        max_trans_hops: int | None = None,
        max_speculative_hops: int | None = None,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.max_trans_hops = max_trans_hops
        self.max_speculative_hops = max_speculative_hops
        self._counter = False

    def configure(self, view: Any) -> None:
        self._counter = view.profile == "heritrix"

    def of_path(self, path: str, view: Any) -> Hashable:
        return self._is_part(path, view)

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self._is_part(curi.path, curi.settings) else NONE

    def _is_part(self, path: str, view: Any) -> bool:
        trans, speculative = self.max_trans_hops, self.max_speculative_hops
        if trans is None:
            trans = view.max_trans_hops
        if speculative is None:
            speculative = view.max_speculative_hops
        return transcluded(path, trans, speculative, self._counter)


class PrerequisiteAcceptDecideRule(DecideRule):
    """Accepts what another URI needs first: an address, robots.txt, a login."""

    by_directory = True

    def of_path(self, path: str, view: Any) -> Hashable:
        return path[-1:] == hops.PREREQ

    def evaluate(self, curi: CrawlURI) -> Decision:
        return ACCEPT if curi.path[-1:] == hops.PREREQ else NONE


class SeedAcceptDecideRule(DecideRule):
    """Accepts seeds."""

    def evaluate(self, curi: CrawlURI) -> Decision:
        return ACCEPT if curi.seed else NONE


class HasViaDecideRule(PredicatedDecideRule):
    """Whether the URI was found on another one."""

    def matches(self, curi: CrawlURI) -> bool:
        return curi.via is not None


class HopsPathMatchesRegexDecideRule(RegexDecideRule):
    """Whether ``regex`` matches the whole hop path, with the counter in front (``3+``) that a path of more than 50
    hops has."""

    def text(self, curi: CrawlURI) -> str:
        return curi.path


class SourceSeedDecideRule(PredicatedDecideRule):
    """Whether the URI came from one of ``source_seeds``, each as its seed line was written. Needs
    HERITRIX_SOURCE_TAG_SEEDS."""

    def __init__(self, *, source_seeds: Iterable[str] = (), decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.source_seeds = frozenset(source_seeds)

    def matches(self, curi: CrawlURI) -> bool:
        return curi.source_tag is not None and curi.source_tag in self.source_seeds


class _ReadsUris(PredicatedDecideRule):
    """Base of rules that take URIs apart, as strictly as URIs are mended."""

    def __init__(self, *, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self._strict = False

    def configure(self, view: Any) -> None:
        self._strict = view.strict_uri_fixup


class AddRedirectFromRootServerToScope(_ReadsUris):
    """Whether a site's root page redirected to the URI, on the same site but for ``www``; the URI becomes a seed."""

    side_effects = True

    def matches(self, curi: CrawlURI) -> bool:
        via = curi.via
        if via is None or curi.path[-1:] != hops.REFER:
            return False
        site = host_basename(curi.uri)
        if site is None or site != host_basename(via) or decoded(split(via).path or "", strict=self._strict) != "/":
            return False
        curi.seed = True
        return True


class HopCrossesAssignmentLevelDomainDecideRule(_ReadsUris):
    """Whether the URI was found on a page of another registered domain (``example.org``, ``example.co.uk``)."""

    def matches(self, curi: CrawlURI) -> bool:
        via = curi.via
        if via is None:
            return False
        strict = self._strict
        return assignment_level_of(curi.uri, strict=strict) != assignment_level_of(via, strict=strict)


class TooManyLinkHopsDecideRule(PredicatedDecideRule):
    """Whether more than ``max_link_hops`` of the hops are links (L)."""

    default_decision = REJECT

    def __init__(self, *, max_link_hops: int = 25, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.max_link_hops = max_link_hops

    def matches(self, curi: CrawlURI) -> bool:
        return curi.path.count(hops.NAVLINK) > self.max_link_hops
