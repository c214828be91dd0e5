"""Scenarios of the settings of the frontier: where a URI belongs, whose turn it is, how long a queue rests, what
becomes of a failure."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.diversion import Diversions
from heritrix_scrapy.frontier.mapper import Diverter, named
from heritrix_scrapy.frontier.politeness import politeness_delay, retry_delay
from heritrix_scrapy.frontier.prepare import Preparer, canonicaliser
from heritrix_scrapy.frontier.rescheduling import Rescheduling
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import START_MS, Clock, Log
from tests.settings.scenarios import WITH, WITHOUT, Outcome, Scenario, at, plain

if TYPE_CHECKING:
    from heritrix_scrapy.settings import Settings


# -- where a URI belongs -------------------------------------------------------------------------------------------


def prepared(tail: str = "x", path: str = "L", *, queue: str = "", **more: Any) -> Outcome:
    """What the frontier is told of a URI. ``queue``: the one it has already."""

    def outcome(settings: Settings, host: str) -> str:
        curi = at(settings, host, tail, path, **more)
        curi.class_key = queue
        Preparer(canonicaliser, heritrix=False).prepare(curi)
        return plain([curi.class_key, curi.canonical, curi.directive, curi.precedence, curi.cost], host)

    return outcome


# -- a crawl without a network -------------------------------------------------------------------------------------


class Frontiers:
    """A frontier under these settings, with a clock that is set."""

    def __init__(self, settings: Settings) -> None:
        store = MemoryStore()
        self.clock = Clock()
        self.hosts = Hosts(store.get)
        self.frontier = Frontier(
            store, settings, decide=lambda curi: True, hosts=self.hosts, clock=self.clock, report=Log()
        )
        self.frontier.open()
        self.settings = settings

    def add(self, *uris: str) -> None:
        for uri in uris:
            curi = CrawlURI(uri, path="L", via="http://via.example/")
            self.settings.for_uri(curi)
            self.frontier.add([curi])

    def next(self) -> CrawlURI | None:
        return self.frontier.next(self.clock.now)

    def end(self, curi: CrawlURI, code: int) -> None:
        curi.status = code
        curi.delay_ms = 0 if curi.delay_ms < 0 else curi.delay_ms
        self.frontier.finish(curi, self.clock.now)


def turns(code: int = 200, pages: int = 4) -> Outcome:
    """Whose turn it is, as long as there is one: ``h`` of the host, ``o`` of another one that came after it."""

    def outcome(settings: Settings, host: str) -> str:
        world = Frontiers(settings)
        for number in range(pages):
            world.add(f"http://{host}/{number}", f"http://other.test/{number}")
        seen = ""
        while (curi := world.next()) is not None:
            seen += "h" if curi.host == host else "o"
            world.end(curi, code if curi.host == host else 200)
            assert len(seen) < 200
        return seen

    return outcome


def together(settings: Settings, host: str) -> int:
    """How many URIs are fetched at once from one address with two names."""
    world = Frontiers(settings)
    names = (f"a.{host}", f"b.{host}")
    for name in names:
        known = world.hosts.host(name)
        known.addresses, known.looked_up_ms = ["192.0.2.1"], START_MS
        world.add(f"http://{name}/")
    found = [world.next(), world.next()]
    return sum(curi is not None for curi in found)


def rest_of_host(settings: Settings, host: str) -> int | None:
    """When the queue of a large document goes on."""
    world = Frontiers(settings)
    world.add(f"http://{host}/1", f"http://{host}/2")
    curi = world.next()
    assert curi is not None
    curi.began_ms, curi.ended_ms, curi.content_size, curi.status = START_MS, START_MS, 50_000_000, 200
    world.frontier.finish(curi, START_MS)
    return world.frontier.next_wake()


# -- politeness ----------------------------------------------------------------------------------------------------


def rest(began: int = 0, ended: int = 2000, **more: Any) -> Outcome:
    """How long the queue rests after a fetch, in milliseconds."""
    return lambda settings, host: politeness_delay(at(settings, host).settings, began, ended, **more)


def fetched_again(settings: Settings, host: str) -> int:
    """When a URI that ends now is fetched again."""
    curi = at(settings, host)
    Rescheduling(settings, Clock())(curi)
    return curi.reschedule_at


# -- several crawlers ----------------------------------------------------------------------------------------------


def diverted(*, link: bool) -> Outcome:
    """Whether a URI that belongs to another crawler is sent there, as a candidate or as a link."""

    def outcome(settings: Settings, host: str) -> bool:
        mapper = named(settings.view)
        assert mapper is not None
        with TemporaryDirectory() as folder:
            diversions = Diversions(Path(folder), "me", Clock())
            diverter = Diverter(mapper, diversions, lambda curi: "org,other,")
            curi = at(settings, host)
            sent = diverter.divert_outlink(curi) if link else diverter.divert(curi)
            diversions.close()
        return bool(sent)

    return outcome


SPLIT = {"CRAWL_MAPPER": "Lexical", "LOCAL_NAME": "me", "MAP_PATH": ["com me", "~ other"]}
BY_TURNS = {"BALANCE_REPLENISH_AMOUNT": 1}

SCENARIOS = {
    "CANONICALIZATION_RULES": Scenario(["StripExtraSlashes"], prepared("X")),
    "QUEUE_ASSIGNMENT_POLICY": Scenario("Hostname", prepared()),
    "DEFER_TO_PREVIOUS": Scenario(False, prepared(queue="earlier")),
    "FORCE_QUEUE_ASSIGNMENT": Scenario("one", prepared()),
    "PARALLEL_QUEUES": Scenario(7, prepared("y/x")),
    "PARALLEL_QUEUES_RANDOM_ASSIGNMENT": Scenario(True, prepared("y/x"), PARALLEL_QUEUES=50),
    "QUEUE_ASSIGNMENT_LIMIT": Scenario(1, prepared(), QUEUE_ASSIGNMENT_POLICY="SurtAuthorityWithLimits"),
    "SOURCE_TAG_QUEUE_LEVEL": Scenario(
        "domain",
        prepared(source_tag="http://www.seed.example/"),
        QUEUE_ASSIGNMENT_POLICY="SourceTag",
        SOURCE_TAG_SEEDS=True,
    ),
    "PREFERENCE_DEPTH_HOPS": Scenario(2, prepared("x", "LL")),
    "PREFERENCE_EMBED_HOPS": Scenario(0, prepared("x", "LE")),
    "COST_ASSIGNMENT_POLICY": Scenario("Zero", prepared()),
    "URI_PRECEDENCE_POLICY": Scenario("Hops", prepared("x", "LLLL")),
    "URI_BASE_PRECEDENCE": Scenario(9, prepared(), URI_PRECEDENCE_POLICY="Base"),
    "NAVLINKS_ONLY": Scenario(False, prepared("x", "LEE"), URI_PRECEDENCE_POLICY="Hops"),
    "PRELOAD_SOURCE": Scenario(
        [f"http://{host}/x 7" for host in (WITH, WITHOUT)], prepared(), URI_PRECEDENCE_POLICY="Preloaded"
    ),
    "DEFAULT_URI_PRECEDENCE_POLICY": Scenario("Hops", prepared("x", "LLL"), URI_PRECEDENCE_POLICY="Preloaded"),
    "QUEUE_PRECEDENCE_POLICY": Scenario("HighestUri", turns(), **BY_TURNS),
    "QUEUE_BASE_PRECEDENCE": Scenario(9, turns(), **BY_TURNS),
    "INCREMENT_COUNTS": Scenario("1,1", turns(), QUEUE_PRECEDENCE_POLICY="SuccessCounts", **BY_TURNS),
    "QUEUE_TOTAL_BUDGET": Scenario(2, turns()),
    "BALANCE_REPLENISH_AMOUNT": Scenario(2, turns()),
    "ERROR_PENALTY_AMOUNT": Scenario(0, turns(-5), QUEUE_TOTAL_BUDGET=50),
    "MAX_RETRIES": Scenario(3, turns(-2), RETRY_DELAY_SECONDS=0),
    "FORCE_RETIRE": Scenario(True, turns()),
    "POLITENESS_PER_ADDRESS": Scenario(True, together),
    "MAX_PER_HOST_BANDWIDTH_USAGE_KB_SEC": Scenario(100, rest_of_host),
    "DELAY_FACTOR": Scenario(1.0, rest()),
    "MIN_DELAY_MS": Scenario(9000, rest(0, 1)),
    "MAX_DELAY_MS": Scenario(4000, rest()),
    "RESPECT_CRAWL_DELAY_UP_TO_SECONDS": Scenario(10, rest(crawl_delay=60)),
    "RETRY_DELAY_SECONDS": Scenario(7, lambda settings, host: retry_delay(at(settings, host).settings, -2)),
    "RESCHEDULE_DELAY_SECONDS": Scenario(60, fetched_again),
    "CHECK_URI": Scenario(False, diverted(link=False), **SPLIT),
    "CHECK_OUTLINKS": Scenario(True, diverted(link=True), **SPLIT),
}
