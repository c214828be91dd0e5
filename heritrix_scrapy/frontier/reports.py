"""What does Heritrix's frontier report say of ours?

The same words and the same layout (Heritrix: WorkQueueFrontier.reportTo, allNonemptyReportTo, allQueuesReportTo,
shortReportLineTo, WorkQueue.reportTo), since people and programs read them. Lines come one by one: a report of a
large frontier is long. None among them is no line, but a place where something else may have its turn.
"""

from __future__ import annotations

import math
from heapq import heappop
from itertools import islice
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import formats
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.work import all_names

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterable, Iterator

    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.frontier.queue import Queue, QueueRecord

    Lines = Iterator[str | None]
    Found = Iterator[Queue | None]

LEGEND = (
    "queue precedence currentSize totalEnqueues sessionBalance lastCost (averageCost) lastDequeueTime wakeTime"
    " totalSpend/totalBudget errorCount lastPeekUri lastQueuedUri"
)
LINE_LEGEND = "total active in-process ready snoozed inactive retired exhausted"
TALLY_LEGEND = (
    "totalScheduled fetchSuccesses fetchFailures fetchDisregards fetchResponses robotsDenials successBytes totalBytes"
    " fetchNonResponses lastSuccessTime"
)


def counts(frontier: Frontier, reached: str = "RUN") -> dict[str, Any]:
    """Queues by state, under the keys of Heritrix's report map and in their order. ``reached``: the last state of
    Heritrix's machine (RUN, PAUSE, EMPTY, FINISH).

    A queue below the precedence floor counts as ineligible only (Heritrix: as exhausted too).
    """
    by_state = frontier.queues.by_state
    busy, ready, snoozed = by_state[State.IN_PROCESS], by_state[State.READY], by_state[State.SNOOZED]
    tiers, floor = frontier.lists.tiers, frontier.queues.floor
    ineligible = sum(len(tier) for precedence, tier in tiers.items() if precedence >= floor)
    return {
        "totalQueues": frontier.totals.queues,
        "inProcessQueues": busy,
        "readyQueues": ready,
        "snoozedQueues": snoozed,
        "activeQueues": busy + ready + snoozed,
        "inactiveQueues": by_state[State.INACTIVE] - ineligible,
        "ineligibleQueues": ineligible,
        "retiredQueues": by_state[State.RETIRED],
        "exhaustedQueues": by_state[State.EXHAUSTED],
        "lastReachedState": reached,
        "queueReadiedCount": 0,
    }


def short_line(frontier: Frontier, reached: str = "RUN") -> str:
    """The report in one line."""
    c = counts(frontier, reached)
    return (
        f"{c['lastReachedState']} - {c['totalQueues']} URI queues: {c['activeQueues']} active"
        f" ({c['inProcessQueues']} in-process; {c['readyQueues']} ready; {c['snoozedQueues']} snoozed);"
        f" {c['inactiveQueues']} inactive; {c['ineligibleQueues']} ineligible; {c['retiredQueues']} retired;"
        f" {c['exhaustedQueues']} exhausted"
    )


def metrics(frontier: Frontier) -> dict[str, float]:
    """``average_depth``: URIs a queue, whole; ``deepest``: URIs of the longest queue, -1 without one;
    ``congestion``: how many times more workers could be busy."""
    c = counts(frontier)
    listed = c["activeQueues"] + c["inactiveQueues"] + c["ineligibleQueues"]
    longest = frontier.longest()
    working, wanted = c["inProcessQueues"] + c["snoozedQueues"], c["activeQueues"] + c["inactiveQueues"]
    if working:
        congestion = wanted / working
    else:
        congestion = math.inf if wanted else math.nan
    return {
        "average_depth": frontier.totals.queued // listed if listed else 0,
        "deepest": longest[0][1] if longest else -1,
        "congestion": congestion,
    }


# -- one queue ---------------------------------------------------------------------------------------------


def _average(record: QueueRecord) -> str:
    return formats.number(record.spent / record.cost_count if record.cost_count else math.nan)


