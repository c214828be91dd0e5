"""What does the frontier do with what comes in and comes back, beyond the vectors?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.ledger import FLUSH_MS, FLUSH_URIS, SYNC_MS
from heritrix_scrapy.frontier.queue import CHUNK, pack_record, unpack_record
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.status import status_of_store
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Archive, Clock, Log, end, make

if TYPE_CHECKING:
    from collections.abc import Iterable

A, B = "http://a.test/", "http://b.test/"


def link(uri: str, path: str = "L", via: str = A) -> CrawlURI:
    return CrawlURI(uri, path=path, via=via)


def asked(uri: str, **identity: Any) -> CrawlURI:
    curi = CrawlURI(uri, path="" if identity.get("seed") else "L", **identity)
    curi.stored_request = b"blob"
    return curi


def drain(frontier: Any, clock: Clock, code: int = 200) -> list[str]:
    order = []
    while (curi := frontier.next(clock.now)) is not None:
        order.append(curi.uri)
        end(frontier, curi, code, clock.now)
    return order


# -- the spider's own requests -----------------------------------------------------------------------------


def test_a_spiders_request_is_filtered_by_fingerprint_only() -> None:
    frontier, clock, _ = make()
    frontier.add([link(A + "page")])
    assert frontier.add_request(asked(A + "page"), b"GET page", dont_filter=False)
    assert not frontier.add_request(asked(A + "page"), b"GET page", dont_filter=False)
    assert frontier.add_request(asked(A + "page"), b"POST page", dont_filter=False)
    assert frontier.add_request(asked(A + "page"), b"GET page", dont_filter=True)
    # and the extractor's entry for it gives way
    taken = []
    while (curi := frontier.next(clock.now)) is not None:
        assert curi.spider_request
        assert curi.stored_request == b"blob"
        taken.append(curi.uri)
        end(frontier, curi, 200, clock.now, A + "page")
    assert taken == [A + "page"] * 3
    assert frontier.totals.superseded == 1
    assert not frontier.alive()


def test_forced_entries_do_not_give_way() -> None:
    frontier, clock, _ = make()
    frontier.add([CrawlURI(A + "robots.txt", path="P", via=A, forced=True)])
    frontier.add_request(asked(A + "robots.txt"), b"1", dont_filter=False)
    assert len(drain(frontier, clock)) == 2


def test_an_unfiltered_request_is_not_remembered() -> None:
    frontier, _, _ = make()
    assert frontier.add_request(asked(A), b"1", dont_filter=True)
    assert frontier.add_request(asked(A), b"1", dont_filter=False)
    assert frontier.add_request(asked(A), b"1", dont_filter=True)
    assert not frontier.add_request(asked(A), b"1", dont_filter=False)


def test_what_start_asked_for_is_known_on_a_resume() -> None:
    frontier, _, _ = make()
    assert frontier.add_request(asked(B, seed=True), b"2", dont_filter=True)
    assert frontier.add_request(asked(B, seed=True), b"2", dont_filter=True)
    assert not frontier.add_request(asked(B, seed=True), b"2", dont_filter=True, resumed=True)
    assert frontier.add_request(asked(A, seed=True), b"1", dont_filter=True, resumed=True)


def test_a_spiders_request_is_retried_by_scrapy_only() -> None:
    frontier, clock, log = make()
    frontier.add_request(asked(A), b"1", dont_filter=False)
    curi = frontier.next(clock.now)
    assert curi is not None
    assert end(frontier, curi, -2, clock.now)
    assert log.ends == [(A, -2, "")]


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_priority_orders_a_queue(profile: str) -> None:
    frontier, clock, _ = make(profile=profile)
    for priority in (0, -1, 2):
        frontier.add_request(asked(f"{A}{priority}"), b"%d" % priority, dont_filter=False, priority=priority)
    assert drain(frontier, clock) == [A + "2", A + "0", A + "-1"]


def test_a_retry_of_scrapys_takes_the_place_of_its_original() -> None:
    frontier, clock, log = make()
    frontier.add_request(asked(A + "1"), b"1", dont_filter=False)
    frontier.add_request(asked(A + "2"), b"2", dont_filter=False)
    first = frontier.next(clock.now)
    assert first is not None
    first.status, first.delay_ms = 503, 700
    frontier.replace_stored(first, b"again", clock.now)
    assert frontier.finish(first, clock.now) is False
    assert frontier.next(clock.now) is None
    clock.now += 700
    again = frontier.next(clock.now)
    assert again is not None
    assert (again.uri, again.stored_request, again.attempts, again.ordinal) == (A + "1", b"again", 1, first.ordinal)
    assert end(frontier, again, 200, clock.now)
    assert log.ends == [(A + "1", 200, "2t")]


def test_seeds_are_announced_also_when_known() -> None:
    heard: list[str] = []
    frontier, clock, _ = make(seed_found=lambda curi: heard.append(curi.uri))
    frontier.add_request(asked(A, seed=True), b"1", dont_filter=False)
    frontier.add_request(asked(A, seed=True), b"1", dont_filter=False)
    first = frontier.next(clock.now)
    assert first is not None
    end(frontier, first, 301, clock.now, B, hop="R")
    assert heard == [A, A, B]


# -- waiting and retries -----------------------------------------------------------------------------------


def test_a_prerequisite_comes_first_and_costs_no_attempt() -> None:
    frontier, clock, _ = make()
    frontier.add([seed(A)])
    page = frontier.next(clock.now)
    assert page is not None
    for prerequisite in ("dns:a.test", A + "robots.txt"):
        page.status, page.prerequisite = status.DEFERRED, prerequisite
        assert not frontier.finish(page, clock.now)
        first = frontier.next(clock.now)
        assert first is not None
        assert (first.uri, first.path, first.via, first.class_key) == (prerequisite, "P", A, page.class_key)
        end(frontier, first, 200, clock.now)
        page = frontier.next(clock.now)
        assert page is not None
    assert (page.uri, page.attempts, page.deferrals) == (A, 0, 2)


def test_a_prerequisite_of_a_uri_at_highest() -> None:
    frontier, clock, _ = make()
    urgent = CrawlURI(A, directive=0)
    frontier.add([urgent])
    page = frontier.next(clock.now)
    assert page is not None
    page.status, page.prerequisite = status.DEFERRED, "dns:a.test"
    frontier.finish(page, clock.now)
    first = frontier.next(clock.now)
    assert first is not None
    assert first.uri == "dns:a.test"


def test_waiting_for_ever_ends() -> None:
    frontier, clock, log = make(max_retries=2)
    frontier.add([seed(A)])
    rounds = 0
    while (curi := frontier.next(clock.now)) is not None:
        rounds += 1
        end(frontier, curi, status.DEFERRED, clock.now)
    assert rounds == 30
    assert log.ends == [(A, status.TOO_MANY_RETRIES, "")]


def test_put_back_counts_nothing() -> None:
    frontier, clock, log = make()
    frontier.add([link(A + "1"), link(A + "2")])
    curi = frontier.next(clock.now)
    assert curi is not None
    frontier.put_back(curi, clock.now)
    frontier.put_back(curi, clock.now)
    again = frontier.next(clock.now)
    assert again is not None
    assert (again.uri, again.attempts, again.deferrals) == (A + "1", 0, 0)
    record = frontier.queue("test,a,").record  # type: ignore[union-attr]
    assert (record.count, record.spent) == (2, 0)
    assert log.ends == []


def test_a_uri_that_is_not_in_process_is_ignored() -> None:
    frontier, clock, log = make()
    frontier.add([seed(A)])
    curi = frontier.next(clock.now)
    assert curi is not None
    stranger = CrawlURI(A)
    stranger.class_key, stranger.status = curi.class_key, 200
    assert not frontier.finish(stranger, clock.now)
    assert end(frontier, curi, 200, clock.now)
    assert not end(frontier, curi, 200, clock.now)
    assert len(log.ends) == 1


def test_what_the_server_asks_for_binds_the_queue() -> None:
    frontier, clock, _ = make()
    frontier.add([link(A + "1"), link(A + "2")])
    curi = frontier.next(clock.now)
    assert curi is not None
    frontier._finishing._hosts.server("a.test").retry_at_ms = clock.now + 9000
    end(frontier, curi, 429, clock.now)
    assert frontier.next_wake() == clock.now + 9000


def test_a_uri_that_no_row_can_hold_ends_at_once() -> None:
    frontier, clock, log = make()
    curi = asked(A)
    curi.heritable = {"x": object()}
    assert not frontier.add_request(curi, b"1", dont_filter=False)
    assert log.ends == [(A, status.UNQUEUABLE, "unqueuable")]
    assert frontier.next(clock.now) is None
    assert not frontier.alive()


def test_parts_that_fail_do_not_keep_a_uri_in_process(caplog: pytest.LogCaptureFixture) -> None:
    def fail(curi: CrawlURI) -> Any:
        raise ValueError("a part of the user's")

    frontier, clock, log = make(crawl_delay=fail, before_finish=[fail], seed_found=fail)
    frontier.add([seed(A)])
    curi = frontier.next(clock.now)
    assert curi is not None
    curi.began_ms = curi.ended_ms = clock.now
    assert end(frontier, curi, 301, clock.now, B, delay=-1, hop="R")
    assert log.ends == [(A, 301, "")]
    assert frontier.in_process() == []
    assert frontier.next_wake() == clock.now + 3000
    assert "crawl delay" in caplog.text
    assert "not all links" in caplog.text


# -- queues ------------------------------------------------------------------------------------------------


def test_retired_queues_keep_their_uris_and_end_the_crawl() -> None:
    frontier, clock, _ = make()
    frontier.add([link(A + "1"), link(A + "2"), link(B + "1")])
    first = frontier.next(clock.now)
    assert first is not None
    assert frontier.retire("test,a,")
    assert not frontier.retire("nobody")
    end(frontier, first, 200, clock.now)
    assert drain(frontier, clock) == [B + "1"]
    assert not frontier.alive()
    frontier.add([link(A + "3")])
    assert not frontier.alive()
    frontier.reconsider_retired()
    assert frontier.alive()
    assert drain(frontier, clock) == [A + "2", A + "3"]


def test_queues_below_the_floor() -> None:
    frontier, clock, _ = make(precedence_floor=3)
    frontier.add([link(A)])
    assert frontier.next(clock.now) is None
    assert not frontier.alive()
    frontier, clock, _ = make(profile="heritrix", precedence_floor=3)
    frontier.add([link(A)])
    assert frontier.alive()


def test_newest_first() -> None:
    frontier, clock, _ = make(preference_depth_hops=0)
    frontier.add([seed(A), seed(A + "seed2")])
    first = frontier.next(clock.now)
    assert first is not None
    assert first.uri == A + "seed2"
    end(frontier, first, 200, clock.now, A + "1", A + "2")
    second = frontier.next(clock.now)
    assert second is not None
    assert (second.uri, second.ordinal) == (A + "2", 4)
    end(frontier, second, 200, clock.now, A + "3")
    assert drain(frontier, clock) == [A + "3", A + "1", A]


def test_a_long_queue_is_read_in_pieces() -> None:
    frontier, clock, _ = make()
    uris = [f"{A}{number}" for number in range(5 * CHUNK)]
    frontier.add([link(uri) for uri in uris])
    assert drain(frontier, clock) == uris


def test_a_wrong_count_is_put_right(caplog: pytest.LogCaptureFixture) -> None:
    frontier, clock, _ = make()
    frontier.add([link(A)])
    frontier.queue("test,a,").record.count += 5  # type: ignore[union-attr]
    frontier.totals.queued += 5
    assert drain(frontier, clock) == [A]
    assert "5 URIs were counted, none is there" in caplog.text
    assert frontier.totals.queued == 0


def test_a_wrong_hint_loses_nothing_and_repeats_nothing() -> None:
    """A queue's record says that reading begins behind some of its rows."""
    store = MemoryStore()
    frontier, clock, _ = make(store)
    uris = [f"{A}{number}" for number in range(6)]
    frontier.add([link(uri) for uri in uris])
    frontier.flush(clock.now)
    (row,) = store.range(keys.QUEUE, keys.after(keys.QUEUE))
    record = unpack_record(row[1])
    record.hint = [key for key, _ in store.range(keys.QUEUED, keys.after(keys.QUEUED))][3]
    record.written += 1
    store.write([(row[0], pack_record(record))])
    frontier, clock, _ = make(store)
    assert sorted(drain(frontier, clock)) == uris
    assert frontier.totals.queued == 0


