"""How does somebody hear of a crawl as it goes on, without being able to hold it up?

A subscription is read at the reader's own pace. What happens (a change of state, a pause, a checkpoint) waits for the
reader in a buffer of its own; when that is full the oldest are dropped, and the reader is told how many. Numbers are
made when the reader comes for them, and log lines are read from the files then: of neither is there anything to keep.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.following import Follower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Self

    from heritrix_scrapy.model.steering import Answer

#: Events that wait for a reader.
CAPACITY = 1000
#: Subscriptions at once.
MOST = 100
#: Seconds between two looks at a log, and the fewest between two times the numbers.
LOOK = 0.25
LEAST = 0.1
#: How much of its time a reader's turn may be late before it is left out, and times that are left out at most.
LATE = 0.1
LEFT_OUT = 4


class Subscription:
    """What one reader hears: an asynchronous iterator of objects with ``event`` and ``time`` (ms since the epoch).

    ``numbers``: makes what the event ``numbers`` holds, each ``every`` seconds (0: never); ``followers``: of logs,
    which are looked at each ``look`` seconds. Who asks for the same time as another has it at the same moment. Where
    the crawl is so busy that the turns come late, some are left out.
    """

    def __init__(
        self,
        hello: Mapping[str, Any],
        events: Iterable[str],
        *,
        numbers: Callable[[], Mapping[str, Any]],
        every: float,
        followers: Iterable[Follower],
        look: float = LOOK,
        leave: Callable[[Subscription], None],
        now_ms: Callable[[], int],
        monotonic: Callable[[], float] = time.monotonic,
        capacity: int = CAPACITY,
    ) -> None:
        self.events = frozenset(events)
        self._numbers, self._every, self._followers, self._look_each = numbers, every, list(followers), look
        self._leave, self._now_ms, self._monotonic = leave, now_ms, monotonic
        self._capacity = capacity
        self._hello: dict[str, Any] | None = self._told("hello", hello)
        self._waiting: deque[dict[str, Any]] = deque()
        self._missed = 0
        self._awake = asyncio.Event()
        self._next_numbers = self._next_look = 0.0
        #: Seconds by which the last turn was late.
        self._late = 0.0
        self._last: dict[str, Any] | None = None
        #: Whether the logs may hold lines from before the end that have not been looked for.
        self._lines_left = False
        self._over = False

    def tell(self, event: str, details: Mapping[str, Any]) -> None:
        """Put an event into the buffer, if the reader wants it; never waits."""
        if self._over or event not in self.events:
            return
        if len(self._waiting) >= self._capacity:
            self._waiting.popleft()
            self._missed += 1
        self._waiting.append(self._told(event, details))
        self._awake.set()

    def end(self, details: Mapping[str, Any]) -> None:
        """Nothing more will happen: the reader gets what waits, the last lines of its logs, and ``end``."""
        if self._last is None:
            self._last = self._told("end", details)
            self._lines_left = bool(self._followers)
            self._awake.set()

    def close(self) -> None:
        """The reader has had enough."""
        self._over = True
        self._awake.set()
        self._leave(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Answer:
        while not self._over:
            self._awake.clear()
            if self._hello is not None:
                hello, self._hello = self._hello, None
                return hello
            if self._missed:
                missed, self._missed = self._missed, 0
                return self._told("missed", {"events": missed})
            if self._waiting:
                return self._waiting.popleft()
            now, last, lines_left = self._monotonic(), self._last, self._lines_left
            if self._every and now >= self._next_numbers and last is None:
                self._next_numbers = due(now, self._every, self._late)
                return self._told("numbers", self._numbers())
            if lines_left or (self._followers and now >= self._next_look):
                found = await self._look()
                if found is not None:
                    return self._told("log", found)
                if lines_left:
                    self._lines_left = False
                continue
            if last is not None:
                self.close()
                return last
            await self._sleep(now)
        raise StopAsyncIteration

    async def _look(self) -> dict[str, Any] | None:
        """The next lines of a log, each in turn; None when none has any."""
        for _ in self._followers:
            found = await asyncio.to_thread(self._followers[0].look)
            self._followers.append(self._followers.pop(0))
            if found is not None:
                return found
        self._next_look = due(self._monotonic(), self._look_each, self._late)
        return None

    async def _sleep(self, now: float) -> None:
        times = [self._next_numbers] if self._every else []
        times += [self._next_look] if self._followers else []
        if not times:
            await self._awake.wait()
            return
        until = max(min(times), now + 0.001)
        try:
            await asyncio.wait_for(self._awake.wait(), until - now)
        except TimeoutError:
            self._late = max(self._monotonic() - until, 0.0)

    def _told(self, event: str, details: Mapping[str, Any]) -> dict[str, Any]:
        return {"event": event, "time": self._now_ms(), **details}


def due(now: float, every: float, late: float = 0.0) -> float:
    """When the next turn of those is due who have one each ``every`` seconds: the same moment for all of them, at least
    half as long away. ``late``: by how much the turn before was."""
    left_out = min(int(late / (every * LATE)), LEFT_OUT)
    return (now // every + 1 + left_out) * every + (every if every - now % every < every / 2 else 0.0)


class Feed:
    """All subscriptions of a crawl. ``names``: events that there are; ``wanted(event)``: called when one is first
    subscribed to, so that nobody has to tell what nobody hears; ``numbers()``; ``hello()``: what a subscription
    begins with."""

    def __init__(
        self,
        root: Callable[[], Path],
        names: Iterable[str],
        *,
        wanted: Callable[[str], None],
        numbers: Callable[[], Mapping[str, Any]],
        hello: Callable[[], Mapping[str, Any]],
        now_ms: Callable[[], int],
    ) -> None:
        self._root, self._names = root, tuple(names)
        self._wanted, self._numbers, self._hello, self._now_ms = wanted, numbers, hello, now_ms
        self._subscriptions: set[Subscription] = set()

    def subscribe(
        self,
        events: list[str] | None = None,
        numbers: float = 0.0,
        logs: dict[str, str] | list[str] | None = None,
        lines: int = 0,
        look: float = LOOK,
    ) -> Subscription:
        """Hear of the crawl from now on. ``events``: names, all when left out; ``numbers``: seconds between two times
        the numbers, 0 for never; ``logs``: names of logs, or name → an expression that is searched for in each line;
        ``lines``: so many that stand there already; ``look``: seconds between two looks at the logs.

        Raises Refused.
        """
        chosen = self._names if events is None else tuple(events)
        for name in chosen:
            if name not in self._names:
                raise Refused(f"subscribe: no event {name!r}; there are: {', '.join(self._names)}")
        if numbers and not LEAST <= numbers <= 86_400:
            raise Refused(f"subscribe: numbers is {numbers}, expected 0, or seconds from {LEAST} to 86400")
        if not LEAST <= look <= 86_400:
            raise Refused(f"subscribe: look is {look}, expected seconds from {LEAST} to 86400")
        if lines < 0:
            raise Refused(f"subscribe: lines is {lines}, expected 0 or more")
        filters = dict.fromkeys(logs, "") if isinstance(logs, list) else dict(logs or {})
        for name, expression in filters.items():
            if not isinstance(expression, str):
                raise Refused(f"subscribe: logs[{name!r}] is {expression!r}, expected an expression")
        if len(self._subscriptions) >= MOST:
            raise Refused(f"subscribe: there are {MOST} subscriptions already")
        root = self._root()
        subscription = Subscription(
            self._hello(),
            chosen,
            numbers=self._numbers,
            every=numbers,
            followers=[Follower(root, name, filter=each, lines=lines) for name, each in filters.items()],
            look=look,
            leave=self._subscriptions.discard,
            now_ms=self._now_ms,
        )
        for name in chosen:
            self._wanted(name)
        self._subscriptions.add(subscription)
        return subscription

    def tell(self, event: str, details: Mapping[str, Any]) -> None:
        """Tell everyone who wants to hear it."""
        for subscription in self._subscriptions:
            subscription.tell(event, details)

    def end(self, details: Mapping[str, Any]) -> None:
        """The crawl is over."""
        for subscription in list(self._subscriptions):
            subscription.end(details)
