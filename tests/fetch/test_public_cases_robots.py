"""What went wrong with robots.txt in other crawlers."""

from __future__ import annotations

from typing import Any

import pytest

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.fetch import robots
from heritrix_scrapy.fetch.preconditions import Prerequisite, Wait, decide
from heritrix_scrapy.fetch.robots_policy import (
    CustomRobotsPolicy,
    FirstNamedRobotsPolicy,
    MostFavoredRobotsPolicy,
    Policies,
    RobotsPolicy,
)
from heritrix_scrapy.fetch.robots_rules import LIMIT, HeritrixRules, StandardRules
from heritrix_scrapy.fetch.robots_tag import directives, says_noindex
from heritrix_scrapy.frontier.politeness import politeness_delay
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import Hosts, Server
from heritrix_scrapy.model.recorder import Recorder
from heritrix_scrapy.settings import default_view

NOW = 1_750_000_000_000
AGENT = "Mozilla/5.0 (compatible; mybot/1.0 +http://archive.example/bot)"


def allowed(text: str, *paths: str, agent: str = AGENT) -> list[bool]:
    rules = StandardRules(text)
    return [rules.allows(agent, "http://h.example" + path) for path in paths]


def fetched(uri: str, status: int, body: bytes = b"", **headers: str) -> CrawlURI:
    curi = CrawlURI(uri)
    curi.status = status
    curi.headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    curi.recorder = Recorder()
    curi.recorder.response.append(body)
    return curi


