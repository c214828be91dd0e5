"""Does the frontier hand out URIs as a model of a few lines does, also when its process dies at any moment?

The model keeps each queue as a sorted list and knows one rule of selection: ready before inactive, each first
come, first served. What it was when a batch was written is kept beside it: that is what the next process must
find after a crash. Both stores, few queues in memory, flushes anywhere, a clock that is set back and forth.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import open_store
from tests.frontier.world import Clock, Log, end, make

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.crawl import Store

HOSTS = st.integers(0, 4)
DELAYS = st.sampled_from([0, 0, 10, 500])
#: A session of three URIs.
BUDGET = 2
#: What a failure costs beside its URI, and the delay before another try.
PENALTY = 2
RETRY_MS = 1000
VIEW = default_view(
    "modern",
    follow="all",
    balance_replenish_amount=BUDGET,
    error_penalty_amount=PENALTY,
    retry_delay_seconds=RETRY_MS // 1000,
    max_retries=3,
)

#: Where a store is synced in no time: a crash of the model's is none of the machine's.
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

Place = tuple[int, int, str]


class Watched:
    """A store that tells of each batch of the frontier's: ``batch`` is called when one has been written."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.get, self.range, self.compact = inner.get, inner.range, inner.compact
        self.seeker, self.first = inner.seeker, inner.first
        self.batch: Any = None

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes] = (), *, sync: bool = False) -> None:
        self.inner.write(puts, deletes, sync=sync)
        # what only syncs forgets what a power failure would need, and nothing else
        if self.batch is not None and not sync:
            self.batch()

    def close(self) -> None:
        """The next process of the model opens the same store."""


