"""What is wrong with a project or a job, before it is started or after it has failed?

Each check looks at one thing and says what it found, in words: what is wrong and what to do, or that it is well.
"""

from __future__ import annotations

import asyncio
import os
import resource
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dns.exception
import dns.message
import dns.query
import dns.resolver
from scrapy import Spider
from scrapy.crawler import Crawler

from heritrix_scrapy.archive.cdxj import warcs_of
from heritrix_scrapy.archive.names import OPEN
from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.fetch.resolver import DNS_PORT, Answer, Lookup, Resolver, server_address
from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.frontier.status import totals_of_store
from heritrix_scrapy.model.errors import ConfigurationError, StoreError
from heritrix_scrapy.operate import disk, record
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import read
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heritrix_scrapy.settings import Settings

ADDON = "heritrix_scrapy.Addon"
REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
#: Files that a crawl needs besides one for each fetch: store, logs, WARC files, Scrapy's own.
FILES = 256

#: Seconds in which a name server has to answer.
DNS_SECONDS = 3.0

OK, WARNING, WRONG = "ok", "warning", "wrong"


class Finding(NamedTuple):
    """``level``: ``ok``, ``warning`` or ``wrong``; ``what``: was looked at; ``text``: what was found."""

    level: str
    what: str
    text: str


def examined(project: Any, jobdir: Path | None) -> Iterator[Finding]:
    """Every finding about a project's Scrapy settings, and about a JOBDIR."""
    yield from of_scrapy(project)
    settings: Settings | None = None
    try:
        settings = read(project)
        yield Finding(OK, "settings", "every HERITRIX_ setting is valid")
    except ConfigurationError as error:
        yield Finding(WRONG, "settings", error.message.removeprefix("heritrix_scrapy: "))
    if settings is not None:
        yield from of_seeds(project, settings)
        over_https = settings.view.dns_over_http_server
        yield from of_dns_over_https(over_https) if over_https else of_dns(settings.view.dns_servers)
    yield from of_files(project.getint("CONCURRENT_REQUESTS"))
    yield from of_folders(jobdir, settings)
    if jobdir is not None:
        yield from of_job(jobdir)


def of_scrapy(project: Any) -> Iterator[Finding]:
    """Whether the package is switched on, and the reactor is one it can run on."""
    listed = any(
        "heritrix_scrapy" in (each if isinstance(each, str) else getattr(each, "__module__", ""))
        for each in project.getdict("ADDONS")
    )
    if listed or "heritrix_scrapy" in str(project.get("SCHEDULER")):
        yield Finding(OK, "add-on", "the package is switched on")
    else:
        yield Finding(WRONG, "add-on", f'not switched on: the settings need ADDONS = {{"{ADDON}": 500}}')
    reactor = project.get("TWISTED_REACTOR")
    if reactor in (None, REACTOR):
        yield Finding(OK, "reactor", "asyncio")
    else:
        yield Finding(WRONG, "reactor", f"TWISTED_REACTOR = {reactor!r}: expected {REACTOR!r}, Scrapy's default")


def of_seeds(project: Any, settings: Settings) -> Iterator[Finding]:
    """Whether the scope can be built and there are seeds."""
    crawler = Crawler(Spider, project.copy())
    Crawl.of(crawler).settings = settings
    try:
        scope = from_settings(settings, crawler)
        for rule in scope.listening:
            if hasattr(rule, "surts_dump_file"):
                rule.surts_dump_file = ""
        count = sum(1 for _ in announce(settings.view.seeds, [scope], settings.view))
    except ConfigurationError as error:
        yield Finding(WRONG, "scope and seeds", error.message.removeprefix("heritrix_scrapy: "))
        return
    yield Finding(OK, "scope", f"{len(scope.sequence.rules)} rules")
    if count:
        yield Finding(OK, "seeds", f"{count} in HERITRIX_SEEDS")
    else:
        yield Finding(WARNING, "seeds", "HERITRIX_SEEDS has none: only what a spider's start() asks for is crawled")


def of_dns(servers: Sequence[str]) -> Iterator[Finding]:
    """Whether each name server that would be asked answers, whatever it says."""
    if servers:
        try:
            named = {each: server_address(each) for each in servers}
        except ValueError as error:
            yield Finding(WRONG, "DNS", f"HERITRIX_DNS_SERVERS = {list(servers)!r}: {error}")
            return
    else:
        try:
            named = {str(each): (str(each), DNS_PORT) for each in dns.resolver.Resolver().nameservers}
        except dns.resolver.NoResolverConfiguration:
            named = {}
    if not named:
        yield Finding(WRONG, "DNS", "no name server is configured: set HERITRIX_DNS_SERVERS")
    for name, (host, port) in named.items():
        try:
            dns.query.udp(dns.message.make_query(".", "NS"), host, port=port, timeout=DNS_SECONDS)
        except (dns.exception.DNSException, OSError) as error:
            words = f"the name server {name} does not answer ({str(error) or type(error).__name__})"
            yield Finding(WRONG, "DNS", f"{words}: HERITRIX_DNS_SERVERS names others")
        else:
            yield Finding(OK, "DNS", f"the name server {name} answers")


