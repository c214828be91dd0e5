"""Does a crawl that waits cost nothing, and wake in time? Generous bounds; the benchmark has the real ones."""

from __future__ import annotations

import pytest

from benchmarks.wake import measure


@pytest.mark.long
@pytest.mark.crawl
def test_sleeping_queues() -> None:
    result = measure(50, 5, 10)
    assert result["idle_cpu_percent"] < 10, result
    assert result["wake_ups"] >= 90, result
    assert result["late_ms_median"] < 100, result