def test_a_byte_order_mark_pc_109() -> None:
    """PC-109"""
    curi = fetched("http://h.example/robots.txt", 200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n")
    assert allowed(robots.read_text(curi), "/", "/a") == [False, False]
    assert HeritrixRules(robots.read_text(curi, byte_order_mark=True)).allows(AGENT, "http://h.example/")


def test_an_escaped_slash_pc_111() -> None:
    """PC-111"""
    assert allowed("User-agent: *\nDisallow: /*%2F*\n", "/a/b", "/a%2Fb") == [True, False]


def test_other_than_ascii_pc_112() -> None:
    """PC-112"""
    assert allowed("User-agent: *\nDisallow: /b\u00fccher/\n", "/b%C3%BCcher/", "/bucher/") == [False, True]


def test_an_empty_disallow_pc_113() -> None:
    """PC-113"""
    assert allowed("User-agent: *\nDisallow: /x\nDisallow:\n", "/x", "/y") == [False, True]


def test_groups_of_one_agent_pc_115() -> None:
    """PC-115"""
    text = "User-agent: mybot\nDisallow: /a\n\nUser-agent: other\nDisallow: /\n\nUser-agent: mybot\nDisallow: /b\n"
    assert allowed(text, "/a", "/b", "/c") == [False, False, True]
    rules = HeritrixRules(text)
    assert [rules.allows("mybot", f"http://h.example/{path}") for path in "abc"] == [False, False, True]


def test_capitals_pc_116() -> None:
    """PC-116"""
    assert allowed("User-agent: MYBOT\nDisallow: /\n", "/") == [False]


def test_wildcards_pc_118() -> None:
    """PC-118"""
    assert allowed("User-agent: *\nDisallow: /*.pdf$\n", "/a.pdf", "/a.pdf?x") == [False, True]


def test_the_longest_rule_pc_126() -> None:
    """PC-126"""
    text = "User-agent: *\nAllow: /$\nAllow: /?hl=\nDisallow: /?hl=*&\nAllow: /file\nDisallow: /\n"
    paths = ("/", "/file/d/1/view", "/?hl=en", "/?hl=en&x=1", "/other")
    assert allowed(text, *paths) == [True, True, True, False, False]


def test_another_crawler_whose_name_is_part_of_ours_pc_222() -> None:
    """PC-222: in the heritrix profile the substring counts."""
    agent = "Mozilla/5.0 (compatible; heritrix_scrapy/1.0 +http://operator.example/)"
    text = "User-agent: heritrix\nDisallow: /\n\nUser-agent: *\nDisallow:\n"
    assert allowed(text, "/a", agent=agent) == [True]
    assert not HeritrixRules(text).allows(agent, "http://h.example/a")
    assert allowed(text, "/a", agent="heritrix") == [False]
    assert allowed("User-agent: heritrix/3.0\nDisallow: /\n", "/a", agent="heritrix") == [False]


def test_ignore_fetches_robots_txt_pc_128() -> None:
    """PC-128: once, and forbids nothing; ``unless_ignored`` spares it."""
    hosts = Hosts(lambda key: None)
    host = hosts.host("h.example")
    host.addresses, host.looked_up_ms, host.ttl = ["192.0.2.1"], NOW, 3600
    page = CrawlURI("http://h.example/a")
    view = default_view(robots_policy="ignore")
    assert decide(page, hosts, view, NOW) == Prerequisite("http://h.example/robots.txt")
    robots.note_robots(hosts, fetched("http://h.example/robots.txt", 200, b"User-agent: *\nDisallow: /\n"), NOW, view)
    assert decide(page, hosts, view, NOW)[0] == "192.0.2.1"
    sparing = default_view(robots_policy="ignore", fetch_robots="unless_ignored")
    assert decide(CrawlURI("http://h.example:81/a"), hosts, sparing, NOW)[0] == "192.0.2.1"


@pytest.mark.parametrize(("asked", "most", "waits"), [(3.0, 300, 3000), (600.0, 300, 300_000), (600.0, 600, 600_000)])
def test_a_crawl_delay_pc_129_pc_131(asked: float, most: int, waits: int) -> None:
    """PC-129, PC-131: it is heeded, up to what a setting says."""
    assert StandardRules(f"User-agent: *\nCrawl-delay: {asked}\n").crawl_delay(AGENT) == asked
    view = default_view(delay_factor=0.0, min_delay_ms=0, max_delay_ms=0, respect_crawl_delay_up_to_seconds=most)
    assert politeness_delay(view, NOW, NOW + 10, crawl_delay=asked) == waits


def test_an_ipv6_host_pc_133() -> None:
    """PC-133"""
    hosts = Hosts(lambda key: None)
    page = CrawlURI("http://[::1]:8080/a")
    assert decide(page, hosts, default_view(), NOW) == Prerequisite("http://[::1]:8080/robots.txt")


def extracted(body: str, **values: Any) -> CrawlURI:
    curi = fetched("http://h.example/", 200, body.encode())
    curi.content_type, curi.content_length = "text/html", len(body)
    Extraction(["ExtractorHTML"]).read(Document(curi, default_view(**values)))
    return curi


def test_a_capitalised_meta_tag_pc_134() -> None:
    """PC-134"""
    body = "<META NAME='ROBOTS' CONTENT='NOFOLLOW'><a href='/x'>x</a>"
    assert extracted(body).outlinks == []
    assert len(extracted(body, robots_policy="robotsTxtOnly").outlinks) == 1
    heeded = ["custom", {"custom_robots": "", "obey_meta_robots_nofollow": False}]
    assert len(extracted(body, robots_policy=heeded).outlinks) == 1


def test_several_rel_values_pc_135() -> None:
    """PC-135"""
    body = "<a rel='external nofollow' href='/x'>x</a><a rel='nofollower' href='/y'>y</a>"
    found = [link.uri for link in extracted(body, obey_rel_nofollow=True).outlinks]
    assert found == ["http://h.example/y"]


def test_noindex_pc_136() -> None:
    """PC-136: a page that says so is known, its links are followed; whether it is stored is a setting."""
    curi = extracted("<meta name=robots content=noindex><a href='/x'>x</a>")
    assert len(curi.outlinks) == 1
    view = default_view()
    assert says_noindex(curi, view)
    assert view.archive_noindex
    assert not says_noindex(extracted("<meta name=robots content='index, follow'>"), view)
    assert says_noindex(fetched("http://h.example/a.pdf", 200, X_Robots_Tag="noindex"), view)


# ---------------------------------------------------------------- beyond the public cases


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["nofollow, noarchive"], {"nofollow", "noarchive"}),
        (["otherbot: none"], set()),
        (["MyBot: none", "index"], {"none", "index"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST"], {"unavailable_after: 25 jun 2030 15:00:00 pst"}),
    ],
)
def test_x_robots_tag(values: list[str], expected: set[str]) -> None:
    assert directives(values, "mybot") == expected


def test_redirects_of_robots_txt() -> None:
    hosts, view = Hosts(lambda key: None), default_view()
    server = hosts.server("h.example")
    host = hosts.host("h.example")
    host.addresses, host.looked_up_ms, host.ttl = ["192.0.2.1"], NOW, 3600
    page = CrawlURI("http://h.example/a")
    here = "http://h.example/robots.txt"
    robots.note_robots(hosts, fetched(here, 301, location="http://other.example/r"), NOW, view)
    assert decide(page, hosts, view, NOW) == Prerequisite("http://other.example/r")
    target = page.prerequisite_child("http://other.example/r")
    assert robots.is_redirected_robots(target, hosts)
    target.status, target.recorder = 200, Recorder()
    target.recorder.response.append(b"User-agent: *\nDisallow: /a\n")
    robots.note_robots(hosts, target, NOW, view)
    assert server.robots == "User-agent: *\nDisallow: /a\n"
    assert hosts.server("other.example").robots is None
    assert not robots.is_redirected_robots(target, hosts)

    for at in range(robots.REDIRECTS):
        robots.update_robots(server, fetched(here, 302, location=f"/r{at}"), NOW, view)
        assert server.robots_from == f"http://h.example/r{at}"
    robots.update_robots(server, fetched(here, 302, location="/more"), NOW, view)
    assert (server.robots_from, server.robots_valid, server.robots) == (None, True, None)


