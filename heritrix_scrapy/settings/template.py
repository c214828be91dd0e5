"""How does the settings table read as a settings module that waits to be edited?

Every setting stands in it as a comment: what it means, what it may be, and its default, in Python, so that one takes
the ``#`` away and changes it.
"""

from __future__ import annotations

import re
import textwrap
from pprint import pformat
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.settings.defaults import GROUPS, SAME
from heritrix_scrapy.settings.validate import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heritrix_scrapy.settings.defaults import Setting

WIDTH = 116
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def settings_template(given: Mapping[str, Any]) -> str:
    """All groups; ``given``: settings that are no comment but hold, by name."""
    lines: list[str] = []
    for group in GROUPS:
        lines += ["", "", f"# -- {group.title} ".ljust(WIDTH, "-")]
        for row in group.rows:
            lines += ["", *_said(row), *_assigned(row, given)]
    return "\n".join(lines).strip("\n") + "\n"


def _said(row: Setting) -> Iterator[str]:
    text = _LINK.sub(r"\1 (docs/\2)", row.doc)
    facts = [" or ".join(map(repr, row.choices)) if row.choices else KINDS[row.kind][1]]
    facts += [f"in {row.unit}"] if row.unit else []
    facts += [f"at least {row.minimum}"] if row.minimum is not None else []
    if row.heritrix is not SAME:
        facts.append(f"in the heritrix profile {row.heritrix!r}")
    if row.overridable:
        facts.append("a sheet may override it")
    if row.bean:
        facts.append(f"Heritrix: {row.bean}")
    for line in textwrap.wrap(
        f"{text} ({'; '.join(facts)})", WIDTH - 2, break_long_words=False, break_on_hyphens=False
    ):
        yield f"# {line}"


def _assigned(row: Setting, given: Mapping[str, Any]) -> Iterator[str]:
    held = row.key in given
    value = pformat(given[row.key] if held else plain(row.default), width=WIDTH - len(row.key) - 6, sort_dicts=False)
    first, *more = value.split("\n")
    if more:
        lines = [f"{row.key} = (", *(f"    {line}" for line in (first, *more)), ")"]
    else:
        lines = [f"{row.key} = {first}"]
    yield from lines if held else (f"# {line}" for line in lines)


def plain(value: Any) -> Any:
    """A default as a settings module can write it."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
