"""What of a running crawl can be asked and steered from outside? The Scrapy extension behind the socket."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scrapy import signals

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier.reports import metrics
from heritrix_scrapy.model.steering import Refused
from heritrix_scrapy.operate.board import subscription
from heritrix_scrapy.operate.closer import Closer
from heritrix_scrapy.operate.control import LAST_WORDS, ControlServer
from heritrix_scrapy.operate.feed import LEAST
from heritrix_scrapy.operate.life import End, State
from heritrix_scrapy.operate.live import LiveOperations
from heritrix_scrapy.operate.memory import held_mib
from heritrix_scrapy.operate.numbers import BACK_MS, model
from heritrix_scrapy.operate.scraped import MetricsServer, place
from heritrix_scrapy.operate.slots import slots
from heritrix_scrapy.operate.telling import Telling
from heritrix_scrapy.operate.why import Reasons
from heritrix_scrapy.report import crawled
from heritrix_scrapy.report.progress import Progress, Window
from heritrix_scrapy.report.tailing import DEFAULT, LIMIT, asked
from heritrix_scrapy.scope.scope import scope_of
from heritrix_scrapy.settings import settings_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: What writes in Prometheus's format: its library takes long to be imported.
METRICS = "heritrix_scrapy.operate.metrics"
#: End statuses that an operator may give.
ENDS = tuple(end.name for end in End if end.name.startswith(("FINISHED", "ABORTED")))


class ControlExtension:
    """Opens the control socket in the JOBDIR while the crawl runs. Without a JOBDIR there is none.

    Also what else lets one look at the crawl: the view on standard output and the metrics, where settings ask for them.
    Raises ConfigurationError.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._server: ControlServer | None = None
        self._metrics: MetricsServer | None = None
        self._shown: asyncio.Future[None] | None = None
        self._ending: asyncio.Future[None] | None = None
        self._view = settings_of(crawler).view
        if self._view.metrics:
            place(self._view.metrics)
        self._operations = LiveOperations(self._crawl)
        self._window = Window(BACK_MS)
        self._telling = Telling(self._crawl, self._window)
        self._closer = Closer(self._crawl)
        self._crawl.status_sources["operations"] = self._operations.unfinished
        steering = self._crawl.steering
        steering.add("status", self.status, steers=False)
        steering.add("verbs", self.verbs, steers=False)
        steering.add("pause", self.pause)
        steering.add("unpause", self.unpause)
        steering.add("terminate", self.terminate)
        self._operations.offer(steering)
        steering.add("why", self.why, steers=False)
        steering.add("tail", self.tail, steers=False)
        steering.add("metrics", self.metrics, steers=False)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self) -> None:
        if self._crawl.looking:
            return
        self._closer.start()
        if self._view.live_view_seconds:
            self._shown = asyncio.ensure_future(self._show())
        if self._view.metrics:
            await self._listen()
        if self._crawl.jobdir.temporary:
            return
        steering = self._crawl.steering
        server = ControlServer(self._crawl.jobdir.root, steering.do, steering.subscribe)
        try:
            await server.start()
        except OSError as error:
            logger.warning("no control socket in %s: %s", self._crawl.jobdir.root, error)
            return
        self._server = server

    async def spider_closed(self) -> None:
        """Nothing can be asked any more; those who have subscribed hear the end."""
        self._closer.stop()
        await self._operations.close()
        if self._metrics is not None:
            await self._metrics.close()
        if self._server is not None:
            self._server.refuse()

    async def engine_stopped(self) -> None:
        self._telling.end()
        if self._shown is not None:
            await asyncio.wait([self._shown], timeout=LAST_WORDS)
        if self._server is not None:
            await self._server.close()
            self._server = None

    async def _show(self) -> None:
        """Show the crawl on standard output, until its end."""
        # imported by those who look
        from heritrix_scrapy.operate.terminal import Screen

        events = self._telling.feed.subscribe(**subscription(max(float(self._view.live_view_seconds), LEAST)))
        try:
            with Screen() as screen:
                async for event in events:
                    # a terminal that was stopped must not stop the crawl
                    await asyncio.to_thread(screen.hear, event)
        except (OSError, ValueError) as error:
            logger.warning("standard output cannot be written to, and shows the crawl no more: %s", error)
        finally:
            events.close()

    async def _listen(self) -> None:
        host, port = place(self._view.metrics)
        server = MetricsServer(host, port, self._metrics_text)
        await asyncio.to_thread(import_module, METRICS)
        try:
            await server.start()
        except OSError as error:
            logger.error("HERITRIX_METRICS = %r: nothing can listen there: %s", self._view.metrics, error)
            return
        self._metrics = server
        logger.info("metrics: %s", server.address)

    def _metrics_text(self) -> tuple[str, str]:
        answer = self._in_prometheus(self.status())
        return answer["content_type"], answer["text"]

    def pause(self) -> dict[str, Any]:
        """Hand out nothing more; what is in flight goes on."""
        self._crawl.bridge.pause("by the operator", wanted=True)
        return self._state()

    def unpause(self) -> dict[str, Any]:
        """Go on after a pause, whoever asked for it; what was in the way may still be, and pause the crawl again."""
        self._crawl.bridge.resume()
        return self._state()

    def terminate(self, end: str = End.ABORTED.name) -> dict[str, Any]:
        """End the crawl: what is in flight gets its grace time, unless it is asked for again; what is queued stays
        queued.

        ``end``: name of the end status that it gets.
        """
        if end not in ENDS:
            raise Refused(f"terminate: end is {end!r}, expected one of {', '.join(ENDS)}")
        life = self._crawl.life
        if life is None:
            raise Refused("the crawl has not begun")
        if self._crawl.cut_off is not None:
            self._crawl.cut_off()
            return self._state()
        self._ending = asyncio.ensure_future(life.stop(end, "by the operator"))
        return {**self._state(), "state": State.STOPPING.value}

    def status(self) -> dict[str, Any]:
        """State and reason, counts, queues and what waits, why."""
        crawl = self._crawl
        answer = self._state()
        if crawl.frontier is not None:
            answer["frontier"] = crawl.frontier.status()
        flights = (each for handler in crawl.fetching for each in handler.in_flight())
        answer["fetching"] = slots(flights, crawl.bridge.concurrency, crawl.clock.now_ms())
        for name, source in crawl.status_sources.items():
            answer[name] = source()
        answer["job"] = self._job(answer)
        return answer

    def _job(self, answer: dict[str, Any]) -> dict[str, Any] | None:
        crawl = self._crawl
        frontier, view = crawl.frontier, getattr(crawl.settings, "view", None)
        if frontier is None or view is None:
            return None
        tallies = frontier.tallies()
        flights = [each for handler in crawl.fetching for each in handler.in_flight()]
        size = crawled.total_bytes(crawled.of_counters(tallies))
        stands = Progress(downloaded=answer["frontier"]["succeeded"], bytes_total=size)
        return model(
            crawl.jobdir.root,
            {**answer, "checkpoint": crawl.began_with},
            tallies,
            name=view.job_name,
            running=True,
            slots=crawl.bridge.concurrency,
            steps=Counter(flight.step for flight in flights),
            load=metrics(frontier),  # type: ignore[arg-type]
            before=self._window.before(int(crawl.clock.monotonic() * 1000), stands),
            memory_mib=held_mib(),
        )

    async def metrics(self) -> dict[str, Any]:
        """The status in Prometheus's text format."""
        # imported by those who ask, which takes long and the crawl's loop has no time for
        await asyncio.to_thread(import_module, METRICS)
        status = self.status()
        # another's turn between the two: each is short, both together need not be
        await asyncio.sleep(0)
        return self._in_prometheus(status)

    def _in_prometheus(self, status: dict[str, Any]) -> dict[str, Any]:
        prometheus = import_module(METRICS)
        return {"content_type": prometheus.CONTENT_TYPE, "text": prometheus.text(status)}

    def verbs(self) -> dict[str, Any]:
        """What can be asked, with parameters."""
        return {
            "verbs": {
                verb.name: {"does": verb.doc, "parameters": list(verb.parameters), "steers": verb.steers}
                for verb in self._crawl.steering.verbs().values()
            }
        }

    async def why(self, uri: str, via: str = "", path: str = "") -> dict[str, Any]:
        """Why a URI was fetched, or not, or not yet; ``via``, ``path``: where it would be found."""
        return await Reasons(self._crawl, scope_of(self._crawl.crawler)).live(uri, via, path)

    async def tail(
        self, log: str = DEFAULT, start: int = -1, lines: int = 10, filter: str = "", limit: int = LIMIT
    ) -> dict[str, Any]:
        """The last ``lines`` of a log, or those from byte ``start`` on, at most ``limit`` bytes; ``next`` in the answer
        is where to go on. ``filter``: an expression that is searched for in each. A log that has no line yet has
        none."""
        root = self._crawl.jobdir.root
        return await asyncio.to_thread(asked, root, log, start=start, lines=lines, filter=filter, limit=limit)

    def _state(self) -> dict[str, Any]:
        return self._telling.told()
