"""What others reported about name look-ups, and what a hostile or dead name server may cost."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import dns.message
import dns.rrset
import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError

from heritrix_scrapy.fetch.dns_handler import LONGEST_TTL, DnsDownloadHandler, record_text
from heritrix_scrapy.fetch.preconditions import Prerequisite, Proceed, Stop, decide
from heritrix_scrapy.fetch.resolver import MOST_ADDRESSES, Answer, RecordSet, Resolver, absent_seconds
from heritrix_scrapy.fetch.turns import Turns
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.requests import bind
from heritrix_scrapy.settings import default_view
from tests.fetch.loopback import make_crawler, run

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve


def handler_of(web_dns: str, profile: str = "modern", **values: Any) -> DnsDownloadHandler:
    return DnsDownloadHandler.from_crawler(make_crawler(profile, dns_servers=[web_dns], **values))


async def ask(handler: DnsDownloadHandler, name: str) -> CrawlURI:
    request, curi = Request(f"dns://{name}/"), CrawlURI(f"dns:{name}", path="P")
    bind(request, curi)
    try:
        await handler.download_request(request)
    except CannotResolveHostError:
        pass
    return curi


def test_pc_160_a_failure_is_not_for_ever() -> None:
    """PC-160: a name that did not exist is asked for again when its zone's own time is over."""
    hosts = Hosts(lambda key: None)
    host = hosts.host("late.example")
    host.looked_up_ms, host.final, host.ttl = 1_000_000, True, 1800
    page, view = CrawlURI("http://late.example/"), default_view()
    decision = decide(page, hosts, view, 1_000_000 + 1_799_000)
    assert isinstance(decision, Stop)
    assert decision.status == -6
    assert decide(page, hosts, view, 1_000_000 + 1_801_000) == Prerequisite("dns:late.example")
    host.ttl = 0  # the zone said nothing: no sooner than any other retry
    assert isinstance(decide(page, hosts, view, 1_000_000 + 899_000), Stop)
    assert decide(page, hosts, view, 1_000_000 + 901_000) == Prerequisite("dns:late.example")
    host.ttl = 10**6  # and no later than an address would be
    assert decide(page, hosts, view, 1_000_000 + 21_601_000 + 10**9) == Prerequisite("dns:late.example")
    as_heritrix = default_view("heritrix")
    assert isinstance(decide(page, hosts, as_heritrix, 1_000_000 + 21_500_000), Stop)


def test_how_long_a_zone_says_that_a_name_is_absent() -> None:
    reply = dns.message.make_response(dns.message.make_query("x.example.", "A"))
    assert absent_seconds(reply) == 0
    reply.authority.append(dns.rrset.from_text("example.", 600, "IN", "SOA", "a.example. b.example. 1 2 3 4 300"))
    assert absent_seconds(reply) == 300


def test_pc_161_a_crawl_of_unresolvable_hosts_ends(serve: Serve, run_crawl: RunCrawl) -> None:
    """PC-161: every URI of a host without an address ends, and so does the crawl."""
    links = "".join(f'<img src="http://gone.test/{number}.png">' for number in range(300))
    web = serve(
        {
            "here.test": {"routes": {"/": {"body": f"<html>{links}</html>"}}},
            "gone.test": {"dns": "nxdomain"},
            "mute.test": {"dns": "servfail"},
        }
    )
    seeds = [web.url("here.test"), "http://gone.test/", "http://mute.test/", "http://mute.test/2"]
    crawl = run_crawl({"HERITRIX_SEEDS": seeds}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    ended = {uri: found for uri, found in crawl.statuses.items() if "gone.test" in uri or "mute.test" in uri}
    assert len(ended) == 300 + 1 + 2 + 2
    assert {found[-1] for uri, found in ended.items() if uri.startswith("http")} == {-6}
    assert ended["dns:gone.test"] == ended["dns:mute.test"] == [-1]


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_pc_162_an_unspecified_address_is_none(serve: Serve, profile: str) -> None:
    """PC-162: ``A 0.0.0.0`` is a failed look-up; beside a usable address it is passed over, and recorded."""
    web = serve(
        {
            "zero.test": {"ip": "0.0.0.0", "listen": False},
            "both.test": {"ips": ["0.0.0.0", "127.0.0.3"], "listen": False},
        }
    )

    async def work() -> None:
        handler = handler_of(web.dns, profile)
        assert (await ask(handler, "zero.test")).status == -1
        assert handler.crawl.hosts.host("zero.test").addresses == []
        curi = await ask(handler, "both.test")
        assert curi.status == 1
        assert handler.crawl.hosts.host("both.test").addresses == ["127.0.0.3"]
        assert curi.recorder is not None
        assert b"\t0.0.0.0\n" in curi.recorder.response.read()

    run(work())


def test_pc_167_two_thousand_names_at_once(serve: Serve) -> None:
    """PC-167: however many names are asked for at once, none fails because of the others; and a zone that is dead
    keeps nobody else waiting."""
    names = {f"n{number}.z{number % 200}.test": {"ip": "127.0.0.1", "listen": False} for number in range(400)}
    dead = {f"d{number}.dead.test": {"dns": "timeout"} for number in range(400)}
    web = serve({**names, **dead})

    async def work() -> None:
        handler = handler_of(web.dns)
        handler._resolver = Resolver([web.dns], try_seconds=60, all_seconds=60)
        waiting = [asyncio.ensure_future(ask(handler, name)) for name in dead]
        await asyncio.sleep(0)
        found = await asyncio.gather(*(ask(handler, name) for name in names))
        assert {curi.status for curi in found} == {1}
        assert not any(task.done() for task in waiting)
        assert len(handler.in_flight()) == len(dead)
        handler.abort()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(each) for each in ended} == {DownloadCancelledError}
        assert handler.in_flight() == []
        await handler.close()

    run(work())


