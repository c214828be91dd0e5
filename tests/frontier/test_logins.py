"""User and password in an address: shown to their server, told to nobody else (PC-075)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastwarc.warc import ArchiveIterator

from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.logins import login_of, take_login, without_login

if TYPE_CHECKING:
    from tests.conftest import RunCrawl, Serve


@pytest.mark.parametrize(
    ("uri", "bare", "login"),
    [
        ("http://User:PassWord@example.com/a@b", "http://example.com/a@b", ("User", "PassWord")),
        ("https://u%40x:p%3A:q@example.com:8443/", "https://example.com:8443/", ("u@x", "p::q")),
        ("http://user@[::1]:80/", "http://[::1]:80/", ("user", "")),
        ("http://@example.com/", "http://example.com/", None),
        ("http://example.com/a@b", "http://example.com/a@b", None),
        ("http://example.com/?x=u:p@y", "http://example.com/?x=u:p@y", None),
        ("ftp://u:p@example.com/", "ftp://u:p@example.com/", None),
    ],
)
def test_a_login_is_no_part_of_a_name(uri: str, bare: str, login: tuple[str, str] | None) -> None:
    curi = CrawlURI(uri)
    take_login(curi)
    assert (curi.uri, without_login(uri), login_of(curi)) == (bare, bare, login)


def test_a_login_is_of_one_server() -> None:
    page = CrawlURI("http://u:p@example.com:8080/")
    take_login(page)
    for uri, wanted in (
        ("http://example.com:8080/next", ("u", "p")),
        ("http://example.com/next", None),
        ("https://example.com:8080/next", ("u", "p")),
        ("http://www.example.com:8080/", None),
    ):
        below = CrawlURI(uri)
        below.heritable = page.heritable
        assert login_of(below) == wanted, uri
    other = CrawlURI("http://x:y@other.example/")
    other.heritable = page.heritable
    take_login(other)
    assert login_of(other) == ("x", "y")
    assert login_of(page) == ("u", "p")


PAGE = "<html><title>in</title><a href=/below>b</a><a href='${http:other.test}/away'>a</a></html>"

SPIDER = """
from scrapy import Request, Spider

class Asks(Spider):
    name = "asks"
    async def start(self):
        yield Request(self.settings["PAGE"])
    def parse(self, response):
        yield {"said": response.status}
"""


@pytest.mark.crawl
@pytest.mark.parametrize("way", ["seed", "link", "redirect", "spider"])
def test_pc_075_a_login_is_shown_and_not_told(way: str, serve: Serve, run_crawl: RunCrawl) -> None:
    closed = {"status": 401, "headers": [["WWW-Authenticate", 'Basic realm="r"']], "body": "who are you?"}
    web = serve(
        {
            "in.test": {
                "routes": {"/robots.txt": {"status": 404}},
                "patterns": [["/.*", {**closed, "cases": [{"if": {"basic": "Me:PassWord"}, "then": {"body": PAGE}}]}]],
            },
            "other.test": {
                "routes": {
                    "/link": {"body": "<html><a href='http://Me:PassWord@in.test:${PORT}/'>in</a>"},
                    "/redirect": {"redirect": "http://Me:PassWord@in.test:${PORT}/"},
                },
                "default": {"body": "elsewhere"},
            },
        }
    )
    inside = f"http://Me:PassWord@in.test:{web.port}/"
    settings = {
        "HERITRIX_SEEDS": {"seed": [inside], "spider": []}.get(way, [web.url("other.test", f"/{way}")]),
        "HERITRIX_SCOPE": "broad",
        "HERITRIX_FOLLOW": "all",
        "HERITRIX_SOURCE_TAG_SEEDS": True,
        "PAGE": inside,
    }
    crawl = run_crawl(settings, SPIDER, web=web, name="asks" if way == "spider" else "archive")
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[web.url("in.test", "/")] == [200]
    assert crawl.statuses[web.url("in.test", "/below")] == [200]
    assert crawl.statuses[web.url("other.test", "/away")] == [200]
    assert not any(
        b"authorization:" in each.raw.lower() for each in web.requests if each.host == f"other.test:{web.port}"
    )
    for file in (crawl.jobdir / "logs").iterdir():
        assert b"PassWord" not in file.read_bytes(), file
    for file in (crawl.jobdir / "reports").glob("*"):
        assert b"PassWord" not in file.read_bytes(), file
    targets = []
    for path in crawl.warcs:
        with path.open("rb") as stream:
            targets += [record.headers.get("WARC-Target-URI", "") for record in ArchiveIterator(stream)]
    assert web.url("in.test", "/") in targets
    assert not any("PassWord" in target for target in targets)
