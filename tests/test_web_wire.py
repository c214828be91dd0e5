"""Is every byte in the WARC: the request as the server read it, the response as the server wrote it?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.web.corpus import BROKEN, NOTHING, WHOLE, final, site

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


# Heritrix takes a head line without a colon for a broken connection, and keeps interim responses in the block.
NOT_IN_HERITRIX = {"/no-colon"}


def blocks(paths: Iterable[Path], kind: WarcRecordType) -> dict[str, list[bytes]]:
    """Target URI -> the blocks of its records of this kind."""
    out: dict[str, list[bytes]] = {}
    for path in paths:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=kind, parse_http=False):
                out.setdefault(record.headers["WARC-Target-URI"], []).append(record.reader.read())
    return out


def checked(paths: Iterable[Path]) -> list[str]:
    """What ``warcio check`` has to say against the files."""
    out = []
    for path in paths:
        done = subprocess.run(
            [sys.executable, "-m", "warcio.cli", "check", str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            out.append(done.stdout + done.stderr)
    return out


@pytest.mark.crawl
@pytest.mark.parametrize("profile", ["modern", "heritrix"])
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_whole_answers_are_archived_as_they_were_sent(serve, run_crawl, profile, tls):
    web = serve(site(WHOLE))
    settings = {"HERITRIX_SEEDS": [web.url("corpus.test", tls=tls)], "HERITRIX_PROFILE": profile}
    crawl = run_crawl(settings, web=web)
    assert crawl.returncode == 0, crawl.stderr
    responses, requests = (blocks(crawl.warcs, kind) for kind in (WarcRecordType.response, WarcRecordType.request))
    asked = {web.url("corpus.test", e.target, tls=tls): e for e in web.requests}
    missing = [path for path in WHOLE if web.url("corpus.test", path, tls=tls) not in asked]
    assert missing == []
    wrong = []
    for url, exchange in asked.items():
        sent = bytes(exchange.sent)
        if profile == "heritrix" and exchange.target in NOT_IN_HERITRIX:
            assert url not in responses
            continue
        if [sent if profile == "heritrix" else final(sent)] != responses.get(url):
            wrong.append((url, "response", sent[:300], [block[:300] for block in responses.get(url, [])]))
        if [exchange.raw] != requests.get(url):
            wrong.append((url, "request", exchange.raw, requests.get(url)))
    assert wrong == []
    if profile == "modern":  # Heritrix's payload digest covers the chunk framing, which warcio takes off
        assert checked(crawl.warcs) == []


@pytest.mark.crawl
def test_what_came_before_a_fault_is_kept(serve, run_crawl):
    web = serve(site({**BROKEN, **NOTHING}))
    settings = {"HERITRIX_SEEDS": [web.url("corpus.test")], "HERITRIX_MAX_RETRIES": 1}
    crawl = run_crawl(settings, web=web)
    assert crawl.returncode == 0, crawl.stderr
    responses = blocks(crawl.warcs, WarcRecordType.response)
    for exchange in web.requests:
        kept = responses.get(web.url("corpus.test", exchange.target), [])
        assert all(bytes(exchange.sent).startswith(block) for block in kept), exchange.target
        if exchange.target in BROKEN:
            assert web.url("corpus.test", exchange.target) in crawl.statuses, exchange.target
        if exchange.target in NOTHING:
            assert kept == [], exchange.target
            assert crawl.statuses[web.url("corpus.test", exchange.target)][-1] < 0
    assert checked(crawl.warcs) == []