def test_pc_168_an_address_is_of_a_host_and_a_port_of_a_uri() -> None:
    """PC-168: what is cached is the address alone."""
    hosts = Hosts(lambda key: None)
    host = hosts.host("a.example")
    host.addresses, host.ttl, host.looked_up_ms = ["192.0.2.1"], 60, 1
    view = default_view(fetch_robots="unless_ignored", robots_policy="ignore")
    for uri in ("http://a.example/", "http://a.example:8080/", "https://a.example/"):
        assert decide(CrawlURI(uri), hosts, view, 2) == Proceed("192.0.2.1")


def test_pc_168_both_ports_are_connected_to(serve: Serve, run_crawl: RunCrawl) -> None:
    """PC-168."""
    page = {"routes": {"/": {"body": "<html>one</html>"}}}
    web = serve({"two.test": page})
    seeds = [web.url("two.test"), web.url("two.test", tls=True)]
    crawl = run_crawl({"HERITRIX_SEEDS": seeds}, web=web)
    assert [crawl.statuses[seed] for seed in seeds] == [[200], [200]]
    assert set(crawl.statuses["dns:two.test"]) == {1}


def test_pc_169_the_text_of_a_record() -> None:
    """PC-169: 14 digits of time, then one line a record; no header that a reader could take for HTTP."""
    text = record_text(1_709_208_000_999, [RecordSet("b.io.", 60, "A", ("192.0.2.7",))])
    assert text == b"20240229120000\nb.io.\t\t\t60\tIN\tA\t192.0.2.7\n"


def test_a_cancelled_look_up(serve: Serve) -> None:
    web = serve({"mute.test": {"dns": "timeout"}})

    async def work() -> None:
        handler = handler_of(web.dns)
        request, curi = Request("dns://mute.test/"), CrawlURI("dns:mute.test", path="P")
        bind(request, curi)
        task = asyncio.ensure_future(handler.download_request(request))
        while not web.questions:
            await asyncio.sleep(0.005)
        (flight,) = handler.in_flight()
        assert (flight.curi, flight.step, flight.received) == (curi, "looking the name up", 0)
        assert handler.cancel(curi, keep=False)
        with pytest.raises(DownloadCancelledError):
            await task
        assert curi.status == -7000
        assert not handler.cancel(curi, keep=False)
        await handler.close()

    run(work())


def test_addresses_without_end(serve: Serve) -> None:
    """An answer may name thousands: the first are kept, all are archived."""
    many = [f"127.{number // 250 + 1}.{number % 250 + 1}.1" for number in range(300)]
    web = serve({"many.test": {"ips": many, "listen": False, "ttl": 2_000_000_000}})

    async def work() -> None:
        handler = handler_of(web.dns)
        curi = await ask(handler, "many.test")
        host = handler.crawl.hosts.host("many.test")
        assert len(host.addresses) == MOST_ADDRESSES
        assert host.ttl == LONGEST_TTL
        assert curi.recorder is not None
        assert curi.recorder.response.read().count(b"\n") == 301

    run(work())


def test_the_system_alone(serve: Serve) -> None:
    web = serve({"here.test": {"ip": "127.0.0.1", "listen": False}})

    async def work() -> None:
        handler = handler_of(web.dns, "heritrix", disable_java_dns_resolves=True)
        curi = await ask(handler, "localhost")
        assert (curi.status, curi.content_size) == (1001, 0)
        assert web.questions == []

    run(work())


def test_aliases_in_a_circle_end(serve: Serve) -> None:
    web = serve({"a.test": {"cname": "b.test", "listen": False}, "b.test": {"cname": "a.test", "listen": False}})
    began = time.monotonic()
    found = run(Resolver([web.dns], try_seconds=0.2, all_seconds=0.5).lookup("a.test"))
    assert found.answer in (Answer.FAILED, Answer.NO_ADDRESS, Answer.NO_NAME)
    assert time.monotonic() - began < 10


def test_turns() -> None:
    async def work() -> None:
        turns = Turns(total=2, of_zone=1, patience=0.05)
        began: list[str] = []
        never = asyncio.Event()

        async def look(name: str, zone: str, *, dead: bool) -> None:
            async with turns.turn(zone):
                began.append(name)
                if dead:
                    await never.wait()

        waiting = [asyncio.ensure_future(look(f"d{n}", "dead", dead=True)) for n in range(3)]
        waiting += [asyncio.ensure_future(look(f"o{n}", f"zone{n}", dead=True)) for n in range(3)]
        await asyncio.sleep(0)
        assert began == ["d0", "o0"]  # one of its zone, two in all
        await asyncio.gather(*(look(f"q{n}", "quick", dead=False) for n in range(5)))
        assert began[2:] == ["o1", "o2", "q0", "q1", "q2", "q3", "q4"]
        never.set()
        await asyncio.gather(*waiting)
        assert began[-2:] == ["d1", "d2"]

    run(work())
