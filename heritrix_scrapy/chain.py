"""In which order do the parts work on a URI, and what does the engine see of it?

``ReleaseMiddleware`` is the outermost of our downloader middlewares, ``ChainMiddleware`` the innermost: between
them lie preselection, preconditions and everything of Scrapy's and the user's. What the handler brings back
passes the chain at once, so that a capture is on disk before any middleware or callback of the user sees the
answer:

    stamp → robots, credentials → after_fetch steps → repetition of an earlier fetch? → extract → after_extract steps
    → item pipelines of captures → history → disposition steps
"""

from __future__ import annotations

import inspect
import logging
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotSupported
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import build_from_crawler, load_object

from heritrix_scrapy.archive.pipeline import CapturePipeline
from heritrix_scrapy.crawl import Crawl, is_internal
from heritrix_scrapy.extract import form_login
from heritrix_scrapy.extract.aside import Aside
from heritrix_scrapy.extract.misses import GUESS, Misses
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.fetch import resource, whois
from heritrix_scrapy.fetch.access import access_of
from heritrix_scrapy.model import status
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.model.steps import Point
from heritrix_scrapy.requests import RELEASED, lookup, travelling
from heritrix_scrapy.scope.factory import gate
from heritrix_scrapy.settings import settings_of, views

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from heritrix_scrapy.model.crawluri import CrawlURI
    from heritrix_scrapy.model.steps import Step
    from heritrix_scrapy.settings import Settings

logger = logging.getLogger(__name__)

#: Why a Request goes back to its place in the queue (``CrawlURI.deferral``).
STORAGE = "storage"

#: What the reports count of a URI that was archived.
WRITTEN = {"warc_urls": 1}


