"""What can a page make the crawler do?"""

from __future__ import annotations

import json
import zlib

import pytest

from tests.test_web_wire import checked

ROBOTS = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}

# Addresses that nothing of ours fetches. Scrapy has handlers for the last three kinds, and takes the first for none.
STRANGE = [
    "mailto:somebody@pages.test",
    "tel:123",
    "unix:/tmp/socket",
    "whois:pages.test",
    "gopher://pages.test/",
    "http+unix://pages.test/",
    "file:///etc/hostname",
    "file://pages.test/etc/hostname",
    "s3://bucket/key",
    "ftp://pages.test/file",
]

MIDDLEWARE = '''"""Notes how large the bodies are that Scrapy's middlewares see."""

import json
from pathlib import Path


class Sizes:
    def process_response(self, request, response, spider=None):
        with Path(__file__).parents[1].joinpath("sizes").open("a") as file:
            file.write(json.dumps([request.url.rpartition("/")[2], len(response.body)]) + "\\n")
        return response
'''


@pytest.mark.crawl
@pytest.mark.parametrize("profile", [pytest.param("modern", marks=pytest.mark.long), "heritrix"])
def test_addresses_that_nothing_fetches_end_and_hold_nothing_up(serve, run_crawl, profile):
    links = "".join(f'<a href="{uri}">x</a><img src="{uri}?embedded">' for uri in STRANGE)
    pages = {"/robots.txt": ROBOTS, "/": {"body": links + '<a href="/after">y</a>'}, "/after": {"body": "<p>after"}}
    web = serve({"pages.test": {"routes": pages}})
    crawl = run_crawl(
        {
            "HERITRIX_PROFILE": profile,
            "HERITRIX_SEEDS": [web.url("pages.test")],
            "HERITRIX_SCOPE": [["AcceptDecideRule", {}]],
        },
        web=web,
    )
    assert crawl.returncode == 0, crawl.stderr
    statuses = crawl.statuses
    ended = {uri: found for uri, found in statuses.items() if not uri.startswith(("http:", "dns:"))}
    assert set(ended) >= set(STRANGE) - {"file:///etc/hostname"}  # no URI in Heritrix: it has no host
    met = {uri for uri in ended if uri.startswith(("ftp:", "whois:"))}  # there is no such server
    assert {code for uri, found in ended.items() if uri not in met for code in found} == {-7}
    assert {code for uri in met for code in ended[uri]} <= {-2, -7}
    assert statuses[web.url("pages.test", "/after")] == [200]
    assert "Traceback" not in crawl.stderr
    assert crawl.runtime_errors == []
    assert checked(crawl.warcs) == []


@pytest.mark.crawl
def test_nobody_unpacks_a_bomb_that_no_callback_waits_for(serve, project):
    bomb = zlib.compress(b"<a href='/after'>" + b" " * (100 << 20), 9)
    page = {"bytes": bomb, "headers": [["Content-Encoding", "deflate"]]}
    pages = {"/robots.txt": ROBOTS, "/bomb": page, "/after": {"body": "<p>after"}}
    web = serve({"pages.test": {"routes": pages}})
    made = project(
        {
            "HERITRIX_SEEDS": [web.url("pages.test", "/bomb")],
            "DOWNLOADER_MIDDLEWARES": {"crawl_project.sizes.Sizes": 1},
        },
        web=web,
        modules={"sizes": MIDDLEWARE},
    )
    crawl = made.run()
    assert crawl.returncode == 0, crawl.stderr
    sizes = dict(json.loads(line) for line in (made.folder / "sizes").read_text().splitlines())
    assert sizes["bomb"] == 8 << 20
    assert crawl.statuses[web.url("pages.test", "/after")] == [200]
