"""Fetches under way: what they tell, how they are cancelled, and what happens when descriptors run out."""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, IgnoreRequest

from heritrix_scrapy.fetch import http_fetch
from heritrix_scrapy.fetch.addresses import is_private
from heritrix_scrapy.fetch.connect import open_files_limit, raise_open_files_limit
from heritrix_scrapy.model.crawluri import CrawlURI
from tests.fetch.loopback import Server, Talk, fetch, handler_of, make_crawler, run

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 50\r\n\r\n"


async def half(talk: Talk) -> None:
    await talk.say(HEAD + b"<p>half")
    await talk.hang()


async def nothing(talk: Talk) -> None:
    await talk.hang()


async def told(handler: Any, step: str) -> None:
    """Wait until the one fetch under way is at this step."""
    while [flight.step for flight in handler.in_flight()] != [step]:
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("keep", [True, False])
def test_a_fetch_is_cancelled_in_its_body(keep: bool) -> None:
    async def work() -> Any:
        async with Server(half) as server, handler_of(make_crawler()) as handler:
            curi = CrawlURI(server.url())
            assert handler.in_flight() == []
            task = asyncio.ensure_future(fetch(handler, curi.uri, curi=curi))
            await told(handler, "receiving")
            flight = handler.in_flight()[0]
            while handler.in_flight()[0].received < len(HEAD) + 7:
                await asyncio.sleep(0.005)
            assert flight.curi is curi
            assert not handler.cancel(CrawlURI(curi.uri), keep=keep)
            assert handler.cancel(curi, keep=keep)
            return *await task, handler.in_flight()

    error, curi, left = run(work())
    assert isinstance(error, DownloadCancelledError)
    assert left == []
    if keep:
        assert curi.killed
        assert (curi.status, curi.annotations) == (200, ["cancelled"])
        assert curi.recorder.response.read() == HEAD + b"<p>half"
        assert curi.recorder.truncated == ["unspecified"]
    else:
        assert (curi.status, curi.recorder, curi.killed) == (-7000, None, False)
    assert curi.deferral is None


def test_a_fetch_without_a_head_keeps_nothing() -> None:
    async def work() -> Any:
        async with Server(nothing) as server, handler_of(make_crawler()) as handler:
            curi = CrawlURI(server.url())
            task = asyncio.ensure_future(fetch(handler, curi.uri, curi=curi))
            await told(handler, "waiting for the answer")
            assert handler.cancel(curi, keep=True)
            return await task

    error, curi = run(work())
    assert isinstance(error, DownloadCancelledError)
    assert (curi.status, curi.recorder, curi.killed) == (-7000, None, False)


def test_a_fetch_is_cancelled_while_it_connects() -> None:
    async def work() -> Any:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with handler_of(make_crawler()) as handler:
            curi = CrawlURI(f"https://127.0.0.1:{port}/")
            task = asyncio.ensure_future(fetch(handler, curi.uri, curi=curi))
            await told(handler, "connecting")
            await asyncio.sleep(0.05)
            assert handler.cancel(curi, keep=True)
            found = await task
        server.close()
        return found

    error, curi = run(work())
    assert isinstance(error, DownloadCancelledError)
    assert curi.status == -7000


@pytest.mark.parametrize("cancelled", [True, False])
def test_addresses_without_number_do_not_make_a_fetch_longer(cancelled: bool) -> None:
    """Neither than its time, nor than an operator wants: the next address is not tried then."""

    async def work() -> Any:
        asked = []

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(writer)
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "0.0.0.0", 0)
        port = server.sockets[0].getsockname()[1]
        times = {} if cancelled else {"timeout_seconds": 0.5, "so_timeout_ms": 400}
        async with handler_of(make_crawler(**times)) as handler:
            host = handler.crawl.hosts.host("many.test")
            host.addresses, host.looked_up_ms = [f"127.0.0.{number}" for number in range(1, 31)], 0
            curi = CrawlURI(f"https://many.test:{port}/")
            task = asyncio.ensure_future(fetch(handler, curi.uri, curi=curi))
            if cancelled:
                while not asked:
                    await asyncio.sleep(0.005)
                assert handler.cancel(curi, keep=True)
            error, _ = await task
        server.close()
        return error, curi.status, len(asked)

    error, status, tried = run(work())
    assert isinstance(error, DownloadCancelledError if cancelled else DownloadTimeoutError)
    assert status == (-7000 if cancelled else -2)
    assert tried <= 2


