"""Why is this URI fetched, not fetched, or not yet?

Everything that is known of one URI, in one answer: the frontier says where it waits, crawl.log how it ended, the WARC
files where its capture stands, the scope which rule decides, robots.txt which line forbids it. The same of a running
crawl and of a stopped one.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.archive.locating import located
from heritrix_scrapy.fetch.robots import PLAIN, is_robots
from heritrix_scrapy.fetch.robots_line import forbidding
from heritrix_scrapy.frontier.finding import Finding
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.explanations import explanation
from heritrix_scrapy.model.hosts import server_key
from heritrix_scrapy.model.status import Disposition, lookup
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.live import PAUSE, SLICE, deadline
from heritrix_scrapy.report import searching
from heritrix_scrapy.scope.describe import explained
from heritrix_scrapy.settings.agent import user_agent
from heritrix_scrapy.uri.fixup import UriError, fix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heritrix_scrapy.crawl import Crawl
    from heritrix_scrapy.frontier.operations import Operations
    from heritrix_scrapy.scope import Scope

#: Seconds for which logs and WARC files are looked through, each.
LOOK = 20.0

ENDED = {
    Disposition.SUCCESS: "fetched",
    Disposition.FAILURE: "failed",
    Disposition.DISREGARDED: "disregarded",
}


class Asked:
    """One question. ``via``, ``path``: where the URI would have been found; of one that waits or is logged, where it
    was. Raises Refused for what is no URI."""

    def __init__(self, crawl: Crawl, operations: Operations, scope: Scope, uri: str, via: str, path: str) -> None:
        settings = crawl.settings
        assert settings is not None
        frontier = self.frontier = operations.frontier
        self._crawl, self._operations, self._scope = crawl, operations, scope
        self._settings = settings
        strict = settings.view.strict_uri_fixup
        try:
            self.uri = fix(uri, strict=strict)
            self.via = fix(via, strict=strict) if via else None
        except UriError as error:
            raise Refused(f"{uri}: no URI: {error}") from None
        self._path = path
        curi = self._candidate(self.via, path or "L", seed=False)
        view = curi.settings
        self._plan = frontier.preparer.plan(view)
        frontier.preparer.prepare(curi)
        self.curi = curi
        self.finding = Finding(frontier, curi, self._plan.canonicalise)
        self._root: Path = crawl.jobdir.root
        self._now_ms = crawl.clock.now_ms()

    def of_frontier(self) -> dict[str, Any]:
        """What the frontier says, once ``finding`` has run; asked in the crawl's own turn."""
        told: dict[str, Any] = {"uri": self.uri, "key": self.curi.canonical, "queue": self.curi.class_key}
        told |= self.finding.answer()
        if "queued" in told or "in_process" in told:
            told["retried"] = (told.get("queued") or told["in_process"])["attempts"]
        if "queued" in told and not self.finding.due_ms:
            [row] = self._operations.queues(queue_name=self.curi.class_key)["queues"]
            names = ("state", "uris", "precedence", "waits for", "until", "seconds", "last status")
            told["queued"] |= {name: row[name] for name in names if name in row}
        if "in_process" in told:
            told["in_process"] |= self._step()
        robots = self._robots()
        if robots:
            told["robots"] = robots
        return told

    def of_files(self, places: Iterable[Path], *, seen: bool) -> dict[str, Any]:
        """What logs and WARC files say. Reads files and touches nothing of the crawl: may run in a thread."""
        enough = deadline(time.monotonic, LOOK)
        canonical = self.curi.canonical
        host = canonical.partition("://")[2].partition("/")[0]
        same = (lambda uri: self._plan.canonicalise(uri) == canonical) if seen and host else None
        line = searching.fetched(self._root, self.uri, enough, same, host)
        told: dict[str, Any] = {}
        if line is not None:
            told["log"] = line
            began = line["start+duration"].partition("+")[0]
            if line["status"] > 0 and began.isdigit():
                told["warc"] = located(places, line["uri"], milliseconds(began), deadline(time.monotonic, LOOK))
        scope_line = searching.judged(self._root, self.uri, enough)
        if scope_line is not None:
            told["scope_log"] = scope_line
        return told

    def whole(self, told: dict[str, Any]) -> dict[str, Any]:
        """The answer, with what the scope says now, ``verdict`` in a word or two, and ``text`` in sentences."""
        known = told.get("queued") or told.get("in_process")
        line = told.get("log")
        if known is None and line is not None:
            known = {
                "path": _said(line["hop path"]),
                "via": _said(line["via"]) or None,
                "seed": line["hop path"] == "-",
            }
        via = self.via or (known["via"] if known else None)
        path = self._path or (known["path"] if known else "L")
        seed = bool(known and known["seed"] and not self.via)
        told["scope"] = self._scope_says(via, path, seed=seed)
        told["verdict"] = verdict(told)
        told["text"] = list(sentences(told, assumed=known is None and not self.via))
        return told

    def _candidate(self, via: str | None, path: str, *, seed: bool) -> CrawlURI:
        curi = CrawlURI(self.uri, path=path, via=via, seed=seed)
        curi.settings = self._settings.for_uri(curi)
        return curi

    def _scope_says(self, via: str | None, path: str, *, seed: bool) -> dict[str, Any]:
        curi = self._candidate(via, path, seed=seed)
        judged = self._scope.decide(curi)
        return {
            "accepted": judged.accepted or (seed and not self._scope.judges_seeds),
            "decision": judged.decision.name,
            "index": judged.index,
            "rule": judged.rule,
            "why": judged.why,
            "via": via,
            "path": path,
            "seed": seed,
            "rules": explained(self._scope.rules_for(curi).rules, curi),
        }

    def _robots(self) -> dict[str, Any] | None:
        """The line that forbids the URI; None when nothing does, or the policy does not ask."""
        key = server_key(self.uri) if self.uri.startswith("http") else ""
        if not key or is_robots(self.uri):
            return None
        view = self.curi.settings
        try:
            policy = PLAIN.of(view)
        except ConfigurationError:
            # one of the project's own: only itself knows
            return None
        if not policy.binds:
            return None
        server = self._crawl.hosts.server(key)
        if server.robots is None:
            return None
        agent = view.robots_user_agent or user_agent(view)
        line = forbidding(server.robots, self.uri, agent, view.robots_standard)
        if line is None:
            return None
        return {
            "file": f"{self.curi.scheme}://{self.curi.authority}/robots.txt",
            "line": line.number,
            "text": line.text,
        }

    def _step(self) -> dict[str, Any]:
        for handler in self._crawl.fetching:
            for flight in handler.in_flight():
                if flight.curi is self.finding.running:
                    began = flight.curi.began_ms
                    return {"step": flight.step, "seconds": (self._now_ms - began) / 1000 if began else None}
        return {"step": "between fetch and end"}


