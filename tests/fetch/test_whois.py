"""Is whois asked in the right words and order, and is what it answers kept?"""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request

from heritrix_scrapy.fetch.preconditions import Prerequisite, Proceed, Stop, decide
from heritrix_scrapy.fetch.whois import (
    Ask,
    Done,
    Lost,
    asked_name,
    inferred,
    next_step,
    query_line,
    query_uri,
    referral,
)
from heritrix_scrapy.fetch.whois_handler import WhoisDownloadHandler
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts, Inquiry
from heritrix_scrapy.requests import archived_name, bind
from heritrix_scrapy.settings import default_view
from heritrix_scrapy.settings.defaults import WHOIS_QUERY_TEMPLATES
from tests.fetch.loopback import make_crawler, run
from tests.web.whois import WhoisServer


async def fetched(url: str, profile: str = "modern", uri: str = "", **values: Any) -> tuple[Any, CrawlURI, Hosts]:
    values.setdefault("so_timeout_ms", 2000)
    handler = WhoisDownloadHandler.from_crawler(make_crawler(profile, **values))
    request, curi = Request(url), CrawlURI(uri or url)
    bind(request, curi)
    outcome: Any
    try:
        outcome = await handler.download_request(request)
    except Exception as error:
        outcome = error
    for listener in handler.crawl.before_finish:
        listener(curi)
    return outcome, curi, handler.crawl.hosts


def ask(query: str, profile: str = "modern", *, server: dict[str, Any] | None = None, **values: Any) -> Any:
    async def work() -> Any:
        async with WhoisServer(**(server or {})) as whois:
            return *await fetched(f"whois://127.0.0.1:{whois.port}/{query}", profile, **values), whois

    return run(work())


ANSWER = b"Domain: A.EXAMPLE\r\nWhois Server: whois.registrar.example\r\n"


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_question(profile: str) -> None:
    response, curi, hosts, server = ask("a.example", profile, server={"answers": {"a.example": ANSWER}})
    assert server.queries == [b"a.example\r\n"]
    assert (curi.status, curi.content_type, curi.server_ip, curi.digest) == (2001, "text/plain", "127.0.0.1", None)
    assert curi.recorder is not None
    assert (curi.recorder.response.read(), curi.content_size, response.body) == (ANSWER, len(ANSWER), ANSWER)
    assert (curi.ended_ms is None) == (profile == "heritrix")
    assert hosts.inquiry("a.example").referral == "whois.registrar.example"
    assert hosts.inquiry(curi.uri).ended_ms > 0
    assert not hosts.inquiry(curi.uri).failed


def test_the_words_of_a_question() -> None:
    assert ask("-T%20dn%20a.de")[-1].queries == [b"-T dn a.de\r\n"]
    assert ask("-T%20dn%20a.de", "heritrix")[-1].queries == [b"-T%20dn%20a.de\r\n"]
    assert ask("a%0D%0Ab")[1].status == -7
    assert query_line("whois://h/x?y", heritrix=False) == b"x?y\r\n"


@pytest.mark.parametrize(
    ("server", "values", "status", "reason"),
    [
        ({"fault": "stall"}, {"so_timeout_ms": 100}, -2, None),
        ({"fault": "reset"}, {}, -2, None),
        ({"endless": b"x" * 1000}, {"max_length_bytes": 20_000}, 2001, "length"),
        ({"endless": b"x" * 1000}, {"timeout_seconds": 0.2}, 2001, "time"),
        ({"fault": "close"}, {}, 2001, None),
    ],
)
def test_what_a_server_may_do(server: dict[str, Any], values: dict[str, Any], status: int, reason: str | None) -> None:
    _, curi, hosts, _ = ask("a.example", server=server, **values)
    assert curi.status == status
    if curi.recorder is not None:
        assert curi.recorder.truncated == ([reason] if reason else [])
    assert hosts.inquiry(curi.uri).failed == (status < 0)


def test_a_name_is_done_when_nobody_is_left_to_ask() -> None:
    response, curi, _ = run(fetched("whois://a.example/", uri="whois:a.example"))
    assert (curi.status, curi.content_size, response.body) == (2002, 0, b"")


class Known:
    """What is known of names and questions."""

    def __init__(self) -> None:
        self.rows: dict[str, Inquiry] = {}

    def __call__(self, key: str) -> Inquiry:
        return self.rows.setdefault(key, Inquiry())

    def answered(self, uri: str, *, refers: str = "", failed: bool = False) -> None:
        self(uri).ended_ms, self(uri).failed = 1, failed
        if refers:
            self(asked_name(uri)).referral = refers


def step(uri: str, known: Known) -> Any:
    return next_step(uri, known, WHOIS_QUERY_TEMPLATES)


