"""Is the line of a robots.txt found that forbids a URI?"""

from __future__ import annotations

import pytest

from heritrix_scrapy.fetch.robots_line import forbidding

TEXT = """# for all
User-agent: *
Disallow: /private/
disallow: /private/deeper/  # more so
Allow: /private/open
Disallow: /*.pdf$
Disallow: /caf%C3%A9

User-agent: ours
Disallow: /only-ours
"""


@pytest.mark.parametrize("standard", ["rfc9309", "heritrix"])
@pytest.mark.parametrize(
    ("path", "agent", "number"),
    [
        ("/private/a", "other", 3),
        ("/private/deeper/a", "other", 4),
        ("/a/b.pdf", "other", 6),
        ("/only-ours/a", "ours", 10),
    ],
)
def test_the_line_that_forbids_is_found(path: str, agent: str, number: int, standard: str) -> None:
    line = forbidding(TEXT, f"http://a.test{path}", agent, standard)
    assert line is not None
    assert line.number == number
    assert line.text == TEXT.splitlines()[number - 1].strip()


def test_an_escaped_pattern_is_found() -> None:
    line = forbidding(TEXT, "http://a.test/caf%C3%A9/a", "other")
    assert line is not None
    assert line.number == 7


@pytest.mark.parametrize("standard", ["rfc9309", "heritrix"])
@pytest.mark.parametrize(
    ("path", "agent"), [("/", "other"), ("/private/open", "other"), ("/a.pdf?b", "other"), ("/private/a", "ours")]
)
def test_what_is_allowed_has_none(path: str, agent: str, standard: str) -> None:
    assert forbidding(TEXT, f"http://a.test{path}", agent, standard) is None


def test_a_large_file_is_read_in_good_time() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{number}/\n" for number in range(5000))
    line = forbidding(text, "http://a.test/4999/x", "other")
    assert line is not None
    assert line.number == 5001
