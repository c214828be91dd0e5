"""What does each line of a seeds text say: a seed, another line for whoever understands it, or nothing?

Blank lines and comments say nothing, and a line of two words is no seed.  A line whose first character is a
letter or digit is a seed; any other (``+…``, ``-…``, ``*.x``) is offered to listeners.  (Heritrix:
TextSeedModule.announceSeedsFromReader, RegexLineIterator.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

from .fixup import UriError, fix

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\r|\n")
_ONE_TOKEN = re.compile(r"[\s\ufeff]*(\S+)\s*(?:#[^\x85\u2028\u2029]*)?", re.ASCII)
#: A token and nothing else: nearly every line of a long list, at a quarter of the price.
_PLAIN_LINE = re.compile(r"[!\"$-~][!-~]*")
_HAS_SCHEME = re.compile(r"[a-zA-Z][\w+\-]+:", re.ASCII)


class SeedLine(NamedTuple):
    """``text``: the token as written, for a line that is no seed what listeners get; ``uri``: None for those;
    ``words``: a line of several words, of which nothing is taken, ``text`` the whole of it."""

    text: str
    uri: str | None
    words: bool = False


def tokens(text: str) -> Iterator[str]:
    """Give the one token of every line that has exactly one, without comments, white space and byte order mark."""
    return (token for token, one in _tokens(text) if one)


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Each line that is neither blank nor a comment: its one token and True, or the line and False."""
    for line in _LINE_END.split(text):
        if _PLAIN_LINE.fullmatch(line):
            yield line, True
            continue
        bare = line.lstrip(" \t\f\v\ufeff")
        if not bare or bare.startswith("#"):
            continue
        found = _ONE_TOKEN.fullmatch(line)
        yield (found.group(1), True) if found else (bare.rstrip(), False)


def with_scheme(token: str) -> str:
    """Put ``http://`` before a seed that has no scheme; a dot before the colon makes it host and port."""
    return token if _HAS_SCHEME.match(token) else "http://" + token


def seed_lines(text: str, *, strict: bool = False) -> Iterator[SeedLine]:
    """Give every line that says something, in order; ``strict``: without those of several words."""
    for token, one in _tokens(text):
        if not one:
            if not strict:
                yield SeedLine(token, None, words=True)
            continue
        kind = category(token[0])
        if not kind.startswith("L") and kind != "Nd":
            yield SeedLine(token, None)
            continue
        try:
            yield SeedLine(token, fix(with_scheme(token), strict=strict))
        except UriError:
            yield SeedLine(with_scheme(token), None)
