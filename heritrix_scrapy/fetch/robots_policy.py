"""How is robots.txt treated?

The policies by their names in ``HERITRIX_ROBOTS_POLICY`` (Heritrix: RobotsPolicy and its subclasses), those that an
operator names in ``HERITRIX_AVAILABLE_ROBOTS_POLICIES``, and a project's own by dotted path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.fetch.robots_rules import rules_of
from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heritrix_scrapy.fetch.robots_rules import Rules
    from heritrix_scrapy.model.crawluri import CrawlURI

SETTING = "HERITRIX_ROBOTS_POLICY"
AVAILABLE = "HERITRIX_AVAILABLE_ROBOTS_POLICIES"


class RobotsPolicy:
    """The contract for a policy, and the policy ``obey``: the rules of the site's robots.txt bind.

    A project's own derives from it and overrides ``allows``. Properties of the settings become attributes; one that
    the class does not have is refused.
    """

    #: Whether robots.txt binds at all; where not, it need not be fetched (``HERITRIX_FETCH_ROBOTS``).
    binds = True
    #: Whether ``nofollow`` in a page's robots meta tag binds.
    obey_meta_robots_nofollow = True
    #: "rfc9309" or "heritrix": how texts of the policy's own are read.
    standard = "rfc9309"

    def allows(self, curi: CrawlURI, agent: str, rules: Rules) -> bool:
        """Whether the URI may be fetched. ``agent``: the crawl's User-Agent; ``rules``: the site's robots.txt. May set
        ``curi.user_agent``, which the URI is fetched under then."""
        return rules.allows(agent, curi.uri)

    def check(self) -> None:
        """Raises ValueError for properties that make no policy."""


class RobotsTxtOnlyPolicy(RobotsPolicy):
    """robots.txt binds, a page's robots meta tag does not."""

    obey_meta_robots_nofollow = False


class IgnoreRobotsPolicy(RobotsPolicy):
    """Neither binds."""

    binds = False
    obey_meta_robots_nofollow = False

    def allows(self, curi: CrawlURI, agent: str, rules: Rules) -> bool:
        return True


class CustomRobotsPolicy(RobotsPolicy):
    """The operator's text speaks for every site's."""

    custom_robots: str | None = None

    def allows(self, curi: CrawlURI, agent: str, rules: Rules) -> bool:
        return rules_of(self.custom_robots, self.standard).allows(agent, curi.uri)

    def check(self) -> None:
        if not isinstance(self.custom_robots, str):
            raise ValueError("expected custom_robots, the text of a robots.txt")


class _OfCandidates(RobotsPolicy):
    candidate_user_agents: Sequence[str] = ()
    should_masquerade = True

    def _as(self, curi: CrawlURI, candidate: str) -> None:
        if self.should_masquerade:
            curi.user_agent = candidate

    def check(self) -> None:
        names = self.candidate_user_agents
        if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
            raise ValueError("expected candidate_user_agents, a list of names")


class FirstNamedRobotsPolicy(_OfCandidates):
    """The group for us; else that of the first candidate that the file names; else that for all."""

    def allows(self, curi: CrawlURI, agent: str, rules: Rules) -> bool:
        if not rules.names(agent):
            for candidate in self.candidate_user_agents:
                if rules.names(candidate):
                    self._as(curi, candidate)
                    return rules.allows(candidate, curi.uri)
        return rules.allows(agent, curi.uri)


class MostFavoredRobotsPolicy(_OfCandidates):
    """What we may fetch, or any of the candidates may."""

    def allows(self, curi: CrawlURI, agent: str, rules: Rules) -> bool:
        if rules.allows(agent, curi.uri):
            return True
        for candidate in self.candidate_user_agents:
            if rules.allows(candidate, curi.uri):
                self._as(curi, candidate)
                return True
        return False


