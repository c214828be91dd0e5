"""Does a whole text match what an operator wrote, and how long may the answer take?

An expression runs on RE2, which takes a time that grows with the text and never explodes. What RE2 does not have
(look-around, back references, possessive quantifiers) runs on another engine with a time limit: an answer that does
not come in time is no match, and is told to whoever asked to hear of it. Of many expressions only those are asked
whose words stand in the text: 541 of them cost hardly more than one. (One automaton of all of them, RE2's Set, grows
beyond its memory over expressions such as ``.*one.*other.*``, and then costs milliseconds.)
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import re2
import regex

from .java_regex import java_compile, translate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

logger = logging.getLogger(__name__)

#: Seconds that one answer may take where the operator names no other number.
SECONDS = 1.0

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False

Late = "Callable[[str, str], None]"


def log_late(pattern: str, text: str) -> None:
    """The answer did not come in time."""
    logger.warning("the expression %s took too long on %s: no match", pattern, text)


class Matcher:
    """Any of some Java expressions against whole texts: ``matcher(text)``.

    ``seconds``: limit for each expression that RE2 cannot run; 0 and less: the usual one. Raises ``re.error`` for
    what is no expression, or cannot be translated.
    """

    __slots__ = ("_late", "_linear", "_others", "_seconds", "_size", "patterns")

    def __init__(
        self, patterns: Iterable[str], *, seconds: float = 0, late: Callable[[str, str], None] = log_late
    ) -> None:
        self.patterns = tuple(patterns)
        self._seconds = seconds if seconds > 0 else SECONDS
        self._late = late
        self._others: list[tuple[str, Any]] = []
        linear = [form for pattern in self.patterns if (form := self._sorted(pattern)) is not None]
        self._size = len(linear)
        self._linear = self._made(linear) if linear else None

    def _sorted(self, pattern: str) -> str | None:
        """The expression in RE2's language; None when RE2 does not have it, and it was put among the others."""
        java_compile(pattern)
        try:
            form = rf"\A(?:{translate(pattern, linear=True)})\z"
            re2.compile(form, _OPTIONS)
        except re2.error:
            self._others.append((pattern, _other(pattern)))
            return None
        return form

    def _made(self, forms: list[str]) -> Any:
        made = re2.Filter()
        for form in forms:
            made.Add(form, _OPTIONS)
        made.Compile()
        return made

    def __call__(self, text: str) -> bool:
        """Whether any expression matches the whole text."""
        if self._linear is not None:
            try:
                if self._linear.Match(text):
                    return True
            except UnicodeEncodeError:
                return any(self._ask(pattern, _other(pattern), text) for pattern in self.patterns)
        return any(self._ask(pattern, compiled, text) for pattern, compiled in self._others)

    def every(self, text: str) -> bool:
        """Whether each expression matches the whole text; there must be one."""
        if not self.patterns:
            return False
        if self._linear is not None:
            try:
                found = self._linear.Match(text)
            except UnicodeEncodeError:
                return all(self._ask(pattern, _other(pattern), text) for pattern in self.patterns)
            if found is None or len(found) < self._size:
                return False
        return all(self._ask(pattern, compiled, text) for pattern, compiled in self._others)

    def _ask(self, pattern: str, compiled: Any, text: str) -> bool:
        try:
            return compiled.fullmatch(text, timeout=self._seconds) is not None
        except TimeoutError:
            self._late(pattern, text)
            return False


@lru_cache(maxsize=4096)
def _other(pattern: str) -> Any:
    try:
        return regex.compile(translate(pattern), regex.ASCII | regex.V0)
    except regex.error as error:
        raise re.error(str(error), pattern) from None


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Matcher:
    """The Matcher of one expression, made once."""
    return Matcher([pattern])
