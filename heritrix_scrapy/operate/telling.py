"""What does a crawl tell by itself to those who have subscribed? The Scrapy side of ``feed``.

Signals become events of the same names. None is connected, and nothing is counted, before somebody wants to hear it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy import signals
from heritrix_scrapy.model.steering import PROTOCOL, Refused
from heritrix_scrapy.model.version import VERSION
from heritrix_scrapy.operate import disk
from heritrix_scrapy.operate.feed import LEAST, Feed
from heritrix_scrapy.operate.glance import Busiest, glance
from heritrix_scrapy.operate.memory import held_mib
from heritrix_scrapy.report import crawled
from heritrix_scrapy.report.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.crawl import Crawl
    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.report.progress import Window

#: Signals that are told as events. Those for single URIs are not: crawl.log has them.
EVENTS: Final = (
    "state_changed",
    "crawl_paused",
    "crawl_resumed",
    "crawl_ended",
    "disk_low",
    "disk_recovered",
    "limit_reached",
    "alert_raised",
    "settings_changed",
    "checkpointed",
    "queue_retired",
    "seed_added",
)
#: What Scrapy hands to the handlers of every signal.
_NOT_TOLD = frozenset({"signal", "sender", "spider"})


class Telling:
    """Offers ``subscribe``, ``hello`` and ``numbers``. ``window``: for current rates, shared with all who ask for the
    status."""

    def __init__(self, crawl: Crawl, window: Window) -> None:
        self._crawl = crawl
        self._window = window
        self._busiest: Busiest | None = None
        self._numbers: dict[str, Any] | None = None
        self._made = 0.0
        self._hearing: dict[str, Callable[..., None]] = {}
        self.feed = Feed(
            lambda: crawl.jobdir.root,
            EVENTS,
            wanted=self._hear,
            numbers=self.numbers,
            hello=self.hello,
            now_ms=crawl.clock.now_ms,
        )
        crawl.steering.offer(self.feed.subscribe)
        crawl.steering.add("hello", self.hello, steers=False)
        crawl.steering.add("numbers", self.numbers, steers=False)

    def hello(self, protocol: int = PROTOCOL) -> dict[str, Any]:
        """Who answers: version of the protocol and of the package, job and state. ``protocol``: the version that the
        asker speaks; another one is refused."""
        if protocol != PROTOCOL:
            raise Refused(f"the crawl speaks version {PROTOCOL} of the protocol, not {protocol}")
        return {"protocol": PROTOCOL, "version": VERSION, "events": list(EVENTS), **self.told()}

    def numbers(self) -> dict[str, Any]:
        """Rates, counts, queues by state, what is in flight, the busiest hosts, room on the disks.

        However many ask, they are made anew no more often than one subscriber may have them.
        """
        now, state = self._crawl.clock.monotonic(), self.told().get("state")
        if self._numbers is None or now - self._made >= LEAST or self._numbers["state"] != state:
            self._numbers, self._made = self._make(), now
        return self._numbers

    def _make(self) -> dict[str, Any]:
        crawl = self._crawl
        frontier, now_ms = crawl.frontier, crawl.clock.now_ms()
        if self._busiest is None:
            self._busiest = Busiest()
            crawl.before_finish.append(self._count)
        if frontier is None:
            status: dict[str, Any] = {}
            tallies: Any = {}
            current = None
        else:
            status, tallies = frontier.status(), frontier.tallies()
            size = crawled.total_bytes(crawled.of_counters(tallies))
            stands = Progress(downloaded=status["succeeded"], bytes_total=size)
            current = self._window.speed(int(crawl.clock.monotonic() * 1000), stands)
        return glance(
            self.told(),
            status,
            tallies,
            flights=(flight for handler in crawl.fetching for flight in handler.in_flight()),
            slots=crawl.bridge.concurrency,
            current=current,
            hosts=self._busiest.hosts(now_ms),
            rooms=disk.rooms(self._places()),
            memory_mib=held_mib(),
        )

    def told(self) -> dict[str, Any]:
        """State, end, reason and times."""
        life = self._crawl.life
        return {} if life is None else life.told()

    def end(self) -> None:
        """The crawl is over: subscribers hear how, and no more."""
        self.feed.end(self.told())

    def _places(self) -> list[Path]:
        root, view = self._crawl.jobdir.root, getattr(self._crawl.settings, "view", None)
        named = (getattr(view, "warc_dir", None), getattr(view, "history_dir", None))
        return [root, root / "warcs", *(Path(each) for each in named if each)]

    def _count(self, curi: CrawlURI) -> None:
        assert self._busiest is not None
        self._busiest.count(curi.host)

    def _hear(self, event: str) -> None:
        if event in self._hearing:
            return

        def heard(**details: Any) -> None:
            self.feed.tell(event, {name: value for name, value in details.items() if name not in _NOT_TOLD})

        # Scrapy holds handlers weakly
        self._hearing[event] = heard
        self._crawl.crawler.signals.connect(heard, getattr(signals, event))
