"""Which sheets lie over the settings of one URI, and what do they come to?

A sheet is a name and some values. Sheets are tied to SURT prefixes and to rules. For one URI the sheets of the
prefixes come first, the shortest prefix first, then those of the rules that accept it, in their order; where two say
something of the same setting the later one wins. A URI that another one needs (an address, robots.txt) follows the
URI that needs it. (Heritrix: Sheet, SheetOverlaysManager, SurtPrefixesSheetAssociation, DecideRuledSheetAssociation.)
"""

from __future__ import annotations

import difflib
import logging
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX
from heritrix_scrapy.settings.validate import IDENTITY, check, check_identity
from heritrix_scrapy.uri.canonical import Canonicaliser
from heritrix_scrapy.uri.prefixes import prefixes_of
from heritrix_scrapy.uri.surt import candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.settings.view import View

logger = logging.getLogger(__name__)

SHEETS = PREFIX + "SHEETS"
ASSOCIATIONS = PREFIX + "SHEET_ASSOCIATIONS"

#: ``SCOPE[2].max_hops``, ``SCOPE[tooManyHops].max_hops``: a property of one rule, by its place or its name.
ADDRESS = re.compile(r"SCOPE\[(\w+)\]\.(\w+)", re.ASCII)
#: ``CANONICALIZATION_RULES[3].enabled``, ``EXTRACTORS[ExtractorHTML].enabled``: a property of one entry in a list.
ENTRY = re.compile(r"(CANONICALIZATION_RULES|EXTRACTORS)\[([\w.]+)\]\.(\w+)", re.ASCII)

#: Combinations of sheets whose Views are remembered; prefixes × rules bound them, hosts do not.
_REMEMBERED = 4096
_HOSTS = 50_000


class Address(NamedTuple):
    """``rule``: place from 0, id or name in the default scope; ``name``: of the property."""

    rule: str
    name: str

    @property
    def path(self) -> str:
        """The path in Heritrix: where one sheet has two for the same thing, the first in this order wins."""
        return f"scope.rules[{self.rule}].{self.name}" if self.rule.isdigit() else f"{self.rule}.{self.name}"


class Sheet:
    """``values``: by the names of the table; ``addressed``: values for properties of rules, as they were written;
    ``rules``: the same under the keys that the scope gave them."""

    def __init__(self, name: str, written: Any) -> None:
        if not isinstance(written, dict):
            raise ConfigurationError(SHEETS, {name: written}, "expected {setting: value} for each sheet")
        self.name = name
        self.values: dict[str, Any] = {}
        self.addressed: dict[Address, Any] = {}
        self.entries: list[tuple[str, str, str, Any]] = []
        self.rules: dict[Hashable, Any] = {}
        for key, value in written.items():
            self._put(str(key), value)

    def _put(self, key: str, value: Any) -> None:
        where = f"{SHEETS}[{self.name!r}]"
        short = key.removeprefix(PREFIX)
        if found := ADDRESS.fullmatch(short):
            self.addressed[Address(*found.groups())] = value
            return
        if found := ENTRY.fullmatch(short):
            setting, place, name = found.groups()
            self.entries.append((setting, place, name, value))
            return
        row = BY_NAME.get(short)
        if row is None:
            near = difflib.get_close_matches(short, [row.name for row in BY_NAME.values() if row.overridable], n=1)
            raise ConfigurationError(
                where, key, "no such setting" + (f"; did you mean {PREFIX}{near[0]}?" if near else "")
            )
        if not row.overridable:
            raise ConfigurationError(where, key, "a sheet cannot change this setting")
        try:
            self.values[row.name] = check(row, value)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}[{key!r}]", error.value, error.expected) from None


class RuleAssociation(NamedTuple):
    """Sheets for what rules accept. ``rules``: as written; ``accepts``: what the scope made of them."""

    rules: Any
    order: int
    sheets: tuple[str, ...]