class Model(RuleBasedStateMachine):
    """``queues``: host → sorted places; ``spent``: of the session; ``where``: which list a queue is on; ``saved``:
    all of it, as it was at the last batch."""

    @initialize(disk=st.sampled_from([False, False, False, True]), kept=st.sampled_from([0, 2, 1000]))
    def begin(self, disk: bool, kept: int) -> None:
        self.directory = tempfile.TemporaryDirectory(dir=QUICK) if disk else None
        self.inner = open_store(Path(self.directory.name) if self.directory else None)
        self.store = Watched(self.inner)
        self.clock, self.log, self.kept = Clock(), Log(), kept
        self.queues: dict[str, list[Place]] = {}
        self.where: dict[str, str] = {}
        self.spent: dict[str, int] = {}
        self.ready: list[str] = []
        self.inactive: list[str] = []
        self.snoozed: list[tuple[int, str]] = []
        self.working: dict[str, tuple[CrawlURI, Place]] = {}
        self.tries: dict[str, int] = {}
        self.counts_of = {"ordinal": 0, "succeeded": 0, "failed": 0, "disregarded": 0}
        self.open()

    def open(self) -> None:
        self.store.batch = None
        self.frontier, _, _ = make(
            self.store,
            clock=self.clock,
            report=self.log,
            queues_kept=self.kept,
            view=VIEW,
        )
        self.store.batch = self.save

    def save(self) -> None:
        """A batch has been written. What is in process is in its queue still."""
        queues = {key: list(queue) for key, queue in self.queues.items()}
        for key, (_, place) in self.working.items():
            queues[key] = sorted([*queues[key], place])
        self.saved = (
            queues,
            dict(self.where),
            dict(self.spent),
            list(self.snoozed),
            dict(self.counts_of),
            dict(self.tries),
        )

    def teardown(self) -> None:
        if hasattr(self, "inner"):
            self.inner.close()
        if getattr(self, "directory", None) is not None:
            self.directory.cleanup()  # type: ignore[union-attr]

    # -- the model ----------------------------------------------------------------------------------------

    def stored(self, key: str, place: Place) -> None:
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

    def take_back(self, key: str) -> CrawlURI:
        """The URI in process returns to its place."""
        curi, place = self.working.pop(key)
        self.queues[key] = sorted([*self.queues[key], place])
        return curi

    # -- what happens -------------------------------------------------------------------------------------

    @rule(host=HOSTS, directive=st.integers(1, 3))
    def add(self, host: int, directive: int) -> None:
        self.counts_of["ordinal"] += 1
        number = self.counts_of["ordinal"]
        uri = f"http://h{host}.test/{number}"
        self.stored(f"test,h{host},", (directive, number, uri))
        assert self.frontier.add([CrawlURI(uri, path="L", via="http://s.test/", directive=directive)]) == 1

    @rule(host=HOSTS, count=st.integers(30, 90))
    def add_many(self, host: int, count: int) -> None:
        for _ in range(count):
            self.add(host, 3)

    @precondition(lambda self: any(self.queues.values()))
    @rule(data=st.data())
    def add_again(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(key for key, queue in self.queues.items() if queue)))
        _, _, uri = data.draw(st.sampled_from(self.queues[key]))
        assert self.frontier.add([CrawlURI(uri, path="L", via="http://s.test/")]) == 0

    @rule()
    def take(self) -> None:
        curi = self.frontier.next(self.clock.now)
        expected = self.expected()
        if expected is None:
            assert curi is None
            return
        key, place = expected
        assert curi is not None
        assert (curi.class_key, curi.directive, curi.ordinal, curi.uri) == (key, *place)
        self.working[key] = curi, place

    @precondition(lambda self: self.working)
    @rule(
        data=st.data(),
        delay=DELAYS,
        ended=st.sampled_from([(200, "succeeded", 0), (-4, "failed", PENALTY), (-9998, "disregarded", -1)]),
    )
    def finish(self, data: st.DataObject, delay: int, ended: tuple[int, str, int]) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        code, counter, more = ended
        curi, _ = self.working.pop(key)
        self.tries.pop(curi.uri, None)
        self.spent[key] += 1 + more
        self.counts_of[counter] += 1
        self.back(key, delay)
        assert end(self.frontier, curi, code, self.clock.now, delay=delay)

    @precondition(lambda self: any(self.queues.values()))
    @rule(count=st.integers(2, 9))
    def crawl_on(self, count: int) -> None:
        """Some that come back at once: sessions end, and batches are written."""
        for _ in range(count):
            before = set(self.working)
            self.take()
            for key in set(self.working) - before:
                curi, _ = self.working.pop(key)
                self.tries.pop(curi.uri, None)
                self.spent[key] += 1
                self.counts_of["succeeded"] += 1
                self.back(key, 0)
                assert end(self.frontier, curi, 200, self.clock.now)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def try_again(self, data: st.DataObject) -> None:
        """The connection failed: another try after the retry delay, three in all."""
        key = data.draw(st.sampled_from(sorted(self.working)))
        curi, _ = self.working[key]
        self.spent[key] += 1
        self.tries[curi.uri] = self.tries.get(curi.uri, 0) + 1
        if self.tries[curi.uri] < 3:
            self.take_back(key)
            self.back(key, RETRY_MS)
            assert not end(self.frontier, curi, -2, self.clock.now)
        else:
            del self.working[key], self.tries[curi.uri]
            self.spent[key] += PENALTY
            self.counts_of["failed"] += 1
            self.back(key, 0)
            assert end(self.frontier, curi, -2, self.clock.now)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def wait(self, data: st.DataObject) -> None:
        """For a prerequisite: free of charge, and not counted as a try."""
        key = data.draw(st.sampled_from(sorted(self.working)))
        curi, _ = self.working[key]
        if curi.deferrals > 20:
            return
        self.take_back(key)
        self.back(key, 0)
        assert not end(self.frontier, curi, -50, self.clock.now)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def put_back(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        curi = self.take_back(key)
        self.back(key, 0)
        self.frontier.put_back(curi, self.clock.now)

    @precondition(lambda self: self.where)
    @rule(data=st.data())
    def retire(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(set(self.where) - set(self.working)) or ["nobody,"]))
        assert self.frontier.retire(key) == (key in self.where)
        if key not in self.where:
            return
        for line in (self.ready, self.inactive):
            if key in line:
                line.remove(key)
        self.snoozed = [(wake, name) for wake, name in self.snoozed if name != key]
        self.spent.pop(key, None)
        self.where[key] = "retired"

    @rule()
    def reconsider(self) -> None:
        order = [key for key in self.frontier.lists.retired if self.where.get(key) == "retired"]
        assert set(order) == {key for key, where in self.where.items() if where == "retired"}
        self.frontier.reconsider_retired()
        for key in order:
            self.deactivate(key)

    @rule()
    def wake(self) -> None:
        """The operator ends every snooze."""
        for _, key in sorted(self.snoozed):
            self.where[key] = "ready"
            self.ready.append(key)
        self.snoozed = []
        self.frontier.wake_all()

    @rule(ms=st.integers(1, 400))
    def time_passes(self, ms: int) -> None:
        self.clock.now += ms

    @rule()
    def flush(self) -> None:
        self.frontier.flush(self.clock.now)

    @rule()
    def reopen(self) -> None:
        """Close in good order and open again."""
        self.frontier.flush(self.clock.now)
        self.save()
        active = {key for key, where in self.where.items() if where in ("ready", "working")}
        self.crash()
        # what was active goes before what waited
        first = {key for key in active if self.queues[key]}
        assert set(self.inactive[: len(first)]) == first

    @rule()
    def crash(self) -> None:
        """The process dies; the next finds what the last batch wrote, and queues that worked take their turn anew."""
        if not hasattr(self, "saved"):
            return
        self.log.kill()
        self.working.clear()
        queues, where, spent, snoozed, counts_of, tries = self.saved
        self.queues = {key: list(queue) for key, queue in queues.items()}
        self.where, self.spent, self.counts_of, self.tries = dict(where), dict(spent), dict(counts_of), dict(tries)
        self.open()
        # equal turns are kept by the frontier alone: take over its order
        self.inactive = list(self.frontier.lists.tiers.get(3, ()))
        self.ready = []
        self.snoozed = [(wake, key) for wake, key in snoozed if wake > self.clock.now]
        asleep = {key for _, key in self.snoozed}
        for key, queue in self.queues.items():
            if key not in asleep and self.where[key] != "retired":
                self.spent.pop(key, None)
                self.where[key] = "inactive" if queue else "exhausted"
        self.save()
        assert set(self.inactive) == {key for key, where in self.where.items() if where == "inactive"}
        assert sorted(self.frontier.lists.snoozed) == sorted(self.snoozed)
        assert set(self.frontier.lists.retired) == {key for key, where in self.where.items() if where == "retired"}

    @invariant()
    def counts(self) -> None:
        if not hasattr(self, "frontier"):
            return
        totals = self.frontier.totals
        stored = {key: len(queue) + (key in self.working) for key, queue in self.queues.items()}
        assert totals.queued == sum(count for key, count in stored.items() if self.where[key] != "retired")
        assert totals.discovered == self.counts_of["ordinal"]
        assert totals.succeeded == self.counts_of["succeeded"]
        assert totals.failed == self.counts_of["failed"]
        assert totals.disregarded == self.counts_of["disregarded"]
        assert self.frontier.alive() == bool(totals.queued)
        told: Any = self.frontier.status()["queues"]
        assert sum(told[name] for name in told if name != "known") == told["known"]
        for state, word in STATES.items():
            assert told[word] == sum(where == state for where in self.where.values()), word


