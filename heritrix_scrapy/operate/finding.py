"""How far is the crawl on a JOBDIR, running or stopped? Of a stopped one the store is read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.frontier.status import status_of_store, tallies_of_store
from heritrix_scrapy.model.steering import PROTOCOL
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.life import End, State, description
from heritrix_scrapy.operate.numbers import model
from heritrix_scrapy.operate.record import stands
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    from pathlib import Path


def find(directory: Path, name: str = "") -> dict[str, Any]:
    """The status of the crawl on a JOBDIR; ``name``: of a stopped one.

    Raises ControlError or StoreError.
    """
    try:
        return ask(directory, {"do": "status"})
    except ControlError as refused:
        if not (directory / "frontier" / "CURRENT").exists():
            raise ControlError(f"{directory} is no JOBDIR of an archival crawl") from refused
    return stopped(directory, name)


def stopped(directory: Path, name: str = "") -> dict[str, Any]:
    """The status of a stopped one. Raises StoreError or ConfigurationError."""
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
