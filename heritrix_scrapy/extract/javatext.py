"""How did Java read and cut text where Heritrix's rules depend on it?

Heritrix's patterns see ASCII classes, five line terminators and code units of 16 bits. What a port needs of
that stands here, so that the extractors can be written as their rules read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

#: What ``.`` does not match and ``$`` may stand before.
LINE_TERMINATORS = "\n\r\x85\u2028\u2029"

#: A character that is no line terminator, for use in patterns.
NOT_EOL = r"[^\n\r\x85\u2028\u2029]"


def split(pattern: re.Pattern[str], text: str) -> list[str]:
    """``String.split``: trailing empty pieces are dropped, leading ones kept; no match gives the text."""
    pieces = pattern.split(text)
    if len(pieces) == 1:
        return pieces
    while pieces and not pieces[-1]:
        pieces.pop()
    return pieces


def join_surrogates(text: str) -> str:
    """Make two halves of one character whole; a half alone becomes U+FFFD, as when it is encoded."""
    for character in text:
        if "\ud800" <= character <= "\udfff":
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