STATES = {
    "exhausted": "exhausted",
    "retired": "retired",
    "snoozed": "snoozed",
    "inactive": "inactive",
    "ready": "ready",
    "working": "in process",
}
#: The long test in parts, which workers share: a run of few examples takes less of each than a run of many.
PART = 500
EXAMPLES = int(os.environ.get("FRONTIER_EXAMPLES", "200"))
#: Made smaller only where somebody asks for it: that takes minutes.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, *([Phase.shrink] if "FRONTIER_SHRINK" in os.environ else [])]
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def some(examples: int) -> settings:
    return settings(
        deadline=None, max_examples=examples, stateful_step_count=50, suppress_health_check=QUIET, phases=PHASES
    )


Model.TestCase.settings = some(EXAMPLES)
TestModel = Model.TestCase


def check(examples: int = EXAMPLES, part: int | None = None) -> None:
    """Run the model. Raises what it finds. ``part``: the same examples each time for the same number."""
    if part is None:
        run_state_machine_as_test(Model, settings=some(examples))
    else:
        run_state_machine_as_test(
            seed(part)(type("Part", (Model,), {})), settings=settings(some(examples), database=None)
        )


@pytest.mark.long
@pytest.mark.parametrize("part", range(20_000 // PART))
def test_twenty_thousand_examples(part: int) -> None:
    check(PART, part)
