"""What takes longer than a turn of the loop may, and is done in slices.

Whoever runs it calls ``run`` until it says that it is done; between two calls the crawl goes on. Each slice begins
with everything written, so that the store holds all rows, and goes on from a key, never from an iterator: what the
crawl changed meanwhile is seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.model import status
from heritrix_scrapy.model.errors import UnpackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.frontier.queue import Queue
    from heritrix_scrapy.model.crawluri import CrawlURI


class Work(ABC):
    """``name``: of the operation; ``remark``: the operator's; ``steers``: whether it changes anything."""

    name = ""
    remark = ""
    steers = True

    @abstractmethod
    def run(self, enough: Callable[[], bool]) -> bool:
        """Go on until it is done (True), or until ``enough()`` says so. Raises StorageFull."""

    @abstractmethod
    def answer(self) -> dict[str, Any]:
        """What has come of it so far."""


class UriSweep(Work):
    """Looks at every queued URI of the queues whose names ``wanted`` takes, in the order of the queues' numbers.
    A URI in process is passed over, and counted."""

    def __init__(self, frontier: Frontier, now_ms: Callable[[], int], wanted: Callable[[str], bool]) -> None:
        self.frontier = frontier
        self.looked_at = 0
        self.in_process = 0
        self._now_ms = now_ms
        self._wanted = wanted
        self._at = keys.QUEUED

    @abstractmethod
    def visit(self, queue: Queue, key: bytes, row: bytes) -> None:
        """One URI that waits."""

    def run(self, enough: Callable[[], bool]) -> bool:
        frontier = self.frontier
        while True:
            frontier.flush(self._now_ms())
            if self._sweep(enough):
                frontier.flush(self._now_ms())
                return True
            if enough():
                return False

    def _sweep(self, enough: Callable[[], bool]) -> bool:
        ledger = self.frontier.ledger
        prefix = b""
        queue: Queue | None = None
        for key, row in ledger.store.range(self._at, keys.after(keys.QUEUED)):
            if key[:5] != prefix:
                prefix = key[:5]
                queue = self._queue(prefix)
                if queue is None:
                    # on to the next queue by a seek, not over its rows
                    self._at = keys.after(prefix)
                    return False
            self._at = key + b"\0"
            assert queue is not None
            if queue.current is not None and queue.current[0] == key:
                self.in_process += 1
            else:
                self.looked_at += 1
                self.visit(queue, key, row)
            if ledger.is_full or (self.looked_at % 16 == 0 and enough()):
                return False
        return True

    def _queue(self, prefix: bytes) -> Queue | None:
        name = self.frontier.ledger.get(keys.queue_name(int.from_bytes(prefix[1:5], "big")))
        if name is None:
            return None
        class_key = name.decode("utf-8", "surrogatepass")
        return self.frontier.queues.get(class_key) if self._wanted(class_key) else None


class Removal(UriSweep):
    """Takes queued URIs out of the crawl with a status. ``takes``: which; ``count_only``: only counts them;
    ``quiet``: neither logged nor counted; ``forget``: the next page that links to one queues it again; ``gone``: called
    with each."""

    def __init__(
        self,
        name: str,
        frontier: Frontier,
        now_ms: Callable[[], int],
        wanted: Callable[[str], bool],
        takes: Callable[[CrawlURI], bool],
        code: int,
        *,
        for_uri: Callable[[CrawlURI], Any],
        count_only: bool = False,
        quiet: bool = False,
        forget: bool = False,
        remark: str = "",
        gone: Callable[[CrawlURI], object] | None = None,
    ) -> None:
        super().__init__(frontier, now_ms, wanted)
        self.name = name
        self.remark = remark
        self._takes = takes
        self._code = code
        self._for_uri = for_uri
        self._count_only = count_only
        self._quiet = quiet
        self._forget = forget
        self._gone = gone
        self._taken = self._taken_retired = 0
        self._queues: Counter[str] = Counter()

    def visit(self, queue: Queue, key: bytes, row: bytes) -> None:
        try:
            curi = self.frontier.unpack(queue, key, row)
        except UnpackError:
            return
        if not self._takes(curi):
            return
        if queue.record.state == State.RETIRED:
            self._taken_retired += 1
        else:
            self._taken += 1
        if queue.class_key in self._queues or len(self._queues) < 1000:
            self._queues[queue.class_key] += 1
        if self._count_only:
            return
        curi.settings = self._for_uri(curi)
        curi.status = self._code
        self.frontier.strike(queue, key, curi, quiet=self._quiet)
        if self._forget:
            self._unsee(curi)
        if self._gone is not None:
            self._gone(curi)

    def _unsee(self, curi: CrawlURI) -> None:
        ledger = self.frontier.ledger
        row = keys.seen(curi.canonical)
        if ledger.get(row) is not None:
            ledger.forget(row)
            ledger.totals.discovered -= 1
            self.frontier.forget_known()

    def answer(self) -> dict[str, Any]:
        return {
            "counted" if self._count_only else "deleted": self._taken,
            "in retired queues": self._taken_retired,
            "in process": self.in_process,
            "looked at": self.looked_at,
            "queues": dict(self._queues.most_common(20)),
        }


