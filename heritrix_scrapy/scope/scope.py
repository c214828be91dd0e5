"""Is this URI in the crawl, and which rule says so?

The scope of one crawl: a sequence of rules with the listeners that seeds are announced to. Seeds themselves are
not judged, but by a scope of the 1.x kind. Where sheets change properties of rules, each combination of sheets has its
own copy of the rules that it changes.
"""

from __future__ import annotations

import copy
import json
import logging
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.utils.asyncio import call_later

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.crawl_scopes import CrawlScope
from heritrix_scrapy.scope.factory import PRESETS, SETTING, Factory, default_rules
from heritrix_scrapy.scope.rule import ACCEPT, DecideRule, Decision, decides_by_directory, every
from heritrix_scrapy.scope.rules_text import RejectRegexes
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.settings import settings_of
from heritrix_scrapy.settings.defaults import BY_NAME
from heritrix_scrapy.settings.files import FileLines, WatchedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

    from heritrix_scrapy.crawl import Looked, SettingsSource
    from heritrix_scrapy.settings.sheets import Address

logger = logging.getLogger(__name__)

#: Settings of the default scope → the bean that a list must name for them to have an effect.
LISTS = {"SURTS": "acceptSurts", "NEGATIVE_SURTS": "negativeSurts", "REJECT_REGEXES": "listRegexFilterOut"}

SCOPE_LOG = "scope.log"
CANDIDATE_LOG = "candidateScoper.log"

#: In the last column of crawl.log: the decision, and the rule that settled it.
SCOPE_DECISION = "scopeDecision"

#: Verdicts remembered: 4 MB.
REMEMBERED = 16_384


@dataclass(frozen=True, slots=True)
class Verdict:
    """``rule``: name of the rule that settled it, ``-`` when none did; ``index``: its place from 0, or -1;
    ``why``: of a 1.x scope, the method that settled it."""

    accepted: bool
    decision: Decision
    rule: str
    index: int
    why: str = ""


