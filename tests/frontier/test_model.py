"""Does the frontier hand out URIs as a model of a few lines does?

The model keeps each queue as a sorted list and knows one rule of selection: ready before inactive, each first
come, first served. Both stores, few queues in memory, flushes anywhere.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.store import open_store
from tests.frontier.world import Clock, Log, end, make

HOSTS = st.integers(0, 4)
DELAYS = st.sampled_from([0, 0, 10, 500])
#: A session of three URIs.
BUDGET = 2


class Model(RuleBasedStateMachine):
    """``queues``: host → sorted places; ``spent``: of the session; ``where``: which list a queue is on."""

    @initialize(disk=st.booleans(), kept=st.sampled_from([0, 2, 1000]))
    def begin(self, disk: bool, kept: int) -> None:
        self.directory = tempfile.TemporaryDirectory() if disk else None
        self.store = open_store(Path(self.directory.name) if self.directory else None)
        self.clock, self.log, self.kept = Clock(), Log(), kept
        self.open()
        self.queues: dict[str, list[tuple[int, int, str]]] = {}
        self.where: dict[str, str] = {}
        self.spent: dict[str, int] = {}
        self.ready: list[str] = []
        self.inactive: list[str] = []
        self.snoozed: list[tuple[int, str]] = []
        self.working: dict[str, tuple[CrawlURI, tuple[int, int, str]]] = {}
        self.ordinal = 0
        self.done = 0

    def open(self) -> None:
        self.frontier, _, _ = make(
            self.store,
            clock=self.clock,
            report=self.log,
            queues_kept=self.kept,
            balance_replenish_amount=BUDGET,
        )

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
        if getattr(self, "directory", None) is not None:
            self.directory.cleanup()  # type: ignore[union-attr]

    # -- the model ----------------------------------------------------------------------------------------

    def stored(self, key: str, place: tuple[int, int, str]) -> None:
        self.queues.setdefault(key, []).append(place)
        self.queues[key].sort()
        if self.where.get(key, "exhausted") == "exhausted":
            self.deactivate(key)

    def deactivate(self, key: str) -> None:
        self.where[key] = "inactive"
        self.spent.pop(key, None)
        self.inactive.append(key)

    def expected(self) -> tuple[str, tuple[int, int, str]] | None:
        while True:
            for wake, key in sorted(self.snoozed):
                if wake <= self.clock.now:
                    self.snoozed.remove((wake, key))
                    self.where[key] = "ready"
                    self.ready.append(key)
            if not self.ready:
                if not self.inactive:
                    return None
                self.ready.append(self.inactive.pop(0))
            key = self.ready.pop(0)
            if not self.queues[key]:
                self.where[key] = "exhausted"
                self.spent.pop(key, None)
                continue
            if self.spent.setdefault(key, 0) > BUDGET:
                self.deactivate(key)
                continue
            self.where[key] = "working"
            return key, self.queues[key].pop(0)

    def back(self, key: str, delay: int) -> None:
        if delay:
            self.where[key] = "snoozed"
            self.snoozed.append((self.clock.now + delay, key))
        else:
            self.where[key] = "ready"
            self.ready.append(key)

    # -- what happens -------------------------------------------------------------------------------------

    @rule(host=HOSTS, directive=st.integers(1, 3))
    def add(self, host: int, directive: int) -> None:
        self.ordinal += 1
        uri = f"http://h{host}.test/{self.ordinal}"
        assert self.frontier.add([CrawlURI(uri, path="L", via="http://s.test/", directive=directive)]) == 1
        self.stored(f"test,h{host},", (directive, self.ordinal, uri))

    @rule(host=HOSTS, count=st.integers(30, 90))
    def add_many(self, host: int, count: int) -> None:
        for _ in range(count):
            self.add(host, 3)

    @rule()
    def add_again(self) -> None:
        if self.ordinal:
            for host in range(5):
                known = CrawlURI(f"http://h{host}.test/{self.ordinal}", path="L", via="http://s.test/")
                if known.uri in {uri for queue in self.queues.values() for _, _, uri in queue}:
                    assert self.frontier.add([known]) == 0

    @rule()
    def take(self) -> None:
        expected = self.expected()
        curi = self.frontier.next(self.clock.now)
        if expected is None:
            assert curi is None
            return
        key, place = expected
        assert curi is not None
        assert (curi.class_key, curi.directive, curi.ordinal, curi.uri) == (key, *place)
        self.working[key] = curi, place

    @precondition(lambda self: self.working)
    @rule(data=st.data(), delay=DELAYS)
    def finish(self, data: st.DataObject, delay: int) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        curi, _ = self.working.pop(key)
        assert end(self.frontier, curi, 200, self.clock.now, delay=delay)
        self.spent[key] += 1
        self.done += 1
        self.back(key, delay)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def wait(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        curi, place = self.working[key]
        if curi.deferrals > 20:
            return
        del self.working[key]
        assert not end(self.frontier, curi, -50, self.clock.now)
        self.queues[key].insert(0, place)
        self.queues[key].sort()
        self.back(key, 0)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def put_back(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        curi, place = self.working.pop(key)
        self.frontier.put_back(curi, self.clock.now)
        self.queues[key].append(place)
        self.queues[key].sort()
        self.back(key, 0)

    @rule(ms=st.integers(1, 400))
    def time_passes(self, ms: int) -> None:
        self.clock.now += ms

    @rule()
    def flush(self) -> None:
        self.frontier.flush(self.clock.now)

    @rule()
    def reopen(self) -> None:
        """Close in good order and open again: what was active goes before what waited."""
        self.frontier.flush(self.clock.now)
        before = {key: place for key, (_, place) in self.working.items()}
        self.working.clear()
        for key, place in before.items():
            self.queues[key].append(place)
            self.queues[key].sort()
        self.open()
        # equal turns are kept by the frontier alone: take over its order
        self.inactive = list(self.frontier.lists.tiers.get(3, ()))
        active = {key for key, where in self.where.items() if where in ("ready", "working") and self.queues[key]}
        assert set(self.inactive[: len(active)]) == active
        self.ready = []
        asleep = {key for wake, key in self.snoozed if wake > self.clock.now}
        self.snoozed = [(wake, key) for wake, key in self.snoozed if key in asleep]
        for key, queue in self.queues.items():
            if key not in asleep:
                self.spent.pop(key, None)
                self.where[key] = "inactive" if queue else "exhausted"
        assert set(self.inactive) == {key for key, where in self.where.items() if where == "inactive"}

    @invariant()
    def counts(self) -> None:
        if not hasattr(self, "frontier"):
            return
        totals = self.frontier.totals
        assert totals.queued == sum(map(len, self.queues.values())) + len(self.working)
        assert totals.discovered == self.ordinal
        assert totals.succeeded == self.done
        assert self.frontier.alive() == bool(totals.queued)
        told: Any = self.frontier.status()["queues"]
        assert sum(told[name] for name in told if name != "known") == told["known"]


Model.TestCase.settings = settings(deadline=None, max_examples=60, stateful_step_count=60)
TestModel = Model.TestCase
