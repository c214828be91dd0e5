"""Can Prometheus read what a crawl tells it?"""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from heritrix_scrapy.operate.metrics import text
from tests.operate.test_numbers import TOLD

SIZES = {"novel": 7, "dupByHash": 8, "sizeOnDisk": 100}


def samples(told: str) -> dict[tuple[str, str], float]:
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(told)
        for sample in family.samples
    }


def test_the_status_is_told_as_metrics() -> None:
    found = samples(text({**TOLD, "job": {"sizeTotalsReport": SIZES, "heapReport": {"usedBytes": 1024}}}))
    assert found["heritrix_uris_total", "succeeded"] == 122
    assert found["heritrix_uris_total", "failed"] == 2
    assert found["heritrix_queued_uris", ""] == 5
    assert found["heritrix_queues", "snoozed"] == 3
    assert found["heritrix_received_bytes_total", "dupByHash"] == 8
    assert found["heritrix_run_seconds_total", ""] == 61
    assert found["heritrix_memory_bytes", ""] == 1024
    assert found["heritrix_state", "RUNNING"] == 1
    assert ("heritrix_queues", "known") not in found


def test_what_is_not_known_is_left_out() -> None:
    found = samples(text({"state": "PREPARING"}))
    assert ("heritrix_queued_uris", "") not in found
    assert found["heritrix_state", "PREPARING"] == 1
