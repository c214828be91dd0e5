"""Do the example project's scope, policy, seed source, fetcher and steps do in a whole crawl what they say?

One has bodies looked at by a scanner: here a server that speaks clamd's protocol and finds one word.
"""

from __future__ import annotations

import re
import socketserver
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from fastwarc.warc import ArchiveIterator

from tests.crawls import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import RunCrawl, Serve

pytestmark = pytest.mark.crawl

NEWS, BLOG, OTHER = "www.news.test", "blog.writer.test", "www.other.test"
VIRUS = "X5O-THE-TEST-VIRUS"
LINKS = ["/short", "/infected", "/large", "/strange", "/article", "/topic", "/" + "x" * 220]

SITE: dict[str, Any] = {
    NEWS: {
        "routes": {
            "/robots.txt": {"status": 404},
            "/favicon.ico": {"status": 404},
            "/": {
                "body": "<html>"
                + "".join(f"<a href={link}>x</a>" for link in LINKS)
                + f"<a href=${{http:{BLOG}}}/>b</a><a href=${{http:{OTHER}}}/>o</a></html>"
            },
            "/infected": {"body": f"<html>{VIRUS} <a href=/never>x</a></html>"},
            "/large": {"type": "application/octet-stream", "body": "y" * 900_000 + VIRUS},
            "/strange": {"body": "<html>PLEASE-FAIL</html>"},
            "/article": {
                "body": '<html><meta property="og:type" content="article"><img src=/pic.png><a href=/beyond></html>'
            },
            "/topic": {
                "body": "<html>calm</html>",
                "cases": [{"if": {"nth": 1}, "then": {"body": "<html>a flood in town</html>"}}],
            },
            "/pic.png": {"type": "image/png", "body": "pic"},
        },
        "default": {"body": "<html>page</html>"},
    },
    BLOG: {"default": {"body": "<html>blog</html>"}},
    OTHER: {"default": {"body": "<html>other</html>"}},
}


class Clamd(socketserver.StreamRequestHandler):
    """INSTREAM: pieces, each with its length in four bytes, to a piece of none."""

    def handle(self) -> None:
        assert self.rfile.read(10) == b"zINSTREAM\0"
        body = b""
        while length := int.from_bytes(self.rfile.read(4), "big"):
            body += self.rfile.read(length)
            if b"PLEASE-FAIL" in body:
                self.wfile.write(b"INSTREAM size limit exceeded. ERROR\0")
                return
        self.server.sizes.append(len(body))  # type: ignore[attr-defined]
        found = VIRUS.encode() in body
        self.wfile.write(b"stream: Test.Virus FOUND\0" if found else b"stream: OK\0")


class Gopher(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(b"you said " + self.rfile.readline().strip())


@contextmanager
def listening(handler: type[socketserver.BaseRequestHandler]) -> Iterator[Any]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.sizes = []  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example project's package can be imported by the crawls."""
    monkeypatch.setattr("tests.crawls.ROOT", f"{ROOT}:{ROOT / 'example_project'}")


def bodies(warcs: list[Path]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for path in warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, parse_http=False):
                if record.headers["WARC-Type"] in ("response", "resource"):
                    found.setdefault(record.headers["WARC-Target-URI"], []).append(record.reader.read())
    return found


def test_scope_seed_source_policy_and_steps(serve: Serve, run_crawl: RunCrawl, tmp_path: Path) -> None:
    web = serve(SITE)
    sites = tmp_path / "sites.csv"
    sites.write_text(f"address,wanted\n{web.url(NEWS)},yes\n{web.url(OTHER)},no\n")
    steps = {
        "before_fetch": ["example.steps.OnlyShort"],
        "after_fetch": ["example.scanning.Scan"],
        "after_extract": ["example.steps.StopAtArticles"],
        "disposition": ["example.steps.TopicSooner"],
    }
    with listening(Clamd) as clamd:
        settings = {
            "HERITRIX_SEED_SOURCE": "example.seeds.Spreadsheet",
            "SITES": str(sites),
            "HERITRIX_SCOPE": "example.scopes.WithBlogs",
            "HERITRIX_COST_ASSIGNMENT_POLICY": "example.policies.ByDepth",
            "HERITRIX_STEPS": steps,
            "CLAMD": f"127.0.0.1:{clamd.server_address[1]}",
            "TOPIC": ["storm", "flood"],
            "TOPIC_SECONDS": 0.5,
        }
        crawl = run_crawl(settings, web=web)
    assert crawl.returncode == 0, crawl.stderr
    ends = crawl.statuses
    kept = bodies(crawl.warcs)

    def notes(path: str) -> list[str]:
        return [line.split()[11] for line in crawl.log if line.split()[3] == web.url(NEWS, path)]

    # what is found is neither written nor read for links; large bodies are looked at to their last byte
    for path in ("/infected", "/large"):
        assert ends[web.url(NEWS, path)] == [-5002]
        assert "found:Test.Virus" in notes(path)[0]
        assert web.url(NEWS, path) not in kept
    assert web.url(NEWS, "/never") not in ends
    assert 900_000 + len(VIRUS) in clamd.sizes
    assert ends[web.url(NEWS, "/strange")] == [-5]
    assert web.url(NEWS, "/strange") not in kept
    assert any("size limit exceeded" in line for line in crawl.runtime_errors)
    assert ends[web.url(NEWS, LINKS[-1])] == [-5002]
    # an article's pictures, and not its links
    assert ends[web.url(NEWS, "/pic.png")] == [200]
    assert web.url(NEWS, "/beyond") not in ends
    # the topic once more
    assert ends[web.url(NEWS, "/topic")] == [200, 200]
    assert [("topic" in each) for each in notes("/topic")] == [True, False]
    # who was asked how often stands in the report
    report = (crawl.jobdir / "reports" / "processors-report.txt").read_text()
    for name in ("steps.OnlyShort", "scanning.Scan", "steps.StopAtArticles", "steps.TopicSooner"):
        told = re.search(rf"example\.{re.escape(name)}\n\s+(\d+) CrawlURIs", report)
        assert told is not None, report
        assert int(told[1]) >= 8
    # blogs from anywhere, and nobody else
    assert ends[web.url(BLOG)] == [200]
    assert web.url(OTHER) not in ends


def test_a_fetcher(serve: Serve, run_crawl: RunCrawl) -> None:
    web = serve(SITE)
    with listening(Gopher) as gopher:
        address = f"gopher://127.0.0.1:{gopher.server_address[1]}/0/about"
        settings = {"DOWNLOAD_HANDLERS": {"gopher": "example.fetchers.GopherDownloadHandler"}}
        spiders = "from example.spiders.pages import PagesSpider as Pages\n\nclass Own(Pages):\n    name = 'own'\n"
        crawl = run_crawl(settings, spiders, "-a", f"url={address}", name="own", web=web)
    assert crawl.returncode == 0, crawl.stderr
    assert crawl.statuses[address] == [200]
    assert bodies(crawl.warcs)[address] == [b"you said /about"]
    assert crawl.stats["item_scraped_count"] == 1
