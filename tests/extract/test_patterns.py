"""Do the readers of the heritrix profile find what Heritrix's patterns find?

The patterns stand here as Heritrix runs them, with all their backtracking; the readers, which are linear, must give
the same on texts made at random from the pieces that matter.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.extract import attributes, css, javascript, tags

if TYPE_CHECKING:
    from collections.abc import Iterable

RUNS = 1000
DOT = "[^\n\r\x85\u2028\u2029]"
END = r"(?=(?:\r\n|[\n\r\x85\u2028\u2029])?\Z)"

STYLE = re.compile(
    rf"(?:@import (?:url[(]|)|url[(])\s*([\"']?)([^\"']{DOT}{{0,2083}}?)\1\s*[);]", re.ASCII | re.IGNORECASE
)
STRING = re.compile(r"(\\{0,8}+(?:[\"']|u002[27]))([^\"']{0,2083})\1")
TAG = re.compile(
    r"<(?:((script[^>]*+)>(.*?)</script)|((style[^>]*+)>(.*?)</style)"
    r"|(((meta)|\w{1,64})\s+[^>]*+)|(!--(?!\[if|>).*?--))>",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
NAMES = (
    "href|cite|action|on\\w{0,64}|src|srcset|lowsrc|background|longdesc|usemap|profile|datasrc|data-src|data-srcset"
    "|data-original|data-original-set|codebase|classid|data|archive|code|value|style|method|[-\\w]{1,64}"
)

STYLES = ["url(", "@import ", "@IMPORT url(", "URL(", '"', "'", ")", ";", " ", "\n", "a", "b.png", "\\", "&amp;"]
STYLES += ["\u2028", "\t", "x" * 2080, "/*", "*/"]
SCRIPTS = ['"', "'", "\\", "\\\\", "u0022", "u0027", "\\u0022", "a.b", "/x", "<", "c", " ", "\n", "\\" * 9]
PAGES = ["<", ">", "<a ", "<script", "</script>", "</script >", "<style", "</style>", "<!--", "-->", "<!-->", "<!--[if"]
PAGES += ["x=1", 'class="a"', '<p class="x">', "<br>", "</p>", "<meta ", "<META\n", " ", "\n", '"', "=", "script", "-"]
PAGES += ["<b", ' id="y"', "/>", '<form id="a">', "<scriptx ", "style ", '<div class="q" alt="z">', "--"]
PAGES += ['<div class="q"alt="z">', "<q" + "z" * 64 + " ", "<a href=b>", "<SCRIPT>", '<FORM ID="a">']
PIECES = ["href", "src", "onclick", "on", "data", "-", "data-x", "=", " = ", '"', "'", " ", "\n", "v", "x/y", "a" * 60]
PIECES += ["value", "\r\n", "\x85", "code", "codebase", "é", "on" + "k" * 64, ":"]


def texts(pieces: list[str], most: int, seed: int) -> Iterable[str]:
    chance = random.Random(seed)
    for _ in range(RUNS):
        yield "".join(chance.choice(pieces) for _ in range(chance.randint(1, most)))


def test_css() -> None:
    for text in texts(STYLES, 14, 1):
        assert list(css.heritrix(text)) == [css.clean(match[2]) for match in STYLE.finditer(text)], text


def strings_by_pattern(script: str) -> list[str]:
    found, position = [], 0
    while match := STRING.search(script, position):
        body = match[2]
        if ("." in body or "/" in body) and "<" not in body and ">" not in body:
            found.append(body)
        position = match.end(1)
    return found


def test_strings_of_scripts() -> None:
    for text in texts(SCRIPTS, 16, 2):
        assert list(javascript.strings(text)) == strings_by_pattern(text), text


GRAMMAR = attributes.grammar("heritrix", 64, 2048)


def matters(tag: tags.Tag) -> bool:
    """Whether a tag leads somewhere; what does not may be passed over."""
    kind, element, text, _, _ = tag
    names = [name for name, _ in attributes.attributes(text, GRAMMAR)]
    return (
        kind != tags.TAG or element.lower() == "form" or any(n in attributes.ATTRIBUTES or n[:2] == "on" for n in names)
    )


def tags_by_pattern(page: str) -> list[tags.Tag]:
    found: list[tags.Tag] = []
    for match in TAG.finditer(page):
        if match[7]:
            found.append((tags.META if match[9] else tags.TAG, match[8], match[7], match.start(), ""))
        elif match[1]:
            found.append((tags.SCRIPT, match[2][:6], match[2], match.start(), match[3]))
        elif match[4]:
            found.append((tags.STYLE, match[5][:5], match[5], match.start(), match[6]))
    return found


def test_tags() -> None:
    reader = tags.reader("heritrix", 64, 2048)
    for text in texts(PAGES, 22, 3):
        got = [tag for tag in tags.scan(text, reader) if matters(tag)]
        assert got == [tag for tag in tags_by_pattern(text) if matters(tag)], text


def attributes_by_pattern(tag: str, longest: int) -> list[tuple[str, str]]:
    pattern = re.compile(
        rf"({NAMES})\s*=\s*(?:\"(.{{0,{longest}}}?)(?:\"|{END})|'(.{{0,{longest}}}?)(?:'|{END})|(\S{{1,{longest}}}))",
        re.ASCII | re.IGNORECASE | re.DOTALL,
    )
    found, position = [], 0
    while match := pattern.search(tag, position):
        position = match.end()
        bare = match[4]
        if bare is not None and len(bare) == longest and re.match(r"[^\s\"']", tag[position : position + 1], re.ASCII):
            if bare[0] in "\"'":
                closing = tag.find(bare[0], position)
                position = closing + 1 if closing >= 0 else len(tag)
            else:
                blank = re.compile(r"\s", re.ASCII).search(tag, position)
                position = blank.end() if blank else len(tag)
            continue
        found.append((match[1].lower(), next(value for value in match.groups()[1:] if value is not None)))
    return found


@pytest.mark.parametrize("longest", [6, 2048])
def test_attributes(longest: int) -> None:
    grammar = attributes.grammar("heritrix", 64, longest)
    for text in texts(PIECES, 16, 4):
        tag = f"a {text}"
        assert list(attributes.attributes(tag, grammar)) == attributes_by_pattern(tag, longest), tag


JAVA_SRCSET = re.compile(r"[\s,]*(\S*[^,\s])(?:\s(?:[^,(]+|\([^)]*(?:\)|$))*)?", re.ASCII)


def test_srcset() -> None:
    for text in texts(["a", "b/c", ",", " ", "1x", "(", ")", "\n", "2w"], 12, 5):
        found, position = [], 0
        while match := JAVA_SRCSET.match(text, position):
            found.append(match[1])
            position = match.end()
        assert list(attributes.srcset(text)) == found, text
