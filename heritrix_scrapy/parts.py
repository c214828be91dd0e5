"""Which components make up a crawl, and does the project list all of them?

One table. The add-on places what it says, the manual prints it, and a project that lists components by hand is
held to it: with one of them missing, the crawl would go on and archive nothing, or only half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.misc import load_object

from heritrix_scrapy.model.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

SCHEDULER: Final = "heritrix_scrapy.frontier.scheduler.FrontierScheduler"

#: Scheme → download handler.
HANDLERS: Final = {
    "http": "heritrix_scrapy.fetch.http_handler.HttpDownloadHandler",
    "https": "heritrix_scrapy.fetch.http_handler.HttpDownloadHandler",
    "dns": "heritrix_scrapy.fetch.dns_handler.DnsDownloadHandler",
    "ftp": "heritrix_scrapy.fetch.ftp_handler.FtpDownloadHandler",
    "whois": "heritrix_scrapy.fetch.whois_handler.WhoisDownloadHandler",
}

#: Setting → component → order; None: must not run beside ours.
COMPONENTS: Final[dict[str, dict[str, int | None]]] = {
    "DOWNLOADER_MIDDLEWARES": {
        "heritrix_scrapy.chain.ReleaseMiddleware": -1000,
        "heritrix_scrapy.fetch.middleware.PreselectorMiddleware": -900,
        "heritrix_scrapy.fetch.middleware.PreconditionMiddleware": -800,
        "heritrix_scrapy.fetch.access_middleware.AccessMiddleware": 700,
        "heritrix_scrapy.archive.recall.HistoryMiddleware": 990,
        "heritrix_scrapy.chain.ChainMiddleware": 1_000_000,
        "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": None,
    },
    "SPIDER_MIDDLEWARES": {"heritrix_scrapy.scope.middleware.ScopeMiddleware": -1000},
    "ITEM_PIPELINES": {"heritrix_scrapy.archive.pipeline.WarcWriterPipeline": 0},
    "EXTENSIONS": {
        # first: it may put a checkpoint into the JOBDIR, which all others read
        "heritrix_scrapy.operate.checkpointing.CheckpointExtension": -1000,
        "heritrix_scrapy.operate.lifetime.LifeExtension": 0,
        "heritrix_scrapy.operate.guards.LimitExtension": 0,
        "heritrix_scrapy.report.extension.ReportExtension": 0,
        "heritrix_scrapy.operate.extension.ControlExtension": 0,
        "heritrix_scrapy.operate.actions.ActionExtension": 0,
        "heritrix_scrapy.operate.changing.ChangeExtension": 0,
        "heritrix_scrapy.operate.page.WebExtension": 0,
    },
}

#: Components that make a crawl cheaper: placed by the add-on, and not missed where a project leaves them out.
CHEAPER: Final[dict[str, dict[str, int | None]]] = {
    "EXTENSIONS": {"heritrix_scrapy.operate.garbage.GarbageExtension": 0},
}

#: Name in HERITRIX_WRITERS → its pipeline.
WRITERS: Final[dict[str, str]] = {
    "warc": "heritrix_scrapy.archive.pipeline.WarcWriterPipeline",
    "mirror": "heritrix_scrapy.archive.mirror_pipeline.MirrorWriterPipeline",
}

#: The one download slot: politeness belongs to the frontier.
SLOTS: Final[dict[str, dict[str, Any]]] = {"heritrix": {"concurrency": 100_000, "delay": 0}}

HELP: Final = "list every component of heritrix_scrapy, or none and its add-on"


def check_listed(settings: BaseSettings) -> None:
    """Whether all components are listed, in an order that archives. Raises ConfigurationError.

    A subclass counts as its base. Settings are those of a crawl that has one of ours at least.
    """
    if SCHEDULER not in names_of(settings.get("SCHEDULER")):
        raise ConfigurationError("SCHEDULER", settings.get("SCHEDULER"), f"expected {SCHEDULER}; {HELP}")
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    foreign = settings.getbool("HERITRIX_ALLOW_FOREIGN_HANDLER")
    for scheme, path in HANDLERS.items():
        if path not in names_of(handlers.get(scheme)) and not (foreign and scheme != "dns"):
            raise ConfigurationError(f"DOWNLOAD_HANDLERS[{scheme!r}]", handlers.get(scheme), f"expected {path}; {HELP}")
    for setting, table in COMPONENTS.items():
        if setting == "ITEM_PIPELINES" and "warc" not in str(settings.get("HERITRIX_WRITERS", "warc")):
            continue
        _check_table(setting, settings, table)
    slots = settings.getdict("DOWNLOAD_SLOTS")
    for slot in SLOTS:
        if slot not in slots:
            raise ConfigurationError("DOWNLOAD_SLOTS", slots, f"expected a slot {slot!r} without delay; {HELP}")


def _check_table(setting: str, settings: BaseSettings, table: dict[str, int | None]) -> None:
    orders: dict[str, float] = {}
    for component, order in settings.get_component_priority_dict_with_base(setting).items():
        if order is not None:
            orders.update(dict.fromkeys(names_of(component), order))
    before: tuple[str, float] | None = None
    for path, wanted in table.items():
        order = orders.get(path)
        if wanted is None:
            if order is not None:
                raise ConfigurationError(f"{setting}[{path!r}]", order, "expected None: it would fight ours")
            continue
        if order is None:
            raise ConfigurationError(f"{setting}[{path!r}]", None, f"expected {wanted}; {HELP}")
        if before is not None and setting.endswith("MIDDLEWARES") and order <= before[1]:
            raise ConfigurationError(f"{setting}[{path!r}]", order, f"expected more than {before[1]} of {before[0]}")
        before = path, order


def names_of(component: Any) -> set[str]:
    """Dotted paths of a listed class and of the classes it is derived from; what cannot be loaded is left for Scrapy
    to complain about."""
    if isinstance(component, str):
        try:
            component = load_object(component)
        except (ImportError, NameError, TypeError, ValueError):
            return set()
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in getattr(component, "__mro__", ())}