#: Names in the settings → class. Those of Heritrix's classes are valid too.
POLICIES: dict[str, type[RobotsPolicy]] = {
    "obey": RobotsPolicy,
    "classic": RobotsPolicy,
    "robotsTxtOnly": RobotsTxtOnlyPolicy,
    "ignore": IgnoreRobotsPolicy,
    "custom": CustomRobotsPolicy,
    "firstNamed": FirstNamedRobotsPolicy,
    "mostFavored": MostFavoredRobotsPolicy,
}
_CLASSES: dict[str, type[RobotsPolicy]] = {
    "ObeyRobotsPolicy": RobotsPolicy,
    **{cls.__name__: cls for cls in POLICIES.values() if cls is not RobotsPolicy},
}
_FOLDED = {name.lower(): cls for name, cls in (POLICIES | _CLASSES).items()}


def default_load(path: str) -> Any:
    """The class that a dotted path names."""
    import importlib

    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


class Policies:
    """The policies of a crawl, made when first asked for. ``load``: dotted path → class or object; ``build``: makes
    an object of a project's class."""

    def __init__(
        self, load: Callable[[str], Any] = default_load, build: Callable[[type], Any] = lambda cls: cls()
    ) -> None:
        self._load = load
        self._build = build
        self._made: dict[tuple[Any, ...], tuple[Any, Any, RobotsPolicy]] = {}

    def of(self, view: Any) -> RobotsPolicy:
        """The policy that holds for a URI. Raises ConfigurationError when there is none of that name."""
        wanted, available, standard = view.robots_policy, view.available_robots_policies, view.robots_standard
        # by identity: the objects are kept beside it
        key = (wanted if isinstance(wanted, str) else id(wanted), id(available), standard)
        made = self._made.get(key)
        if made is None:
            policy = self._make(wanted, available or {}, standard)
            made = self._made[key] = (wanted, available, policy)
        return made[2]

    def check(self, view: Any) -> None:
        """Raises ConfigurationError when the policy of a View, or one of those that it names, cannot be."""
        self.of(view)
        for name in view.available_robots_policies or {}:
            self._make(name, view.available_robots_policies, view.robots_standard)

    def _make(self, wanted: Any, available: Mapping[str, Any], standard: str) -> RobotsPolicy:
        setting = SETTING
        if isinstance(wanted, str) and wanted in available:
            wanted, setting = available[wanted], AVAILABLE
        name, properties = _parts(wanted, setting)
        if isinstance(name, RobotsPolicy):
            return name
        if isinstance(name, str):
            found = _FOLDED.get(name.lower())
            if found is None and "." in name:
                try:
                    found = self._load(name)
                except (ImportError, AttributeError, NameError, ValueError) as error:
                    raise ConfigurationError(setting, name, f"cannot be loaded: {error}") from error
            if found is None:
                known = ", ".join([*POLICIES, *available])
                raise ConfigurationError(setting, name, f"no such robots policy; known are {known}, and dotted paths")
            name = found
        policy = name if not isinstance(name, type) else self._build(name)
        if not callable(getattr(policy, "allows", None)):
            raise ConfigurationError(setting, wanted, "a robots policy has allows(curi, agent, rules)")
        if isinstance(policy, RobotsPolicy):
            policy.standard = standard
        for key, value in properties.items():
            attribute = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
            if not hasattr(policy, attribute):
                raise ConfigurationError(setting, wanted, f"a policy of this kind has no property {key}")
            setattr(policy, attribute, value)
        try:
            if isinstance(policy, RobotsPolicy):
                policy.check()
        except ValueError as error:
            raise ConfigurationError(setting, wanted, str(error)) from None
        made: RobotsPolicy = policy
        return made


def _parts(wanted: Any, setting: str) -> tuple[Any, Mapping[str, Any]]:
    if isinstance(wanted, list | tuple):
        if len(wanted) == 1:
            return wanted[0], {}
        if len(wanted) == 2 and isinstance(wanted[1], Mapping):
            return wanted[0], wanted[1]
        raise ConfigurationError(setting, wanted, "expected a name, or [name, {property: value}]")
    return wanted, {}
