"""Does pywb replay what we archived, byte for byte?"""

from __future__ import annotations

import http.client
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.crawls import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PYWB = ROOT / ".venv-pywb" / "bin" / "python"

SITE = {
    "www.alpha.test": {
        "routes": {
            "/": {
                "body": '<link rel="stylesheet" href="${http:static.alpha.test}/a.css"><img src="/a.png">Grüße',
                "type": "text/html; charset=utf-8",
                "chunks": {"sizes": [3, 10, 1]},
            },
            "/a.png": {"type": "image/png", "fill": 5000},
        }
    },
    "static.alpha.test": {"routes": {"/a.css": {"type": "text/css", "body": "p { color: red }", "encode": "gzip"}}},
}


@contextmanager
def replayed(folder: Path, warcs: Sequence[Path]) -> Iterator[int]:
    """pywb over these files; the port it listens on."""
    assert PYWB.exists(), "pywb is not installed: make .venv-pywb/.installed"
    folder.mkdir()
    command = [str(PYWB), str(ROOT / "tests" / "web" / "replay.py"), str(folder), *map(str, warcs)]
    with (
        (folder / "pywb.log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            for line in process.stdout:
                if line.startswith("port "):
                    yield int(line.split()[1])
                    return
            raise AssertionError((folder / "pywb.log").read_text())
        finally:
            process.terminate()


def fetch(port: int, url: str) -> tuple[int, bytes]:
    """Status and payload of the archived *url*."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", f"/all/id_/{url}", headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    return response.status, response.read()


@pytest.mark.crawl
def test_page_stylesheet_and_image_replay_as_they_were_sent(serve, run_crawl, tmp_path):
    web = serve(SITE)
    crawl = run_crawl({"HERITRIX_SEEDS": [web.url("www.alpha.test")]}, web=web)
    assert crawl.returncode == 0, crawl.stderr
    asked = {"www.alpha.test": "/", "static.alpha.test": "/a.css"}
    places = [*asked.items(), ("www.alpha.test", "/a.png")]
    with replayed(tmp_path / "replay", crawl.warcs) as port:
        for host, path in places:
            exchange = next(e for e in web.requests if e.target == path)
            status, payload = fetch(port, web.url(host, path))
            assert status == 200, (host, path, payload)
            if path == "/":  # pywb takes the chunks apart
                page = web.filled(SITE["www.alpha.test"]["routes"]["/"]["body"])
                assert payload == page.encode()
            else:
                assert payload == bytes(exchange.sent).partition(b"\r\n\r\n")[2]