def queue_lines(queue: Queue, now_ms: int) -> Iterator[str]:
    """The report on one queue."""
    record, tally = queue.record, queue.record.tally
    yield f"Queue {queue.class_key} (p{record.precedence})"
    yield f"  {record.count} items"
    if record.state == State.SNOOZED:
        yield f"   wakes in: {formats.duration(record.wake_ms - now_ms)}"
    yield f"    last enqueued: {queue.last_queued or 'null'}"
    yield f"      last peeked: {queue.last_peeked or 'null'}"
    yield f"   total expended: {record.spent} (total budget: {record.total_budget})"
    yield f"   active balance: {record.session_balance}"
    yield f"   last(avg) cost: {record.last_cost}({_average(record)})"
    yield f"   {TALLY_LEGEND}"
    counted = (
        tally.scheduled,
        tally.successes,
        tally.failures,
        tally.disregards,
        tally.responses,
        tally.robots_denials,
        tally.success_bytes,
        tally.total_bytes,
        tally.nonresponses,
        formats.moment(max(tally.last_success_ms, 0)),
    )
    yield "   " + " ".join(map(str, counted))
    if record.ranks is None:
        yield "   SimplePrecedenceProvider"
        yield f"   {record.precedence}"
        return
    ranks = sorted(record.ranks.items())
    yield "   HighestUriPrecedenceProvider:" + "".join(f" p{rank}" for rank, _ in ranks)
    yield "   " + " ".join(str(count) for _, count in ranks)


def queue_line(queue: Queue, now_ms: int) -> str:
    """The same in one line, under ``LEGEND``."""
    record = queue.record
    dequeued = formats.moment(record.last_dequeued_ms) if record.last_dequeued_ms else "-"
    wakes = formats.duration(record.wake_ms - now_ms) if record.state == State.SNOOZED else "-"
    return (
        f"{queue.class_key} {record.precedence} {record.count} {record.enqueued} {record.session_balance}"
        f" {record.last_cost}({_average(record)}) {dequeued} {wakes} {record.spent}/{record.total_budget}"
        f" {record.errors} {queue.last_peeked or 'null'} {queue.last_queued or 'null'}"
    )


# -- which queues ------------------------------------------------------------------------------------------


#: Names that are passed over before something else may have its turn.
PASSED = 16


def _in_state(frontier: Frontier, class_keys: Iterable[str], state: State) -> Found:
    """Those of a list that are in that state still: lists keep names of queues that have moved on. None now and then
    where many have."""
    passed = 0
    for class_key in class_keys:
        queue = frontier.queue(class_key)
        if queue is not None and queue.record.state == state:
            yield queue
        else:
            passed += 1
            if passed % PASSED == 0:
                yield None


def _piecewise(line: deque[str]) -> Iterator[str]:
    """The names of a list, some at a time: a copy of a million would hold up the loop. What the crawl moves meanwhile
    may be passed over."""
    at, size = 0, 1000
    while names := list(islice(line, at, at + size)):
        yield from names
        at += len(names)
        size = min(2 * size, 16_000)


def _in_process(frontier: Frontier) -> Found:
    return _in_state(frontier, [curi.class_key for curi in frontier.in_process()], State.IN_PROCESS)


def _ready(frontier: Frontier) -> Found:
    return _in_state(frontier, _piecewise(frontier.lists.ready), State.READY)


def _snoozed(frontier: Frontier) -> Found:
    return _in_state(frontier, _by_wake_time(frontier.lists.snoozed.copy()), State.SNOOZED)


def _by_wake_time(heap: list[tuple[int, str]]) -> Iterator[str]:
    """Names off a heap of their wake times; a queue's former time is passed over."""
    last = ""
    while heap:
        _, name = heappop(heap)
        if name != last:
            yield name
        last = name


def _tiers(frontier: Frontier) -> Iterator[tuple[int, int, Found]]:
    for precedence, tier in sorted(frontier.lists.tiers.items()):
        yield precedence, len(tier), _in_state(frontier, _piecewise(tier), State.INACTIVE)


def _retired(frontier: Frontier) -> Found:
    return _in_state(frontier, _piecewise(frontier.lists.retired), State.RETIRED)


# -- the reports -------------------------------------------------------------------------------------------


def _section(name: str) -> str:
    return f" -----===== {name} =====-----"


def _blocks(label: str, queues: Iterable[Queue | None], total: int, now_ms: int, shown: int) -> Lines:
    number = 0
    for queue in queues if shown else ():
        if queue is None:
            yield None
            continue
        yield f"{label}#{number}:"
        yield from queue_lines(queue, now_ms)
        yield ""
        number += 1
        if number == shown:
            break
    if total > shown:
        yield f"...and {total - shown} more {label}."
        yield ""


