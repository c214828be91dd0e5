"""robots.txt: which rules hold for whom, and what the end of its fetch means."""

from __future__ import annotations

from typing import Any

import pytest

from heritrix_scrapy.fetch import robots, robots_rules
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts, Server
from heritrix_scrapy.model.recorder import Recorder
from tests.adapters.fetch_preconditions import NOW, view_of

AGENT = "Mozilla/5.0 (compatible; heritrix/3.15 +http://archive.example/bot)"


def server(text: str | None) -> Server:
    return Server(robots=text, robots_valid=True, robots_fetched_ms=NOW)


def fetched(status: int, body: bytes = b"", *, attempts: int = 0, method: str = "GET") -> CrawlURI:
    curi = CrawlURI("http://h.example/robots.txt")
    curi.status, curi.attempts, curi.method = status, attempts, method
    curi.recorder = Recorder()
    curi.recorder.response.append(body)
    return curi


DISALLOW = b"User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        (AGENT, "heritrix"),
        ("Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/bot)", "archive.org_bot"),
        ("MyBot/1.0 (+http://example.org/heritrix)", "MyBot"),
        ("curl", "curl"),
        ("", ""),
    ],
)
def test_product_token(agent: str, token: str) -> None:
    assert robots_rules.product_token(agent) == token


@pytest.mark.parametrize(
    ("text", "path", "standard", "expected"),
    [
        (None, "/a", "rfc9309", True),
        ("", "/a", "rfc9309", True),
        ("User-agent: *\nDisallow: /a\n", "/a/b?c", "rfc9309", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b", "rfc9309", True),
        ("User-agent: *\nDisallow: /*.php$\n", "/a.php/b.php", "rfc9309", False),
        ("User-agent: *\nDisallow: /a%20b\n", "/a%20b", "rfc9309", False),
        ("User-agent: HERITRIX\nDisallow: /\n", "/a", "rfc9309", False),
        # a name that only the contact address has is not ours, unless one reads as Heritrix does
        ("User-agent: archive\nDisallow: /\n", "/a", "rfc9309", True),
        ("User-agent: archive\nDisallow: /\n", "/a", "heritrix", False),
    ],
)
def test_allowed(text: str | None, path: str, standard: str, expected: bool) -> None:
    assert robots.allowed(server(text), "http://h.example" + path, AGENT, standard) is expected


def test_crawl_delay() -> None:
    assert robots.crawl_delay(server("User-agent: *\nCrawl-delay: 7.5\nDisallow: /x\n"), AGENT) == 7.5
    assert robots.crawl_delay(server("User-agent: *\nDisallow: /x\n"), AGENT) is None
    assert robots.crawl_delay(server(None), AGENT) is None


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://h.example/robots.txt", True),
        ("https://h.example:8443/robots.txt?x=1", True),
        ("http://h.example/%72obots.txt", True),
        ("http://h.example/Robots.txt", False),
        ("http://h.example/a/robots.txt", False),
        ("http://h.example/?/robots.txt", False),
        ("http://h.example", False),
        ("ftp://h.example/robots.txt", False),
        ("dns:h.example", False),
    ],
)
def test_is_robots(uri: str, expected: bool) -> None:
    assert robots.is_robots(uri) is expected


def test_parsed_texts_are_bounded_by_their_size() -> None:
    parsed = robots_rules.Parsed(budget=30)
    texts = [f"User-agent: {n}\n" for n in range(5)]
    first = parsed.rules(texts[0])
    assert parsed.rules(str(texts[0])) is first
    for text in texts:
        parsed.rules(text)
    assert len(parsed) == 2
    long = "#" * 1000
    parsed.rules(long)
    assert len(parsed) == 1


def test_text_is_cut_at_a_whole_line_and_loses_its_byte_order_mark() -> None:
    assert robots.read_text(fetched(200, b"\xef\xbb\xbfUser-agent: *\n")) == "User-agent: *\n"
    line = b"Disallow: /abcdef\n"
    text = robots.read_text(fetched(200, line * 40_000))
    assert len(text) <= robots_rules.LIMIT
    assert text.endswith("/abcdef\n")
    assert robots.read_text(CrawlURI("http://h.example/robots.txt")) == ""


def test_compressed_text_is_read() -> None:
    import gzip

    curi = fetched(200, gzip.compress(DISALLOW))
    assert curi.recorder is not None
    curi.recorder.content_encoding = "gzip"
    assert robots.read_text(curi) == DISALLOW.decode()


