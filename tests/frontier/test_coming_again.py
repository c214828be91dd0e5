"""Does a URI come again when the server, a fixed time or a policy says so, and only then?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier.futures import RETURNED
from heritrix_scrapy.frontier.rescheduling import Rescheduling, wanted
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import MemoryStore, open_store
from tests.frontier.world import Clock, UniformSettings, end, make

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier

URI = "http://busy.test/"


def busy(frontier: Frontier, clock: Clock, code: int, seconds: int) -> CrawlURI:
    """The next URI is answered by a server that wants to be asked again later."""
    curi = frontier.next(clock.now)
    assert curi is not None
    frontier._finishing._hosts.server("busy.test").retry_at_ms = clock.now + seconds * 1000
    curi.annotate("ofThisAnswer")
    end(frontier, curi, code, clock.now)
    return curi


def test_what_a_server_asks_back_for_waits_and_costs_no_attempt() -> None:
    frontier, clock, log = make(MemoryStore(), max_retries=3)
    frontier.add([seed(URI)])
    for number in range(3):
        busy(frontier, clock, 503 if number else 429, 60)
        assert frontier.next(clock.now + 59_999) is None
        assert frontier.alive()
        clock.now += 60_000
    last = busy(frontier, clock, 503, 60)
    # each answer has its line, and what was said of one is not said of the next
    assert log.ends == [(URI, 429, "ofThisAnswer"), *[(URI, 503, "ofThisAnswer")] * 3]
    assert (last.attempts, frontier.totals.succeeded, frontier.totals.retried) == (1, 1, 3)
    assert not frontier.alive()


def test_the_wait_survives_a_kill() -> None:
    store = MemoryStore()
    frontier, clock, _ = make(store)
    frontier.add([seed(URI)])
    busy(frontier, clock, 503, 3600)
    frontier.ledger.write()
    again, _, _ = make(store, clock=clock)
    assert again.next(clock.now + 3_599_000) is None
    assert again.next(clock.now + 3_600_000) is not None


def test_a_clock_that_is_set_back_adds_no_day_to_the_pause() -> None:
    """The pause that a server asked for binds its other pages too, for as long as it was to last."""
    frontier, clock, _ = make(MemoryStore())
    frontier.add([seed(URI), seed(URI + "2")])
    server = frontier._finishing._hosts.server("busy.test")
    server.retry_at_ms, server.retry_ms = clock.now + 60_000, 60_000
    clock.now -= 86_400_000
    for _ in range(2):
        curi = frontier.next(clock.now)
        assert curi is not None
        end(frontier, curi, 200, clock.now)
        clock.now += 60_000
    assert frontier.next(clock.now) is None
    assert server.pause_left(clock.now) == 0
    assert not frontier.alive()


def test_heritrix_and_answers_without_a_time_end_at_once() -> None:
    for profile, seconds in (("heritrix", 60), ("modern", 0)):
        frontier, clock, log = make(MemoryStore(), profile)
        frontier.add([seed(URI)])
        busy(frontier, clock, 503, seconds)
        assert (len(log.ends), frontier.totals.succeeded) == (1, 1)


def again_after(seconds: int, policy: Any = None) -> tuple[Frontier, Clock]:
    clock = Clock()
    settings = UniformSettings(default_view(reschedule_delay_seconds=seconds))
    listener = Rescheduling(settings, clock, policy)
    frontier, _, _ = make(MemoryStore(), clock=clock, before_finish=[listener], reschedule_delay_seconds=seconds)
    frontier.add([seed("http://a.test/")])
    return frontier, clock


def fetched(frontier: Frontier, clock: Clock, code: int = 200) -> bool:
    curi = frontier.next(clock.now)
    return curi is not None and end(frontier, curi, code, clock.now)


def test_everything_comes_again_after_a_fixed_time() -> None:
    frontier, clock = again_after(100)
    for code in (200, -4, -5000):
        assert fetched(frontier, clock, code)
        assert frontier.alive()
        clock.now += 99_999
        assert frontier.next(clock.now) is None
        clock.now += 1
    assert fetched(frontier, clock)
    assert frontier.totals.future == 1


def test_prerequisites_do_not_come_again() -> None:
    curi = CrawlURI("dns:a.test", path="P", via="http://a.test/")
    Rescheduling(UniformSettings(default_view(reschedule_delay_seconds=100)), Clock())(curi)
    assert curi.reschedule_at == -1


def test_a_policy_of_ones_own_decides() -> None:
    class OnlyOnce:
        def next_fetch(self, curi: CrawlURI, now_ms: int, settings: Any) -> int | None:
            return now_ms + 5000 if curi.status == 404 else None

    frontier, clock = again_after(-1, OnlyOnce())
    assert fetched(frontier, clock, 404)
    clock.now += 5001
    assert fetched(frontier, clock, 200)
    assert not frontier.alive()
    assert not wanted(UniformSettings(default_view()))
    assert wanted(UniformSettings(default_view(reschedule_delay_seconds=1)))


@pytest.mark.parametrize("answer", [float("inf"), float("nan"), "tomorrow", 1 << 70, [1]])
def test_a_time_that_is_none_keeps_no_crawl_alive(answer: Any) -> None:
    class Odd:
        def next_fetch(self, curi: CrawlURI, now_ms: int, settings: Any) -> Any:
            return answer

    frontier, clock = again_after(-1, Odd())
    assert fetched(frontier, clock)
    frontier.flush(clock.now)
    later = answer == 1 << 70
    assert frontier.alive() is later
    assert frontier.totals.future == later
    assert frontier.next(clock.now) is None
    assert frontier.status()["queues"]["in process"] == 0


def test_a_time_may_have_a_fraction() -> None:
    class Soon:
        def next_fetch(self, curi: CrawlURI, now_ms: int, settings: Any) -> Any:
            return now_ms + 0.5 * 1000

    frontier, clock = again_after(-1, Soon())
    for _ in range(3):
        assert fetched(frontier, clock)
        assert frontier.next_wake() == clock.now + 500
        clock.now += 500


@pytest.mark.parametrize("disk", [False, True])
def test_very_many_that_are_due_come_back_some_at_a_time(tmp_path: Path, disk: bool) -> None:
    """A crawl that goes on after a week: a turn of the loop takes few of them, and walks over none that are gone."""
    count = 3 * RETURNED + 7
    store, clock = open_store(tmp_path / "frontier" if disk else None), Clock()
    listener = Rescheduling(UniformSettings(default_view()), clock)
    parts: dict[str, Any] = {"clock": clock, "before_finish": [listener], "reschedule_delay_seconds": 100}
    frontier, _, _ = make(store, **parts.copy())
    uris = {f"http://h{number % 50}.test/{number}" for number in range(count)}
    frontier.add([CrawlURI(uri, path="L", via="http://s.test/") for uri in uris])
    while fetched(frontier, clock):
        clock.now += 1
    assert frontier.totals.future == count
    frontier.flush(clock.now)
    clock.now += 7 * 86_400_000
    again, _, _ = make(store, **parts)
    came: list[str] = []
    left = again.totals.future
    while (curi := again.next(clock.now)) is not None:
        assert left - again.totals.future <= RETURNED
        left = again.totals.future
        came.append(curi.uri)
        end(again, curi, 200, clock.now)
    assert set(came) == uris
    assert len(came) == count
    # those that are to come later wait in the same place
    assert again.totals.future == count
    assert again.next_wake() == clock.now + 100_000
    clock.now += 100_000
    assert again.next(clock.now) is not None
    again.close()
