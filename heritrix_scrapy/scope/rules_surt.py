"""Does a URI lie below one of the places that seeds and lists name?

Places are SURT prefixes: ``http://(org,example,`` is a domain, ``http://(org,example,www,)/a/`` a directory.
Rules listen to seeds and to the other lines of a seeds text (Heritrix: SurtPrefixedDecideRule).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import ACCEPT, NONE, REJECT, Decision, PredicatedDecideRule, no_path
from heritrix_scrapy.settings.files import FileLines, Mark, WatchedFile
from heritrix_scrapy.settings.validate import in_project
from heritrix_scrapy.uri.domain import assignment_level, public_suffixes
from heritrix_scrapy.uri.prefixes import SurtPrefixSet, seed_prefix, to_domain, to_host
from heritrix_scrapy.uri.surt import authority_part, candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heritrix_scrapy.model.crawluri import CrawlURI

#: Where Heritrix dumps prefixes unless told otherwise.
DUMP = "${launchId}/surts.dump"

#: The sign of a line in a seeds text that is meant for rules of a decision.
SIGNS = {ACCEPT: "+", REJECT: "-"}

#: A line that is a SURT prefix already, without the sign that Heritrix asks for.
BARE_PREFIX = re.compile(r"(?m)^([ \t]*)(?=[a-z][-+.\w]*://\()", re.ASCII | re.IGNORECASE)


def outside(written: str) -> Path | None:
    """Where a file lies that a rule writes outside of any crawl."""
    path = Path(written)
    return path if path.is_absolute() else None


class SurtPrefixedDecideRule(PredicatedDecideRule):
    """Whether the URI, or with ``also_check_via`` its via, begins with one of the prefixes.

    ``surts_source``: lines (``+`` and a directive, or a plain address), or the path of a file of them;
    ``seeds_as_surt_prefixes``: whether each seed adds the prefix it implies; ``surts_dump_file``: where the
    prefixes are written once all seeds are read.
    """

    read_once = frozenset({"surts_source", "surts_source_file", "seeds_as_surt_prefixes", "surts_dump_file"}).union(
        PredicatedDecideRule.read_once
    )

    #: What each prefix is made to cover: a name in ``WIDEN``, or itself.
    widened: ClassVar[str] = ""

    #: How a seed without a path is read, whatever HERITRIX_SEED_SLASH_SEMANTICS says.
    semantics: str = ""

    #: Where a dump lies; None: nowhere, as for a relative path without a crawl in whose JOBDIR it begins.
    placed: Callable[[str], Path | None] = staticmethod(outside)

    def __init__(
        self,
        *,
        surts_source: Sequence[str] | str | Path | None = None,
        surts_source_file: Sequence[str] | str | Path | None = None,
        seeds_as_surt_prefixes: bool = True,
        surts_dump_file: str | Path | None = None,
        also_check_via: bool = False,
        decision: Decision | str | None = None,
    ) -> None:
        super().__init__(decision=decision)
        self.surts_source = surts_source if surts_source is not None else surts_source_file
        self.seeds_as_surt_prefixes = seeds_as_surt_prefixes
        self.surts_dump_file = surts_dump_file
        self.also_check_via = also_check_via
        self.prefixes = SurtPrefixSet()
        self._hosts = _Hosts(self.prefixes)
        self._semantics = "as_written"
        #: Prefixes that do not come from the source.
        self._said: list[str] = []
        #: Whether no prefix ends within the name of a file or folder.
        self._by_directory = True

    def configure(self, view: Any) -> None:
        self._semantics = self.semantics or view.seed_slash_semantics
        if self.surts_dump_file is None and view.profile == "heritrix":
            self.surts_dump_file = DUMP
        self.prefixes = SurtPrefixSet(strict=view.strict_uri_fixup)
        self._said = []
        self._hosts = _Hosts(self.prefixes)
        self._read(text_of(self.surts_source))

    def _read(self, text: str) -> None:
        """Have the prefixes be those of a source's lines, and what seeds and lines of their text said."""
        strict = self.prefixes.strict
        if not strict:
            text = BARE_PREFIX.sub(r"\1+", text)
        source = SurtPrefixSet(strict=strict)
        source.import_mixed(text)
        if self.widened:
            source = SurtPrefixSet(map(self._widened, source), strict=strict)
        source.add_all(self._said)
        # the set stays the same object: copies of the rule, made for sheets, share it
        self.prefixes.become(source)
        self._by_directory = all(map(ends_a_directory, self.prefixes))
        self._hosts.changed()

    def files(self) -> list[WatchedFile]:
        found = mark_of(self.surts_source)
        return [] if found is None else [WatchedFile(found[0], found[1], self._read_again)]

    def _read_again(self, text: str) -> None:
        if isinstance(self.surts_source, FileLines):
            self.surts_source[:] = text.splitlines()
        self._read(text)

    def seed_added(self, uri: str, written: str) -> None:
        """A seed; ``written``: its text before it was fixed up, or empty."""
        if self.seeds_as_surt_prefixes:
            prefix = seed_prefix(written, uri, self._semantics, strict=self.prefixes.strict)
            if self.widened:
                prefix = self._widened(prefix)
            self._add(prefix)

    def non_seed_line(self, line: str) -> bool:
        """Another line of a seeds text; tells whether it was meant for this rule."""
        sign = SIGNS.get(self.decision)
        if sign is None or not line.startswith(sign):
            return False
        prefix = self.prefixes.directive(line[1:])
        if prefix is None:
            return False
        self._add(self._widened(prefix) if self.widened and not self.prefixes.strict else prefix)
        return True

    def _add(self, prefix: str) -> None:
        self._said.append(prefix)
        if self.prefixes.add(prefix):
            self._by_directory = self._by_directory and ends_a_directory(prefix)
            self._hosts.changed()

    def _widened(self, prefix: str) -> str:
        """The prefix made to cover what it is to; never, but as Heritrix, all of a public suffix."""
        strict = self.prefixes.strict
        wide = WIDEN[self.widened](prefix, strict=strict)
        host = authority_part(prefix).split(",")
        if not strict and self.widened != "hosts" and public_suffixes().is_suffix(".".join(host[-2::-1])):
            return to_host(prefix)
        return wide

    def seeds_read(self) -> None:
        """All seeds were announced: write the dump, if one is wanted."""
        if self.surts_dump_file:
            file = self.placed(str(self.surts_dump_file))
            if file is None:
                return
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.prefixes.dump(), encoding="utf-8")

    @property
    def by_directory(self) -> bool:
        return not self.also_check_via and self._by_directory

    of_path = no_path

    def covered(self, curi: CrawlURI) -> bool:
        return self.covers(curi, via=self.also_check_via)

    def covers(self, curi: CrawlURI, *, via: bool) -> bool:
        """Whether a prefix covers the URI or, if asked for, its via."""
        hosts = self._hosts
        if not self.prefixes:
            return False
        return hosts.covers(curi.uri) or (via and curi.via is not None and hosts.covers(curi.via))

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self.covered(curi) else NONE

    def because(self, curi: CrawlURI) -> str:
        """The prefix that covers the URI, or its via; empty when none does."""
        for uri in (curi.uri, curi.via if self.also_check_via else None):
            found = self.prefixes.prefix_of(candidate(uri, strict=self.prefixes.strict)) if uri else None
            if found:
                return found
        return ""


