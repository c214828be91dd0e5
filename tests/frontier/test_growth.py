"""Are a queue's counts right after a crash, though its record lags behind?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.growth import SAVED
from heritrix_scrapy.frontier.queue import unpack_record
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.frontier.status import status_of_store
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Clock

if TYPE_CHECKING:
    from heritrix_scrapy.crawl import Store

QUEUES = SAVED + 50
#: So many URIs join before records are written.
WAIT = 1000


def make(store: Store, clock: Clock) -> Frontier:
    view = default_view(operator_contact_url="http://operator.test/", follow="all", surts=["http://(test,"])
    settings = Settings(view)
    scope = from_settings(settings)
    frontier = Frontier(
        store,
        settings,
        decide=scope.accepts,
        recall=scope.recall,
        hosts=Hosts(store.get),
        clock=clock,
        queues_kept=20,
        records_wait=WAIT,
    )
    frontier.open()
    return frontier


def visit(frontier: Frontier, clock: Clock, links: list[str]) -> None:
    clock.now += 60_000
    curi = frontier.next(clock.now)
    assert curi is not None
    curi.status, curi.began_ms, curi.ended_ms = 200, clock.now, clock.now
    curi.outlinks = [Outlink(link, "L", "a/@href") for link in links]
    frontier.finish(curi, clock.now)
    frontier.flush(clock.now)


def copy(store: MemoryStore) -> MemoryStore:
    other = MemoryStore()
    other.write(store.range(b""))
    return other


def counted(store: MemoryStore) -> Counter[int]:
    return Counter(int.from_bytes(key[1:5], "big") for key, _ in store.range(keys.QUEUED, keys.after(keys.QUEUED)))


def test_counts_after_a_crash_at_any_batch() -> None:
    store, clock = MemoryStore(), Clock()
    frontier = make(store, clock)
    frontier.add([seed(f"http://h{number}.test/") for number in range(QUEUES)])
    frontier.flush(clock.now)
    rows: list[int] = []
    lagged = made = 0
    while made < 3 * WAIT:
        visit(frontier, clock, [f"http://h{at % QUEUES}.test/{at}" for at in range(made, made + 170)])
        made += 170
        crashed = copy(store)
        real = counted(crashed)
        records = [unpack_record(row) for _, row in crashed.range(keys.QUEUE, keys.after(keys.QUEUE))]
        lagged += any(record.count != real[record.number] for record in records)
        rows.append(sum(1 for _ in crashed.range(keys.GROWTH, keys.after(keys.GROWTH))))
        assert status_of_store(crashed, clock.now)["queued"] == sum(real.values())
        recovery = make(crashed, clock)
        assert recovery.totals.queued == sum(real.values()) == frontier.totals.queued
        after = [unpack_record(row) for _, row in crashed.range(keys.QUEUE, keys.after(keys.QUEUE))]
        assert {record.number: record.count for record in after if record.count} == dict(real)
        assert {record.number: record.tally.scheduled for record in after} == {
            queue.record.number: queue.record.tally.scheduled
            for queue in map(frontier.queue, [f"test,h{number}," for number in range(QUEUES)])
            if queue is not None
        }
        assert not list(crashed.range(keys.GROWTH, keys.after(keys.GROWTH)))
    assert lagged
    # rows go when their records were written
    assert min(rows[2:]) < max(rows)
    frontier.close()
    real = counted(store)
    for _, row in store.range(keys.QUEUE, keys.after(keys.QUEUE)):
        record = unpack_record(row)
        assert record.count == real[record.number]


def test_a_record_that_joins_the_batch_counts_once() -> None:
    store, clock = MemoryStore(), Clock()
    frontier = make(store, clock)
    frontier.add([seed("http://a.test/")])
    # the queue's own record is in each of these batches, and a row names it too
    for number in range(3):
        visit(frontier, clock, [f"http://a.test/{number}/{at}" for at in range(3)])
    crashed = copy(store)
    assert list(crashed.range(keys.GROWTH, keys.after(keys.GROWTH)))
    again = make(crashed, clock)
    assert again.totals.queued == sum(counted(crashed).values()) == 7


def test_a_forgotten_uri_is_new_again() -> None:
    store, clock = MemoryStore(), Clock()
    frontier = make(store, clock)
    frontier.add([seed("http://a.test/")])
    visit(frontier, clock, ["http://a.test/x", "http://a.test/Y?q", "http://a.test/x"])
    assert frontier.totals.discovered == 3
    for _ in range(2):
        assert frontier.seen.forget("http://a.test/x")
        assert frontier.seen.forget("http://a.test/y?q")
        visit(frontier, clock, ["http://a.test/x", "http://a.test/Y?q"])
        assert frontier.totals.discovered == 3
    assert frontier.seen.forget_authority("http://a.test/") == 3
    visit(frontier, clock, ["http://a.test/x", "http://a.test/Y?q"])
    assert frontier.totals.discovered == 2


def test_what_an_earlier_process_saw_is_not_new() -> None:
    store, clock = MemoryStore(), Clock()
    frontier = make(store, clock)
    frontier.add([seed("http://a.test/")])
    visit(frontier, clock, [f"http://a.test/{at}" for at in range(50)])
    again = make(copy(store), clock)
    visit(again, clock, [f"http://a.test/{at}" for at in range(60)])
    assert again.totals.discovered == 61