def of_dns_over_https(url: str) -> Iterator[Finding]:
    """Whether the name server that is asked over HTTPS answers, whatever it says."""
    setting = f"HERITRIX_DNS_OVER_HTTP_SERVER = {url!r}"
    try:
        resolver = Resolver(over_https=url, try_seconds=DNS_SECONDS, all_seconds=DNS_SECONDS)
    except ValueError as error:
        yield Finding(WRONG, "DNS", f"{setting}: {error}")
        return

    async def asked() -> Lookup:
        try:
            return await resolver.lookup(".")
        finally:
            resolver.close()

    found = asyncio.run(asked())
    if found.answer is Answer.FAILED:
        yield Finding(WRONG, "DNS", f"{setting} does not answer ({found.text})")
    else:
        yield Finding(OK, "DNS", f"the name server {url} answers")


def of_files(fetches: int) -> Iterator[Finding]:
    """Whether this process may open enough files."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * fetches + FILES
    if limit == resource.RLIM_INFINITY or limit >= needed:
        yield Finding(OK, "open files", f"the limit is {limit}")
    else:
        raised = f"raise it (ulimit -n {needed})" if most < 0 or most >= needed else "have it raised"
        words = f"the limit is {limit}, {fetches} fetches at once need {needed}: {raised} or lower CONCURRENT_REQUESTS"
        yield Finding(WRONG, "open files", words)


def of_folders(jobdir: Path | None, settings: Settings | None) -> Iterator[Finding]:
    """Whether what the crawl writes to can be written to, and has room."""
    if jobdir is None:
        yield Finding(WARNING, "JOBDIR", "none is set: such a crawl cannot be resumed")
    places = [] if jobdir is None else [jobdir]
    view = None if settings is None else settings.view
    if view is not None:
        named = (view.warc_dir, view.history_dir, *view.monitor_paths)
        places += [Path(each) for each in named if each]
    for place in dict.fromkeys(places):
        problem = unwritable(place)
        if problem is None:
            yield Finding(OK, "folder", f"{place} can be written to")
        else:
            yield Finding(WRONG, "folder", f"{place} cannot be written to: {problem}")
    mib = 512 if view is None else max(view.pause_threshold_mib, 0)
    for room in disk.rooms(nearest(place) for place in places):
        least = disk.threshold(mib, room, chosen=settings is not None and "PAUSE_THRESHOLD_MIB" in settings.explicit)
        if disk.short(room, least):
            yield Finding(WRONG, "disk", disk.words(room, least))
        else:
            yield Finding(OK, "disk", f"{room.usable // disk.MIB} MiB are left on the file system of {room.path}")


def of_job(jobdir: Path) -> Iterator[Finding]:
    """In which state the job is, and whether its frontier opens."""
    if not (jobdir / "frontier" / "CURRENT").exists():
        yield Finding(OK, "job", f"{jobdir} has no crawl yet: a start begins one")
        return
    told = record.stands(jobdir)
    try:
        ask(jobdir, {"do": "verbs"})
        yield Finding(OK, "job", f"a crawl runs on it (process {told.pid}) and answers")
        return
    except ControlError as error:
        if told.pid and record.lives(told.pid, told.born):
            yield Finding(WRONG, "job", f"its process {told.pid} runs and does not answer: {error}")
            return
    yield Finding(OK, "job", f"{told.state}, {told.end}" + (f": {told.reason}" if told.reason else ""))
    if told.alerts:
        yield Finding(WARNING, "alerts", f"{told.alerts} in its last launch: see alerts.log")
    try:
        store = open_store(jobdir / "frontier", migrate=migrate)
    except (ConfigurationError, StoreError) as error:
        yield Finding(WRONG, "frontier", str(error).removeprefix("heritrix_scrapy: "))
        return
    try:
        for damage in getattr(store, "damage", ()):
            yield Finding(WARNING, "frontier", f"it was damaged: {damage}")
        totals = totals_of_store(store)
        yield Finding(OK, "frontier", f"it opens; {totals.queued} queued, {totals.finished} finished")
    finally:
        store.close()
    left = [path for path in warcs_of(jobdir) if path.name.endswith(OPEN)]
    if left:
        words = f"{len(left)} were left open, {left[0].name} say: the next start closes them, or `warc repair`"
        yield Finding(WARNING, "WARC files", words)


def nearest(place: Path) -> Path:
    """A folder, or the nearest one above it that exists."""
    place = place.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place


def unwritable(place: Path) -> str | None:
    """Why no file can be made in a folder, which need not exist yet; None when one can."""
    there = nearest(place)
    try:
        descriptor, path = tempfile.mkstemp(prefix=".heritrix-doctor-", dir=there)
    except OSError as error:
        return f"{there}: {error.strerror}"
    os.close(descriptor)
    os.unlink(path)
    return None
