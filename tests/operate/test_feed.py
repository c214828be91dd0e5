"""Does a subscriber hear everything, or how much it missed, without being able to hold anybody up?"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate import feed as feeding
from heritrix_scrapy.operate.feed import CAPACITY, Feed
from heritrix_scrapy.operate.following import BEHIND, Follower
from heritrix_scrapy.report.tailing import LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.operate.feed import Subscription


def made(root: Path, wanted: list[str] | None = None) -> Feed:
    heard: list[str] = [] if wanted is None else wanted
    counted = iter(range(1_000_000))
    return Feed(
        lambda: root,
        ("state_changed", "crawl_paused"),
        wanted=heard.append,
        numbers=lambda: {"count": next(counted)},
        hello=lambda: {"protocol": 1},
        now_ms=lambda: 7,
    )


async def rest(subscription: Subscription) -> list[dict[str, Any]]:
    return [dict(event) async for event in subscription]


def test_what_happens_is_told_in_order(tmp_path: Path) -> None:
    async def main() -> list[dict[str, Any]]:
        wanted: list[str] = []
        feed = made(tmp_path, wanted)
        subscription = feed.subscribe(["state_changed"])
        assert wanted == ["state_changed"]
        feed.tell("crawl_paused", {"reason": "not wanted"})
        feed.tell("state_changed", {"state": "RUNNING"})
        feed.end({"state": "FINISHED"})
        feed.tell("state_changed", {"state": "after the end"})
        return await rest(subscription)

    hello, running, last_word, end = asyncio.run(main())
    assert hello == {"event": "hello", "time": 7, "protocol": 1}
    assert running == {"event": "state_changed", "time": 7, "state": "RUNNING"}
    assert last_word["state"] == "after the end"
    assert end == {"event": "end", "time": 7, "state": "FINISHED"}


def test_a_reader_that_does_not_read_is_told_what_it_missed(tmp_path: Path) -> None:
    async def main() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        feed = made(tmp_path)
        slow, other = feed.subscribe(), feed.subscribe()
        for number in range(CAPACITY + 5):
            feed.tell("state_changed", {"number": number})
            if number == 2:
                early = [await anext(other) for _ in range(4)]
        feed.end({})
        assert [event.get("number") for event in early] == [None, 0, 1, 2]
        return await rest(slow), await rest(other)

    slow, other = asyncio.run(main())
    assert [event["event"] for event in slow[:2]] == ["hello", "missed"]
    assert slow[1]["events"] == 5
    assert [event["number"] for event in slow[2:-1]] == list(range(5, CAPACITY + 5))
    assert other[0] == {"event": "missed", "time": 7, "events": 2}


def test_numbers_come_when_they_are_due_and_never_pile_up(tmp_path: Path) -> None:
    async def main() -> list[dict[str, Any]]:
        feed = made(tmp_path)
        subscription = feed.subscribe([], numbers=0.1)
        got = [dict(await anext(subscription)) for _ in range(3)]
        # nobody reads for the time of three
        await asyncio.to_thread(lambda: __import__("time").sleep(0.35))
        got += [dict(await anext(subscription)) for _ in range(2)]
        subscription.close()
        assert await rest(subscription) == []
        return got

    assert [event.get("count") for event in asyncio.run(main())] == [None, 0, 1, 2, 3]


def test_lines_of_logs_come_whole_and_filtered(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "crawl.log"
    log.parent.mkdir()
    log.write_text("1 old\n2 old\n")

    async def main() -> list[dict[str, Any]]:
        feed = made(tmp_path)
        subscription = feed.subscribe([], logs={"crawl.log": "old|new", "alerts.log": ""}, lines=1)
        got = [dict(await anext(subscription)) for _ in range(2)]
        with log.open("a") as file:
            file.write("3 new\n4 other\n5 ne")
        got.append(dict(await anext(subscription)))
        with log.open("a") as file:
            file.write("w\n")
        (log.parent / "alerts.log").write_text("first\n")
        feed.end({})
        return got + await rest(subscription)

    _, first, second, *others, end = asyncio.run(main())
    assert (first["log"], first["lines"]) == ("crawl.log", ["2 old"])
    assert second["lines"] == ["3 new"]
    assert {each["log"]: each["lines"] for each in others} == {"crawl.log": ["5 new"], "alerts.log": ["first"]}
    assert end["event"] == "end"


def test_a_follower_goes_over_rotations_without_losing_a_line(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "crawl.log"
    log.parent.mkdir()
    log.write_text("1\n")
    follower = Follower(tmp_path, "crawl.log")
    assert follower.look() is None
    with log.open("a") as file:
        file.write("2\n")
    os.rename(log, log.with_name("crawl.log.cp00001-20260101000000"))
    assert follower.look() is None  # no new file yet: the old one's lines come with it
    log.write_text("3\n")
    found = [follower.look(), follower.look(), follower.look()]
    assert [each and each["lines"] for each in found] == [["2"], ["3"], None]


def test_a_follower_that_is_far_behind_skips_and_says_so(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "crawl.log"
    log.parent.mkdir()
    log.write_text("")
    follower = Follower(tmp_path, "crawl.log")
    line = "x" * 99 + "\n"
    count = (BEHIND + LIMIT) // 100
    log.write_text(line * count)
    first = follower.look()
    assert first is not None
    assert first["skipped"] == count * 100 - LIMIT
    read = len(first["lines"])
    while (more := follower.look()) is not None:
        assert "skipped" not in more
        read += len(more["lines"])
    assert LIMIT // 100 <= read <= LIMIT // 100 + 1  # the first may be the end of a line


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"events": ["fly"]}, "no event 'fly'; there are: state_changed, crawl_paused"),
        ({"numbers": 0.001}, "numbers is 0.001"),
        ({"numbers": -1.0}, "numbers is -1.0"),
        ({"logs": ["../job.log"]}, "expected the name of a file"),
        ({"logs": ["nothing.log"]}, "has no nothing.log"),
        ({"logs": {"crawl.log": "("}}, "no regular expression"),
        ({"logs": {"crawl.log": 3}}, "expected an expression"),
        ({"lines": -1}, "lines is -1"),
    ],
)
def test_what_cannot_be_subscribed_to_is_refused(tmp_path: Path, request_: dict[str, Any], word: str) -> None:
    (tmp_path / "job.log").write_text("")
    with pytest.raises(Refused, match=word):
        made(tmp_path).subscribe(**request_)


def test_there_are_only_so_many(tmp_path: Path) -> None:
    async def main() -> None:
        feed = made(tmp_path)
        held = [feed.subscribe([]) for _ in range(feeding.MOST)]
        with pytest.raises(Refused, match="100 subscriptions"):
            feed.subscribe([])
        held[0].close()
        feed.subscribe([])

    asyncio.run(main())
