"""What do ``${NAME:default}`` and ``#{systemEnvironment['NAME'] ?: default}`` stand for?

Placeholders are filled in from the environment where they name something that is there, or have a default. Those of
other programs (``%{…}``, ``{{ … }}``) and of Heritrix itself (``${launchId}``, the parts of a WARC file's name) stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][\w.\-]*)(?::([^{}]*))?\}")
_EXPRESSION = re.compile(r"""#\{((?:[^{}'"]|'[^']*'|"[^"]*")*)\}""")
_ENVIRONMENT = re.compile(r"(systemEnvironment|systemProperties)(?:\[\s*['\"]([^'\"]+)['\"]\s*\]|\.(\w+))")
_PROPERTY = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"([^\"]*)\"")

#: What templates of other programs leave in a file.
FOREIGN = re.compile(r"%\{[^{}]+\}|\{\{[^{}]+\}\}|\{%[^%]+%\}|(?<![A-Za-z])REPLACE_[A-Z_]+|\$\{[A-Za-z_][\w.\-]*\}")

#: Filled in when the crawl runs.
OURS = frozenset({"launchId", "prefix", "timestamp14", "timestamp17", "serialno", "HOSTNAME", "HOSTNAME_ADMIN"})


class Unknown(Exception):
    """An expression that cannot be worked out here; the text is the expression."""


def placeholders(
    text: str, known: Mapping[str, str], own: Mapping[str, str] | None = None, *, bare: bool = True
) -> str:
    """The text with ``${NAME:default}`` filled in. ``own``: names of the job's own, which stand above ``known``;
    ``bare``: whether ``${NAME}`` without a default is filled in from what is known, too."""

    def filled(match: re.Match[str]) -> str:
        name, default = match.groups()
        if own and name in own and name not in OURS:
            return own[name]
        if default is None and (not bare or name in OURS):
            return match.group()
        return known.get(name, match.group() if default is None else default)

    return _PLACEHOLDER.sub(filled, text)


def expressions(text: str, environment: Mapping[str, str], look_up: Callable[[str], str | None]) -> str:
    """The text with ``#{…}`` worked out. ``look_up``: the text of ``bean.property``. Raises Unknown."""
    rest = _EXPRESSION.sub("", text).partition("#{")[2]
    if rest:
        raise Unknown(rest.strip().removesuffix("}"))
    return _EXPRESSION.sub(lambda match: _worked_out(match.group(1), environment, look_up), text)


def _worked_out(text: str, environment: Mapping[str, str], look_up: Callable[[str], str | None]) -> str:
    for term in text.split("?:"):
        value = _term(term.strip(), environment, look_up, text)
        if value:
            return value
    return ""


def _term(term: str, environment: Mapping[str, str], look_up: Callable[[str], str | None], whole: str) -> str | None:
    if found := _ENVIRONMENT.fullmatch(term):
        return environment.get(found.group(2) or found.group(3))
    if found := _QUOTED.fullmatch(term):
        return (found.group(1) or found.group(2) or "").replace("''", "'")
    if _PROPERTY.fullmatch(term):
        value = look_up(term)
        if value is not None:
            return value
    elif re.fullmatch(r"-?\d+(?:\.\d+)?|true|false|null|\w*", term):
        return "" if term == "null" else term
    raise Unknown(whole.strip())


def foreign(text: str) -> list[str]:
    """The placeholders of other programs in a text."""
    return [found for found in FOREIGN.findall(text) if found[2:-1] not in OURS and not found.startswith("${heritrix.")]