class Reasons:
    """The verb ``why``. ``operations``: of a crawl that does not run; the running one's own are asked for anew."""

    def __init__(self, crawl: Crawl, scope: Scope, operations: Operations | None = None) -> None:
        self._crawl = crawl
        self._scope = scope
        self._operations = operations

    async def live(self, uri: str, via: str = "", path: str = "") -> dict[str, Any]:
        """Why a URI was fetched, or not, or not yet: ``verdict`` in a word, ``text`` in sentences, and what they rest
        on. ``via``, ``path``: where it would be found.

        Its queue is looked through in slices, its files in a thread.
        """
        crawl = self._crawl
        if crawl.operations is None:
            raise Refused("the crawl has no frontier yet, or none any more")
        asked = Asked(crawl, crawl.operations, self._scope, uri, via, path)  # type: ignore[arg-type]
        while not asked.finding.run(deadline(time.monotonic, SLICE)):
            await asyncio.sleep(PAUSE)
        told = asked.of_frontier()
        # the log has the lines that wait in a buffer, too
        asked.frontier.flush(crawl.clock.now_ms())
        told |= await asyncio.to_thread(asked.of_files, folders(crawl), seen=told["seen"])
        return asked.whole(told)

    def stopped(self, uri: str, via: str = "", path: str = "") -> dict[str, Any]:
        """The same of a crawl that does not run."""
        assert self._operations is not None
        asked = Asked(self._crawl, self._operations, self._scope, uri, via, path)
        while not asked.finding.run(lambda: False):
            pass
        told = asked.of_frontier()
        told |= asked.of_files(folders(self._crawl), seen=told["seen"])
        return asked.whole(told)


def folders(crawl: Crawl) -> list[Path]:
    """Where WARC files of the job may lie."""
    root, view = crawl.jobdir.root, getattr(crawl.settings, "view", None)
    found = [root / "warcs", *sorted(root.glob("[0-9]" * 14 + "/warcs"), reverse=True)]
    base = Path(view.warc_dir).absolute() if view is not None and view.warc_dir else root
    stores = [base / path for path in view.warc_store_paths or ()] if view is not None else []
    return [*dict.fromkeys([*found, *(stores or ([base] if base != root else []))])]


