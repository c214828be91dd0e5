"""Is what several queues need first fetched once, and does nobody wait for ever?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.siblings import LOOK_AGAIN_MS
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Clock, end, make

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.core import Frontier

PORTS = ["http://a.test/", "http://a.test:8001/", "http://a.test:8002/"]
NEED = "dns:a.test"


def waiting(profile: str = "modern", store: MemoryStore | None = None) -> tuple[Frontier, Clock]:
    """Three queues need the same address; the first one's is queued, and out."""
    frontier, clock, _ = make(store or MemoryStore(), profile)
    frontier.add([CrawlURI(uri, path="L", via="http://s.test/") for uri in PORTS])
    out = [frontier.next(clock.now) for _ in PORTS]
    for curi in out:
        assert curi is not None
        curi.prerequisite = NEED
        assert not end(frontier, curi, status.DEFERRED, clock.now)
    return frontier, clock


def states(frontier: Frontier) -> list[State]:
    keys = ("test,a,", "test,a,#8001", "test,a,#8002")
    return [State(frontier.queue(key).record.state) for key in keys]  # type: ignore[union-attr]


def test_one_queue_fetches_for_all() -> None:
    frontier, clock = waiting()
    assert states(frontier) == [State.READY, State.SNOOZED, State.SNOOZED]
    first = frontier.next(clock.now)
    assert first is not None
    assert first.uri == NEED
    assert frontier.next(clock.now) is None
    record = frontier.queue("test,a,#8001").record  # type: ignore[union-attr]
    assert frontier.waits_for("test,a,#8001", record.wake_ms) == f"{NEED}, which queue test,a, fetches"
    assert end(frontier, first, 1, clock.now, delay=3000)
    # the first one rests after its fetch, the others have nothing to rest from
    assert states(frontier) == [State.SNOOZED, State.READY, State.READY]
    fetched = [frontier.next(clock.now) for _ in range(3)]
    assert [(curi.uri, curi.attempts, curi.deferrals) for curi in fetched if curi] == [
        (PORTS[1], 0, 0),
        (PORTS[2], 0, 0),
    ]


def test_heritrix_has_each_fetch_its_own() -> None:
    frontier, clock = waiting("heritrix")
    found = [frontier.next(clock.now) for _ in range(3)]
    assert [curi.uri for curi in found if curi] == [NEED] * 3


def test_who_waits_for_what_is_gone_fetches_it() -> None:
    """Its queue is retired, or it was deleted: who slept for it wakes and has it queued again."""
    for gone in ("retire", "forget"):
        frontier, clock = waiting()
        if gone == "retire":
            frontier.retire("test,a,")
            clock.now += LOOK_AGAIN_MS
        else:
            queue = frontier.queues.get("test,a,")
            assert queue is not None
            key, row = queue.heads[0]
            curi = frontier.unpack(queue, key, row)
            curi.status = status.DELETED_BY_USER
            frontier.strike(queue, key, curi)
        uris = []
        while (curi := frontier.next(clock.now)) is not None:  # type: ignore[assignment]
            uris.append(curi.uri)
            if curi.uri != NEED and NEED not in uris:
                curi.prerequisite = NEED
                end(frontier, curi, status.DEFERRED, clock.now)
            else:
                end(frontier, curi, 200, clock.now)
        assert uris.count(NEED) == 1, gone
        assert uris[-1] in PORTS


def test_a_restart_forgets_nobody() -> None:
    store = MemoryStore()
    frontier, clock = waiting(store=store)
    frontier.flush(clock.now)
    again, clock, _ = make(store, clock=clock)
    first = again.next(clock.now)
    assert first is not None
    assert first.uri == NEED
    end(again, first, 1, clock.now)
    clock.now += LOOK_AGAIN_MS
    assert {curi.uri for _ in PORTS if (curi := again.next(clock.now))} == set(PORTS)


def test_a_politeness_rest_is_not_cut_short() -> None:
    """A queue that woke by its time, fetched and rests now does so when what it once slept for comes."""
    frontier, clock = waiting()
    first = frontier.next(clock.now)
    clock.now += LOOK_AGAIN_MS
    for _ in range(2):
        other = frontier.next(clock.now)
        assert other is not None
        end(frontier, other, 200, clock.now, delay=5000)
    assert first is not None
    end(frontier, first, 1, clock.now)
    assert states(frontier)[1:] == [State.SNOOZED, State.SNOOZED]


def test_prerequisites_do_not_wait_for_each_other() -> None:
    frontier, clock = waiting()
    first = frontier.next(clock.now)
    assert first is not None
    first.uri = "http://a.test/login"
    first.is_prerequisite = True
    first.prerequisite = "http://a.test/robots.txt"
    assert not frontier._siblings.fetched_elsewhere(first)