def after(profile: str, *curis: CrawlURI, **values: Any) -> Server:
    found, view = Server(), view_of(profile, **values)
    for curi in curis:
        robots.update_robots(found, curi, NOW, view)
    return found


@pytest.mark.parametrize("status", [301, 304, 401, 403, 404, 410, 429, 500, 503, 1, -404])
def test_heritrix_allows_all_after_any_answer_but_success(status: int) -> None:
    found = after("heritrix", fetched(status, DISALLOW))
    assert (found.robots_valid, found.robots, found.robots_fetched_ms) == (True, None, NOW)


@pytest.mark.parametrize("status", [-2, -3, -4, -5, -6, -7, -5001, 0])
def test_heritrix_gives_up_at_the_fourth_try(status: int) -> None:
    for attempts in range(3):
        found = after("heritrix", fetched(status, attempts=attempts))
        assert (found.robots_valid, found.robots_fetched_ms) == (False, NOW)
    assert after("heritrix", fetched(status, attempts=3)).robots_valid is True


def test_heritrix_takes_a_post_for_a_failure() -> None:
    assert after("heritrix", fetched(200, DISALLOW, method="POST")).robots_valid is False


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_rules_of_a_success(profile: str) -> None:
    found = after(profile, fetched(200, DISALLOW))
    assert (found.robots_valid, found.robots) == (True, DISALLOW.decode())


@pytest.mark.parametrize("status", [301, 304, 401, 403, 404, 410, -404])
def test_rfc_allows_all_where_there_is_no_robots_txt(status: int) -> None:
    found = after("modern", fetched(status, DISALLOW))
    assert (found.robots_valid, found.robots) == (True, None)


@pytest.mark.parametrize("status", [429, 500, 503, -2, -3, -4, -5])
def test_rfc_asks_an_unreachable_server_again_and_then_forbids(status: int) -> None:
    found = after("modern", *(fetched(status) for _ in range(3)), max_retries=4)
    assert (found.robots_fetched_ms, found.robots_again_ms) == (-1, NOW + 900_000)
    robots.update_robots(found, fetched(status), NOW, view_of("modern", max_retries=4))
    assert (found.robots_valid, found.robots_fetched_ms) == (False, NOW)
    robots.update_robots(found, fetched(200), NOW, view_of("modern"))
    assert (found.robots_valid, found.robots_tries) == (True, 0)


@pytest.mark.parametrize("status", [-6, -7, -63, -5000, -5001, -5002])
def test_what_is_settled_is_not_asked_again(status: int) -> None:
    found = after("modern", fetched(status))
    assert (found.robots_valid, found.robots_fetched_ms) == (False, NOW)


def test_modern_ignores_what_was_not_a_get() -> None:
    assert after("modern", fetched(200, DISALLOW, method="POST")) == Server()


def test_rules_that_held_go_on_while_the_server_is_unreachable() -> None:
    found = after("modern", fetched(200, DISALLOW), fetched(-2))
    assert (found.robots_valid, found.robots) == (True, DISALLOW.decode())


def test_a_recording_that_cannot_be_read_is_logged() -> None:
    curi = fetched(200, DISALLOW)

    class Broken(Recorder):
        def entity(self, limit: int, *, decoded: bool = True) -> bytes:
            raise OSError("gone")

    curi.recorder = Broken()
    found = after("heritrix", curi)
    assert (found.robots_valid, found.robots) == (True, None)
    assert [str(error) for _, error in curi.errors] == ["gone"]


def test_note_robots_finds_the_server_and_settles_the_ignored() -> None:
    hosts = Hosts(lambda key: None)
    robots.note_robots(hosts, fetched(200, DISALLOW), NOW, view_of("modern"))
    assert hosts.server("h.example").robots == DISALLOW.decode()
    assert hosts.drain()

    ignored = fetched(-2)
    robots.note_robots(hosts, ignored, NOW, view_of("heritrix", robots_policy="ignore"))
    assert ignored.status == -404
    assert hosts.server("h.example").robots is None

    hosts.drain()
    page, deferred = CrawlURI("http://h.example/a"), fetched(-50)
    page.status = 200
    for curi in (page, deferred):
        robots.note_robots(hosts, curi, NOW, view_of("modern"))
    assert hosts.drain() == []
