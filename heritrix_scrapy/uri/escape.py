"""Which characters of a path or a query are written as they are, and how are the others escaped?

Escaping is minimal: what is escaped already, and a stray ``%``, stay as they are (Heritrix: LaxURLCodec).
"""

from __future__ import annotations

import re
from string import ascii_letters, digits

PATH_CHARACTERS = ascii_letters + digits + "-~_.*/=&+,:;@$!)(%|'"
QUERY_CHARACTERS = PATH_CHARACTERS + "{}[]^?"


class Safe:
    """A set of characters that stay, with what the others become, byte by byte."""

    __slots__ = ("all_safe", "table")

    def __init__(self, characters: str) -> None:
        self.all_safe = re.compile(f"[{re.escape(characters)}]*").fullmatch
        self.table = [chr(byte) if chr(byte) in characters else f"%{byte:02X}" for byte in range(256)]


PATH_SAFE = Safe(PATH_CHARACTERS)
QUERY_SAFE = Safe(QUERY_CHARACTERS)


def escape(text: str, safe: Safe, charset: str = "utf-8") -> str:
    """Escape what is not safe, as bytes of the charset; what the charset cannot say becomes ``?``."""
    if safe.all_safe(text):
        return text
    try:
        data = text.encode(charset, "replace")
    except LookupError:
        data = text.encode("utf-8", "replace")
    table = safe.table
    return "".join([table[byte] for byte in data])
