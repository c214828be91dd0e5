"""How the frontier room answers ``frontier.json``: plain functions for the suites, a replay for the scenarios."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier import politeness, prepare
from heritrix_scrapy.frontier.candidates import Candidates, mark_prerequisite
from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.prepare import Preparer
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink, pack, unpack
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.status import Disposition
from heritrix_scrapy.settings import Settings, View, default_view
from heritrix_scrapy.settings.defaults import BY_NAME
from heritrix_scrapy.store import MemoryStore
from heritrix_scrapy.uri.fixup import UriError, fix

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]

SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def attribute(camel: str) -> str:
    return SNAKE.sub("_", camel).lower()


def uri_of(text: str, profile: str = "heritrix") -> str:
    try:
        return fix(text, strict=profile == "heritrix")
    except UriError:
        return text


def same(got: object, expected: object) -> tuple[bool, object]:
    return got == expected, got


# ---------------------------------------------------------------- suites


def scheduling_directive(case: Case, profile: str = "heritrix") -> tuple[bool, object]:
    given = case["in"]
    got = prepare.directive(
        given["path"],
        given["directive_in"],
        given["preferenceDepthHops"],
        given["preferenceEmbedHops"],
        heritrix=profile == "heritrix",
    )
    return same({"directive_out": got}, case["expect"])


def modern_directive(case: Case) -> tuple[bool, object]:
    return scheduling_directive(case, "modern")


def canonical_force_fetch(case: Case) -> tuple[bool, object]:
    given = case["in"]
    curi = CrawlURI(uri_of(given["uri"]), path=given["path"], via=uri_of(given["via"]) if given["via"] else None)
    curi.settings = default_view("heritrix")
    Preparer(prepare.canonicaliser, heritrix=True).prepare(curi)
    return same({"canonical": curi.canonical, "forceFetch": curi.forced}, case["expect"])


def politeness_delay(case: Case) -> tuple[bool, object]:
    given = case["in"]
    view = default_view("heritrix", **{attribute(key): value for key, value in given.items() if key in DELAYS})
    began, ended = (None, None) if given.get("no_fetch_times") else (10_000, 10_000 + given["fetch_ms"])
    asked = given.get("robots_crawl_delay")
    try:
        delay = None if asked is None else float(asked)
    except ValueError:
        # what robots.txt says is no number: it asks for nothing
        delay = None
    got = politeness.politeness_delay(view, began, ended, crawl_delay=delay)
    return same({"delay_ms": got}, case["expect"])


DELAYS = frozenset({"delayFactor", "minDelayMs", "maxDelayMs", "respectCrawlDelayUpToSeconds"})


def disposition_table(case: Case) -> tuple[bool, object]:
    given = case["in"]
    code = given["status"]
    pending = bool(given.get("credential") or given.get("http_auth_credential") or given.get("credentials_attached"))
    disposition = status.disposition(code, credential_pending=pending)
    got = {
        "reenqueue": status.wants_retry(code, credential_pending=pending),
        "reenqueue_with_retire_directive": status.wants_retry(code, credential_pending=pending, retiring=True),
        "retry_delay_s": politeness.retry_delay(default_view("heritrix"), code) // 1000,
        "success": disposition is Disposition.SUCCESS,
        "disregarded": disposition is Disposition.DISREGARDED,
    }
    return same({key: got[key] for key in case["expect"]}, case["expect"])


def outlink_gate(case: Case) -> tuple[bool, object]:
    given = case["in"]
    view = default_view("heritrix", process_error_outlinks=given["processErrorOutlinks"], follow="all")
    parent = CrawlURI("http://a.com/", path="L")
    parent.status, parent.settings = given["status"], view
    parent.outlinks = [Outlink("http://a.com/next", "L", "a/@href")]
    candidates = Candidates(lambda curi: True, Settings(view), Preparer(prepare.canonicaliser, heritrix=True))
    return same({"outlinks_scheduled": len(list(candidates.judge(parent)))}, case["expect"])


def prerequisite_marked(case: Case) -> tuple[bool, object]:
    parent = CrawlURI("http://a.com/1", path="LE", via="http://a.com/", source_tag="tag")
    parent.directive = case["in"]["parent_directive"]
    child = mark_prerequisite(parent, "http://a.com/robots.txt")
    got = {
        "prereq_directive": child.directive,
        "prereq_path": child.path,
        "prereq_via": child.via,
        "prereq_force": child.forced,
        "prereq_flag": child.is_prerequisite,
        "parent_status": parent.status,
        "parent_deferrals": parent.deferrals,
        "source_tag_inherited": child.source_tag,
    }
    return same(got, case["expect"])


def processing_cleanup(case: Case) -> tuple[bool, object]:
    """A real retry: what the URI of the next try still knows. There are no threads to be kept here."""
    replay = Replay()
    first = CrawlURI("http://a.com/1", path="L", via="http://a.com/", seed=True, forced=True)
    first.cost, first.ordinal, first.class_key, first.canonical = 2, 9, "com,a,", "http://a.com/1"
    first.precedence, first.is_prerequisite = 4, True
    first.settings = replay.view
    replay.frontier.add([first])
    curi = replay.frontier.next(replay.now)
    assert curi is not None
    curi.status, curi.content_type, curi.content_size, curi.digest = -2, "text/html", 5, "sha1:" + "A" * 32
    curi.annotate("ann")
    curi.delay_ms, curi.reschedule_at, curi.deferrals, curi.extra_info, curi.user_agent = 77, 5, 1, {"a": 1}, "ua"
    curi.outlinks = [Outlink("http://a.com/x", "L", "a/@href")]
    replay.frontier.finish(curi, replay.now)
    replay.frontier.wake_all()
    again = replay.frontier.next(replay.now)
    assert again is not None
    got = {
        "status": again.status,
        "contentType": again.content_type,
        "contentSize": again.content_size,
        "digest": again.digest,
        "annotations": again.annotations,
        "politeness": again.delay_ms,
        "attempts": again.attempts,
        "deferrals": again.deferrals,
        "force": again.forced,
        "seed": again.seed,
        "precedence": again.precedence,
        "holderCost": again.cost,
        "ordinal": again.ordinal,
        "fetchType": "UNKNOWN" if again.recorder is None else again.method,
        "reschedule": again.reschedule_at,
        "prerequisite": again.is_prerequisite,
        "outlinks": len(again.outlinks),
        "userAgent": again.user_agent,
    }
    return same(got, {key: value for key, value in case["expect"].items() if key != "thread"})


# ---------------------------------------------------------------- scenarios


class Unsupported(Exception):
    """An op, or a value of one, that the frontier has no part for."""


def values_of(camel: str, text: str) -> Case:
    """Names in the table and values of a setting as the scenarios write it."""
    row = BY_NAME.get(attribute(camel).upper())
    if row is None:
        raise Unsupported(camel)
    if row.kind in ("int", "number"):
        return {row.name: type(row.default)(text)}
    if row.kind == "bool":
        return {row.name: text == "true"}
    if row.kind != "policy":
        return {row.name: text}
    name, _, argument = text.partition(":")
    inner, equals, value = argument.partition("=")
    if equals:
        return {row.name: name, **values_of(inner, value)}
    if not argument:
        return {row.name: name}
    if name == "SuccessCounts":
        return {row.name: [name, {"increment_counts": argument}]}
    return {row.name: [name, {"base_precedence": int(argument)}]}


class Replay:
    """A frontier over a memory store, driven op by op. Each op takes a millisecond."""

    def __init__(self, profile: str = "heritrix") -> None:
        self.now = 1_000_000_000_000
        self.profile = profile
        self.view: View = default_view(profile, follow="all")
        self.overlays: list[tuple[re.Pattern[str], Case]] = []
        self.views: dict[tuple[int, ...], View] = {}
        self.log: list[str] = []
        self.events: list[str] = []
        self.workers: dict[str, CrawlURI] = {}
        store = MemoryStore()
        self.hosts = Hosts(store.get)
        self.frontier = Frontier(store, self, decide=lambda curi: True, hosts=self.hosts, clock=self, report=self)
        self.frontier.open()

    # clock, settings, report of the frontier

    def now_ms(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000

    def for_uri(self, curi: CrawlURI) -> View:
        basis = curi.policy_basis
        chosen = tuple(i for i, (regex, _) in enumerate(self.overlays) if regex.fullmatch(basis))
        view = self.views.get(chosen)
        if view is None:
            view = self.view
            for i in chosen:
                view = view.replace(self.overlays[i][1])
            self.views[chosen] = view
        return view

    def take_tallies(self) -> dict[str, int]:
        return {}

    def finished(self, curi: CrawlURI) -> None:
        self.log.append(f"{curi.status} {curi.uri} {curi.path} {curi.via or ''} {','.join(curi.annotations)}")

    def flush(self) -> dict[str, int]:
        return {}

    def sync(self) -> None:
        """Nothing of it is on a disk."""

    def recover(self, lengths: object) -> int:
        return 0

    # ops

    def run(self, ops: list[Case]) -> tuple[bool, object]:
        for number, op in enumerate(ops):
            self.now += 1
            answer = getattr(self, "op_" + op["op"], None)
            if answer is None:
                raise Unsupported(op["op"])
            got = answer(op)
            if "expect" in op and op["op"] != "journal" and not agrees(op, got):
                return False, {"op": number, "of": op, "got": got}
        return True, "as expected"

    def op_set(self, op: Case) -> None:
        self.view = self.view.replace(values_of(op["setting"], op["value"]))
        self.views.clear()

    def op_overlay(self, op: Case) -> None:
        bean, _, name = op["key"].partition(".")
        if name == "basePrecedence":
            row = BY_NAME[attribute(bean).upper()]
            policy = getattr(self.view, row.attribute)
            short = policy if isinstance(policy, str) else policy[0]
            values: Case = {row.name: [short, {attribute(name): int(op["value"])}]}
        else:
            values = values_of(name, op["value"])
        self.overlays.append((re.compile(op["uri_regex"]), values))
        self.views.clear()

    def op_schedule(self, op: Case) -> None:
        flags = op["flags"].split()
        curi = CrawlURI(
            uri_of(op["uri"]), path=op["path"], via=op["via"] or None, seed="seed" in flags, forced="force" in flags
        )
        if curi.seed:
            curi.directive = 2
        for flag in flags:
            if flag.startswith("directive="):
                curi.directive = int(flag[10:])
        self.frontier.add([curi])

    def op_next(self, op: Case) -> Case:
        curi = self.frontier.next(self.now)
        if curi is None:
            return {"uri": None}
        self.workers[op["worker"]] = curi
        return {
            "uri": curi.uri,
            "class_key": curi.class_key,
            "directive": curi.directive,
            "precedence": curi.precedence,
            "path": curi.path,
            "ordinal": curi.ordinal,
            "fetch_attempts": curi.attempts,
        }

    def op_prereq(self, op: Case) -> Case:
        """Only marked here: the frontier makes and stores it in one batch with putting the URI back."""
        curi = self.workers[op["worker"]]
        curi.prerequisite = uri_of(op["uri"])
        twin = unpack(pack(curi))
        twin.directive, twin.settings, twin.prerequisite = curi.directive, curi.settings, curi.prerequisite
        child = self.frontier.candidates.prerequisite(twin)
        assert child is not None
        return {
            "directive": child.directive,
            "class_key": child.class_key,
            "path": child.path,
            "precedence": child.precedence,
            "force_fetch": child.forced,
        }

    def op_finish(self, op: Case) -> Case:
        return self.finish(self.workers.pop(op["worker"]), op)

    def finish(self, curi: CrawlURI, op: Case) -> Case:
        curi.status, curi.delay_ms = op["status"], op.get("politeness_ms", -1)
        for flag in op.get("flags", "").split():
            if flag == "retire":
                curi.retire = True
            elif flag.startswith("reschedule="):
                curi.reschedule_at = self.now + int(flag[11:])
        if self.frontier.finish(curi, self.now):
            word = {Disposition.SUCCESS: "SUCCEEDED", Disposition.DISREGARDED: "DISREGARDED"}.get(
                status.disposition(curi.status), "FAILED"
            )
            self.events.append(f"{word} {curi.uri} status={curi.status}")
        else:
            # Heritrix tells its listeners after it has cleared the status
            self.events.append(f"DEFERRED_FOR_RETRY {curi.uri} status=0")
        record = self.record(curi.class_key)
        return {"snooze_ms": max(record.wake_ms - self.now, 0) if record.state == State.SNOOZED else 0}

    def op_drain(self, op: Case) -> Case:
        order: list[str] = []
        while len(order) < op["max"]:
            self.now += 1
            curi = self.frontier.next(self.now)
            if curi is None:
                break
            order.append(curi.uri)
            self.finish(curi, op)
        return {"order": order}

    def op_state(self, op: Case) -> Case:
        frontier = self.frontier
        lists = frontier.lists
        return {
            "in_process": sorted(curi.class_key for curi in frontier.in_process()),
            "ready": list(lists.ready),
            "snoozed": [key for _, key in sorted(lists.snoozed)],
            "inactive": {str(tier): list(keys) for tier, keys in sorted(lists.tiers.items())},
            "retired": list(lists.retired),
            "queued": frontier.totals.queued,
        }

    def op_counts(self, op: Case) -> Case:
        totals = self.frontier.totals
        return {
            "queued": totals.queued,
            "future": totals.future,
            "succeeded": totals.succeeded,
            "failed": totals.failed,
            "disregarded": totals.disregarded,
            "discovered": totals.discovered,
            "candidates": totals.candidates,
            "is_empty": not self.frontier.alive(),
        }

    def record(self, key: str) -> Any:
        queue = self.frontier.queue(key)
        assert queue is not None, key
        return queue.record

    def op_queue(self, op: Case) -> Case:
        record = self.record(op["key"])
        return {
            "count": record.count,
            "enqueue_count": record.enqueued,
            "total_spend": record.spent,
            "session_balance": record.session_balance,
            "last_cost": record.last_cost,
            "cost_count": record.cost_count,
            "error_count": record.errors,
            "precedence": record.precedence,
            "retired": record.state == State.RETIRED,
            "managed": record.state != State.EXHAUSTED,
        }

    def op_substats(self, op: Case) -> Case:
        tally = self.record(op["key"]).tally
        if tally.last_success_ms >= 0:
            raise Unsupported("the time of a success")
        counts = (
            tally.scheduled,
            tally.successes,
            tally.failures,
            tally.disregards,
            tally.responses,
            tally.robots_denials,
            tally.success_bytes,
            tally.total_bytes,
            tally.nonresponses,
        )
        return {"line": " ".join(map(str, counts)) + " 1970-01-01T00:00:00.000Z"}

    def op_wake(self, op: Case) -> None:
        self.frontier.wake_all()

    def op_host_ip(self, op: Case) -> None:
        self.hosts.host(op["host"]).addresses = [op["ip"]]

    def op_reconsider(self, op: Case) -> None:
        self.frontier.reconsider_retired()

    def op_sleep(self, op: Case) -> None:
        self.now += op["ms"]

    def op_crawl_log(self, op: Case) -> Case:
        return {"lines": self.log}

    def op_events(self, op: Case) -> Case:
        return {"events": self.events}

    def op_journal(self, op: Case) -> None:
        """The journal is a part of its own."""


def agrees(op: Case, got: Case | None) -> bool:
    expected = op["expect"]
    loose = op.get("compare", "")
    if loose and isinstance(got, dict):
        word = loose.split()[0]
        return {**got, word: sorted(got[word])} == {**expected, word: sorted(expected[word])}
    return bool(got == expected)


def scenario(case: Case) -> tuple[bool, object] | None:
    try:
        return Replay().run(case["ops"])
    except Unsupported:
        return None


SCENARIOS = (
    "basic_lifecycle",
    "session_budget_rotation",
    "ready_preferred_over_inactive",
    "snooze_lets_inactive_in",
    "snooze_real_time",
    "exhausted_then_refilled",
    "empty_but_snoozed_queue_is_refilled",
    "costs_and_penalties",
    "error_penalty_eats_session",
    "retry_exhaustion",
    "deferrals_count_as_attempts",
    "sticky_peek",
    "force_duplicates",
    "total_budget_retires",
    "total_budget_zero",
    "zero_cost",
    "wag_cost_orders_queue",
    "futures",
    "within_queue_order",
    "negative_and_large_precedence",
    "budgets_follow_the_uri",
    "precedence_preemption",
    "queue_precedence_fixed_at_creation",
    "prerequisites_preferenceDepthHops_0",
    "prerequisites_preferenceDepthHops_1",
    "prerequisites_preferenceDepthHops_2",
    "prerequisites_preferenceDepthHops_3",
)

ADAPTERS: dict[str, Callable[[Case], tuple[bool, object] | None]] = {
    "frontier/scheduling_directive": scheduling_directive,
    "frontier/canonical_force_fetch": canonical_force_fetch,
    "frontier/politeness_delay": politeness_delay,
    "frontier/disposition_table": disposition_table,
    "frontier/outlink_gate": outlink_gate,
    "frontier/mark_prerequisite": prerequisite_marked,
    "frontier/processing_cleanup": processing_cleanup,
    **{f"frontier/scenario/{name}": scenario for name in SCENARIOS},
}

MODERN = {"frontier/scheduling_directive": modern_directive}
MODERN_ROWS = {"frontier/scheduling_directive": "frontier-depth-first"}
