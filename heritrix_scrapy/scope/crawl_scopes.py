"""Is a URI in the crawl by the fixed formula of Heritrix 1.x?

    (seed or focus or additional focus or transitive) and not excluded

A scope of one's own is a subclass of CrawlScope, or of one of the shipped scopes, that overrides some of the four
questions; it is named in HERITRIX_SCOPE. Seeds are judged too: an excluded seed ends as -5000 (Heritrix 1.14:
CrawlScope, ClassicScope and the scopes derived from it).
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.model import hops
from heritrix_scrapy.scope.rule import ACCEPT, REJECT, DecideRule, Decision, PredicatedDecideRule
from heritrix_scrapy.scope.rules_surt import SurtPrefixedDecideRule
from heritrix_scrapy.scope.rules_text import PathologicalPathDecideRule
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.uri.parts import decoded, host_basename, referenced_host, split

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Files that are in focus from any host, by what is in them (Heritrix 1.14: FilePatternFilter).
FOCUS_FILES: dict[str, tuple[str, ...]] = {
    "IMAGES": ("bmp", "gif", "jpg", "jpeg", "png", "tif", "tiff"),
    "AUDIO": ("mid", "mp2", "mp3", "mp4", "wav"),
    "VIDEO": ("avi", "mov", "mpeg", "ram", "rm", "smil", "wmv"),
    "MISC": ("doc", "pdf", "ppt", "swf"),
}
FOCUS_ENDINGS = tuple("." + ending for endings in FOCUS_FILES.values() for ending in endings)


class TransitiveHops(PredicatedDecideRule):
    """Whether the URI is a few hops away from its last link: at least one hop behind the last L and not more than
    ``max_trans_hops`` of any kind, with limits for each kind (-1: none). A hop P at the end is one hop, whatever
    comes before it."""

    def __init__(
        self,
        *,
        max_trans_hops: int = 5,
        max_speculative_hops: int = 1,
        max_referral_hops: int = -1,
        max_embed_hops: int = -1,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.max_trans_hops = max_trans_hops
        self.max_speculative_hops = max_speculative_hops
        self.max_referral_hops = max_referral_hops
        self.max_embed_hops = max_embed_hops

    def matches(self, curi: CrawlURI) -> bool:
        return few_hops_away(
            curi.path, self.max_trans_hops, self.max_speculative_hops, self.max_referral_hops, self.max_embed_hops
        )


def few_hops_away(path: str, all_hops: int, speculative: int, referral: int, embed: int) -> bool:
    """Whether a hop path ends in 1 to ``all_hops`` hops behind its last L, with limits for kinds of them (-1: none)."""
    behind = path.partition("+")[2] if "+" in path else path
    behind = behind[1 + behind.rfind(hops.NAVLINK) :]
    if behind.endswith(hops.PREREQ):
        behind = hops.PREREQ
    return (
        0 < len(behind) <= all_hops
        and _within(behind, hops.SPECULATIVE, speculative)
        and _within(behind, hops.REFER, referral)
        and _within(behind, hops.EMBED, embed)
    )


def _within(path: str, hop: str, most: int) -> bool:
    return most < 0 or path.count(hop) <= most


class _OfSeeds(PredicatedDecideRule):
    """What the seeds say of places, kept as they are announced."""

    def __init__(self, *, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self._strict = False

    def configure(self, view: Any) -> None:
        self._strict = view.strict_uri_fixup

    def seed_added(self, uri: str, written: str) -> None:
        """A seed; ``written``: its text before it was fixed up."""

    def non_seed_line(self, line: str) -> bool:
        """Other lines of a seeds text say nothing here."""
        return False

    def seeds_read(self) -> None:
        """All seeds were announced."""


class OnSeedsDomains(_OfSeeds):
    """Whether the host is that of a seed without ``www``, or lies below it; on any port and scheme."""

    def __init__(self, *, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self._domains: set[str] = set()

    def seed_added(self, uri: str, written: str) -> None:
        if domain := host_basename(uri):
            self._domains.add(domain)

    def matches(self, curi: CrawlURI) -> bool:
        host = host_basename(curi.uri)
        while host:
            if host in self._domains:
                return True
            host = host.partition(".")[2]
        return False


class OnSeedsHosts(_OfSeeds):
    """Whether the host is exactly that of a seed; on any port and scheme."""

    def __init__(self, *, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self._hosts: set[str] = set()

    def seed_added(self, uri: str, written: str) -> None:
        if host := referenced_host(uri):
            self._hosts.add(host)

    def matches(self, curi: CrawlURI) -> bool:
        return referenced_host(curi.uri) in self._hosts


class OnSeedsPaths(_OfSeeds):
    """Whether the host is that of a seed and the path begins with the seed's up to its last slash, that slash not
    counted: ``/example/`` takes ``/examples/x`` too."""

    def __init__(self, *, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self._paths: dict[str, set[str]] = {}

    def seed_added(self, uri: str, written: str) -> None:
        if host := referenced_host(uri):
            self._paths.setdefault(host, set()).add(self._path(uri).rpartition("/")[0])

    def _path(self, uri: str) -> str:
        return decoded(split(uri).path or "", strict=self._strict)

    def matches(self, curi: CrawlURI) -> bool:
        starts = self._paths.get(referenced_host(curi.uri) or "")
        return starts is not None and self._path(curi.uri).startswith(tuple(starts))


class FocusPrefixed(SurtPrefixedDecideRule):
    """SurtPrefixedDecideRule as the focus of SurtPrefixScope: seeds count as written, so that one without a slash
    stands for its domain."""

    semantics = "as_written"


def excludes(rule: DecideRule, curi: CrawlURI) -> bool:
    """Whether a rule among the filters excludes the URI: it accepts it, or it is a rule that says one thing of what it
    applies to, whichever that is, and it applies."""
    said = DecideRuleSequence.asked(rule, curi)
    return said is ACCEPT or (said is REJECT and isinstance(rule, PredicatedDecideRule | PathologicalPathDecideRule))


def as_refusal(rule: DecideRule) -> Any:
    """The rule of a list that refuses what this one excludes."""
    if isinstance(rule, PathologicalPathDecideRule):
        return rule
    if isinstance(rule, PredicatedDecideRule):
        refusing = copy.copy(rule)
        refusing.decision = REJECT
        return refusing
    return ["AnyOf", {"rules": [rule], "decision": "REJECT"}]


class CrawlScope(DecideRule):
    """The formula. ``exclude_filters``: rules; what one of them applies to is excluded. ``max_link_hops``: what more
    links lead to is excluded.

    A subclass overrides ``focus_accepts``, ``additional_focus_accepts`` or ``transitive_accepts``; rules that it asks
    stand in ``parts``, so that they hear of settings and seeds.
    """

    #: Seeds are judged as well.
    judges_seeds: ClassVar[bool] = True

    rule_properties: ClassVar[tuple[str, ...]] = ("exclude_filters",)

    def __init__(
        self,
        *,
        exclude_filters: Sequence[DecideRule] = (),
        max_link_hops: int = 25,
        max_trans_hops: int = 5,
        max_speculative_hops: int = 1,
        max_referral_hops: int = -1,
        max_embed_hops: int = -1,
    ) -> None:
        self.exclude_filters = list(exclude_filters)
        self.max_link_hops = max_link_hops
        self.max_trans_hops = max_trans_hops
        self.max_speculative_hops = max_speculative_hops
        self.max_referral_hops = max_referral_hops
        self.max_embed_hops = max_embed_hops
        self.parts: list[DecideRule] = []

    @property
    def rules(self) -> list[DecideRule]:
        """Every rule that the scope asks."""
        return [*self.parts, *self.exclude_filters]

    def configure(self, view: Any) -> None:
        for rule in self.rules:
            rule.configure(view)

    # -- the questions ------------------------------------------------------------------------------------------

    def focus_accepts(self, curi: CrawlURI) -> bool:
        """Whether the URI lies where the crawl is about."""
        return False

    def additional_focus_accepts(self, curi: CrawlURI) -> bool:
        """Whether the URI is wanted though it lies elsewhere."""
        return False

    def transitive_accepts(self, curi: CrawlURI) -> bool:
        """Whether the URI is wanted for the page that led to it."""
        return False

    def exclude_accepts(self, curi: CrawlURI) -> bool:
        """Whether the URI is excluded, whatever else is said."""
        return curi.path.count(hops.NAVLINK) > self.max_link_hops or any(
            excludes(rule, curi) for rule in self.exclude_filters
        )

    # -- the formula --------------------------------------------------------------------------------------------

    QUESTIONS: ClassVar[tuple[str, ...]] = ("focus_accepts", "additional_focus_accepts", "transitive_accepts")

    def settled(self, curi: CrawlURI) -> tuple[bool, str]:
        """Whether the URI is in scope, and what settled it: ``seed`` or the name of a method; empty when none said
        yes."""
        if curi.seed:
            why = "seed"
        else:
            why = next((name for name in self.QUESTIONS if getattr(self, name)(curi)), "")
        if why and self.exclude_accepts(curi):
            return False, "exclude_accepts"
        return bool(why), why

    def evaluate(self, curi: CrawlURI) -> Decision:
        wanted = curi.seed or (
            self.focus_accepts(curi) or self.additional_focus_accepts(curi) or self.transitive_accepts(curi)
        )
        return ACCEPT if wanted and not self.exclude_accepts(curi) else REJECT

    def formula(self) -> str:
        """The formula with the class that answers each question."""
        said = [f"{_supplier(self, name)}.{name}" for name in self.QUESTIONS]
        return f"(seed or {' or '.join(said)}) and not {_supplier(self, 'exclude_accepts')}.exclude_accepts"

    def as_rules(self) -> list[Any] | None:
        """The list of rules that says the same; None for a class that is not shipped."""
        return None


def _supplier(scope: CrawlScope, name: str) -> str:
    return next(cls.__name__ for cls in type(scope).__mro__ if name in cls.__dict__)


class _Classic(CrawlScope):
    """What the shipped scopes share: files of some kinds are in focus from anywhere (``focus_files``), and what is
    transitively included."""

    focus: ClassVar[type[PredicatedDecideRule] | None] = None

    def __init__(self, *, focus_files: bool = True, **limits: Any) -> None:
        super().__init__(**limits)
        self.focus_files = focus_files
        if self.focus is not None:
            self.place = self.focus()
            self.parts = [self.place]

    def focus_accepts(self, curi: CrawlURI) -> bool:
        return self.place.evaluate(curi) is ACCEPT

    def additional_focus_accepts(self, curi: CrawlURI) -> bool:
        return self.focus_files and curi.uri[-5:].lower().endswith(FOCUS_ENDINGS)

    def transitive_accepts(self, curi: CrawlURI) -> bool:
        return few_hops_away(
            curi.path, self.max_trans_hops, self.max_speculative_hops, self.max_referral_hops, self.max_embed_hops
        )

    def as_rules(self) -> list[Any] | None:
        if type(self).__module__ != __name__:
            return None
        rules: list[Any] = ["RejectDecideRule", self._focus_rule()]
        if self.focus_files:
            listed = "|".join(ending[1:] for ending in FOCUS_ENDINGS)
            custom = {"use_preset": "CUSTOM", "regex": rf"(?i).*\.({listed})"}
            rules.append(["MatchesFilePatternDecideRule", custom])
        limits = {
            "max_trans_hops": self.max_trans_hops,
            "max_speculative_hops": self.max_speculative_hops,
            "max_referral_hops": self.max_referral_hops,
            "max_embed_hops": self.max_embed_hops,
        }
        rules += [["TransitiveHops", limits], "SeedAcceptDecideRule"]
        rules += map(as_refusal, self.exclude_filters)
        return [*rules, ["TooManyLinkHopsDecideRule", {"max_link_hops": self.max_link_hops}]]

    def _focus_rule(self) -> Any:
        assert self.focus is not None
        return self.focus.__name__


class BroadScope(_Classic):
    """Everything, as far as ``max_link_hops`` lets it; ``exclude_filters`` are rules whose ACCEPT excludes."""

    def focus_accepts(self, curi: CrawlURI) -> bool:
        return True

    def _focus_rule(self) -> Any:
        return "AcceptDecideRule"


class DomainScope(_Classic):
    """The seeds' hosts without ``www``, and all below them; some files from anywhere (``focus_files``), and what lies
    ``max_trans_hops`` beyond."""

    focus = OnSeedsDomains


class HostScope(_Classic):
    """The seeds' hosts; some files from anywhere (``focus_files``), and what lies ``max_trans_hops`` beyond."""

    focus = OnSeedsHosts


