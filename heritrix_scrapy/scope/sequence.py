"""What do many rules say together, and which of them settled it?

The last rule that says ACCEPT or REJECT wins. So the answer is found from behind, and most rules are never
asked. Which rule settled it follows Heritrix, which does not ask a rule that could only repeat what was said
already: of a run of like-minded rules the first one is named (Heritrix: DecideRuleSequence.innerDecide).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.scope.rule import (
    ACCEPT,
    NONE,
    REJECT,
    DecideRule,
    Decision,
    PredicatedDecideRule,
    decides_by_directory,
    taken_from,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI


class DecideRuleSequence(DecideRule):
    """Rules in order; itself a rule. ``rules``: at least ``evaluate`` each."""

    rule_properties: ClassVar[tuple[str, ...]] = ("rules",)

    def __init__(self, rules: Sequence[DecideRule] = ()) -> None:
        self.rules = list(rules)

    @property
    def rules(self) -> list[DecideRule]:
        return self._rules

    @rules.setter
    def rules(self, value: list[DecideRule]) -> None:
        self._rules = value
        #: The rule that settled the last ``evaluate``; None: no rule said anything.
        self.settled_by: DecideRule | None = None
        self._backwards = value[::-1]
        #: A rule that changes the URI is asked only where Heritrix asks it.
        self._forwards = any(rule.side_effects for rule in value)

    def configure(self, view: Any) -> None:
        for rule in self.rules:
            rule.configure(view)

    @property
    def by_directory(self) -> bool:
        return all(
            decides_by_directory(rule) and (rule.should_process is None or decides_by_directory(rule.should_process))
            for rule in self.rules
        )

    def of_path(self, path: str, view: Any) -> Hashable:
        gates = [rule.should_process for rule in self.rules if rule.should_process is not None]
        return tuple([taken_from(rule, path, view) for rule in (*self.rules, *gates)])

    def evaluate(self, curi: CrawlURI) -> Decision:
        if self._forwards:
            said, index = self._walked(curi)
            self.settled_by = self._rules[index] if index >= 0 else None
            return said
        for rule in self._backwards:
            if rule.enabled:
                gate = rule.should_process
                if gate is not None and gate.evaluate(curi) is REJECT:
                    continue
                said = rule.evaluate(curi)
                if said is ACCEPT or said is REJECT:
                    self.settled_by = rule
                    return said
                if said is not NONE:
                    decision_of(rule, said)
        self.settled_by = None
        return NONE

    def decide(self, curi: CrawlURI) -> tuple[Decision, int]:
        """The decision, and the index of the rule that settled it; -1 when none said anything."""
        return self._walked(curi) if self._forwards else self._settled(curi)

    def _walked(self, curi: CrawlURI) -> tuple[Decision, int]:
        """From the front, as Heritrix does, leaving out each rule that could only repeat what was said."""
        result, index = NONE, -1
        for place, rule in enumerate(self._rules):
            if rule.only is result and result is not NONE:
                continue
            said = self.asked(rule, curi)
            if said is not NONE:
                result, index = said, place
        return result, index

    def _settled(self, curi: CrawlURI) -> tuple[Decision, int]:
        """From behind, as far as the first of the run of rules that say the same."""
        settled, place = NONE, -1
        for index in range(len(self.rules) - 1, -1, -1):
            rule = self.rules[index]
            said = self.asked(rule, curi)
            if said is NONE:
                continue
            if settled is not NONE and said is not settled:
                break
            settled, place = said, index
            if rule.only is not said:
                break
        return settled, place

    @staticmethod
    def asked(rule: DecideRule, curi: CrawlURI) -> Decision:
        """What one rule says, if it is enabled and the rule before it lets it."""
        if not rule.enabled:
            return NONE
        if rule.should_process is not None and rule.should_process.evaluate(curi) is REJECT:
            return NONE
        said = rule.evaluate(curi)
        return said if isinstance(said, Decision) else decision_of(rule, said)


def decision_of(rule: DecideRule, said: object) -> Decision:
    """What a rule of the user's own meant that gave no Decision: nothing, where it gave nothing. Raises TypeError."""
    if said is None:
        return NONE
    raise TypeError(f"{rule.name}.evaluate gave {said!r}, expected Decision.ACCEPT, REJECT or NONE")


class _Several(PredicatedDecideRule):
    """Rules that are asked together."""

    rule_properties: ClassVar[tuple[str, ...]] = ("rules",)

    def __init__(self, *, rules: Sequence[DecideRule] = (), decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.rules = list(rules)

    def configure(self, view: Any) -> None:
        for rule in self.rules:
            rule.configure(view)

    def _accepted(self, curi: CrawlURI) -> list[bool]:
        return [DecideRuleSequence.asked(rule, curi) is ACCEPT for rule in self.rules]


class AllOf(_Several):
    """Whether each of ``rules`` accepts the URI."""

    def matches(self, curi: CrawlURI) -> bool:
        return bool(self.rules) and all(self._accepted(curi))


class AnyOf(_Several):
    """Whether one of ``rules`` accepts the URI."""

    def matches(self, curi: CrawlURI) -> bool:
        return any(self._accepted(curi))


class Not(_Several):
    """Whether none of ``rules`` accepts the URI."""

    def matches(self, curi: CrawlURI) -> bool:
        return not any(self._accepted(curi))
