"""Which part of a host name was assigned to somebody: the public suffix and one label more?

The suffix list is the one that tldextract carries, private section included; nothing is fetched at run time.
An unknown top-level domain is a suffix of one label.  What is no dotted name (an IP address, a single label)
has no such part and stays as it is.  (Heritrix: PublicSuffixes.reduceSurtToAssignmentLevel.)
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import tldextract

from .surt import authority_part, surt

if TYPE_CHECKING:
    from collections.abc import Iterable

_LABEL = re.compile("[-\\w\u00c0-\u017f]+", re.ASCII)
_REFERENCED = re.compile(r"(?:dns|whois):(?://)?([-\w.]+)", re.ASCII)


class SuffixList:
    """Public suffixes with ``*`` and ``!``, looked up by reversed labels.

    ``encoded`` adds the ``xn--`` form of every suffix; Heritrix knows only the Unicode forms.
    """

    __slots__ = ("_exceptions", "_suffixes", "_tops", "_wild")

    def __init__(self, entries: Iterable[str], *, encoded: bool = True) -> None:
        self._suffixes: set[tuple[str, ...]] = set()
        self._wild: set[tuple[str, ...]] = set()
        self._exceptions: set[tuple[str, ...]] = set()
        for entry in entries:
            for form in {entry, _encoded(entry)} if encoded else {entry}:
                self._add(form)
        self._tops = {labels[0] for labels in self._suffixes | self._wild | self._exceptions if labels}

    def _add(self, entry: str) -> None:
        labels = tuple(reversed(entry.lower().lstrip("!").split(".")))
        if entry.startswith("!"):
            self._exceptions.add(labels)
        elif labels[-1] == "*":
            self._wild.add(labels[:-1])
        else:
            self._suffixes.add(labels)

    def lengths(self, reversed_labels: tuple[str, ...]) -> list[int]:
        """Give how many labels the public suffix may have, best answer first; never empty."""
        found = {1}
        for count in range(1, len(reversed_labels) + 1):
            start = reversed_labels[:count]
            if start in self._exceptions:
                return [count - 1]
            if start in self._suffixes:
                found.add(count)
            if start in self._wild and _LABEL.fullmatch(
                reversed_labels[count] if count < len(reversed_labels) else "x"
            ):
                found.add(count + 1)
        return sorted(found, reverse=True)

    def is_suffix(self, host: str) -> bool:
        """Tell whether a whole host name is a public suffix, listed or a single label."""
        labels = tuple(reversed(host.lower().rstrip(".").split(".")))
        return self.lengths(labels)[0] == len(labels)

    def is_top(self, label: str) -> bool:
        """Tell whether a label is a listed top-level domain."""
        return label.lower() in self._tops


def _encoded(entry: str) -> str:
    try:
        return entry if entry.isascii() else entry.encode("idna").decode("ascii")
    except UnicodeError:
        return entry


@cache
def public_suffixes(*, encoded: bool = True) -> SuffixList:
    """Give the list that comes with tldextract, ICANN and private sections."""
    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
    return SuffixList(extract.tlds, encoded=encoded)


def reduce_surt(host: str, suffixes: SuffixList) -> str:
    """Reduce the host part of a SURT (``com,example,www,``) to its assignment level (``com,example,``).

    Port and user behind it go; a host that has no such level is returned unchanged.
    """
    labels = host.split(",")[:-1]
    if len(labels) < 2:
        return host
    folded = tuple(label.lower() for label in labels)
    for length in suffixes.lengths(folded):
        if (
            length < len(labels)
            and _LABEL.fullmatch(labels[length])
            and (_LABEL.fullmatch(labels[0]) or suffixes.is_top(labels[0]))
        ):
            return ",".join([*labels[: length + 1], ""])
    return host


@lru_cache(maxsize=16384)
def assignment_level(host: str, *, strict: bool = False) -> str:
    """Reduce the host part of a SURT with the bundled list.  Under ``strict`` ``xn--`` suffixes are unknown."""
    return reduce_surt(host, public_suffixes(encoded=not strict))


def assignment_level_of(uri: str, *, strict: bool = False) -> str:
    """Give the assignment-level domain of a URI as part of a SURT, for comparing two URIs.

    A ``dns:`` or ``whois:`` URI counts as the host it asks for, except under ``strict``.  A URI without
    authority is its own.  (Heritrix: HopCrossesAssignmentLevelDomainDecideRule.)
    """
    if not strict and (asked := _REFERENCED.match(uri)):
        uri = f"http://{asked.group(1)}/"
    return assignment_level(authority_part(surt(uri, strict=strict)), strict=strict)


def registered_domain(host: str) -> str:
    """Give the assignment-level domain of a host name in ordinary order: ``www.bbc.co.uk`` → ``bbc.co.uk``."""
    form = authority_part(surt(f"http://{host.lower().rstrip('.')}/"))
    level = assignment_level(form)
    return ".".join(reversed(level.split(",")[:-1])) if level.endswith(",") else level
