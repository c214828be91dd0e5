"""How is it all switched on? ``ADDONS = {"heritrix_scrapy.Addon": 500}``.

The add-on places every component, removes only what would fight it, and refuses a configuration that could
not be archived.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.downloader import ArchivalDownloader
from heritrix_scrapy.fetch.http_handler import HttpDownloadHandler
from heritrix_scrapy.frontier.scheduler import FrontierScheduler
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.operate.checkpointing import begin
from heritrix_scrapy.parts import CHEAPER, COMPONENTS, HANDLERS, SLOTS, WRITERS, check_listed
from heritrix_scrapy.scope import scope_of
from heritrix_scrapy.settings import job_file, settings_of
from heritrix_scrapy.settings.agent import user_agent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings, Settings

    from heritrix_scrapy.settings import Settings as OurSettings

logger = logging.getLogger(__name__)

PROJECT = 20
SPIDERS = "heritrix_scrapy.spiders"

#: What the project left alone must not look like its choice; ours, at the add-on's own priority.
DEFAULTS: dict[str, Any] = {
    "DOWNLOADER": ArchivalDownloader,
    "CONCURRENT_ITEMS": 8,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 64 * 1024 * 1024,
    "DOWNLOAD_TIMEOUT": 0,
    "DEFAULT_REQUEST_HEADERS": {},
}

#: Scrapy's setting → the one of ours that decides where the operator wrote both.
DECIDED_BY: dict[str, str] = {
    "CONCURRENT_REQUESTS": "MAX_TOE_THREADS",
    "COOKIES_ENABLED": "IGNORE_COOKIES",
    "DOWNLOAD_TIMEOUT": "TIMEOUT_SECONDS",
    "USER_AGENT": "USER_AGENT_TEMPLATE",
}

#: What answers in the place of the network, for ``HERITRIX_REPLAY``.
REPLAY = "heritrix_scrapy.archive.replay.ReplayDownloadHandler"

#: Commands that look at single pages: no seeds, no contact, nothing kept.
LOOKING = frozenset({"shell", "fetch", "view", "parse", "check"})

#: Commands that crawl.
CRAWLING = frozenset({"crawl", "runspider"})


class Addon:
    """Turns a Scrapy project's crawls into archival crawls."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Offer ``ArchiveSpider`` beside the project's own spiders. Raises ConfigurationError where the wrong reactor
        is to be installed: later, Scrapy's process for such reactors would swallow it."""
        if running_command() in CRAWLING:
            check_reactor(settings)
        modules = settings.getlist("SPIDER_MODULES")
        if SPIDERS not in modules:
            settings.set("SPIDER_MODULES", [*modules, SPIDERS], settings.getpriority("SPIDER_MODULES") or 0)

    def update_settings(self, settings: Settings) -> None:
        """Place the components. Raises ConfigurationError for all that can be known to be wrong here."""
        if settings.get("HERITRIX_REPLAY"):
            # the archive answers, and the rest is Scrapy's
            place(settings, "DOWNLOAD_HANDLERS", dict.fromkeys(("http", "https"), load_object(REPLAY)))
            settings.set("ROBOTSTXT_OBEY", False, "addon")
            return
        looking = running_command() in LOOKING
        check_reactor(settings)
        check_scheduler(settings)
        check_handlers(settings)
        if looking:
            settings.set("JOBDIR", None, "cmdline")
            # only what is asked for: what a page embeds would still be fetched while the command ends
            settings.set("HERITRIX_FOLLOW", "none", "cmdline")
        else:
            check_jobdir(settings)
        settings.set("SCHEDULER", FrontierScheduler, "addon")
        for setting, components in (*COMPONENTS.items(), *CHEAPER.items()):
            if setting == "ITEM_PIPELINES":
                continue  # the writers that HERITRIX_WRITERS names, below
            for path, order in components.items():
                if order is None:
                    settings.set_in_component_priority_dict(setting, load_object(path), None)
                else:
                    settings.setdefault_in_component_priority_dict(setting, load_object(path), order)
        place(settings, "DOWNLOAD_HANDLERS", {scheme: load_object(path) for scheme, path in HANDLERS.items()})
        place(settings, "DOWNLOAD_SLOTS", SLOTS)
        crawl = Crawl.of(self._crawler, placing=True)
        if looking:
            crawl.looking = True
        begin(crawl)
        ours = settings_of(self._crawler, contact_required=not looking)
        view = ours.view
        if ours.job is not None:
            job_file.publish(settings, ours.job)
        for order, writer in enumerate(writers(view.writers)):
            settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", writer, order)
        check_listed(settings)
        scope_of(self._crawler)
        if view.warc_dir and not looking:
            check_writable("HERITRIX_WARC_DIR", str(view.warc_dir), Path(view.warc_dir))
        if view.history_dir and not looking and (view.fetch_history or view.content_digest_history):
            check_writable("HERITRIX_HISTORY_DIR", str(view.history_dir), Path(view.history_dir))
        defaults = {
            **DEFAULTS,
            "CONCURRENT_REQUESTS": view.max_toe_threads,
            "COOKIES_ENABLED": not view.ignore_cookies,
            "USER_AGENT": user_agent(view),
        }
        for name, value in defaults.items():
            if not chosen(settings, name):
                settings.set(name, value, "addon")
            elif DECIDED_BY.get(name) in ours.explicit or job_decides(settings, name, ours):
                settings.set(name, value, settings.getpriority(name) or 0)