# -- descriptors ------------------------------------------------------------------------------------------------


@pytest.fixture
def few_files() -> Iterator[None]:
    """No further descriptor, but a few for the loop and the server that a test needs first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_no_descriptor_for_a_connection_has_its_own_word(few_files: None) -> None:
    async def work() -> Any:
        async with Server(HEAD) as server, handler_of(make_crawler()) as handler:
            _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
            return *await fetch(handler, server.url()), handler.crawl.bridge.pause_reason

    error, curi, paused = run(work())
    assert "too many open files: the limit is 3" in str(error)
    assert (curi.status, paused) == (-2, None)


def test_no_descriptor_for_a_large_body_is_no_full_disk(few_files: None) -> None:
    async def large(talk: Talk) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        await talk.say(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65536] * 20)

    async def work() -> Any:
        async with Server(large) as server, handler_of(make_crawler()) as handler:
            return *await fetch(handler, server.url()), handler.crawl.bridge.pause_reason

    error, curi, paused = run(work())
    assert "too many open files" in str(error)
    assert (curi.status, curi.recorder, paused) == (-3, None, None)


def test_the_limit_is_raised_as_far_as_the_system_lets(few_files: None) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    assert raise_open_files_limit(300) == 300
    assert open_files_limit() == 300
    assert raise_open_files_limit(100) == 300


# -- private addresses ------------------------------------------------------------------------------------------

PRIVATE = """127.0.0.1 10.1.2.3 192.168.0.1 172.16.0.1 169.254.1.1 0.0.0.0 100.64.0.1 224.0.0.1 255.255.255.255 ::1 ::
fe80::1 fe80::1%eth0 fd00::1 ff02::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: no.address"""
PUBLIC = "8.8.8.8 93.184.216.34 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808"


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public_addresses(address: str) -> None:
    assert not is_private(address)


@pytest.mark.parametrize("known", [True, False], ids=["looked up", "not looked up"])
def test_a_private_address_is_never_connected_to(known: bool) -> None:
    async def work() -> Any:
        crawler = make_crawler(refuse_private_addresses=True)
        async with Server(HEAD) as server, handler_of(crawler) as handler:
            host = "h.example" if known else "localhost"
            if known:
                handler.crawl.hosts.host(host).addresses = ["127.0.0.1", "10.0.0.1"]
            return *await fetch(handler, server.url(host=host)), server.connections

    error, curi, connections = run(work())
    assert isinstance(error, IgnoreRequest)
    assert "HERITRIX_REFUSE_PRIVATE_ADDRESSES" in str(error)
    assert (curi.status, connections) == (-5001, 0)


def test_each_record_of_a_name_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of loopback is private: here the second address stands for a public one."""

    def private(address: str) -> bool:
        return address != "127.0.0.2"

    async def work() -> Any:
        monkeypatch.setattr(http_fetch, "is_private", private)
        crawler = make_crawler(refuse_private_addresses=True)
        async with Server(HEAD + b"x") as refused, handler_of(crawler) as handler:
            taken = await asyncio.start_server(answers, "127.0.0.2", refused.port)
            handler.crawl.hosts.host("both.example").addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.1"]
            try:
                return *await fetch(handler, refused.url(host="both.example")), refused.connections
            finally:
                taken.close()

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        writer.close()

    response, curi, connections = run(work())
    assert response.body == b"hello"
    assert (curi.status, curi.server_ip, connections) == (200, "127.0.0.2", 0)
