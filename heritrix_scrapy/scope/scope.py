"""Is this URI in the crawl, and which rule says so?

The scope of one crawl: a sequence of rules with the listeners that seeds are announced to. Seeds themselves are
not judged.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.factory import PRESETS, SETTING, Factory, default_rules
from heritrix_scrapy.scope.rule import ACCEPT, DecideRule, Decision, decides_by_directory
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.crawler import Crawler

    from heritrix_scrapy.crawl import SettingsSource
    from heritrix_scrapy.model.crawluri import CrawlURI

logger = logging.getLogger(__name__)

#: Settings of the default scope → the bean that a list must name for them to have an effect.
LISTS = {"SURTS": "acceptSurts", "NEGATIVE_SURTS": "negativeSurts", "REJECT_REGEXES": "listRegexFilterOut"}


#: Verdicts remembered: 4 MB.
REMEMBERED = 16_384


@dataclass(frozen=True, slots=True)
class Verdict:
    """``rule``: name of the rule that settled it, ``-`` when none did; ``index``: its place from 0, or -1."""

    accepted: bool
    decision: Decision
    rule: str
    index: int


class Scope:
    """The scope of one crawl. ``for_uri``: the settings that hold for a URI; ``uniform``: they are the same for all."""

    def __init__(
        self, rules: DecideRuleSequence, for_uri: Callable[[CrawlURI], Any], view: Any, *, uniform: bool = False
    ) -> None:
        self.sequence = rules
        self._evaluate = rules.evaluate
        self._for_uri = for_uri
        rules.configure(view)
        self._listeners = list(listeners(rules.rules))
        self._uniform = uniform
        #: Directory and hop path → verdict, where no rule looks at more; None: not known whether one does.
        self._remembered: dict[tuple[str, str], bool] | None = None
        self._by_directory = False

    def accepts(self, curi: CrawlURI) -> bool:
        """Whether the URI is in scope: only what is accepted is. Settings are put on the URI when it has none."""
        if curi.settings is None:
            curi.settings = self._for_uri(curi)
        uri = curi.uri
        remembered = self._remembered
        if remembered is None:
            remembered = self._begin()
        if not self._by_directory or curi.seed or "?" in uri:
            return self._evaluate(curi) is ACCEPT
        # the links of a site share few directories: 1 µs instead of 6
        key = uri[: uri.rfind("/")], curi.path
        accepted = remembered.get(key)
        if accepted is None:
            if len(remembered) >= REMEMBERED:
                remembered.clear()
            accepted = remembered[key] = self._evaluate(curi) is ACCEPT
        return accepted

    def recall(self, uri: str, path: str) -> bool | None:
        """What ``accepts`` would say of a URI that is no seed and was reached by this hop path, where it has said it of
        another one like it; None where it has to be asked."""
        remembered = self._remembered
        if not remembered or "?" in uri:
            return None
        return remembered.get((uri[: uri.rfind("/")], path))

    def _begin(self) -> dict[tuple[str, str], bool]:
        self._by_directory = self._uniform and decides_by_directory(self.sequence)
        remembered = self._remembered = {}
        return remembered

    def changed(self) -> None:
        """Rules are others than before, or say something else: nothing of what they said holds."""
        self._remembered = None

    def decide(self, curi: CrawlURI) -> Verdict:
        """The same, and why."""
        if curi.settings is None:
            curi.settings = self._for_uri(curi)
        decision, index = self.sequence.decide(curi)
        rule = self.sequence.rules[index].name if index >= 0 else "-"
        return Verdict(decision is ACCEPT, decision, rule, index)

    # -- what seeds say ------------------------------------------------------------------------------------

    def seed_added(self, uri: str, written: str = "") -> None:
        """A seed joined the crawl. ``uri``: fixed up; ``written``: its line in the seeds text, if it has one."""
        self.changed()
        for rule in self._listeners:
            rule.seed_added(uri, written)

    def seed_found(self, curi: CrawlURI) -> None:
        """A URI became a seed while the crawl runs: a seed's redirect, or what ``start()`` asks for."""
        self.seed_added(curi.uri)

    def non_seed_line(self, line: str) -> bool:
        """A line of a seeds text that is no seed (``+…``, ``-…``); tells whether a rule took it."""
        self.changed()
        taken = [rule.non_seed_line(line) for rule in self._listeners]
        return any(taken)

    def seeds_read(self) -> None:
        """All seeds that are known at the start were announced."""
        self.changed()
        for rule in self._listeners:
            rule.seeds_read()


def listeners(rules: Iterable[DecideRule]) -> Iterator[Any]:
    """Every rule in a tree of rules that listens to seeds."""
    for rule in rules:
        if hasattr(rule, "seed_added"):
            yield rule
        yield from listeners(getattr(rule, "rules", ()))


def from_settings(settings: SettingsSource, crawler: Crawler | None = None) -> Scope:
    """The scope that HERITRIX_SCOPE asks for. Raises ConfigurationError."""
    view = settings.view
    rules = DecideRuleSequence(scope_rules(settings, crawler))
    return Scope(rules, settings.for_uri, view, uniform=settings.uniform)


def scope_rules(settings: SettingsSource, crawler: Crawler | None) -> list[DecideRule]:
    """The rules of the scope, in order."""
    view = settings.view
    wanted = view.scope
    if isinstance(wanted, str) and wanted in PRESETS:
        return list(PRESETS[wanted](view).values())
    named = default_rules(view)
    factory = Factory(named, crawler)
    if isinstance(wanted, str) and "." not in wanted:
        raise ConfigurationError(
            SETTING, wanted, f"expected {' or '.join(PRESETS)}, a list of rules, or the dotted path of a rule"
        )
    rules = [factory.rule(wanted)] if isinstance(wanted, str | type) else factory.rules(wanted)
    for name in getattr(settings, "explicit", frozenset()) & LISTS.keys():
        if named[LISTS[name]] not in rules:
            logger.warning("HERITRIX_%s has no effect: %s is not in HERITRIX_SCOPE", name, LISTS[name])
    return rules


def scope_of(crawler: Crawler) -> Scope:
    """The scope of a crawler, built when first asked for."""
    scope = _scopes.get(crawler)
    if scope is None:
        scope = _scopes[crawler] = from_settings(settings_of(crawler), crawler)
    return scope


_scopes: WeakKeyDictionary[Crawler, Scope] = WeakKeyDictionary()