class ChainMiddleware:
    """The downloader middleware next to the handlers: every exchange passes here exactly once.

    It never changes what the user's side sees: a response or exception is handed on as it came, but for a
    capture that could not be written, whose Request goes back to its place.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._settings = settings_of(crawler)
        view = self._settings.view
        self._access = access_of(crawler)
        self._logins = form_login.read(view.form_login)
        self._misses = Misses(lambda: self._crawl.hosts)
        #: Id of a list of extractors → the list and what was made of it: sheets may change properties of single ones.
        self._made: dict[int, tuple[Any, Extraction, Aside]] = {}
        self._extraction, self._aside = self._extractors_for(view)
        crawler.signals.connect(self._close, signals.engine_stopped)
        self._crawl.gate = partial(gate, crawler, view)
        # a property that no extractor has, and what is no rule, ends the start and not a fetch
        self._test_settings(self._settings)
        self._crawl.settings_tests.append(self._test_settings)
        self._steps = load_steps(crawler, view.steps)
        self._pipelines: list[Callable[[CrawlURI], Any]] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _test_settings(self, settings: Settings) -> None:
        """Raises ConfigurationError for extractors and rules that cannot be made."""
        for view in views(settings):
            self._extractors_for(view)
            if view.should_fetch_body_rule is not None:
                gate(self._crawler, settings.view, view.should_fetch_body_rule)

    def _extractors_for(self, view: Any) -> tuple[Extraction, Aside]:
        """The extractors in the order that holds for a URI, and the process for its large documents."""
        made = self._made.get(id(view.extractors))
        if made is None:
            extractors = gated(with_forms(view), self._settings.gates)
            extraction = Extraction(
                extractors,
                load=partial(load_part, self._crawler, "HERITRIX_EXTRACTORS"),
                gate=partial(gate, self._crawler, self._settings.view),
                count=lambda name, count: self._crawl.add_stats({name: count}),
                misses=self._misses,
            )
            # the list is kept, so that its id stays its own
            made = self._made[id(view.extractors)] = (view.extractors, extraction, Aside(extractors))
        return made[1:]

    def _close(self) -> None:
        for _, _, aside in self._made.values():
            aside.close()

    def _curi(self, request: Request) -> CrawlURI:
        curi = travelling(request)
        self._settings.for_uri(curi)
        return curi

    def process_request(self, request: Request) -> Awaitable[None] | None:
        curi = self._curi(request)
        curi.method = request.method
        if curi.scheme not in resource.OF_THE_WIRE:
            curi.began_ms = self._crawl.clock.now_ms()
        if curi.via_context == GUESS and self._extraction.is_hopeless(curi, curi.settings):
            curi.status = status.BLOCKED_BY_CUSTOM
            self._crawl.add_stats({"extract/guesses_dropped": 1})
            raise IgnoreRequest(f"{curi.uri} is a guess, and its host refused so many")
        return self._before(curi) if self._steps[Point.BEFORE_FETCH] else None

    async def _before(self, curi: CrawlURI) -> None:
        for step in self._steps[Point.BEFORE_FETCH]:
            await self._ask(step, curi, Point.BEFORE_FETCH)
            if curi.status != status.UNATTEMPTED:
                raise IgnoreRequest(f"ended by {type(step).__name__} with status {curi.status}")

    async def process_response(self, request: Request, response: Response) -> Response | Request:
        curi = self._curi(request)
        asked = curi.began_ms is not None  # or a middleware of the user's answered in the handler's place
        if curi.recorder is None and not (asked and resource.take(curi, response, self._crawl.clock.now_ms())):
            # nothing went over the wire, as far as we know
            curi.status = response.status
            curi.annotate("notArchived")
            return response
        if await self._capture(curi):
            if curi.record_id is not None and not is_internal(request):
                # an item can name its evidence
                request.meta["warc_record_id"] = curi.record_id
                request.meta["warc_payload_digest"] = curi.digest
            return response
        return self._refuse(request, curi)

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        curi = self._curi(request)
        if isinstance(exception, StorageFull):
            # what came could not be kept while it was being fetched
            self._crawl.bridge.pause(exception)
            return self._refuse(request, curi)
        if curi.status == status.UNATTEMPTED and curi.deferral is None:
            if isinstance(exception, IgnoreRequest):
                curi.status = status.BLOCKED_BY_CUSTOM
            elif isinstance(exception, NotSupported):
                # no handler for its scheme
                curi.status = status.UNFETCHABLE
                curi.error_text = str(exception)
            else:
                self._note_failure(curi, exception)
        if curi.deferral is not None:
            return None
        captured = await self._capture(curi)
        if curi.killed:
            curi.status = status.PROCESSING_KILLED
        return None if captured else self._refuse(request, curi)

    async def _capture(self, curi: CrawlURI) -> bool:
        """Run the chain; False when the capture could not be written."""
        self._access.exchanged(curi)
        if curi.settings.annotate_ip and curi.server_ip:
            curi.annotate(f"ip:{curi.server_ip}")
        try:
            for step in self._steps[Point.AFTER_FETCH]:
                await self._ask(step, curi, Point.AFTER_FETCH)
            recall = self._crawl.recall
            if recall is not None:
                recall.judge(curi)
            if curi.settings.fetch_whois:
                addresses = self._crawl.hosts.host(curi.host).addresses
                curi.outlinks += whois.inferred(curi.uri, addresses, curi.settings)
            if curi.status > 0:
                await self._extract(curi)
                if curi.found and self._crawl.report is not None:
                    self._crawl.report.extracted(curi.found)
                if curi.recorder is not None and curi.recorder.is_bomb:
                    curi.annotate("bomb")
                    self._crawl.add_stats({"fetch/bombs": 1})
                if recall is not None:
                    recall.restore_links(curi)
                self._access.extracted(curi)
                if self._logins:
                    sent = form_login.fill_in(
                        curi, self._logins, self._crawl.hosts, strict=curi.settings.profile == "heritrix"
                    )
                    if sent:
                        self._crawl.add_stats({"credentials/forms_sent": sent})
                for step in self._steps[Point.AFTER_EXTRACT]:
                    await self._ask(step, curi, Point.AFTER_EXTRACT)
            if curi.recorder is not None and curi.status > 0 and self._access.may_be_kept(curi):
                for process_item in self._capture_pipelines():
                    result = process_item(curi)
                    if inspect.isawaitable(result):
                        await result
                if curi.record_id is not None:
                    self._tell_report(WRITTEN)
                if recall is not None:
                    recall.keep(curi)
            for step in self._steps[Point.DISPOSITION]:
                await self._ask(step, curi, Point.DISPOSITION)
        except StorageFull as error:
            self._crawl.bridge.pause(error)
            return False
        except Exception as error:
            # a defect of a part of ours or of the user's: the URI ends as -5, the crawl goes on
            logger.exception("the chain failed on %s", curi.uri)
            self._note_failure(curi, error)
        return True

    async def _extract(self, curi: CrawlURI) -> None:
        """Here, or in a process of its own what is large or takes long."""
        settings = curi.settings
        extraction, aside = self._extractors_for(settings)
        if aside.wants(curi, settings) and extraction.reads(curi, settings):
            extraction.note(curi)
        elif extraction.extract(curi, settings, aside.patience(curi, settings)):
            return
        self._crawl.add_stats({"extract/read_aside": 1})
        await aside.extract(curi, settings)
        extraction.drop_hopeless(curi, settings)

    def _note_failure(self, curi: CrawlURI, error: Exception) -> None:
        """A defect ends its URI as -5, and the crawl goes on; where the process itself is in trouble it ends as
        -3000, and the crawl pauses (Heritrix: ToeThread.recoverableProblem, seriousError)."""
        curi.annotate(f"err={type(error).__module__}.{type(error).__qualname__}")
        curi.errors.append(("", error))
        if isinstance(error, MemoryError):
            curi.annotate(f"os{curi.status}")
            curi.status = status.SERIOUS_ERROR
            self._crawl.bridge.pause(f"out of memory at {curi.uri}; see runtime-errors.log")
        else:
            curi.status = status.RUNTIME_EXCEPTION

    def _refuse(self, request: Request, curi: CrawlURI) -> Request:
        """The Request goes back to its place: no callback runs, nothing is logged as fetched."""
        if not curi.class_key:
            # nobody keeps its place: whoever asked is told
            raise IgnoreRequest(f"{curi.uri} could not be archived: {self._crawl.bridge.pause_reason}")
        curi.deferral = STORAGE
        return request

    def _tell_report(self, counters: Mapping[str, int]) -> None:
        if self._crawl.report is not None:
            self._crawl.report.count(counters)

    async def _ask(self, step: Step, curi: CrawlURI, point: Point) -> None:
        self._tell_report({f"step/{point.value}/{type(step).__name__}": 1})
        result = step.process(curi)
        if result is not None:
            await result

    def _capture_pipelines(self) -> list[Callable[[CrawlURI], Any]]:
        """``process_item`` of the pipelines that take captures, in the order the settings list them. Scrapy has
        built and opened them by the time the first answer comes."""
        if self._pipelines is None:
            settings = self._crawler.settings
            paths = build_component_list(settings.get_component_priority_dict_with_base("ITEM_PIPELINES"))
            classes = [load_object(path) for path in paths]
            everyone = bool(self._settings.view.captures_to_pipelines)
            pipelines = [
                self._crawler.get_item_pipeline(cls)
                for cls in classes
                if everyone or (isinstance(cls, type) and issubclass(cls, CapturePipeline))
            ]
            self._pipelines = [pipeline.process_item for pipeline in pipelines if pipeline is not None]
        return self._pipelines


class ReleaseMiddleware:
    """The outermost downloader middleware: lets go of URIs that no callback waits for.

    It answers for them with one marker Request that the scheduler swallows, so that they skip the scraper; the
    signal and the log line that an answer has in any crawl are sent here.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        travelling(request)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        if not is_internal(request):
            return response
        crawler = self._crawler
        if response.request is None:
            response.request = request
        spider = crawler.spider
        if is_heard(engine_logger, logging.DEBUG) and spider is not None and crawler.logformatter is not None:
            line = crawler.logformatter.crawled(request, response, spider)
            if line is not None:
                engine_logger.log(line["level"], line["msg"], line["args"], extra={"spider": spider})
        crawler.signals.send_catch_log(
            signal=signals.response_received, response=response, request=request, spider=spider
        )
        return RELEASED

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        if not is_internal(request):
            return None
        if not isinstance(exception, IgnoreRequest):
            curi = lookup(request)
            logger.debug("%s ended as %s: %s", request.url, curi.status if curi else "?", exception)
        return RELEASED


