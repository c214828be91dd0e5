"""What does the text of a robots.txt say?

Two readings with one face. ``StandardRules`` is RFC 9309 (protego reads the text); ``HeritrixRules`` is
Heritrix's own parser (Robotstxt, RobotsDirectives, PatternSet) with all that it does otherwise.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from protego import Protego

from heritrix_scrapy.model.crawluri import path_query_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Most characters of a robots.txt that are read (RFC 9309, 2.5 asks for as many bytes at least).
LIMIT = 500 * 1024


class Rules(Protocol):
    """What a robots.txt says. ``agent``: a whole User-Agent."""

    def allows(self, agent: str, uri: str) -> bool:
        """Whether ``agent`` may fetch ``uri``, by its own group, else by that for all."""

    def names(self, agent: str) -> bool:
        """Whether a group names this agent."""

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between two fetches that ``agent`` is asked for."""


_COMPATIBLE = re.compile(r"\bcompatible;\s*([^\s;/()]+)", re.IGNORECASE)
_LEADING = re.compile(r"[^\s;/()]+")
_AGENT_LINE = re.compile(r"(?im)^[ \t]*user-agent[ \t]*:[ \t]*([^\r\n#]*)")


def product_token(agent: str) -> str:
    """The name a User-Agent goes by (RFC 9309, 2.2.1): what follows ``compatible;``, else its first word.

    A group of robots.txt must not apply because its name happens to stand in the contact address.
    """
    match = _COMPATIBLE.search(agent) or _LEADING.search(agent)
    return agent if match is None else match[match.lastindex or 0]


