"""What must come before a fetch."""

from __future__ import annotations

from typing import Any

import pytest

from heritrix_scrapy.fetch.credentials import FormCredential
from heritrix_scrapy.fetch.preconditions import (
    Decision,
    Prerequisite,
    Proceed,
    Stop,
    decide,
    mark,
)
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts, Server, server_key
from tests.adapters.fetch_preconditions import NOW, note_failure, note_lookup, view_of

HOUR = 3_600_000
PAGE = "http://h.example/p"
ROBOTS = Prerequisite("http://h.example/robots.txt")
DNS = Prerequisite("dns:h.example")
FORBID = "User-agent: *\nDisallow: /p\n"


class Known:
    """What is known of ``h.example`` before the decision."""

    def __init__(self, profile: str = "modern", **values: Any) -> None:
        self.hosts = Hosts(lambda key: None)
        self.view = view_of(profile, **values)

    def resolved(self, hours: float = 0, ttl: int = 60) -> Known:
        note_lookup(self.hosts.host("h.example"), ["192.0.2.1", "2001:db8::1"], ttl, NOW - int(hours * HOUR))
        return self

    def failed(self, hours: float = 0, *, final: bool = False) -> Known:
        note_failure(self.hosts.host("h.example"), NOW - int(hours * HOUR), final=final)
        return self

    def robots(self, text: str | None = None, hours: float = 0, *, valid: bool = True, tries: int = 0) -> Known:
        server: Server = self.hosts.server("h.example")
        server.robots, server.robots_valid, server.robots_tries = text, valid, tries
        server.robots_fetched_ms = NOW - int(hours * HOUR)
        server.robots_again_ms = server.robots_fetched_ms + 900_000 if tries else 0
        return self

    def decide(self, uri: str = PAGE, **options: Any) -> Decision:
        return decide(CrawlURI(uri), self.hosts, self.view, NOW, agent="heritrix", **options)


BOTH = pytest.mark.parametrize("profile", ["modern", "heritrix"])


@BOTH
def test_new_host(profile: str) -> None:
    known = Known(profile)
    assert known.decide() == DNS
    assert known.resolved().decide() == ROBOTS
    assert known.robots().decide() == Proceed("192.0.2.1")


@BOTH
@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("dns:h.example", Proceed(prerequisite=True)),
        ("whois:h.example", Proceed()),
        ("mailto:a@b.c", Stop(-7, "no server to fetch this URI from")),
        ("javascript:void(0)", Stop(-7, "no server to fetch this URI from")),
        ("ftp://h.example/f", DNS),
        ("http://192.0.2.5/p", Prerequisite("http://192.0.2.5/robots.txt")),
        ("http://user@h.example:8080/p", DNS),
    ],
)
def test_schemes(profile: str, uri: str, expected: Decision) -> None:
    assert Known(profile).decide(uri) == expected


@BOTH
def test_robots_txt_of_a_port_and_a_scheme_of_its_own(profile: str) -> None:
    known = Known(profile).resolved().robots()
    for server in ("https://h.example", "http://h.example:8080", "http://u@h.example:81"):
        assert known.decide(server + "/p?q") == Prerequisite(server + "/robots.txt")
    assert known.decide("ftp://h.example/f") == Proceed("192.0.2.1")


@BOTH
@pytest.mark.parametrize(
    ("hours", "ttl", "seconds", "expired"),
    [
        (1, 60, 21600, False),
        (5.9, 60, 21600, False),
        (7, 60, 21600, True),
        (7, 86400, 21600, False),
        (700, 60, 0, False),
    ],
)
def test_how_long_an_address_holds(profile: str, hours: float, ttl: int, seconds: int, expired: bool) -> None:
    known = Known(profile, ip_validity_duration_seconds=seconds).resolved(hours, ttl).robots()
    assert known.decide() == (DNS if expired else Proceed("192.0.2.1"))


def test_failed_look_up_in_heritrix() -> None:
    assert isinstance(Known("heritrix").failed(1).decide(), Stop)
    assert Known("heritrix").failed(7).decide() == DNS
    assert isinstance(Known("heritrix", ip_validity_duration_seconds=0).failed(700).decide(), Stop)


def test_failed_look_up_with_tries_left_is_waited_for() -> None:
    assert Known().failed(0.1).decide() == DNS
    assert Known().failed(0.1, final=True).decide() == Stop(-6, "no address for the host")
    assert Known().failed(7, final=True).decide() == DNS


@BOTH
@pytest.mark.parametrize(
    ("hours", "seconds", "expired"), [(23, 86400, False), (25, 86400, True), (700, 0, False), (1, 60, True)]
)
def test_how_long_robots_txt_holds(profile: str, hours: float, seconds: int, expired: bool) -> None:
    known = Known(profile, robots_validity_duration_seconds=seconds).resolved().robots(None, hours)
    assert known.decide() == (ROBOTS if expired else Proceed("192.0.2.1"))


@BOTH
def test_policies(profile: str) -> None:
    def decided(**values: Any) -> Decision:
        return Known(profile, **values).resolved().robots(FORBID).decide()

    stop = Stop(-9998, "robots.txt exclusion")
    for policy in ("obey", "classic", "robotsTxtOnly"):
        assert decided(robots_policy=policy) == stop
    assert decided(robots_policy="ignore") == Proceed("192.0.2.1")
    assert decided(calculate_robots_only=True) == Proceed("192.0.2.1", annotation="robotExcluded")
    assert isinstance(decided(robots_policy="none of these"), Stop)


