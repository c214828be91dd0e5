"""Who may ask for what, for every route that there is?

The routes are not listed here: they are taken from the application and from the table of Heritrix's paths, so that one
that is added is tried too.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.model.steering import Steering
from heritrix_scrapy.operate.web import dispatch, guard
from heritrix_scrapy.operate.web.auth import Gate
from heritrix_scrapy.operate.web.context import Context
from heritrix_scrapy.operate.web.server import application
from heritrix_scrapy.operate.web.ui.subject import Inside
from tests.operate.web.served import LOOKER, OPERATOR, Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")
CHANGING = tuple(each for each in METHODS if each not in ("GET", "HEAD"))
#: An address of each resource of Heritrix's paths.
ADDRESSES = {
    "ENGINE": "/engine", "JOB": "/engine/job/a", "BEANS": "/engine/job/a/beans", "SCRIPT": "/engine/job/a/script",
    "REPORT": "/engine/job/a/report/SeedsReport", "FILES": "/engine/job/a/jobdir/crawler-beans.cxml",
    "LISTING": "/engine/jobsdir/", "DOCS": "/engine/beandoc", "OPENAPI": "/engine/openapi.json",
}  # fmt: skip
MORE = ("/", "/nothing", "/engine/anypath/etc/passwd", "/engine/job/none", "/ui/edit/engine", "/ui/static/live.js")


@contextmanager
def of_one_crawl() -> Iterator[int]:
    """The port of a page of one crawl that answers nothing."""
    with served(None, subject=Inside("a", Steering())) as (port, _):
        yield port


def routes(*, engine: bool) -> set[str]:
    """Addresses of the application's own routes, ``a`` for the name of a job."""

    async def made() -> set[str]:
        gate = Gate([OPERATOR], lambda: 0.0)
        context = Context(engine=object() if engine else None, gate=gate, subject=None)  # type: ignore[arg-type]
        app = application(context)
        return {re.sub(r"\{\w+\}", "a", resource.canonical) for resource in app.router.resources()}

    return asyncio.run(made())


def addresses(*, engine: bool) -> list[str]:
    own = routes(engine=engine) - guard.OPEN
    return sorted(own | set(MORE) | (set(ADDRESSES.values()) if engine else {"/engine"}))


def test_every_resource_has_an_address() -> None:
    tables = {name: each for name, each in vars(dispatch).items() if isinstance(each, dict) and name.isupper()}
    assert set(tables) == set(ADDRESSES)
    for name, address in ADDRESSES.items():
        assert dispatch.table_of(address[1:].split("/")) is tables[name]
    assert len(routes(engine=True)) > 12
    assert any(each.startswith("/ui/job/a/") for each in routes(engine=True))
    assert "/ui/queues" in routes(engine=False)


@pytest.fixture(params=["engine", "crawl"])
def place(request: pytest.FixtureRequest, jobs: Path) -> Iterator[tuple[int, list[str]]]:
    """A port, and all of its addresses."""
    if request.param == "crawl":
        with of_one_crawl() as port:
            yield port, addresses(engine=False)
        return
    with served(jobs) as (port, _):
        Client(port).post("/engine", action="create", createpath="a")
        yield port, addresses(engine=True)


def test_nobody_gets_anything(place: tuple[int, list[str]], jobs: Path) -> None:
    port, every = place
    stranger = Client(port, None)
    for address in every:
        for method in METHODS:
            answer = stranger.ask(method, address, body=b"x" if method in ("POST", "PUT", "PATCH") else None)
            assert answer.status == 401, (method, address)
            assert answer.headers["WWW-Authenticate"].startswith("Digest ")
            assert str(jobs) not in answer.text
    for address in guard.OPEN:
        for method in CHANGING:
            if (method, address) != ("POST", guard.LOGIN):
                assert stranger.ask(method, address).status in (404, 405), (method, address)


def test_who_may_look_changes_nothing(place: tuple[int, list[str]], jobs: Path) -> None:
    port, every = place
    looker = Client(port, LOOKER)
    before = tree(jobs)
    for address in every:
        for method in CHANGING:
            answer = looker.ask(method, address, form={"action": "delete"} if method == "POST" else None)
            # a method that is not offered is not told from one that is
            assert answer.status == 403, (method, address)
            assert LOOKER.user in answer.text
        if not address.endswith(("/events", "/static", "/passwd")):
            # what may hold passwords is not for those who only look: see test_reader
            hidden = address.endswith(("/crawler-beans.cxml", "/edit"))
            answer = looker.get(address)
            assert answer.status != 401, address
            assert (answer.status == 403) == hidden, address
    assert tree(jobs) == before


def test_a_form_without_its_sessions_token_changes_nothing(place: tuple[int, list[str]], jobs: Path) -> None:
    port, every = place
    browser = Client(port, None)
    entered = browser.post("/login", user=OPERATOR.user, password=OPERATOR.password)
    cookie = {"Cookie": entered.headers["Set-Cookie"].partition(";")[0]}
    before = tree(jobs)
    for address in every:
        for method in CHANGING:
            for more in ({}, {"X-CSRF-Token": "0" * 64}):
                form = {"action": "create", "createpath": "b"} if method == "POST" else None
                answer = browser.ask(method, address, form=form, headers={**cookie, **more})
                assert answer.status == 403, (method, address)
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/json", "", "application/xml"):
        for address in ("/engine", "/logout", "/ui/steer"):
            sent = {**cookie, "Content-Type": kind}
            assert browser.ask("POST", address, body=b"action=create&createpath=b", headers=sent).status == 403
    assert tree(jobs) == before
    token = re.search(r'name="csrf" value="(\w+)"', page(browser, cookie))
    assert token
    assert browser.ask("POST", "/logout", form={"csrf": token[1]}, headers=cookie).status == 303
    assert browser.ask("GET", "/engine", headers=cookie).status == 401


def page(browser: Client, cookie: dict[str, str]) -> str:
    found = [browser.ask("GET", each, headers={**cookie, "Accept": "text/html"}) for each in ("/engine", "/ui/reports")]
    return "".join(each.text for each in found)


def test_a_form_of_another_site_changes_nothing(place: tuple[int, list[str]], jobs: Path) -> None:
    port, every = place
    client = Client(port)
    before = tree(jobs)
    for address in (*every, guard.LOGIN):
        for method in CHANGING:
            answer = client.ask(method, address, headers={"Origin": "https://evil.example"})
            assert answer.status == 403, (method, address)
    assert tree(jobs) == before


def tree(jobs: Path) -> list[tuple[str, bytes]]:
    """Every file and what is in it."""
    return sorted((str(path), path.read_bytes() if path.is_file() else b"") for path in jobs.rglob("*"))
