"""Where do the rooms of one crawl meet each other?

Scrapy builds scheduler, middlewares, handlers and pipelines apart from each other. Each asks ``Crawl.of`` for
the one Crawl of its crawler, takes from it what it needs and registers what it offers; what a room needs of
another is typed by a protocol here. So every component also works when it is listed by hand.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from heritrix_scrapy.engine import Bridge
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.steering import Steering
from heritrix_scrapy.parts import check_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.post import Post
    from heritrix_scrapy.model.tally import Tally


class Clock:
    """The time, handed to everything that thinks. A test hands in another."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, UTC."""
        return int(time.time() * 1000)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()


class Store(Protocol):
    """Rows by key, in the order of the keys' bytes."""

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes] = (), *, sync: bool = False) -> None:
        """All of it or nothing. Raises StorageFull when the disk refuses."""

    def get(self, key: bytes) -> bytes | None: ...

    def range(self, start: bytes, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Rows from ``start`` to before ``stop``."""

    def first(self, start: bytes, stop: bytes, most: int) -> list[tuple[bytes, bytes]]:
        """The first rows from ``start`` to before ``stop``, at most so many, as they are now: what few of them cost is
        half of what a ``range`` does."""

    def seeker(self) -> Callable[[bytes], bytes | None]:
        """A function: a key → the first key of a row from there on, None behind the last; of the rows as they are when
        the seeker is asked for. One question costs a fifth of a ``range``."""

    def compact(self, start: bytes | None = None, stop: bytes | None = None) -> None: ...

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """As ``Durable.checkpoint``; the directory must not be there."""

    def close(self) -> None: ...


class Durable(Protocol):
    """What a part keeps that outlives the process."""

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """Put it, as it is now, into the folder of a checkpoint, whose name is the checkpoint's. What is returned
        completes that and has it on the disk; it may run in a thread, while the crawl goes on. Raises OSError and
        StorageFull: then the checkpoint fails."""


class SettingsSource(Protocol):
    """What the operator wants, for one URI. The View has one attribute a setting."""

    def for_uri(self, curi: CrawlURI) -> Any: ...

    @property
    def view(self) -> Any:
        """The View that holds where no sheet applies."""

    @property
    def uniform(self) -> bool:
        """Whether that View holds for all URIs."""


class Frontier(Protocol):
    """What others may ask of the frontier while the crawl runs."""

    def status(self) -> dict[str, Any]: ...

    def in_process(self) -> Sequence[CrawlURI]:
        """The URIs handed out and not yet come back."""

    def tallies(self) -> Mapping[str, int]:
        """The report's counters of the whole job, earlier processes included."""

    def alive(self) -> bool:
        """Whether anything is left to do, now or later."""

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """Everything written and synced, and the store copied into the directory, which must not be there; see
        ``Durable``."""

    def end_journal(self, name: str) -> None:
        """End the recovery journal under the name of a checkpoint, and begin another. Raises StorageFull, OSError."""

    def touch(self) -> None:
        """Have the lengths of the logs written down anew, at once. Raises StorageFull."""

    def queue_tally(self, class_key: str) -> Tally | None:
        """Counters of a queue; None for an unknown one."""


class Operations(Protocol):
    """What an operator may ask of the frontier and do to it; see ``frontier.operations``."""

    def perform(self, request: Mapping[str, Any]) -> Any:
        """Carry out a request; an answer, or work to be done in slices."""

    def report_lines(self, kind: str) -> Iterator[str | None]:
        """A report of the frontier's own: ``summary``, ``nonempty`` or ``all``."""

    def noted(self, work: Any, answer: Mapping[str, Any]) -> None:
        """Put what was done into the job's log."""

    def settle(self) -> None:
        """Have what was done on the disk."""


class Report(Protocol):
    """What the frontier needs of the reports."""

    def finished(self, curi: CrawlURI) -> None:
        """The URI has its final disposition: append its log line (to be flushed by ``flush``) and count it."""

    def take_tallies(self) -> Mapping[str, int]:
        """Counters that the URIs add which finished since this was asked last; they go into the same write batch."""

    def pending(self, curi: CrawlURI) -> None:
        """The URI still waits: append a log line that says so, and count nothing."""

    def retried(self, curi: CrawlURI) -> None:
        """A try failed and another follows: log what went wrong."""

    def count(self, counters: Mapping[str, int]) -> None:
        """Add to the counters of parts: ``warc/...``, ``step/...``."""

    def extracted(self, found: Mapping[str, int]) -> None:
        """Extractors read a URI: their names, and how many links each found."""

    def seed_added(self, uri: str, written: str = "") -> None:
        """A seed was announced."""

    def line(self, name: str, text: str) -> None:
        """Add a line, with the time in front, to a log of another room's."""

    def progress_note(self, word: str, message: str) -> None:
        """Tell a change of state in progress-statistics.log; a line of statistics stands before a pause and the end."""

    def flush(self) -> Mapping[str, int]:
        """Flush the logs; name → length in bytes of each log that a batch vouches for."""

    def sync(self) -> None:
        """fsync what ``flush`` named."""

    def checkpoint(self, directory: Path) -> Callable[[], None]:
        """The logs end under the checkpoint's name, and begin anew; see ``Durable``."""

    async def write_reports(self) -> None:
        """Write the reports of the settings while the crawl goes on. What fails is logged."""

    def progress_line(self) -> str:
        """How far the crawl is, as a line of progress-statistics.log."""

    def recover(self, lengths: Mapping[str, int]) -> int:
        """On opening: cut torn lines; returns how many whole lines stand beyond the stored lengths. -1 when lines
        that a batch vouched for are gone."""


class Archive(Protocol):
    """What the frontier needs of each writer, so that a batch never claims more than the files hold."""

    def flush(self) -> Mapping[str, int]:
        """Hand buffered records to the system; file name → length in bytes of each file written to since the
        last call."""

    def sync(self) -> None:
        """fsync what ``flush`` named."""

    def length(self, name: str) -> int:
        """Bytes that the file of that name holds now, under either of its names; -1 when it is gone."""


class Life(Protocol):
    """In which state the job is, and how it ended; see ``operate.life``."""

    def prepare(self) -> None:
        """The launch: the job's store is ours, nothing is fetched yet."""

    def launched(self, *, new: bool) -> None:
        """What the store held has been read; ``new``: it is a crawl that begins."""

    def empty(self) -> None:
        """Nothing is queued, and the crawl stays alive."""

    def refilled(self) -> None:
        """A URI is handed out after that."""

    def note(self, text: str, level: str = "INFO") -> None:
        """Add a line to the job's log."""

    def told(self) -> dict[str, Any]:
        """State, end, reason and times, for the status."""

    @property
    def state(self) -> str:
        """One of Heritrix's eight."""

    @property
    def end_text(self) -> str:
        """How it ended, or would end now, in the words of the reports."""

    def ran_ms(self) -> int:
        """For how long the crawl ran, pauses left out, earlier launches of it included."""

    async def stop(self, end: str, reason: str) -> None:
        """End the crawl; ``end``: name of an end status."""


class Looked(Protocol):
    """Something that may have changed since it was read."""

    def look(self) -> bool:
        """Read it again when it has; whether it says something else now."""


class InFlight(NamedTuple):
    """One fetch at the moment. ``step``: what it waits for, in words; ``received``: bytes of the answer so far."""

    curi: CrawlURI
    step: str
    received: int


class Fetching(Protocol):
    """What can be asked of a download handler while it fetches."""

    def in_flight(self) -> list[InFlight]: ...

    def cancel(self, curi: CrawlURI, *, keep: bool) -> bool:
        """End the fetch of a URI with status -7000; ``keep``: archive what has come. False when it is not there."""


class Recall(Protocol):
    """What the chain asks of what is remembered of earlier fetches."""

    def judge(self, curi: CrawlURI) -> None:
        """Set ``revisit`` of a fetch that repeats an earlier one."""

    def restore_links(self, curi: CrawlURI) -> None:
        """Give an unchanged page the links it had."""

    def keep(self, curi: CrawlURI) -> None:
        """Remember a fetch that the writers have dealt with."""

    def last_fetch_ms(self, uri: str) -> int | None:
        """When the URI was fetched last, as far as is remembered."""


class JobDir:
    """The folders of one job (Scrapy's JOBDIR). Made when first asked for.

    ``launch``: name of the folder in which this launch's logs, reports and WARCs lie; None: in the root.
    """

    def __init__(self, root: Path, *, temporary: bool) -> None:
        self.root = root
        self.temporary = temporary
        self.launch: str | None = None

    def __getattr__(self, name: str) -> Path:
        if name.startswith("_") or name not in FOLDERS:
            raise AttributeError(name)
        path = self.root / self.launch / name if self.launch and name in OF_A_LAUNCH else self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    if TYPE_CHECKING:
        frontier: Path
        warcs: Path
        mirror: Path
        logs: Path
        reports: Path
        checkpoints: Path
        action: Path
        history: Path


FOLDERS = frozenset({"frontier", "warcs", "mirror", "logs", "reports", "checkpoints", "action", "history"})

OF_A_LAUNCH = frozenset({"logs", "reports", "warcs"})


class Crawl:
    """The one meeting place of a crawler's rooms. Each attribute is set by the room that offers it.

    ``settings``: by the settings room (``settings.settings_of(crawler)`` sets it when nobody has);
    ``store``: by the frontier; ``frontier``, ``operations``: by the scheduler; ``report``, ``life``: by their
    extensions; ``archives``: by each writer; ``recall``: by the history middleware; ``gate``: by the chain;
    ``decide``: by the scheduler, from the scope; ``crawl_delay``: by the precondition middleware.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.clock = Clock()
        #: A command that looks at single pages (``scrapy shell`` ...): nothing is kept, no seeds are read.
        self.looking = False
        self.bridge = Bridge(crawler)
        #: What can be asked of this crawl and done to it; each part adds its own verbs.
        self.steering = Steering()
        self.settings: SettingsSource | None = None
        self.store: Store | None = None
        self.frontier: Frontier | None = None
        self.operations: Operations | None = None
        self.report: Report | None = None
        self.life: Life | None = None
        #: test(settings): raises ConfigurationError for Settings under which its part cannot work; asked before
        #: the crawl's change while it runs.
        self.settings_tests: list[Callable[[Any], None]] = []
        #: Called when the settings have changed while the crawl runs.
        self.settings_changed: list[Callable[[], None]] = []
        #: Name of the checkpoint with which this launch began; empty: with none.
        self.began_with = ""
        #: Where the JOBDIR of that checkpoint was when it was made, and where it is now.
        self.moved: tuple[Path, Path] | None = None
        self.archives: list[Archive] = []
        #: Name of a folder in a checkpoint → what is kept there, besides the frontier's.
        self.durables: dict[str, Durable] = {}
        self.recall: Recall | None = None
        #: gate(rule): the test of a URI that a rule of the settings comes to.
        self.gate: Callable[[Any], Callable[[CrawlURI], bool]] | None = None
        #: Lists in files that rules before parts read; whoever looks at the scope's looks at them too.
        self.lists: list[Looked] = []
        #: crawl_delay(curi): seconds that robots.txt asks for between two fetches from its server, or None.
        self.crawl_delay: Callable[[CrawlURI], float | None] | None = None
        #: submission(curi): what a URI is fetched with by POST, or None.
        self.submission: Callable[[CrawlURI], Post | None] | None = None
        #: decide(curi): whether scope takes a candidate.
        self.decide: Callable[[CrawlURI], bool] | None = None
        #: Whether the scope has heard of the seeds that the crawl waits for.
        self.settled: Callable[[], bool] = lambda: True
        #: Whether the scope judges seeds too.
        self.judges_seeds = False
        #: class_key(curi): name of the queue that a candidate would wait in.
        self.class_key: Callable[[CrawlURI], str] | None = None
        #: resolved_by_proxy(curi): whether a proxy may resolve the name of a ``dns:`` URI that our servers cannot.
        self.resolved_by_proxy: Callable[[CrawlURI], bool] | None = None
        #: divert(curi): the crawler that a URI of another one was sent to, None when it is this one's.
        self.divert: Callable[[CrawlURI], str | None] | None = None
        #: Limits that a URI is asked for, by place: see ``check_limits``.
        self.limits: dict[str, list[Callable[[CrawlURI], None]]] = {
            "before_preselector": [],
            "after_preconditions": [],
            "candidate": [],
        }
        #: before_finish(curi): called for each final disposition, before the batch is written.
        self.before_finish: list[Callable[[CrawlURI], None]] = []
        #: Called before the store is closed.
        self.before_close: list[Callable[[], None]] = []
        #: abort(): called when the stop's grace time is over; each fetch in flight ends with its deferral set.
        self.abort_fetches: list[Callable[[], None]] = []
        #: Has that happen at once, while the crawl stops; None before.
        self.cut_off: Callable[[], None] | None = None
        #: Each download handler of ours that can tell what it fetches, and end it.
        self.fetching: list[Fetching] = []
        self.status_sources: dict[str, Callable[[], Any]] = {}
        self._hosts: Hosts | None = None
        self._jobdir: JobDir | None = None

    @classmethod
    def of(cls, crawler: Crawler, *, placing: bool = False) -> Crawl:
        """The Crawl of this crawler, made when first asked for. Raises ConfigurationError when a crawl is starting in
        which not all of our components are listed; ``placing``: the add-on asks, which has not placed all yet and
        looks itself when it has."""
        crawl = _crawls.get(crawler)
        if crawl is None:
            if crawler.crawling and not placing:
                check_listed(crawler.settings)
            crawl = _crawls[crawler] = cls(crawler)
        return crawl

    def check_limits(self, place: str, curi: CrawlURI) -> bool:
        """Whether a URI may go on. Otherwise its status is set, or its deferral, and its queue is to be retired."""
        for check in self.limits[place]:
            check(curi)
            if curi.status or curi.deferral is not None:
                return False
        return True

    @property
    def hosts(self) -> Hosts:
        """What is known of hosts and servers; before the store is open, nothing."""
        if self._hosts is None:
            self._hosts = Hosts(self._stored)
        return self._hosts

    def _stored(self, key: bytes) -> bytes | None:
        return None if self.store is None else self.store.get(key)

    @property
    def jobdir(self) -> JobDir:
        """The job's folders: JOBDIR, else a temporary directory, which goes with the process when it only looks."""
        if self._jobdir is None:
            path = self.crawler.settings.get("JOBDIR")
            if path:
                self._jobdir = JobDir(Path(path).resolve(), temporary=False)
            else:
                self._jobdir = JobDir(Path(tempfile.mkdtemp(prefix="heritrix-job-")), temporary=True)
                if self.looking:
                    # not when the spider closes: a shell never closes it
                    atexit.register(shutil.rmtree, self._jobdir.root, ignore_errors=True)
        return self._jobdir

    def _stats(self) -> Any:
        """Scrapy's; None where no crawl has started: newer versions of Scrapy refuse to tell then."""
        try:
            return self.crawler.stats
        except RuntimeError:
            return None

    def add_stats(self, counters: Mapping[str, int]) -> None:
        """Add counters to Scrapy's stats under ``heritrix/``."""
        stats = self._stats()
        if stats is not None:
            for name, count in counters.items():
                stats.inc_value(f"heritrix/{name}", count)

    def set_stats(self, values: Mapping[str, int]) -> None:
        """Set values in Scrapy's stats under ``heritrix/``."""
        stats = self._stats()
        if stats is not None:
            for name, value in values.items():
                stats.set_value(f"heritrix/{name}", value)

    @property
    def spider(self) -> Spider | None:
        return self.crawler.spider


def is_internal(request: Request) -> bool:
    """Whether no callback of a spider waits for this Request: it is one of our own making."""
    return request.meta.get("heritrix") == "internal"


_crawls: WeakKeyDictionary[Crawler, Crawl] = WeakKeyDictionary()
