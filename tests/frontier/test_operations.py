"""Can an operator see what waits, and have it otherwise, without anything being lost or counted wrong?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier.looking import OperationError
from heritrix_scrapy.frontier.operations import Operations
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.work import Work
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.store import MemoryStore, open_store
from tests.frontier.world import UniformSettings, end, make

if TYPE_CHECKING:
    from pathlib import Path

    from heritrix_scrapy.frontier.core import Frontier


class World:
    """A frontier with an operator before it; ``every``: whether each slice is over at once."""

    def __init__(self, store: Any = None, **settings: Any) -> None:
        self.decide = lambda curi: True
        self.store = MemoryStore() if store is None else store
        self.frontier, self.clock, self.log = make(self.store, decide=lambda curi: self.decide(curi), **settings)
        self.notes: list[str] = []
        self.counted: Counter[str] = Counter()
        self.gone: list[str] = []
        self.slices = 0
        self.settings = UniformSettings(default_view(follow="all", **settings))
        self.operations = Operations(
            self.frontier,
            self.settings,
            self.clock,
            decide=lambda curi: self.decide(curi),
            note=self.notes.append,
            count=self.counted.update,
            gone=lambda curi: self.gone.append(curi.uri),
        )

    def add(self, *uris: str, **more: Any) -> None:
        self.frontier.add([CrawlURI(uri, path="L", via="http://s.test/", **more) for uri in uris])

    def do(self, name: str, **parameters: Any) -> dict[str, Any]:
        result = self.operations.perform({"do": name, **parameters})
        if isinstance(result, Work):
            while not result.run(lambda: True):
                self.slices += 1
            answer = result.answer()
            self.operations.noted(result, answer)
            return answer
        assert json.dumps(result)
        return result

    def order(self) -> list[str]:
        uris = []
        while (curi := self.frontier.next(self.clock.now)) is not None:
            uris.append(curi.uri)
            end(self.frontier, curi, 200, self.clock.now)
        return uris


def queued(frontier: Frontier) -> int:
    return frontier.totals.queued


@pytest.mark.parametrize("kind", ["memory", "leveldb"])
def test_deletion_is_logged_counted_and_sliced(kind: str, tmp_path: Path) -> None:
    world = World(MemoryStore() if kind == "memory" else open_store(tmp_path / "store"))
    world.add(*(f"http://a.test/{number}" for number in range(200)), *(f"http://b.test/{n}" for n in range(50)))
    answer = world.do("delete", uri=r"http://a\.test/1\d*", queue="test,a,", count_only=True)
    assert (answer["counted"], answer["queues"]) == (111, {"test,a,": 111})
    assert (queued(world.frontier), world.log.ends) == (250, [])
    answer = world.do("delete", uri=r"http://a\.test/1\d*", queue="test,a,", remark="a trap\nof dates")
    assert answer["deleted"] == 111
    assert world.slices > 10
    assert queued(world.frontier) == 139
    assert {code for _, code, _ in world.log.ends} == {-6000}
    assert (len(world.log.ends), world.frontier.totals.disregarded) == (111, 111)
    assert len(world.gone) == 111
    assert world.notes[-1].endswith("a trap of dates")
    counted = {"delete/count_only": 1, "delete": 1, "delete/deleted": 111}
    assert world.counted == {f"operations/{name}": count for name, count in counted.items()}
    assert world.do("delete", uri=".*", queue="test")["deleted"] == 0  # the whole name has to match
    world.add("http://a.test/1")
    assert queued(world.frontier) == 139  # the seen filter still knows it
    left = world.order()
    assert len(left) == 139
    assert not [uri for uri in left if uri.startswith("http://a.test/1")]


def test_deleted_uris_may_be_forgotten_and_kept_out_of_the_log() -> None:
    world = World()
    world.add("http://a.test/1", "http://a.test/2")
    world.do("delete", uri=".*1", forget=True, quiet=True)
    assert (world.log.ends, world.frontier.totals.disregarded) == ([], 0)
    world.add("http://a.test/1")
    assert world.order() == ["http://a.test/2", "http://a.test/1"]


def test_what_is_in_process_is_left_alone() -> None:
    world = World()
    world.add("http://a.test/1", "http://a.test/2")
    curi = world.frontier.next(world.clock.now)
    assert curi is not None
    answer = world.do("delete", uri=".*")
    assert (answer["deleted"], answer["in process"]) == (1, 1)
    assert end(world.frontier, curi, 200, world.clock.now)
    assert world.order() == []
    assert not world.frontier.alive()


def test_deletion_reaches_behind_what_is_read_ahead() -> None:
    world = World()
    world.add(*(f"http://a.test/{number:03}" for number in range(300)))
    first = world.frontier.next(world.clock.now)
    assert first is not None
    world.do("delete", uri=r".*/[12]\d\d")
    end(world.frontier, first, 200, world.clock.now)
    assert world.order() == [f"http://a.test/{number:03}" for number in range(1, 100)]


def test_whether_a_drop_judges_what_the_spider_asked_for_may_change() -> None:
    world = World()
    world.add("http://a.test/1", spider_request=True)
    world.decide = lambda curi: False
    assert world.do("drop", count_only=True)["counted"] == 0
    world.settings.become(UniformSettings(default_view(follow="all", scope_spider_requests=True)))
    assert world.do("drop")["deleted"] == 1


def test_drop_what_a_changed_scope_refuses() -> None:
    world = World()
    world.frontier.add([seed("http://old.test/")])
    world.add("http://old.test/1", "http://new.test/1")
    world.decide = lambda curi: "new" in curi.uri
    assert world.do("drop", count_only=True)["counted"] == 1
    assert world.do("drop")["deleted"] == 1
    assert world.log.ends == [("http://old.test/1", -5000, "")]
    assert sorted(world.order()) == ["http://new.test/1", "http://old.test/"]


def test_retire_by_expression_and_reconsider() -> None:
    world = World()
    world.add("http://a.test/1", "http://b.test/1", "http://c.other/1")
    assert world.do("retire", queue="test,.*", count_only=True) == {"queues": 2, "uris": 2, "count only": True}
    assert world.do("retire", queue="test,.*")["queues"] == 2
    assert world.order() == ["http://c.other/1"]
    assert not world.frontier.alive()
    retired = world.do("queues", state="retired")["queues"]
    assert [row["waits for"] for row in retired] == ["an operator: it was retired"] * 2
    assert world.do("reconsider", queue="test,a,")["queues"] == 1
    assert world.order() == ["http://a.test/1"]
    assert world.do("reconsider")["uris"] == 1
    assert world.order() == ["http://b.test/1"]


def test_a_budget_retires_and_the_queue_says_so() -> None:
    world = World(queue_total_budget=1)
    world.add("http://a.test/1", "http://a.test/2")
    assert world.order() == ["http://a.test/1"]
    assert world.do("queues", queue_name="test,a,")["queues"][0]["waits for"] == ("a budget above 1: it has spent 1")


def test_a_queue_tells_what_it_waits_for() -> None:
    """PC-211: which queues wait, why, and until when."""
    world = World(retry_delay_seconds=900)
    world.add("http://a.test/1", "http://b.test/1", "http://b.test/2", "http://c.test/1")
    first = world.frontier.next(world.clock.now)
    assert first is not None
    end(world.frontier, first, -2, world.clock.now)
    second = world.frontier.next(world.clock.now)
    assert second is not None
    end(world.frontier, second, 200, world.clock.now, delay=60_000)
    world.frontier.next(world.clock.now)
    rows = {row["queue"]: row for row in world.do("queues")["queues"]}
    assert rows["test,a,"]["waits for"] == "another try after Heritrix(-2)-Connection failed"
    assert (rows["test,a,"]["seconds"], rows["test,a,"]["until"]) == (900.0, "2023-11-14T22:28:20.000Z")
    assert (rows["test,b,"]["waits for"], rows["test,b,"]["seconds"]) == ("politeness", 60.0)
    assert rows["test,c,"]["waits for"] == "the fetch of http://c.test/1"
    assert world.do("wake", queue="test,b,")["queues"] == 1
    woken = world.frontier.next(world.clock.now)
    assert woken is not None
    assert woken.uri == "http://b.test/2"
    assert world.do("wake", count_only=True)["queues"] == 1


def test_a_queue_tells_that_its_server_is_busy() -> None:
    """PC-211: the host answers 503 and names a long time; the report says which queue waits, why, and until when."""
    world = World()
    world.add("http://a.test/1")
    curi = world.frontier.next(world.clock.now)
    assert curi is not None
    server = world.frontier._hosts.server("a.test")
    server.retry_at_ms, server.retry_ms = world.clock.now + 3_600_000, 3_600_000
    end(world.frontier, curi, 503, world.clock.now)
    assert world.frontier.next(world.clock.now) is None
    (row,) = world.do("queues")["queues"]
    assert row["waits for"] == "the server, which answered 503"
    assert (row["seconds"], row["until"]) == (3600.0, "2023-11-14T23:13:20.000Z")
    (waiting,) = world.frontier.status()["waiting"]
    assert waiting["why"] == "the server, which answered 503"


def test_pages_of_queues_and_uris() -> None:
    world = World()
    world.add(*(f"http://h{number:02}.test/{page}" for number in range(30) for page in range(3)))
    seen, marker = [], ""
    while marker is not None:
        page = world.do("queues", marker=marker, limit=7)
        assert len(page["queues"]) <= 7
        seen += [row["queue"] for row in page["queues"]]
        marker = page["marker"]
    assert seen == sorted(seen)
    assert len(seen) == 30
    uris, marker = [], ""
    while marker is not None:
        page = world.do("urls", marker=marker, limit=11, queue="test,h0[0-4],")
        uris += [row["uri"] for row in page["urls"]]
        marker = page["marker"]
        world.frontier.flush(world.clock.now)
    assert uris == [f"http://h{number:02}.test/{page}" for number in range(5) for page in range(3)]
    assert [row["uri"] for row in world.do("urls", queue_name="test,h07,", uri=".*2")["urls"]] == ["http://h07.test/2"]
    states = world.do("queues")["states"]
    assert (states["totalQueues"], states["inactiveQueues"]) == (30, 30)


def test_the_longest_queues_come_without_a_search() -> None:
    world = World()
    for number in range(40):
        world.add(*(f"http://h{number:02}.test/{page}" for page in range(number + 1)))
        world.frontier.flush(world.clock.now)
    longest = world.do("queues", limit=1)["longest"]
    assert [row["uris"] for row in longest] == list(range(40, 20, -1))
    world.frontier.close()
    again, _, _ = make(world.store)
    assert again.longest()[0] == ("test,h39,", 40)


def test_a_forced_uri_comes_again_and_passes_nothing_on() -> None:
    """PC-228: only the forced URI is fetched again, not what it links to."""
    world = World()
    world.add("http://a.test/", "http://a.test/known")
    assert world.order() == ["http://a.test/", "http://a.test/known"]
    assert world.do("force", uri="http://a.test/")["queued"] == 1
    curi = world.frontier.next(world.clock.now)
    assert curi is not None
    assert curi.forced
    end(world.frontier, curi, 200, world.clock.now, "http://a.test/known")
    assert world.order() == []


def test_a_uri_forced_now_goes_first() -> None:
    world = World()
    world.add("http://a.test/1", "http://a.test/2")
    first = world.frontier.next(world.clock.now)
    assert first is not None
    end(world.frontier, first, 200, world.clock.now, delay=60_000)
    assert world.do("force", uri="http://a.test/3", now=True)["woken"]
    assert world.order() == ["http://a.test/3", "http://a.test/2"]


def test_seeds_while_running() -> None:
    heard: list[str] = []

    class Listener:
        def seed_added(self, uri: str, written: str = "") -> None:
            heard.append(uri)

        def non_seed_line(self, line: str) -> bool:
            heard.append(line)
            return True

        def seeds_read(self) -> None: ...

    world = World()
    world.operations._listeners.append(Listener())
    assert world.do("seeds", lines=["new.test", "+other.test"])["queued"] == 1
    assert heard == ["http://new.test/", "+other.test"]
    assert world.do("seeds", lines=["new.test"])["queued"] == 0


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"do": "nonsense"}, "no such operation"),
        ({"do": "delete", "regex": "x"}, "not regex"),
        ({"do": "delete", "uri": 3}, "expected str"),
        ({"do": "delete", "uri": "("}, "no regular expression"),
        ({"do": "queues", "state": "asleep"}, "there are the states"),
        ({"do": "queues", "marker": "zz"}, "marker"),
        ({"do": "urls", "queue_name": "no,such,"}, "no queue"),
        ({"do": "force", "uri": "no uri"}, "no URI"),
        ({"do": "kill", "uri": "http://a.test/"}, "not in process"),
        ({"do": "queue_report", "kind": "long"}, "there are the reports"),
        ({"do": "import", "file": "/no/such/file"}, "no such file"),
        ({"do": "export", "file": "x", "format": "csv"}, "there are the formats"),
    ],
)
def test_bad_requests_are_refused_with_words(request_: dict[str, Any], word: str) -> None:
    with pytest.raises(Refused, match=word):
        World().operations.perform(request_)


def test_a_kill_is_handed_on() -> None:
    world = World()
    world.add("http://a.test/1")
    curi = world.frontier.next(world.clock.now)
    with pytest.raises(OperationError, match="no fetch"):
        world.do("kill", uri="http://a.test/1")
    killed: list[CrawlURI] = []
    world.operations._kill = lambda curi, keep: not killed.append(curi)
    assert world.do("kill", uri="http://a.test/1", remark="hangs")["killed"] == 1
    assert killed == [curi]
    assert world.notes[-1].endswith("- hangs")


def test_an_emptied_queue_is_no_trouble() -> None:
    world = World()
    world.add("http://a.test/1", "http://b.test/1")
    world.do("delete", queue="test,a,")
    record = world.frontier.queue("test,a,")
    assert record is not None
    assert (record.record.count, record.record.state) == (0, State.INACTIVE)
    assert world.order() == ["http://b.test/1"]
    world.frontier.close()
    again, clock, _ = make(world.store)
    assert again.next(clock.now) is None
