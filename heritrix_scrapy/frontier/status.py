"""How far is the crawl, and what does it wait for? As a dict, for the control socket and the status command."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import msgspec

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.growth import Joined
from heritrix_scrapy.frontier.queue import QueueRecord, unpack_record
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.totals import Totals
from heritrix_scrapy.model.status import DEFERRED, Retry, lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heritrix_scrapy.crawl import Store

#: Waiting queues shown.
SHOWN = 20
#: Answers of a server that wants to be left alone.
BUSY = frozenset({429, 503})


def status_of(
    totals: Totals, by_state: Mapping[State, int], waiting: Iterable[tuple[int, str, QueueRecord]], now_ms: int
) -> dict[str, Any]:
    """``waiting``: (wake time, class key, record) of snoozed queues."""
    return {
        "queued": totals.queued,
        "in process": by_state[State.IN_PROCESS],
        "succeeded": totals.succeeded,
        "failed": totals.failed,
        "disregarded": totals.disregarded,
        "retried": totals.retried,
        "discovered": totals.discovered,
        "out of scope": totals.rejected,
        "to be fetched again": totals.future,
        "given way to the spider": totals.superseded,
        "suspected traps": totals.suspected_traps,
        "could not be queued": totals.unqueuable,
        "queues": {
            "known": totals.queues,
            **{state.name.lower().replace("_", " "): by_state[state] for state in State},
        },
        "waiting": [
            {
                "queue": class_key,
                "uris": record.count,
                "seconds": round(max(wake_ms - now_ms, 0) / 1000, 1),
                "why": why(record),
            }
            for wake_ms, class_key, record in nsmallest(SHOWN, waiting, key=lambda row: row[:2])
        ],
    }


def why(record: QueueRecord) -> str:
    """What a snoozed queue waits for."""
    if record.last_status == DEFERRED:
        return "what another queue fetches first"
    row = lookup(record.last_status)
    if row.retry is Retry.LATER:
        return f"another try after {row.label}"
    if record.last_status in BUSY:
        return f"the server, which answered {record.last_status}"
    return "politeness"


def totals_of_store(store: Store) -> Totals:
    """The counters of a stopped crawl."""
    row = store.get(keys.STATE)
    return Totals() if row is None else msgspec.msgpack.decode(row, type=Totals)


def tallies_of_store(store: Store) -> dict[str, int]:
    """The reports' counters of a stopped crawl."""
    start = len(keys.TALLY)
    rows = store.range(keys.TALLY, keys.after(keys.TALLY))
    return {key[start:].decode("utf-8", "surrogatepass"): int(value) for key, value in rows}


def status_of_store(store: Store, now_ms: int) -> dict[str, Any]:
    """The same, of a stopped crawl; nothing is in process there."""
    totals = totals_of_store(store)
    by_state = dict.fromkeys(State, 0)
    longest = -1
    waiting: list[tuple[int, str, QueueRecord]] = []
    joined = Joined(store)
    for key, value in store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        record = unpack_record(value)
        joined.added(record)
        longest = max(longest, record.count)
        state = State(record.state)
        if state in (State.READY, State.IN_PROCESS):
            state = State.INACTIVE
        elif state is State.SNOOZED:
            if record.wake_ms > now_ms:
                waiting.append((record.wake_ms, key[1:].decode("utf-8", "replace"), record))
            else:
                state = State.INACTIVE if record.count else State.EXHAUSTED
        by_state[state] += 1
    return {**status_of(totals, by_state, waiting, now_ms), "longest": longest}
