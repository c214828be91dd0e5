"""Does anything get lost, doubled or stuck when operators steer a crawl that is killed again and again?

Random operations between the crawl's own turns, the store dying at random writes, the clock jumping by up to a day. At
the end all that was ever queued has come to an end, each counter is borne out by the rows, and nothing waits.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.looking import OperationError
from heritrix_scrapy.frontier.operations import Operations
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Clock, Killed, Log, MortalStore, UniformSettings, end, make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier

HOSTS = [f"h{number}.test" for number in range(4)]
DAY = 86_400_000
OPERATIONS = ["delete", "drop", "retire", "reconsider", "wake", "force", "import", "export", "queues", "urls", "report"]


class Steered:
    """One crawl through many processes."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random, self.folder = Random(seed), folder
        self.store, self.clock, self.log = MemoryStore(), Clock(), Log()
        profile = self.random.choice(["modern", "modern", "heritrix"])
        self.profile = profile
        self.settings: dict[str, Any] = {
            "max_retries": 3,
            "queue_total_budget": self.random.choice([-1, -1, 30]),
            "balance_replenish_amount": self.random.choice([2, 3000]),
            "queue_precedence_policy": self.random.choice(["Base", "HighestUri", "SuccessCounts"]),
            "uri_precedence_policy": self.random.choice(["Cost", "Hops"]),
            "preference_depth_hops": self.random.choice([-1, -1, 0, 1]),
            "parallel_queues": self.random.choice([1, 3]),
        }
        self.known: set[str] = set()
        self.ends: Counter[str] = Counter()
        self.kills = self.next_number = 0
        self.birth()

    def birth(self) -> None:
        self.mortal = MortalStore(self.store, torn=self.random.random() < 0.5)
        self.frontier, _, _ = make(self.mortal, self.profile, clock=self.clock, report=self.log, **self.settings)
        # from now on: an opening that dies leaves the store as it was
        self.mortal.lives = self.random.randrange(3, 60)
        self.operations = Operations(
            self.frontier,
            UniformSettings(default_view(self.profile, follow="all", **self.settings)),
            self.clock,
            decide=lambda curi: "/no" not in curi.uri,
        )
        self.out: list[CrawlURI] = []
        self.works: list[Work] = []

    def fresh(self, count: int) -> list[str]:
        made = []
        for _ in range(count):
            self.next_number += 1
            part = self.random.choice(["a/", "b/", "", "no/"])
            made.append(f"http://{self.random.choice(HOSTS)}/{part}{self.next_number}")
        return made

    def turn(self) -> None:
        """One step of the crawl, or of whoever steers it."""
        random, now = self.random, self.clock.now
        step = random.random()
        if step < 0.35:
            if (curi := self.frontier.next(now)) is not None:
                assert curi.class_key not in {other.class_key for other in self.out}, "two of one queue"
                self.out.append(curi)
        elif step < 0.65 and self.out:
            self.finish(self.out.pop(random.randrange(len(self.out))))
        elif step < 0.75:
            self.clock.now += random.choice([0, 10, 5_000, 900_000])
            if random.random() < 0.05:
                self.clock.now += random.choice([-DAY, DAY])
        elif step < 0.8:
            self.frontier.add(
                [CrawlURI(uri, path="L", via="http://s.test/") for uri in self.fresh(random.randrange(40))]
            )
        elif step < 0.9:
            self.steer()
        elif self.works:
            work = self.works[random.randrange(len(self.works))]
            left = iter([False] * random.randrange(3))
            self.go_on(work, lambda: next(left, True))
        else:
            self.frontier.flush(now)

    def finish(self, curi: CrawlURI) -> None:
        code = self.random.choice([200, 200, 200, 404, -2, -4, status.DEFERRED, -9998])
        if code == status.DEFERRED and curi.path[-1:] != "P":
            curi.prerequisite = f"dns:{curi.host}"
        elif code == status.DEFERRED:
            code = 1
        if self.random.random() < 0.02:
            curi.reschedule_at = self.clock.now + 1000
        links = self.fresh(self.random.randrange(4)) if code == 200 and self.next_number < 600 else []
        end(self.frontier, curi, code, self.clock.now, *links, delay=self.random.choice([0, 0, 500, 30_000]))

    def steer(self) -> None:
        random = self.random
        name = random.choice(OPERATIONS)
        asked: dict[str, Any] = {"do": name}
        if name in ("delete", "retire", "reconsider", "wake"):
            asked["queue"] = random.choice([".*", "test,h1,", r"test,h[02],.*"])
            asked["count_only"] = random.random() < 0.2
        if name == "delete":
            asked |= {"uri": random.choice([r".*7", ".*/a/.*", ".*"]), "forget": random.random() < 0.3}
        elif name == "force":
            asked |= {"uri": f"http://h1.test/{random.randrange(600)}", "now": random.random() < 0.5}
        elif name == "import":
            file = self.folder / f"{random.randrange(3)}.txt"
            if not file.exists():
                file.write_text("\n".join([*self.fresh(30), "bad line", "\0\xff", "http://", "F+ x", "{", "# note"]))
            asked |= {"file": str(file), "force": random.random() < 0.3}
        elif name == "export":
            asked |= {"file": str(self.folder / "out"), "format": random.choice(["uris", "json", "recover"])}
        try:
            answer = self.operations.perform(asked)
        except OperationError:
            return
        if isinstance(answer, Work):
            self.works.append(answer)

    def go_on(self, work: Work, enough: Callable[[], bool]) -> None:
        try:
            over = work.run(enough)
        except Refused:
            over = True  # two write to one file
        if over:
            self.works.remove(work)

    def live(self, turns: int) -> None:
        for _ in range(turns):
            try:
                self.turn()
            except Killed:
                self.kills += 1
                self.log.kill()
                self.birth()

    def drain(self) -> None:
        """No more steering, no more trouble: to the end."""
        self.mortal.lives = 1 << 60
        for curi in self.out:
            end(self.frontier, curi, 200, self.clock.now)
        while self.works:
            self.go_on(self.works[0], lambda: False)
        self.frontier.reconsider_retired()
        for _ in range(100_000):
            curi = self.frontier.next(self.clock.now)
            if curi is not None:
                end(self.frontier, curi, 200, self.clock.now)
                continue
            wake = self.frontier.next_wake()
            if wake is None:
                break
            self.clock.now = max(wake, self.clock.now)
        self.frontier.flush(self.clock.now)


