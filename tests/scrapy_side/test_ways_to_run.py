"""Is it the same crawl, however it is started? From a script, as a single file, two at a time, without a JOBDIR."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawls import DEFAULTS, ROOT
from tests.scrapy_side.sites import HOST, OTHER, SITE, pages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCrawl, Serve
    from tests.web import Web

pytestmark = pytest.mark.crawl

#: A spider that brings all it needs in its own settings.
ALONE = """
from scrapy import Request, Spider

class Alone(Spider):
    name = "alone"
    custom_settings = SETTINGS

    async def start(self):
        yield Request("START")

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""


def script(web: Web, text: str, **settings: Any) -> str:
    values = {
        **DEFAULTS,
        "ADDONS": {"heritrix_scrapy.Addon": 500},
        "HERITRIX_DNS_SERVERS": [web.dns],
        "LOG_LEVEL": "WARNING",
        **settings,
    }
    return text.replace("SETTINGS", repr(values)).replace("START", web.url(HOST))


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python process in a folder that is no Scrapy project."""
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert ended.returncode == 0, ended.stderr
    return ended


def archived_in(folder: Path) -> set[str]:
    return pages(sorted(folder.rglob("*.warc.gz")))


def test_runspider(serve: Serve, tmp_path: Path) -> None:
    web = serve(SITE)
    (tmp_path / "alone.py").write_text(script(web, ALONE))
    python(tmp_path, "-m", "scrapy", "runspider", "alone.py", "-s", "JOBDIR=job", "-O", "items.jsonl")
    assert archived_in(tmp_path / "job") >= {web.url(HOST), web.url(HOST, "/style.css"), web.url(OTHER, "/pic.png")}
    assert (tmp_path / "items.jsonl").read_text() == '{"title": "home"}\n'


RUN = {
    "CrawlerProcess": """
from scrapy.crawler import CrawlerProcess
process = CrawlerProcess({"JOBDIR": "job"})
process.crawl(Alone)
process.start()
""",
    "AsyncCrawlerProcess": """
from scrapy.crawler import AsyncCrawlerProcess
process = AsyncCrawlerProcess({"JOBDIR": "job"})
process.crawl(Alone)
process.start()
""",
    "AsyncCrawlerRunner": """
import asyncio
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.reactor import install_reactor
install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
from twisted.internet.task import react
from scrapy.utils.defer import deferred_from_coro

async def crawl():
    await AsyncCrawlerRunner({"JOBDIR": "job"}).crawl(Alone)

react(lambda reactor: deferred_from_coro(crawl()))
""",
}


@pytest.mark.parametrize("how", RUN)
def test_script(serve: Serve, tmp_path: Path, how: str) -> None:
    web = serve(SITE)
    (tmp_path / "run.py").write_text(script(web, ALONE) + RUN[how])
    python(tmp_path, "run.py")
    assert archived_in(tmp_path / "job") >= {web.url(HOST), web.url(HOST, "/style.css"), web.url(OTHER, "/pic.png")}


TWO = """
from scrapy.crawler import AsyncCrawlerProcess

class Other(Alone):
    name = "other"

    async def start(self):
        yield Request("STARTtwo")

process = AsyncCrawlerProcess()
for spider in (Alone, Other):
    crawler = process.create_crawler(spider)
    crawler.settings.set("JOBDIR", spider.name, "cmdline")
    process.crawl(crawler)
process.start()
"""


def test_two_crawlers_in_one_process(serve: Serve, tmp_path: Path) -> None:
    """Each has its own JOBDIR, frontier, log and WARC; nothing of the one is in the other."""
    web = serve(SITE)
    (tmp_path / "run.py").write_text(script(web, ALONE + TWO))
    python(tmp_path, "run.py")
    alone, other = archived_in(tmp_path / "alone"), archived_in(tmp_path / "other")
    assert web.url(HOST, "/style.css") in alone
    assert web.url(HOST, "/two.png") in other
    assert alone & other == {web.url(HOST, "/robots.txt"), web.url(HOST, "/favicon.ico")}
    for name in ("alone", "other"):
        assert (tmp_path / name / "logs" / "crawl.log").read_text()


def test_the_command_line_wins(serve: Serve, tmp_path: Path) -> None:
    """Over the spider, which wins over the project."""
    web = serve(SITE)
    (tmp_path / "alone.py").write_text(script(web, ALONE, HERITRIX_FOLLOW="all", HERITRIX_WARC_PREFIX="SPIDER"))
    line = ("-m", "scrapy", "runspider", "alone.py", "-s", "JOBDIR=job", "-s", "HERITRIX_FOLLOW=none")
    python(tmp_path, *line)
    assert archived_in(tmp_path / "job") == {web.url(HOST), web.url(HOST, "/robots.txt")}
    assert all(path.name.startswith("SPIDER-") for path in (tmp_path / "job" / "warcs").iterdir())


CLOSING = {"CLOSESPIDER_PAGECOUNT": 3, "CLOSESPIDER_ITEMCOUNT": 1, "CLOSESPIDER_ERRORCOUNT": 1}

ENDLESS = """
from scrapy import Request, Spider

class Endless(Spider):
    name = "endless"

    async def start(self):
        yield Request(self.settings["START"])

    def parse(self, response):
        yield {"url": response.url}
        number = int(response.url.rpartition("/")[2] or 0)
        yield response.follow(f"/{number + 1}")
        if self.settings.getint("CLOSESPIDER_ERRORCOUNT"):
            raise ValueError("an error of the spider's")
"""


@pytest.mark.parametrize("setting", CLOSING)
def test_closespider(serve: Serve, project: Any, setting: str) -> None:
    """Scrapy's extension ends the crawl, what is queued stays, and the same line goes on."""
    web = serve({HOST: {"routes": {"/robots.txt": {"status": 404}}, "patterns": [], "default": {"body": "<p>page"}}})
    made = project({"START": web.url(HOST), setting: CLOSING[setting]}, ENDLESS, web=web)
    first = made.run(name="endless")
    assert first.stats["finish_reason"] == setting.lower()
    asked = web.asked(HOST)
    second = made.run(name="endless")
    assert second.stats["finish_reason"] == setting.lower()
    assert "resuming the crawl" in second.stderr
    assert len(web.asked(HOST)) > len(asked)
    assert not any(path.name.endswith(".open") for path in second.warcs)


def test_without_jobdir(serve: Serve, project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frontier and logs are in a temporary directory, the WARC is where the command was given; the log says so."""
    web = serve(SITE)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    made = project({"HERITRIX_SEEDS": [web.url(HOST)]}, web=web)
    crawl = made.run(jobdir=None)
    assert crawl.returncode == 0
    warcs = list(made.folder.glob("*.warc.gz"))
    assert web.url(HOST, "/three") in pages(warcs)
    assert "no JOBDIR" in crawl.stderr
    assert str(temporary) in crawl.stderr
    assert str(made.folder) in crawl.stderr


def test_seeds_on_the_command_line(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    crawl = run_crawl({}, "", "-s", f"HERITRIX_SEEDS={web.url(HOST)}", "-s", "HERITRIX_MAX_HOPS=0", web=web)
    assert crawl.statuses[web.url(HOST)] == [200]
    assert web.url(HOST, "/two") not in crawl.statuses
