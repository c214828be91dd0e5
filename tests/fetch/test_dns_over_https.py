"""Names that are looked up over HTTPS (RFC 8484)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import dns.message
import pytest
from fastwarc.warc import ArchiveIterator
from scrapy import Request as ScrapyRequest
from scrapy.exceptions import DownloadCancelledError

from heritrix_scrapy.fetch.dns_handler import DnsDownloadHandler
from heritrix_scrapy.fetch.https_server import HttpsNameserver
from heritrix_scrapy.fetch.resolver import Answer, Lookup, Resolver
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.requests import bind
from tests.fetch.loopback import Server, Talk, make_crawler, run
from tests.fetch.test_tls_trust import server_context
from tests.web.dns import Answers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCrawl, Serve

SITE: dict[str, Any] = {
    "one.example": {"ips": ["127.0.0.5"], "ttl": 60},
    "many.example": {"ips": [f"127.1.1.{number}" for number in range(200)]},
    "empty.example": {"ips": [], "dns": "empty"},
    "broken.example": {"ips": [], "dns": "servfail"},
}


def said(body: bytes, status: str = "200 OK", kind: str = "application/dns-message", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


async def answers(talk: Talk) -> None:
    """What a true server says."""
    reply = Answers(SITE.get).reply(talk.head.partition(b"\r\n\r\n")[2], "tcp")
    assert reply is not None
    await talk.say(said(reply))


def look_up(script: Any, *names: str, keep: bool = True, seconds: float = 20.0) -> tuple[list[Lookup], Server]:
    async def work() -> tuple[list[Lookup], Server]:
        async with Server(script, keep=keep) as server:
            resolver = Resolver(over_https=server.url("/dns-query"), try_seconds=seconds / 2, all_seconds=seconds)
            found = [await resolver.lookup(name) for name in names]
            resolver.close()
            return found, server

    found: tuple[list[Lookup], Server] = run(work())
    return found


def test_answers_over_one_connection() -> None:
    found, server = look_up(answers, "one.example", "many.example", "empty.example", "broken.example", "no.example")
    kinds = (Answer.ADDRESSES, Answer.ADDRESSES, Answer.NO_ADDRESS, Answer.FAILED, Answer.NO_NAME)
    assert [each.answer for each in found] == list(kinds)
    assert found[0].sets == (("one.example.", 60, "A", ("127.0.0.5",)),)
    assert found[0].server == "127.0.0.1"
    assert len(found[1].sets[0].addresses) == 200  # more than a datagram holds
    assert server.connections == 1
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST /dns-query HTTP/1.1",
        b"Host: 127.0.0.1:%d" % server.port,
        b"Accept: application/dns-message",
        b"Content-Type: application/dns-message",
        b"Content-Length: %d" % len(body),
    ]
    assert body[:2] == b"\0\0"
    assert dns.message.from_wire(body).question[0].to_text() == "one.example. IN A"


def test_a_connection_that_was_closed_meanwhile() -> None:
    found, server = look_up(answers, "one.example", "one.example", keep=False)
    assert [each.answer for each in found] == [Answer.ADDRESSES] * 2
    assert server.connections == 2


async def other_question(talk: Talk) -> None:
    query = dns.message.make_query("other.example", "A", id=0)
    await talk.say(said(dns.message.make_response(query).to_wire()))


async def silence(talk: Talk) -> None:
    await talk.hang()


async def endless(talk: Talk) -> None:
    await talk.say(b"HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n\r\n")
    while True:
        await talk.say(b"\0" * 10_000)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (said(b"no", "503 Busy"), "answered 503 Busy"),
        (said(b"", "302 Found", more="Location: /other\r\n"), "answered 302 Found"),
        (said(b"<html>", kind="text/html"), "no DNS message"),
        (said(b"\0" * 11), "DNS"),
        (said(b"\0" * 12)[:-4], "no whole answer"),
        (b"", "no whole answer"),
        (b"SSH-2.0-x\r\n", "answered"),
        (other_question, "another question"),
        (endless, "no whole answer"),
        (silence, "timed out"),
    ],
)
def test_no_answer(script: Any, words: str) -> None:
    seconds = 0.4 if script is silence else 20.0
    (found,), server = look_up(script, "one.example", keep=False, seconds=seconds)
    assert (found.answer, found.addresses) == (Answer.FAILED, [])
    assert found.text
    assert words in found.text or script == said(b"\0" * 11)
    assert len(server.requests) <= 8


def test_a_server_that_is_not_there() -> None:
    async def work() -> Lookup:
        async with Server(b"") as server:
            url = server.url()
        return await Resolver(over_https=url, all_seconds=1.0).lookup("one.example")

    assert run(work()).answer is Answer.FAILED


@pytest.mark.parametrize(
    ("host", "trusted", "words"),
    [
        ("127.0.0.1", True, ""),
        ("127.0.0.1", False, "CERTIFICATE_VERIFY_FAILED"),
        ("localhost", True, "Hostname mismatch"),
    ],
)
def test_its_certificate_is_verified(
    host: str, trusted: bool, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name too: that the crawl takes any certificate is no reason to believe any address."""
    context = server_context(tmp_path, "self-signed")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))

    async def work() -> Lookup:
        async with Server(answers, keep=True, tls=context) as server:
            resolver = Resolver(over_https=server.url("/", "https", host), try_seconds=10, all_seconds=20)
            found = await resolver.lookup("one.example")
            resolver.close()
            return found

    found = run(work())
    assert found.answer is (Answer.FAILED if words else Answer.ADDRESSES)
    assert words in found.text


