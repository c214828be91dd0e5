"""What do the response's headers say of charset and codings, and can we follow them?

Heritrix: FetchHTTP.setCharacterEncoding and setOtherCodings. Names of charsets are given as Java and IANA write
them, since they end up in metadata records and annotations.
"""

from __future__ import annotations

import codecs
import re

from heritrix_scrapy.model.recorder import CODINGS

# Python's codec name → the IANA name, where the two differ by more than capitals.
IANA_NAMES: dict[str, str] = {
    "ascii": "US-ASCII",
    "big5hkscs": "Big5-HKSCS",
    "big5": "Big5",
    "cp949": "x-windows-949",
    "cp932": "windows-31j",
    "cp936": "GBK",
    "euc_jp": "EUC-JP",
    "euc_kr": "EUC-KR",
    "hz": "HZ-GB-2312",
    "iso2022_jp": "ISO-2022-JP",
    "iso2022_kr": "ISO-2022-KR",
    "shift_jis": "Shift_JIS",
    "tis-620": "TIS-620",
    "utf-8-sig": "UTF-8",
    "mac-roman": "x-MacRoman",
    "mac-cyrillic": "x-MacCyrillic",
}
# What Heritrix can take off; the modern profile follows the recorder's table.
HERITRIX_CODINGS = frozenset(("gzip", "x-gzip", "deflate", "identity", "none"))

_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,]*))""", re.IGNORECASE)
_WINDOWS = re.compile(r"cp(125\d|874)$")
_ISO = re.compile(r"iso8859-(\d+)$")
_IBM = re.compile(r"cp(\d+)$")


#: Spellings that Python takes and neither Java nor the WHATWG knows.
_REFUSED = re.compile(r"utf[-_](?:16|32)[-_][bl]e|utf_[78]|u8|latin-\d+", re.IGNORECASE)


def charset_name(label: str) -> str | None:
    """The IANA name of a charset that Python can decode, else None."""
    if _REFUSED.fullmatch(label):
        return None
    try:
        codec = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    if not codec._is_text_encoding:  # base64 and its like are codecs, not charsets
        return None
    name = codec.name
    if (found := IANA_NAMES.get(name)) is not None:
        return found
    if (match := _WINDOWS.match(name)) is not None:
        return f"windows-{match[1]}"
    if (match := _ISO.match(name)) is not None:
        return f"ISO-8859-{match[1]}"
    if (match := _IBM.match(name)) is not None:
        return f"IBM{match[1]}"
    return name.upper().replace("_", "-")


def header_charset(content_type: str) -> tuple[str | None, str | None]:
    """(name of the charset parameter, the label when it is none we know); (None, None) without a parameter."""
    found = _CHARSET.search(content_type)
    if found is None:
        return None, None
    label = (found[1] or found[2] or found[3] or "").strip()
    if not label:
        return None, None
    name = charset_name(label)
    return (name, None) if name else (None, label)


def unsatisfiable_coding(value: str, *, heritrix: bool) -> bool:
    """Whether extractors will see coded bytes: a coding that cannot be taken off (by Heritrix: any list of
    codings)."""
    if heritrix:
        return bool(value.strip()) and value.strip().lower() not in HERITRIX_CODINGS
    return any(part.strip() and part.strip() not in CODINGS for part in value.lower().split(","))