class Sheets:
    """The sheets of a crawl and what they are tied to. ``base``: the View where none applies; ``strict``: prefixes
    hold literally, as in Heritrix. Raises ConfigurationError."""

    def __init__(self, sheets: Any, associations: Any, base: View, *, strict: bool) -> None:
        if not isinstance(sheets, dict):
            raise ConfigurationError(SHEETS, sheets, "expected {name: {setting: value}}")
        self.base = base
        self.sheets = {str(name): Sheet(str(name), written) for name, written in sheets.items()}
        self._strict = strict
        self._by_prefix: dict[str, list[str]] = {}
        self.by_rule: list[RuleAssociation] = []
        #: (whether the rules accept a URI, the sheets that follow), in order; set by the scope.
        self.tests: list[tuple[Callable[[CrawlURI], bool], tuple[str, ...]]] = []
        if not isinstance(associations, list | tuple):
            raise ConfigurationError(ASSOCIATIONS, associations, "expected a list")
        for association in associations:
            self._associate(association)
        self.by_rule.sort(key=lambda association: association.order)
        self._keys = sorted(self._by_prefix)
        #: SURTs of hosts below which some prefix goes on.
        self._split = {head + ")/" for key in self._keys for head, close, path in [key.partition(")/")] if path}
        self._known: dict[str, tuple[str, ...] | None] = {}
        self._views: dict[tuple[str, ...], View] = {}
        self.check_entries()

    def _associate(self, association: Any) -> None:
        if not isinstance(association, dict) or not set(association) <= {"surt_prefixes", "rules", "order", "sheets"}:
            raise ConfigurationError(
                ASSOCIATIONS, association, "expected {'surt_prefixes': [...] or 'rules': [...], 'sheets': [...]}"
            )
        names = association.get("sheets", ())
        names = (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            if name not in self.sheets:
                raise ConfigurationError(ASSOCIATIONS, association, f"there is no sheet {name!r}")
        if "rules" in association:
            order = association.get("order", 0)
            if isinstance(order, bool) or not isinstance(order, int):
                raise ConfigurationError(ASSOCIATIONS, association, "order: expected a whole number")
            self.by_rule.append(RuleAssociation(association["rules"], order, names))
        elif "surt_prefixes" not in association:
            raise ConfigurationError(ASSOCIATIONS, association, "expected surt_prefixes or rules")
        prefixes = association.get("surt_prefixes", ())
        for prefix in (prefixes,) if isinstance(prefixes, str) else prefixes:
            if not isinstance(prefix, str) or (not self._strict and "://(" not in prefix):
                raise ConfigurationError(ASSOCIATIONS, prefix, "expected a SURT prefix such as http://(org,example,")
            if not self._strict:
                prefix = prefix.lower()
                prefix = "http" + prefix[5:] if prefix.startswith("https://(") else prefix
            self._by_prefix.setdefault(prefix, []).extend(names)

    def check_entries(self) -> None:
        """Raises ConfigurationError for entries of lists that do not exist, and rules that cannot be made."""
        late = self.base.profile == "heritrix"
        for sheet in self.sheets.values():
            where = f"{SHEETS}[{sheet.name!r}]"
            if IDENTITY & sheet.values.keys():
                base = {name: getattr(self.base, name.lower()) for name in IDENTITY}
                check_identity(
                    base | sheet.values,
                    contact_required="OPERATOR_CONTACT_URL" in sheet.values,
                    template_given="USER_AGENT_TEMPLATE" in sheet.values,
                )
            if "CANONICALIZATION_RULES" in sheet.values:
                check_rules(where, sheet.values["CANONICALIZATION_RULES"], late=late)
            for setting, place, name, value in sheet.entries:
                listed = sheet.values.get(setting, getattr(self.base, setting.lower()))
                with_entry(listed, setting, place, name, value, where=where)

    # -- for one URI --------------------------------------------------------------------------------------------

    def names(self, curi: CrawlURI) -> tuple[str, ...]:
        """The sheets that hold for a URI, the strongest last; an association twice over is named twice."""
        names = self._of_prefixes(curi.policy_basis)
        for accepts, more in self.tests:
            if self._accepted(accepts, curi):
                names += more
        return names

    def view_for(self, curi: CrawlURI) -> View:
        """The View that holds for a URI."""
        names = self.names(curi)
        return self.view(names) if names else self.base

    def view(self, names: tuple[str, ...]) -> View:
        """The View that these sheets come to, one for each combination."""
        view = self._views.get(names)
        if view is None:
            if len(self._views) >= _REMEMBERED:
                self._views.clear()
            values: dict[str, Any] = {}
            rules: dict[Hashable, Any] = {}
            for name in names:
                sheet = self.sheets[name]
                values.update(sheet.values)
                for setting, place, key, value in sheet.entries:
                    listed = values.get(setting, getattr(self.base, setting.lower()))
                    try:
                        values[setting] = with_entry(listed, setting, place, key, value)
                    except ConfigurationError as error:
                        # each is right by itself: another of these sheets has another list
                        told = f"{PREFIX}{setting}[{place}].{key}"
                        logger.error("sheets %s: %s has no effect: %s", ", ".join(names), told, error.expected)
                for rule_key, value in sheet.rules.items():
                    if isinstance(rule_key, str):
                        values[rule_key] = value
                    else:
                        rules[rule_key] = value
            view = self._views[names] = self.base.replace(values, rule_values=rules, sheets=names)
        return view

    def _of_prefixes(self, uri: str) -> tuple[str, ...]:
        if not self._keys:
            return ()
        end = uri.find("/", 8)
        host = uri[:end] if end > 0 and uri.startswith(("http://", "https://")) else None
        if host is None:
            return self._found(uri)
        try:
            known = self._known[host]
        except KeyError:
            form = candidate(host + "/", strict=self._strict)
            known = None if form in self._split else self._found(host + "/")
            if len(self._known) >= _HOSTS:
                self._known.clear()
            self._known[host] = known
        return self._found(uri) if known is None else known

    def _found(self, uri: str) -> tuple[str, ...]:
        found: list[str] = []
        for prefix in prefixes_of(self._keys, candidate(uri, strict=self._strict)):
            found += self._by_prefix[prefix]
        return tuple(found)

    def _accepted(self, accepts: Callable[[CrawlURI], bool], curi: CrawlURI) -> bool:
        # rules that decide about sheets are asked with the settings that hold without any
        before, curi.settings = curi.settings, self.base
        try:
            return accepts(curi)
        except Exception:
            logger.exception("the rules of a sheet association failed on %s", curi.uri)
            return False
        finally:
            curi.settings = before

    # -- what the scope tells ------------------------------------------------------------------------------------

    def address(self, resolve: Callable[[str, Address, Any], tuple[Hashable, Any]]) -> None:
        """Have the scope say what each addressed property is: the name of a setting that the rule follows, or a key
        of its own; and the value as the rule reads it. ``resolve(where, address, value)`` raises
        ConfigurationError."""
        for sheet in self.sheets.values():
            sheet.rules.clear()
            for address in sorted(sheet.addressed, key=lambda address: address.path, reverse=True):
                key, value = resolve(f"{SHEETS}[{sheet.name!r}]", address, sheet.addressed[address])
                sheet.rules[key] = value
        self._views.clear()


def with_entry(listed: Any, setting: str, place: str, name: str, value: Any, *, where: str = SHEETS) -> list[Any]:
    """A list of components with one property of one entry changed. ``place``: from 0, or the entry's id or name.

    Raises ConfigurationError when there is no such entry.
    """
    out = [[entry[0], dict(entry[1])] if isinstance(entry, list) else entry for entry in listed]
    for at, entry in enumerate(out):
        if isinstance(entry, list) and (str(at) == place or place in (entry[0], entry[1].get("id"))):
            entry[1][name] = value
            check(BY_NAME[setting], out)
            if setting == "CANONICALIZATION_RULES":
                check_rules(where, out, late=True)
            return out
    raise ConfigurationError(where, f"{PREFIX}{setting}[{place}].{name}", "there is no such entry")


def check_rules(where: str, rules: Any, *, late: bool) -> None:
    """Raises ConfigurationError for canonicalisation rules that cannot be made."""
    try:
        Canonicaliser(rules, late=late)
    except (ValueError, re.error) as error:
        raise ConfigurationError(where, rules, f"cannot be used: {error}") from None


def with_entries(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Of a project's settings, the lists in which some address a property of one entry, outside of any sheet."""
    changed: dict[str, Any] = {}
    for key, value in given.items():
        if taken := ENTRY.fullmatch(key.removeprefix(PREFIX)):
            setting, place, name = taken.groups()
            listed = changed.get(setting, values[setting])
            changed[setting] = with_entry(listed, setting, place, name, value, where=key)
    return changed


def addresses(given: Mapping[str, Any]) -> dict[Address, Any]:
    """Of a project's settings, those that address a property of a rule, outside of any sheet."""
    found = {}
    for key, value in given.items():
        if taken := ADDRESS.fullmatch(key.removeprefix(PREFIX)):
            found[Address(*taken.groups())] = value
    return found
