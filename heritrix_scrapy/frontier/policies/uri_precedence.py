"""How far in front of its queue does a URI belong? (spec 4.4)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from heritrix_scrapy.frontier.policies.contract import Given, UriPrecedencePolicy
from heritrix_scrapy.model import hops
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.uri.fixup import UriError, fix
from heritrix_scrapy.uri.surt import surt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.model.crawluri import CrawlURI


class ShippedUriPrecedence(UriPrecedencePolicy):
    """``of_cost``: it is the cost; ``fixed``: it is the same for every URI."""

    PROPERTIES: ClassVar[dict[str, str]] = {}
    of_cost = False
    fixed: int | None = None

    def __init__(self, given: Given) -> None: ...


class CostUriPrecedencePolicy(ShippedUriPrecedence):
    """What it costs its queue."""

    of_cost = True

    def precedence(self, curi: CrawlURI) -> int:
        return curi.cost


class BaseUriPrecedencePolicy(ShippedUriPrecedence):
    """The same for every URI; sheets make the difference."""

    PROPERTIES: ClassVar[dict[str, str]] = {"base_precedence": "uri_base_precedence"}

    def __init__(self, given: Given) -> None:
        self.base: int = given.value("base_precedence", "uri_base_precedence")
        if type(self) is BaseUriPrecedencePolicy:
            self.fixed = self.base

    def precedence(self, curi: CrawlURI) -> int:
        return self.base


class HopsUriPrecedencePolicy(BaseUriPrecedencePolicy):
    """The base and 1 for each L of its path; for every hop, where ``navlinks_only`` is off."""

    PROPERTIES: ClassVar[dict[str, str]] = {
        **BaseUriPrecedencePolicy.PROPERTIES,
        "navlinks_only": "navlinks_only",
    }

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.navlinks_only: bool = given.value("navlinks_only", "navlinks_only")
        # Heritrix counts the characters of a folded path, the number in front of it included
        self.literal: bool = given.view.profile == "heritrix"

    def precedence(self, curi: CrawlURI) -> int:
        path = curi.path
        if self.navlinks_only:
            return self.base + path.count(hops.NAVLINK)
        return self.base + (len(path) if self.literal else hops.length(path))


class PreloadedUriPrecedencePolicy(BaseUriPrecedencePolicy):
    """The base and what a list says of the URI; a URI that the list does not have goes to the default policy."""

    PROPERTIES: ClassVar[dict[str, str]] = {
        **BaseUriPrecedencePolicy.PROPERTIES,
        "preload_source": "preload_source",
        "default_uri_precedence_policy": "default_uri_precedence_policy",
    }

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._strict: bool = given.view.strict_uri_fixup
        self._known = preloaded(given.value("preload_source", "preload_source"), strict=self._strict)
        #: Asked about the others; set by who makes the policy.
        self.otherwise: UriPrecedencePolicy | None = None

    def precedence(self, curi: CrawlURI) -> int:
        known = self._known.get(surt(curi.uri, strict=self._strict))
        # a sum of 0 counts as nothing known, as in Heritrix
        if known is not None and (value := self.base + known):
            return value
        assert self.otherwise is not None
        return self.otherwise.precedence(curi)


def preloaded(lines: Iterable[str], *, strict: bool) -> dict[str, int]:
    """SURT → precedence, from lines ``URI precedence``; a URI without scheme is taken for http; ``#`` begins a comment.

    Raises ConfigurationError for a line that is none.
    """
    known: dict[str, int] = {}
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            uri, value = line.split()
            known[surt(fix(uri if "://" in uri else f"http://{uri}", strict=strict), strict=strict)] = int(value)
        except (ValueError, UriError):
            raise ConfigurationError(
                "HERITRIX_PRELOAD_SOURCE", line, "expected lines of a URI and a whole number"
            ) from None
    return known


CLASSES: tuple[type[ShippedUriPrecedence], ...] = (
    CostUriPrecedencePolicy,
    BaseUriPrecedencePolicy,
    HopsUriPrecedencePolicy,
    PreloadedUriPrecedencePolicy,
)

#: Settings that name another policy of this kind.
DEFAULT_POLICY: dict[type[Any], tuple[str, str]] = {
    PreloadedUriPrecedencePolicy: ("default_uri_precedence_policy", "default_uri_precedence_policy"),
}