class NameSweep(Work):
    """Goes through names of queues, 256 between two batches. ``names``: goes on where it was left."""

    def __init__(self, frontier: Frontier, now_ms: Callable[[], int], names: Iterator[str]) -> None:
        self.frontier = frontier
        self._now_ms = now_ms
        self._names = names

    @abstractmethod
    def look_at(self, class_key: str) -> None:
        """One queue, or the name of one that is gone."""

    def run(self, enough: Callable[[], bool]) -> bool:
        frontier = self.frontier
        frontier.flush(self._now_ms())
        for number, class_key in enumerate(self._names, 1):
            self.look_at(class_key)
            if number % 256 == 0:
                frontier.flush(self._now_ms())
            if number % 16 == 0 and enough():
                return False
        frontier.flush(self._now_ms())
        return True


class QueueSweep(NameSweep):
    """Does something to each queue of a list that ``matches`` takes by its name. ``act``: whether it was done."""

    def __init__(
        self,
        name: str,
        frontier: Frontier,
        now_ms: Callable[[], int],
        class_keys: Iterator[str],
        matches: Callable[[str], bool],
        act: Callable[[Queue], bool],
        *,
        count_only: bool = False,
        remark: str = "",
    ) -> None:
        super().__init__(frontier, now_ms, class_keys)
        self.name = name
        self.remark = remark
        self._matches = matches
        self._act = act
        self._count_only = count_only
        self._done = self._uris = 0

    def look_at(self, class_key: str) -> None:
        queue = self.frontier.queues.get(class_key) if self._matches(class_key) else None
        if queue is not None:
            count = queue.record.count
            if self._act(queue):
                self._done += 1
                self._uris += count

    def answer(self) -> dict[str, Any]:
        return {"queues": self._done, "uris": self._uris, "count only": self._count_only}


class Text(Work):
    """A long text, made line by line: at most ``most`` lines, None among them is none. It is told once, when all of it
    is there."""

    steers = False

    def __init__(self, name: str, lines: Iterator[str | None], most: int) -> None:
        self.name = name
        self._lines = lines
        self._most = most
        self._made: list[str] = []
        self._whole = False

    def run(self, enough: Callable[[], bool]) -> bool:
        made = self._made
        for number, line in enumerate(self._lines, 1):
            if len(made) == self._most:
                made.append("... and more")
                break
            if line is not None:
                made.append(line)
            if number % 16 == 0 and enough():
                return False
        self._whole = True
        return True

    def answer(self) -> dict[str, Any]:
        if not self._whole:
            return {"lines": len(self._made)}
        text = "".join(f"{line}\n" for line in self._made)
        self._made.clear()
        return {"text": text}


def all_names(frontier: Frontier) -> Iterator[str]:
    """The names of all queues, a thousand at a time, whatever changes meanwhile."""
    at = keys.QUEUE
    while True:
        names = []
        for key, _ in frontier.ledger.store.range(at, keys.after(keys.QUEUE)):
            names.append(key)
            if len(names) == 1000:
                break
        for key in names:
            yield key[1:].decode("utf-8", "surrogatepass")
        if len(names) < 1000:
            return
        at = names[-1] + b"\0"


DELETED = status.DELETED_BY_USER
OUT_OF_SCOPE = status.OUT_OF_SCOPE
