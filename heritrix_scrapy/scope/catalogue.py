"""Which rules are there, by name, and which values do their properties take?

One table of names. What a property takes is read off the rule's own signature, so that checks, documentation and the
printed scope say the same. Names of Heritrix that cannot exist here are refused with what to write instead.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.scope.crawl_scopes import (
    BroadScope,
    DomainScope,
    FocusPrefixed,
    HostScope,
    OnSeedsDomains,
    OnSeedsHosts,
    OnSeedsPaths,
    PathScope,
    SurtPrefixScope,
    TransitiveHops,
)
from heritrix_scrapy.scope.rule import AcceptDecideRule, DecideRule, Decision, RejectDecideRule
from heritrix_scrapy.scope.rules_hops import (
    AddRedirectFromRootServerToScope,
    HasViaDecideRule,
    HopCrossesAssignmentLevelDomainDecideRule,
    HopsPathMatchesRegexDecideRule,
    PrerequisiteAcceptDecideRule,
    SeedAcceptDecideRule,
    SourceSeedDecideRule,
    TooManyHopsDecideRule,
    TooManyLinkHopsDecideRule,
    TransclusionDecideRule,
)
from heritrix_scrapy.scope.rules_known import (
    ClassKeyMatchesRegexDecideRule,
    ExternalGeoLocationDecideRule,
    IpAddressSetDecideRule,
    RecentlySeenDecideRule,
)
from heritrix_scrapy.scope.rules_response import (
    AnnotationMatchesListRegexDecideRule,
    ContentLengthDecideRule,
    ContentTypeMatchesRegexDecideRule,
    ContentTypeNotMatchesRegexDecideRule,
    FetchStatusDecideRule,
    FetchStatusMatchesRegexDecideRule,
    FetchStatusNotMatchesRegexDecideRule,
    IdenticalDigestDecideRule,
    MatchesStatusCodeDecideRule,
    NotMatchesStatusCodeDecideRule,
    ResourceLongerThanDecideRule,
    ResourceNoLongerThanDecideRule,
    ResponseContentLengthDecideRule,
)
from heritrix_scrapy.scope.rules_surt import (
    NotOnDomainsDecideRule,
    NotOnHostsDecideRule,
    NotSurtPrefixedDecideRule,
    OnDomainsDecideRule,
    OnHostsDecideRule,
    OnRegisteredDomainsDecideRule,
    SurtPrefixedDecideRule,
    ViaSurtPrefixedDecideRule,
)
from heritrix_scrapy.scope.rules_text import (
    MatchesFilePatternDecideRule,
    MatchesListRegexDecideRule,
    MatchesRegexDecideRule,
    NotMatchesFilePatternDecideRule,
    NotMatchesListRegexDecideRule,
    NotMatchesRegexDecideRule,
    PathologicalPathDecideRule,
    SchemeNotInSetDecideRule,
    TooManyPathSegmentsDecideRule,
)
from heritrix_scrapy.scope.sequence import AllOf, AnyOf, DecideRuleSequence, Not
from heritrix_scrapy.settings.files import FileLines
from heritrix_scrapy.settings.validate import in_project

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Title → rules, as the documentation shows them.
GROUPS: dict[str, tuple[type[DecideRule], ...]] = {
    "Rules of rules": (AcceptDecideRule, RejectDecideRule, DecideRuleSequence, AllOf, AnyOf, Not),
    "The text of the URI": (
        MatchesRegexDecideRule,
        NotMatchesRegexDecideRule,
        MatchesListRegexDecideRule,
        NotMatchesListRegexDecideRule,
        MatchesFilePatternDecideRule,
        NotMatchesFilePatternDecideRule,
        SchemeNotInSetDecideRule,
        TooManyPathSegmentsDecideRule,
        PathologicalPathDecideRule,
    ),
    "Where it lies": (
        SurtPrefixedDecideRule,
        NotSurtPrefixedDecideRule,
        OnDomainsDecideRule,
        OnRegisteredDomainsDecideRule,
        NotOnDomainsDecideRule,
        OnHostsDecideRule,
        NotOnHostsDecideRule,
        ViaSurtPrefixedDecideRule,
    ),
    "How it was found": (
        SeedAcceptDecideRule,
        PrerequisiteAcceptDecideRule,
        HasViaDecideRule,
        TooManyHopsDecideRule,
        TooManyLinkHopsDecideRule,
        TransclusionDecideRule,
        HopsPathMatchesRegexDecideRule,
        HopCrossesAssignmentLevelDomainDecideRule,
        AddRedirectFromRootServerToScope,
        SourceSeedDecideRule,
    ),
    "What the crawl knows": (
        IpAddressSetDecideRule,
        ExternalGeoLocationDecideRule,
        ClassKeyMatchesRegexDecideRule,
        RecentlySeenDecideRule,
    ),
    "The answer": (
        FetchStatusDecideRule,
        FetchStatusMatchesRegexDecideRule,
        FetchStatusNotMatchesRegexDecideRule,
        MatchesStatusCodeDecideRule,
        NotMatchesStatusCodeDecideRule,
        ContentTypeMatchesRegexDecideRule,
        ContentTypeNotMatchesRegexDecideRule,
        ContentLengthDecideRule,
        ResponseContentLengthDecideRule,
        ResourceNoLongerThanDecideRule,
        ResourceLongerThanDecideRule,
        IdenticalDigestDecideRule,
        AnnotationMatchesListRegexDecideRule,
    ),
    "Scopes of Heritrix 1.x, and their parts": (
        BroadScope,
        DomainScope,
        HostScope,
        PathScope,
        SurtPrefixScope,
        OnSeedsDomains,
        OnSeedsHosts,
        OnSeedsPaths,
        FocusPrefixed,
        TransitiveHops,
    ),
}

RULES: dict[str, type[DecideRule]] = {rule.__name__: rule for rules in GROUPS.values() for rule in rules}

#: Older names of Heritrix's → ours.
ALIASES = {
    "ExceedsDocumentLengthThresholdDecideRule": "ResourceLongerThanDecideRule",
    "NotExceedsDocumentLengthThresholdDecideRule": "ResourceNoLongerThanDecideRule",
}

_OWN = "write a rule of your own instead: a class with a method evaluate(curi), named by its dotted path"

#: Names of Heritrix's that are refused → what to do.
REFUSED = {
    "ScriptedDecideRule": f"scripts are not run; {_OWN}",
    "ExpressionDecideRule": f"Groovy is not run; {_OWN}",
    "DecideRuleSequenceWithAMQPFeed": (
        "no message broker is fed; use DecideRuleSequence with HERITRIX_SCOPE_LOG_TO_FILE, or " + _OWN
    ),
    "ScopePlusOneDecideRule": "use OnHostsDecideRule or OnDomainsDecideRule with also_check_via",
}

PACKAGE = "org.archive."


def known_name(name: str) -> str:
    """The name in the table that stands for this one: without Heritrix's package, and no older name."""
    if name.startswith(PACKAGE):
        name = name.rpartition(".")[2]
    return ALIASES.get(name, name)


