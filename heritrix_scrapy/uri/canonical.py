"""By which key is a URI recognised as already seen?

The URI that is fetched stays untouched; the key is what a chain of rules makes of it: case, ``www``, user,
session ids and idle question marks do not make another page.  Rules are Heritrix's, by its names, each with
``enabled``.  (Heritrix: RulesCanonicalizationPolicy and org.archive.modules.canonicalize.)

Most URIs hold nothing that a rule could strip, so each rule looks for a telling substring before it runs its
expression: half a microsecond for the chain instead of seven.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from .java_regex import JavaPattern, expand, java_compile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_IDS = (
    java_compile(r"(?i)^(.+)(?:(?:jsessionid|phpsessid)=[0-9a-zA-Z]{32})(?:&(.*))?$"),
    java_compile(r"(?i)^(.+)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$"),
    java_compile(r"(?i)^(.+)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$"),
)
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid)=[^/?;#]*", re.ASCII | re.IGNORECASE)
_SEGMENT_SESSION = re.compile(r"/\((?=[asf]\()[a-z0-9()_-]{8,400}\)(?=/)", re.ASCII | re.IGNORECASE)
_QUERY_SESSION = re.compile(r"(?:jsessionid|phpsessid|aspsessionid[a-z]{8})=", re.ASCII | re.IGNORECASE)
_CFIDS = java_compile(r"(?i)^(.+)(?:cfid=[^&]+&cftoken=[^&]+(?:jsession=[^&]+)?)(?:&(.*))?$")
_USER = java_compile(r"^((?:https?|ftps?)://)(?:[^/]+@)(.*)$")
_WWWN = java_compile(r"(?i)^(https?://)(?:www[0-9]*\.)([^/]*/.+)$")
_WWW = java_compile(r"(?i)^(https?://)(?:www\.)([^/]*/.+)$")
_EXTRA_SLASHES = java_compile(r"^(https?://.*?)//+(.*)$")
_WWW_START = re.compile("https?://www", re.IGNORECASE | re.ASCII)


def _strip(pattern: JavaPattern, text: str) -> str:
    """Keep only the first two groups where the whole text matches."""
    found = pattern.fullmatch(text)
    return found.group(1) + (found.group(2) or "") if found else text


class CanonicalizationRule:
    """One step of the chain; ``enabled=False`` lets every text pass as it is."""

    __slots__ = ("enabled",)

    def __init__(self, *, enabled: bool = True) -> None:
        self.enabled = enabled

    def canonicalize(self, text: str) -> str:
        """Give the text that stands for this one.  A rule of one's own overrides this."""
        return text


class LowercaseRule(CanonicalizationRule):
    """The whole text in lower case."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        return text.lower() if text.isascii() else "".join([char.lower()[:1] for char in text])


class StripUserinfoRule(CanonicalizationRule):
    """No user and password: up to the last ``@`` before the first slash.  http, https, ftp, ftps."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        return _strip(_USER, text) if "@" in text else text


class StripWWWNRule(CanonicalizationRule):
    """No ``www.``, ``www3.`` … where anything follows the root path."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        return _strip(_WWWN, text) if _WWW_START.match(text) else text


class StripWWWRule(CanonicalizationRule):
    """No ``www.`` where anything follows the root path."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        return _strip(_WWW, text) if _WWW_START.match(text) else text


class StripSessionIDs(CanonicalizationRule):
    """No jsessionid, phpsessid, …sid of 32 characters, no ASPSESSIONID…; the last one of each kind."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        lower = text.lower()
        # Each alternative holds one of these two.
        if "id=" in lower or "aspsessionid" in lower:
            for pattern in _IDS:
                text = _strip(pattern, text)
        return text


class StripNamedSessions(CanonicalizationRule):
    """No session that is named so, of any length and wherever it stands: ``;jsessionid=…`` at the end of any segment,
    ``(S(…))`` as a segment of ASP.NET, and the parameters of a query. Not a rule of Heritrix."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        if ";" in text:
            text = _PATH_SESSION.sub("", text)
        if "(" in text:
            text = _SEGMENT_SESSION.sub("", text)
        path, mark, query = text.partition("?")
        if mark and "sess" in query.lower():
            text = path + mark + "&".join([pair for pair in query.split("&") if not _QUERY_SESSION.match(pair)])
        return text


class StripSessionCFIDs(CanonicalizationRule):
    """No adjacent ColdFusion CFID and CFTOKEN."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        return _strip(_CFIDS, text) if "cfid=" in text.lower() else text


class FixupQueryString(CanonicalizationRule):
    """No question mark or ampersand that separates nothing; one of them per call, as in Heritrix."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        at = text.rfind("?")
        if at <= 0:
            return text
        if at == len(text) - 1:
            return text[:-1]
        if text[at + 1] == "&":
            return text[:at] if at + 2 == len(text) else text[: at + 1] + text[at + 2 :]
        return text[:-1] if text.endswith("&") else text


