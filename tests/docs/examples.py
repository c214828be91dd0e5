"""Which examples do the manual and the README show?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "internals").glob("*.md")),
]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Example(NamedTuple):
    """*language*: the word behind the fence; *number*: from 0, among the page's blocks of that language."""

    page: str
    language: str
    number: int
    text: str


def examples(language: str) -> list[Example]:
    """All blocks of a language, page by page."""
    found = []
    for page in PAGES:
        blocks = [text for word, text in _BLOCK.findall(page.read_text(encoding="utf-8")) if word == language]
        found += [Example(page.name, language, number, text) for number, text in enumerate(blocks)]
    return found


def example(page: str, number: int = 0, language: str = "python") -> str:
    """The text of one block."""
    return next(each.text for each in examples(language) if each.page == page and each.number == number)


def assigned(text: str) -> dict[str, Any]:
    """The settings that an example assigns: its names in capitals."""
    names: dict[str, Any] = {}
    exec(text, names)
    return {name: value for name, value in names.items() if name.isupper()}
