"""Does a sheet change what is found on the sites it holds for, and nowhere else?"""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.settings import read
from tests.extract.pages import fetched

PAGE = """<a href=1 rel=nofollow>1</a><a href="q>2">2</a><form action=f></form><form method=post action=p></form>
<input value="/v.html"><iframe src=frame></iframe><script>x='/s.html'; y='./Module'; z='readme.md'</script>
<style>a{b:url()}c{d:url(i.png)}</style><meta name=robots content=x>"""

EVERYTHING = ["ExtractorHTTP", "ExtractorHTML", "ExtractorJS"]


def found(settings: Any, host: str, **about: Any) -> list[tuple[str, str]]:
    curi, body = fetched(about.pop("content", PAGE), url=f"http://{host}/dir/page.html", **about)
    view = settings.for_uri(curi)
    Extraction(EVERYTHING).read(Document(curi, view, lambda limit: body[:limit]))
    return [(link.hop, link.uri.removeprefix(f"http://{host}")) for link in curi.outlinks]


@pytest.mark.parametrize(
    ("name", "value", "about", "gone", "come"),
    [
        ("EXTRACT_JAVASCRIPT", False, {}, {("X", "/s.html")}, set()),
        ("EXTRACT_VALUE_ATTRIBUTES", False, {}, {("L", "/v.html")}, set()),
        ("IGNORE_FORM_ACTION_URLS", True, {}, {("L", "/dir/f")}, set()),
        ("EXTRACT_ONLY_FORM_GETS", False, {}, set(), {("L", "/dir/p")}),
        ("TREAT_FRAMES_AS_EMBED_LINKS", False, {}, {("E", "/dir/frame")}, {("L", "/dir/frame")}),
        ("OBEY_REL_NOFOLLOW", True, {}, {("L", "/dir/1")}, set()),
        ("HTML_READER", "heritrix", {}, {("L", "/dir/q%3E2")}, {("L", "/dir/q")}),
        ("CSS_READER", "heritrix", {}, {("E", "/dir/i.png")}, {("E", "/dir/)%7Dc%7Bd:url(i.png")}),
        ("SPECULATIVE_PATHS", "heritrix", {}, set(), {("X", "/dir/Module"), ("X", "/dir/readme.md")}),
        ("INFER_ROOT_PAGE", True, {}, set(), {("I", "/")}),
        ("INFER_PATHS", ["/humans.txt"], {}, set(), {("I", "/humans.txt")}),
        ("MAX_OUTLINKS", 1, {"content": "<a href=1><a href=2>"}, {("L", "/dir/1"), ("L", "/dir/2")}, set()),
        ("EXTRACT404S", False, {"content": "<a href=1>", "status": 404}, {("L", "/dir/1")}, set()),
        ("MAX_EXTRACT_BYTES", 10, {"content": "<a href=1><a href=2>"}, {("L", "/dir/2")}, set()),
    ],
)
def test_a_sheet_changes_what_is_found(
    name: str, value: Any, about: dict[str, Any], gone: set[tuple[str, str]], come: set[tuple[str, str]]
) -> None:
    laid = {
        "HERITRIX_OPERATOR_CONTACT_URL": "http://operator.test/",
        "HERITRIX_SHEETS": {"s": {f"HERITRIX_{name}": value}},
        "HERITRIX_SHEET_ASSOCIATIONS": [{"surt_prefixes": ["http://(example,a,"], "sheets": ["s"]}],
    }
    settings = read(Settings(laid))
    with_sheet, without = set(found(settings, "a.example", **about)), set(found(settings, "b.example", **about))
    assert (without - with_sheet, with_sheet - without) == (gone, come)
