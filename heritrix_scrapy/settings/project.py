"""What did the project write, and what of its Scrapy settings speaks for a crawl of ours?

Where a project set one of Scrapy's own settings and no setting of ours, its wish is carried over: one row of a
table for each, and one log line for each row that took effect. What has no effect here is said as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.settings import changes as kept
from heritrix_scrapy.settings import job_file
from heritrix_scrapy.settings.changes import Changes
from heritrix_scrapy.settings.defaults import BY_NAME, PREFIX, SETTINGS
from heritrix_scrapy.settings.sheets import Sheets, addresses, with_entries
from heritrix_scrapy.settings.validate import check, check_identity, check_names, check_profile, check_robots, gates
from heritrix_scrapy.settings.view import Settings, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: Scrapy's priority of what add-ons set; above it stands what a person wrote.
ADDON_PRIORITY = 15

#: A new URI meets up to two prerequisites first, and Heritrix counts each as an attempt.
_PREREQUISITES = 2

Values = dict[str, Any]


def _whole(settings: BaseSettings, name: str) -> int:
    try:
        return settings.getint(name)
    except (TypeError, ValueError):
        raise ConfigurationError(name, settings.get(name), "expected a whole number") from None


def _number(settings: BaseSettings, name: str) -> float:
    try:
        return settings.getfloat(name)
    except (TypeError, ValueError):
        raise ConfigurationError(name, settings.get(name), "expected a number") from None


def _flag(settings: BaseSettings, name: str) -> bool:
    try:
        return settings.getbool(name)
    except ValueError:
        raise ConfigurationError(name, settings.get(name), "expected True or False") from None


def _robots(settings: BaseSettings, profile: str) -> Values:
    return {"ROBOTS_POLICY": "obey" if _flag(settings, "ROBOTSTXT_OBEY") else "ignore"}


def _delay(settings: BaseSettings, profile: str) -> Values:
    ms = round(_number(settings, "DOWNLOAD_DELAY") * 1000)
    return {"DELAY_FACTOR": 0.0, "MIN_DELAY_MS": ms, "MAX_DELAY_MS": ms}


def _timeout(settings: BaseSettings, profile: str) -> Values:
    return {"TIMEOUT_SECONDS": _number(settings, "DOWNLOAD_TIMEOUT")}


def _max_size(settings: BaseSettings, profile: str) -> Values:
    return {"MAX_LENGTH_BYTES": _whole(settings, "DOWNLOAD_MAXSIZE")}


def _attempts(retries: int, profile: str) -> Values:
    return {"MAX_RETRIES": retries + 1 + (_PREREQUISITES if profile == "heritrix" else 0)}


def _retry_enabled(settings: BaseSettings, profile: str) -> Values:
    return {} if _flag(settings, "RETRY_ENABLED") else _attempts(0, profile)


def _retry_times(settings: BaseSettings, profile: str) -> Values:
    return _attempts(_whole(settings, "RETRY_TIMES"), profile) if _flag(settings, "RETRY_ENABLED") else {}


def _user_agent(settings: BaseSettings, profile: str) -> Values:
    return {"USER_AGENT_TEMPLATE": settings.get("USER_AGENT")} if settings.get("USER_AGENT") else {}


def _cookies(settings: BaseSettings, profile: str) -> Values:
    return {"IGNORE_COOKIES": not _flag(settings, "COOKIES_ENABLED")}


def _concurrency(settings: BaseSettings, profile: str) -> Values:
    return {"MAX_TOE_THREADS": _whole(settings, "CONCURRENT_REQUESTS")}


def _depth(settings: BaseSettings, profile: str) -> Values:
    limit = _whole(settings, "DEPTH_LIMIT")
    return {"MAX_HOPS": limit} if limit > 0 else {}


#: Scrapy's setting → what it says in ours. A setting of ours that the operator gave wins.
TRANSLATIONS: dict[str, Callable[[BaseSettings, str], Values]] = {
    "ROBOTSTXT_OBEY": _robots,
    "DOWNLOAD_DELAY": _delay,
    "DOWNLOAD_TIMEOUT": _timeout,
    "DOWNLOAD_MAXSIZE": _max_size,
    "RETRY_ENABLED": _retry_enabled,
    "RETRY_TIMES": _retry_times,
    "USER_AGENT": _user_agent,
    "COOKIES_ENABLED": _cookies,
    "CONCURRENT_REQUESTS": _concurrency,
    "DEPTH_LIMIT": _depth,
}

#: Scrapy's settings that hold as they are, for the Requests named.
AS_IT_IS: dict[str, str] = {
    "DEFAULT_REQUEST_HEADERS": "sent with every request, after a Request's own headers and before ours",
    "RETRY_HTTP_CODES": "holds for the spider's own Requests",
    "RETRY_EXCEPTIONS": "holds for the spider's own Requests",
    "RETRY_PRIORITY_ADJUST": "holds for the spider's own Requests",
    "DEPTH_PRIORITY": "orders the spider's own Requests within a queue",
    "DOWNLOAD_FAIL_ON_DATALOSS": "the spider hears of a body that was cut off, or gets it; it is archived either way",
    "ROBOTSTXT_USER_AGENT": "robots.txt is read for it where the spider's own Requests are concerned",
}

#: Scrapy's settings that have no effect in a crawl of ours, and who decides instead.
NO_EFFECT: dict[str, str] = {
    "AUTOTHROTTLE_ENABLED": "HERITRIX_DELAY_FACTOR and its neighbours decide the pauses",
    "AUTOTHROTTLE_START_DELAY": "HERITRIX_DELAY_FACTOR and its neighbours decide the pauses",
    "AUTOTHROTTLE_MAX_DELAY": "HERITRIX_DELAY_FACTOR and its neighbours decide the pauses",
    "AUTOTHROTTLE_TARGET_CONCURRENCY": "HERITRIX_DELAY_FACTOR and its neighbours decide the pauses",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "one URI of a queue is in process at a time; see HERITRIX_PARALLEL_QUEUES",
    "CONCURRENT_REQUESTS_PER_IP": "one URI of a queue is in process at a time; see HERITRIX_PARALLEL_QUEUES",
    "RANDOMIZE_DOWNLOAD_DELAY": "the frontier's pauses are not random",
    "DOWNLOAD_SLOTS": "the frontier decides the pauses",
    "SCHEDULER_DISK_QUEUE": "the frontier is the queue",
    "SCHEDULER_MEMORY_QUEUE": "the frontier is the queue",
    "SCHEDULER_PRIORITY_QUEUE": "the frontier is the queue",
    "DUPEFILTER_CLASS": "the frontier knows what was seen",
    "DNSCACHE_ENABLED": "look-ups go through dns: URIs",
    "DNSCACHE_SIZE": "look-ups go through dns: URIs",
    "DNS_RESOLVER": "look-ups go through dns: URIs; see HERITRIX_DNS_SERVERS",
    "DNS_TIMEOUT": "look-ups go through dns: URIs",
    "DOWNLOADER_CLIENTCONTEXTFACTORY": "HERITRIX_SSL_TRUST_LEVEL decides which certificates are trusted",
    "HTTPCACHE_ENABLED": "every URI is fetched and archived",
    "ROBOTSTXT_PARSER": "HERITRIX_ROBOTS_POLICY decides",
}


def _written(settings: BaseSettings, name: str) -> bool:
    """Whether a person set it: in the project, the spider or on the command line."""
    priority = settings.getpriority(name)
    return priority is not None and priority > ADDON_PRIORITY


def translate(
    settings: BaseSettings, profile: str, given: frozenset[str], job: frozenset[str] = frozenset()
) -> tuple[Values, list[str]]:
    """What the project's Scrapy settings say in ours, and the log lines that tell of it.

    ``given``: names of our table that the operator set; these are left out. ``job``: those that a job file speaks of,
    which stands below the spider and the command line.
    """
    values: Values = {}
    lines: list[str] = []
    for name, says in TRANSLATIONS.items():
        if not _written(settings, name):
            continue
        said = says(settings, profile)
        decided = given if (settings.getpriority(name) or 0) > job_file.PRIORITY else given | job
        taken = {key: value for key, value in said.items() if key not in decided}
        values.update(taken)
        if taken:
            told = ", ".join(f"{PREFIX}{key} = {value!r}" for key, value in taken.items())
            lines.append(f"{name} = {settings.get(name)!r} is taken as {told}")
        elif said:
            lines.append(f"{name} = {settings.get(name)!r} gives way to {', '.join(PREFIX + key for key in said)}")
    for name, word in AS_IT_IS.items():
        if _written(settings, name):
            lines.append(f"{name}: {word}")
    for name, word in NO_EFFECT.items():
        if _written(settings, name):
            lines.append(f"{name} has no effect: {word}")
    return values, lines


def read(settings: BaseSettings, *, contact_required: bool = True, changes: Changes | None = None) -> Settings:
    """Everything the operator wants, checked. Raises ConfigurationError.

    ``changes``: what was changed while the crawl ran, and goes before the project's word; without them those that the
    JOBDIR holds.
    ``contact_required``: False for commands that crawl nothing for keeps (``scrapy shell`` and its like).
    """
    ours = {
        name: settings.get(name)
        for name in settings
        if isinstance(name, str) and name.startswith(PREFIX) and settings.getpriority(name) is not None
    }
    if changes is None:
        jobdir = settings.get("JOBDIR")
        changes = kept.read(Path(jobdir)) if jobdir else Changes()
    job = job_file.read(ours, settings.get("JOBDIR"))
    of_job: frozenset[str] = frozenset()
    if job is not None:
        of_job = frozenset(key for key in job.settings if (settings.getpriority(key) or 0) <= job_file.PRIORITY)
        ours = {PREFIX + "PROFILE": "heritrix"} | ours | {key: job.settings[key] for key in of_job}
    ours |= changes.settings
    of_job -= changes.settings.keys()
    check_names(ours)
    lines = job_file.lines(job) if job else []
    lines += [f"{name} holds as it was changed while the crawl ran ({kept.NAME})" for name in changes.settings]
    profile = check_profile(ours.get(PREFIX + "PROFILE", "modern"))
    given = frozenset(name for key in ours if (name := key.removeprefix(PREFIX)) in BY_NAME)
    own = frozenset(name for name in given if PREFIX + name not in of_job)
    said, told = translate(settings, profile, own, (given | job.spoken) if job else frozenset())
    values: Values = {}
    for row in SETTINGS:
        if row.name in said:
            values[row.name] = check(row, said[row.name])
        elif row.name in given:
            values[row.name] = check(row, ours[row.key])
        else:
            values[row.name] = row.default_in(profile)
    if changes.seed_lines:
        values["SEEDS"] = [*values["SEEDS"], *changes.seed_lines]
    values |= with_entries(values, ours)
    if values["SCOPE_SPIDER_REQUESTS"] is None:
        values["SCOPE_SPIDER_REQUESTS"] = "SCOPE" in given or job is not None
    check_robots(values["ROBOTS_POLICY"], values["AVAILABLE_ROBOTS_POLICIES"])
    check_identity(values, contact_required=contact_required, template_given="USER_AGENT_TEMPLATE" in given)
    view = View(values)
    sheets = None
    if view.sheets or view.sheet_associations:
        sheets = Sheets(view.sheets, view.sheet_associations, view, strict=view.strict_uri_fixup)
    return Settings(
        view,
        explicit=given,
        lines=(*lines, *told),
        sheets=sheets,
        addressed=addresses(ours),
        gates=gates(ours),
        job=job,
    )


def settings_of(crawler: Crawler, *, contact_required: bool = True) -> Settings:
    """The Settings of a crawler, read when first asked for and kept on its Crawl."""
    crawl = Crawl.of(crawler)
    if crawl.settings is None:
        crawl.settings = read(crawler.settings, contact_required=contact_required)
    return crawl.settings  # type: ignore[return-value]
