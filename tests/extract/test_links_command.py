"""Does ``scrapy heritrix links`` say who found what?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.commands import links as command

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "<a href=x>1</a><script>a='/y.html'; b='gtm.start'</script>"


@pytest.mark.parametrize("as_json", [True, False])
def test_the_links_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    assert command.run([str(page)], argparse.Namespace(json=as_json)) == 0
    out = capsys.readouterr().out
    if not as_json:
        assert "ExtractorHTML            L  http://localhost/x  a/@href" in out
        assert "3 links in http://localhost/page.html (text/html)" in out
        return
    answer = json.loads(out)
    assert [(link["extractor"], link["hop"], link["uri"]) for link in answer["links"]] == [
        ("ExtractorHTTP", "I", "http://localhost/favicon.ico"),
        ("ExtractorHTML", "L", "http://localhost/x"),
        ("ExtractorHTML", "X", "http://localhost/y.html"),
    ]


def test_what_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run([str(tmp_path / "none.html")], argparse.Namespace(json=False)) == 1
    assert command.run(["ftp://host/x"], argparse.Namespace(json=False)) == 1
    assert "only http and https" in capsys.readouterr().err


def test_an_address_is_fetched(serve, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    web = serve({"www.alpha.test": {"routes": {"/": {"body": PAGE}}}})
    address = f"http://{web.host('www.alpha.test')['ips'][0]}:{web.port}"
    assert command.run([f"{address}/no"], argparse.Namespace(json=False)) == 0
    assert "(text/html)" in capsys.readouterr().out
    page, body = command.load(f"{address}/")
    assert (page.status, body) == (200, PAGE.encode())
    assert command.run([f"{address}/"], argparse.Namespace(json=True)) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(link["extractor"], link["hop"], link["uri"]) for link in answer["links"]] == [
        ("ExtractorHTTP", "I", f"{address}/favicon.ico"),
        ("ExtractorHTML", "L", f"{address}/x"),
        ("ExtractorHTML", "X", f"{address}/y.html"),
    ]
