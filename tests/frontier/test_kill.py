"""Is anything lost, and how much is repeated, when the process dies at any write?"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.frontier.ledger import FLUSH_URIS
from heritrix_scrapy.frontier.status import status_of_store
from tests.frontier.world import Crawl, random_site


def crawl_with_kills(seed: int, kills: list[int], *, torn: bool, power: bool, pages: int, hosts: int) -> Crawl:
    random = Random(seed)
    crawl = Crawl(random_site(random, pages, hosts), random)
    for lives in kills:
        if crawl.run(lives, torn=torn, power=power):
            break
    else:
        assert crawl.run()
    return crawl


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 1 << 32),
    kills=st.lists(st.integers(1, 40), max_size=6),
    torn=st.booleans(),
    pages=st.integers(2, 120),
    hosts=st.integers(1, 12),
)
def test_killed_at_any_write(seed: int, kills: list[int], torn: bool, pages: int, hosts: int) -> None:
    crawl = crawl_with_kills(seed, kills, torn=torn, power=False, pages=pages, hosts=hosts)
    pages_logged = [uri for uri in crawl.log.lines if uri.startswith("http:")]
    assert set(pages_logged) == crawl.reachable()
    repeated = len(pages_logged) - len(set(pages_logged))
    assert repeated <= len(kills) * (crawl.workers + FLUSH_URIS)
    assert crawl.reachable() <= set(crawl.archive.records)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 1 << 32),
    kills=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    pages=st.integers(2, 120),
    hosts=st.integers(1, 12),
)
def test_power_loss_takes_the_end_of_the_archive(seed: int, kills: list[int], pages: int, hosts: int) -> None:
    crawl = crawl_with_kills(seed, kills, torn=False, power=True, pages=pages, hosts=hosts)
    assert crawl.reachable() <= set(crawl.archive.records)
    assert crawl.reachable() <= set(crawl.log.lines)


@pytest.mark.parametrize("lives", range(3, 30))
def test_counters_equal_the_log(lives: int) -> None:
    """What a batch counts is in the log, line by line, at every moment of a crawl."""
    random = Random(7)
    crawl = Crawl(random_site(random, 60, 5), random)
    crawl.run(lives)
    assert crawl.run()
    assert crawl.recoveries[0].new
    assert not crawl.recoveries[1].new
    ahead = crawl.recoveries[1].log_lines_ahead
    told = status_of_store(crawl.rows, crawl.clock.now)
    assert told["succeeded"] == len(crawl.log.lines) - ahead
    assert told["queued"] == 0
    assert sum(Counter(crawl.log.lines).values()) >= len(crawl.reachable())


def test_no_trouble_repeats_nothing() -> None:
    random = Random(3)
    crawl = Crawl(random_site(random, 200, 9), random)
    assert crawl.run()
    pages = [uri for uri in crawl.log.lines if uri.startswith("http:")]
    assert sorted(pages) == sorted(crawl.reachable())