class _Hosts:
    """What a set of prefixes says of whole hosts, remembered.

    Most prefixes are domains and hosts, and most links of a page go to few hosts: then the SURT of a URI need
    not be made (2 µs of the 4 that the default scope takes for a link without this).
    """

    __slots__ = ("_known", "_prefixes")

    def __init__(self, prefixes: SurtPrefixSet) -> None:
        self._prefixes = prefixes
        #: scheme and authority → whether all of it is covered; None: it depends on the path.
        self._known: dict[str, bool | None] = {}

    def changed(self) -> None:
        """Prefixes joined the set."""
        self._known.clear()

    def covers(self, uri: str) -> bool:
        """Whether the set has a prefix of this URI."""
        if not uri.startswith(("http://", "https://")):
            return self._prefixes.covers(uri)
        end = uri.find("/", 8)
        host = uri[:end] if end > 0 else uri
        try:
            known = self._known[host]
        except KeyError:
            known = self._learn(host)
        return self._prefixes.covers(uri) if known is None else known

    def _learn(self, host: str) -> bool | None:
        form = candidate(host + "/", strict=self._prefixes.strict)
        known: bool | None
        if self._prefixes.contains_prefix_of(form):
            known = True
        else:
            known = None if self._prefixes.any_below(form) else False
        if len(self._known) >= HOSTS_REMEMBERED:
            self._known.clear()
        self._known[host] = known
        return known