@BOTH
def test_one_uri_may_be_excepted(profile: str) -> None:
    known = Known(profile).resolved()
    assert known.decide(obey=False) == ROBOTS
    assert known.robots(FORBID).decide(obey=False) == Proceed("192.0.2.1")


@BOTH
def test_robots_txt_is_fetched_under_ignore_unless_spared(profile: str) -> None:
    assert Known(profile, robots_policy="ignore").resolved().decide() == ROBOTS
    spared = Known(profile, robots_policy="ignore", fetch_robots="unless_ignored").resolved()
    assert spared.decide() == Proceed("192.0.2.1")
    assert Known(profile, fetch_robots="unless_ignored").resolved().decide() == ROBOTS


@BOTH
def test_robots_txt_itself(profile: str) -> None:
    known = Known(profile).resolved().robots("User-agent: *\nDisallow: /\n")
    assert known.decide("http://h.example/robots.txt?x") == Proceed("192.0.2.1", prerequisite=True)


def test_heritrix_fails_pages_while_robots_txt_is_not_valid() -> None:
    stop = Stop(-61, "robots.txt prerequisite failed")
    assert Known("heritrix").resolved().robots(valid=False, tries=1, hours=23).decide() == stop
    assert Known("heritrix").resolved().robots(valid=False, tries=1, hours=25).decide() == ROBOTS
    ignoring = Known("heritrix", robots_policy="ignore").resolved().robots(valid=False, tries=1)
    assert ignoring.decide() == stop


def test_modern_asks_an_unreachable_server_again_after_the_retry_delay() -> None:
    def known(hours: float, **values: Any) -> Known:
        return Known(**values).resolved().robots(valid=False, tries=4, hours=hours)

    assert known(0.1).decide() == Stop(-61, "robots.txt prerequisite failed")
    assert known(0.3).decide() == ROBOTS
    assert known(0.3, robots_validity_duration_seconds=0).decide() == ROBOTS
    assert known(0.1, robots_policy="ignore").decide() == Proceed("192.0.2.1")


LOGIN = FormCredential("h.example", "/login")


def test_login_first() -> None:
    known = Known().resolved().robots()
    options: dict[str, Any] = {"credentials": (FormCredential("h.example", ""), LOGIN)}
    login = "http://h.example/login"
    assert known.decide(**options) == Prerequisite(login)
    assert known.decide(**options, logged_in=lambda key, credential: credential is LOGIN) == Proceed("192.0.2.1")
    assert known.decide(credentials=(FormCredential("H.EXAMPLE", login),)) == Prerequisite(login)
    assert known.decide(credentials=(FormCredential("other.example", "/login"),)) == Proceed("192.0.2.1")
    assert known.decide(login, **options) == Proceed("192.0.2.1", prerequisite=True, login=LOGIN)


@pytest.mark.parametrize(("profile", "login"), [("modern", LOGIN), ("heritrix", None)])
def test_a_login_that_is_a_prerequisite_is_made(profile: str, login: FormCredential | None) -> None:
    known = Known(profile).resolved().robots()
    curi = CrawlURI(PAGE).prerequisite_child("http://h.example/login")
    decision = decide(curi, known.hosts, known.view, NOW, agent="heritrix", credentials=(LOGIN,))
    assert decision == Proceed("192.0.2.1", prerequisite=True, login=login)
    robots_txt = CrawlURI(PAGE).prerequisite_child("http://h.example/robots.txt")
    first = decide(robots_txt, known.hosts, known.view, NOW, agent="heritrix", credentials=(LOGIN,))
    assert first == Proceed("192.0.2.1", prerequisite=True)


def test_mark() -> None:
    curi = CrawlURI(PAGE)
    mark(curi, DNS)
    assert (curi.status, curi.prerequisite, curi.deferral) == (-50, "dns:h.example", "prerequisite")
    curi.reset_attempt()
    mark(curi, Stop(-9998, "robots.txt exclusion"))
    assert (curi.status, curi.error_text, curi.deferral) == (-9998, "robots.txt exclusion", None)
    curi.reset_attempt()
    mark(curi, Proceed("192.0.2.1", prerequisite=True, annotation="robotExcluded", login=LOGIN))
    assert (curi.status, curi.server_ip, curi.is_prerequisite) == (0, "192.0.2.1", True)
    assert (curi.annotations, curi.method) == (["robotExcluded"], "POST")


def test_a_name_that_cannot_be_looked_up_is_not_asked_for() -> None:
    assert Known().decide("http://h%20x.example/p") == Stop(-6, "not a name that DNS can look up")
    assert Known("heritrix").decide("http://h%20x.example/p") == Prerequisite("dns:h%20x.example")
    assert Known().decide("http://[2001:db8::1]/p") == Prerequisite("http://[2001:db8::1]/robots.txt")


@pytest.mark.parametrize("uri", ["whois:a+b.com/x", "whois:1.2.3.4/a@b", "dns:a.com/x", "mailto:a@b", "urn:a:b%20c"])
def test_what_is_no_host_name_is_no_server(uri: str) -> None:
    assert server_key(uri) == ""
