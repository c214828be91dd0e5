"""Logs and WARC files of whole crawls: what one says, the other holds."""

from __future__ import annotations

import json
import re

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.report.log_readers import complaints

PAGE = '<a href="/big">b</a><a href="/odd">o</a><a href="http://[::1/x">bad</a><a href="http://dead.test:1/">d</a>'
SITE = {
    "www.alpha.test": {
        "routes": {
            "/": {"body": f"<html>{PAGE}</html>"},
            "/big": {"body": "0123456789" * 200_000, "headers": [["Content-Type", "text/plain"]]},
            "/odd": {"body": "x", "headers": [["Content-Type", "te xt;é"]]},
        }
    },
}


@pytest.mark.crawl
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
def test_each_answer_in_the_log_is_where_the_log_says(serve, run_crawl, profile):
    web = serve(SITE)
    crawl = run_crawl(
        {
            "HERITRIX_PROFILE": profile,
            "HERITRIX_MAX_RETRIES": 6,
            "HERITRIX_LOG_EXTRA_INFO": True,
            "HERITRIX_JSON_CRAWL_LOG": True,
            "HERITRIX_ANNOTATE_CONTENT_SIZE": True,
            "HERITRIX_ANNOTATE_IP": True,
            "HERITRIX_SEEDS": [f"http://www.alpha.test:{web.port}/"],
        },
        web=web,
    )
    assert crawl.returncode == 0, crawl.stderr
    assert len(crawl.log) >= 5
    assert (crawl.jobdir / "warcs").exists() is (profile == "modern")
    warcs = {path.name: path for path in crawl.jobdir.rglob("*.warc.gz")}
    answered = 0
    for row in crawl.log:
        parts = row.split(" ")
        extra = json.loads(re.split(" +", row, maxsplit=12)[12])
        if int(re.split(" +", row)[1]) <= 0:
            assert "warcFilename" not in extra
            continue
        answered += 1
        with warcs[extra["warcFilename"]].open("rb") as stream:
            stream.seek(extra["warcFileOffset"])
            record = next(iter(ArchiveIterator(stream)))
            assert record.rec_headers["WARC-Target-URI"] in parts
            assert record.rec_type in ("response", "resource")
    assert answered >= 4
    assert crawl.stats["heritrix/uris/finished"] == len(crawl.log)
    ended = sum(crawl.stats[f"heritrix/frontier/{name}"] for name in ("succeeded", "failed", "disregarded"))
    assert (ended, crawl.stats["heritrix/frontier/queued"]) == (len(crawl.log), 0)
    assert f"{len(crawl.log)} URIs ended" in crawl.stderr
    logs = next(crawl.jobdir.rglob("progress-statistics.log")).read_text()
    assert "CRAWL ENDED - Finished" in logs
    launch = crawl.jobdir / "latest" if (crawl.jobdir / "latest").exists() else crawl.jobdir
    assert complaints(launch) == []