def milliseconds(digits: str) -> int:
    """Milliseconds since the epoch of 17 digits."""
    moment = datetime.strptime(digits[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000 + int(digits[14:17] or 0)


def verdict(told: dict[str, Any]) -> str:
    """``in process``, ``queued``, ``to be fetched again``, ``fetched``, ``failed``, ``disregarded``, ``known``,
    ``out of scope`` or ``never seen``."""
    if "in_process" in told:
        return "in process"
    if "queued" in told:
        return "to be fetched again" if "due" in told["queued"] else "queued"
    if "log" in told:
        return ENDED[lookup(told["log"]["status"]).disposition]
    if told["seen"]:
        return "known"
    if not told["scope"]["accepted"]:
        return "out of scope"
    return "never seen"


def sentences(told: dict[str, Any], *, assumed: bool) -> Iterable[str]:
    """The answer in words. ``assumed``: where it would be found is not known."""
    word = told["verdict"]
    if word == "in process":
        yield from _in_process(told["in_process"])
    elif word == "to be fetched again":
        yield f"It is to be fetched again at {told['queued']['due']}."
    elif word == "queued":
        yield from _queued(told["queued"], told["queue"])
    elif word == "known":
        yield (
            "It is known, but waits in no queue, and no crawl.log of the job has a line about it: it was imported as "
            "known, given way to a Request of the spider, or its log was moved away."
        )
    elif word == "never seen":
        yield "It was never seen: no page fetched so far leads to it, as far as its links are read."
    elif word == "out of scope":
        yield "It was never queued: the scope does not accept it."
    waits = told.get("queued") or told.get("in_process")
    if waits and waits["uri"] != told["uri"]:
        yield f"It is taken for the same page as {waits['uri']}, which is meant here."
    if waits and waits["attempts"]:
        yield f"It was tried {_times(waits['attempts'])} before."
    if "log" in told:
        yield from _logged(told, before=bool(waits))
    if "scope_log" in told:
        line = told["scope_log"]
        yield f"scope.log: {line['decision']} by rule {line['index']}, {line['rule']}, at {line['time']}."
    yield _scope(told["scope"], assumed=assumed)
    if "robots" in told:
        robots = told["robots"]
        yield f'robots.txt forbids it: line {robots["line"]} of {robots["file"]}, "{robots["text"]}".'


def _in_process(row: dict[str, Any]) -> Iterable[str]:
    seconds = row.get("seconds")
    since = f", for {seconds:.1f} s" if seconds is not None else ""
    yield f"It is being worked on now: {row['step']}{since}."


def _queued(row: dict[str, Any], queue: str) -> Iterable[str]:
    until = f", until {row['until']}" if "until" in row else ""
    yield f"It waits in the queue {queue} at place {row['place']} of {row['uris']}."
    state = row["state"].lower().replace("_", " ")
    yield f"The queue is {state} and waits for {row['waits for']}{until}."


def _logged(told: dict[str, Any], *, before: bool) -> Iterable[str]:
    line = told["log"]
    status = line["status"]
    other = f", as {line['uri']}" if line["uri"] != told["uri"] else ""
    verb = "was fetched" if status > 0 else "ended"
    last = " last" if before else ""
    yield f"It {verb}{last} at {line['time']} with {status} ({lookup(status).label}){other}."
    if status <= 0 or status >= 400:
        words = explanation(status)
        yield f"{words.means} {words.do}"
    tries = next((note[:-1] for note in line["annotations"].split(",") if note[:-1].isdigit() and note[-1] == "t"), "")
    if tries:
        yield f"It was tried {_times(int(tries))}."
    if told.get("warc"):
        warc = told["warc"]
        yield f"Its {warc['record']} record stands in {warc['file']} at offset {warc['offset']}."
    elif status > 0:
        yield "No record of it was found in the WARC files of the job."


def _scope(scope: dict[str, Any], *, assumed: bool) -> str:
    whence = f" when found from {scope['via']}" if scope["via"] else ""
    whence += f" by the path {scope['path']}" if scope["path"] else ""
    guess = " (assumed, since nobody said where it was found)" if assumed else ""
    if scope["seed"] and scope["accepted"]:
        return "It is a seed: the scope is not asked."
    rule = f"rule {scope['index']}, {scope['rule']}" if scope["index"] >= 0 else "no rule at all"
    why = f" ({scope['why']})" if scope["why"] else ""
    does = "accepts" if scope["accepted"] else "refuses"
    because = next((row["because"] for row in scope["rules"] if row["index"] == scope["index"] and row["because"]), "")
    because = f": {because}" if because else ""
    return f"The scope {does} it{whence}{guess}: {rule}{why}{because}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _said(column: str) -> str:
    return "" if column == "-" else column