def test_relocation() -> None:
    frontier, clock, _ = make(defer_to_previous=False)
    stray = link(A)
    stray.class_key, stray.canonical, stray.cost = "elsewhere", A, 1
    frontier.add([stray])
    curi = frontier.next(clock.now)
    assert curi is not None
    assert curi.class_key == "test,a,"
    assert frontier.totals.queued == 1


def test_fetched_again_when_it_is_due() -> None:
    frontier, clock, log = make()
    frontier.add([seed(A)])
    curi = frontier.next(clock.now)
    assert curi is not None
    curi.annotate("once")
    curi.reschedule_at = clock.now + 500
    end(frontier, curi, 200, clock.now)
    assert frontier.alive()
    assert frontier.next_wake() == clock.now + 500
    assert frontier.next(clock.now) is None
    clock.now += 500
    again = frontier.next(clock.now)
    assert again is not None
    assert (again.uri, again.ordinal, again.attempts, again.annotations) == (A, curi.ordinal, 0, [])
    end(frontier, again, 200, clock.now)
    assert not frontier.alive()
    assert len(log.ends) == 2


# -- writing -----------------------------------------------------------------------------------------------


class Watched(MemoryStore):
    """Counts writes; ``full`` refuses them."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bool] = []
        self.full = False

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes] = (), *, sync: bool = False) -> None:
        if self.full:
            raise StorageFull("somewhere")
        self.writes.append(sync)
        super().write(puts, deletes, sync=sync)


def test_twenty_uris_a_batch() -> None:
    store = Watched()
    frontier, clock, _ = make(store)
    frontier.add([link(f"{A}{number}") for number in range(FLUSH_URIS)])
    frontier.flush(clock.now)
    del store.writes[:]
    drain(frontier, clock)
    assert store.writes == [False]


def test_when_to_flush_and_to_sync() -> None:
    store = Watched()
    frontier, clock, _ = make(store)
    assert frontier.needs_flush_at() is None
    frontier.add([link(A)])
    assert frontier.needs_flush_at() == clock.now + FLUSH_MS
    clock.now += FLUSH_MS
    frontier.flush(clock.now)
    due = frontier.needs_flush_at()
    assert due is not None
    assert due <= clock.now + SYNC_MS
    clock.now = due
    frontier.flush(clock.now)
    assert store.writes[-1] is True
    assert frontier.needs_flush_at() is None


def test_a_full_disk_loses_nothing() -> None:
    store = Watched()
    frontier, clock, log = make(store)
    frontier.add([link(f"http://h{number}.test/") for number in range(FLUSH_URIS + 1)])
    frontier.flush(clock.now)
    store.full = True
    for _ in range(FLUSH_URIS - 1):
        curi = frontier.next(clock.now)
        assert curi is not None
        end(frontier, curi, 200, clock.now)
    last = frontier.next(clock.now)
    assert last is not None
    with pytest.raises(StorageFull):
        end(frontier, last, 200, clock.now)
    frontier.put_back(last, clock.now)
    store.full = False
    frontier.flush(clock.now)
    assert len(drain(frontier, clock)) == 1
    assert len(log.ends) == FLUSH_URIS + 1


def test_a_queue_that_cannot_be_read_yet_stays_ready() -> None:
    store = Watched()
    frontier, clock, _ = make(store, queues_kept=0)
    frontier.add([link(f"{A}{number}") for number in range(3 * CHUNK)])
    frontier.flush(clock.now)
    store.full = True
    frontier.add([link(A + "more")])
    with pytest.raises(StorageFull):
        frontier.next(clock.now)
    store.full = False
    assert len(drain(frontier, clock)) == 3 * CHUNK + 1


# -- opening again -----------------------------------------------------------------------------------------


def test_resume() -> None:
    store = MemoryStore()
    frontier, clock, log = make(store)
    frontier.add([link(A + "1"), link(A + "2"), link(B + "1"), link(B + "2"), link("http://c.test/1")])
    first, second = frontier.next(clock.now), frontier.next(clock.now)
    assert first is not None
    assert second is not None
    end(frontier, second, 200, clock.now, delay=60_000)
    frontier.flush(clock.now)
    # the process dies here, with the first in process, a queue snoozed, one waiting
    frontier, clock, log = make(store, clock=clock, report=log)
    assert frontier.status()["queues"] == {
        "known": 3,
        "exhausted": 0,
        "inactive": 2,
        "ready": 0,
        "in process": 0,
        "snoozed": 1,
        "retired": 0,
    }
    assert drain(frontier, clock) == [A + "1", A + "2", "http://c.test/1"]
    assert frontier.next_wake() == clock.now + 60_000
    clock.now += 60_000
    assert drain(frontier, clock) == [B + "2"]
    assert frontier.totals.succeeded == 5
    assert frontier.tallies() == {"status/200": 5}


def test_recovery_in_words() -> None:
    store = MemoryStore()
    frontier, clock, log = make(store)
    archive = Archive()
    frontier.add([link(A), link(B)])
    frontier.flush(clock.now)
    frontier, clock, log = make(store, clock=clock, report=log, archives=[archive])
    for _ in range(2):
        curi = frontier.next(clock.now)
        assert curi is not None
        archive.write(curi.uri)
        end(frontier, curi, 200, clock.now)
    frontier.flush(clock.now)
    archive.kill(power=True)
    log.lines.append("http://unknown.test/")
    heard: list[Any] = []

    class Listening(Log):
        def recover(self, lengths: Any) -> int:
            heard.append(lengths)
            return 1

    frontier, clock, _ = make(store, clock=clock, report=Listening(), archives=[archive])
    assert heard == [{"crawl.log": 2}]
    assert sorted(drain(frontier, clock)) == [A, B]


def test_a_finished_crawl_is_not_resumed() -> None:
    store = MemoryStore()
    frontier, clock, _ = make(store)
    frontier.add([seed(A)])
    drain(frontier, clock)
    frontier.close(finished=True)
    frontier, clock, _ = make(store)
    assert frontier.totals.succeeded == 0
    assert frontier.add([seed(A)]) == 1
    frontier.close()
    frontier, clock, _ = make(store)
    assert frontier.add([seed(A)]) == 0
    frontier, clock, _ = make(store, new_crawl=True)
    assert frontier.add([seed(A)]) == 1


def test_a_snooze_of_years_is_a_broken_clock() -> None:
    store = MemoryStore()
    frontier, clock, _ = make(store)
    frontier.add([link(A + "1"), link(A + "2")])
    curi = frontier.next(clock.now)
    assert curi is not None
    end(frontier, curi, 200, clock.now, delay=1000)
    frontier.close()
    frontier, clock, _ = make(store, clock=Clock(clock.now - 10**12))
    assert drain(frontier, clock) == [A + "2"]


def test_many_queues_are_not_kept_in_memory() -> None:
    frontier, clock, _ = make(queues_kept=10)
    frontier.add([link(f"http://h{number}.test/{page}") for page in range(2) for number in range(300)])
    frontier.flush(clock.now)
    assert len(frontier._queues.loaded) <= 10
    assert len(set(drain(frontier, clock))) == 600
    frontier.flush(clock.now)
    assert len(frontier._queues.loaded) <= 10


def test_status_of_a_running_and_of_a_stopped_crawl() -> None:
    store = MemoryStore()
    frontier, clock, _ = make(store)
    frontier.add([link(A + "1"), link(A + "2"), link(B + "1")])
    for code, delay in ((-2, -1), (200, 4000)):
        curi = frontier.next(clock.now)
        assert curi is not None
        end(frontier, curi, code, clock.now, delay=delay)
    running = frontier.status()
    assert running["waiting"] == [
        {"queue": "test,b,", "uris": 0, "seconds": 4.0, "why": "politeness"},
        {
            "queue": "test,a,",
            "uris": 2,
            "seconds": 900.0,
            "why": "another try after Heritrix(-2)-Connection failed",
        },
    ]
    assert (running["queued"], running["succeeded"], running["retried"]) == (2, 1, 1)
    frontier.close()
    assert status_of_store(store, clock.now) == running
    assert frontier.queue("test,a,").record.state == State.SNOOZED  # type: ignore[union-attr]


# -- a clock that is wrong ---------------------------------------------------------------------------------

DAY = 24 * 3600 * 1000


def test_a_clock_set_back_keeps_no_queue_asleep_longer() -> None:
    frontier, clock, _ = make()
    frontier.add([link(A + "1"), link(A + "2")])
    first = frontier.next(clock.now)
    assert first is not None
    end(frontier, first, 200, clock.now, delay=5000)
    clock.now += 1000
    assert frontier.next(clock.now) is None
    clock.now -= DAY
    assert frontier.next(clock.now) is None
    assert frontier.next_wake() == clock.now + 4000
    clock.now += 4000
    assert frontier.next(clock.now) is not None


def test_what_falls_asleep_after_a_clock_was_set_back_rests_as_long_as_it_should() -> None:
    """Also when an end is the first to see the new time."""
    frontier, clock, _ = make()
    frontier.add([link(A + "1"), link(A + "2"), link("http://b.test/1"), link("http://b.test/2")])
    first, second = frontier.next(clock.now), frontier.next(clock.now)
    assert first is not None
    assert second is not None
    end(frontier, first, 200, clock.now, delay=5000)
    clock.now += 1000 - DAY
    end(frontier, second, 200, clock.now, delay=7000)
    assert frontier.next(clock.now) is None
    assert frontier.next_wake() == clock.now + 5000
    clock.now += 5000
    curi = frontier.next(clock.now)
    assert curi is not None
    assert curi.class_key == first.class_key
    assert frontier.next_wake() == clock.now + 2000


@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_a_clock_that_jumps_keeps_no_sync_waiting(jump: int) -> None:
    archive = Archive()
    frontier, clock, _ = make(archives=[archive])
    for number in range(3):
        frontier.add([link(f"{A}{number}")])
        curi = frontier.next(clock.now)
        assert curi is not None
        archive.write(curi.uri)
        end(frontier, curi, 200, clock.now)
        due = frontier.needs_flush_at()
        assert due is not None
        assert due - clock.now <= 1000
        frontier.flush(clock.now)
        if number == 1:
            clock.now += jump
        due = frontier.needs_flush_at()
        if due is not None:
            assert due - clock.now <= 1000
            clock.now += 1000
            frontier.flush(clock.now)
        assert frontier.needs_flush_at() is None
        assert archive.synced == number + 1


@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_a_clock_that_jumped_between_two_processes(jump: int) -> None:
    store = MemoryStore()
    frontier, clock, _ = make(store)
    frontier.add([link(A + "1"), link(A + "2")])
    first = frontier.next(clock.now)
    assert first is not None
    end(frontier, first, 200, clock.now, delay=5000)
    frontier.flush(clock.now)
    clock.now += jump
    again, _, _ = make(store, clock=clock)
    clock.now += 5000
    assert again.next(clock.now) is not None