@pytest.mark.parametrize("location", ["", "mailto:x@h.example", "/robots.txt", "http://", "ftp://h.example/robots.txt"])
def test_a_redirect_to_nowhere(location: str) -> None:
    server = Server()
    robots.update_robots(server, fetched("http://h.example/robots.txt", 302, location=location), NOW, default_view())
    assert (server.robots_valid, server.robots, server.robots_from) == (True, None, None)


def test_what_waits_for_robots_txt_waits_with_a_date_pc_121() -> None:
    """PC-121"""
    hosts, view = Hosts(lambda key: None), default_view()
    host = hosts.host("h.example")
    host.addresses, host.looked_up_ms, host.ttl = ["192.0.2.1"], NOW, 3600
    page = CrawlURI("http://h.example/a")
    robots.note_robots(hosts, fetched("http://h.example/robots.txt", 503), NOW, view)
    assert decide(page, hosts, view, NOW) == Wait(NOW + 900_000, "robots.txt prerequisite failed")
    assert decide(page, hosts, view, NOW + 900_000) == Prerequisite("http://h.example/robots.txt")
    ignoring = default_view(robots_policy="ignore")
    assert decide(page, hosts, ignoring, NOW)[0] == "192.0.2.1"


@pytest.mark.parametrize(("said", "text"), [("allow", None), ("disallow", robots.NOBODY)])
@pytest.mark.parametrize("status", [401, 403])
def test_a_forbidden_robots_txt_pc_122(status: int, said: str, text: str | None) -> None:
    """PC-122"""
    server, view = Server(), default_view(robots_forbidden=said)
    robots.update_robots(server, fetched("http://h.example/robots.txt", status), NOW, view)
    assert (server.robots_valid, server.robots) == (True, text)


def test_policies() -> None:
    policies = Policies()

    def of(name: Any, **values: Any) -> RobotsPolicy:
        return policies.of(default_view(robots_policy=name, **values))

    assert isinstance(of(["CustomRobotsPolicy", {"customRobots": "x"}]), CustomRobotsPolicy)
    assert of(["firstNamed", {"candidate_user_agents": ["a"]}]).should_masquerade  # type: ignore[attr-defined]
    assert isinstance(of("mine", available_robots_policies={"mine": "mostFavored"}), MostFavoredRobotsPolicy)
    assert isinstance(of("tests.fetch.test_public_cases_robots.Own"), Own)
    assert of("ignore") is of("ignore")


class Own(RobotsPolicy):
    """A policy of a project's own."""


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("rude", "no such robots policy"),
        ("no.such.Policy", "cannot be loaded"),
        ("builtins.object", "allows(curi, agent, rules)"),
        ("custom", "custom_robots"),
        (["custom", {"text": "x"}], "no property text"),
        (["firstNamed", {"candidate_user_agents": "x"}], "a list of names"),
        (["obey", 1, 2], "expected a name"),
    ],
)
def test_no_policy(name: Any, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word.replace("(", r"\(").replace(")", r"\)")):
        Policies().of(default_view(robots_policy=name))


def test_candidates() -> None:
    rules = StandardRules("User-agent: *\nDisallow: /\n\nUser-agent: special\nDisallow: /a\n")
    first = FirstNamedRobotsPolicy()
    first.candidate_user_agents = ["none", "special"]
    curi = CrawlURI("http://h.example/b")
    assert first.allows(curi, AGENT, rules)
    assert curi.user_agent == "special"
    favored = MostFavoredRobotsPolicy()
    favored.candidate_user_agents, favored.should_masquerade = ["none", "special"], False
    curi = CrawlURI("http://h.example/b")
    assert favored.allows(curi, AGENT, rules)
    assert curi.user_agent is None
    assert not favored.allows(CrawlURI("http://h.example/a"), AGENT, rules)


def test_heritrix_reads_so_much_and_no_more() -> None:
    text = "User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /" + " " * LIMIT + "\nUser-agent: c\nDisallow: /\n"
    rules = HeritrixRules(text)
    assert [rules.allows(agent, "http://h.example/x") for agent in "abc"] == [False, True, True]
