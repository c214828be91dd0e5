"""What do many rules say together, and which of them settled it?

The last rule that says ACCEPT or REJECT wins. So the answer is found from behind, and most rules are never
asked. Which rule settled it follows Heritrix, which does not ask a rule that could only repeat what was said
already: of a run of like-minded rules the first one is named (Heritrix: DecideRuleSequence.innerDecide).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.scope.rule import NONE, REJECT, DecideRule, Decision, decides_by_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI


class DecideRuleSequence(DecideRule):
    """Rules in order; itself a rule. ``rules``: at least ``evaluate`` each."""

    rule_properties: ClassVar[tuple[str, ...]] = ("rules",)

    def __init__(self, rules: Sequence[DecideRule] = ()) -> None:
        self.rules = list(rules)
        self._backwards = self.rules[::-1]

    def configure(self, view: Any) -> None:
        for rule in self.rules:
            rule.configure(view)

    @property
    def by_directory(self) -> bool:
        return all(
            decides_by_directory(rule) and (rule.should_process is None or decides_by_directory(rule.should_process))
            for rule in self.rules
        )

    def evaluate(self, curi: CrawlURI) -> Decision:
        for rule in self._backwards:
            if rule.enabled:
                gate = rule.should_process
                if gate is not None and gate.evaluate(curi) is REJECT:
                    continue
                said = rule.evaluate(curi)
                # a rule of the user's own may return nothing at all
                if said is not NONE and said is not None:
                    return said
        return NONE

    def decide(self, curi: CrawlURI) -> tuple[Decision, int]:
        """The decision, and the index of the rule that settled it; -1 when none said anything."""
        return self._settled(curi, len(self.rules))

    def _settled(self, curi: CrawlURI, stop: int) -> tuple[Decision, int]:
        for index in range(stop - 1, -1, -1):
            said = self._asked(self.rules[index], curi)
            if said is NONE:
                continue
            if self.rules[index].only is said:
                before, earlier = self._settled(curi, index)
                if before is said:
                    return before, earlier
            return said, index
        return NONE, -1

    @staticmethod
    def _asked(rule: DecideRule, curi: CrawlURI) -> Decision:
        if not rule.enabled:
            return NONE
        if rule.should_process is not None and rule.should_process.evaluate(curi) is REJECT:
            return NONE
        return rule.evaluate(curi) or NONE