class StandardRules:
    """RFC 9309. A group is for those whose product token is its name, in any case; not for those whose name merely
    contains it (2.2.1)."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse(text)
        #: Product token in lower case → the name as the file has it.
        self._named: dict[str, str] = {}
        for name in _AGENT_LINE.findall(text):
            stripped = name.strip().lower()
            for token in (stripped, product_token(stripped)):
                self._named.setdefault(token, stripped)

    def _listed(self, agent: str) -> str:
        token = product_token(agent).lower()
        return self._named.get(token, "") if token != "*" else ""

    def allows(self, agent: str, uri: str) -> bool:
        answer: bool = self._rules.can_fetch(uri, self._listed(agent))
        return answer

    def names(self, agent: str) -> bool:
        return bool(self._listed(agent))

    def crawl_delay(self, agent: str) -> float | None:
        delay: float | None = self._rules.crawl_delay(self._listed(agent))
        return delay


class _Wildcard:
    """A pattern with ``*``, or with ``$`` at its end: the pieces are searched from left to right, never back."""

    def __init__(self, text: str) -> None:
        self.length = len(text)
        anchored = text.endswith("$")
        pieces = (text[:-1] if anchored else text).split("*")
        self._first, *self._rest = pieces
        # ``*$`` is anchored at nothing
        self._anchored = anchored and not (self._rest and not self._rest[-1])

    def matches(self, path: str) -> bool:
        if not path.startswith(self._first):
            return False
        at = len(self._first)
        for piece in self._rest:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return not self._anchored or at == len(path)


class _Patterns:
    def __init__(self) -> None:
        self._plain: list[str] = []
        self._wild: list[_Wildcard] = []

    def add(self, text: str) -> None:
        if "*" in text or text.endswith("$"):
            self._wild.append(_Wildcard(text))
        else:
            at = bisect_right(self._plain, text)
            if not at or self._plain[at - 1] != text:
                self._plain.insert(at, text)

    def longest(self, path: str) -> int:
        """Length of the longest pattern that matches; 0 for none. Of the plain ones only the greatest that is not
        beyond the path is looked at."""
        best = 0
        at = bisect_right(self._plain, path)
        if at and path.startswith(self._plain[at - 1]):
            best = len(self._plain[at - 1])
        for pattern in self._wild:
            if pattern.length > best and pattern.matches(path):
                best = pattern.length
        return best


class _Group:
    def __init__(self) -> None:
        self.has_directives = False
        self.delay: float | None = None
        self.allowed = _Patterns()
        self.disallowed = _Patterns()


_TRIMMED = "".join(map(chr, range(33)))
_LINE = re.compile(r"\r\n|\r|\n")
_MARKUP = re.compile(r"<[^>]+>")
_DIRECTIVE = re.compile(r"(user-agent|disallow|allow|crawl-delay):(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_DIGITS = re.compile(r"[\d.]*", re.ASCII)


class HeritrixRules:
    """Heritrix's reading (Robotstxt.initializeFromReader, getDirectivesFor; RobotsDirectives.allows)."""

    def __init__(self, text: str) -> None:
        self._agents: list[str] = []
        self._groups: dict[str, _Group] = {}
        self._current: _Group | None = None
        whole = len(text) < LIMIT
        lines = _LINE.split(text[:LIMIT])
        for line in lines if whole else lines[:-1]:
            self._read(line.strip(_TRIMMED))
        self._current = None

    @property
    def agents(self) -> list[str]:
        """The agents that groups name, in the order of the file, without ``*``."""
        return list(self._agents)

    def _read(self, line: str) -> None:
        if not line or line.startswith("#"):
            return
        line = _MARKUP.sub("", line).partition("#")[0].strip(_TRIMMED)
        match = _DIRECTIVE.match(line)
        if match is None:
            return
        kind, value = match[1].lower(), match[2].strip(_TRIMMED)
        if kind == "user-agent":
            self._begin(value.lower())
            return
        group = self._current
        if group is None:
            return
        if kind == "crawl-delay":
            digits = _DIGITS.match(value)
            try:
                group.delay = float(digits[0] if digits is not None else "")
            except ValueError:
                return
        elif kind == "allow":
            group.allowed.add(value.removesuffix("*"))
        elif path := value.removesuffix("*"):
            group.disallowed.add(path)
        group.has_directives = True

    def _begin(self, agent: str) -> None:
        if agent != "*":
            self._agents.append(agent)
        known = self._groups.get(agent)
        if known is not None and known.has_directives:
            self._current = known
            return
        if self._current is None or self._current.has_directives:
            self._current = _Group()
        self._groups[agent] = self._current

    def _naming(self, agent: str) -> _Group | None:
        return next((self._groups[name] for name in self._agents if name in agent), None)

    def _group(self, agent: str) -> _Group | None:
        found = self._naming(agent)
        return self._groups.get("*") if found is None else found

    def allows(self, agent: str, uri: str) -> bool:
        group = self._group(agent)
        if group is None:
            return True
        path = unquote(path_query_of(uri.partition("://")[2]))
        return group.disallowed.longest(path) <= group.allowed.longest(path)

    def names(self, agent: str) -> bool:
        return self._naming(agent) is not None

    def crawl_delay(self, agent: str) -> float | None:
        group = self._group(agent)
        return None if group is None else group.delay


READERS: dict[str, Callable[[str], Rules]] = {"rfc9309": StandardRules, "heritrix": HeritrixRules}


class Parsed:
    """Robots texts in parsed form, the least used forgotten first.

    ``budget``: characters of text whose rules are kept; a single text beyond it is kept alone.
    """

    def __init__(self, budget: int = 4_000_000) -> None:
        self._budget = budget
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], Rules] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def rules(self, text: str, standard: str = "rfc9309") -> Rules:
        """The rules of a text, read by a standard."""
        key = (standard, text)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        self._kept[key] = found = READERS[standard](text)
        self._size += len(text)
        while self._size > self._budget and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[0][1])
        return found


_parsed = Parsed()
#: What a server without robots.txt says.
NOTHING: Rules = HeritrixRules("")


def rules_of(text: str | None, standard: str) -> Rules:
    """The rules of a server's robots.txt; those of none where there is no text."""
    return NOTHING if text is None else _parsed.rules(text, standard)
