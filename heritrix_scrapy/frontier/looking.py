"""What can an operator see of a frontier?

Queues and URIs by the page, one queue with what it waits for, reports: plain values in, dicts out, nothing changes. A
page costs what it shows, whatever the size of the crawl, and little of it at a time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import formats, keys, reports
from heritrix_scrapy.frontier.queue import unpack_record
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.status import why
from heritrix_scrapy.frontier.work import Text, Work
from heritrix_scrapy.model.errors import UnpackError
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.uri.java_match import matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heritrix_scrapy.crawl import Clock, SettingsSource
    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.frontier.queue import Queue, QueueRecord
    from heritrix_scrapy.model.crawluri import CrawlURI

#: The most rows of a page, and seconds that looking for them may take.
PAGE = 1000
PAGE_SECONDS = 0.001

#: Lines of a report up to which it is told as a whole: it has to be put into one answer between two of the crawl's
#: turns. A report that is written into a file has all of them.
MOST_LINES = 4000


class OperationError(Refused):
    """The request cannot be carried out; the text says why."""


class Looking:
    """Looks at one frontier. ``reached``: the last state of Heritrix's machine (RUN, PAUSE, EMPTY, FINISH)."""

    #: Seconds that looking for a page may take; more where nobody else has to have a turn.
    page_seconds = PAGE_SECONDS

    def __init__(
        self, frontier: Frontier, settings: SettingsSource, clock: Clock, reached: Callable[[], str] = lambda: "RUN"
    ) -> None:
        self.frontier = frontier
        self._settings = settings
        self._clock = clock
        self._reached = reached

    def queues(
        self, state: str = "", queue: str = "", marker: str = "", limit: int = PAGE, queue_name: str = ""
    ) -> dict[str, Any]:
        """Counts by state, the longest queues, and a page of queues in the order of their names.

        ``state``: only those in it; ``queue``: an expression for the whole name; ``marker``: from an earlier answer;
        ``queue_name``: this one queue, whatever else is said. A page may hold fewer queues than there are: its time
        is limited. Without a ``marker`` in the answer there are no more.
        """
        frontier, now = self.frontier, self._clock.now_ms()
        if queue_name:
            found = frontier.queue(queue_name)
            if found is None:
                raise OperationError(f"no queue {queue_name!r}")
            return {"queues": [self._told(queue_name, found.record, now, whole=found)]}
        wanted = _state(state)
        matches = expression("queue", queue)
        start = _from_marker(marker, keys.QUEUE)
        listed: list[dict[str, Any]] = []
        following = None
        enough = self._timer(self.page_seconds)
        states, longest = reports.counts(frontier, self._reached()), frontier.longest()
        for number, (class_key, record) in enumerate(self._records(start), 1):
            if len(listed) >= max(1, min(limit, PAGE)) or (number % 8 == 0 and enough()):
                following = keys.queue(class_key).hex()
                break
            if (wanted is None or record.state == wanted) and matches(class_key):
                listed.append(self._told(class_key, record, now))
        return {
            "states": states,
            "longest": [{"queue": name, "uris": count} for name, count in longest],
            "queues": listed,
            "marker": following,
        }

    def _records(self, start: bytes) -> Iterator[tuple[str, QueueRecord]]:
        """Names and records of queues from that key on; those that wait to be written lie over the store's."""
        ledger = self.frontier.ledger
        changed, grown = ledger.changed, ledger.grown
        # only a queue that is new in the batch has no row yet
        new = [queue for queue in changed.values() if not queue.record.written and queue.row >= start]
        new.sort(key=lambda queue: queue.row, reverse=True)
        for key, row in ledger.store.range(start, keys.after(keys.QUEUE)):
            while new and new[-1].row <= key:
                queue = new.pop()
                if queue.row < key:
                    yield queue.class_key, queue.record
            class_key = key[1:].decode("utf-8", "surrogatepass")
            lagging = changed.get(class_key) or grown.get(class_key)
            yield class_key, unpack_record(row) if lagging is None else lagging.record
        while new:
            queue = new.pop()
            yield queue.class_key, queue.record

    def _told(self, class_key: str, record: QueueRecord, now_ms: int, *, whole: Queue | None = None) -> dict[str, Any]:
        state = State(record.state)
        told: dict[str, Any] = {
            "queue": class_key,
            "state": state.name,
            "uris": record.count,
            "precedence": record.precedence,
            "spent": record.spent,
            "errors": record.errors,
            "waits for": self._waits_for(class_key, record, state),
        }
        if state is State.SNOOZED:
            told["until"] = formats.moment(record.wake_ms)
            told["seconds"] = round(max(record.wake_ms - now_ms, 0) / 1000, 1)
        if whole is not None:
            told |= {
                "ever queued": record.enqueued,
                "total budget": record.total_budget,
                "session balance": record.session_balance,
                "last status": record.last_status,
                "last queued": whole.last_queued,
                "last handed out": whole.last_peeked,
            }
        return told

    def _waits_for(self, class_key: str, record: QueueRecord, state: State) -> str:
        if state is State.IN_PROCESS:
            curi = self.frontier.processed(class_key)
            return "the fetch of " + curi.uri if curi is not None else "a fetch"
        if state is State.SNOOZED:
            return self.frontier.waits_for(class_key, record.wake_ms) or why(record)
        if state is State.READY:
            return "a free fetcher"
        if state is State.INACTIVE:
            floor = self.frontier.queues.floor
            if record.precedence >= floor:
                return f"a precedence below the floor of {floor}"
            return "its turn"
        if state is State.RETIRED:
            if record.over_total:
                return f"a budget above {record.total_budget}: it has spent {record.spent}"
            if record.quota:
                return f"an operator: the quota {record.quota} is used up (reset_quota)"
            return "an operator: it was retired"
        return "URIs"

    def urls(
        self, queue: str = "", uri: str = "", marker: str = "", limit: int = PAGE, queue_name: str = ""
    ) -> dict[str, Any]:
        """A page of queued URIs, queue by queue, each in the order in which they will be fetched.

        ``queue_name``: of this queue only; ``queue``, ``uri``: expressions for the whole name and URI; ``marker``: from
        an earlier answer.
        """
        frontier = self.frontier
        start, stop = keys.QUEUED, keys.after(keys.QUEUED)
        if queue_name:
            found = frontier.queue(queue_name)
            if found is None:
                raise OperationError(f"no queue {queue_name!r}")
            start, stop = found.prefix, keys.after(found.prefix)
        start = max(start, _from_marker(marker, keys.QUEUED))
        takes_queue, takes_uri = expression("queue", queue), expression("uri", uri)
        listed: list[dict[str, Any]] = []
        following: str | None = None
        enough = self._timer(self.page_seconds)
        number = 0
        again = True
        waiting = frontier.ledger.waiting(start, stop)
        while again:
            again = False
            if number and enough():
                following = start.hex()
                break
            prefix, current = b"", None
            for key, row in frontier.ledger.range(start, stop, waiting):
                number += 1
                if len(listed) >= max(1, min(limit, PAGE)) or (number % 8 == 0 and enough()):
                    following = key.hex()
                    break
                if key[:5] != prefix:
                    prefix = key[:5]
                    current = self._queue_of(prefix, takes_queue)
                    if current is None:
                        start, again = keys.after(prefix), True
                        break
                assert current is not None
                try:
                    curi = frontier.unpack(current, key, row)
                except UnpackError:
                    continue
                if takes_uri(curi.uri):
                    listed.append(described(curi))
        return {"urls": listed, "marker": following}

    def _queue_of(self, prefix: bytes, takes: Callable[[str], bool]) -> Queue | None:
        """The queue whose URIs' keys begin so, if its name is wanted."""
        name = self.frontier.ledger.get(keys.queue_name(int.from_bytes(prefix[1:5], "big")))
        if name is None:
            return None
        class_key = name.decode("utf-8", "surrogatepass")
        return self.frontier.queue(class_key) if takes(class_key) else None

    def report(self, kind: str = "summary") -> dict[str, Any] | Work:
        """A report in Heritrix's words: ``summary``, ``nonempty``, ``all`` or ``line``."""
        if kind == "line":
            return {"text": reports.short_line(self.frontier, self._reached())}
        return Text("report", self.report_lines(kind), MOST_LINES)

    def report_lines(self, kind: str) -> Iterator[str | None]:
        """``summary``, ``nonempty`` or ``all``, line by line; None is no line, but a place for a pause."""
        frontier, now = self.frontier, self._clock.now_ms()
        if kind == "summary":
            view = self._settings.view
            shown = view.max_queues_per_report_category
            return reports.summary(frontier, now, job=view.job_name, reached=self._reached(), shown=shown)
        if kind == "nonempty":
            return reports.nonempty(frontier, now)
        if kind == "all":
            return reports.every(frontier, now)
        raise OperationError("there are the reports summary, nonempty, all and line")

    def _timer(self, seconds: float) -> Callable[[], bool]:
        clock = self._clock
        end = clock.monotonic() + seconds
        return lambda: clock.monotonic() >= end


