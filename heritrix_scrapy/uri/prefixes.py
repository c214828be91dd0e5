"""Which SURT prefixes does a text name, and is a URI covered by any of a set of them?

A prefix is the beginning of a SURT: ``http://(org,archive,`` covers a domain, ``http://(org,archive,www,)/``
a host, ``http://(org,archive,www,)/a/`` a directory.  ``strict`` everywhere means: as Heritrix, with its
defects.  (Heritrix: SurtPrefixSet, RegexLineIterator, PrefixFinder.)
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from .fixup import UriError, fix
from .seed_lines import tokens
from .surt import candidate, lower, surt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_TO_LAST_SLASH = re.compile(r"[^\n]*//[^\n]*/")
_USER = re.compile(r"(\w+://)[^/?#]*@", re.ASCII)
_BLANK = "".join(map(chr, range(0x21)))
_OPEN_ADDRESS = re.compile(r"\w+://\((?:\d{1,3}\.){3}\d{1,3}", re.ASCII)
_ADDRESS_HOST = re.compile(r"\w+://\((?:(?:\d{1,3}\.){3}\d{1,3}|\[[^\]]*\])(?::\d+)?", re.ASCII)
_WWW_OF_TWO_LABELS = re.compile(r"\((?:[^,]+,){2,}www,")

SLASH_SEMANTICS = ("as_written", "fixed_up")


def implied_prefix(text: str, *, strict: bool = False) -> str:
    """Give the prefix that a plain URL, host or domain stands for.

    ``archive.org`` is a domain with all that is below it, ``archive.org/`` one host, a longer path its last
    directory.  https counts as http.  (Heritrix: SurtPrefixSet.prefixFromPlainForceHttp.)
    """
    colon = text.find(":")
    if colon < 0 or 0 <= text.find(".") < colon:
        text = "http://" + text
    slash = text.endswith("/")
    try:
        fixed = fix(text, strict=strict)
    except UriError:
        pass
    else:
        text = fixed[:-1] if fixed.endswith("/") and not slash else fixed
    if not strict:
        text = _USER.sub(r"\1", text, count=1)
    prefix = as_prefix(surt(text, strict=strict))
    return "http" + prefix[5:] if prefix.startswith("https://") else prefix


def as_prefix(form: str) -> str:
    """Cut a SURT behind its last slash, or open its host where there is no path."""
    if found := _TO_LAST_SLASH.match(form):
        form = found.group()
    if not form.endswith("/"):
        head, paren, tail = form.rpartition(")")
        form = head + tail if paren else form
    return form


def seed_prefix(written: str, uri: str, semantics: str = "as_written", *, strict: bool = False) -> str:
    """Give the prefix that a seed stands for.

    ``written``: the seed's text, ``uri``: the same fixed up.  ``as_written``: a seed without a path covers its
    subdomains, as Heritrix's manual says; ``fixed_up``: it covers its host, as Heritrix does.
    """
    return implied_prefix(uri if semantics == "fixed_up" or not written else written, strict=strict)


def to_host(prefix: str, *, strict: bool = False) -> str:
    """Narrow or widen a prefix to one whole host (Heritrix: SurtPrefixSet.convertPrefixToHost)."""
    if prefix.endswith(")"):
        return prefix
    head, paren, _ = prefix.partition(")")
    if paren:
        return head + ")"
    if head.endswith(",") or (not strict and _ADDRESS_HOST.fullmatch(head)):
        return head + ")"
    return head + ",)"


def to_domain(prefix: str, *, strict: bool = False) -> str:
    """Widen a prefix to its domain, without a leading ``www`` (Heritrix: SurtPrefixSet.convertPrefixToDomain).

    Heritrix takes ``www`` even off a two-label name or out of a longer label; otherwise two labels remain.
    """
    prefix = prefix.partition(")")[0]
    if prefix.endswith("www,") and (strict or _WWW_OF_TWO_LABELS.search(prefix)):
        prefix = prefix[:-4]
    return prefix


def prefixes_of(keys: Sequence[str], text: str) -> list[str]:
    """Find the members of a sorted sequence that a text begins with, shortest first.

    Takes a few binary searches, however many keys there are (Heritrix: PrefixFinder.findKeys).
    """
    found: list[str] = []
    probe, place = text, bisect_right(keys, text)
    while place:
        key = keys[place - 1]
        if text.startswith(key):
            found.append(key)
            place -= 1
            if place and not text.startswith(keys[place - 1]):
                place = bisect_right(keys, _common(keys[place - 1], key), 0, place)
            continue
        probe = _common(key, probe)
        place = bisect_right(keys, probe, 0, place)
    return found[::-1]


def _common(one: str, other: str) -> str:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return one[:length]


class SurtPrefixSet:
    """A sorted set of SURT prefixes, none of which begins with another.

    So the greatest member not after a SURT is the only one that can be its prefix: a look-up is one binary
    search.  Adding costs a list insertion.
    """

    __slots__ = ("_keys", "strict")

    def __init__(self, prefixes: Iterable[str] = (), *, strict: bool = False) -> None:
        self._keys: list[str] = []
        self.strict = strict
        self.add_all(prefixes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, prefix: object) -> bool:
        return prefix in self._keys

    def add(self, prefix: str) -> bool:
        """Add a prefix unless a member covers it, and drop the members it covers; tell whether the set changed.

        An IP address without an end is added closed, so that 1.2.3.4 does not cover 1.2.3.40.
        """
        if not self.strict and _OPEN_ADDRESS.fullmatch(prefix):
            closed = self.add(prefix + ")")
            return self.add(prefix + ":") or closed
        if self.contains_prefix_of(prefix):
            return False
        keys = self._keys
        start = stop = bisect_left(keys, prefix)
        while stop < len(keys) and keys[stop].startswith(prefix):
            stop += 1
        keys[start:stop] = [prefix]
        return True

    def add_all(self, prefixes: Iterable[str]) -> None:
        """Add many prefixes: one sort, where adding each by itself would move half the list every time."""
        wanted: list[str] = []
        for prefix in prefixes:
            if not self.strict and _OPEN_ADDRESS.fullmatch(prefix):
                wanted += (prefix + ")", prefix + ":")
            else:
                wanted.append(prefix)
        if not wanted:
            return
        wanted += self._keys
        wanted.sort()
        kept: list[str] = []
        last: str | None = None
        for prefix in wanted:
            if last is None or not prefix.startswith(last):
                kept.append(prefix)
                last = prefix
        self._keys = kept

    def contains_prefix_of(self, form: str) -> bool:
        """Tell whether any member is a prefix of this SURT."""
        place = bisect_right(self._keys, form)
        return place > 0 and form.startswith(self._keys[place - 1])

    def prefix_of(self, form: str) -> str | None:
        """Give the member that is a prefix of this SURT."""
        place = bisect_right(self._keys, form)
        return self._keys[place - 1] if place and form.startswith(self._keys[place - 1]) else None

    def become(self, other: SurtPrefixSet) -> None:
        """Take the members of another set in the place of one's own."""
        self._keys = other._keys

    def any_below(self, form: str) -> bool:
        """Tell whether any member begins with this text."""
        place = bisect_left(self._keys, form)
        return place < len(self._keys) and self._keys[place].startswith(form)

    def covers(self, uri: str) -> bool:
        """Tell whether any member is a prefix of this URI's SURT, https counting as http."""
        return self.contains_prefix_of(candidate(uri, strict=self.strict))

    def add_literal(self, prefix: str) -> bool:
        """Add what is written as a SURT prefix already."""
        return self.add(self._literal(prefix))

    def _literal(self, prefix: str) -> str:
        prefix = lower(prefix)
        if not self.strict and prefix.startswith("https://("):
            prefix = "http" + prefix[5:]
        return prefix

    def add_plain(self, text: str) -> bool:
        """Add the prefix that a plain URL, host or domain stands for."""
        return self.add(implied_prefix(text, strict=self.strict))

    def add_directive(self, text: str) -> bool:
        """Add a SURT prefix or plain URL, whichever the text is; tell whether it said anything.

        (Heritrix: SurtPrefixSet.considerAsAddDirective, which takes any parenthesis for a SURT.)
        """
        prefix = self.directive(text)
        if prefix is None:
            return False
        self.add(prefix)
        return True

    def directive(self, text: str) -> str | None:
        """Give the prefix that a directive means; None when it says nothing."""
        text = text.strip(_BLANK)
        if not text:
            return None
        if text.find("(") > 0 if self.strict else "://(" in text:
            return self._literal(text)
        return implied_prefix(text, strict=self.strict)

    def import_literals(self, text: str) -> None:
        """Add every line as a SURT prefix (Heritrix: importFrom)."""
        self.add_all(self._literal(token) for token in tokens(text))

    def import_uris(self, text: str) -> None:
        """Add the prefix that every line stands for (Heritrix: importFromUris)."""
        self.add_all(implied_prefix(token, strict=self.strict) for token in tokens(text))

    def import_mixed(self, text: str, *, deduce: bool = True) -> None:
        """Add lines beginning with ``+`` as directives, and the others, if ``deduce``, as plain URLs.

        (Heritrix: importFromMixed.)
        """
        self.add_all(self._mixed(text, deduce))

    def _mixed(self, text: str, deduce: bool) -> Iterator[str]:
        for token in tokens(text):
            if token.startswith("+"):
                if (prefix := self.directive(token[1:])) is not None:
                    yield prefix
            elif deduce:
                yield implied_prefix(token, strict=self.strict)

    def converted(self, convert: str) -> SurtPrefixSet:
        """Give the set widened or narrowed to whole ``hosts`` or ``domains``."""
        change = {"hosts": to_host, "domains": to_domain}[convert]
        return SurtPrefixSet((change(key, strict=self.strict) for key in self._keys), strict=self.strict)

    def dump(self) -> str:
        """Give one member a line, sorted: the file of the surts dump."""
        return "".join([f"{key}\n" for key in self._keys])