@pytest.mark.parametrize(
    "url", ["dns.example", "ftp://dns.example/", "https:///x", "https://a@b.example/", "https://b/ x"]
)
def test_no_address_of_a_server(url: str) -> None:
    with pytest.raises(ConfigurationError, match="HERITRIX_DNS_OVER_HTTP_SERVER"):
        DnsDownloadHandler.from_crawler(make_crawler(dns_over_http_server=url))


def test_a_template_is_an_address() -> None:
    assert HttpsNameserver("https://dns.example/dns-query{?dns}").url == "https://dns.example/dns-query"


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_look_up_is_a_capture(profile: str) -> None:
    async def work() -> tuple[CrawlURI, DnsDownloadHandler]:
        async with Server(answers, keep=True) as server:
            crawler = make_crawler(profile, dns_servers=["192.0.2.53"], dns_over_http_server=server.url("/q?x=1"))
            handler = DnsDownloadHandler.from_crawler(crawler)
            curi = CrawlURI("dns:one.example", path="P")
            request = ScrapyRequest("dns://one.example/")
            bind(request, curi)
            await handler.download_request(request)
            await handler.close()
            assert server.requests[0].startswith(b"POST /q?x=1 HTTP/1.1\r\n")
            return curi, handler

    curi, handler = run(work())
    assert curi.status == 1
    assert curi.recorder is not None
    assert curi.recorder.response.read().endswith(b"\none.example.\t\t60\tIN\tA\t127.0.0.5\n")
    # Heritrix names the first of the machine's servers, though it asked another
    assert curi.server_ip == ("192.0.2.53" if profile == "heritrix" else "127.0.0.1")
    assert handler.crawl.hosts.host("one.example").addresses == ["127.0.0.5"]


def test_a_cancelled_question_leaves_no_connection() -> None:
    async def work() -> None:
        async with Server(silence) as server:
            crawler = make_crawler(dns_over_http_server=server.url())
            handler = DnsDownloadHandler.from_crawler(crawler)
            request = ScrapyRequest("dns://one.example/")
            bind(request, CrawlURI("dns:one.example", path="P"))
            task = asyncio.ensure_future(handler.download_request(request))
            while not server.requests:
                await asyncio.sleep(0.005)
            await handler.close()
            with pytest.raises(DownloadCancelledError):
                await task

    run(work())


@pytest.mark.crawl
def test_a_crawl_without_another_name_server(serve: Serve, run_crawl: RunCrawl, tmp_path: Path) -> None:
    """PC-164: the look-ups go over HTTPS, and nothing else is asked."""
    hosts: dict[str, Any] = {}

    def reply(request: Any) -> dict[str, Any]:
        return {"type": "application/dns-message", "bytes": Answers(web.host).reply(request.body, "tcp")}

    hosts["dns.test"] = {"routes": {"/dns-query": reply}}
    hosts["site.test"] = {"routes": {"/": {"body": "<html>there</html>"}}}
    web = serve(hosts)
    server = web.hosts["dns.test"]["ips"][0]
    settings = {
        "HERITRIX_SEEDS": [web.url("site.test"), "http://gone.test/"],
        "HERITRIX_DNS_SERVERS": ["127.0.0.1:9"],  # nobody listens there
        "HERITRIX_DNS_OVER_HTTP_SERVER": f"http://{server}:{web.port}/dns-query",
    }
    crawl = run_crawl(settings)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[web.url("site.test")] == [200]
    assert crawl.statuses["dns:site.test"] == [1]
    assert crawl.statuses["dns:gone.test"] == [-1]
    assert crawl.statuses["http://gone.test/"] == [-6]
    (line,) = [line for line in crawl.log if line.split()[3] == "dns:site.test"]
    assert line.split()[6] == "text/dns"
    kept = []
    for path in crawl.warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, parse_http=False):
                if record.headers.get("WARC-Target-URI") == "dns:site.test":
                    kept.append((record.headers.get("WARC-IP-Address"), record.reader.read()))
    ((address, block),) = kept
    assert address == server
    assert block.endswith(b"\nsite.test.\t\t3600\tIN\tA\t%s\n" % web.hosts["site.test"]["ips"][0].encode())
