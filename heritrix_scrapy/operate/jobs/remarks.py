"""What is there to be said of a job's settings file, and on which line? Values and text; nothing is run here."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

WRONG: Final = "wrong"
WARNING: Final = "warning"

#: A setting as a sentence names it, with the keys of what is inside of it, and a text that it has there:
#: ``HERITRIX_SHEETS['slow'] = 'MIN_DELAY': no such setting``.
_NAMED: Final = re.compile(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)((?:\[[^\]\n]{1,200}\])*)(?: = '([^'\n]{1,200})':)?")
_KEY: Final = re.compile(r"\[['\"]([^\]\n]*)['\"]\]")


class Remark(NamedTuple):
    """``level``: WRONG or WARNING; ``line``: from 1, 0 for none, in ``file``, the name of one of the job's."""

    level: str
    text: str
    line: int = 0
    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file or 'the settings file'}, line {self.line}: " if self.line else ""
        return place + self.text


def line_of(source: str, text: str) -> int:
    """The line of a settings module that a sentence is about, 0 for none: where the setting is assigned that it names
    first, or inside of that where it says more."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    assigned = dict(_assigned(tree))
    for name, keys, value in _NAMED.findall(text):
        if name in assigned:
            line, node = assigned[name]
            return _inside(line, node, _KEY.findall(keys), value)
    return 0


def _assigned(tree: ast.Module) -> Iterator[tuple[str, tuple[int, ast.expr | None]]]:
    """Name → line and value of the assignment that comes last."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, (node.lineno, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, (node.lineno, node.value)


def _inside(line: int, node: ast.expr | None, keys: list[str], value: str) -> int:
    for wanted in keys:
        for key, held in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and key.value == wanted:
                line, node = key.lineno, held
                break
    if node is not None and value:
        lines = [each.lineno for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value == value]
        line = min(lines, default=line)
    return line