def test_from_the_root_to_the_registrar() -> None:
    known = Known()
    assert step("whois:A.com", known) == Ask("whois://whois.iana.org/com")
    known.answered("whois://whois.iana.org/com", refers="whois.verisign-grs.com")
    registry = "whois://whois.verisign-grs.com/domain%20a.com"
    assert step("whois:a.com", known) == Ask(registry)
    known.answered(registry, refers="whois.registrar.example")
    assert step("whois:a.com", known) == Ask("whois://whois.registrar.example/a.com")
    known.answered("whois://whois.registrar.example/a.com", refers="whois.registrar.example")
    assert step("whois:a.com", known) == Done()
    assert step("whois:b.com", known) == Ask("whois://whois.verisign-grs.com/domain%20b.com")


def test_addresses() -> None:
    known = Known()
    first = "whois://whois.arin.net/z%20+%20192.0.2.1"
    assert step("whois:192.0.2.1", known) == Ask(first)
    known.answered(first, refers="whois.ripe.net:43")
    assert step("whois:192.0.2.1", known) == Ask("whois://whois.ripe.net:43/192.0.2.1")


def test_nobody_to_ask() -> None:
    known = Known()
    known.answered("whois://whois.iana.org/zz")
    assert isinstance(step("whois:a.zz", known), Lost)
    known = Known()
    known.answered("whois://whois.iana.org/com", refers="w.example")
    known.answered("whois://w.example/a.com", failed=True)
    assert isinstance(step("whois:a.com", known), Lost)
    assert isinstance(step("whois:a%20b", known), Lost)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ANSWER, "whois.registrar.example"),
        (b"refer: whois.x.example\nwhois:        whois.verisign-grs.com\n", "whois.verisign-grs.com"),
        (b"ReferralServer: whois://whois.ripe.net/\n", "whois.ripe.net"),
        (b"ReferralServer: rwhois://rwhois.x.example:4321\n", "rwhois.x.example:4321"),
        (b"   Whois Server (parent): http://x.example/\n", ""),
        (b"whois server: (none)\nwhoami: a.b\n", ""),
        (b"WHOIS SERVER: WHOIS.A.EXAMPLE\nwhois server: whois.b.example\n", "whois.b.example"),
    ],
)
def test_referrals(answer: bytes, found: str) -> None:
    assert referral(answer) == found


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("whois://h/a.com", "a.com"),
        ("whois://h/domain%20a.com", "a.com"),
        ("whois://h/z%20+%20192.0.2.1", "192.0.2.1"),
        ("whois://h/-T%20dn%20a.de", "a.de"),
        ("whois://h/domain", "domain"),
    ],
)
def test_whom_a_question_is_about(uri: str, name: str) -> None:
    assert asked_name(uri) == name


def test_queries_of_a_server() -> None:
    assert query_uri("whois.denic.de", "a.de", WHOIS_QUERY_TEMPLATES) == "whois://whois.denic.de/-T%20dn%20a.de"
    assert query_uri("w.example:99", "a.de", {}) == "whois://w.example:99/a.de"


def test_what_a_page_makes_one_ask() -> None:
    def asked(uri: str, *addresses: str) -> list[str]:
        links = inferred(uri, addresses, default_view("modern", fetch_whois=True))
        assert all((link.hop, link.context) == ("I", "=INFERRED_MISC") for link in links)
        return [link.uri for link in links]

    assert asked("http://www.a.co.uk/x", "192.0.2.1", "192.0.2.2") == ["whois:192.0.2.1", "whois:a.co.uk"]
    assert asked("https://u:p@a.example:8443/") == ["whois:a.example"]
    assert asked("http://192.0.2.1/", "192.0.2.1") == ["whois:192.0.2.1"]
    assert asked("http://intranet/", "10.0.0.1") == ["whois:10.0.0.1", "whois:intranet"]
    assert inferred("http://a.example/", ["192.0.2.1"], default_view()) == []
    assert asked("whois:a.example") == asked("http://[::1]/", "::1") == []


def test_what_comes_before_a_question() -> None:
    hosts = Hosts(lambda key: None)
    view = default_view("modern", fetch_whois=True)
    assert decide(CrawlURI("whois:a.com"), hosts, view, 0) == Prerequisite("whois://whois.iana.org/com")
    server = CrawlURI("whois://whois.iana.org/com")
    assert decide(server, hosts, view, 0) == Prerequisite("dns:whois.iana.org")
    assert decide(server, hosts, default_view("heritrix"), 0) == Proceed()
    hosts.inquiry("whois://whois.iana.org/com").ended_ms = 1
    decision = decide(CrawlURI("whois:a.com"), hosts, view, 0)
    assert isinstance(decision, Stop)
    assert decision.status == -62
    assert decide(CrawlURI("whois:a.com"), hosts, default_view("modern"), 0) == Proceed()


def test_names_of_requests() -> None:
    assert archived_name("whois://a.example/") == "whois:a.example"
    assert archived_name("whois://a.example/b") == "whois://a.example/b"