class Scope:
    """The scope of one crawl. ``for_uri``: the settings that hold for a URI; ``uniform``: they are the same for all;
    ``log``: (name of a log, line) for what is to be logged of each decision."""

    def __init__(
        self,
        rules: DecideRuleSequence,
        for_uri: Callable[[CrawlURI], Any],
        view: Any,
        *,
        uniform: bool = False,
        others: Iterable[DecideRule] = (),
        log: Callable[[str, str], None] | None = None,
    ) -> None:
        self.sequence = rules
        self.others = list(others)
        #: Stands for each URI of which no more than text and path are known, to rules that only look at these: making
        #: one costs as much as asking them.
        self._text = CrawlURI("")
        self._for_uri = for_uri
        self._view = view
        self._variants: dict[int, tuple[Any, DecideRuleSequence]] = {}
        #: Lists in files. Their state is taken down before they are read.
        self.files = [file for rule in every([*self.others, *rules.rules]) for file in rule.files()]
        #: Those of the rules before parts, which are made before or after the scope.
        self.lists: Sequence[Looked] = ()
        rules.configure(view)
        for rule in self.others:
            rule.configure(view)
        #: The rules that hear of seeds. Those of the scope come last: where two write the same file, theirs stands.
        self.listening = list(listeners([*self.others, *rules.rules]))
        #: Whether the rules hear that all seeds are read no sooner than the launch has its folder.
        self.waits_for_start = False
        self._seeds_were_read = False
        self.rounds: Rounds | None = None
        self._uniform = uniform
        #: Hop path → directory → empty for what is accepted, else the rule that refuses it, where no rule looks at
        #: more; None: not known whether one does. Paths that are the same to all rules share theirs.
        self._remembered: dict[str, dict[str, str]] | None = None
        self._alike: dict[Hashable, dict[str, str]] = {}
        self._by_directory = False
        self._log = log
        self._log_scope = bool(log is not None and view.scope_log_to_file)
        self._log_extra = bool(view.scope_log_extra_info)
        self._log_candidates = bool(log is not None and view.candidate_scoper_log_to_file)
        #: Whether each URI notes which rule settled it, for the last column of crawl.log.
        self._noting = bool(view.log_extra_info and view.profile != "heritrix")
        self.refusals: Counter[str] = Counter()
        self._logs_each = self._log_scope or self._log_candidates or self._noting
        if self._logs_each:
            self.accepts = self._logged  # type: ignore[method-assign]

    @property
    def judges_seeds(self) -> bool:
        """Whether seeds must be in scope too: a scope of the 1.x kind asks that."""
        return any(isinstance(rule, CrawlScope) and rule.enabled for rule in self.sequence.rules)

    def accepts(self, curi: CrawlURI) -> bool:
        """Whether the URI is in scope: only what is accepted is. Settings are put on the URI when it has none."""
        if curi.settings is None:
            curi.settings = self._for_uri(curi)
        uri = curi.uri
        remembered = self._remembered
        if remembered is None:
            remembered = self._begin()
        if not self._by_directory or curi.seed or "?" in uri:
            refused = self._refused(curi)
        else:
            # the links of a site share few directories: 1 µs instead of 6
            verdicts = remembered.get(curi.path) or self._verdicts(remembered, curi.path)
            directory = uri[: uri.rfind("/")]
            known = verdicts.get(directory)
            if known is None:
                if len(verdicts) >= REMEMBERED:
                    verdicts.clear()
                known = verdicts[directory] = self._refused(curi)
            refused = known
        if refused:
            self.refusals[refused] += 1
            return False
        return True

    def _refused(self, curi: CrawlURI) -> str:
        """Empty for what is accepted, else the rule that refuses it."""
        view = curi.settings
        rules = self.sequence if view.rule_values is None else self._rules_for(view)
        if rules.evaluate(curi) is ACCEPT:
            return ""
        return "-" if rules.settled_by is None else rules.settled_by.name

    def recall(self, uri: str, path: str) -> bool | None:
        """What ``accepts`` would say of a URI that is no seed and was reached by this hop path, where that is all it
        looks at; None where it has to be asked."""
        remembered = self._remembered
        if remembered is None:
            if self._logs_each:
                return None
            remembered = self._begin()
        if not self._by_directory:
            return None
        refused: str | None
        if "?" in uri:
            refused = self._refused_text(uri, path)
        else:
            verdicts = remembered.get(path) or self._verdicts(remembered, path)
            directory = uri[: uri.rfind("/")]
            refused = verdicts.get(directory)
            if refused is None:
                refused = self._refused_text(uri, path)
                if refused is not None:
                    if len(verdicts) >= REMEMBERED:
                        verdicts.clear()
                    verdicts[directory] = refused
        if refused:
            self.refusals[refused] += 1
            return False
        return None if refused is None else True

    def remembered(self, path: str) -> dict[str, str] | None:
        """What ``recall`` has said of URIs without a query that were reached by this hop path: directory, without its
        last slash → empty for accepted, else the rule that refused it. Holds until something is ``changed``; None where
        there is more to look at."""
        remembered = self._remembered
        if remembered is None:
            if self._logs_each:
                return None
            remembered = self._begin()
        if not self._by_directory:
            return None
        return remembered.get(path) or self._verdicts(remembered, path)

    def _refused_text(self, uri: str, path: str) -> str | None:
        """``_refused`` of a URI of which no more is known; None where a rule failed, which who asks anew will tell."""
        curi = self._text
        curi.uri, curi.path = uri, path
        curi.settings = self._for_uri(curi)
        try:
            return self._refused(curi)
        except Exception:
            return None

    def _begin(self) -> dict[str, dict[str, str]]:
        self._by_directory = self._uniform and decides_by_directory(self.sequence)
        remembered: dict[str, dict[str, str]] = {}
        self._remembered = remembered
        self._alike.clear()
        return remembered

    def _verdicts(self, remembered: dict[str, dict[str, str]], path: str) -> dict[str, str]:
        if len(remembered) >= REMEMBERED:
            remembered.clear()
            self._alike.clear()
        verdicts = self._alike.setdefault(self.sequence.of_path(path, self._view), {})
        remembered[path] = verdicts
        return verdicts

    def become(self, other: Scope) -> None:
        """Take over the rules of another one, that has heard of all seeds: whoever holds this one goes on with them."""
        for name in ("sequence", "others", "files", "listening", "_uniform", "_view"):
            setattr(self, name, getattr(other, name))
        self._variants.clear()
        self.changed()

    def changed(self) -> None:
        """Rules are others than before, or say something else: nothing of what they said holds."""
        self._remembered = None

    def decide(self, curi: CrawlURI) -> Verdict:
        """The same, and why."""
        rules = self.rules_for(curi)
        decision, index = rules.decide(curi)
        rule = rules.rules[index] if index >= 0 else None
        why = rule.settled(curi)[1] if isinstance(rule, CrawlScope) else ""
        return Verdict(decision is ACCEPT, decision, rule.name if rule else "-", index, why)

    def rules_for(self, curi: CrawlURI) -> DecideRuleSequence:
        """The rules as they hold for a URI."""
        if curi.settings is None:
            curi.settings = self._for_uri(curi)
        return self.sequence if curi.settings.rule_values is None else self._rules_for(curi.settings)

    def take_refusals(self) -> dict[str, int]:
        """Counters of the candidates refused since the last call, one for each rule: the last one that refused
        them (``-``: none said anything)."""
        if not self.refusals:
            return {}
        taken, self.refusals = self.refusals, Counter()
        return {f"scope/rejected/{rule}": count for rule, count in taken.items()}

    def _rules_for(self, view: Any) -> DecideRuleSequence:
        # the View is kept, so that its id cannot become another's
        found = self._variants.get(id(view))
        if found is None:
            if len(self._variants) > 1000:
                self._variants.clear()
            changed = varied(self.sequence, view.rule_values)
            assert isinstance(changed, DecideRuleSequence)
            found = self._variants[id(view)] = (view, changed)
        return found[1]

    def _logged(self, curi: CrawlURI) -> bool:
        verdict = self.decide(curi)
        if self._noting:
            curi.extra_info[SCOPE_DECISION] = f"{verdict.decision.name} by rule #{verdict.index} {verdict.rule}"
        if self._log_scope and self._log is not None:
            line = f"{verdict.index} {verdict.rule} {verdict.decision.name} {curi.uri}"
            self._log(SCOPE_LOG, f"{line} {extra(curi)}" if self._log_extra else line)
        if self._log_candidates and self._log is not None:
            self._log(CANDIDATE_LOG, f"{'ACCEPT' if verdict.accepted else 'REJECT'} {curi.uri}")
        if not verdict.accepted:
            self.refusals[verdict.rule] += 1
        return verdict.accepted

    # -- what seeds say ------------------------------------------------------------------------------------

    def seed_added(self, uri: str, written: str = "") -> None:
        """A seed joined the crawl. ``uri``: fixed up; ``written``: its line in the seeds text, if it has one."""
        self.changed()
        for rule in self.listening:
            rule.seed_added(uri, written)

    def seed_found(self, curi: CrawlURI) -> None:
        """A URI became a seed while the crawl runs: a seed's redirect, or what ``start()`` asks for."""
        self.seed_added(curi.uri)

    def non_seed_line(self, line: str) -> bool:
        """A line of a seeds text that is no seed (``+…``, ``-…``); tells whether a rule took it."""
        self.changed()
        taken = [rule.non_seed_line(line) for rule in self.listening]
        return any(taken)

    def look_at_files(self) -> None:
        """Read the lists in files again that have changed and come to rest."""
        for file in self.lists:
            file.look()
        looked = [file.look() for file in self.files]
        if any(looked):
            # what was made of the old lists for sheets is made anew
            self._variants.clear()
            self.changed()

    def seeds_read(self) -> None:
        """All seeds that are known at the start were announced."""
        self.changed()
        if self.waits_for_start:
            self._seeds_were_read = True
            return
        for rule in self.listening:
            rule.seeds_read()

    def started(self) -> None:
        """The launch has its folder: what the rules write when the seeds are read can be written."""
        self.waits_for_start = False
        if self._seeds_were_read:
            self.seeds_read()


