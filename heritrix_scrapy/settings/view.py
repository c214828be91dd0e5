"""Which values hold for one URI?

A View has one attribute for each setting, named in lower case without the prefix. Where no sheet applies every
URI shares one View; reading it costs a slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.defaults import BY_NAME, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heritrix_scrapy.model.crawluri import CrawlURI


class View:
    """All settings as they hold for some URI. Not to be changed; ``replace`` makes another."""

    __slots__ = tuple(row.attribute for row in SETTINGS)

    def __init__(self, values: Mapping[str, Any]) -> None:
        """``values``: a checked value for each name in the table."""
        for row in SETTINGS:
            setattr(self, row.attribute, values[row.name])

    def replace(self, values: Mapping[str, Any]) -> View:
        """A View that differs in some values, keyed by the names in the table."""
        mine = {row.name: getattr(self, row.attribute) for row in SETTINGS}
        unknown = set(values) - set(BY_NAME)
        if unknown:
            raise KeyError(f"no such setting: {', '.join(sorted(unknown))}")
        return View({**mine, **values})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def default_view(profile: str = "modern", **values: Any) -> View:
    """The View of a profile without a project, for tests and tools; ``values`` by attribute name."""
    view = View({row.name: row.default_in(profile) for row in SETTINGS})
    return view.replace({"PROFILE": profile, **{name.upper(): value for name, value in values.items()}})


class Settings:
    """What the operator wants: the View without sheets, and the View for a URI."""

    __slots__ = ("explicit", "lines", "view")

    def __init__(self, view: View, *, explicit: frozenset[str] = frozenset(), lines: tuple[str, ...] = ()) -> None:
        """``explicit``: names of the table that the operator gave; ``lines``: for the log at the start."""
        self.view = view
        self.explicit = explicit
        self.lines = lines

    @property
    def profile(self) -> str:
        return str(self.view.profile)

    @property
    def uniform(self) -> bool:
        """Whether one View holds for all URIs: no sheet may give another."""
        return True

    def for_uri(self, curi: CrawlURI) -> View:
        """The View that holds for a URI; made once and carried on it."""
        found = curi.settings
        if found is None:
            found = curi.settings = self.view
        return found  # type: ignore[no-any-return]
