"""Do seeds reach the queue and everyone who listens?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.settings import default_view
from tests.frontier.world import make

if TYPE_CHECKING:
    import pytest

LINES = [
    "# the seeds",
    "",
    "example.com  # a site",
    "+http://(org,",
    "https://other.test/x y",
    "http://[bad/",
    "b.test",
]


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[str, ...]] = []

    def seed_added(self, uri: str, written: str = "") -> None:
        self.heard.append((uri, written))

    def non_seed_line(self, line: str) -> bool:
        self.heard.append((line,))
        return line.startswith("+")

    def seeds_read(self) -> None:
        self.heard.append(("read",))


def test_lines(caplog: pytest.LogCaptureFixture) -> None:
    listener = Listener()
    seeds = list(announce(LINES, [listener], default_view(source_tag_seeds=True)))
    assert [(curi.uri, curi.source_tag, curi.directive, curi.seed) for curi in seeds] == [
        ("http://example.com/", "example.com", 2, True),
        ("http://b.test/", "b.test", 2, True),
    ]
    assert listener.heard == [
        ("http://example.com/", "example.com"),
        ("+http://(org,",),
        ("http://[bad/",),
        ("http://b.test/", "b.test"),
        ("read",),
    ]
    assert "seed line not understood: http://[bad/" in caplog.text


def test_seeds_are_not_judged_and_not_doubled() -> None:
    frontier, clock, _ = make(decide=lambda curi: False)
    view = default_view()
    assert frontier.add(announce(LINES, [], view)) == 2
    assert frontier.add(announce(LINES, [], view)) == 0
    first = frontier.next(clock.now)
    assert first is not None
    assert (first.uri, first.seed, first.path, first.via) == ("http://example.com/", True, "", None)
