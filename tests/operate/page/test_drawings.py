"""Is what was drawn shown to all who ask soon after, and to nobody else?"""

from __future__ import annotations

import asyncio

from heritrix_scrapy.operate.feed import LEFT_OUT, due
from heritrix_scrapy.operate.web.ui.drawings import KEPT, LEAST, MOST, RARELY, Drawings


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def drawn(clock: Clock, took: float, count: list[int]):
    async def draw() -> dict[str, str]:
        count[0] += 1
        mine = str(count[0])
        await asyncio.sleep(0)
        clock.now += took
        return {"a": mine}

    return draw


def test_one_drawing_is_for_all_who_ask_meanwhile_and_soon_after() -> None:
    clock, count = Clock(), [0]
    drawings = Drawings(clock)
    draw = drawn(clock, 0.01, count)

    async def ask() -> None:
        first = await asyncio.gather(*(drawings.of("x", draw) for _ in range(5)))
        assert first == [{"a": "1"}] * 5
        clock.now += LEAST / 2
        assert await drawings.of("x", draw) == {"a": "1"}
        assert await drawings.of("y", draw) == {"a": "2"}
        clock.now += LEAST
        assert await drawings.of("x", draw) == {"a": "3"}
        drawings.forget()
        assert await drawings.of("x", draw) == {"a": "4"}

    asyncio.run(ask())


def test_what_takes_long_is_drawn_rarely() -> None:
    clock, count = Clock(), [0]
    drawings = Drawings(clock)

    async def ask() -> None:
        for took, good in ((1.0, RARELY), (10.0, MOST)):
            await drawings.of("x", drawn(clock, took, count))
            before = count[0]
            clock.now += good - took - 0.1
            await drawings.of("x", drawn(clock, took, count))
            assert count[0] == before
            clock.now += 0.2
            await drawings.of("x", drawn(clock, took, count))
            assert count[0] == before + 1
            clock.now += MOST

    asyncio.run(ask())


def test_a_drawing_that_fails_is_made_again() -> None:
    async def fails() -> dict[str, str]:
        raise RuntimeError("no numbers")

    async def ask() -> None:
        clock, count = Clock(), [0]
        drawings = Drawings(clock)
        found = await asyncio.gather(drawings.of("x", fails), drawings.of("x", fails), return_exceptions=True)
        assert [str(each) for each in found] == ["no numbers"] * 2
        assert await drawings.of("x", drawn(clock, 0, count)) == {"a": "1"}

    asyncio.run(ask())


def test_few_are_kept() -> None:
    async def ask() -> None:
        clock, count = Clock(), [0]
        drawings = Drawings(clock)
        for number in range(KEPT + 20):
            await drawings.of(number, drawn(clock, 0, count))
        assert len(drawings) == KEPT

    asyncio.run(ask())


def test_those_who_want_something_as_often_have_it_at_the_same_moment() -> None:
    assert due(100.0, 2.0) == due(100.9, 2.0) == 102.0
    assert due(101.5, 2.0) == 104.0, "not at once again"
    assert due(0.0, 0.25) == 0.25


def test_a_turn_that_was_late_leaves_some_out() -> None:
    assert due(100.0, 2.0, late=0.1) == 102.0
    assert due(100.0, 2.0, late=0.21) == 104.0
    assert due(100.0, 2.0, late=1000) == 102.0 + 2 * LEFT_OUT