def extra(curi: CrawlURI) -> str:
    """The JSON behind a line of scope.log."""
    scheme = curi.scheme
    told = {
        "hopPath": curi.path,
        "via": curi.via,
        "seed": curi.source_tag,
        "host": scheme + ":" if scheme in ("dns", "whois") else curi.host or "-",
    }
    return json.dumps({key: value for key, value in told.items() if value is not None}, separators=(",", ":"))


def listeners(rules: Iterable[DecideRule]) -> Iterator[Any]:
    """Every rule in a tree of rules that listens to seeds."""
    for rule in every(rules):
        if hasattr(rule, "seed_added"):
            yield rule


def varied(rule: DecideRule, values: Mapping[Any, Any]) -> DecideRule:
    """A rule with other values for the properties of some rules in it, under keys (id of a rule, property); itself
    when none of them is meant. What seeds have told it is shared."""
    own = {name: value for (number, name), value in values.items() if number == id(rule)}
    if rule.should_process is not None and "should_process" not in own:
        gate = varied(rule.should_process, values)
        if gate is not rule.should_process:
            own["should_process"] = gate
    for name in rule.rule_properties:
        inner = getattr(rule, name)
        changed = [varied(child, values) for child in inner]
        if any(one is not other for one, other in zip(inner, changed, strict=True)):
            own.setdefault(name, changed)
    if not own:
        return rule
    other = copy.copy(rule)
    for name, value in own.items():
        setattr(other, name, value)
    return other


