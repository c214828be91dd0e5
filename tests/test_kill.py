"""Is nothing lost when a crawl is killed at random moments? The benchmark's crawls, as tests."""

from __future__ import annotations

from random import randrange

import pytest

from benchmarks.kill import measure

pytestmark = pytest.mark.crawl


@pytest.mark.parametrize(
    ("kills", "pages", "stride", "profile"),
    [
        (3, 240, 100, "modern"),
        pytest.param(20, 2400, 600, "modern", marks=pytest.mark.long),
        pytest.param(5, 1000, 400, "heritrix", marks=pytest.mark.long),
    ],
)
def test_killed_at_random_moments(kills: int, pages: int, stride: int, profile: str) -> None:
    result = measure(kills, pages, randrange(10**6), stride, profile)
    assert result["kills"] == kills, result
    assert result["lost"] == 0, result
    assert result["unreadable"] == 0, result
    assert result["fetched_twice"] <= result["bound"], result
