"""Do the heads of a queue always show its true head, whatever is read ahead, trimmed or stored?"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.queue import (
    CHUNK,
    KEPT_HEADS,
    MAX_HEADS,
    Queue,
    QueueHead,
    QueueRecord,
    pack_record,
    unpack_head,
    unpack_record,
)
from heritrix_scrapy.store import MemoryStore

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(0, 3), st.integers(0, 300)),
        st.tuples(st.sampled_from(["take", "back", "trim", "reload"]), st.just(0), st.just(0)),
    ),
    max_size=300,
)


@settings(deadline=None, max_examples=150)
@given(STEPS)
def test_against_a_sorted_list(steps: list[tuple[str, int, int]]) -> None:
    store = MemoryStore()
    queue = Queue("k", QueueRecord(1))
    rows: set[bytes] = set()
    taken: bytes | None = None
    for number, (step, directive, precedence) in enumerate(steps, 1):
        if step == "insert":
            key = keys.queued(queue.prefix, directive, precedence % 256, number)
            rows.add(key)
            store.write([(key, b"row")])
            queue.insert(key, b"row")
            queue.record.count += 1
        elif step == "take" and taken is None:
            if queue.must_read:
                queue.read(store)
            assert bool(queue.heads) == bool(rows)
            if rows:
                taken, _ = queue.take()
                assert taken == min(rows)
                rows.discard(taken)
                # another worker of the model: every other one is finished for good
                if number % 2:
                    store.write([], [taken])
                    queue.record.count -= 1
                    queue.current = taken = None
        elif step == "back" and taken is not None:
            rows.add(taken)
            queue.insert(taken, b"row")
            queue.current = taken = None
        elif step == "trim":
            queue.trim()
        elif step == "reload" and taken is None:
            queue = Queue("k", unpack_record(queue.packed()))
        assert len(queue.heads) <= MAX_HEADS


def test_the_hint_never_lies_behind_the_head() -> None:
    store = MemoryStore()
    queue = Queue("k", QueueRecord(1))
    made = [keys.queued(queue.prefix, 3, 1, number) for number in range(1, 200)]
    for key in made:
        store.write([(key, b"row")])
        queue.insert(key, b"row")
        queue.record.count += 1
    assert len(queue.heads) <= MAX_HEADS
    first, _ = queue.take()
    assert unpack_record(queue.packed()).hint == first
    queue.current = None
    assert unpack_record(queue.packed()).hint == made[1]
    for _ in range(CHUNK + 5):
        if queue.must_read:
            queue.read(store)
        queue.take()
        queue.current = None
    assert made[1] < unpack_record(queue.packed()).hint <= made[CHUNK + 6]
    queue.trim()
    assert len(queue.heads) <= KEPT_HEADS


def test_what_has_to_be_written_before_reading_on() -> None:
    queue = Queue("k", QueueRecord(1))
    queue.insert(keys.queued(queue.prefix, 7, 1, 1), b"row")
    queue.take()
    for number in range(MAX_HEADS):
        queue.insert(keys.queued(queue.prefix, 3, 1, 2 + number), b"row")
    assert not queue.beyond
    queue.insert(keys.queued(queue.prefix, 3, 1, 1), b"row")
    assert queue.beyond
    # all is written; then the current one, which lies behind the heads by now, is finished
    queue.beyond = False
    queue.drop_current()
    assert queue.beyond
    queue.beyond = False
    queue.take()
    queue.drop_current()
    assert not queue.beyond


def test_budgets() -> None:
    record = QueueRecord(1, session_budget=3, total_budget=5)
    for _ in range(3):
        record.charge(1)
    assert not record.over_session
    record.charge(1)
    assert record.over_session
    assert not record.over_total
    record.penalise(1)
    assert record.over_total
    assert (record.spent, record.last_cost, record.cost_count, record.errors) == (5, 1, 4, 1)
    assert not QueueRecord(1, session_budget=0, spent=99).over_session
    assert not QueueRecord(1, total_budget=-1, spent=99).over_total
    assert QueueRecord(1, total_budget=0).over_total


def test_the_head_of_a_record_is_its_first_fields() -> None:
    fields = QueueHead.__struct_fields__
    assert fields == QueueRecord.__struct_fields__[: len(fields)]
    record = QueueRecord(7, 1, 5, 9, -2, 11, 13, b"hint", last_queued="http://a.test/")
    head = unpack_head(pack_record(record))
    assert [getattr(head, name) for name in fields] == [getattr(record, name) for name in fields]
