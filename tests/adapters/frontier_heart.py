"""How queue lists and the seen filter answer ``frontier.json``: the real frontier, on both stores."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.lists import Lists
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import Settings, default_view
from heritrix_scrapy.store import open_store
from heritrix_scrapy.uri.fixup import fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer = tuple[bool, object]
Case = dict[str, Any]


class Clock:
    def now_ms(self) -> int:
        return 1_000_000_000_000

    def monotonic(self) -> float:
        return 0.0


class Filter:
    """The seen filter behind the ops of the vectors. ``received``: how many URIs were handed on."""

    def __init__(self, folder: Path | None) -> None:
        self.store = open_store(folder)
        settings = Settings(default_view("heritrix", follow="all", canonicalization_rules=[]))
        self.frontier = Frontier(
            self.store, settings, decide=lambda curi: True, hosts=Hosts(self.store.get), clock=Clock()
        )
        self.frontier.open()
        self.received = 0

    def add(self, uri: str, *, forced: bool = False) -> bool:
        before = self.frontier.totals.queued
        self.frontier.add([CrawlURI(uri, path="L", via="http://s.com/", forced=forced)])
        new = self.frontier.totals.queued > before
        self.received += new
        return new

    def run(self, op: str) -> object:
        word, _, uri = op.partition(" ")
        if "://" not in uri:
            uri = f"http://a.com/{uri}"
        if word in ("add", "addNow", "setAdd"):
            return self.add(uri)
        if word == "addForce":
            return self.add(uri, forced=True)
        seen = self.frontier.seen
        return {"note": seen.note, "forget": seen.forget, "setRemove": seen.forget}[word](uri)

    @property
    def count(self) -> int:
        return self.frontier.totals.discovered


@contextmanager
def filters() -> Iterator[list[Filter]]:
    """One over each store."""
    with tempfile.TemporaryDirectory() as folder:
        both = [Filter(None), Filter(Path(folder) / "store")]
        yield both
        for one in both:
            one.store.close()


def on_both(answer: Callable[[Filter], object], expected: object) -> Answer:
    with filters() as both:
        got = [answer(one) for one in both]
    return all(one == expected for one in got), got[0] if got[0] == got[1] else got


def filter_basics(case: Case) -> Answer:
    ops, expected = case["in"]["ops"], case["expect"]
    if isinstance(ops, str):
        made = [f"http://www{i}.archive.org/{i}/index.html" for i in range(1000)]
        ops = [f"add {uri}" for uri in [*made, *made[100:1000:100], *made[100:1000:100]]]
    ops = [op.partition(" (")[0] for op in ops]

    def answer(one: Filter) -> object:
        for op in ops:
            one.run(op)
            one.frontier.flush(0)
        got: Case = {"count": one.count, "receiver_called": one.received > 0}
        return {name: got[name] for name in expected}

    return on_both(answer, expected)


def filter_semantics(case: Case) -> Answer:
    def answer(one: Filter) -> object:
        trace = []
        for op in case["in"]["ops"].split("; "):
            one.run(op)
            added = one.frontier.totals.candidates
            trace.append(f"received={one.received} count={one.count} added={added} pending=0")
        return {"trace": trace}

    return on_both(answer, case["expect"])


def forget_authority(case: Case) -> Answer:
    def answer(one: Filter) -> object:
        for uri in case["in"]["added"]:
            one.add(fix(uri))
        steps = []
        for step, _ in case["expect"]["steps"]:
            if step == "count":
                got: object = one.count
            elif step.startswith("forgetAll"):
                uri = step.split()[1]
                one.frontier.seen.forget_authority(fix(uri))
                one.frontier.flush(0)
                got = one.count
            else:
                got = one.run(step)
            steps.append([step, got])
        return {"steps": steps}

    return on_both(answer, case["expect"])


def fifo_lists(case: Case) -> Answer:
    """The lists that Heritrix keeps in a StoredQueue: inactive queues of one precedence."""
    items, expected = [f"item-{number}" for number in range(1, 11)], case["expect"]
    lists = Lists()
    got: Case = {}
    for item in items:
        lists.deactivate(item, 3)
    ops = case["in"]["ops"]
    if ops.startswith("add"):
        got["size"] = len(lists.tiers[3])
        got["remove_order"] = [lists.poll(3) for _ in items]
    elif ops == "fill, clear":
        for _ in items:
            lists.poll(3)
        got = {"size": len(lists.tiers.get(3, ())), "element": "error: empty" if lists.best() is None else lists.best()}
    elif ops == "fill, remove one, drain":
        lists.poll(3)
        drained = 0
        while lists.best() is not None:
            lists.poll(3)
            drained += 1
        got = {"drained": drained, "next_remove": "error: empty" if 3 not in lists.tiers else "more"}
    else:
        got["same"] = lists.tiers[3][0] is lists.tiers[3][0] and len(lists.tiers[3]) == len(items)
    return got == expected, got


ADAPTERS: dict[str, Callable[[Case], Answer]] = {
    "frontier/ut_bdb_uniq_filter": filter_basics,
    "frontier/ut_fp_uniq_filter": filter_basics,
    "frontier/uniq_filter_semantics": filter_semantics,
    "frontier/ut_bdb_forget_authority": forget_authority,
    "frontier/ut_stored_queue": fifo_lists,
}
