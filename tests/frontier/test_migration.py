"""Is a job of an older version gone on with, or refused with words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.frontier.migration import FIRST, migrate
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.store import open_store
from heritrix_scrapy.store.leveldb import SCHEMA, SCHEMA_KEY
from tests.frontier.world import make

if TYPE_CHECKING:
    from pathlib import Path


def old_job(path: Path, profile: str) -> None:
    frontier, clock, _ = make(open_store(path), profile)
    frontier.add([CrawlURI("http://a.test/", seed=True), CrawlURI("http://b.test/", seed=True)])
    frontier.flush(clock.now)
    frontier.ledger.store.write([(SCHEMA_KEY, FIRST)])
    frontier.close()


def test_the_first_schema_is_the_same_in_the_modern_profile(tmp_path: Path) -> None:
    old_job(tmp_path, "modern")
    store = open_store(tmp_path, migrate=migrate)
    assert store.get(SCHEMA_KEY) == SCHEMA != FIRST
    frontier, clock, _ = make(store)
    assert {curi.uri for _ in "ab" if (curi := frontier.next(clock.now))} == {"http://a.test/", "http://b.test/"}
    frontier.close()


@pytest.mark.parametrize("profile", ["heritrix", "modern"])
def test_what_cannot_be_read_is_refused_with_how_to_go_on(tmp_path: Path, profile: str) -> None:
    old_job(tmp_path, profile)
    with pytest.raises(ConfigurationError, match=r"schema 1\.1, .*export its URIs with that version"):
        open_store(tmp_path, migrate=migrate if profile == "heritrix" else None)
    with pytest.raises(ConfigurationError, match="schema"):
        open_store(tmp_path)  # it is as it was
