"""How do the words of a settings file become rules?

A rule is written as its name, as ``[name, {property: value}]``, or is an object already; a name with dots in it
is the path of a class of one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.catalogue import REFUSED, RULES, checked, known_name
from heritrix_scrapy.scope.crawl_scopes import CrawlScope
from heritrix_scrapy.scope.presets import PRESETS, default_rules
from heritrix_scrapy.scope.rule import REJECT, DecideRule, every
from heritrix_scrapy.scope.sequence import DecideRuleSequence
from heritrix_scrapy.settings.validate import load_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI

__all__ = ["COMMON", "PRESETS", "RULES", "SETTING", "Factory", "default_rules"]

SETTING = "HERITRIX_SCOPE"

#: Properties that every rule has, whatever its class takes.
COMMON = frozenset({"enabled", "id", "comment", "should_process"})


class Factory:
    """Builds rules. ``named``: rules that a list may refer to by the name of a bean (``acceptSurts``); ``setting``:
    what messages name."""

    def __init__(
        self, named: Mapping[str, DecideRule] | None = None, crawler: Any = None, *, setting: str = SETTING
    ) -> None:
        #: Names of scopes that may stand alone.
        self.scopes = [name for name, rule in RULES.items() if issubclass(rule, CrawlScope)]
        self._named = dict(named or {})
        self._crawler = crawler
        self._setting = setting

    def rule(self, form: Any) -> DecideRule:
        """The rule that a form stands for. Raises ConfigurationError."""
        if callable(getattr(form, "evaluate", None)) and not isinstance(form, type):
            return form if isinstance(form, DecideRule) else _Adopted(form)
        match form:
            case str(name):
                return self._make(name, {})
            case [str(name)]:
                return self._make(name, {})
            case [str(name), dict(properties)]:
                return self._make(name, properties)
            case [type() as cls, dict(properties)]:
                return self._construct(cls, properties, form)
            case type():
                return self._construct(form, {}, form)
        raise ConfigurationError(
            self._setting, form, "expected the name of a rule, [name, {property: value}] or a rule"
        )

    def rules(self, forms: Sequence[Any]) -> list[DecideRule]:
        """The rules of a list."""
        if isinstance(forms, str) or not isinstance(forms, list | tuple):
            raise ConfigurationError(self._setting, forms, "expected a list of rules")
        return [self.rule(form) for form in forms]

    def _make(self, name: str, properties: dict[str, Any]) -> DecideRule:
        if name in self._named:
            rule = self._named[name]
            for key, value in properties.items():
                self.put(rule, key, value)
            return rule
        short = known_name(name)
        if short in REFUSED:
            raise ConfigurationError(self._setting, name, REFUSED[short])
        cls: Any = RULES.get(short)
        if cls is None:
            if "." not in name:
                raise ConfigurationError(self._setting, name, "no such rule; available: " + ", ".join(RULES))
            cls = load_object(self._setting, name)
        return self._construct(cls, properties, [name, properties])

    def _construct(self, cls: Any, properties: dict[str, Any], form: Any) -> DecideRule:
        if not callable(getattr(cls, "evaluate", None)):
            raise ConfigurationError(self._setting, form, "expected a class with a method evaluate(curi)")
        make = getattr(cls, "from_crawler", None)
        try:
            own = {key: self._value(cls, key, value) for key, value in properties.items() if key not in COMMON}
            rule: DecideRule = cls(**own) if make is None or self._crawler is None else make(self._crawler, **own)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(self._setting, form, f"cannot be built: {error}") from None
        if not isinstance(rule, DecideRule):
            rule = _Adopted(rule)
        for key in COMMON & properties.keys():
            self.put(rule, key, properties[key])
        return rule

    def put(self, rule: DecideRule, key: str, value: Any) -> None:
        """Give a rule's property a value, written as in settings. Raises ConfigurationError."""
        if key not in COMMON and not hasattr(rule, key):
            raise ConfigurationError(self._setting, {key: value}, f"{rule.name} has no property {key}")
        try:
            setattr(rule, key, self._value(rule, key, value))
        except (TypeError, ValueError, AttributeError) as error:
            raise ConfigurationError(self._setting, {key: value}, f"{rule.name}: {error}") from None

    def _value(self, rule: Any, key: str, value: Any) -> Any:
        if key == "should_process":
            return self.rule(value)
        if key in getattr(rule, "rule_properties", ()):
            return self.rules(value)
        return checked(rule, key, value)


class _Adopted(DecideRule):
    """A rule of the user's own that is no subclass of DecideRule but has its method."""

    def __init__(self, rule: Any) -> None:
        self._rule = rule
        self.evaluate = rule.evaluate  # type: ignore[method-assign]
        if callable(getattr(rule, "configure", None)):
            self.configure = rule.configure  # type: ignore[method-assign]

    @property
    def name(self) -> str:
        return type(self._rule).__name__


def gate(crawler: Any, view: Any, value: Any) -> Callable[[CrawlURI], bool]:
    """The test that a rule before a part comes to: everything passes but what it rejects (Heritrix:
    Processor.shouldProcessRule). Raises ConfigurationError for what is no rule."""
    sequence = DecideRuleSequence([Factory(crawler=crawler).rule(value)])
    # their state is taken down before they are read
    files = [file for rule in every([sequence]) for file in rule.files()]
    sequence.configure(view)
    if files:
        Crawl.of(crawler).lists.extend(files)
    return lambda curi: sequence.evaluate(curi) is not REJECT
