"""Is every odd answer archived byte for byte, with the right end, however its bytes arrive?

The exchanges are data: `tests.web.exchanges`.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from heritrix_scrapy.model.crawluri import CrawlURI
from tests.fetch.loopback import fetch, handler_of, make_crawler
from tests.web.exchanges import EXCHANGES, SO_FAR, Exchange
from tests.web.play import Feeder, Player

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from scrapy.crawler import Crawler

#: Splits of each stream; the heads of a megabyte are fed less often.
SPLITS = 8
ONLY_REAL = frozenset(("refused", "unknown host", "plain", "late", "no request"))


class Outcome(NamedTuple):
    status: int
    recorded: bytes | None
    annotations: tuple[str, ...]
    truncated: str | None
    entity: bytes | None
    size: int


@cache
def crawler_with(values: str) -> Crawler:
    """One crawler for all fetches with the same settings, as JSON: to make one takes longer than to fetch."""
    return make_crawler(**json.loads(values))


@asynccontextmanager
async def fetching(
    exchange: Exchange, feeder: Feeder | None = None, **values: Any
) -> AsyncIterator[Callable[[str], Awaitable[Outcome]]]:
    """Fetches by the handler itself, with the settings of an exchange."""
    async with handler_of(crawler_with(json.dumps({**exchange.settings, **values}))) as handler:
        handler.crawl.hosts.host("unknown.test").looked_up_ms = 0

        async def one(url: str) -> Outcome:
            curi = CrawlURI(url)
            await fetch(handler, url, internal=True, curi=curi, method=exchange.method)
            recorder = curi.recorder
            kept = None if recorder is None or curi.status <= 0 else recorder
            return Outcome(
                curi.status,
                None if kept is None else kept.response.read(),
                tuple(curi.annotations),
                None if kept is None else next(iter(kept.truncated), None),
                None if kept is None else kept.entity(1 << 20),
                curi.content_size,
            )

        if feeder is not None:
            made: Any = handler
            made.connector = feeder
        yield one


@pytest.fixture(scope="module")
def over_sockets() -> dict[str, tuple[Outcome, bytes]]:
    """Every exchange, many at a time."""
    turn = asyncio.Semaphore(20)

    async def played(exchange: Exchange) -> tuple[Outcome, bytes]:
        async with turn, Player(exchange) as player, fetching(exchange) as one:
            return await one(player.url), bytes(player.sent)

    async def work() -> dict[str, tuple[Outcome, bytes]]:
        found = await asyncio.gather(*map(played, EXCHANGES.values()))
        return dict(zip(EXCHANGES, found, strict=True))

    return asyncio.run(asyncio.wait_for(work(), 60))


def check(exchange: Exchange, outcome: Outcome, sent: bytes) -> None:
    assert outcome.status == exchange.status
    noted = tuple(note for note in outcome.annotations if not (exchange.overrun and note == "overrun"))
    assert noted == exchange.annotations
    assert outcome.truncated == exchange.truncated
    if exchange.recorded == SO_FAR:
        assert outcome.recorded
        assert sent.startswith(outcome.recorded)
    else:
        assert outcome.recorded == exchange.recorded
    if exchange.entity is not None:
        assert outcome.entity == exchange.entity
    if outcome.recorded is not None:
        assert outcome.size == len(outcome.recorded)


@pytest.mark.parametrize("name", list(EXCHANGES))
def test_over_a_socket(name: str, over_sockets: dict[str, tuple[Outcome, bytes]]) -> None:
    check(EXCHANGES[name], *over_sockets[name])


@pytest.mark.parametrize("name", [name for name, each in EXCHANGES.items() if each.kind not in ONLY_REAL])
def test_in_any_split(name: str) -> None:
    exchange = EXCHANGES[name]
    last = exchange.steps[-1]
    sent = exchange.sent + (last[1] * 200 if last[0] == "endless" else b"")
    splits = SPLITS if len(sent) < 100_000 else 3

    values: dict[str, Any] = {"keep_alive_pool_size": 0}
    if last[0] == "hold":
        values["timeout_seconds"] = 1

    async def work() -> list[Outcome]:
        async with fetching(exchange, Feeder(exchange, name), **values) as one:
            return await asyncio.gather(*(one("http://127.0.0.1:9/") for _ in range(splits)))

    for outcome in asyncio.run(asyncio.wait_for(work(), 60)):
        check(exchange, outcome, sent)


def test_the_corpus_is_large_and_no_two_are_the_same() -> None:
    assert len(EXCHANGES) >= 130
    assert len({(each.sent, each.steps, each.kind, each.method, each.url) for each in EXCHANGES.values()}) >= 130