def from_settings(settings: SettingsSource, crawler: Crawler | None = None, *, beside: bool = False) -> Scope:
    """The scope that HERITRIX_SCOPE asks for. ``beside``: the crawler has one, which may become this one. Raises
    ConfigurationError."""
    view = settings.view
    rules = scope_rules(settings, crawler)
    check_response_rules(rules, view)
    others: list[DecideRule] = []
    factory = Factory(crawler=crawler)
    laid: list[WatchedFile] = []
    _attach_sheets(settings, rules, factory, others, laid)
    if view.profile == "heritrix" and not any(rule.id == "acceptSurts" for rule in every(rules)):
        # the bean is there whether the scope asks it or not: it hears of the seeds and writes its dump
        others.append(default_rules(view)["acceptSurts"])
    sheets: Any = getattr(settings, "sheets", None)
    for rule in every(rules):
        if isinstance(rule, RejectRegexes):
            rule.lists = [view.reject_regexes]
            for sheet in () if sheets is None else sheets.sheets.values():
                rule.lists.append(sheet.values.get("REJECT_REGEXES", ()))
            rule.read_lists()
    log = None
    if crawler is not None:
        crawl = Crawl.of(crawler)
        log = partial(_write, crawl)
        for rule in every([*rules, *others]):
            if hasattr(rule, "placed"):
                rule.placed = lambda written: placed(crawl, written)
    scope = Scope(DecideRuleSequence(rules), settings.for_uri, view, uniform=settings.uniform, others=others, log=log)
    scope.files += laid
    if crawler is not None and not beside:
        crawl.judges_seeds = scope.judges_seeds
        scope.waits_for_start = bool(view.launch_dirs)
        crawler.signals.connect(scope.started, signals.engine_started)
        scope.lists = crawl.lists
        if view.list_reload_seconds and not crawl.looking:
            Rounds(crawler, scope, view.list_reload_seconds)
    return scope


class Rounds:
    """Has a scope look at its files every few seconds, from the crawl's start to its end."""

    def __init__(self, crawler: Crawler, scope: Scope, seconds: float) -> None:
        self._scope, self._seconds = scope, seconds
        self._next: CallLaterResult | None = None
        # the signals keep weak references alone
        scope.rounds = self
        crawler.signals.connect(self._arm, signals.engine_started)
        crawler.signals.connect(self._end, signals.engine_stopped)

    def _arm(self) -> None:
        if self._scope.files or self._scope.lists:
            self._next = call_later(self._seconds, self._look)

    def _look(self) -> None:
        try:
            self._scope.look_at_files()
        except Exception:
            logger.exception("a list could not be read again")
        self._arm()

    def _end(self) -> None:
        if self._next is not None:
            self._next.cancel()


def _write(crawl: Crawl, name: str, line: str) -> None:
    if crawl.report is not None:
        crawl.report.line(name, line)


def placed(crawl: Crawl, written: str) -> Path:
    """Where a file lies that a rule writes: below the JOBDIR, ``${launchId}`` being the launch's folder."""
    jobdir = crawl.jobdir
    launch = jobdir.root / jobdir.launch if jobdir.launch else jobdir.root
    return jobdir.root / written.replace("${launchId}", str(launch))


def scope_rules(settings: SettingsSource, crawler: Crawler | None) -> list[DecideRule]:
    """The rules of the scope, in order."""
    view = settings.view
    wanted = view.scope
    if isinstance(wanted, str) and wanted in PRESETS:
        named = PRESETS[wanted](view)
        rules = list(named.values())
    else:
        named = default_rules(view)
        factory = Factory(named, crawler)
        if isinstance(wanted, str) and "." not in wanted and wanted not in factory.scopes:
            raise ConfigurationError(
                SETTING,
                wanted,
                f"expected one of {', '.join([*PRESETS, *factory.scopes])}, a list of rules, or the dotted path of a"
                " scope or rule",
            )
        rules = [factory.rule(wanted)] if isinstance(wanted, str | type) else factory.rules(wanted)
    for name, rule in named.items():
        rule.id = rule.id or name
    ids = Counter(rule.id for rule in {id(rule): rule for rule in every(rules)}.values() if rule.id)
    for name, count in ids.items():
        if count > 1:
            raise ConfigurationError(SETTING, name, f"{count} rules have this id")
    reading = {name: bean for name, bean in LISTS.items() if name in getattr(settings, "explicit", frozenset())}
    for name, bean in reading.items():
        if named.get(bean) not in rules and not (name == "SURTS" and named.get("moreSurts") in rules):
            logger.warning("HERITRIX_%s has no effect: %s is not in HERITRIX_SCOPE", name, bean)
    resolve = _resolver(rules, Factory(named, crawler))
    for address, value in getattr(settings, "addressed", {}).items():
        rule, name, made = resolve(f"HERITRIX_SCOPE[{address.rule}].{address.name}", address, value)
        setattr(rule, name, made)
    return rules


