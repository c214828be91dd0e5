"""What users of other crawlers reported: queues that block each other, seeds without end, numbers out of range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.frontier.seeds import SeedReader
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import open_store
from tests.frontier.world import UniformSettings, end, make

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier


def page(host: str, number: int) -> CrawlURI:
    return CrawlURI(f"http://{host}.test/{number}", path="L", via="http://seed.test/")


def fetched(frontier: Frontier, now: int, *, rest: int = 0) -> str | None:
    curi = frontier.next(now)
    if curi is None:
        return None
    end(frontier, curi, 200, now, delay=rest)
    return curi.uri


def test_others_are_served_while_one_slow_host_fills_the_memory_and_after() -> None:
    """PC-014: more queues than are kept in memory, one of them slow; the rest is served meanwhile, and it again once it
    has drained."""
    frontier, clock, _ = make(queues_kept=4)
    frontier.add([page("slow", number) for number in range(200)])
    slow = frontier.next(clock.now)
    assert slow is not None
    frontier.add([page(f"h{host}", number) for number in range(3) for host in range(40)])
    frontier.flush(clock.now)
    others = [fetched(frontier, clock.now) for _ in range(120)]
    assert None not in others
    assert not [uri for uri in others if uri and "slow" in uri]
    assert frontier.next(clock.now) is None
    end(frontier, slow, 200, clock.now)
    frontier.add([page("late", 1)])
    rest = [fetched(frontier, clock.now) for _ in range(200)]
    assert sum("slow" in uri for uri in rest if uri) == 199
    assert "http://late.test/1" in rest
    assert not frontier.alive()


def test_a_long_run_of_one_host_holds_up_no_other() -> None:
    """PC-207: 10,000 URIs of one host, then 10 of each of 100 hosts, a second between two fetches of a host."""
    frontier, clock, _ = make()
    frontier.add([page("long", number) for number in range(10_000)])
    frontier.add([page(f"h{host}", number) for host in range(100) for number in range(10)])
    began, first, done = clock.now, {}, 0
    while done < 1000 + 10:
        while (uri := fetched(frontier, clock.now, rest=1000)) is not None:
            first.setdefault(uri.split("/")[2], clock.now - began)
            done += 1
        clock.now = frontier.next_wake() or clock.now + 1
    assert len(first) == 101
    assert max(first.values()) == 0, "each host has its first page at once"
    assert clock.now - began <= 11_000


def test_bytes_on_disk_of_queued_seeds(tmp_path: Path) -> None:
    """PC-208: less than 300 bytes for each queued URI; the seeds come from a cursor."""
    count = 20_000

    class Cursor:
        def seeds(self) -> Iterator[str]:
            for number in range(count):
                yield f"http://www.h{number % 500}.test/articles/{number}.html"

    frontier, clock, _ = make(open_store(tmp_path / "frontier"))
    SeedReader(frontier, [], UniformSettings(default_view()), source=Cursor()).begin()
    frontier.flush(clock.now)
    assert frontier.totals.queued == count
    frontier.close()
    used = sum(path.stat().st_size for path in (tmp_path / "frontier").iterdir())
    assert used / count < 300, f"{used / count:.0f} bytes"


def test_never_idle_while_uris_are_ready() -> None:
    """PC-212: fed, fed no more, fed again; whenever something is queued something comes."""
    frontier, clock, _ = make()
    given = taken = 0
    for round_ in range(30):
        frontier.add([page(f"h{number % 7}", 1000 * round_ + number) for number in range(100)])
        given += 100
        for _ in range(100 if round_ % 3 == 2 else 60):
            assert frontier.alive()
            assert fetched(frontier, clock.now) is not None, "idle though URIs are ready"
            taken += 1
    while frontier.alive():
        assert fetched(frontier, clock.now) is not None
        taken += 1
    assert taken == given
    frontier.add([page("again", 1)])
    assert fetched(frontier, clock.now) == "http://again.test/1"


class Given:
    """Precedence as the path says."""

    def precedence(self, curi: CrawlURI) -> int:
        return int(curi.uri.rpartition("/")[2])


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_precedence_out_of_range_is_clipped_with_a_warning(profile: str, caplog: pytest.LogCaptureFixture) -> None:
    """PC-215: precedence 300; the order stays."""
    policy = f"{__name__}.Given"
    frontier, clock, _ = make(profile=profile, uri_precedence_policy=policy)
    frontier.add([page("a", number) for number in (300, 126, 5, 400, 0)])
    order = [fetched(frontier, clock.now) for _ in range(5)]
    assert [uri.rpartition("/")[2] for uri in order if uri] == ["0", "5", "126", "300", "400"]
    assert len([line for line in caplog.messages if "300" in line and "clipped" in line]) == 1
