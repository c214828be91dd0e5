"""What is known of hosts and servers: bounded in memory, and the same after a restart."""

from __future__ import annotations

from heritrix_scrapy.model.challenge import Challenge
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.model.tally import Tally


def written(hosts: Hosts, rows: dict[bytes, bytes]) -> list[bytes]:
    drained = hosts.drain()
    rows.update(drained)
    return [key for key, _ in drained]


def test_robots_has_a_row_of_its_own_that_is_written_when_it_changes() -> None:
    rows: dict[bytes, bytes] = {}
    hosts = Hosts(rows.get)
    server = hosts.server("h.example")
    server.robots, server.robots_valid = "User-agent: *\n", True
    hosts.server_changed("h.example")
    assert sorted(written(hosts, rows)) == [b"hsh.example", b"hth.example"]
    assert hosts.server("h.example").robots == "User-agent: *\n"
    server.retry_at_ms = 7
    hosts.server_changed("h.example")
    assert written(hosts, rows) == [b"hsh.example"]

    later = Hosts(rows.get).server("h.example")
    assert (later.robots, later.robots_valid, later.retry_at_ms) == ("User-agent: *\n", True, 7)

    server.robots = None
    hosts.server_changed("h.example")
    written(hosts, rows)
    assert Hosts(rows.get).server("h.example").robots is None
    server.robots = ""
    hosts.server_changed("h.example")
    written(hosts, rows)
    assert Hosts(rows.get).server("h.example").robots == ""


def test_memory_is_bounded_by_number_and_by_text() -> None:
    rows: dict[bytes, bytes] = {}
    hosts = Hosts(rows.get, capacity=100, budget=10_000)
    for number in range(1000):
        server = hosts.server(f"h{number}.example")
        server.robots = "x" * 500
        hosts.server_changed(f"h{number}.example")
        written(hosts, rows)
        assert len(hosts._kept) <= 100
        assert sum(len(kept.robots or "") for kept in hosts._kept.values()) <= 11_000
    assert hosts.server("h3.example").robots == "x" * 500


def test_state_of_credentials_and_tallies_survive() -> None:
    rows: dict[bytes, bytes] = {}
    hosts = Hosts(rows.get)
    server = hosts.server("h.example")
    server.challenges.append(Challenge("digest", "R", {"nonce": "n"}, 3))
    server.logins.append("/login")
    for counts in hosts.tallies_of(CrawlURI("http://h.example/a")):
        Tally(counts).successes += 1
    hosts.province("http://(example,").attempts = 1
    hosts.province_changed("http://(example,")
    written(hosts, rows)
    later = Hosts(rows.get)
    assert later.server("h.example").challenges == [Challenge("digest", "R", {"nonce": "n"}, 3)]
    assert later.server("h.example").logins == ["/login"]
    assert later.server("h.example").tally.successes == later.host("h.example").tally.successes == 1
    assert later.province("http://(example,").attempts == 1
    Tally(later.tallies_of(CrawlURI("dns:h.example"))[0]).successes += 1
    assert (later.host("dns:").tally.successes, later.host("h.example").tally.successes) == (1, 1)
    assert Hosts(rows.get).server("other.example").challenges == []


def test_others_rows_come_along() -> None:
    hosts = Hosts(lambda key: None)
    hosts.others.append(lambda: [(b"k", b"v")])
    assert hosts.drain() == [(b"k", b"v")]
