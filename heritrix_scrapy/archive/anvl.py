"""How are the ``label: value`` lines of warcinfo and metadata records written and read?

A line break in a value becomes a folded line, tabs and blanks stay, a field with another control character
or an unusable label is left out with a warning; an empty line ends the record (Heritrix: ANVLRecord, Element).
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)

CRLF = "\r\n"
_BREAK = re.compile(r"[\r\n][\r\n\t ]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BAD_LABEL = re.compile(r"[:\x00-\x08\x0a-\x1f\x7f-\x9f]")


class AnvlError(ValueError):
    """A label that cannot be written, or text that is no record."""


def label(text: str) -> str:
    """The label itself. Raises AnvlError when it holds a colon, a line break or a control character."""
    if not text or _BAD_LABEL.search(text):
        raise AnvlError(f"invalid label: {text!r}")
    return text


def value(text: str) -> str | None:
    """The value as it is written, folded where it had line breaks; None when it cannot be written."""
    if text.isprintable():
        return text
    folded = _BREAK.sub("\r\n ", text.rstrip("\r\n"))
    return None if _CONTROL.search(folded) else folded


@lru_cache(maxsize=256)
def _usable(name: str) -> bool:
    return bool(name) and _BAD_LABEL.search(name) is None


def line(name: str, text: str | None) -> str:
    """One field with its line end; empty when the field has to be left out.

    Raises AnvlError for a bare label (``text`` None) that cannot be written.
    """
    if text is None:
        return f"{label(name)}:{CRLF}"
    if text.isprintable() and _usable(name):
        return f"{name}: {text}{CRLF}"
    written = value(text)
    if written is None or not _usable(name):
        logger.warning("field left out of a record: %r: %r", name, text[:200])
        return ""
    return f"{name}: {written}{CRLF}"


def record(fields: Iterable[tuple[str, str | None]], lines: str = "") -> bytes:
    """All fields, lines that are written already, and the empty line behind them, UTF-8."""
    return ("".join([line(name, text) for name, text in fields]) + lines + CRLF).encode("utf-8", "replace")


def parse(text: str) -> list[tuple[str, str | None]]:
    """Read a record up to its empty line: fields in order, comments left out, folded values joined by one blank.

    Raises AnvlError for a line without a usable label.
    """
    fields: list[tuple[str, str | None]] = []
    for row in text.split(CRLF):
        if not row:
            break
        if row[0] in " \t" and fields:
            rest = row.strip()
            if not rest.startswith("#"):
                name, before = fields[-1]
                fields[-1] = (name, f"{before} {rest}" if before else rest)
            continue
        row = row.strip(" \t")
        if row.startswith("#"):
            continue
        name, colon, rest = row.partition(":")
        if not colon:
            raise AnvlError(f"no label in {row!r}")
        fields.append((label(name), rest.strip() or None))
    return fields