def expression(name: str, text: str) -> Callable[[str], bool]:
    """Whether a text matches as a whole; ``name``: of the parameter. Raises OperationError."""
    if text in ("", ".*"):
        return lambda whole: True
    try:
        return matcher(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise OperationError(f"{name}: {text!r} is no regular expression: {error}") from None


def described(curi: CrawlURI) -> dict[str, Any]:
    """A queued URI, for a list."""
    told: dict[str, Any] = {
        "uri": curi.uri,
        "queue": curi.class_key,
        "path": curi.path,
        "via": curi.via,
        "directive": curi.directive,
        "precedence": curi.precedence,
        "attempts": curi.attempts,
    }
    if curi.seed:
        told["seed"] = True
    if curi.forced:
        told["forced"] = True
    if curi.source_tag:
        told["source"] = curi.source_tag
    return told


def _state(name: str) -> State | None:
    if not name:
        return None
    try:
        return State[name.upper().replace(" ", "_").replace("-", "_")]
    except KeyError:
        known = ", ".join(state.name.lower() for state in State)
        raise OperationError(f"there are the states {known}") from None


def _from_marker(marker: str, prefix: bytes) -> bytes:
    """The key that a marker of an earlier answer stands for."""
    if not marker:
        return prefix
    try:
        key = bytes.fromhex(marker)
    except ValueError:
        key = b""
    if not key.startswith(prefix):
        raise OperationError("the marker is none of this list's")
    return key