def summary(frontier: Frontier, now_ms: int, *, job: str, reached: str = "RUN", shown: int = 2000) -> Lines:
    """The summary report, line by line without line ends. ``shown``: queues in each category."""
    totals, c = frontier.totals, counts(frontier, reached)
    yield f"Frontier report - {formats.minute(now_ms)}"
    yield f" Job being crawled: {job}"
    yield ""
    yield _section("STATS")
    yield f" Discovered:    {totals.discovered}"
    yield f" Queued:        {totals.queued}"
    yield f" Finished:      {totals.finished}"
    yield f"  Successfully: {totals.succeeded}"
    yield f"  Failed:       {totals.failed}"
    yield f"  Disregarded:  {totals.disregarded}"
    yield ""
    yield _section("QUEUES")
    yield f" Already included size:     {totals.discovered}"
    yield "               pending:     0"
    yield ""
    yield f" All class queues map size: {c['totalQueues']}"
    yield f"             Active queues: {c['activeQueues']}"
    yield f"                    In-process: {c['inProcessQueues']}"
    yield f"                         Ready: {c['readyQueues']}"
    yield f"                       Snoozed: {c['snoozedQueues']}"
    tiers = frontier.lists.tiers
    by_tier = "; ".join(
        f"p{precedence}: {len(tiers.get(precedence, ()))}" for precedence in sorted(frontier.lists.ever)
    )
    inactive = c["inactiveQueues"] + c["ineligibleQueues"]
    yield f"           Inactive queues: {inactive} ({by_tier})"
    yield f"            Retired queues: {c['retiredQueues']}"
    yield f"          Exhausted queues: {c['exhaustedQueues']}"
    yield ""
    yield f"             Last state: {c['lastReachedState']}"
    yield _section("MANAGER THREAD")
    yield "(no thread: one timer, " + _timer(frontier, now_ms) + ")"
    yield ""
    longest = [queue for key, _ in frontier.longest() if (queue := frontier.queue(key)) is not None]
    yield _section(f"{len(longest)} LONGEST QUEUES")
    yield from _blocks("LONGEST", longest, len(longest), now_ms, len(longest))
    for name, total, queues in (
        ("IN-PROCESS", c["inProcessQueues"], _in_process(frontier)),
        ("READY", c["readyQueues"], _ready(frontier)),
        ("SNOOZED", c["snoozedQueues"], _snoozed(frontier)),
    ):
        yield ""
        yield _section(f"{name} QUEUES")
        yield from _blocks(name, queues, total, now_ms, shown)
    yield ""
    yield _section("INACTIVE QUEUES")
    for precedence, total, queues in _tiers(frontier):
        yield from _blocks(f"INACTIVE-p{precedence}", queues, total, now_ms, shown)
    yield ""
    yield _section("RETIRED QUEUES")
    yield from _blocks("RETIRED", _retired(frontier), c["retiredQueues"], now_ms, shown)


def _timer(frontier: Frontier, now_ms: int) -> str:
    wake = frontier.next_wake()
    return "not set" if wake is None else f"due in {formats.duration(max(wake - now_ms, 0))}"


def _listed(queues: Iterable[Queue | None], now_ms: int) -> Lines:
    begun = False
    for queue in queues:
        if queue is None:
            yield None
            continue
        if not begun:
            begun = True
            yield LEGEND
        yield queue_line(queue, now_ms)


def nonempty(frontier: Frontier, now_ms: int) -> Lines:
    """One line for each listed queue; ``frontier empty`` when nothing is queued."""
    if not frontier.totals.queued:
        yield "frontier empty"
        return
    for name, queues in (
        ("IN-PROCESS", _in_process(frontier)),
        ("READY", _ready(frontier)),
        ("SNOOZED", _snoozed(frontier)),
    ):
        yield ""
        yield _section(f"{name} QUEUES")
        yield from _listed(queues, now_ms)
    yield ""
    yield _section("INACTIVE QUEUES")
    for _, _, tier in _tiers(frontier):
        yield from _listed(tier, now_ms)
    yield ""
    yield _section("RETIRED QUEUES")
    yield from _listed(_retired(frontier), now_ms)


def every(frontier: Frontier, now_ms: int) -> Lines:
    """One line for each queue ever seen, in the order of their names."""
    frontier.ledger.write()
    yield LEGEND
    for name in all_names(frontier):
        queue = frontier.queue(name)
        if queue is not None:
            yield queue_line(queue, now_ms)