class Property(NamedTuple):
    """``kind``: the annotation in the rule's signature; ``default``: None follows a setting or means nothing."""

    name: str
    kind: str
    default: Any


def properties(rule: type) -> Iterator[Property]:
    """The properties that a rule takes, in the order of its signature, ``decision`` last."""
    seen = set()
    for cls in rule.__mro__:
        init = cls.__dict__.get("__init__")
        if init is None or cls is object:
            continue
        kinds = {
            name: parameter
            for name, parameter in inspect.signature(init).parameters.items()
            if name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
        }
        for name, parameter in kinds.items():
            if name not in seen:
                seen.add(name)
                default = None if parameter.default is inspect.Parameter.empty else parameter.default
                if name == "decision" and default is None:
                    default = getattr(rule, "default_decision", Decision.ACCEPT).value
                yield Property(name, str(parameter.annotation), default)
        if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(init).parameters.values()):
            break


def checked(rule: Any, name: str, value: Any) -> Any:
    """A value for a property, as ``-s`` on the command line or a sheet may write it. Raises ValueError."""
    cls = rule if isinstance(rule, type) else type(rule)
    if name == "decision":
        return Decision(value.upper()) if isinstance(value, str) else Decision(value)
    if name == "enabled":
        return _flag(value)
    kind = next((taken.kind for taken in properties(cls) if taken.name == name), None)
    if kind is None or value is None:
        return value
    if kind in ("int", "int | None"):
        if isinstance(value, bool):
            raise ValueError(f"{name}: expected a whole number, not {value!r}")
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name}: expected a whole number, not {value!r}") from None
        if isinstance(value, float) and number != value:
            raise ValueError(f"{name}: expected a whole number, not {value!r}")
        return number
    if kind == "bool":
        return _flag(value)
    if kind == "str" and not isinstance(value, str):
        raise ValueError(f"{name}: expected a text, not {value!r}")
    if kind.startswith(("Sequence[str]", "Iterable[str]")) and "Path" not in kind and name != "rules":
        return _texts(name, value)
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError(f"expected True or False, not {value!r}")


def _texts(name: str, value: Any) -> list[str]:
    match value:
        case ["ConfigPath" | "ConfigFile", {"path": str(path)}]:
            value = Path(path)
    if isinstance(value, FileLines):
        return value
    if isinstance(value, Path):
        try:
            return FileLines.read(in_project(value))
        except OSError as error:
            raise ValueError(f"{name}: {in_project(value)} cannot be read: {error.strerror}") from None
    if isinstance(value, dict) and set(value) == {"map"}:
        value = list(value["map"])
    if isinstance(value, str):
        value = [line for line in value.splitlines() if line.strip()]
    if not isinstance(value, list | tuple | set | frozenset) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name}: expected a list of texts, not {value!r}")
    return list(value)
