"""DNS: what the resolver makes of every kind of answer, what is archived of it, what the Host learns."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError

from heritrix_scrapy.fetch.dns_handler import SYSTEM_TTL, DnsDownloadHandler, record_text
from heritrix_scrapy.fetch.resolver import Answer, RecordSet, Resolver, hosts_file, server_address
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.requests import bind
from tests.fetch.loopback import make_crawler, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Serve

SITE: dict[str, Any] = {
    "one.example": {"ip": "127.0.0.5", "ttl": 300},
    "two.example": {"ips": ["127.0.0.6", "127.0.0.7"], "ttl": 60},
    "alias.example": {"cname": "two.example"},
    "zero.example": {"ip": "0.0.0.0", "listen": False},
    "cut.example": {"ip": "127.0.0.8", "dns": "truncated"},
    "six.example": {"ip": "127.0.0.9", "aaaa": ["::1"], "ttl": 30},
    "gone.example": {"dns": "nxdomain"},
    "empty.example": {"dns": "empty"},
    "failing.example": {"dns": "servfail"},
    "refused.example": {"dns": "refused"},
    "silent.example": {"dns": "timeout"},
    "noise.example": {"dns": "garbage"},
    "other-id.example": {"dns": "wrong-id"},
}


@pytest.mark.parametrize(
    ("name", "answer", "addresses"),
    [
        ("one.example", Answer.ADDRESSES, ["127.0.0.5"]),
        ("two.example", Answer.ADDRESSES, ["127.0.0.6", "127.0.0.7"]),
        ("alias.example", Answer.ADDRESSES, ["127.0.0.6", "127.0.0.7"]),
        ("cut.example", Answer.ADDRESSES, ["127.0.0.8"]),
        ("zero.example", Answer.NO_ADDRESS, []),
        ("gone.example", Answer.NO_NAME, []),
        ("unknown.example", Answer.NO_NAME, []),
        ("empty.example", Answer.NO_ADDRESS, []),
        ("failing.example", Answer.FAILED, []),
        ("refused.example", Answer.FAILED, []),
        ("silent.example", Answer.FAILED, []),
        ("noise.example", Answer.FAILED, []),
        ("other-id.example", Answer.FAILED, []),
        ("a" * 64 + ".example", Answer.NO_NAME, []),
        ("a..example", Answer.NO_NAME, []),
    ],
)
def test_answers(serve: Serve, name: str, answer: Answer, addresses: list[str]) -> None:
    web = serve(SITE)
    found = run(Resolver([web.dns], try_seconds=0.1, all_seconds=0.3).lookup(name))
    assert (found.answer, sorted(found.addresses)) == (answer, addresses)  # servers shuffle
    if addresses:
        assert found.server == "127.0.0.1"
    else:
        assert found.text


def test_an_answer_that_was_cut_is_asked_for_over_tcp(serve: Serve) -> None:
    web = serve(SITE)
    run(Resolver([web.dns]).lookup("cut.example"))
    assert [question.over for question in web.questions] == ["udp", "tcp"]


def test_the_set_is_that_of_the_last_name(serve: Serve) -> None:
    web = serve(SITE)
    (found,) = run(Resolver([web.dns]).lookup("alias.example")).sets
    assert found[:3] == ("two.example.", 60, "A")
    assert sorted(found.addresses) == ["127.0.0.6", "127.0.0.7"]


def test_both_kinds(serve: Serve) -> None:
    web = serve(SITE)
    resolver = Resolver([web.dns])
    found = run(resolver.lookup("six.example", ("AAAA", "A")))
    assert (found.addresses, found.ttl) == (["::1", "127.0.0.9"], 30)
    found = run(resolver.lookup("one.example", ("AAAA", "A")))
    assert (found.answer, found.addresses) == (Answer.ADDRESSES, ["127.0.0.5"])


def test_the_next_server_is_asked_when_one_fails(serve: Serve) -> None:
    broken = serve({"one.example": {"dns": "servfail"}})
    web = serve(SITE)
    found = run(Resolver([broken.dns, web.dns]).lookup("one.example"))
    assert found.addresses == ["127.0.0.5"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1", ("192.0.2.1", 53)),
        ("192.0.2.1:5353", ("192.0.2.1", 5353)),
        ("::1", ("::1", 53)),
        ("[::1]:5353", ("::1", 5353)),
    ],
)
def test_servers_as_written(text: str, address: tuple[str, int]) -> None:
    assert server_address(text) == address


def test_a_server_that_is_none() -> None:
    with pytest.raises(ConfigurationError, match="HERITRIX_DNS_SERVERS"):
        DnsDownloadHandler.from_crawler(make_crawler(dns_servers=["192.0.2.1:port"]))


def test_hosts_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("127.0.0.1 localhost Local.Example # here\n\nbad line\n::1 localhost\n# 10.0.0.1 no\n")
    assert hosts_file(path) == {"localhost": ["127.0.0.1", "::1"], "local.example": ["127.0.0.1"]}
    assert hosts_file(tmp_path / "none") == {}


def test_record_text_lines_up() -> None:
    sets = [
        RecordSet("example.org.", 300, "A", ("192.0.2.1",)),
        RecordSet("a.b.", 300, "A", ("192.0.2.1", "192.0.2.2")),
        RecordSet("www.example.com.", 60, "AAAA", ("2001:db8::1",)),
    ]
    assert record_text(1577934245999, sets) == (
        b"20200102030405\n"
        b"example.org.\t\t300\tIN\tA\t192.0.2.1\n"
        b"a.b.\t\t\t300\tIN\tA\t192.0.2.1\n"
        b"a.b.\t\t\t300\tIN\tA\t192.0.2.2\n"
        b"www.example.com.\t60\tIN\tAAAA\t2001:db8::1\n"
    )


async def ask(handler: DnsDownloadHandler, name: str) -> tuple[Any, CrawlURI]:
    request, curi = Request(f"dns://{name}/"), CrawlURI(f"dns:{name}", path="P")
    bind(request, curi)
    try:
        return await handler.download_request(request), curi
    except CannotResolveHostError as error:
        return error, curi


def look_up(web_dns: str, name: str, profile: str = "modern", **values: Any) -> tuple[Any, CrawlURI, Any]:
    async def work() -> tuple[Any, CrawlURI, Any]:
        handler = DnsDownloadHandler.from_crawler(make_crawler(profile, dns_servers=[web_dns], **values))
        outcome, curi = await ask(handler, name)
        await handler.close()
        return outcome, curi, handler.crawl.hosts.host(name)

    return run(work())


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_look_up_is_a_capture(serve: Serve, profile: str) -> None:
    response, curi, host = look_up(serve(SITE).dns, "two.example", profile)
    assert (curi.status, curi.content_type, curi.server_ip) == (1, "text/dns", "127.0.0.1")
    assert curi.recorder is not None
    record = curi.recorder.response.read()
    date, *lines = record.splitlines(keepends=True)
    assert len(date) == 15
    assert sorted(lines) == [
        b"two.example.\t\t60\tIN\tA\t127.0.0.6\n",
        b"two.example.\t\t60\tIN\tA\t127.0.0.7\n",
    ]
    assert (curi.content_size, curi.content_length, curi.recorder.body_at) == (len(record), len(record), 0)
    assert curi.digest == curi.recorder.body_digest
    assert (response.url, response.status, response.body) == ("dns://two.example/", 200, record)
    assert str(response.ip_address) == "127.0.0.1"
    assert (sorted(host.addresses), host.ttl) == (["127.0.0.6", "127.0.0.7"], 60)
    assert host.looked_up_ms == curi.ended_ms


@pytest.mark.parametrize(
    ("name", "profile", "final"),
    [
        ("gone.example", "modern", True),
        ("empty.example", "modern", True),
        ("failing.example", "modern", False),
        ("gone.example", "heritrix", False),
    ],
)
def test_no_address(serve: Serve, name: str, profile: str, final: bool) -> None:
    error, curi, host = look_up(serve(SITE).dns, name, profile)
    assert isinstance(error, CannotResolveHostError)
    assert (curi.status, curi.content_type, curi.digest, curi.recorder) == (-1, "text/dns", None, None)
    assert (host.addresses, host.ttl, host.failures, host.final) == ([], 0, 1, final)
    assert host.looked_up_ms == curi.ended_ms
    assert curi.error_text
    assert curi.errors


def test_the_last_failure_settles_it(serve: Serve) -> None:
    async def work() -> None:
        handler = DnsDownloadHandler.from_crawler(make_crawler(dns_servers=[serve(SITE).dns]))
        _, curi = await ask(handler, "failing.example")
        host = handler.crawl.hosts.host("failing.example")
        assert not host.final
        for listener in handler.crawl.before_finish:
            listener(curi)
        assert host.final

    run(work())


def test_numeric_hosts_are_not_looked_up(serve: Serve) -> None:
    web = serve(SITE)
    response, curi, host = look_up(web.dns, "127.0.0.300")
    assert (curi.status, curi.content_type, curi.began_ms, curi.content_size) == (1, "unknown", None, 0)
    assert response.body == b""
    assert (host.addresses, host.ttl) == (["127.0.0.44"], -1)
    assert web.questions == []


def test_localhost_is_the_systems(serve: Serve) -> None:
    response, curi, host = look_up(serve(SITE).dns, "localhost")
    assert (curi.status, curi.content_size, curi.digest, response.body) == (1001, 0, None, b"")
    assert set(host.addresses) <= {"127.0.0.1", "::1"}
    assert host.addresses
    assert host.ttl == SYSTEM_TTL


def test_no_host_name(serve: Serve) -> None:
    async def work() -> None:
        handler = DnsDownloadHandler.from_crawler(make_crawler(dns_servers=[serve(SITE).dns]))
        request, curi = Request("dns://a/"), CrawlURI("dns:a b")
        bind(request, curi)
        with pytest.raises(CannotResolveHostError):
            await handler.download_request(request)
        assert curi.status == -7

    run(work())


def test_who_asks_at_the_same_time_shares_the_question(serve: Serve) -> None:
    web = serve({"slow.example": {"ip": "127.0.0.5", "dns_delay": 0.1}})

    async def work() -> list[tuple[Any, CrawlURI]]:
        handler = DnsDownloadHandler.from_crawler(make_crawler("heritrix", dns_servers=[web.dns]))
        return list(await asyncio.gather(*(ask(handler, "slow.example") for _ in range(5))))

    for response, curi in run(work()):
        assert response.status == 200
        assert curi.status == 1
    assert len(web.questions) == 1
