"""By which one way is a crawl asked and steered?

A table of verbs. Each part that can be steered adds its own (``Crawl.steering.add``); socket, commands, action
directory, web page and a project's own extensions all go through ``do``. A verb is a function with typed keyword
parameters: the signature says what a request may hold, and a request that does not fit is refused before anything
happens.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

#: Version of the requests and answers; grows when one changes its meaning.
PROTOCOL: Final = 1

Answer = Mapping[str, Any]


class Refused(ValueError):
    """A request that cannot be done: the text says why and what would do."""


#: Request that is answered with what happens from then on.
SUBSCRIBE: Final = "subscribe"


class Events(Protocol):
    """What a subscriber reads, one object after the other; it ends with the crawl."""

    def __aiter__(self) -> Self: ...

    async def __anext__(self) -> Answer: ...

    def close(self) -> None:
        """The subscriber has had enough."""


class Asked(Protocol):
    """Whoever can be asked and listened to: the ``Steering`` of the crawl in this process, or ``operate.remote`` for
    any other job."""

    async def do(self, request: Mapping[str, Any]) -> Answer:
        """Do what ``request["do"]`` names, with the other members as parameters. Raises Refused."""

    async def subscribe(self, request: Mapping[str, Any]) -> Events:
        """Hear of the crawl from now on. Raises Refused."""


class Verb:
    """One request by name. ``steers``: it changes something, so a reader may not ask for it."""

    def __init__(self, name: str, run: Callable[..., Any], *, steers: bool) -> None:
        self.name = name
        self.run = run
        self.steers = steers
        self.doc = (inspect.getdoc(run) or "").split("\n\n")[0]
        hints = get_type_hints(run)
        signature = inspect.signature(run)
        self.open = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
        self.parameters = {
            each.name: (hints.get(each.name, Any), each.default is each.empty)
            for each in signature.parameters.values()
            if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}
        }

    def arguments(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request's members as arguments. Raises Refused for one too many, one missing, or one of a wrong type."""
        given = {name: value for name, value in request.items() if name != "do"}
        for name, value in given.items():
            if name not in self.parameters:
                if self.open:
                    continue
                allowed = ", ".join(self.parameters) or "nothing"
                raise Refused(f"{self.name} takes {allowed}, not {name}")
            wanted = self.parameters[name][0]
            if not _fits(value, wanted):
                raise Refused(f"{self.name}: {name} is {value!r}, expected {_words(wanted)}")
        for name, (_, required) in self.parameters.items():
            if required and name not in given:
                raise Refused(f"{self.name} needs {name}")
        return given


class Steering:
    """The verbs of one crawl."""

    def __init__(self) -> None:
        self._verbs: dict[str, Verb] = {}
        self._subscribe: Verb | None = None

    def add(self, name: str, run: Callable[..., Answer | Awaitable[Answer]], *, steers: bool = True) -> None:
        """Offer a verb; a name that is there already is replaced."""
        self._verbs[name] = Verb(name, run, steers=steers)

    def offer(self, subscribe: Callable[..., Events]) -> None:
        """Say how one subscribes; the signature holds what a subscription may ask for."""
        self._subscribe = Verb(SUBSCRIBE, subscribe, steers=False)

    def __contains__(self, name: object) -> bool:
        return name in self._verbs

    def verbs(self) -> Mapping[str, Verb]:
        """All verbs by name."""
        return self._verbs

    async def do(self, request: Mapping[str, Any]) -> Answer:
        """Do what ``request["do"]`` names, with the other members as parameters. Raises Refused."""
        name = request.get("do")
        verb = self._verbs.get(name) if isinstance(name, str) else None
        if verb is None:
            raise Refused(f"unknown request {name!r}; there are: {', '.join(sorted(self._verbs))}")
        answer = verb.run(**verb.arguments(request))
        if not isinstance(answer, Mapping):
            answer = await answer
        return answer  # type: ignore[no-any-return]

    async def subscribe(self, request: Mapping[str, Any]) -> Events:
        """Hear of the crawl from now on; the request's other members say of what. Raises Refused."""
        if self._subscribe is None:
            raise Refused("this crawl tells nothing by itself")
        return self._subscribe.run(**self._subscribe.arguments(request))  # type: ignore[no-any-return]


def _fits(value: Any, wanted: Any) -> bool:
    if wanted is Any:
        return True
    origin = get_origin(wanted)
    if origin in {typing.Union, types.UnionType}:
        return any(_fits(value, each) for each in get_args(wanted))
    if origin is list:
        (inner,) = get_args(wanted)
        return isinstance(value, list) and all(_fits(each, inner) for each in value)
    if origin is not None:
        return isinstance(value, origin)
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, wanted if wanted is not None else type(None))


def _words(wanted: Any) -> str:
    return getattr(wanted, "__name__", None) or str(wanted)
