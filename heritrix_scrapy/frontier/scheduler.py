"""How does Scrapy's engine reach the frontier?

``FrontierScheduler`` is synchronous and never raises: an exception out of a scheduler can hang the engine. It puts
the frontier together, turns Requests into CrawlURIs, and tells the frontier how each ended once the engine has let go
of it. Its parts: ``building`` makes the Requests, ``seeding`` reads the seeds, ``timers`` wakes the engine.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later
from scrapy.utils.misc import build_from_crawler

from heritrix_scrapy.crawl import Crawl, is_internal
from heritrix_scrapy.frontier.building import Building
from heritrix_scrapy.frontier.candidates import may_be_promoted, redirects_promote
from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.diversion import Diversions
from heritrix_scrapy.frontier.exporting import PendingLog
from heritrix_scrapy.frontier.finish import QUOTA
from heritrix_scrapy.frontier.journal import Journal
from heritrix_scrapy.frontier.mapper import Diverter, named
from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.frontier.operations import Operations
from heritrix_scrapy.frontier.rescheduling import Rescheduling, wanted
from heritrix_scrapy.frontier.seeding import Seeding
from heritrix_scrapy.frontier.timers import Timers
from heritrix_scrapy.model import hops, status
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull, StoreError
from heritrix_scrapy.model.logins import take_login, without_login
from heritrix_scrapy.requests import RELEASED, bind, lookup
from heritrix_scrapy.scope import scope_of
from heritrix_scrapy.scope.factory import gate
from heritrix_scrapy.scope.middleware import judge_spider_request, request_uri
from heritrix_scrapy.settings import settings_of, views
from heritrix_scrapy.settings.changes import keep_seed_lines
from heritrix_scrapy.settings.validate import load_object
from heritrix_scrapy.signals import listened, queue_retired, uri_finished, uri_retried
from heritrix_scrapy.store import discard, open_store

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds for which a start waits for a command, or a page of the stopped crawl, that has the store open.
PATIENCE = 2.0

#: Deferral of a Request whose place a retry of Scrapy's takes.
RETRIED = "retried by the spider's retry middleware"
#: Deferral of a Request that was cut off by a stop.
STOPPED = "stopped"
PREREQUISITE = "prerequisite"
#: Deferral of a spider's Request that is made again with a credential.
AUTHORIZE = "authorize"

#: Answers whose Location Scrapy's RedirectMiddleware takes up.
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class FrontierScheduler(BaseScheduler):
    """Heritrix's frontier as Scrapy's scheduler (setting ``SCHEDULER``)."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        self._inproc: dict[Request, CrawlURI] = {}
        self._replacements: dict[Request, Request] = {}
        self._seeding = Seeding(crawler, self._arm, self._take_early)
        self._timers: Timers | None = None
        self._grace: Any = None
        self._empty = False
        self._resumed = False
        self._frontier: Frontier | None = None
        self._diversions: Diversions | None = None
        self._diverter: Diverter | None = None
        limit = crawler.settings.getint("CONCURRENT_REQUESTS")
        self._limit = limit if self._settings.profile == "heritrix" and limit > 0 else 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # -- opening and closing -------------------------------------------------------------------------------

    def open(self, spider: Spider) -> None:
        """Open the store, recover, read the seeds. Raises ConfigurationError and nothing else."""
        crawl = self._crawl
        self._spider = spider
        self._building = Building(self._crawler, spider, self._settings.view.callback)
        directory = None if crawl.looking else crawl.jobdir.frontier
        if crawl.jobdir.temporary and not crawl.looking:
            logger.warning("no JOBDIR: this crawl cannot be resumed; its logs lie in %s", crawl.jobdir.root)
        scope = scope_of(self._crawler)
        crawl.decide = scope.accepts
        journal = None
        if wanted(self._settings):
            named = self._settings.view.rescheduling_policy
            policy = self._part("HERITRIX_RESCHEDULING_POLICY", named, "next_fetch") if named else None
            crawl.before_finish.append(Rescheduling(self._settings, crawl.clock, policy))
        try:
            crawl.store = open_store(directory, migrate=migrate, patience=PATIENCE)
            if crawl.life is not None:
                crawl.life.prepare()
            if self._settings.view.recovery_log_enabled and not crawl.looking:
                journal = Journal(lambda: crawl.jobdir.logs, crawl.clock.now_ms)
            frontier = self._frontier = Frontier(
                crawl.store,
                self._settings,
                decide=scope.accepts,
                # where links may belong to other crawlers each is looked at
                recall=None if self._settings.view.crawl_mapper else scope.recall,
                remembered=scope.remembered,
                hosts=crawl.hosts,
                clock=crawl.clock,
                report=crawl.report,
                archives=crawl.archives,
                crawl_delay=self._crawl_delay,
                before_finish=crawl.before_finish,
                seed_found=self._seeding.found,
                queue_retired=self._queue_retired,
                load_part=partial(load_part, self._crawler),
                journal=journal,
            )
            crawl.class_key = lambda curi: frontier.preparer.plan(self._settings.for_uri(curi)).class_key(curi)
            view = self._settings.view
            if view.candidates_should_process_rule is not None:
                frontier.candidates.gate = gate(self._crawler, view, view.candidates_should_process_rule)
            if not crawl.looking:
                self._divert_others(frontier)
            self._limit_candidates(frontier)
            recovery = frontier.open()
        except (StoreError, StorageFull) as error:
            raise ConfigurationError("JOBDIR", str(crawl.jobdir.root), str(error)) from error
        crawl.frontier = frontier
        crawl.settings_tests.append(lambda settings: frontier.preparer.test(views(settings)))
        crawl.settings_changed.append(self._settings_changed)
        crawl.operations = Operations(
            frontier,
            self._settings,
            crawl.clock,
            decide=scope.accepts,
            note=None if crawl.life is None else crawl.life.note,
            count=crawl.add_stats,
            kill=self._kill,
            gone=self._building.forget,
            listeners=[scope, *self._seeding.listeners],
            reached=self._reached,
            keep_lines=None if crawl.jobdir.temporary else partial(keep_seed_lines, crawl.jobdir.root),
        )
        if not crawl.looking:
            for line in self._settings.lines:
                logger.info("%s", line)
        self._resumed = not recovery.new
        if crawl.life is not None:
            crawl.life.launched(new=recovery.new)
        crawl.bridge.install(self._done, self._closing)
        if self._resumed:
            logger.info("resuming the crawl in %s: %s", crawl.jobdir.root, recovery)
        if crawl.jobdir.temporary and not crawl.looking:
            logger.warning(
                "no JOBDIR: this crawl cannot be resumed; its logs are in %s, its WARC files in %s",
                crawl.jobdir.logs,
                self._settings.view.warc_dir or Path.cwd(),
            )
        if not crawl.looking:
            self._begin(frontier)
        self._timers = Timers(crawl, frontier, self._count_refusals)
        self._arm()

    def _settings_changed(self) -> None:
        """Policies are those of the new settings from now on, and so is the number of URIs in process."""
        frontier, view = self._frontier, self._settings.view
        if frontier is None:
            return
        frontier.preparer.check(views(self._settings))
        self._limit_candidates(frontier)
        if wanted(self._settings) and not any(type(each) is Rescheduling for each in self._crawl.before_finish):
            self._crawl.before_finish.append(Rescheduling(self._settings, self._crawl.clock, None))
        if "MAX_TOE_THREADS" in self._settings.explicit:
            self._crawl.bridge.set_concurrency(view.max_toe_threads)
            if self._limit:
                self._limit = view.max_toe_threads
        self._arm()

    def _limit_candidates(self, frontier: Frontier) -> None:
        """Where links are held to limits, have each asked for."""
        if self._crawl.limits["candidate"]:
            frontier.candidates.limited = lambda curi: not self._crawl.check_limits("candidate", curi)

    def _divert_others(self, frontier: Frontier) -> None:
        """Where the crawl is split over several crawlers, send to the others what is theirs. Raises
        ConfigurationError and StorageFull."""
        crawl, view = self._crawl, self._settings.view
        mapper = named(view)
        if mapper is None:
            return
        self._diversions = Diversions(
            view.diversion_dir or crawl.jobdir.root / "diversions",
            view.local_name,
            crawl.clock,
            digits=view.rotation_digits,
            heritrix=view.profile == "heritrix",
        )
        crawl.archives.append(self._diversions)
        rule = view.outlink_rule
        outlinks = None if rule is None else gate(self._crawler, view, rule)
        diverter = Diverter(mapper, self._diversions, crawl.class_key, outlinks=outlinks)  # type: ignore[arg-type]
        frontier.candidates.diverter = self._diverter = diverter
        crawl.divert = diverter.divert

    def _begin(self, frontier: Frontier) -> None:
        view = self._settings.view
        source = None
        if view.seed_source:
            source = self._part("HERITRIX_SEED_SOURCE", view.seed_source, "seeds")
        self._seeding.begin(frontier, source)
        if view.pause_at_start:
            self._crawl.bridge.pause("HERITRIX_PAUSE_AT_START", wanted=True)

    def _part(self, setting: str, path: str, method: str) -> Any:
        """A part of the user's own that has this method. Raises ConfigurationError."""
        part = load_part(self._crawler, setting, path, {})
        if not callable(getattr(part, method, None)):
            raise ConfigurationError(setting, path, f"such a class has a method {method}()")
        return part

    def _crawl_delay(self, curi: CrawlURI) -> float | None:
        ask = self._crawl.crawl_delay
        return None if ask is None else ask(curi)

    def _queue_retired(self, class_key: str) -> None:
        self._crawler.signals.send_catch_log(signal=queue_retired, class_key=class_key, spider=self._spider)

    def close(self, reason: str) -> None:
        """Write what is left and close the store."""
        self._seeding.end()
        if self._timers is not None:
            self._timers.end()
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        frontier, self._frontier = self._frontier, None
        if frontier is not None:
            self._count_refusals()
            for last_act in self._crawl.before_close:
                last_act()
        self._crawl.operations = None
        if frontier is None:
            return
        try:
            self._dump_pending(frontier)
            frontier.close(finished=not frontier.alive() and reason == "finished")
        except StorageFull as error:
            logger.error("the frontier could not be closed: %s", error)
        try:
            if self._diversions is not None:
                self._diversions.close()
        except StorageFull as error:
            logger.error("the diversion files could not be closed: %s", error)
        if self._crawl.jobdir.temporary and not self._crawl.looking:
            discard(self._crawl.jobdir.frontier)

    def _dump_pending(self, frontier: Frontier) -> None:
        report = self._crawl.report
        if report is None or not self._settings.view.dump_pending_at_close:
            return
        dump = PendingLog(frontier, self._crawl.clock.now_ms, report.pending)
        dump.run(lambda: False)
        logger.info("URIs that still wait were written to crawl.log: %d", dump.answer()["written"])

    def _closing(self) -> None:
        """The engine waits for what is in flight: at most the grace time, then it is cut off and stays queued."""
        seconds = self._settings.view.stop_grace_seconds
        logger.info("stopping: %d fetches in flight get %s seconds", len(self._inproc), seconds)
        self._grace = call_later(max(float(seconds), 0.0), self._abort)
        self._crawl.cut_off = self._cut_off

    def _cut_off(self) -> None:
        if self._grace is not None:
            logger.info("stopping: %d fetches in flight get no more time", len(self._inproc))
            self._grace.cancel()
            self._abort()

    def _abort(self) -> None:
        self._grace = None
        for curi in self._inproc.values():
            if curi.status == status.UNATTEMPTED and curi.deferral is None:
                curi.deferral = STOPPED
        for abort in self._crawl.abort_fetches:
            abort()

    def _kill(self, curi: CrawlURI, *, keep: bool) -> bool:
        """Cut off the fetch of a URI, which ends as -7000; whether there was one."""
        return any(fetching.cancel(curi, keep=keep) for fetching in self._crawl.fetching)

    def _reached(self) -> str:
        """The state of Heritrix's frontier that ours corresponds to."""
        if self._crawl.bridge.is_paused():
            return "PAUSE"
        return "RUN" if self._frontier is not None and self._frontier.alive() else "EMPTY"

    # -- what the engine asks ------------------------------------------------------------------------------

    def has_pending_requests(self) -> bool:
        frontier = self._frontier
        if frontier is None:
            return False
        if self._inproc or frontier.alive() or not self._seeding.done:
            return True
        if self._crawl.life is not None and not self._crawl.bridge.is_paused():
            self._empty = True
            self._crawl.life.empty()
        return bool(self._settings.view.run_while_empty) and not self._crawl.bridge.is_closing()

    def enqueue_request(self, request: Request) -> bool:
        """A Request from ``start()``, a callback, a redirect, a retry, or given back by a middleware."""
        if request is RELEASED:
            return True
        try:
            return self._enqueue(request)
        except StorageFull as error:
            self._crawl.bridge.pause(error)
            logger.error("%s could not be stored: %s", request.url, error)
        except Exception:
            logger.exception("%s could not be scheduled", request.url)
            self._count("scheduler_errors")
        return False

    def next_request(self) -> Request | None:
        """The next Request whose turn it is, or None; the timer wakes the engine when one is due."""
        frontier = self._frontier
        if frontier is None or self._seeding.holds or (self._limit and len(self._inproc) >= self._limit):
            return None
        try:
            while (curi := frontier.next(self._crawl.clock.now_ms())) is not None:
                request = self._dispatch(curi)
                if request is not None:
                    return request
            self._arm()
        except StorageFull as error:
            self._crawl.bridge.pause(error)
        except Exception:
            logger.exception("no URI could be taken from the frontier")
            self._count("scheduler_errors")
        return None

    # -- Request → CrawlURI --------------------------------------------------------------------------------

    def _enqueue(self, request: Request) -> bool:
        current = self._inproc.get(request)
        if current is not None:
            if current.deferral is not None:
                return True
            # a callback yields the Request it was given: a new one, with nothing of the old but its looks
            request = request.replace()
        retried = self._original_of_retry(request)
        if retried is not None:
            original, curi = retried
            curi.deferral = RETRIED
            # Scrapy has it pass the filter, which it does in its place anyway; a redirect of its answer need not
            request.dont_filter = original.dont_filter
            self._replacements[original] = request
            return True
        curi = lookup(request) or self._from_outside(request)
        if self._settings.view.scope_spider_requests and not curi.seed and self._seeding.wait(request):
            return True
        if not judge_spider_request(self._crawl, curi):
            return False
        frontier = self._frontier
        assert frontier is not None
        fingerprinter = self._crawler.request_fingerprinter
        assert fingerprinter is not None
        curi.stored_request = self._building.serialise(request)
        taken = frontier.add_request(
            curi,
            fingerprinter.fingerprint(request),
            dont_filter=request.dont_filter,
            priority=request.priority,
            resumed=self._resumed,
        )
        if not taken:
            self._count("frontier/filtered_requests")
            return False
        self._building.keep(curi, request)
        stats = self._crawler.stats
        if stats is not None:
            stats.inc_value("scheduler/enqueued")
        self._arm()
        return True

    def _take_early(self, request: Request) -> None:
        """A Request had to wait until the scope had heard of the seeds."""
        if not self.enqueue_request(request):
            self._crawler.signals.send_catch_log(signals.request_dropped, request=request, spider=self._spider)

    def _from_outside(self, request: Request) -> CrawlURI:
        """The CrawlURI of a Request that passed no spider middleware."""
        uri = request_uri(request.url)
        meta = request.meta
        if meta.get("redirect_times") and meta.get("redirect_urls"):
            via = meta["redirect_urls"][-1]
            parent = self._in_process(via)
            path = hops.extend(parent.path if parent is not None else "", hops.REFER)
            curi = CrawlURI(uri, path=path, via=request_uri(via), via_context="Location:")
            if parent is not None:
                # this Request fetches the target: the same link of the page, once more, must not
                parent.outlinks = [link for link in parent.outlinks if link.hop != hops.REFER]
                curi.source_tag, curi.heritable = parent.source_tag, parent.heritable
                curi.seed = redirects_promote(parent) and may_be_promoted(curi, parent.settings)
        elif meta.get("is_start_request"):
            curi = CrawlURI(uri, seed=True, source_tag=uri if self._settings.view.source_tag_seeds else None)
        else:
            curi = CrawlURI(uri, path=hops.NAVLINK)
        if "@" in uri and self._settings.view.profile != "heritrix":
            take_login(curi)
            curi.source_tag = curi.source_tag and without_login(curi.source_tag)
        curi.spider_request = True
        return curi

    def _in_process(self, url: str) -> CrawlURI | None:
        return next((curi for request, curi in self._inproc.items() if request.url == url), None)

    def _original_of_retry(self, request: Request) -> tuple[Request, CrawlURI] | None:
        """The Request in process whose place a retry takes, recognised by its grown ``retry_times``."""
        times = request.meta.get("retry_times")
        if not times:
            return None
        for original, curi in self._inproc.items():
            if (
                original.url == request.url
                and original.method == request.method
                and original.meta.get("retry_times", 0) == times - 1
                and curi.deferral is None
                and not is_internal(original)
            ):
                return original, curi
        return None

    # -- CrawlURI → Request --------------------------------------------------------------------------------

    def _dispatch(self, curi: CrawlURI) -> Request | None:
        """The Request for a URI in process; None when there can be none, which has ended the URI as -7: Scrapy takes
        ``mailto:`` and its like for no address."""
        curi.settings = self._settings.for_uri(curi)
        try:
            request = self._building.request_of(curi)
        except ValueError as error:
            curi.status = status.UNFETCHABLE
            curi.error_text = str(error)
            assert self._frontier is not None
            self._frontier.finish(curi, self._crawl.clock.now_ms())
            self._tell(uri_finished, curi)
            return None
        bind(request, curi)
        self._inproc[request] = curi
        if self._empty:
            self._empty = False
            if self._crawl.life is not None:
                self._crawl.life.refilled()
        return request

    # -- the engine has let go of a Request ----------------------------------------------------------------

    def _done(self, request: Request) -> None:
        curi = self._inproc.pop(request, None)
        if curi is None:
            self._done_outside(request)
            return
        frontier = self._frontier
        assert frontier is not None
        now = self._crawl.clock.now_ms()
        deferral = curi.deferral
        try:
            if deferral == RETRIED:
                self._put_retry(request, curi, now)
            elif deferral in (PREREQUISITE, AUTHORIZE, QUOTA):
                frontier.finish(curi, now)
            elif deferral is not None or (curi.status == status.UNATTEMPTED and self._crawl.bridge.is_closing()):
                frontier.put_back(curi, now, max(curi.wait_until_ms - now, 0))
            else:
                if curi.status == status.UNATTEMPTED:
                    # a middleware put another Request in its place before it was fetched
                    curi.status = status.BLOCKED_BY_CUSTOM
                    curi.annotate("replaced")
                if curi.status in REDIRECTS and self._leaves_redirects(request, curi.status):
                    curi.outlinks = [link for link in curi.outlinks if link.context != "Location:"]
                final = frontier.finish(curi, now)
                if final:
                    self._building.forget(curi)
                self._tell(uri_finished if final else uri_retried, curi)
        except StorageFull as error:
            self._crawl.bridge.pause(error)
            frontier.put_back(curi, now)
        except Exception as error:
            # a part failed on its links, the scope's rules perhaps: it must not stay in process for ever
            logger.exception("%s could not be finished: it ends without links", request.url)
            self._count("scheduler_errors")
            curi.outlinks = []
            curi.status = status.RUNTIME_EXCEPTION
            curi.errors.append(("", error))
            curi.annotate(f"err={type(error).__module__}.{type(error).__qualname__}")
            if frontier.finish(curi, now):
                self._building.forget(curi)
                self._tell(uri_finished, curi)
        if curi.recorder is not None:
            curi.recorder.close()
        self._arm()

    def _leaves_redirects(self, request: Request, code: int) -> bool:
        """Whether the spider has Scrapy's RedirectMiddleware decide about such an answer: follow it or, off-site or
        beyond the limit, not."""
        meta = request.meta
        return self._crawler.settings.getbool("REDIRECT_ENABLED") and not (
            meta.get("dont_redirect")
            or meta.get("handle_httpstatus_all")
            or code in (meta.get("handle_httpstatus_list") or ())
            or code in (getattr(self._spider, "handle_httpstatus_list", None) or ())
        )

    def _tell(self, signal: object, curi: CrawlURI) -> None:
        if listened(self._crawler, signal):
            self._crawler.signals.send_catch_log(signal=signal, curi=curi, spider=self._spider)

    def _put_retry(self, request: Request, curi: CrawlURI, now: int) -> None:
        replacement = self._replacements.pop(request)
        blob = self._building.serialise(replacement)
        curi.stored_request = blob
        self._building.keep(curi, replacement)
        assert self._frontier is not None
        self._frontier.replace_stored(curi, blob, now)

    def _done_outside(self, request: Request) -> None:
        """A fetch of ``engine.download_async``: logged, outside queues and politeness."""
        curi = lookup(request)
        if curi is None or curi.class_key or curi.status == status.UNATTEMPTED or curi.deferral is not None:
            return
        if self._frontier is not None:
            self._frontier.finished_outside(curi)
            self._tell(uri_finished, curi)
        if curi.recorder is not None:
            curi.recorder.close()

    # -- timers and counters -------------------------------------------------------------------------------

    def _arm(self) -> None:
        if self._timers is not None:
            self._timers.arm()

    def _count_refusals(self) -> None:
        self._crawl.add_stats(scope_of(self._crawler).take_refusals())
        if self._diverter is not None and (count := self._diverter.take_count()):
            self._count("frontier/diverted", count)

    def _count(self, name: str, count: int = 1) -> None:
        self._crawl.add_stats({name: count})


def load_part(crawler: Crawler, setting: str, path: str, properties: dict[str, Any]) -> Any:
    """A policy of the user's own; its properties are set as attributes. Raises ConfigurationError."""
    try:
        part = build_from_crawler(load_object(setting, path), crawler)
    except TypeError as error:
        raise ConfigurationError(setting, path, f"cannot be made: {error}") from error
    for name, value in properties.items():
        setattr(part, name, value)
    return part
