"""What is a rule of the scope, and what may it say?

A rule looks at one URI and says ACCEPT, REJECT or NONE (nothing). The contract is one method, so that a rule of
one's own is a few lines (Heritrix: DecideRule, PredicatedDecideRule).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.settings.files import WatchedFile


class Decision(Enum):
    """What a rule says of a URI."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    NONE = "NONE"


ACCEPT, REJECT, NONE = Decision.ACCEPT, Decision.REJECT, Decision.NONE


class DecideRule:
    """A rule. A subclass has ``evaluate`` and takes its properties as keyword arguments.

    ``enabled``: a rule that is not says nothing; ``id``: name by which a sheet can address it;
    ``should_process``: a rule asked before; when that says REJECT, this one says nothing. The sequence that
    holds the rule heeds all three, so that ``evaluate`` need not.
    """

    enabled: bool = True
    id: str = ""
    comment: str = ""
    should_process: DecideRule | None = None

    #: Names of properties that hold rules, which the factory then builds.
    rule_properties: ClassVar[tuple[str, ...]] = ()

    #: Names of properties that are read once, before the first URI: a sheet over one of them would do nothing.
    read_once: ClassVar[frozenset[str]] = frozenset({"id", "comment"})

    #: Whether the rule looks at the answer, so that it says little of a URI that was not fetched.
    looks_at_response: ClassVar[bool] = False

    #: Whether asking the rule changes the URI: then a sequence asks as Heritrix does, from the front.
    side_effects: ClassVar[bool] = False

    def configure(self, view: Any) -> None:
        """Called once, before the first URI, with the View that holds where no sheet applies."""

    def evaluate(self, curi: CrawlURI) -> Decision:
        """What the rule says of this URI."""
        raise TypeError(f"{type(self).__name__} has no evaluate(curi)")

    def files(self) -> list[WatchedFile]:
        """Lists of the rule that were read from files: where they lie, and what takes others."""
        return []

    @property
    def by_directory(self) -> bool:
        """Whether the rule looks at nothing but text and hop path of what is no seed, and says the same of all URIs
        without a query that lie in one directory (the text up to the last slash) and were reached by the same hop path.
        What is not known to is asked for each URI."""
        return False

    def of_path(self, path: str, view: Any) -> Hashable:
        """What a rule that goes by directory takes from a hop path: it says the same of two URIs of a directory for
        whose paths this is equal. To be defined again by a class that defines ``evaluate`` or ``matches``."""
        return path

    @property
    def only(self) -> Decision | None:
        """The one thing the rule can say besides NONE, if there is only one (Heritrix: onlyDecision).

        It decides which rule a verdict is put down to, never the verdict.
        """
        return None

    @property
    def name(self) -> str:
        return type(self).__name__


def decides_by_directory(rule: DecideRule) -> bool:
    """``rule.by_directory``, where the class that says so is also the one whose ``evaluate`` runs: what is derived from
    a rule may look at more."""
    for cls in type(rule).__mro__:
        if "by_directory" in vars(cls):
            return rule.by_directory
        if "evaluate" in vars(cls) or "matches" in vars(cls):
            return False
    return False


def taken_from(rule: DecideRule, path: str, view: Any) -> Hashable:
    """``rule.of_path``, where the class that says so is also the one whose ``evaluate`` runs."""
    for cls in type(rule).__mro__:
        if "of_path" in vars(cls):
            return rule.of_path(path, view)
        if "evaluate" in vars(cls) or "matches" in vars(cls):
            break
    return path


def no_path(self: DecideRule, path: str, view: Any) -> Hashable:
    """``of_path`` of a rule that looks at no hop path."""
    return None


class AcceptDecideRule(DecideRule):
    """Accepts everything."""

    by_directory = True
    of_path = no_path

    def evaluate(self, curi: CrawlURI) -> Decision:
        return ACCEPT

    @property
    def only(self) -> Decision | None:
        return ACCEPT


class RejectDecideRule(DecideRule):
    """Rejects everything."""

    by_directory = True
    of_path = no_path

    def evaluate(self, curi: CrawlURI) -> Decision:
        return REJECT

    @property
    def only(self) -> Decision | None:
        return REJECT


class PredicatedDecideRule(DecideRule):
    """A rule that says ``decision`` of each URI for which ``matches`` holds, and nothing of the others."""

    default_decision: ClassVar[Decision] = ACCEPT

    def __init__(self, *, decision: Decision | str | None = None) -> None:
        self.decision = self.default_decision if decision is None else Decision(decision)

    def matches(self, curi: CrawlURI) -> bool:
        """Whether the rule applies to this URI."""
        raise TypeError(f"{type(self).__name__} has no matches(curi)")

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self.matches(curi) else NONE

    @property
    def only(self) -> Decision | None:
        return self.decision


def every(rules: Iterable[DecideRule]) -> Iterator[DecideRule]:
    """Every rule in a tree of rules, gates included."""
    for rule in rules:
        yield rule
        yield from every(getattr(rule, "rules", ()))
        if rule.should_process is not None:
            yield from every([rule.should_process])
