"""A crawl, and another one on what it remembers: whole crawls, as a user runs them."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from heritrix_scrapy.archive import cdxj
from heritrix_scrapy.commands.warc import verify
from tests.test_web_replay import fetch, replayed

if TYPE_CHECKING:
    from pathlib import Path

HOST = "again.test"
FILLER = "<p>" + "x" * 1500
PAGE = {"body": f"<title>kept</title><a href=/below>b</a>{FILLER}", "etag": '"1"'}
LINKED = ("page", "same", "large", "moved")
SITE: dict[str, Any] = {
    HOST: {
        "routes": {
            "/robots.txt": {"status": 404},
            "/": {"body": "<title>home</title>" + "".join(f"<a href=/{to}>x</a>" for to in LINKED)},
            "/moved": {"redirect": "/below"},
            "/page": PAGE,
            "/below": {"body": "below"},
            "/same": {"body": f"<title>same</title>{FILLER}", "chunks": 100},
            "/large": {"type": "application/octet-stream", "fill": 6_000_000},
        }
    }
}


def revisits(warcs: list[Path]) -> dict[str, Any]:
    found = {}
    for path in warcs:
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "revisit":
                    record.content_stream().read()
                    found[record.rec_headers.get_header("WARC-Target-URI")] = record.rec_headers
    return found


@pytest.mark.crawl
def test_a_second_crawl_stores_what_has_changed(serve: Any, project: Any, tmp_path: Path) -> None:
    web = serve(SITE)
    seed = web.url(HOST)
    settings = {
        "HERITRIX_SEEDS": [seed],
        "HERITRIX_FETCH_HISTORY": True,
        "HERITRIX_CONTENT_DIGEST_HISTORY": True,
        "HERITRIX_HISTORY_DIR": tmp_path / "history",
        "HERITRIX_CDXJ": True,
        "HERITRIX_WRITERS": ["warc", "mirror"],
    }
    crawl = project(settings, web=web)
    first = crawl.run()
    assert first.returncode == 0, first.stderr
    assert first.stats["heritrix/history/missed"] > 4
    second = crawl.run(jobdir=tmp_path / "second")
    assert second.returncode == 0, second.stderr
    again = cdxj.warcs_of(tmp_path / "second")
    found = revisits(again)
    page, same = found[seed + "page"], found[seed + "same"]
    assert page.get_header("WARC-Profile").endswith("1.1/revisit/server-not-modified")
    assert same.get_header("WARC-Profile").endswith("1.1/revisit/identical-payload-digest")
    lines = {line.split('"url": "')[1].split('"')[0]: line for line in cdxj.merged(cdxj.warcs_of(first.jobdir))}
    for uri, revisit in ((seed + "page", page), (seed + "same", same)):
        assert revisit.get_header("WARC-Refers-To-Target-URI") == uri
        stamp = "".join(char for char in revisit.get_header("WARC-Refers-To-Date") if char.isdigit())[:14]
        assert f" {stamp} " in lines[uri]
        assert revisit.get_header("WARC-Payload-Digest") in lines[uri]
    log = (tmp_path / "second" / "logs" / "crawl.log").read_text()
    assert f"{seed}below" in log
    assert "outlinksFromHistory" in log
    assert second.stats["heritrix/revisits/server-not-modified"] == 1
    for path in (*cdxj.warcs_of(first.jobdir), *again):
        assert verify(path)["problems"] == []
        with path.open("rb") as file:
            assert sum(1 for _ in FastIterator(file)) > 3
    assert (first.jobdir / "mirror").is_dir()
    # the latest capture of each is a revisit; a reader sees the page all the same
    whole = {"page": PAGE["body"].encode(), "same": SITE[HOST]["routes"]["/same"]["body"].encode(), "below": b"below"}
    with replayed(tmp_path / "replay", [*cdxj.warcs_of(first.jobdir), *again]) as port:
        for name, body in whole.items():
            assert fetch(port, seed + name) == (200, body)
        status, _ = fetch(port, seed + "moved")
        assert status == 302
        status, large = fetch(port, seed + "large")
        assert (status, len(large)) == (200, 6_000_000)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", f"/all/id_/{seed}large", headers={"Range": "bytes=100-199"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (206, large[100:200])
        assert fetch(port, f"dns:{HOST}")[0] != 200
