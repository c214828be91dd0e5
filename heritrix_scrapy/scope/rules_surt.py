"""Does a URI lie below one of the places that seeds and lists name?

Places are SURT prefixes: ``http://(org,example,`` is a domain, ``http://(org,example,www,)/a/`` a directory.
Rules listen to seeds and to the other lines of a seeds text (Heritrix: SurtPrefixedDecideRule).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.scope.rule import ACCEPT, NONE, REJECT, Decision, PredicatedDecideRule
from heritrix_scrapy.settings.validate import in_project
from heritrix_scrapy.uri.domain import assignment_level, public_suffixes
from heritrix_scrapy.uri.prefixes import SurtPrefixSet, prefixes_of, seed_prefix, to_domain, to_host
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


class SurtPrefixedDecideRule(PredicatedDecideRule):
    """Whether the URI, or with ``also_check_via`` its via, begins with one of the prefixes.

    ``surts_source``: lines (``+`` and a directive, or a plain address), or the path of a file of them;
    ``seeds_as_surt_prefixes``: whether each seed adds the prefix it implies; ``surts_dump_file``: where the
    prefixes are written once all seeds are read.
    """

    #: What each prefix is made to cover: a name in ``WIDEN``, or itself.
    widened: ClassVar[str] = ""

    #: How a seed without a path is read, whatever HERITRIX_SEED_SLASH_SEMANTICS says.
    semantics: str = ""

    #: Where a dump lies that is named by a relative path.
    placed: Callable[[str], Path] = staticmethod(Path)

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

    def configure(self, view: Any) -> None:
        self._semantics = self.semantics or view.seed_slash_semantics
        if self.surts_dump_file is None and view.profile == "heritrix":
            self.surts_dump_file = DUMP
        self.prefixes = SurtPrefixSet(strict=view.strict_uri_fixup)
        text = text_of(self.surts_source)
        if not self.prefixes.strict:
            text = BARE_PREFIX.sub(r"\1+", text)
        if self.widened:
            strict = self.prefixes.strict
            source = SurtPrefixSet(strict=strict)
            source.import_mixed(text)
            self._add_widened(source)
        else:
            self.prefixes.import_mixed(text)
        self._hosts = _Hosts(self.prefixes)

    def seed_added(self, uri: str, written: str) -> None:
        """A seed; ``written``: its text before it was fixed up, or empty."""
        if self.seeds_as_surt_prefixes:
            prefix = seed_prefix(written, uri, self._semantics, strict=self.prefixes.strict)
            if self.widened:
                prefix = self._widened(prefix)
            if self.prefixes.add(prefix):
                self._hosts.changed()

    def non_seed_line(self, line: str) -> bool:
        """Another line of a seeds text; tells whether it was meant for this rule."""
        sign = SIGNS.get(self.decision)
        if sign is None or not line.startswith(sign):
            return False
        if self.widened and not self.prefixes.strict:
            said = SurtPrefixSet()
            if not said.add_directive(line[1:]):
                return False
            self._add_widened(said)
        elif not self.prefixes.add_directive(line[1:]):
            return False
        self._hosts.changed()
        return True

    def _add_widened(self, prefixes: SurtPrefixSet) -> None:
        for prefix in prefixes:
            self.prefixes.add(self._widened(prefix))

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
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.prefixes.dump(), encoding="utf-8")

    @property
    def by_directory(self) -> bool:
        return not self.also_check_via and all(prefix.endswith("/") or ")/" not in prefix for prefix in self.prefixes)

    def covered(self, curi: CrawlURI) -> bool:
        hosts = self._hosts
        if not self.prefixes:
            return False
        return hosts.covers(curi.uri) or (self.also_check_via and curi.via is not None and hosts.covers(curi.via))

    def evaluate(self, curi: CrawlURI) -> Decision:
        return self.decision if self.covered(curi) else NONE

    def because(self, curi: CrawlURI) -> str:
        """The prefix that covers the URI, or its via; empty when none does."""
        for uri in (curi.uri, curi.via if self.also_check_via else None):
            found = prefixes_of(list(self.prefixes), candidate(uri, strict=self.prefixes.strict)) if uri else ()
            if found:
                return found[0]
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


def text_of(source: Sequence[str] | str | Path | None) -> str:
    """The lines of a source as one text. Raises ConfigurationError when a file cannot be read."""
    match source:
        case None:
            return ""
        case ["ConfigPath" | "ConfigFile", {"path": str(path)}]:
            source = Path(path)
        case str(text) if "\n" in text or "(" in text or not text:
            return text
        case str(path):
            source = Path(path)
    if isinstance(source, Path):
        try:
            return in_project(source).read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise ConfigurationError(
                "HERITRIX_SCOPE", str(in_project(source)), f"cannot be read: {error.strerror}"
            ) from None
    return "\n".join(str(line) for line in source)
