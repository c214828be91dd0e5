"""Which policy does a setting name?

A shipped one by its short name (``Wag``), its full one (``WagCostAssignmentPolicy``) or Heritrix's dotted one; one of
your own by its dotted path. Each also as ``[name, {property: value}]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from heritrix_scrapy.frontier.policies import assignment, cost, queue_precedence, uri_precedence
from heritrix_scrapy.frontier.policies.contract import (
    CostAssignmentPolicy,
    Given,
    QueueAssignmentPolicy,
    QueuePrecedencePolicy,
    UriPrecedencePolicy,
)
from heritrix_scrapy.frontier.policies.guard import Guarded
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX
from heritrix_scrapy.settings.validate import check, load_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.model.hosts import Hosts

HERITRIX_PACKAGE = "org.archive."


class Kind(NamedTuple):
    """One kind of policy. ``setting``: as the View calls it; ``ending``: what full names have and short ones have not;
    ``method``: what one of the user's own must have; ``sound``: what its answers must be; ``otherwise``: answers in
    its place when it fails."""

    setting: str
    ending: str
    classes: tuple[type[Any], ...]
    contract: type[Any]
    method: str
    sound: Callable[[Any], bool]
    otherwise: Callable[..., Any]

    @property
    def key(self) -> str:
        return PREFIX + self.setting.upper()


def whole(answer: Any) -> bool:
    """Whether it is a whole number that a row can hold; True is none that anyone meant."""
    return type(answer) is int and -(1 << 31) <= answer < 1 << 31


ASSIGNMENT = Kind(
    "queue_assignment_policy",
    "QueueAssignmentPolicy",
    assignment.CLASSES,
    QueueAssignmentPolicy,
    "class_key",
    lambda answer: isinstance(answer, str),
    lambda curi: curi.class_key or assignment.surt_authority(curi.policy_basis) or assignment.DEFAULT_QUEUE,
)
COST = Kind(
    "cost_assignment_policy",
    "CostAssignmentPolicy",
    cost.CLASSES,
    CostAssignmentPolicy,
    "cost_of",
    lambda answer: whole(answer) and answer >= 0,
    lambda curi: 1,
)
URI_PRECEDENCE = Kind(
    "uri_precedence_policy",
    "UriPrecedencePolicy",
    uri_precedence.CLASSES,
    UriPrecedencePolicy,
    "precedence",
    whole,
    lambda curi: curi.cost,
)
QUEUE_PRECEDENCE = Kind(
    "queue_precedence_policy",
    "QueuePrecedencePolicy",
    queue_precedence.CLASSES,
    QueuePrecedencePolicy,
    "precedence",
    whole,
    lambda queue, curi: queue.base,
)

KINDS = (ASSIGNMENT, COST, URI_PRECEDENCE, QUEUE_PRECEDENCE)


def short_name(kind: Kind, name: str) -> str:
    """A shipped policy's name as the settings reference has it."""
    return name.replace(kind.ending, "")


def shipped(kind: Kind) -> dict[str, type[Any]]:
    """The policies of a kind that come with this package, by short name."""
    return {short_name(kind, cls.__name__): cls for cls in kind.classes}


class Policies:
    """Makes policies. ``base``: gives the View where no sheet applies; ``hosts``: what is known of addresses;
    ``load(setting, path, properties)``: makes a part of the user's own, without it a class that takes no arguments."""

    def __init__(
        self,
        base: Callable[[], Any] | None = None,
        hosts: Hosts | None = None,
        load: Callable[[str, str, dict[str, Any]], Any] | None = None,
    ) -> None:
        self._base = base
        self._hosts = hosts
        self._load = load or construct
        self._own: dict[tuple[str, str, str], Any] = {}
        #: The list that was checked last.
        self._preloaded: Any = None

    def make(self, kind: Kind, view: Any, attribute: str | None = None) -> Any:
        """The policy that a View names; ``attribute``: the setting that does, if not the kind's own.

        Raises ConfigurationError for a name that nobody has, and for a property that it does not take.
        """
        attribute = attribute or kind.setting
        written = getattr(view, attribute)
        name, properties = (written, {}) if isinstance(written, str) else (written[0], dict(*written[1:]))
        key = PREFIX + attribute.upper()
        cls = shipped(kind).get(short_name(kind, name.rpartition(".")[2]))
        base = view if self._base is None else self._base()
        if cls is not None and ("." not in name or name.startswith(HERITRIX_PACKAGE)):
            made = cls(Given(attribute, view, checked(key, name, cls.PROPERTIES, properties), base, self._hosts))
            if cls in uri_precedence.DEFAULT_POLICY:
                self._make_default(kind, view, made, properties)
            return made
        if "." not in name or name.startswith(HERITRIX_PACKAGE):
            raise ConfigurationError(
                key, written, f"expected one of {', '.join(shipped(kind))}, or the dotted path of a class"
            )
        return self._users(kind, key, name, properties)

    def check(self, view: Any) -> None:
        """What only some policies ask for is right whichever is chosen: another sheet may choose it. Raises
        ConfigurationError."""
        queue_precedence.increments(view.increment_counts)
        lines = view.preload_source
        if lines and self._preloaded is not lines:
            uri_precedence.preloaded(lines, strict=view.strict_uri_fixup)
            self._preloaded = lines
        for cls, (attribute, _) in uri_precedence.DEFAULT_POLICY.items():
            written = getattr(view, attribute)
            if cls.__name__.startswith(written if isinstance(written, str) else written[0]):
                raise ConfigurationError(PREFIX + attribute.upper(), written, "expected another policy")
            self.make(URI_PRECEDENCE, view, attribute)

    def _make_default(self, kind: Kind, view: Any, made: Any, properties: dict[str, Any]) -> None:
        attribute, name = uri_precedence.DEFAULT_POLICY[type(made)]
        if name in properties:
            view = view.replace({attribute.upper(): check(BY_NAME[attribute.upper()], properties[name])})
        written = getattr(view, attribute)
        if type(made).__name__.startswith(written if isinstance(written, str) else written[0]):
            raise ConfigurationError(PREFIX + attribute.upper(), written, "expected another policy")
        made.otherwise = self.make(kind, view, attribute)

    def _users(self, kind: Kind, key: str, path: str, properties: dict[str, Any]) -> Any:
        # one object for all Views that name it alike: it may count
        known = self._own.get((key, path, repr(properties)))
        if known is None:
            known = self._load(key, path, properties)
            if not callable(getattr(known, kind.method, None)):
                raise ConfigurationError(key, path, f"such a policy has a method {kind.method}()")
            known = Guarded(known, kind.method, kind.sound, kind.otherwise)
            self._own[key, path, repr(properties)] = known
        return known


def checked(key: str, name: str, known: dict[str, str], properties: dict[str, Any]) -> dict[str, Any]:
    """The properties as their settings read them. Raises ConfigurationError."""
    out = {}
    for prop, value in properties.items():
        if prop not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ConfigurationError(key, {prop: value}, f"{name} has no such property; {takes}")
        row = BY_NAME[known[prop].upper()]
        out[prop] = value if row.kind == "str" and not isinstance(value, str) else check(row, value)
    return out


def construct(setting: str, path: str, properties: dict[str, Any]) -> Any:
    """A part of the user's own outside a crawl. Raises ConfigurationError."""
    try:
        part = load_object(setting, path)()
    except TypeError as error:
        raise ConfigurationError(setting, path, f"cannot be made: {error}") from None
    for name, value in properties.items():
        setattr(part, name, value)
    return part
