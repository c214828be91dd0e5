"""How far is the crawl on a JOBDIR? The status of a running one from its socket, of a stopped one from its store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.frontier.status import status_of_store, tallies_of_store
from heritrix_scrapy.model.errors import StoreInUse
from heritrix_scrapy.model.steering import PROTOCOL
from heritrix_scrapy.operate.control import ControlError, NotRunning, ask
from heritrix_scrapy.operate.life import End, State, description
from heritrix_scrapy.operate.numbers import model
from heritrix_scrapy.operate.record import stands
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Seconds for which a store that is in use is waited for, and between two tries.
PATIENCE = 10.0
AGAIN = 0.1


def find(directory: Path, name: str = "") -> dict[str, Any]:
    """The status of the crawl on a JOBDIR, running or stopped; ``name``: of a stopped one.

    Raises ControlError or StoreError.
    """

    def asked() -> dict[str, Any]:
        try:
            return ask(directory, {"do": "status"})
        except NotRunning:
            return of_stopped(directory, name)

    return patiently(asked)


def patiently(do: Callable[[], dict[str, Any]], seconds: float = PATIENCE) -> dict[str, Any]:
    """Do that again, for so long, while somebody has the store open: a crawl that begins holds it before it answers,
    and a command is through in moments. Raises what it raises, StoreInUse at last."""
    end = time.monotonic() + seconds
    while True:
        try:
            return do()
        except StoreInUse:
            if time.monotonic() >= end:
                raise
        time.sleep(AGAIN)


def of_stopped(directory: Path, name: str = "") -> dict[str, Any]:
    """The status of a crawl that does not run. Raises ControlError when there is none, StoreError."""
    if not (directory / "frontier" / "CURRENT").exists():
        raise ControlError(f"{directory} is no JOBDIR of an archival crawl")
    store = open_store(directory / "frontier", migrate=migrate)
    try:
        frontier = status_of_store(store, int(time.time() * 1000))
        tallies = tallies_of_store(store)
    finally:
        store.close()
    answer = {"protocol": PROTOCOL, **told(directory), "frontier": frontier}
    return {**answer, "job": model(directory, answer, tallies, name=name, running=False)}


def told(directory: Path) -> dict[str, Any]:
    """What a job whose crawl does not run has come to."""
    record = stands(directory)
    return {
        "state": record.state,
        "end": record.end,
        "description": description(State(record.state), End[record.end], alive=False),
        "reason": record.reason or None,
        "jobdir": str(directory),
        "launch": record.launch,
        "launches": record.launches,
        "started_ms": record.started_ms,
        "ended_ms": record.ended_ms,
        "elapsed_ms": record.ran_ms,
        "alerts": record.alerts,
        "checkpoint": record.checkpoint or None,
    }
