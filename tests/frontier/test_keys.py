"""Do rows sort as the frontier reads them?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.frontier import keys

PREFIX = keys.queued_prefix(7)
PLACES = st.tuples(st.integers(0, 3), st.integers(-60, 180), st.booleans(), st.integers(1, keys.MAX_ORDINAL >> 1))


def key_of(place: tuple[int, int, bool, int]) -> bytes:
    directive, precedence, prerequisite, ordinal = place
    return keys.queued(PREFIX, *keys.rank(directive, precedence, prerequisite, False), ordinal)


@given(PLACES, PLACES)
def test_order_in_a_queue(one: tuple[int, int, bool, int], other: tuple[int, int, bool, int]) -> None:
    def wanted(place: tuple[int, int, bool, int]) -> tuple[int, bool, int, int]:
        return (place[0], not place[2], place[1], place[3])

    assert (key_of(one) < key_of(other)) == (wanted(one) < wanted(other))


@given(PLACES)
def test_newest_first_counts_down(place: tuple[int, int, bool, int]) -> None:
    directive, precedence, prerequisite, ordinal = place
    rank = keys.rank(directive, precedence, prerequisite, False)
    key, younger = (
        keys.queued(PREFIX, *rank, keys.place_of(number, newest_first=True)) for number in (ordinal, ordinal + 1)
    )
    assert younger < key
    assert keys.ordinal_of(key) == ordinal


@given(PLACES)
def test_a_key_tells_its_place(place: tuple[int, int, bool, int]) -> None:
    assert keys.unrank(key_of(place), heritrix=False) == (place[0], place[1], place[3])


@pytest.mark.parametrize(("precedence", "byte"), [(0, 0), (1, 1), (127, 127), (300, 127), (-1, 255), (-128, 128)])
def test_heritrix_clips_and_wraps(precedence: int, byte: int) -> None:
    assert keys.rank(3, precedence, False, True)[1] == byte
    assert keys.rank(3, precedence, True, True) == keys.rank(3, precedence, False, True)


def test_prerequisite_goes_before_its_dependant_at_highest() -> None:
    assert keys.rank(0, 5, True, False) < keys.rank(0, 1, False, False)


def test_seen_rows_of_one_authority_stand_together() -> None:
    one, two = keys.seen("http://a.test/1"), keys.seen("http://a.test/2")
    other = keys.seen("http://b.test/1")
    assert len(one) == 12
    assert one[:4] == two[:4] != other[:4]
    assert one != two
    assert keys.seen("dns:a.test") != keys.seen("dns:b.test")
    assert keys.seen("http://a.test/\udc80")


def test_after_a_prefix() -> None:
    assert keys.after(b"q\x00\xff") == b"q\x01\x00"
    assert keys.after(keys.queued_prefix(255)) == keys.queued_prefix(256)
