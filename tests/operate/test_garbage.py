"""The collector is set for the time of a crawl, and left alone where somebody has set it."""

from __future__ import annotations

import gc

import pytest
from scrapy import Spider, signals
from scrapy.utils.test import get_crawler

from heritrix_scrapy.operate.garbage import THRESHOLDS, GarbageExtension


@pytest.mark.parametrize(
    ("before", "during"),
    [((700, 10, 10), THRESHOLDS), ((0, 10, 10), (0, 10, 10)), ((50_000, 5, 5), (50_000, 5, 5))],
)
def test_thresholds(before: tuple[int, int, int], during: tuple[int, int, int]) -> None:
    at_first, frozen = gc.get_threshold(), gc.get_freeze_count()
    crawler = get_crawler(Spider)
    extension = GarbageExtension.from_crawler(crawler)
    gc.set_threshold(*before)
    try:
        crawler.signals.send_catch_log(signals.engine_started)
        assert gc.get_threshold() == during
        assert (gc.get_freeze_count() > frozen) == (during is THRESHOLDS)
        crawler.signals.send_catch_log(signals.engine_stopped)
        assert gc.get_threshold() == before
        assert gc.get_freeze_count() <= frozen
    finally:
        gc.set_threshold(*at_first)
        del extension