engine_logger = logging.getLogger("scrapy.core.engine")


def is_heard(told: logging.Logger, level: int) -> bool:
    """Whether a handler takes a logger's records of this level. Scrapy leaves its loggers open to all levels and has
    the handlers drop most: a dropped record costs 25 µs."""
    if not told.isEnabledFor(level):
        return False
    at: logging.Logger | None = told
    while at is not None:
        if any(handler.level <= level for handler in at.handlers):
            return True
        at = at.parent if at.propagate else None
    return False


def load_part(crawler: Crawler, setting: str, path: Any, properties: Mapping[str, Any]) -> Any:
    """A part of the user's own, by dotted path; its properties are set as attributes.

    Raises ConfigurationError when it cannot be loaded.
    """
    try:
        part = build_from_crawler(load_object(path), crawler)
    except (ImportError, AttributeError, NameError, TypeError, ValueError) as error:
        raise ConfigurationError(setting, path, f"cannot be loaded: {error}") from error
    for name, value in properties.items():
        setattr(part, name, value)
    return part


def with_forms(view: Any) -> list[Any]:
    """The extractors' entries; where a login form is to be filled in, ExtractorHTMLForms is one of them."""
    entries = list(view.extractors)
    names = [entry[0] if isinstance(entry, list | tuple) else entry for entry in entries]
    if view.form_login and "ExtractorHTMLForms" not in names:
        last = max((at for at, name in enumerate(names) if str(name).endswith("ExtractorHTML")), default=len(names) - 1)
        entries.insert(last + 1, ["ExtractorHTMLForms", {}])
    return entries


