"""Does each mistake of an installation or a project end ``scrapy crawl`` with one line and status 1?

Mistakes in single settings stand in ``tests/settings``.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.addon import check_handlers, check_scheduler
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.store.leveldb import SCHEMA_KEY, LevelStore
from tests.durability.watch import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve
    from tests.crawls import Crawl, Project

pytestmark = pytest.mark.crawl

#: Put in front of the project's settings module: as if LevelDB's binding were not installed.
NO_PLYVEL = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("plyvel", "plyvel_next"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""

SCHEDULER = """
from scrapy.core.scheduler import Scheduler

class Own(Scheduler):
    pass
"""

HANDLER = """
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

class Own(HTTP11DownloadHandler):
    pass
"""

MISTAKES: dict[str, tuple[dict[str, Any], dict[str, str], tuple[str, ...]]] = {
    # name: (settings, modules of the project, words of the line)
    "reactor not asyncio": (
        {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
        {},
        ("TWISTED_REACTOR", "SelectReactor", "AsyncioSelectorReactor"),
    ),
    "foreign handler": (
        {"DOWNLOAD_HANDLERS": {"https": "crawl_project.handler.Own"}},
        {"handler": HANDLER},
        ("DOWNLOAD_HANDLERS['https']", "crawl_project.handler.Own", "HERITRIX_ALLOW_FOREIGN_HANDLER"),
    ),
    "scheduler of the project's": (
        {"SCHEDULER": "crawl_project.own.Own"},
        {"own": SCHEDULER},
        ("SCHEDULER", "crawl_project.own.Own", "FrontierScheduler"),
    ),
    "callback that is not there": ({"HERITRIX_CALLBACK": "parse_all"}, {}, ("HERITRIX_CALLBACK", "'parse_all'")),
}


def refused(crawl: Crawl, *words: str) -> None:
    """One line beside ordinary log lines, which says all of it, and nothing was crawled."""
    assert crawl.returncode == 1, crawl.stderr
    told = [line for line in crawl.stderr.splitlines() if line]
    assert len(told) == 1, crawl.stderr
    assert told[0].startswith("heritrix_scrapy: ")
    for word in words:
        assert word in told[0]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_of_the_project(project: Any, mistake: str) -> None:
    settings, modules, words = MISTAKES[mistake]
    made: Project = project({**settings, "LOG_LEVEL": "ERROR"}, modules=modules)
    refused(made.run(), *words)


def test_parts_that_are_not_there() -> None:
    path = "crawl_project.nowhere.Own"
    with pytest.raises(ConfigurationError, match=r"SCHEDULER = 'crawl_project.nowhere.Own': cannot be loaded"):
        check_scheduler(Settings({"SCHEDULER": path}))
    with pytest.raises(ConfigurationError, match=r"DOWNLOAD_HANDLERS\['http'\] = .*: cannot be loaded"):
        check_handlers(Settings({"DOWNLOAD_HANDLERS": {"http": path}}))


def test_no_leveldb(project: Any) -> None:
    made: Project = project({"LOG_LEVEL": "ERROR"})
    code = made.folder / "crawl_project" / "settings.py"
    code.write_text(NO_PLYVEL + code.read_text())
    refused(made.run(), "JOBDIR", "plyvel", "pip install")


def test_jobdir_below_a_file(project: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made: Project = project({"LOG_LEVEL": "ERROR"})
    refused(made.run(jobdir=tmp_path / "file" / "job"), "JOBDIR", str(tmp_path / "file" / "job"), "written")


def test_warc_directory_below_a_file(project: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made: Project = project({"LOG_LEVEL": "ERROR", "HERITRIX_WARC_DIR": tmp_path / "file" / "warcs"})
    refused(made.run(), "HERITRIX_WARC_DIR", str(tmp_path / "file" / "warcs"), "written")


def test_jobdir_of_another_schema(project: Any) -> None:
    made: Project = project({"LOG_LEVEL": "ERROR"})
    store = LevelStore(made.jobdir / "frontier")
    store.write([(SCHEMA_KEY, b"99.1")])
    store.close()
    refused(made.run(), "JOBDIR", str(made.jobdir), "99.1", "another JOBDIR")


def test_two_crawls_on_one_jobdir(serve: Serve, project: Any) -> None:
    """The second one is refused; the first one goes on, and loses nothing by it."""
    held = {"stall": True, "cases": [{"if": {"nth_from": 2}, "then": {"body": "well"}}]}
    web = serve({"www.two.test": {"routes": {"/robots.txt": {"status": 404}, "/": held}}})
    uri = web.url("www.two.test")
    made: Project = project({"HERITRIX_SEEDS": [uri], "LOG_LEVEL": "ERROR", "HERITRIX_STOP_GRACE_SECONDS": 1}, web=web)
    first = made.start()
    until(first, lambda: "GET /" in web.asked("www.two.test"), "the page was asked for")
    refused_second = made.run()
    assert first.poll() is None, "the first crawl still runs"
    refused(refused_second, "JOBDIR", str(made.jobdir), "another crawl")
    first.send_signal(signal.SIGINT)
    assert made.finish(first).returncode == 3
    crawl = made.run()
    assert crawl.statuses[uri] == [200]
