"""Do the links that take the short way end up in the store as those that take the general one?"""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import pytest

from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Clock

SEEDS = ["http://a.test/", "http://b.test:8080/", "https://c.test/deep/"]
HOSTS = [
    "http://a.test",
    "http://b.test:8080",
    "https://c.test",
    "http://new.a.test",
    "http://other.test",
    "ftp://a.test",
]
PATHS = [
    "/",
    "/x",
    "/X",
    "/dir/y",
    "/a/b/a/b/a/b/a/b/c",
    "/q?k=v",
    "/q?",
    "/www/;jsessionid=" + "0" * 32,
    "/ü",
    "/\ud800",
]
HOPS = "LLLLEEXRIS"


def links(random: Random) -> list[Outlink]:
    return [
        Outlink(
            f"{random.choice(HOSTS)}{random.choice(PATHS)}{random.choice(['', random.randrange(400)])}",
            random.choice(HOPS),
            "a/@href",
        )
        for _ in range(12)
    ]


def crawl(short: bool, random: Random, **settings: Any) -> tuple[dict[bytes, bytes], list[tuple[str, str]]]:
    """The rows and the order of a crawl of random pages, some of them redirecting seeds."""
    view = default_view(operator_contact_url="http://operator.test/", follow="all", min_delay_ms=0, **settings)
    source = Settings(view)
    scope, store, clock = from_settings(source), MemoryStore(), Clock()
    frontier = Frontier(
        store,
        source,
        decide=scope.accepts,
        recall=scope.recall if short else None,
        remembered=scope.remembered,
        hosts=Hosts(store.get),
        clock=clock,
        seed_found=scope.seed_found,
    )
    frontier.open()
    for uri in SEEDS:
        scope.seed_added(uri)
    scope.seeds_read()
    for tag, uri in enumerate(SEEDS):
        curi = seed(uri)
        curi.source_tag = f"seed {tag}" if tag else None
        frontier.add([curi])
    order: list[tuple[str, str]] = []
    for _ in range(90):
        clock.now += 40_000
        curi = frontier.next(clock.now)
        if curi is None:
            break
        order.append((curi.uri, curi.path))
        curi.status = 200
        curi.began_ms = curi.ended_ms = clock.now
        curi.content_size = curi.content_length = 1000
        curi.outlinks = links(random)
        frontier.finish(curi, clock.now)
    frontier.flush(clock.now)
    return dict(store.range(b"")), order


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"profile": "heritrix"},
        {"preference_depth_hops": 0},
        {"uri_precedence_policy": "Hops"},
        {"uri_precedence_policy": ["Base", {"base_precedence": 7}], "cost_assignment_policy": "Zero"},
        {"cost_assignment_policy": "Wag"},
        {"force_queue_assignment": "one"},
        {"max_hops": 2},
        {"surts": ["http://(test,other,)/d"], "reject_regexes": [".*y.*"]},
    ],
    ids=str,
)
def test_the_rows_are_the_same(settings: dict[str, Any]) -> None:
    for number in range(2):
        general, expected = crawl(False, Random(number), **settings)
        short, order = crawl(True, Random(number), **settings)
        assert order == expected
        assert short == general
        assert len(order) > 20


def test_the_short_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "HOPS", "L")
    monkeypatch.setattr(sys.modules[__name__], "PATHS", ["/dir/"])
    made: list[str] = []
    child = CrawlURI.child
    monkeypatch.setattr(CrawlURI, "child", lambda self, link: made.append(link.uri) or child(self, link))
    crawl(False, Random(1))
    general = len(made)
    made.clear()
    crawl(True, Random(1))
    assert 0 < len(made) < general / 2


@pytest.mark.parametrize("context", ["a/@href", "a/@\ud800"])
def test_what_has_no_row_ends_as_on_the_general_way(context: str) -> None:
    ends: list[tuple[int, int]] = []
    for short in (False, True):
        source = Settings(default_view(operator_contact_url="http://operator.test/", follow="all"))
        scope, store, clock = from_settings(source), MemoryStore(), Clock()
        frontier = Frontier(
            store,
            source,
            decide=scope.accepts,
            recall=scope.recall if short else None,
            remembered=scope.remembered,
            hosts=Hosts(store.get),
            clock=clock,
        )
        frontier.open()
        scope.seed_added("http://a.test/")
        frontier.add([seed("http://a.test/")])
        curi = frontier.next(clock.now)
        assert curi is not None
        curi.status = 200
        curi.outlinks = [Outlink(f"http://a.test/{number}", "L", context) for number in range(3)]
        frontier.finish(curi, clock.now)
        ends.append((frontier.totals.queued, frontier.totals.unqueuable))
    assert ends[0] == ends[1] == ((3, 0) if context == "a/@href" else (0, 3))