def check_response_rules(rules: Iterable[DecideRule], view: Any) -> None:
    """Tell of rules in the scope that look at an answer. Raises ConfigurationError where they are refused."""
    for rule in every(rules):
        if not rule.looks_at_response:
            continue
        word = (
            f"{rule.name} looks at the answer, and no URI has one when the scope is asked; it belongs before what works"
            " on a fetched URI (should_process of an extractor or writer)"
        )
        if view.scope_response_rules == "refuse":
            raise ConfigurationError(
                SETTING, rule.name, word + '; HERITRIX_SCOPE_RESPONSE_RULES = "as_unfetched" lets it stand'
            )
        logger.info("HERITRIX_SCOPE: %s", word)


def _resolver(rules: list[DecideRule], factory: Factory) -> Callable[..., tuple[DecideRule, str, Any]]:
    """What an address means: the rule, its property, and a value for it as the rule reads it."""

    def resolve(where: str, address: Address, value: Any, *, sheet: bool = False) -> tuple[DecideRule, str, Any]:
        if address.rule.isdigit():
            found = rules[int(address.rule)] if int(address.rule) < len(rules) else None
        else:
            found = next((rule for rule in every(rules) if rule.id == address.rule), None)
        if found is None:
            raise ConfigurationError(where, address.rule, "there is no such rule in HERITRIX_SCOPE")
        if sheet and address.name in found.read_once:
            raise ConfigurationError(
                where, value, f"a sheet cannot change {address.name}: it is read once, at the start"
            )
        trial = copy.copy(found)
        try:
            factory.put(trial, address.name, value)
        except ConfigurationError as error:
            raise ConfigurationError(where, value, error.expected) from None
        return found, address.name, getattr(trial, address.name)

    return resolve


def _attach_sheets(
    settings: SettingsSource,
    rules: list[DecideRule],
    factory: Factory,
    others: list[DecideRule],
    files: list[WatchedFile],
) -> None:
    """Tell the sheets what the scope knows: which rules their addresses mean, and what accepts a URI. ``others`` and
    ``files`` are added to: rules of associations, and lists in files that sheets give to rules."""
    sheets: Any = getattr(settings, "sheets", None)
    if sheets is None:
        return
    find = _resolver(rules, factory)

    def resolve(where: str, address: Address, value: Any) -> tuple[Any, Any]:
        rule, name, made = find(where, address, value, sheet=True)
        if isinstance(made, FileLines):
            files.append(WatchedFile(made.path, made.mark, partial(_renew, rule, name, made)))
        row = BY_NAME.get(name.upper())
        followers = sum(getattr(one, name, made) is None for one in every(rules))
        if row is not None and row.overridable and followers == 1 and getattr(rule, name) is None:
            # the one rule that follows the setting of this name: one thing, two names
            return row.name, made
        return (id(rule), name), made

    sheets.address(resolve)
    sheets.tests.clear()
    for association in sheets.by_rule:
        forms = association.rules
        sequence = DecideRuleSequence(
            factory.rules(forms) if isinstance(forms, list | tuple) and not _one_rule(forms) else [factory.rule(forms)]
        )
        others.append(sequence)
        sheets.tests.append((lambda curi, ask=sequence.evaluate: ask(curi) is ACCEPT, association.sheets))


def _renew(rule: DecideRule, name: str, lines: FileLines, text: str) -> None:
    """Give a list that a sheet has for a rule other lines. Raises ConfigurationError when the rule cannot use them."""
    fresh = text.splitlines()
    setattr(copy.copy(rule), name, fresh)
    # the same object: the values of the sheet hold it
    lines[:] = fresh


def _one_rule(forms: Any) -> bool:
    return len(forms) == 2 and isinstance(forms[0], str) and isinstance(forms[1], dict)


def scope_of(crawler: Crawler) -> Scope:
    """The scope of a crawler, built when first asked for."""
    scope = _scopes.get(crawler)
    if scope is None:
        scope = _scopes[crawler] = from_settings(settings_of(crawler), crawler)
    return scope


_scopes: WeakKeyDictionary[Crawler, Scope] = WeakKeyDictionary()