class StripExtraSlashes(CanonicalizationRule):
    """One slash for several, everywhere behind ``http://``, in the query too."""

    __slots__ = ()

    def canonicalize(self, text: str) -> str:
        while "//" in text[7:] and (found := _EXTRA_SLASHES.fullmatch(text)):
            text = f"{found.group(1)}/{found.group(2)}"
        return text


class RegexRule(CanonicalizationRule):
    """Where the whole text matches ``regex``, ``format`` with its groups put in.

    Both in Java's syntax (``$1``, ``${name}``, ``\\`` before a literal character).  A format that names a group
    the expression does not have raises ValueError when the rule is made.
    """

    __slots__ = ("_expand", "format", "regex")

    def __init__(self, regex: str = "(.*)", format: str = "$1", *, enabled: bool = True) -> None:
        super().__init__(enabled=enabled)
        self.regex = java_compile(regex)
        self.format = format
        self._expand = expand(format, self.regex)

    def canonicalize(self, text: str) -> str:
        found = self.regex.fullmatch(text)
        return self._expand(found) if found else text


class FailingRule(CanonicalizationRule):
    """A RegexRule whose format names a group that does not exist, as Heritrix has it: it fails on the URIs that
    its expression matches, not before."""

    __slots__ = ("_error", "_regex")

    def __init__(self, regex: str, error: ValueError) -> None:
        super().__init__()
        self._regex = java_compile(regex)
        self._error = error

    def canonicalize(self, text: str) -> str:
        if self._regex.fullmatch(text):
            raise self._error
        return text


_SPARING = (
    LowercaseRule,
    StripUserinfoRule,
    StripWWWNRule,
    StripWWWRule,
    StripSessionIDs,
    StripNamedSessions,
    StripSessionCFIDs,
    FixupQueryString,
)
#: Rules that leave a text as it is that ``_PLAIN`` matches, and what ``Canonicaliser.spares_plain`` says; most URIs are
#: such, and one expression costs a fifth of six rules.
SPARING_PLAIN = frozenset(_SPARING)
_PLAIN = re.compile(r"https?://(?!www)[a-z0-9.:-]++/[a-z0-9/._~-]*+")

RULES: dict[str, Callable[..., CanonicalizationRule]] = {
    rule.__name__: rule for rule in (*_SPARING, StripExtraSlashes, RegexRule)
}

DEFAULT_RULES = (
    "LowercaseRule",
    "StripUserinfoRule",
    "StripWWWNRule",
    "StripSessionIDs",
    "StripSessionCFIDs",
    "FixupQueryString",
)

#: Those of the modern profile.
MODERN_RULES = (*DEFAULT_RULES[:-1], "StripNamedSessions", DEFAULT_RULES[-1])

RuleForm: TypeAlias = "CanonicalizationRule | str | Sequence[Any]"


def make_rule(form: RuleForm, *, late: bool = False) -> CanonicalizationRule:
    """Make a rule of its name, of ``[name, {property: value}]``, or take the object.

    ``late``: a format that names no group fails on a URI. Raises ValueError for a name or property that does not
    exist.
    """
    if isinstance(form, str):
        form = [form]
    if not isinstance(form, (list, tuple)):
        return cast("CanonicalizationRule", form)
    name, properties = form[0], dict(form[1]) if form[1:] else {}
    made = RULES.get(str(name).rpartition(".")[2])
    if made is None:
        raise ValueError(f"no canonicalization rule {name!r}; there are {', '.join(RULES)}")
    properties.pop("id", None)
    try:
        return made(**properties)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    except ValueError as error:
        if not late:
            raise
        return FailingRule(properties.get("regex", "(.*)"), error)


class Canonicaliser:
    """A chain of rules: call it with a fixed-up URI, get its key."""

    __slots__ = ("_steps", "rules", "spares_plain")

    _SHARED: ClassVar[dict[int, tuple[Any, Canonicaliser]]] = {}
    _SHARED_MAX: ClassVar[int] = 256

    def __init__(self, rules: Iterable[RuleForm] = DEFAULT_RULES, *, late: bool = False) -> None:
        self.rules = [make_rule(form, late=late) for form in rules]
        self._steps = [rule.canonicalize for rule in self.rules if rule.enabled]
        #: Whether an http(s) URI of ASCII, without capitals, ``?``, ``=`` and ``@``, and whose authority begins with no
        #: ``www``, is its own key; for those who ask for many.
        self.spares_plain = all(type(rule) in SPARING_PLAIN for rule in self.rules)

    def __call__(self, text: str) -> str:
        """Give the key of a URI."""
        if self.spares_plain and _PLAIN.fullmatch(text):
            return text
        for step in self._steps:
            text = step(text)
        return text

    @classmethod
    def of(cls, rules: Sequence[RuleForm], *, late: bool = False) -> Canonicaliser:
        """Give the chain of a settings value, made once for each such object (a sheet has its own list)."""
        shared = cls._SHARED.get(id(rules))
        # The value is kept beside the chain, so that its id cannot become another's.
        if shared is None:
            if len(cls._SHARED) >= cls._SHARED_MAX:
                cls._SHARED.clear()
            shared = cls._SHARED[id(rules)] = (rules, cls(rules, late=late))
        return shared[1]
