"""How does the settings table read as a page of the manual?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heritrix_scrapy.settings.defaults import GROUPS, SAME, Setting
from heritrix_scrapy.settings.validate import KINDS


def _shown(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, list) and len(value) > 1:
        return "``[" + ", ".join(repr(item) for item in value) + "]``"
    return f"``{value!r}``"


def _rst(text: str) -> str:
    return text.replace("`", "``")


def _entry(row: Setting) -> list[str]:
    kind = " or ".join(f"``{choice}``" for choice in row.choices) or _rst(KINDS[row.kind][1])
    lines = [f".. _setting-{row.key}:", "", row.key, "~" * len(row.key), "", _rst(row.doc), ""]
    lines.append(f"* Default: {_shown(row.default)}")
    if row.heritrix is not SAME:
        lines.append(f"* Default in the heritrix profile: {_shown(row.heritrix)}")
    lines.append(f"* Value: {kind}" + (f", in {row.unit}" if row.unit else ""))
    if row.minimum is not None:
        lines.append(f"* At least: {row.minimum}")
    lines.append(f"* A sheet may override it: {'yes' if row.overridable else 'no'}")
    if row.bean:
        lines.append(f"* In Heritrix: ``{row.bean}``")
    lines.append("")
    return lines


def settings_reference() -> str:
    """The reference as reStructuredText, one section a group, one entry a setting."""
    lines: list[str] = []
    for group in GROUPS:
        lines += [group.title, "-" * len(group.title), ""]
        for row in group.rows:
            lines += _entry(row)
    return "\n".join(lines)
