"""What can an operator do to a frontier?

One interface for commands, socket, web page and action directory, on a running crawl and on a stopped one: requests by
name with plain values, answers as dicts. What may take long is given back as a ``Work``, to be run in slices.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.allowance import BeginAnew
from heritrix_scrapy.frontier.exporting import FORMATS as EXPORTS
from heritrix_scrapy.frontier.exporting import Export
from heritrix_scrapy.frontier.importing import FORMATS as IMPORTS
from heritrix_scrapy.frontier.importing import Import, Options
from heritrix_scrapy.frontier.looking import Looking, OperationError, expression
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.frontier.states import State
from heritrix_scrapy.frontier.work import DELETED, OUT_OF_SCOPE, QueueSweep, Removal, Work, all_names
from heritrix_scrapy.model.crawluri import HIGHEST, CrawlURI
from heritrix_scrapy.model.steering import Verb
from heritrix_scrapy.uri.fixup import UriError, fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from heritrix_scrapy.crawl import Clock, SettingsSource
    from heritrix_scrapy.frontier.core import Frontier
    from heritrix_scrapy.frontier.seeds import SeedListener


class Killer(Protocol):
    """Cuts off the fetch of a URI, and tells whether it could; ``keep``: what has come is archived."""

    def __call__(self, curi: CrawlURI, *, keep: bool) -> bool: ...


#: Operation → the method that carries it out, and whether it changes anything.
VERBS: dict[str, tuple[str, bool]] = {
    "queues": ("queues", False),
    "urls": ("urls", False),
    "queue_report": ("report", False),
    "delete": ("delete", True),
    "drop": ("drop", True),
    "retire": ("retire", True),
    "reconsider": ("reconsider", True),
    "reset_quota": ("reset_quota", True),
    "wake": ("wake", True),
    "force": ("force", True),
    "seeds": ("seeds", True),
    "kill": ("kill", True),
    "import": ("import_", True),
    "export": ("export", True),
}


class Operations(Looking):
    """Operations on one frontier. ``decide``: whether the scope accepts a URI; ``note``: adds a line to the job's log;
    ``count``: adds to the statistics; ``kill``: cuts off the fetch of a URI, and whether it could; ``gone``: called
    with each URI taken out of its queue; ``listeners``: who hears of seeds; ``keep_lines``: has lines of a seeds text
    that are no seeds outlive the process."""

    def __init__(
        self,
        frontier: Frontier,
        settings: SettingsSource,
        clock: Clock,
        *,
        decide: Callable[[CrawlURI], bool],
        note: Callable[[str], None] | None = None,
        count: Callable[[Mapping[str, int]], None] | None = None,
        kill: Killer | None = None,
        gone: Callable[[CrawlURI], object] | None = None,
        listeners: Iterable[SeedListener] = (),
        reached: Callable[[], str] = lambda: "RUN",
        also: Mapping[str, Callable[..., dict[str, Any]]] | None = None,
        keep_lines: Callable[[list[str]], None] | None = None,
    ) -> None:
        super().__init__(frontier, settings, clock, reached)
        self._decide = decide
        self._note = note
        self._count = count
        self._kill = kill
        self._gone = gone
        self._listeners = list(listeners)
        self._keep_lines = keep_lines
        self._verbs = {
            name: Verb(name, getattr(self, method), steers=steers) for name, (method, steers) in VERBS.items()
        } | {name: Verb(name, run, steers=False) for name, run in (also or {}).items()}

    # -- by request ----------------------------------------------------------------------------------------

    def perform(self, request: Mapping[str, Any]) -> dict[str, Any] | Work:
        """Carry out ``{"do": NAME, parameter: value, ...}``. Raises Refused."""
        verb = self._verbs.get(request.get("do", ""))
        if verb is None:
            raise OperationError(f"no such operation; there are: {', '.join(self._verbs)}")
        given = {key: value for key, value in request.items() if key != "do"}
        answer: Any = verb.run(**verb.arguments(given))
        assert isinstance(answer, dict | Work)
        return answer

    def noted(self, work: Work | str, answer: Mapping[str, Any], remark: str = "") -> None:
        """Put what was done into the job's log, with the operator's remark, and into the statistics."""
        if isinstance(work, Work) and not work.steers:
            return
        name, remark = (work.name, work.remark) if isinstance(work, Work) else (work, remark)
        if self._count is not None:
            self._count(counters(name, answer))
        if self._note is None:
            return
        shown = ", ".join(f"{key} {value}" for key, value in answer.items() if isinstance(value, int | str))
        self._note(one_line(f"{name}: {shown}" + (f" - {remark}" if remark else "")))

    # -- doing ---------------------------------------------------------------------------------------------

    def delete(
        self,
        uri: str = ".*",
        queue: str = ".*",
        count_only: bool = False,
        remark: str = "",
        forget: bool = False,
        quiet: bool = False,
    ) -> Work:
        """Delete queued URIs: those that ``uri`` matches as a whole in queues whose names ``queue`` matches. Each is
        logged as -6000, unless ``quiet``. The seen filter keeps them, unless ``forget``. What is in process stays."""
        takes = expression("uri", uri)
        return Removal(
            "delete",
            self.frontier,
            self._clock.now_ms,
            expression("queue", queue),
            lambda curi: takes(curi.uri),
            DELETED,
            for_uri=self._settings.for_uri,
            count_only=count_only,
            quiet=quiet,
            forget=forget,
            remark=remark,
            gone=self._gone,
        )

    def drop(self, queue: str = ".*", count_only: bool = False, remark: str = "") -> Work:
        """Drop queued URIs that the scope does not accept (any more), as -5000. Seeds stay, and so does what the spider
        asked for, unless the scope judges that."""

        def takes(curi: CrawlURI) -> bool:
            if curi.seed or (curi.spider_request and not self._settings.view.scope_spider_requests):
                return False
            curi.settings = self._settings.for_uri(curi)
            return not self._decide(curi)

        return Removal(
            "drop",
            self.frontier,
            self._clock.now_ms,
            expression("queue", queue),
            takes,
            OUT_OF_SCOPE,
            for_uri=self._settings.for_uri,
            count_only=count_only,
            remark=remark,
            gone=self._gone,
        )

    def retire(self, queue: str, count_only: bool = False, remark: str = "") -> Work:
        """Take the queues that ``queue`` matches out of the crawl; their URIs stay in them. One in process goes when
        its URI comes back."""
        matches = expression("queue", queue)

        def act(found: Any) -> bool:
            if found.record.state == State.RETIRED:
                return False
            if not count_only:
                self.frontier.retire(found.class_key)
            return True

        names = all_names(self.frontier)
        return QueueSweep(
            "retire", self.frontier, self._clock.now_ms, names, matches, act, count_only=count_only, remark=remark
        )

    def reconsider(self, queue: str = ".*", count_only: bool = False, remark: str = "") -> Work:
        """Let retired queues take their turn again, after a change of the budget say. One that is still over its budget
        is retired anew when its turn comes."""
        queues = self.frontier.queues

        def act(found: Any) -> bool:
            return found.record.state == State.RETIRED if count_only else queues.reconsider(found)

        return self._listed("reconsider", iter(list(self.frontier.lists.retired)), act, queue, count_only, remark)

    def reset_quota(
        self, host: str = "", server: str = "", queue: str = "", source: str = "", remark: str = ""
    ) -> Work:
        """Have quotas count from now on, and let the queues that they retired take their turn again: of a ``host`` with
        its servers and queues, of one ``server`` (``host:port``), of the queues that ``queue`` matches, or of what came
        from the seed ``source``."""
        if sum(map(bool, (host, server, queue, source))) != 1:
            raise OperationError("reset_quota needs one of host, server, queue and source")
        return BeginAnew(
            self.frontier,
            self.frontier.hosts,
            self._clock.now_ms,
            host=host.lower(),
            server=server.lower(),
            source=source,
            matches=expression("queue", queue) if queue else None,
            remark=remark,
        )

    def wake(self, queue: str = ".*", count_only: bool = False, remark: str = "") -> Work:
        """End the rests of snoozed queues now."""
        queues = self.frontier.queues

        def act(found: Any) -> bool:
            return found.record.state == State.SNOOZED if count_only else queues.wake_now(found)

        names = (name for _, name in self.frontier.lists.snoozed.copy())
        return self._listed("wake", names, act, queue, count_only, remark)

    def _listed(
        self, name: str, names: Iterator[str], act: Callable[[Any], bool], queue: str, count_only: bool, remark: str
    ) -> Work:
        matches = expression("queue", queue)
        return QueueSweep(
            name, self.frontier, self._clock.now_ms, once(names), matches, act, count_only=count_only, remark=remark
        )

    def force(
        self, uri: str, path: str = "", via: str = "", seed: bool = False, remark: str = "", now: bool = False
    ) -> dict[str, Any]:
        """Queue a URI whether it is known or not, once more even if it waits already; scope is not asked. What it
        leads to is treated as ever: the force is not inherited. ``now``: before everything else of its queue, whose
        rest ends."""
        curi = CrawlURI(self._fixed(uri), path=path, via=self._fixed(via) if via else None, seed=seed, forced=True)
        frontier = self.frontier
        if now:
            curi.directive = HIGHEST
        added = frontier.add([curi])
        queue = frontier.queues.get(curi.class_key)
        woken = bool(now and queue is not None and frontier.queues.wake_now(queue))
        if seed:
            self._announce(curi.uri)
        self.settle()
        answer = {"queued": added, "uri": curi.uri, "queue": curi.class_key, "woken": woken}
        self.noted("force", answer, remark)
        return answer

    def seeds(self, lines: list[str], remark: str = "") -> dict[str, Any]:
        """Add seed lines while the crawl runs: each is announced to scope and reports, and queued if it is new. What
        they say holds after a restart, too."""
        others = _Others()
        added = 0
        for curi in announce(lines, [*self._listeners, others], self._settings.view):
            self.frontier.ledger.put(keys.seed(curi.uri), b"")
            added += self.frontier.add([curi])
        if others.lines and self._keep_lines is not None:
            self._keep_lines(others.lines)
        self.settle()
        answer = {"lines": len(lines), "queued": added}
        self.noted("seeds", answer, remark)
        return answer

    def kill(self, uri: str, keep: bool = False, remark: str = "") -> dict[str, Any]:
        """Cut off the fetch of a URI in flight: it ends as -7000. ``keep``: what has come is archived."""
        wanted = self._fixed(uri)
        found = [curi for curi in self.frontier.in_process() if curi.uri in (wanted, uri)]
        if not found:
            raise OperationError(f"{wanted} is not in process")
        killed = [curi for curi in found if self._kill is not None and self._kill(curi, keep=keep)]
        if not killed:
            raise OperationError(f"{wanted} is in process, but no fetch of it is: it will end by itself")
        answer = {"killed": len(killed), "uri": wanted}
        self.noted("kill", answer, remark)
        return answer

    def import_(
        self,
        file: str,
        format: str = "",
        include: str = "",
        schedule: str = "",
        force: bool = False,
        seeds: bool = False,
        scope: bool = False,
        again: bool = False,
        remark: str = "",
    ) -> Work:
        """Import URIs from a file. See ``importing.Options``."""
        path = Path(file)
        if not path.is_file():
            raise OperationError(f"no such file: {path}")
        if format and format not in IMPORTS:
            raise OperationError(f"there are the formats {', '.join(IMPORTS)}")
        chosen = Options(include, schedule, force, seeds, scope, again)
        return Import(
            self.frontier,
            path,
            format,
            chosen,
            clock=self._clock,
            settings=self._settings,
            decide=self._decide,
            announce=self._announce,
            remark=remark,
        )

    def export(self, file: str, format: str = "uris", queue: str = ".*", uri: str = ".*", remark: str = "") -> Work:
        """Write the queued URIs to a file, those of retired queues and in process included."""
        if format not in EXPORTS:
            raise OperationError(f"there are the formats {', '.join(EXPORTS)}")
        return Export(
            self.frontier,
            Path(file),
            format,
            now_ms=self._clock.now_ms,
            wanted=expression("queue", queue),
            takes=expression("uri", uri),
            remark=remark,
        )

    # -- inside --------------------------------------------------------------------------------------------

    def _announce(self, uri: str, written: str = "") -> None:
        for listener in self._listeners:
            listener.seed_added(uri, written)

    def settle(self) -> None:
        """What an operator asked for is on the disk when the answer comes."""
        self.frontier.ledger.write()
        self.frontier.sync()

    def _fixed(self, uri: str) -> str:
        try:
            return fix(uri, strict=self._settings.view.strict_uri_fixup)
        except UriError as error:
            raise OperationError(f"{uri}: no URI: {error}") from None


#: What an answer counts that is done to URIs or queues.
COUNTED = ("deleted", "queues", "queued", "killed", "taken for seen", "written")


def counters(name: str, answer: Mapping[str, Any]) -> dict[str, int]:
    """Counters of an operation: how often it was carried out, and to how many URIs or queues. One that only counted
    has done nothing."""
    if "counted" in answer or answer.get("count only"):
        return {f"operations/{name}/count_only": 1}
    done = {f"operations/{name}": 1}
    for what in COUNTED:
        if type(answer.get(what)) is int and answer[what]:
            done[f"operations/{name}/{what.replace(' ', '_')}"] = answer[what]
    return done


class _Others:
    """Takes down the lines of a seeds text that are no seeds (``crawl.SeedListener``)."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def seed_added(self, uri: str, written: str = "") -> None:
        """Kept in the store."""

    def non_seed_line(self, line: str) -> bool:
        self.lines.append(line)
        return False

    def seeds_read(self) -> None:
        """Those of this text."""


def once(names: Iterable[str]) -> Iterator[str]:
    """Each name the first time it comes: a list may hold a queue's former place too."""
    seen: set[str] = set()
    for name in names:
        if name not in seen:
            seen.add(name)
            yield name


def one_line(text: str) -> str:
    """Text that cannot break a log's line."""
    return text.translate(dict.fromkeys((*range(32), 127, 133, 8232, 8233), " "))