HOSTS_REMEMBERED = 20_000


class NotSurtPrefixedDecideRule(SurtPrefixedDecideRule):
    """Whether neither the URI nor, with ``also_check_via``, its via begins with one of the prefixes."""

    by_directory = SurtPrefixedDecideRule.by_directory
    of_path = no_path

    def evaluate(self, curi: CrawlURI) -> Decision:
        return NONE if self.covered(curi) else self.decision


class OnDomainsDecideRule(SurtPrefixedDecideRule):
    """SurtPrefixedDecideRule with each prefix widened to its domain: the host without ``www``, and all below it."""

    widened = "domains"


class OnRegisteredDomainsDecideRule(SurtPrefixedDecideRule):
    """SurtPrefixedDecideRule with each prefix widened to its registered domain: ``example.org`` for
    ``www.sub.example.org``."""

    widened = "registered"


class NotOnDomainsDecideRule(NotSurtPrefixedDecideRule):
    """Whether the URI lies on none of the domains that OnDomainsDecideRule would have."""

    widened = "domains"


class OnHostsDecideRule(SurtPrefixedDecideRule):
    """SurtPrefixedDecideRule with each prefix made one whole host."""

    widened = "hosts"


class NotOnHostsDecideRule(NotSurtPrefixedDecideRule):
    """Whether the URI lies on none of the hosts that OnHostsDecideRule would have."""

    widened = "hosts"


class ViaSurtPrefixedDecideRule(PredicatedDecideRule):
    """Whether the page that the URI was found on begins with one of ``surt_prefixes``."""

    read_once = frozenset({"surt_prefixes"}).union(PredicatedDecideRule.read_once)

    def __init__(self, *, surt_prefixes: Sequence[str] | None = None, decision: Decision | str | None = None) -> None:
        super().__init__(decision=decision)
        self.surt_prefixes = surt_prefixes or ()
        self._prefixes = SurtPrefixSet()

    def configure(self, view: Any) -> None:
        self._prefixes = SurtPrefixSet(strict=view.strict_uri_fixup)
        for prefix in self.surt_prefixes:
            self._prefixes.add_directive(prefix)

    def matches(self, curi: CrawlURI) -> bool:
        return curi.via is not None and self._prefixes.covers(curi.via)


def to_registered(prefix: str, *, strict: bool = False) -> str:
    """Widen a prefix to its registered domain."""
    scheme, paren, rest = prefix.partition("(")
    return scheme + paren + assignment_level(rest.partition(")")[0], strict=strict) if paren else prefix


WIDEN: dict[str, Callable[..., str]] = {"hosts": to_host, "domains": to_domain, "registered": to_registered}


def ends_a_directory(prefix: str) -> bool:
    """Whether all URIs of a directory begin with this prefix, or none does."""
    return prefix.endswith("/") or ")/" not in prefix


def file_of(source: Any) -> Path | None:
    """The file that a source means, where it means one."""
    match source:
        case ["ConfigPath" | "ConfigFile", {"path": str(path)}]:
            return in_project(Path(path))
        case str(text) if "\n" in text or "(" in text or not text:
            return None
        case str() | Path():
            return in_project(Path(source))
    return None


def mark_of(source: Any) -> tuple[Path, Mark] | None:
    """The file of a source and the state it is in; None for lines that come from no file, or none that can be read."""
    if isinstance(source, FileLines):
        return source.path, source.mark
    path = file_of(source)
    try:
        return None if path is None else (path, Mark.of(path))
    except OSError:
        return None


def text_of(source: Sequence[str] | str | Path | None) -> str:
    """The lines of a source as one text. Raises ConfigurationError when a file cannot be read."""
    if source is None:
        return ""
    path = file_of(source)
    if path is not None:
        try:
            return path.read_text(encoding="utf-8-sig", errors="replace")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigurationError("HERITRIX_SCOPE", str(path), f"cannot be read: {reason}") from None
    return source if isinstance(source, str) else "\n".join(str(line) for line in source)  # type: ignore[union-attr]
