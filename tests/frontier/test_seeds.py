"""Do seeds reach the queue and everyone who listens?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier.seeds import SeedReader, announce, appended
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.files import LazyLines
from tests.frontier.world import UniformSettings, make

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier

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
    assert "seed line not understood: https://other.test/x y (more than one word" in caplog.text


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("http://a.test/\u00e9\r\nhttp://b.test/\r\n".encode("utf-16"), ["http://a.test/%C3%A9", "http://b.test/"]),
        ("http://a.test/\u00e9\nhttp://b.test/\n".encode("utf-8-sig"), ["http://a.test/%C3%A9", "http://b.test/"]),
        ("http://a.test/\u00e9\nhttp://b.test/".encode("latin-1"), ["http://a.test/%E9", "http://b.test/"]),
        ("http://\u00e9.test/\nhttp://b.test/".encode("latin-1"), ["http://b.test/"]),
        (b"", []),
    ],
    ids=["utf-16", "utf-8", "latin-1", "latin-1-host", "empty"],
)
def test_a_file_of_seeds_in_whatever_it_is_written(data: bytes, wanted: list[str], tmp_path: Path) -> None:
    """A letter that the file has in another way of writing is no reason to ask for another page."""
    file = tmp_path / "seeds.txt"
    file.write_bytes(data)
    assert [curi.uri for curi in announce(LazyLines(file), [], default_view())] == wanted


def test_seeds_are_not_judged_and_not_doubled() -> None:
    frontier, clock, _ = make(decide=lambda curi: False)
    view = default_view()
    assert frontier.add(announce(LINES, [], view)) == 2
    assert frontier.add(announce(LINES, [], view)) == 0
    first = frontier.next(clock.now)
    assert first is not None
    assert (first.uri, first.seed, first.path, first.via) == ("http://example.com/", True, "", None)


def reader(frontier: Frontier, lines: list[str], **more: Any) -> tuple[SeedReader, Listener]:
    listener = Listener()
    view = {key: value for key, value in more.items() if key not in ("source", "file")}
    settings = UniformSettings(default_view(seeds=lines, **view))
    parts = {key: value for key, value in more.items() if key in ("source", "file")}
    return SeedReader(frontier, [listener], settings, **parts), listener


def test_the_crawl_begins_before_all_seeds_are_read() -> None:
    frontier, _, _ = make()
    seeds, listener = reader(frontier, [f"s{number}.test" for number in range(10)], block_awaiting_seed_lines=3)
    seeds.begin()
    assert (frontier.totals.queued, seeds.done, ("read",) in listener.heard) == (3, False, False)
    seeds.go_on(lambda: frontier.totals.queued >= 7)
    assert frontier.totals.queued == 7
    seeds.go_on(lambda: False)
    assert (frontier.totals.queued, seeds.done, listener.heard[-1]) == (10, True, ("read",))


@pytest.mark.parametrize(("lines", "told"), [(["a.test"], False), (["# none", "two words"], True)])
def test_only_a_list_without_a_seed_is_said_to_have_none(
    lines: list[str], told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    frontier, _, _ = make()
    settings = UniformSettings(default_view(seeds=lines))
    settings.explicit = frozenset({"SEEDS"})  # type: ignore[attr-defined]
    SeedReader(frontier, [], settings).begin()
    assert ("there is no seed in" in caplog.text) is told


def test_a_source_is_read_line_by_line() -> None:
    """PC-208: seeds come from a cursor; none is held before its turn."""
    frontier, _, _ = make()
    drawn: list[int] = []

    class Cursor:
        def seeds(self) -> Iterator[str]:
            for number in range(1_000_000):
                drawn.append(number)
                yield f"s{number}.test"

    seeds, _ = reader(frontier, ["first.test"], source=Cursor(), block_awaiting_seed_lines=2)
    seeds.begin()
    assert frontier.totals.queued == 2
    assert len(drawn) < 5
    assert seeds.more(["late.test", "first.test"]) == 1


def test_a_seeds_file_edited_during_a_pause_is_read_again(tmp_path: Path) -> None:
    """PC-219: two lines are added during a pause; the new ones are queued, once."""
    file = tmp_path / "seeds.txt"
    file.write_text("a.test\n")
    frontier, _, _ = make()
    seeds, listener = reader(frontier, ["a.test"], file=file)
    seeds.begin()
    assert not seeds.reread()
    file.write_text("a.test\nb.test\nc.test\n")
    assert seeds.reread()
    assert not seeds.done
    assert seeds.go_on(lambda: False) == 3
    assert seeds.queued == 2
    assert not seeds.reread()
    assert frontier.totals.queued == 3
    assert ("http://c.test/", "c.test") in listener.heard


def test_what_heritrix_appends() -> None:
    assert appended("http://b.test/", "http://a.test/") == (
        "\n# Heritrix added seed redirect from http://a.test/.\nhttp://b.test/"
    )
    assert appended("http://b.test/", None) == "\n# Heritrix added seed (JMX).\nhttp://b.test/"


@pytest.mark.parametrize(("lines", "warned"), [(["a.test", "# b.test"], False), (["# a.test", "+b.test"], True)])
def test_seeds_that_are_none_are_warned_of(lines: list[str], warned: bool, caplog: pytest.LogCaptureFixture) -> None:
    frontier, _, _ = make()
    settings = UniformSettings(default_view(seeds=lines))
    settings.explicit = frozenset({"SEEDS"})  # type: ignore[attr-defined]
    seeds = SeedReader(frontier, [], settings)
    seeds.begin()
    assert seeds.done
    assert ("there is no seed in 2 lines" in caplog.text) is warned
