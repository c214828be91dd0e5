"""Which values hold for one URI?

A View has one attribute for each setting, named in lower case without the prefix. Where no sheet applies every
URI shares one View; reading it costs a slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.defaults import BY_NAME, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.settings.beans import Job
    from heritrix_scrapy.settings.sheets import Address, Sheets


class View:
    """All settings as they hold for some URI. Not to be changed; ``replace`` makes another."""

    __slots__ = (*(row.attribute for row in SETTINGS), "rule_values", "sheets_applied")

    def __init__(
        self,
        values: Mapping[str, Any],
        *,
        rule_values: Mapping[Hashable, Any] | None = None,
        sheets: tuple[str, ...] = (),
    ) -> None:
        """``values``: a checked value for each name in the table; ``rule_values``: values that sheets give to
        properties of rules, under the scope's keys; ``sheets``: names of those that made this View."""
        for row in SETTINGS:
            setattr(self, row.attribute, values[row.name])
        self.rule_values = rule_values or None
        self.sheets_applied = sheets

    def replace(
        self,
        values: Mapping[str, Any],
        *,
        rule_values: Mapping[Hashable, Any] | None = None,
        sheets: tuple[str, ...] = (),
    ) -> View:
        """A View that differs in some values, keyed by the names in the table."""
        mine = {row.name: getattr(self, row.attribute) for row in SETTINGS}
        unknown = set(values) - set(BY_NAME)
        if unknown:
            raise KeyError(f"no such setting: {', '.join(sorted(unknown))}")
        return View({**mine, **values}, rule_values=rule_values, sheets=sheets)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def default_view(profile: str = "modern", **values: Any) -> View:
    """The View of a profile without a project, for tests and tools; ``values`` by attribute name."""
    view = View({row.name: row.default_in(profile) for row in SETTINGS})
    return view.replace({"PROFILE": profile, **{name.upper(): value for name, value in values.items()}})


class Settings:
    """What the operator wants: the View without sheets, and the View for a URI."""

    __slots__ = ("addressed", "explicit", "gates", "job", "lines", "sheets", "view")

    def __init__(
        self,
        view: View,
        *,
        explicit: frozenset[str] = frozenset(),
        lines: tuple[str, ...] = (),
        sheets: Sheets | None = None,
        addressed: Mapping[Address, Any] | None = None,
        gates: Mapping[str, Any] | None = None,
        job: Job | None = None,
    ) -> None:
        """``explicit``: names of the table that the operator gave; ``lines``: for the log at the start; ``sheets``:
        None when nothing is overridden anywhere; ``addressed``: values for properties of single rules;
        ``gates``: rules before parts, by the part's name in capitals; ``job``: the job file's part in it."""
        self.view = view
        self.explicit = explicit
        self.lines = lines
        self.sheets = sheets
        self.addressed = addressed or {}
        self.gates = gates or {}
        self.job = job

    def become(self, other: Settings) -> None:
        """Take over what another one says: whoever holds this one goes on with that. URIs whose View is made keep
        it."""
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))

    @property
    def profile(self) -> str:
        return str(self.view.profile)

    @property
    def uniform(self) -> bool:
        """Whether one View holds for all URIs: no sheet may give another."""
        return self.sheets is None

    def for_uri(self, curi: CrawlURI) -> View:
        """The View that holds for a URI; made once and carried on it."""
        found = curi.settings
        if found is None:
            sheets = self.sheets
            found = curi.settings = self.view if sheets is None else sheets.view_for(curi)
        return found  # type: ignore[no-any-return]


def views(settings: Any) -> list[Any]:
    """The View where no sheet applies, and that of each sheet alone: what can be checked at the start."""
    sheets = getattr(settings, "sheets", None)
    return [settings.view, *([] if sheets is None else [sheets.view((name,)) for name in sheets.sheets])]
