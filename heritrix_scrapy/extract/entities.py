"""Which characters do the references in an attribute's value stand for?

HTML 4 names and numbers, and only where a semicolon ends them (Heritrix: TextUtils.unescapeHtml): ``&copy=2``
in a query stays what it is.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint

from heritrix_scrapy.extract.javatext import join_surrogates

_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,10}))|([a-zA-Z][a-zA-Z0-9]{1,7}));")
_NAMED = {name: chr(code) for name, code in name2codepoint.items()}


def _character(match: re.Match[str]) -> str:
    digits, decimal, name = match.groups()
    if name is not None:
        return _NAMED.get(name) or match[0]
    code = int(digits, 16) if digits is not None else int(decimal)
    return chr(code) if code <= 0x10FFFF else match[0]


def unescape(text: str) -> str:
    """The text with its references replaced; what is no reference stays."""
    if "&" not in text:
        return text
    decoded = _REFERENCE.sub(_character, text)
    return decoded if decoded.isascii() else join_surrogates(decoded)
