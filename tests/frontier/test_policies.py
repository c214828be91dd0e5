"""Policies, where the vectors do not look: the modern profile, sheets, policies of the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.policies import (
    CostAssignmentPolicy,
    QueueAssignmentPolicy,
    QueuePrecedencePolicy,
    UriPrecedencePolicy,
)
from heritrix_scrapy.frontier.policies.assignment import address_hash, java_hash
from heritrix_scrapy.frontier.policies.named import KINDS, Policies, shipped
from heritrix_scrapy.frontier.prepare import MAX_CLASS_KEY, Plan, Preparer, canonicaliser
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.settings.sheets import Sheets
from heritrix_scrapy.store import MemoryStore
from tests.frontier.world import Clock, end, make

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.queue import QueueRecord

HERE = __name__


def plan(profile: str = "modern", hosts: Hosts | None = None, **settings: Any) -> Plan:
    preparer = Preparer(canonicaliser, Policies(None, hosts), heritrix=profile == "heritrix")
    return preparer.plan(default_view(profile, **settings))


def key(uri: str, *, tag: str | None = None, hosts: Hosts | None = None, **settings: Any) -> str:
    return plan(hosts=hosts, **settings).class_key(CrawlURI(uri, source_tag=tag))


def addresses(**known: str) -> Hosts:
    hosts = Hosts(lambda key: None)
    for name, address in known.items():
        hosts.host(name.replace("_", ".")).addresses = [address]
    return hosts


# -- names and properties ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.setting)
def test_every_shipped_policy_can_be_named_in_three_ways(kind: Any) -> None:
    for short, cls in shipped(kind).items():
        for name in (short, cls.__name__, f"org.archive.crawler.frontier.{cls.__name__}"):
            view = default_view(**{kind.setting: name, "source_tag_seeds": True})
            assert type(Policies().make(kind, view)) is cls


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("queue_assignment_policy", "Topmost", "one of SurtAuthority, SurtAuthorityWithLimits, Hostname"),
        ("queue_assignment_policy", ["Hostname", {"limit": 2}], "no such property; it takes defer_to_previous"),
        ("queue_assignment_policy", ["SurtAuthorityWithLimits", {"limit": "few"}], "whole number"),
        ("queue_assignment_policy", "SourceTag", "HERITRIX_SOURCE_TAG_SEEDS"),
        ("cost_assignment_policy", ["Unit", {"cost": 2}], "it takes none"),
        ("cost_assignment_policy", "nowhere.Costs", "cannot be imported"),
        ("cost_assignment_policy", f"{HERE}.Nothing", "has a method cost_of"),
        ("cost_assignment_policy", f"{HERE}.NeedsMore", "cannot be made"),
        ("uri_precedence_policy", ["Preloaded", {"preload_source": ["x y z"]}], "a URI and a whole number"),
        ("uri_precedence_policy", ["Preloaded", {"default_uri_precedence_policy": "Preloaded"}], "another policy"),
        ("queue_precedence_policy", ["SuccessCounts", {"increment_counts": "10,x"}], "commas between"),
    ],
)
def test_a_policy_that_cannot_be(setting: str, value: object, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        make(**{setting: value})


def sheeted(sheets: dict[str, Any]) -> Settings:
    view = default_view(operator_contact_url="http://operator.test/")
    return Settings(view, sheets=Sheets(sheets, [], view, strict=False))


def test_a_sheet_names_policies_that_exist() -> None:
    settings = sheeted({"odd": {"HERITRIX_COST_ASSIGNMENT_POLICY": "Dear"}})
    with pytest.raises(ConfigurationError, match="Dear"):
        Frontier(MemoryStore(), settings, decide=bool, hosts=Hosts(lambda key: None), clock=Clock())


def test_sheets_that_are_wrong_together_do_not_end_the_crawl(caplog: pytest.LogCaptureFixture) -> None:
    settings = sheeted({"right": {"HERITRIX_QUEUE_BASE_PRECEDENCE": 9}})
    frontier = Frontier(MemoryStore(), settings, decide=bool, hosts=Hosts(lambda key: None), clock=Clock())
    together = settings.view.replace(
        {"INCREMENT_COUNTS": "many", "QUEUE_PRECEDENCE_POLICY": "SuccessCounts"}, sheets=("a", "b")
    )
    plan = frontier.preparer.plan(together)
    assert plan.view is settings.view
    assert "sheets a, b" in caplog.text


def test_a_sheet_has_the_last_word_over_a_property() -> None:
    view = default_view(uri_precedence_policy=["Base", {"base_precedence": 5}])
    sheets = Sheets(
        {
            "front": {"HERITRIX_URI_BASE_PRECEDENCE": 2},
            "hops": {"HERITRIX_URI_PRECEDENCE_POLICY": ["Hops", {"base_precedence": 9}]},
        },
        [
            {"surt_prefixes": ["http://(test,front,"], "sheets": ["front"]},
            {"surt_prefixes": ["http://(test,hops,"], "sheets": ["hops"]},
        ],
        view,
        strict=False,
    )
    settings = Settings(view, sheets=sheets)
    preparer = Preparer(canonicaliser, Policies(lambda: settings.view), heritrix=False)
    got = {}
    for host in ("other", "front", "hops"):
        curi = CrawlURI(f"http://{host}.test/", path="L")
        settings.for_uri(curi)
        preparer.prepare(curi)
        got[host] = curi.precedence
    assert got == {"other": 5, "front": 2, "hops": 10}


# -- queue assignment --------------------------------------------------------------------------------------


def test_http_and_https_of_a_host_share_one_politeness_clock() -> None:
    """PC-210"""
    frontier, clock, _ = make()
    frontier.add([seed("http://a.test/"), seed("https://a.test/")])
    first = frontier.next(clock.now)
    assert first is not None
    assert frontier.next(clock.now) is None
    end(frontier, first, 200, clock.now, delay=3000)
    assert frontier.next(clock.now + 2999) is None
    assert frontier.next(clock.now + 3000) is not None


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_long_host_makes_a_bounded_name(profile: str) -> None:
    """PC-089"""
    labels = ["a" * 60, "b" * 60, "c" * 60, "d" * 60]
    hosts = [".".join([label * 5, *labels, "test"]) for label in ("e", "f")]
    frontier, clock, _ = make(profile=profile)
    frontier.add([seed(f"http://{host}/") for host in hosts])
    found = [frontier.next(clock.now), frontier.next(clock.now)]
    assert sorted(curi.host for curi in found if curi is not None) == hosts
    names = {curi.class_key for curi in found if curi is not None}
    assert len(names) == 2
    assert (max(map(len, names)) <= MAX_CLASS_KEY) is (profile == "modern")


@pytest.mark.parametrize(
    ("level", "tag", "wanted"),
    [
        ("seed", "www.a.co.uk/x", "www.a.co.uk/x"),
        ("host", "www.a.co.uk/x", "uk,co,a,www,"),
        ("domain", "http://www.a.co.uk/x", "uk,co,a,"),
        ("domain", None, "test,img,"),
        ("seed", None, "test,img,cdn,"),
    ],
)
def test_queue_of_the_seed(level: str, tag: str | None, wanted: str) -> None:
    policy = ["SourceTag", {"level": level}]
    assert key("http://cdn.img.test/1.png", tag=tag, queue_assignment_policy=policy, source_tag_seeds=True) == wanted


def test_addresses() -> None:
    hosts = addresses(a_test="192.0.2.1", b_test="2001:db8::1")
    asked = {"hosts": hosts, "queue_assignment_policy": "IP"}
    assert key("http://a.test/", **asked) == "192.0.2.1"
    assert key("http://b.test/", **asked) == "2001#db8##1"
    assert key("http://c.test/", **asked) == "c.test"
    assert key("http://b.test/", hosts=hosts, queue_assignment_policy="Bucket").isdigit()
    assert key("mailto:x@a.test", queue_assignment_policy="Bucket") == f"NO-IP-{abs(java_hash('mailto:')) & 1023}"
    assert (address_hash("255.0.0.1"), address_hash("::1")) == (-16777215, 1)


def test_prerequisites_follow_into_the_sub_queue_of_a_registered_domain() -> None:
    settings = {"queue_assignment_policy": "AssignmentLevelSurt", "parallel_queues": 5}
    page = key("http://www.a.co.uk:8080/c/x", **settings)
    robots = plan(**settings).class_key(
        CrawlURI("http://www.a.co.uk:8080/robots.txt", path="P", via="http://www.a.co.uk:8080/c/x")
    )
    assert page == robots == "uk,co,a,+4"


def test_a_policy_that_sends_a_uri_to_and_fro(caplog: pytest.LogCaptureFixture) -> None:
    frontier, clock, _ = make(queue_assignment_policy=f"{HERE}.ToAndFro")
    frontier.add([seed("http://a.test/"), seed("http://b.test/")])
    assert frontier.next(clock.now) is not None
    assert "to and fro" in caplog.text
    assert frontier.totals.queued == 2


# -- precedence --------------------------------------------------------------------------------------------


def order(frontier: Frontier, now: int) -> list[str]:
    taken = []
    while (curi := frontier.next(now)) is not None:
        taken.append(curi.uri)
        end(frontier, curi, 200, now)
    return taken


def test_a_better_uri_moves_its_waiting_queue() -> None:
    frontier, clock, _ = make(
        queue_precedence_policy="HighestUri", uri_precedence_policy=f"{HERE}.Urgent", balance_replenish_amount=1
    )
    frontier.add([CrawlURI(f"http://{host}.test/{n}", path="L") for host in "abc" for n in (1, 2)])
    frontier.add([CrawlURI("http://c.test/urgent", path="L")])
    assert frontier.lists.best() == 3 + 1
    assert order(frontier, clock.now)[0] == "http://c.test/urgent"
    assert frontier.totals.queued == 0
    assert frontier.queue("test,c,").record.ranks == {}  # type: ignore[union-attr]


def test_highest_uri_survives_a_restart() -> None:
    store = MemoryStore()
    settings: dict[str, Any] = {"queue_precedence_policy": "HighestUri", "uri_precedence_policy": f"{HERE}.Urgent"}
    frontier, clock, _ = make(store, **settings)
    frontier.add([CrawlURI("http://a.test/1", path="L"), CrawlURI("http://b.test/urgent", path="L")])
    frontier.flush(clock.now)
    again, clock, _ = make(store, **settings)
    assert again.lists.best() == 4
    assert order(again, clock.now) == ["http://b.test/urgent", "http://a.test/1"]


def test_success_counts_hold_under_politeness() -> None:
    frontier, clock, _ = make(queue_precedence_policy=["SuccessCounts", {"increment_counts": " 1, 0"}])
    frontier.add([seed("http://a.test/1"), seed("http://a.test/2")])
    curi = frontier.next(clock.now)
    assert curi is not None
    end(frontier, curi, 200, clock.now, delay=1000)
    assert frontier.queue("test,a,").record.precedence == 4  # type: ignore[union-attr]


def test_one_site_goes_depth_first_by_a_sheet() -> None:
    view = default_view(follow="all", preference_embed_hops=0)
    sheets = Sheets(
        {"deep": {"HERITRIX_PREFERENCE_DEPTH_HOPS": 0}},
        [{"surt_prefixes": ["http://(test,deep,"], "sheets": ["deep"]}],
        view,
        strict=False,
    )
    store = MemoryStore()
    settings = Settings(view, sheets=sheets)
    frontier = Frontier(store, settings, decide=lambda curi: True, hosts=Hosts(store.get), clock=Clock())
    frontier.open()
    for host in ("deep", "wide"):
        frontier.add([CrawlURI(f"http://{host}.test/{n}", path="L") for n in (1, 2, 3)])
    taken = order(frontier, Clock().now)
    assert [uri for uri in taken if "deep" in uri] == [f"http://deep.test/{n}" for n in (3, 2, 1)]
    assert [uri for uri in taken if "wide" in uri] == [f"http://wide.test/{n}" for n in (1, 2, 3)]


def test_preloaded() -> None:
    policy = [
        "Preloaded",
        {
            "preload_source": ["# known", "a.test/x 7", "http://b.test/ -5"],
            "base_precedence": 5,
            "default_uri_precedence_policy": "Hops",
        },
    ]
    asked = plan(uri_precedence_policy=policy)
    assert asked.precedence(CrawlURI("http://a.test/x", path="LL")) == 12
    assert asked.precedence(CrawlURI("http://b.test/", path="LL")) == 3  # a sum of 0 is as good as unknown
    assert asked.precedence(CrawlURI("http://c.test/", path="LL")) == 3


def test_long_paths_count_hops() -> None:
    long = CrawlURI("http://a.test/", path="7+" + "L" * 50)
    policy = ["Hops", {"navlinks_only": False}]
    assert plan(uri_precedence_policy=policy).precedence(long) == 1 + 57
    assert plan("heritrix", uri_precedence_policy=policy).precedence(long) == 1 + 52


# -- politeness --------------------------------------------------------------------------------------------


def test_names_of_one_address_take_turns() -> None:
    frontier, clock, _ = make(politeness_per_address=True, hosts=addresses(**{f"{n}_test": "192.0.2.1" for n in "abc"}))
    frontier.add([seed(f"http://{host}.test/{n}") for host in "abc" for n in (1, 2)])
    taken = []
    for _ in range(6):
        curi = frontier.next(clock.now)
        assert curi is not None
        assert frontier.next(clock.now) is None
        taken.append(curi.host[0])
        clock.now += 10
        end(frontier, curi, 200, clock.now, delay=1000)
        assert frontier.next(clock.now + 999) is None
        wake = frontier.next_wake()
        assert wake is not None
        assert wake <= clock.now + 1000
        clock.now += 1000
    # nobody comes twice before all have come
    assert sorted(taken[:3]) == sorted(taken[3:]) == ["a", "b", "c"]
    assert frontier.next(clock.now) is None


def test_a_queue_that_does_not_come_when_called_holds_nobody_up() -> None:
    hosts = addresses(a_test="192.0.2.1", b_test="192.0.2.1", c_test="192.0.2.1")
    frontier, clock, _ = make(politeness_per_address=True, hosts=hosts)
    frontier.add([seed(f"http://{host}.test/") for host in "abc"])
    first = frontier.next(clock.now)
    assert first is not None
    assert frontier.next(clock.now) is None
    end(frontier, first, 200, clock.now)
    called = frontier.next(clock.now)
    assert called is not None
    end(frontier, called, 200, clock.now)
    third = next(key for key in ("test,a,", "test,b,", "test,c,") if frontier.queue(key).record.count)  # type: ignore[union-attr]
    frontier.retire(third)
    frontier.add([seed(f"http://{first.host}/2")])
    assert frontier.next(clock.now) is None
    assert frontier.next_wake() == clock.now + 1000
    assert frontier.next(clock.now + 1000) is not None


def test_an_address_rests_no_longer_for_a_clock_that_is_set_back() -> None:
    hosts = addresses(a_test="192.0.2.1", b_test="192.0.2.1")
    frontier, clock, _ = make(politeness_per_address=True, hosts=hosts)
    frontier.add([seed(f"http://{host}.test/") for host in "ab"])
    first = frontier.next(clock.now)
    assert first is not None
    end(frontier, first, 200, clock.now, delay=1000)
    clock.now -= 86_400_000
    # both the one that waits already and one that comes later
    assert frontier.next(clock.now) is None
    frontier.add([seed(f"http://{first.host}/2")])
    assert frontier.next(clock.now + 999) is None
    clock.now += 1000
    taken = frontier.next(clock.now)
    assert taken is not None
    assert taken.host != first.host
    end(frontier, taken, 200, clock.now, delay=0)
    clock.now += 1000
    assert frontier.next(clock.now) is not None


def test_bandwidth_is_shared_by_the_queues_of_a_host() -> None:
    frontier, clock, _ = make(parallel_queues=5, min_delay_ms=0, max_per_host_bandwidth_usage_kb_sec=10)
    frontier.add([seed("http://a.test/"), seed("http://a.test/c/x"), seed("http://b.test/")])
    found = [frontier.next(clock.now) for _ in range(3)]
    rests = {}
    for curi in found:
        assert curi is not None
        curi.began_ms = curi.ended_ms = clock.now
        curi.content_size = 10_240
        end(frontier, curi, 200, clock.now, delay=-1)
        rests[curi.class_key] = frontier.queue(curi.class_key).record.wake_ms - clock.now  # type: ignore[union-attr]
    assert rests == {"test,a,": 1000, "test,a,+4": 2000, "test,b,": 1000}


def test_a_clock_that_jumps_back_costs_a_day_of_nothing() -> None:
    frontier, clock, _ = make(min_delay_ms=0, max_per_host_bandwidth_usage_kb_sec=10)
    for number in (1, 2):
        frontier.add([seed(f"http://a.test/{number}")])
        curi = frontier.next(clock.now + 10_000)
        assert curi is not None
        curi.began_ms = curi.ended_ms = clock.now
        curi.content_size = 10_240
        end(frontier, curi, 200, clock.now, delay=-1)
        clock.now -= 86_400_000
        frontier.wake_all()
    assert frontier.queue("test,a,").record.tally.successes == 2  # type: ignore[union-attr]


def test_an_endless_calendar_ends_with_its_budget(caplog: pytest.LogCaptureFixture) -> None:
    """PC-105"""
    frontier, clock, _ = make(cost_assignment_policy="AntiCalendar", queue_total_budget=40)
    frontier.add([seed("http://cal.test/?year=2026"), seed("http://other.test/")])
    fetched = 0
    while (curi := frontier.next(clock.now)) is not None:
        fetched += 1
        assert fetched < 100
        year = curi.uri.rpartition("=")[2]
        end(frontier, curi, 200, clock.now, *([f"http://cal.test/?year={int(year) + 1}"] if "=" in curi.uri else []))
    assert fetched == 21
    assert not frontier.alive()
    assert "perhaps a trap: http://cal.test/?year=2046 differs from http://cal.test/?year=2045" in caplog.text
    assert frontier.totals.suspected_traps == 1


# -- policies of the user's own ----------------------------------------------------------------------------


class Nothing:
    pass


class NeedsMore(CostAssignmentPolicy):
    def __init__(self, more: int) -> None: ...


class ToAndFro(QueueAssignmentPolicy):
    moves = True

    def class_key(self, curi: CrawlURI) -> str:
        return "fro" if curi.class_key == "to" else "to"


class Urgent(UriPrecedencePolicy):
    def precedence(self, curi: CrawlURI) -> int:
        return 1 if curi.uri.endswith("urgent") else 9


class Letter(QueueAssignmentPolicy):
    letters = 1

    def class_key(self, curi: CrawlURI) -> str:
        return curi.host[: self.letters]


class Length(CostAssignmentPolicy):
    def cost_of(self, curi: CrawlURI) -> int:
        return len(curi.uri) if curi.settings.profile == "modern" else 0


class Unfinished(QueueAssignmentPolicy):
    """Without the method that names the queue."""


class Weak(QueuePrecedencePolicy):
    def precedence(self, queue: QueueRecord, curi: CrawlURI) -> int:
        return 3 + queue.errors


def test_a_policy_without_its_method_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigurationError, match=r"QUEUE_ASSIGNMENT_POLICY.*class_key"):
        make(queue_assignment_policy=f"{HERE}.Unfinished")


def test_policies_of_the_users_own() -> None:
    frontier, clock, _ = make(
        queue_assignment_policy=[f"{HERE}.Letter", {"letters": 2}],
        cost_assignment_policy=f"{HERE}.Length",
        uri_precedence_policy=f"{HERE}.Urgent",
        queue_precedence_policy=f"{HERE}.Weak",
        error_penalty_amount=0,
    )
    frontier.add([CrawlURI(f"http://host{n}.test/", path="L") for n in (1, 2)])
    frontier.add([CrawlURI("http://host3.test/urgent", path="L")])
    curi = frontier.next(clock.now)
    assert curi is not None
    assert (curi.uri, curi.class_key, curi.cost) == ("http://host3.test/urgent", "ho", 24)
    end(frontier, curi, -4, clock.now)
    record = frontier.queue("ho").record  # type: ignore[union-attr]
    assert (record.precedence, record.spent) == (4, 24)


class Faulty(QueueAssignmentPolicy, CostAssignmentPolicy, UriPrecedencePolicy, QueuePrecedencePolicy):
    """Every kind of policy; ``answer``: what it says, instead of raising."""

    answer: object = None

    def class_key(self, curi: CrawlURI) -> str:
        return self._said()

    def cost_of(self, curi: CrawlURI) -> int:
        return self._said()

    def precedence(self, *about: object) -> int:
        return self._said()

    def _said(self) -> Any:
        if self.answer is None:
            raise LookupError("no idea")
        return self.answer


@pytest.mark.parametrize("answer", [None, b"bytes", 1 << 70, -(1 << 70), True, 1.5])
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_policy_that_fails_costs_no_uri(profile: str, answer: object, caplog: pytest.LogCaptureFixture) -> None:
    faulty = [f"{HERE}.Faulty", {"answer": answer}]
    frontier, clock, _ = make(
        profile=profile,
        queue_assignment_policy=faulty,
        cost_assignment_policy=faulty,
        uri_precedence_policy=faulty,
        queue_precedence_policy=faulty,
    )
    frontier.add([CrawlURI(f"http://a.test/{number}", path="L") for number in range(3)])
    for code in (200, -2, 200):
        curi = frontier.next(clock.now)
        assert curi is not None
        assert (curi.class_key, curi.cost, curi.precedence) == ("test,a,", 1, 1)
        final = end(frontier, curi, code, clock.now, "http://b.test/")
        assert final is (code > 0)
        frontier.flush(clock.now)
        clock.now += 1_000_000
    assert {frontier.queue("test,a,").record.count, frontier.queue("test,b,").record.count} == {1}  # type: ignore[union-attr]
    assert "the default is taken" in caplog.text
    frontier.close()
