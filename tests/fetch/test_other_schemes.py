"""Whole crawls over FTP and whois: what is logged, what is in the WARC, and what leads on."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from fastwarc.warc import ArchiveIterator

from tests.web.ftp import FtpServer
from tests.web.proxy import Proxy
from tests.web.whois import WhoisServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import RunCrawl, Serve
    from tests.crawls import Crawl

pytestmark = pytest.mark.crawl

TREE = {"/pub/read me.txt": b"read me", "/pub/deep/x.bin": bytes(range(256)) * 4000, "/other/secret.txt": b"no"}

IANA = b"domain: EXAMPLE\nwhois: whois.nic.example\n"
REGISTRY = b"Domain: A.EXAMPLE\nWhois Server: whois.nic.example\n"


@contextmanager
def serving(*servers: Any) -> Iterator[None]:
    """Servers in a thread of their own."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with AsyncExitStack() as stack:
            for server in servers:
                await stack.enter_async_context(server)
            started.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    loop, stop = started.result(timeout=20)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=20)


def records(crawl: Crawl) -> list[tuple[str, str, str, bytes]]:
    """(type, target, content type, block) of every record about FTP and whois, in order."""
    found = []
    for path in crawl.warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, parse_http=False):
                uri = record.headers.get("WARC-Target-URI", "")
                if uri.startswith(("ftp:", "whois:")):
                    kind = record.headers.get("Content-Type", "")
                    found.append((record.headers["WARC-Type"], uri, kind, record.reader.read()))
    return found


def test_a_directory_and_what_lies_below_it(serve: Serve, run_crawl: RunCrawl) -> None:
    ftp = FtpServer(TREE)
    web = serve({"ftp.test": {"ip": "127.0.0.1"}})
    with serving(ftp):
        base = f"ftp://ftp.test:{ftp.port}"
        crawl = run_crawl({"HERITRIX_SEEDS": [f"{base}/pub/"], "HERITRIX_SCOPE": "path"}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses == {
        "dns:ftp.test": [1],
        f"{base}/pub/": [226],
        f"{base}/pub/read%20me.txt": [226],
        f"{base}/pub/deep": [226],
        f"{base}/pub/deep/x.bin": [226],
    }
    assert not crawl.runtime_errors
    (line,) = [line for line in crawl.log if line.split()[3] == f"{base}/pub/deep"]
    assert line.split()[2] == "7"
    assert "ftpDirectoryList" in line
    about = [record for record in records(crawl) if record[1].endswith("me.txt")]
    assert [record[:3] for record in about] == [
        ("metadata", f"{base}/pub/read%20me.txt", "text/x-ftp-control-conversation"),
        ("resource", f"{base}/pub/read%20me.txt", "application/octet-stream"),
        ("metadata", f"{base}/pub/read%20me.txt", "application/warc-fields"),
    ]
    assert b"RETR /pub/read me.txt\r\n150 " in about[0][3]
    assert about[1][3] == b"read me"
    assert b"ftpFetchStatus: 226 done\r\n" in about[2][3]
    assert ("resource", f"{base}/pub/deep/x.bin", "application/octet-stream", TREE["/pub/deep/x.bin"]) in records(crawl)


def test_without_the_setting_it_is_not_fetched(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve({"ftp.test": {"ip": "127.0.0.1"}})
    crawl = run_crawl({"HERITRIX_SEEDS": ["ftp://ftp.test/"], "HERITRIX_PROFILE": "heritrix"}, web=web)
    assert crawl.statuses == {"ftp://ftp.test/": [-7]}


def test_whose_is_the_page(serve: Serve, run_crawl: RunCrawl) -> None:
    """From the page to its domain, from the root server to the registry; each question is asked once."""
    whois = WhoisServer(
        {"example": IANA, "www.a.example": b"x", "a.example": REGISTRY, "z + 127.0.0.9": b"OrgName: Loop\n"}
    )
    proxy = Proxy()
    site = {"www.a.example": {"ip": "127.0.0.9", "routes": {"/": {"body": "<html>a page</html>"}}}}
    names = ("whois.iana.org", "whois.nic.example", "whois.arin.net")
    web = serve({**site, **{name: {"ip": "127.0.0.1"} for name in names}})
    with serving(whois, proxy):
        proxy.ports[43] = whois.port
        page = web.url("www.a.example")
        settings = {
            "HERITRIX_SEEDS": [page],
            "HERITRIX_FETCH_WHOIS": True,
            "HERITRIX_SOCKS_PROXY_HOST": "127.0.0.1",
            "HERITRIX_SOCKS_PROXY_PORT": proxy.port,
            "HERITRIX_SCOPE": [
                "RejectDecideRule",
                "acceptSurts",
                ["MatchesRegexDecideRule", {"regex": "whois:.*"}],
                "PrerequisiteAcceptDecideRule",
            ],
        }
        crawl = run_crawl(settings, web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[page] == [200]
    assert {uri: status for uri, status in crawl.statuses.items() if uri.startswith("whois:")} == {
        "whois:127.0.0.9": [2002],
        "whois://whois.arin.net/z%20+%20127.0.0.9": [2001],
        "whois:a.example": [2002],
        "whois://whois.iana.org/example": [2001],
        "whois://whois.nic.example/a.example": [2001],
    }
    assert [record for record in records(crawl) if record[1].endswith("iana.org/example")] == [
        ("response", "whois://whois.iana.org/example", "text/plain", IANA)
    ]
    assert sorted(whois.queries) == [b"a.example\r\n", b"example\r\n", b"z + 127.0.0.9\r\n"]