def borne_out(frontier: Frontier, store: MemoryStore) -> None:
    """Counters, states and rows say the same."""
    rows: Counter[int] = Counter()
    for key, _ in store.range(keys.QUEUED, keys.after(keys.QUEUED)):
        rows[int.from_bytes(key[1:5], "big")] += 1
    states: Counter[State] = Counter()
    queued = 0
    for key, _ in store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        queue = frontier.queue(key[1:].decode())
        assert queue is not None
        record = queue.record
        assert record.count == rows[record.number], (queue.class_key, record.count, rows[record.number])
        states[State(record.state)] += 1
        queued += record.count if record.state != State.RETIRED else 0
    assert frontier.totals.queued == queued
    assert {state: count for state, count in frontier.queues.by_state.items() if count} == dict(states)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 400))])
def test_steered_and_killed(seed: int, tmp_path: Path) -> None:
    crawl = Steered(seed, tmp_path)
    crawl.live(700)
    crawl.drain()
    borne_out(crawl.frontier, crawl.store)
    budget = crawl.settings["queue_total_budget"]
    assert not crawl.frontier.alive()
    if budget < 0:
        left = [row for row, _ in crawl.store.range(keys.QUEUED, keys.after(keys.QUEUED))]
        assert left == []
        states = crawl.frontier.queues.by_state
        assert states[State.EXHAUSTED] == sum(states.values())
    assert crawl.frontier.totals.future == 0
