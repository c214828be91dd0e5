"""How are operations carried out on the job of a crawl that does not run?

Its store is opened as a resume would open it, under the settings and the scope of the project; nothing is fetched.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from scrapy import Spider
from scrapy.crawler import Crawler

from heritrix_scrapy.crawl import Crawl
from heritrix_scrapy.frontier import keys
from heritrix_scrapy.frontier.core import Frontier
from heritrix_scrapy.frontier.journal import Journal
from heritrix_scrapy.frontier.migration import migrate
from heritrix_scrapy.frontier.operations import Operations
from heritrix_scrapy.frontier.scheduler import load_part
from heritrix_scrapy.frontier.seeds import announce
from heritrix_scrapy.frontier.totals import Totals
from heritrix_scrapy.operate import record
from heritrix_scrapy.operate.control import ControlError
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.life import End
from heritrix_scrapy.report.extension import ReportExtension
from heritrix_scrapy.scope.scope import from_settings
from heritrix_scrapy.settings import read
from heritrix_scrapy.settings.changes import keep_seed_lines
from heritrix_scrapy.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from heritrix_scrapy.crawl import Store
    from heritrix_scrapy.report.desk import Desk
    from heritrix_scrapy.scope import Scope
    from heritrix_scrapy.settings import Settings

logger = logging.getLogger(__name__)

#: Seconds that looking for a page of queues or URIs may take: to open the store takes as long, and nobody waits.
PAGE_SECONDS = 0.2
#: Above whatever a project says.
_OWN = 10_000


class _Kept:
    """A store that does not show what the next crawl has to compare with its WARC files: no writer is here to do it."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.get, self.write, self.compact, self.close = inner.get, inner.write, inner.compact, inner.close
        self.checkpoint, self.seeker, self.first = inner.checkpoint, inner.seeker, inner.first
        #: What the store repaired on opening.
        self.damage = getattr(inner, "damage", ())

    def range(self, start: bytes, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        return iter(()) if start == keys.UNSYNCED else self._inner.range(start, stop)


class Opened(NamedTuple):
    """A stopped job: its parts as a crawl has them, and what can be done to it."""

    crawl: Crawl
    scope: Scope
    operations: Operations
    desk: Desk


@contextmanager
def opened(directory: Path, project: Any) -> Iterator[Operations]:
    """Operations on the stopped job in a JOBDIR; see ``opened_job``."""
    with opened_job(directory, project) as job:
        yield job.operations


@contextmanager
def opened_job(directory: Path, project: Any) -> Iterator[Opened]:
    """The stopped job in a JOBDIR; ``project``: its Scrapy settings.

    Raises ControlError when there is no job, ConfigurationError when its store is in use or cannot be opened.
    """
    if not (directory / "frontier" / "CURRENT").exists():
        raise ControlError(f"{directory} is no JOBDIR of an archival crawl")
    settings = project.copy()
    settings.set("JOBDIR", str(directory), _OWN)
    settings.set("HERITRIX_NEW_CRAWL", False, _OWN)
    crawler = Crawler(Spider, settings)
    crawl = Crawl.of(crawler)
    wanted = crawl.settings = read(settings, contact_required=False)
    store = open_store(directory / "frontier", migrate=migrate)
    try:
        job, was_over = _open(directory, crawl, store, wanted)
    except BaseException:
        # who opens it goes on living, perhaps
        store.close()
        raise
    frontier = job.operations.frontier
    try:
        yield job
    finally:
        frontier.close(finished=was_over and not frontier.alive())


def _open(directory: Path, crawl: Crawl, store: Store, wanted: Settings) -> tuple[Opened, bool]:
    """The parts of a stopped job whose store is open, and whether its crawl had come to its end."""
    crawl.store = store
    scope = from_settings(wanted, crawl.crawler)
    for rule in scope.listening:
        if hasattr(rule, "surts_dump_file"):
            rule.surts_dump_file = ""
    _consume(announce(wanted.view.seeds, [scope], wanted.view))
    report = ReportExtension(crawl.crawler)
    journal = None
    if wanted.view.recovery_log_enabled:
        journal = Journal(lambda: crawl.jobdir.logs, crawl.clock.now_ms)
    frontier = Frontier(
        _Kept(store),
        wanted,
        decide=scope.accepts,
        hosts=crawl.hosts,
        clock=crawl.clock,
        report=report,
        seed_found=scope.seed_found,
        journal=journal,
        load_part=partial(load_part, crawl.crawler),
    )
    row = store.get(keys.STATE)
    totals = Totals() if row is None else msgspec.msgpack.decode(row, type=Totals)
    was_over = totals.over
    if was_over:
        # opened as it is, it would be emptied for a new crawl
        totals.over = False
        store.write([(keys.STATE, msgspec.msgpack.encode(totals))])
    frontier.open()
    last = record.stands(directory)
    report.desk.ended = (End[last.end].value, last.ran_ms)
    crawl.frontier = frontier
    crawl.operations = operations = Operations(
        frontier,
        wanted,
        crawl.clock,
        decide=scope.accepts,
        note=lambda text: JobLog(directory).write(crawl.clock.now_ms(), text),
        listeners=[scope, report],
        reached=lambda: "FINISH",
        also={"report": report.desk.report_now},
        keep_lines=partial(keep_seed_lines, directory),
    )
    operations.page_seconds = PAGE_SECONDS
    return Opened(crawl, scope, operations, report.desk), was_over


def _consume(seeds: Iterable[object]) -> None:
    for _ in seeds:
        """Only announced."""
