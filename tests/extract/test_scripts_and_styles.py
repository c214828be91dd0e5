"""What scripts and stylesheets refer to, and what the heuristics make of strings."""

from __future__ import annotations

import pytest

from heritrix_scrapy.extract import css, javascript, likely
from heritrix_scrapy.extract.entities import unescape
from tests.extract.pages import extracted, links


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@import 'a.css' screen; @import url(b.css) print;", ["a.css", "b.css"]),
        ("a{b:url()} c{d:url('')} e{f:url( x.png )}", ["x.png"]),
        ("/* url(a) */ b{content:'url(x)'; background:url(c\\ d\\)e.png)}", ["c d)e.png"]),
        ('a{b:url("u\\000066.png")}', ["uf.png"]),
        ('a{background:image-set("1.png" 1x, url(2.png) 2x, "3.png" type("image/png"))}', ["1.png", "2.png", "3.png"]),
        ('a{b:image-set(url("1.png") 1x, "2.png" 2x)}', ["1.png", "2.png"]),
        ("a{b:url(data:image/png;base64,AA==)} c{d:url(x;y.png)}", ["data:image/png;base64,AA==", "x;y.png"]),
        ('a{b:"unclosed\nc:url(d.png)}', ["d.png"]),
        ("a{b:url(unclosed.png", ["unclosed.png"]),
        ("a{} /* never closed url(x)", []),
        ("URL(a.png) @IMPORT\t'b.css'", ["a.png", "b.css"]),
    ],
)
def test_css_tokens(text: str, expected: list[str]) -> None:
    assert list(css.standard(text)) == expected


def test_a_stylesheet_by_its_type_or_its_name() -> None:
    sheet = "a{b:url(x.png)}"
    found = [("E", "/dir/x.png", "=EMBED_MISC")]
    assert links(sheet, "ExtractorCSS", content_type="text/css") == found
    named = {"url": "http://www.example.com/dir/S.CSS", "content_type": "text/plain"}
    assert links(sheet, "ExtractorCSS", **named) == found
    assert links(sheet, "ExtractorCSS", content_type="text/plain") == []


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (r"\/a\/b", "/a/b"),
        (r"\u002fa\uu002fb", "/a/b"),
        (r"\57a\0572", "/a/2"),
        (r"\x2Fa", "x2Fa"),
        (r"a\n\t\\\"", 'a\n\t\\"'),
        ("\\u12", "\\u12"),
        ("\\ud83d\\ude00", "\U0001f600"),
        ("a\\", "a"),
    ],
)
def test_escapes_of_scripts(literal: str, text: str) -> None:
    assert javascript.unescape(literal) == text


def test_a_script_resolves_against_the_page_that_led_to_it() -> None:
    about = {"url": "http://cdn.example.net/x.js", "content_type": "text/javascript"}
    script = "a='rel.html'"
    assert links(script, "ExtractorJS", via="http://www.example.com/p/", **about) == [("X", "/p/rel.html", "=JS_MISC")]
    curi = extracted(script, extractors=["ExtractorJS"], **about)
    assert [link.uri for link in curi.outlinks] == ["http://cdn.example.net/rel.html"]
    assert curi.annotations == ["usedBaseForVia"]


def test_guesses_at_hosts() -> None:
    own = "https://www.example.com/"
    assert likely.speculative_fixup("www.example.com/x", own) == "https://www.example.com/x"
    assert likely.speculative_fixup("readme.md", own) == "http://readme.md"
    assert likely.speculative_fixup("readme.md", own, cautious=True) == "readme.md"
    assert likely.speculative_fixup("example.com", own, cautious=True) == "example.com"
    assert likely.speculative_fixup("www.example.app/a", own, cautious=True) == "http://www.example.app/a"
    assert likely.speculative_fixup("www.example.app/a", own) == "www.example.app/a"
    assert likely.speculative_fixup("jquery.ui.core", own, cautious=True) == "jquery.ui.core"
    assert likely.speculative_fixup("HTTPS%3a%2f%2Fa.org%2fb+c%C3%A9", own) == "HTTPS://a.org/b cé"
    # an escape that is none leaves the whole as it is
    assert likely.speculative_fixup("HTTPS%3a%2f%2Fa.org%2fb%zz", own) == "HTTPS%3a%2f%2Fa.org%2fb%zz"
    assert likely.speculative_fixup("HTTPS%3a%2f%2Fa.org%2fb+%zz", own, cautious=True) == "HTTPS://a.org/b+%zz"
    assert likely.speculative_fixup("/a?b&amp;c", own) == "/a?b&c"


def test_character_references() -> None:
    assert unescape("&lt;&eacute;&#233;&#xE9;&#XE9;") == "<ééé" + "é"
    assert unescape("&copy=1&apos;&unknown;&#x110000;&#;&amp") == "&copy=1&apos;&unknown;&#x110000;&#;&amp"
    assert unescape("&#55357;&#56832;|&#xD83D;|") == "\U0001f600|\ufffd|"