def job_decides(settings: BaseSettings, name: str, ours: OurSettings) -> bool:
    """Whether a job file speaks of what the project wrote."""
    below = (settings.getpriority(name) or 0) <= job_file.PRIORITY
    return ours.job is not None and below and DECIDED_BY.get(name) in ours.job.spoken


def writers(listed: Sequence[Any]) -> list[type]:
    """The pipelines of ``HERITRIX_WRITERS``, in its order. Raises ConfigurationError for a name that is no writer."""
    found: list[type] = []
    for entry in listed:
        name = entry[0] if isinstance(entry, list) else entry
        if name not in WRITERS:
            raise ConfigurationError("HERITRIX_WRITERS", name, f"no such writer; there are: {', '.join(WRITERS)}")
        if (writer := load_object(WRITERS[name])) not in found:
            found.append(writer)
    if not found:
        logger.warning("HERITRIX_WRITERS = %r: nothing of this crawl is archived", listed)
    return found


def chosen(settings: BaseSettings, name: str) -> bool:
    """Whether the project, the spider or the command line set this explicitly."""
    return (settings.getpriority(name) or 0) >= PROJECT


def place(settings: BaseSettings, name: str, entries: dict[str, Any]) -> None:
    """Put entries into a dict setting that the project has not placed itself, keeping the setting's priority."""
    value = dict(settings.getdict(name))
    for key, entry in entries.items():
        value.setdefault(key, entry)
    settings.set(name, value, settings.getpriority(name) or 0)


def running_command(line: Sequence[str] | None = None) -> str | None:
    """The command that ``scrapy`` was called with, or None. ``line``: the process's command line; Scrapy takes its
    command out of ``sys.argv``."""
    line = sys.orig_argv if line is None else line
    for at, word in enumerate(line):
        if word == "-m" and line[at + 1 : at + 2] in (["scrapy"], ["scrapy.cmdline"]):
            rest = line[at + 2 :]
        elif word in ("-mscrapy", "-mscrapy.cmdline") or Path(word).name in ("scrapy", "scrapy.exe"):
            rest = line[at + 1 :]
        else:
            continue
        return next((argument for argument in rest if not argument.startswith("-")), None)
    return None


def load(value: Any, setting: str) -> Any:
    """What a setting names by its dotted path, or is. Raises ConfigurationError."""
    if not isinstance(value, str):
        return value
    try:
        return load_object(value)
    except (ImportError, AttributeError, NameError, TypeError, ValueError) as error:
        raise ConfigurationError(setting, value, f"cannot be loaded: {error}") from error


def check_reactor(settings: BaseSettings) -> None:
    """Our handlers need asyncio, with Twisted's asyncio reactor or without a reactor."""
    if not settings.getbool("TWISTED_REACTOR_ENABLED", True):
        return
    path = settings.get("TWISTED_REACTOR")
    if path and path != "twisted.internet.asyncioreactor.AsyncioSelectorReactor":
        raise ConfigurationError(
            "TWISTED_REACTOR", path, "expected twisted.internet.asyncioreactor.AsyncioSelectorReactor"
        )
    installed = sys.modules.get("twisted.internet.reactor")
    if installed is not None and not path and "asyncio" not in type(installed).__module__:
        raise ConfigurationError("TWISTED_REACTOR", type(installed).__name__, "the asyncio reactor is needed")


def check_scheduler(settings: BaseSettings) -> None:
    """A scheduler of the project's own would leave the frontier out."""
    if chosen(settings, "SCHEDULER"):
        value = settings.get("SCHEDULER")
        # not issubclass: to Scrapy, every class with a scheduler's methods is a subclass of any scheduler
        if FrontierScheduler not in getattr(load(value, "SCHEDULER"), "__mro__", ()):
            raise ConfigurationError(
                "SCHEDULER", value, "expected heritrix_scrapy.frontier.scheduler.FrontierScheduler or nothing"
            )


def check_handlers(settings: BaseSettings) -> None:
    """A handler of the project's own for http brings no wire bytes: such a crawl cannot be archived."""
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        handler = handlers.get(scheme)
        if handler is None:
            continue
        cls = load(handler, f"DOWNLOAD_HANDLERS[{scheme!r}]")
        if isinstance(cls, type) and issubclass(cls, HttpDownloadHandler):
            continue
        if not settings.getbool("HERITRIX_ALLOW_FOREIGN_HANDLER"):
            raise ConfigurationError(
                f"DOWNLOAD_HANDLERS[{scheme!r}]",
                handler,
                "what another handler fetches cannot be archived; remove it, or set"
                " HERITRIX_ALLOW_FOREIGN_HANDLER = True to have such responses logged as not archived",
            )


def check_jobdir(settings: BaseSettings) -> None:
    """The JOBDIR must be a directory that can be written to."""
    path = settings.get("JOBDIR")
    if path:
        check_writable("JOBDIR", path, Path(path) / "frontier")


def check_writable(setting: str, value: Any, directory: Path) -> None:
    """Make the directory, and a file in it. Raises ConfigurationError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(setting, value, f"cannot be written to: {error.strerror or error}") from error
