"""Does a crawl of 20,000 pages notice that the page's server ends, or the engine that has launched it?"""

from __future__ import annotations

import http.client
import json
import signal
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.crawl import bulk
from heritrix_scrapy.operate.control import ControlError, ask
from heritrix_scrapy.operate.record import read
from tests.crawls import Project
from tests.operate.page.crawled import SETTINGS, Browser, address
from tests.operate.web.process import serving
from tests.operate.web.served import Client
from tests.web.bulk import host_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

PAGES, HOSTS = 20_000, 50

#: An extension that ends the page's server, with everyone connected, when so many pages have come.
CLOSING = """
import asyncio
from heritrix_scrapy import signals
from heritrix_scrapy.operate.page import WebExtension

class Closing:
    def __init__(self, crawler):
        self.crawler, self.left, self.task = crawler, crawler.settings.getint("CLOSE_AT"), None
        crawler.signals.connect(self.finished, signals.uri_finished)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def finished(self):
        self.left -= 1
        if self.left == 0:
            self.task = asyncio.ensure_future(self.close())

    async def close(self):
        await self.crawler.get_extension(WebExtension).engine_stopped()
        self.crawler.stats.set_value("page/closed", 1)
"""


@pytest.fixture(scope="module")
def site() -> Iterator[dict[str, Any]]:
    with bulk(HOSTS, PAGES) as web:
        yield web


def settings(site: dict[str, Any]) -> dict[str, Any]:
    return {
        "HERITRIX_SEEDS": [site["seed"]],
        "HERITRIX_DNS_SERVERS": [site["dns"]],
        "HERITRIX_SURTS": ["+http://(test,bulk,"],
        "LOG_FILE": "crawl.txt",
    }


def whole(made: Project, jobdir: Path, site: dict[str, Any]) -> None:
    """The crawl has come to the end that it comes to undisturbed: each page once, and what goes with pages."""
    record = read(jobdir)
    assert (record.state, record.end, record.launches) == ("FINISHED", "FINISHED", 1)
    made.jobdir = jobdir
    statuses = made.result(0).statuses
    hosts = [f"{host_name(number)}:{site['port']}" for number in range(HOSTS)]
    pages = {f"http://{hosts[number % HOSTS]}/p/{number}.html" for number in range(PAGES)}
    assert {uri for uri in statuses if "/p/" in uri} == pages
    assert all(statuses[uri] == [200] for uri in pages)
    others = set(statuses) - pages
    assert others == {f"http://{host}/robots.txt" for host in hosts} | {f"dns:{host_name(n)}" for n in range(HOSTS)} | {
        uri for uri in others if uri.endswith("/favicon.ico")
    }


def listen(place: str, path: str, cookie: str, heard: list[str], *, tls: bool = False) -> threading.Thread:
    """Somebody who has the page's events open until they end."""

    def run() -> None:
        connection = (
            http.client.HTTPSConnection(place, timeout=900, context=ssl._create_unverified_context())
            if tls
            else http.client.HTTPConnection(place, timeout=900)
        )
        connection.request("GET", path, headers={"Cookie": cookie})
        response = connection.getresponse()
        try:
            while line := response.readline():
                heard.append(line.decode())
        except (OSError, http.client.HTTPException):
            """Cut off."""

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_the_pages_server_ends_under_open_events(site: dict[str, Any], tmp_path: Path) -> None:
    page = {name: SETTINGS[name] for name in ("HERITRIX_WEB", "HERITRIX_WEB_TLS", "HERITRIX_WEB_PASSWORD")}
    closing = {"EXTENSIONS": {"crawl_project.closing.Closing": 900}, "CLOSE_AT": PAGES // 4}
    made = Project(tmp_path, {**settings(site), **page, **closing}, modules={"closing": CLOSING})
    process = made.start()
    try:
        _, place = address(made, process)
        browser = Browser(place)
        heard: list[list[str]] = [[], [], []]
        threads = [listen(place, "/ui/events", browser.cookie, each) for each in heard]
        for thread in threads:
            thread.join(600)
            assert not thread.is_alive(), "the server has not ended"
        assert process.poll() is None, "the crawl ended with it"
        assert all(any("event: numbers" in line for line in each) for each in heard)
        with pytest.raises(OSError):  # noqa: PT011 - refused or reset, as it comes
            Browser(place)
        crawl = made.finish(process, timeout=1200)
    finally:
        made.kill()
    assert crawl.returncode == 0
    assert crawl.stats["page/closed"] == 1
    whole(made, made.jobdir, site)


def done(jobdir: Path) -> int:
    """How many URIs have come to their end; as many as there are when the crawl is over."""
    try:
        return int(ask(jobdir, {"do": "numbers"})["uris"]["succeeded"])
    except ControlError:
        return PAGES if read(jobdir).state == "FINISHED" else 0


def until(jobdir: Path, count: int, seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while done(jobdir) < count:
        assert time.monotonic() < end, f"never {count} URIs"
        threading.Event().wait(0.2)


def told(client: Client) -> dict[str, Any]:
    return dict(json.loads(client.get("/engine/job/a", "application/json").text))


def test_the_engine_is_stopped_and_killed_and_another_finds_the_crawl(site: dict[str, Any], tmp_path: Path) -> None:
    jobs, log = tmp_path / "jobs", tmp_path / "engine.txt"
    made = Project(jobs / "a", settings(site))
    with serving(jobs, log) as engine:
        client = Client(engine.port, tls=True)
        assert client.post("/engine/job/a", action="launch").status == 303
        pid = read(jobs / "a").pid
        for number, last in ((signal.SIGTERM, 0), (signal.SIGKILL, -9)):
            found = told(client)
            assert (found["crawlControllerState"], found["isRunning"]) == ("RUNNING", True)
            assert (found["launchCount"], found["hasApplicationContext"]) == (1, True)
            client.account = None
            entered = client.post("/login", user="admin", password="right horse 7")
            cookie = entered.headers["Set-Cookie"].partition(";")[0]
            thread = listen(engine.place, "/ui/job/a/events", cookie, [], tls=True)
            until(jobs / "a", done(jobs / "a") + PAGES // 20)
            assert engine.end(number) == last
            thread.join(60)
            assert not thread.is_alive()
            until(jobs / "a", done(jobs / "a") + PAGES // 20)
            engine = type(engine)(jobs, log)
            client = Client(engine.port, tls=True)
        assert read(jobs / "a").pid == pid
        assert told(client)["isRunning"]
        end = time.monotonic() + 1200
        while told(client)["isRunning"]:
            assert time.monotonic() < end, "the crawl does not end"
            threading.Event().wait(0.5)
        found = told(client)
        engine.end(signal.SIGKILL)
    assert (found["statusDescription"], found["crawlExitStatus"]) == ("Finished: FINISHED", "FINISHED")
    assert found["uriTotalsReport"]["downloadedUriCount"] > PAGES
    whole(made, jobs / "a", site)
