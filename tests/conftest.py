"""Fixtures that several rooms use: a loopback web, and whole crawls in a subprocess."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from fastwarc.warc import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.commands.warc import verify
from tests.crawls import Crawl, Project
from tests.web import Web, running

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


class Serve(Protocol):
    def __call__(self, *sites: Any, log: Path | None = None, generation: int = 1) -> Web: ...


class RunCrawl(Protocol):
    def __call__(
        self,
        settings: Mapping[str, Any] | None = None,
        spiders: str = "",
        *args: str,
        name: str = "archive",
        web: Web | None = None,
        timeout: float = 120,
        addon: bool = True,
        defaults: bool = True,
        modules: Mapping[str, str] | None = None,
        jobdir: Path | str | None = "",
    ) -> Crawl: ...


def check_warcs(paths: Iterable[Path]) -> None:
    """Whether two readers that are not ours find every record and every digest right."""
    for path in paths:
        if path.name.endswith(".open"):
            continue
        assert verify(path)["problems"] == [], path
        with path.open("rb") as file:
            for record in ArchiveIterator(file, parse_http=False):
                assert record.verify_block_digest() or "WARC-Block-Digest" not in record.headers, path


@pytest.fixture(scope="session", autouse=True)
def every_warc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every WARC file that a test has left behind can be read by others, and the index beside it is right; those that
    a test has broken on purpose have ``damaged`` in their path."""
    yield
    found = [
        path
        for path in sorted(tmp_path_factory.getbasetemp().rglob("*.warc*"))
        if path.name.endswith((".warc", ".warc.gz")) and path.is_file() and not path.is_symlink()
    ]
    wrong = [f"{path}: {complaint}" for path in found if "damaged" not in str(path) for complaint in complaints(path)]
    assert not wrong, "\n".join(wrong)


def complaints(path: Path) -> Iterator[str]:
    """What two readers that are not ours find wrong with a file."""
    yield from verify(path)["problems"]
    try:
        with path.open("rb") as file:
            for number, record in enumerate(ArchiveIterator(file, parse_http=False), 1):
                if not record.verify_block_digest() and "WARC-Block-Digest" in record.headers:
                    yield f"block digest of record {number}"
    except Exception as error:
        yield repr(error)
    beside = cdxj.index_beside(path)
    if beside.exists() and beside.read_text().splitlines() != cdxj.lines_of(path):
        yield "the index beside it"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """``serve(SITE, ...)`` starts a `Web` that lasts until the test ends."""
    with ExitStack() as stack:
        yield lambda *sites, **options: stack.enter_context(running(*sites, **options))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Any]:
    """``project(settings, spiders, web=...)`` writes a Scrapy project and ends its crawls."""
    made: list[Project] = []

    def make(settings: Mapping[str, Any] | None = None, spiders: str = "", **options: Any) -> Project:
        web: Web | None = options.pop("web", None)
        values = {**({"HERITRIX_DNS_SERVERS": [web.dns]} if web else {}), **(settings or {})}
        made.append(Project(tmp_path / f"project{len(made) + 1}", values, spiders, **options))
        return made[-1]

    yield make
    for each in made:
        each.kill()


@pytest.fixture
def run_crawl(project: Any) -> RunCrawl:
    """``run_crawl(settings, spiders, *args, web=...)``: one crawl from start to end, in a project of its own.

    *web* sets HERITRIX_DNS_SERVERS. *name*: the spider, the package's own unless given. Politeness is off
    and retries are quick (`tests.crawls.DEFAULTS`) unless *settings* say otherwise or *defaults* is False.
    """

    def run(
        settings: Mapping[str, Any] | None = None,
        spiders: str = "",
        *args: str,
        name: str = "archive",
        timeout: float = 120,
        jobdir: Path | str | None = "",
        **options: Any,
    ) -> Crawl:
        made: Project = project(settings, spiders, **options)
        crawl = made.run(*args, name=name, timeout=timeout, jobdir=jobdir)
        if crawl.returncode == 0:
            check_warcs(crawl.warcs)
        return crawl

    return run
