"""Is a crawl shown on its page, and steered from it, by those who may, as it runs?"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from heritrix_scrapy.operate.control import ControlError, ask
from tests.crawls import Project
from tests.durability.watch import until
from tests.operate.page.crawled import READER, SETTINGS, Browser, address, site, text_of
from tests.web import running

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = ("", "/queues", "/log", "/why", "/reports", "/settings", "/steer")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any, str, Any]]:
    """A crawl that goes on until it is ended: one host of its site never answers."""
    with running(site()) as web:
        made = Project(
            tmp_path_factory.mktemp("page"),
            {
                **SETTINGS,
                "HERITRIX_SEEDS": [web.url("www.page.test"), web.url("slow.page.test")],
                "HERITRIX_DNS_SERVERS": [web.dns],
                "HERITRIX_MAX_DOCUMENTS_DOWNLOAD": 100_000,
            },
        )
        process = made.start()
        try:
            scheme, place = address(made, process)
            assert scheme == "http"
            until(process, lambda: ask(made.jobdir, {"do": "numbers"})["uris"]["succeeded"] > 60, "pages were fetched")
            yield made, process, place, web
            with contextlib.suppress(ControlError):
                ask(made.jobdir, {"do": "terminate"})
            made.finish(process)
        finally:
            made.kill()


def test_every_page_is_shown_and_nothing_hostile_is_markup(crawl: Any) -> None:
    made, process, place, web = crawl
    browser = Browser(place)
    page = browser.get("/ui")
    text = text_of(page)
    assert "RUNNING" in text
    until(process, lambda: bool(ask(made.jobdir, {"do": "detail"})["flights"]), "the slow one is in flight")
    page = browser.get("/ui")
    text = text_of(page)
    for said in ("slow.page.test", "DecideRule", "HERITRIX_MAX_DOCUMENTS_DOWNLOAD", "URIs a second", "404"):
        assert said in text, said
    for path in PAGES:
        shown = browser.get("/ui" + path)
        assert "<script>alert" not in shown
        assert not re.search(
            r"<[^>]*\son[a-z]+=|<style|style=\"|<script(?! src=\"/ui/static/(live|edit).js\" defer>)", shown
        )
    found = ask(made.jobdir, {"do": "detail"})
    assert [each["uri"] for each in found["flights"]] == [web.url("slow.page.test")]
    queue = next(each["queue"] for each in ask(made.jobdir, {"do": "queues"})["queues"] if "slow" in each["queue"])
    shown = browser.get("/ui/queue?name=" + quote(queue, safe=""))
    assert "waits for the fetch of " + web.url("slow.page.test") in text_of(shown)
    for name in ("crawl", "hosts", "frontier-summary", "threads"):
        assert 'role="region" aria-label="Report' in browser.get(f"/ui/report?name={name}")
    why = browser.get("/ui/why?uri=" + quote(web.url("www.page.test", "/%3Cscript%3Ealert(1)%3C/script%3E"), safe=""))
    assert "<script>alert" not in why
    assert "was fetched" in text_of(why)
    assert "javascript" not in browser.get("/ui/why?uri=%3Cscript%3Ealert(1)%3C%2Fscript%3E").split("<main")[0]
    log = browser.get("/ui/log?filter=%22%3E%3Cscript%3Ealert(3)%3C/script%3E")
    assert "<script>alert(3)" not in log


def test_headers_forbid_what_the_page_does_not_need(crawl: Any) -> None:
    _, _, place, _ = crawl
    status, _, headers = Browser(place).send("GET", "/ui")
    policy = headers["Content-Security-Policy"]
    assert status == 200
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Frame-Options"] == "DENY"


def test_the_crawl_is_steered_with_the_count_before_the_deed(crawl: Any) -> None:
    made, process, place, web = crawl
    browser = Browser(place)
    until(process, lambda: bool(ask(made.jobdir, {"do": "detail"})["flights"]), "the slow one is in flight")
    uri = web.url("slow.page.test")
    assert "fetch would be cut off" in text_of(browser.do("/ui/steer", deed="kill", uri=uri)[1])
    assert browser.do("/ui/steer", deed="kill", uri=uri, sure="yes")[0] == 303
    until(process, lambda: not ask(made.jobdir, {"do": "detail"})["flights"], "it was cut off")
    assert browser.do("/ui/state", action="pause")[0] == 303
    until(process, lambda: ask(made.jobdir, {"do": "hello"})["state"] == "PAUSED", "it paused")
    lines = "\n".join(web.url("www.page.test", f"/late/{number}") for number in (1, 2))
    status, text, _ = browser.do("/ui/steer", deed="seeds", lines=lines)
    assert status == 200
    assert "2 seeds would be announced" in text_of(text)

    def queued() -> int:
        return int(ask(made.jobdir, {"do": "numbers"})["uris"]["queued"])

    before = queued()
    assert browser.do("/ui/steer", deed="seeds", lines=lines, sure="yes")[0] == 303
    assert "2 of 2 seed lines were queued" in text_of(browser.get("/ui/steer"))
    until(process, lambda: queued() == before + 2, "they were queued")
    form = {"deed": "delete", "uri": ".*/late/.*"}
    status, text, _ = browser.do("/ui/steer", **form)
    assert "2 queued URIs would be taken out" in text_of(text)
    until(process, lambda: queued() == before + 2, "they were queued")
    assert browser.do("/ui/steer", **form, sure="yes")[0] == 303
    until(process, lambda: queued() == before, "they were deleted")
    assert "2 URIs were taken out" in text_of(browser.get("/ui"))

    form = {"deed": "set", "name": "MIN_DELAY_MS", "value": "7000", "host": "slow.page.test"}
    status, text, _ = browser.do("/ui/steer", **form)
    assert "slow.page.test and the hosts below it" in text_of(text)
    assert not ask(made.jobdir, {"do": "changes"})["changes"]
    assert browser.do("/ui/steer", **form, sure="yes")[0] == 303
    sheets = ask(made.jobdir, {"do": "settings"})["settings"]["SHEETS"]
    assert [list(each.values()) for each in sheets.values()] in ([[7000]], [["7000"]])
    status, text, _ = browser.do("/ui/steer", deed="set", name="MIN_DELAY_MS", value="soon")
    assert status == 303
    assert "MIN_DELAY_MS" in text_of(browser.get("/ui/steer"))

    assert "once more" in text_of(browser.do("/ui/steer", deed="force", uri=uri)[1])
    assert browser.do("/ui/steer", deed="force", uri=uri, sure="yes")[0] == 303
    assert browser.do("/ui/state", action="checkpoint")[0] == 303
    assert "Checkpoint cp00001" in text_of(browser.get("/ui"))
    assert browser.do("/ui/state", action="unpause")[0] == 303
    assert "Terminate the crawl?" in text_of(browser.do("/ui/state", action="terminate")[1])
    assert ask(made.jobdir, {"do": "hello"})["state"] == "RUNNING"


def test_a_reader_sees_everything_and_may_do_nothing(crawl: Any) -> None:
    made, _, place, web = crawl
    browser = Browser(place, *READER.split(":"))
    for path in PAGES:
        assert 'action="/ui/state"' not in browser.get("/ui" + path)
    for path, fields in (
        ("/ui/state", {"action": "pause"}),
        ("/ui/steer", {"deed": "delete", "uri": ".*"}),
        ("/ui/steer", {"deed": "seeds", "lines": web.url("www.page.test", "/more"), "sure": "yes"}),
    ):
        assert browser.do(path, **fields)[0] == 403
    assert ask(made.jobdir, {"do": "hello"})["state"] == "RUNNING"


def test_nobody_steers_without_a_login_or_the_pages_own_token(crawl: Any) -> None:
    made, _, place, _ = crawl
    browser = Browser(place)
    form = "action=pause"
    assert browser.send("POST", "/ui/state", form)[0] == 403
    assert browser.send("POST", "/ui/state", f"{form}&csrf={'0' * 64}")[0] == 403
    token = browser.token
    other = {"Origin": "http://evil.test"}
    assert browser.send("POST", "/ui/state", f"{form}&csrf={token}", other)[0] == 403
    assert browser.send("POST", "/ui/state", f"{form}&csrf={token}", {"Sec-Fetch-Site": "cross-site"})[0] == 403
    browser.cookies.clear()
    for path in (*PAGES, "/parts", "/events", "/queue?name=x", "/report?name=crawl", "/static/live.js"):
        assert browser.send("GET", "/ui" + path)[0] == 401
    assert browser.send("POST", "/ui/state", form)[0] == 401
    assert browser.send("GET", "/ui", None, {"Sec-Fetch-Mode": "navigate"})[0] == 303
    assert ask(made.jobdir, {"do": "hello"})["state"] == "RUNNING"


def test_numbers_and_lines_come_as_events(crawl: Any) -> None:
    made, _, place, web = crawl
    browser = Browser(place)
    connection = http.client.HTTPConnection(place, timeout=30)
    connection.request("GET", "/ui/events", headers={"Cookie": browser.cookie})
    response = connection.getresponse()
    assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    seen: dict[str, Any] = {}
    ask(made.jobdir, {"do": "force", "uri": web.url("www.page.test", "/heard")})
    name = ""
    for _ in range(100):
        if {"numbers", "log"} <= set(seen):
            break
        line = response.readline().decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            seen[name] = json.loads(line[6:])
    assert seen["numbers"]["figures"]["state"] == "RUNNING"
    assert any("/heard" in line for line in seen["log"]["lines"])
    connection.close()
    parts = json.loads(browser.get("/ui/parts", Accept="application/json"))
    assert {"plot", "holding", "flights", "hosts"} <= set(parts["parts"])
    assert "<script>" not in "".join(parts["parts"].values())


def test_numbers_on_the_page_are_the_crawls_own(crawl: Any) -> None:
    """What is queued is on the page with the next numbers that are sent, and on a page that is loaded at once; its
    tables follow within the time for which a drawing is good."""
    made, process, place, web = crawl
    browser = Browser(place)
    ask(made.jobdir, {"do": "pause"})
    until(process, lambda: ask(made.jobdir, {"do": "hello"})["state"] == "PAUSED", "it paused")
    connection = http.client.HTTPConnection(place, timeout=30)
    connection.request("GET", "/ui/events", headers={"Cookie": browser.cookie})
    response = connection.getresponse()

    def heard() -> str:
        """What is queued by the next numbers."""
        name = ""
        while line := response.readline().decode():
            if line.startswith("event: "):
                name = line[7:].strip()
            elif line.startswith("data: ") and name == "numbers":
                return str(json.loads(line[6:])["figures"]["uris-queued"])
        raise AssertionError("no numbers")

    heard()
    for turn in range(2):
        lines = [web.url("www.page.test", f"/lag/{turn}/{number}") for number in range(7)]
        before = int(ask(made.jobdir, {"do": "numbers"})["uris"]["queued"])
        assert ask(made.jobdir, {"do": "seeds", "lines": lines})["queued"] == len(lines)
        wanted = f"{before + len(lines)}"
        # one that was made before may be on its way
        assert wanted in (heard(), heard())
        assert f'<span data-n="uris-queued">{wanted}</span>' in browser.get("/ui")
        parts = json.loads(browser.get("/ui/parts"))
        assert parts["figures"]["uris-queued"] == wanted
    connection.close()
    ask(made.jobdir, {"do": "unpause"})


def test_a_page_without_a_password_or_place_is_refused(project: Any) -> None:
    ended = project({"HERITRIX_WEB": "0", "HERITRIX_SEEDS": ["http://a.test/"]}).run()
    assert ended.returncode != 0
    assert "a page needs a password" in ended.stderr
    ended = project({"HERITRIX_WEB": "here", "HERITRIX_WEB_PASSWORD": "x", "HERITRIX_SEEDS": ["http://a.test/"]}).run()
    assert "HERITRIX_WEB = 'here': expected a port, or host:port" in ended.stderr
