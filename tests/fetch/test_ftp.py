"""Is a file or a directory kept as the server gave it, and does every way to fail end with its status?"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError

from heritrix_scrapy.fetch.ftp import (
    BadReply,
    Reply,
    ReplyReader,
    extended_port,
    links,
    login_of,
    names,
    parent,
    passive_port,
    path_of,
)
from heritrix_scrapy.fetch.ftp_handler import FtpDownloadHandler
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.requests import bind
from tests.fetch.loopback import make_crawler, run
from tests.web.ftp import FtpServer

if TYPE_CHECKING:
    from scrapy.http import Response

TREE: dict[str, bytes | None] = {
    "/test.txt": b"hello world",
    "/dir/a b.txt": b"ab",
    "/dir/sub/deep.bin": b"\x00\xff" * 40_000,
    "/empty": None,
    "/dir/\udce9.txt": b"latin-1 in its name",
}

Outcome = tuple["Response | Exception", CrawlURI]


async def fetched(
    url: str, profile: str = "modern", *, spider: bool = False, meta: dict[str, Any] | None = None, **values: Any
) -> Outcome:
    values.setdefault("so_timeout_ms", 2000)
    handler = FtpDownloadHandler.from_crawler(make_crawler(profile, **values))
    request, curi = Request(url, meta=meta or {}), CrawlURI(url, spider_request=spider)
    bind(request, curi)
    try:
        return await handler.download_request(request), curi
    except Exception as error:
        return error, curi
    finally:
        await handler.close()


def fetch(
    path: str = "/test.txt", profile: str = "modern", *, faults: dict[str, Any] | None = None, **values: Any
) -> Any:
    """The outcome, the CrawlURI and the server of one fetch."""

    async def work() -> Any:
        async with FtpServer(TREE, **(faults or {})) as server:
            return *await fetched(server.url(path), profile, **values), server

    return run(work())


def body(curi: CrawlURI) -> bytes:
    assert curi.recorder is not None
    return curi.recorder.response.read()


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_a_file(profile: str) -> None:
    response, curi, server = fetch(profile=profile)
    assert (curi.status, curi.content_size, curi.server_ip) == (226, 11, "127.0.0.1")
    assert (curi.content_type, body(curi), curi.digest) == (
        "application/octet-stream",
        b"hello world",
        "sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN",
    )
    assert (response.body, response.status, str(response.ip_address)) == (b"hello world", 200, "127.0.0.1")
    assert [(link.hop, link.context) for link in curi.outlinks] == [("L", "=NAVLINK_MISC")]
    assert curi.outlinks[0].uri == server.url("/")
    assert curi.recorder.reply == "226 done"
    assert curi.recorder.conversation.startswith("220-Welcome\r\n of many words\r\n220 ready\r\nUSER anonymous\r\n331 ")
    assert "PASS password\r\n" in curi.recorder.conversation
    assert server.commands[-2:] == ["RETR /test.txt", "QUIT"]
    assert None not in (curi.began_ms, curi.ended_ms)


def test_a_directory() -> None:
    _, curi, server = fetch("/dir/")
    assert (curi.status, curi.content_type, curi.annotations) == (226, "text/plain", ["ftpDirectoryList"])
    assert body(curi) == b"a b.txt\r\nsub\r\n\xe9.txt\r\n"
    assert [link.uri for link in curi.outlinks] == [
        server.url("/dir/a%20b.txt"),
        server.url("/dir/sub"),
        server.url("/dir/%E9.txt"),
        server.url("/"),
    ]


def test_a_directory_as_heritrix_links_it() -> None:
    _, curi, server = fetch("/dir", "heritrix")
    assert [link.uri for link in curi.outlinks][:2] == [server.url("/dir/a+b.txt"), server.url("/dir/sub")]
    assert curi.outlinks[-1].uri == server.url("/")


def test_what_becomes_a_link_is_a_setting() -> None:
    _, curi, _ = fetch("/dir/", ftp_extract_from_dirs=False, ftp_extract_parent=False)
    assert curi.outlinks == []
    _, curi, _ = fetch("/dir/", max_outlinks=1)
    assert (len(curi.outlinks), curi.discarded_outlinks) == (2, 2)
    _, curi, _ = fetch("/empty")
    assert (curi.status, curi.content_size) == (226, 0)


def test_names_with_escapes() -> None:
    _, curi, server = fetch("/dir/%E9.txt")
    assert (curi.status, body(curi)) == (226, b"latin-1 in its name")
    _, curi, server = fetch("/dir/a%0D%0ADELE%20b.txt")
    assert (curi.status, server.connections) == (-7, 0)


@pytest.mark.parametrize(
    ("faults", "modern", "heritrix"),
    [
        ({"retr": "550 no such file"}, -404, 550),
        ({"retr": "450 busy"}, -2, 450),
        ({"login": "530 not you"}, -62, 226),
        ({"greeting": "421 too many"}, -2, -2),
        ({"greeting": b"SSH-2.0-x\r\n"}, -2, -2),
        ({"close": "greeting"}, -2, -2),
        ({"pasv": "refuse"}, 226, 502),
        ({"pasv": "refuse", "epsv": "refuse"}, -404, 502),
        ({"pasv": "227 somewhere"}, -2, -2),
        ({"pasv": "227 (1,2,3,4,0,0)"}, -2, -2),
        ({"port": 1}, -3, -3),
        ({"final": "426 broken off"}, 426, 426),
        ({"close": "control"}, 226, -2),
        ({"reset": "data", "after": 5}, 226, -2),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_a_server_may_do(faults: dict[str, Any], modern: int, heritrix: int) -> None:
    _, curi, _ = fetch(faults=faults)
    assert curi.status == modern
    if curi.status > 0 and faults != {"pasv": "refuse"}:
        assert curi.recorder is not None
        assert curi.recorder.truncated == ["disconnect"]
    if curi.status < 0:
        assert curi.error_text
        assert curi.errors[0][0] == "FetchFTP"
    _, curi, _ = fetch(profile="heritrix", faults=faults)
    assert curi.status == heritrix
    if heritrix in (550, 450, 502):
        assert curi.content_size == 0


def test_a_file_that_is_not_there() -> None:
    assert fetch("/nothing")[1].status == -404
    assert fetch("/nothing", "heritrix")[1].status == 550


@pytest.mark.parametrize(
    ("faults", "values", "notes", "reason", "size"),
    [
        ({"stall": "data", "after": 5}, {"so_timeout_ms": 100}, ["timeTrunc"], "time", 5),
        ({"stall": "data", "after": 5}, {"timeout_seconds": 0.2}, ["timeTrunc"], "time", 5),
        ({"stall": "end"}, {"so_timeout_ms": 100}, [], "disconnect", 11),
        ({}, {"max_length_bytes": 4}, ["lenTrunc"], "length", 4),
        ({"endless": b"x" * 1000}, {"max_length_bytes": 100_000}, ["lenTrunc"], "length", 100_000),
    ],
)
def test_limits_keep_what_came(
    faults: dict[str, Any], values: dict[str, Any], notes: list[str], reason: str, size: int
) -> None:
    response, curi, _ = fetch(faults=faults, **values)
    assert (curi.status, curi.annotations, curi.content_size) == (226, notes, size)
    assert curi.recorder.truncated == [reason]
    assert response.flags == ["dataloss"]
    assert fetch(profile="heritrix", faults=faults, **values)[1].status == -2


def test_silence_before_the_data() -> None:
    error, curi, _ = fetch(faults={"stall": "greeting"}, so_timeout_ms=100)
    assert isinstance(error, DownloadTimeoutError)
    assert (curi.status, curi.content_size) == (-2, 0)
    error, curi, _ = fetch(faults={"stall": "greeting"}, timeout_seconds=0.1)
    assert isinstance(error, DownloadTimeoutError)


def test_endless_talk_ends() -> None:
    """A server that never comes to its point costs neither memory nor time without end."""
    _, curi, _ = fetch(faults={"chatter": "220-" + "x" * 4000})
    assert curi.status == -2
    _, curi, _ = fetch(faults={"chatter": b"220 " + b"x" * 100_000})
    assert curi.status == -2


def test_rate() -> None:
    async def work() -> float:
        async with FtpServer({"/f": b"x" * 30_000}) as server:
            began = asyncio.get_running_loop().time()
            _, curi = await fetched(server.url("/f"), max_fetch_kb_sec=100)
            assert curi.content_size == 30_000
            return asyncio.get_running_loop().time() - began

    assert run(work()) >= 0.29


def test_whose_login() -> None:
    def said(login: str = "", **values: Any) -> list[str]:
        async def work() -> list[str]:
            async with FtpServer(TREE) as server:
                _, curi = await fetched(server.url("/test.txt", login), **values)
                assert curi.recorder is not None
                assert curi.recorder.conversation is not None
                return [*server.commands[:2], str("s3cret" in curi.recorder.conversation)]

        return run(work())  # type: ignore[no-any-return]

    assert said() == ["USER anonymous", "PASS password", "False"]
    assert said("me:s3cret@") == ["USER me", "PASS s3cret", "False"]
    assert said("me:s3cret@", profile="heritrix") == ["USER me", "PASS s3cret", "True"]
    assert said(ftp_username="we", ftp_password="s3cret") == ["USER we", "PASS s3cret", "False"]
    meta = {"ftp_user": "u", "ftp_password": "s3cret"}
    assert said(spider=True, meta=meta) == ["USER u", "PASS s3cret", "False"]
    assert said(meta=meta) == ["USER anonymous", "PASS password", "False"]


def test_a_login_never_breaks_its_line() -> None:
    with pytest.raises(ValueError, match="line end"):
        login_of("ftp://a%0D%0ADELE%20x:c@h/")


def test_the_address_in_a_passive_reply_is_not_heeded() -> None:
    """The server of the tests names 10.0.0.1 in each."""
    assert fetch()[1].status == 226


def test_ipv6() -> None:
    async def work() -> Outcome:
        async with FtpServer(TREE, "::1") as server:
            outcome = await fetched(server.url("/test.txt"))
            assert "PASV" not in server.commands
            return outcome

    try:
        _, curi = run(work())
    except OSError:
        return  # this machine has no IPv6
    assert (curi.status, curi.server_ip) == (226, "::1")


def test_private_addresses_are_refused() -> None:
    _, curi, server = fetch(refuse_private_addresses=True)
    assert (curi.status, server.connections) == (-5001, 0)


def test_a_host_without_an_address() -> None:
    _, curi = run(fetched("ftp://unknown.example/"))
    assert curi.status == -6


def test_no_way_around_an_http_proxy() -> None:
    _, curi, server = fetch(http_proxy_host="127.0.0.1", http_proxy_port=1)
    assert (curi.status, server.connections) == (-7, 0)


@pytest.mark.parametrize("keep", [True, False])
def test_cancelled(keep: bool) -> None:
    async def work() -> None:
        async with FtpServer(TREE, stall="data", after=5) as server:
            handler = FtpDownloadHandler.from_crawler(make_crawler())
            request, curi = Request(server.url("/test.txt")), CrawlURI(server.url("/test.txt"))
            bind(request, curi)
            task = asyncio.ensure_future(handler.download_request(request))
            while not (handler.in_flight() and handler.in_flight()[0].received):
                await asyncio.sleep(0.005)
            assert handler.in_flight()[0].step == "receiving"
            assert handler.cancel(curi, keep=keep)
            with pytest.raises(DownloadCancelledError):
                await task
            assert not handler.cancel(curi, keep=keep)
            assert (curi.killed, curi.status) == ((True, 0) if keep else (False, -7000))
            if keep:
                assert body(curi) == b"hello"
                assert curi.annotations == ["cancelled"]

    run(work())


def test_cut_off_by_the_end_of_the_crawl() -> None:
    async def work() -> CrawlURI:
        async with FtpServer(TREE, stall="greeting") as server:
            handler = FtpDownloadHandler.from_crawler(make_crawler())
            request, curi = Request(server.url("/test.txt")), CrawlURI(server.url("/test.txt"))
            bind(request, curi)
            task = asyncio.ensure_future(handler.download_request(request))
            await asyncio.sleep(0.02)
            handler.abort()
            with pytest.raises(DownloadCancelledError):
                await task
            return curi

    curi = run(work())
    assert (curi.deferral, curi.status, curi.recorder) == ("stopped", 0, None)


# -- the texts alone ------------------------------------------------------------------------------------------------


def test_replies() -> None:
    reader = ReplyReader()
    assert reader.feed(b"220-a\r\n") is None
    assert reader.feed(b"221 not the end\r\n") is None
    assert reader.feed(b" 220 nor this\r\n") is None
    assert reader.feed(b"220 end\n") == Reply(220, ("220-a", "221 not the end", " 220 nor this", "220 end"))
    assert reader.feed(b"200") == Reply(200, ("200",))
    for line in (b"hello\r\n", b"", b"2200 x", b"620 x", b"22 x"):
        with pytest.raises(BadReply):
            ReplyReader().feed(line)


@pytest.mark.parametrize(
    ("text", "port"),
    [("227 Entering Passive Mode (1,2,3,4,5,6).", 1286), ("227 1,2,3,4,0,21", 21), ("227 (1,2,3,4,256,1)", None)],
)
def test_passive(text: str, port: int | None) -> None:
    if port is None:
        with pytest.raises(BadReply):
            passive_port(Reply(227, (text,)))
    else:
        assert passive_port(Reply(227, (text,))) == port


@pytest.mark.parametrize(("text", "port"), [("229 ok (|||6446|)", 6446), ("229 (!!!1!)", 1), ("229 (|||70000|)", None)])
def test_extended(text: str, port: int | None) -> None:
    if port is None:
        with pytest.raises(BadReply):
            extended_port(Reply(229, (text,)))
    else:
        assert extended_port(Reply(229, (text,))) == port


def test_listings_in_any_split() -> None:
    listing = b"a\r\n\r\nb c\n./d\n.\n..\ne/f\n" + b"x" * 5000 + b"\nlast"
    whole = list(names([listing]))
    assert whole == [b"a", b"b c", b"./d", b".", b"..", b"e/f", b"last"]
    for size in (1, 2, 3, 7, 1000):
        assert list(names(listing[at : at + size] for at in range(0, len(listing), size))) == whole
    assert list(links("ftp://h/d", [listing], heritrix=False)) == [
        "ftp://h/d/a",
        "ftp://h/d/b%20c",
        "ftp://h/d/d",
        "ftp://h/d/last",
    ]


@pytest.mark.parametrize(
    ("uri", "modern", "heritrix"),
    [
        ("ftp://h/", None, None),
        ("ftp://h/a", "ftp://h/", "ftp://h/"),
        ("ftp://h/a/b", "ftp://h/a", "ftp://h/a"),
        ("ftp://h/a/b/", "ftp://h/a", "ftp://h/a/b"),
        ("ftp://u:p@h:2121/a/b", "ftp://u:p@h:2121/a", "ftp://u:p@h:2121/a"),
    ],
)
def test_parents(uri: str, modern: str | None, heritrix: str | None) -> None:
    assert (parent(uri, heritrix=False), parent(uri, heritrix=True)) == (modern, heritrix)


def test_paths() -> None:
    assert path_of("ftp://h/a%20b%E9") == b"/a b\xe9"
    assert path_of("ftp://h") == b"/"
    for bad in ("ftp://h/a%0Ab", "ftp://h/a%0D", "ftp://h/%00"):
        with pytest.raises(ValueError, match="line end"):
            path_of(bad)
