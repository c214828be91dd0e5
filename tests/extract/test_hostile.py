"""Does a page that is made to cost time cost no more than any other?

Each input has a megabyte; a quadratic reader would need minutes. The bound is generous for a busy machine.
"""

from __future__ import annotations

import pytest

from tests.extract.pages import extracted, in_time

SIZE = 1_000_000
BOUND = 2.0


def flood(piece: str) -> str:
    return piece * (SIZE // len(piece))


PAGES: dict[str, str] = {
    "brackets": flood("<"),
    "open tags": flood("<a ") + ">",
    "comments": flood("<!--") + ">",
    "scripts": flood("<script") + "</script>",
    "script tags": flood("<script>"),
    "script tags with attributes": flood("<script x>"),
    "styles": flood("<style>"),
    "double quotes": "<a " + flood('"') + ">",
    "quoted": "<a " + flood('x="') + ">",
    "quotes in quotes": "<a " + flood("x=\"y='") + ">",
    "tags in quotes": flood('<a href="') + ">",
    "tags in a value": flood('<a href="x>'),
    "two kinds of quotes": flood("<a href='x\">"),
    "mixed": flood("<a ='<b =\""),
    "one name": "<a " + flood("a") + ">",
    "names": "<a " + flood("abcdefgh-") + " " * 1000 + ">",
    "blanks": "<a " + flood(" ") + ">",
    "equal signs": "<a " + flood("=") + ">",
    "remote": "<a " + flood('href=x data-remote="true ') + '">',
    "one long value": '<a href="' + flood("x") + '">',
    "resources": "<object " + flood("data=a ") + ">",
    "srcset": "<img srcset='" + "a (" * 600 + "'>",
    "references": flood("<a href='&#x&#&&lt'>"),
    "links": flood("<a href=x>"),
    "dots": flood('<input value="http://' + "." * 2000 + '">'),
    "segments": flood('<input value="' + "a/" * 1000 + '&lt;">'),
    "queries": flood('<input value="/a?' + "a=b&" * 500 + '!">'),
    "strings": "<script>" + flood('"a.b') + "</script>",
    "backslashes": "<script>" + flood("\\") + '"a.b\\"</script>',
    "escaped quotes": "<script>" + flood("\\u0022a.b") + "</script>",
    "escaped slashes": "<script>" + flood("u0022/") + "</script>",
    "labels": "<script>" + flood('"' + "a." * 900 + 'com!"') + "</script>",
    "urls": "<style>" + flood("url(") + "</style>",
    "quoted urls": "<style>" + flood('url("a) ') + "</style>",
    "urls and lines": "<style>" + flood("url(\n") + "</style>",
    "imports": "<style>" + flood('@import "') + "</style>",
    "css comments": "<style>" + flood("/*") + "</style>",
    "css escapes": "<style>" + flood('"\\') + "</style>",
    "image sets": "<style>" + flood('image-set("a" ') + "</style>",
    "idle tags": flood('<p class="x">t</p>'),
    "open idle tags": flood('<p class="x" '),
    "links that do not end": flood('<a class="x" href="y" '),
    "values that do not end": flood('<a class="x" title=" href='),
    "blanks before a name": flood("<a" + " " * 1000 + "="),
    "end tags": flood("</p "),
    "dashed": flood("<my-tag x=1>"),
    "declarations": flood("<!"),
}


@pytest.mark.parametrize("profile", ["modern", "heritrix"])
@pytest.mark.parametrize("name", PAGES)
def test_a_megabyte_of_malice(name: str, profile: str) -> None:
    curi = in_time(BOUND, lambda: extracted(PAGES[name], profile=profile))
    assert curi.errors == []
    assert curi.extracted