class PathScope(_Classic):
    """The seeds' hosts below the seeds' paths; some files from anywhere (``focus_files``), and what lies
    ``max_trans_hops`` beyond."""

    focus = OnSeedsPaths


class SurtPrefixScope(_Classic):
    """SURT prefixes of ``surts_source``, and of the seeds as written with ``seeds_as_surt_prefixes``; with
    ``also_check_via`` also what such a page links to; some files from anywhere (``focus_files``), and what lies
    ``max_trans_hops`` beyond."""

    focus = FocusPrefixed
    read_once = SurtPrefixedDecideRule.read_once

    def __init__(
        self,
        *,
        surts_source: Sequence[str] | str | Path | None = None,
        seeds_as_surt_prefixes: bool = True,
        also_check_via: bool = False,
        surts_dump_file: str | Path | None = None,
        focus_files: bool = True,
        **limits: Any,
    ) -> None:
        super().__init__(focus_files=focus_files, **limits)
        self.also_check_via = also_check_via
        self.surts_source = surts_source
        self.seeds_as_surt_prefixes = seeds_as_surt_prefixes
        self.surts_dump_file = surts_dump_file
        self.place = FocusPrefixed(
            surts_source=surts_source,
            seeds_as_surt_prefixes=seeds_as_surt_prefixes,
            surts_dump_file=surts_dump_file,
        )
        self.parts = [self.place]

    def focus_accepts(self, curi: CrawlURI) -> bool:
        place = self.place
        assert isinstance(place, FocusPrefixed)
        return place.covers(curi, via=self.also_check_via)

    def _focus_rule(self) -> Any:
        place = self.place
        assert isinstance(place, FocusPrefixed)
        given: dict[str, Any] = {
            "surts_source": place.surts_source,
            "seeds_as_surt_prefixes": place.seeds_as_surt_prefixes,
            "also_check_via": self.also_check_via,
        }
        return ["FocusPrefixed", given]