def gated(extractors: Iterable[Any], gates: Mapping[str, Any]) -> list[Any]:
    """The extractors' entries with the rule that a setting puts before each (``HERITRIX_EXTRACTOR_HTML_SHOULD_
    PROCESS_RULE``). Raises ConfigurationError for a rule before an extractor that is not there."""
    waiting = {name: rule for name, rule in gates.items() if name.startswith("EXTRACTOR_")}
    entries = []
    for entry in extractors:
        name = entry[0] if isinstance(entry, list | tuple) else entry
        capitals = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper() if isinstance(name, str) else ""
        rule = waiting.pop(capitals, None)
        if rule is not None:
            properties = dict(entry[1]) if isinstance(entry, list | tuple) and len(entry) > 1 else {}
            entry = [name, {"should_process": rule, **properties}]
        entries.append(entry)
    for name, rule in waiting.items():
        raise ConfigurationError(
            f"HERITRIX_{name}_SHOULD_PROCESS_RULE", rule, "there is no such extractor in HERITRIX_EXTRACTORS"
        )
    return entries


def load_steps(crawler: Crawler, listed: Any) -> dict[Point, list[Step]]:
    """The user's steps by point, from ``{"before_fetch": ["dotted.path", ["dotted.path", {property: value}], ...]}``.

    Raises ConfigurationError for a point that does not exist or a class that cannot be loaded or has no
    ``process``.
    """
    steps: dict[Point, list[Step]] = {point: [] for point in Point}
    known = {point.value: point for point in Point}
    for name, entries in dict(listed or {}).items():
        if name not in known:
            raise ConfigurationError("HERITRIX_STEPS", listed, f"points are {', '.join(known)}")
        for entry in [entries] if isinstance(entries, str) else entries:
            named: list[Any] = [entry] if isinstance(entry, str) else list(entry)
            if not 1 <= len(named) <= 2 or not isinstance(named[-1], dict if len(named) == 2 else str):
                raise ConfigurationError("HERITRIX_STEPS", entry, "expected a path, or [path, {property: value}]")
            step = load_part(crawler, "HERITRIX_STEPS", named[0], named[1] if len(named) == 2 else {})
            if not callable(getattr(step, "process", None)):
                raise ConfigurationError("HERITRIX_STEPS", named[0], "a step has a method process(curi)")
            steps[known[name]].append(step)
    return steps
